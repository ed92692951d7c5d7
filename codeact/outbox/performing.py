"""To perform: to call the function of an approved entry, and to say what that means."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from codeact.actions import Action, Actions
from codeact.excerpts import excerpt
from codeact.limits import DEEPEST
from codeact.outbox.entries import FAIL, FINISH, LOSE, Entry, Move
from codeact.outbox.texts import error_of
from codeact.proposals import digest_of
from codeact.renderings import printable
from codeact.tools import BadArguments
from codeact.values import Uncrossable, encode, from_host

VALUE_BYTES = 1_000_000
"""Bytes of what a function returned that are kept."""

_OPEN = (OSError, EOFError, MemoryError)
"""Exceptions that leave open whether something has happened; timeouts and broken connections are among them, and what
comes of the machine at any line."""


class NothingHappened(Exception):
    """Raised by an action's function: for sure, nothing has happened. The entry has failed, and may be approved again.

    It is for functions that know what an exception of the network's does not tell: a connection that was refused, for
    one, has carried nothing.
    """


@dataclass(frozen=True, slots=True)
class Held:
    """Why an entry cannot be performed here. It stays as it is."""

    reason: str


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of a call.

    Attributes:
        move: where its entry goes.
        value: what was returned, as plain values.
        error: what was raised, in words; or why the value was not kept.
        raised: what must go on, beyond the outbox: an interrupt, a cancellation.
    """

    move: Move
    value: object = None
    error: str | None = None
    raised: BaseException | None = None


def call_of(entry: Entry, actions: Actions) -> functools.partial[Any] | Held:
    """What performs an entry, or why nothing here can."""
    action = actions.get(entry.name)
    if action is None:
        known = f"there are {', '.join(actions)}" if actions else "there are none"
        return Held(f"not performed: there is no action {entry.name!r} here; {known}")
    if entry.keyed and not action.takes_key:
        return Held("not performed: it was begun by a function that takes the key, and this one takes none")
    try:
        if digest_of(entry.name, entry.arguments) != entry.digest:
            return Held("not performed: its arguments are not those of its digest: they were changed in the database")
        return action.call_of(entry.arguments, entry.key)
    except BadArguments as error:
        return Held(f"not performed: its arguments do not fit the function any more: {error}")
    except Exception as error:  # noqa: BLE001 - a validator of the host's own failed: the other entries can do without it
        return Held(f"not performed: its arguments cannot be validated: {error_of(error)}")


def perform(call: Callable[[], Any]) -> Ended:
    """Call a function, and wait for what it awaits."""
    try:
        value = call()
        if inspect.isawaitable(value):
            value = asyncio.run(_awaited(value))
    except BaseException as error:  # noqa: BLE001 - whatever it is, what it means must be put on record
        return meaning(error)
    return _returned(value)


async def perform_async(call: Callable[[], Any], action: Action[..., Any]) -> Ended:
    """Call a function, on a thread where it is not async, and await it."""
    try:
        if not action.is_async:
            return await asyncio.to_thread(perform, call)
        value = await call()
    except BaseException as error:  # noqa: BLE001 - as above
        return meaning(error)
    return _returned(value)


def meaning(error: BaseException) -> Ended:
    """What an exception says about whether something happened.

    An ordinary exception of the function's own says that it failed. Whatever comes of the operating system, a connection
    or a timeout leaves that open, also where another exception was raised because of it; so does whatever ends programs.
    """
    text = error_of(error)
    raised = None if isinstance(error, Exception) else error
    if isinstance(error, NothingHappened):
        return Ended(FAIL, error=text)
    open_ = any(not isinstance(one, Exception) or isinstance(one, _OPEN) for one in _causes(error))
    return Ended(LOSE if open_ else FAIL, error=text, raised=raised)


def _causes(error: BaseException) -> list[BaseException]:
    """An exception, what it was raised from or while handling, and the members of groups."""
    found: list[BaseException] = []
    left: list[BaseException | None] = [error]
    while left:
        one = left.pop()
        if one is None or any(one is other for other in found):
            continue
        found.append(one)
        left += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            left += one.exceptions
    return found


def _returned(value: object) -> Ended:
    # It has happened: nothing about the value can change that.
    try:
        plain = from_host(value, depth=DEEPEST, size=VALUE_BYTES)
        encode(plain, DEEPEST)
    except Uncrossable as error:
        return Ended(FINISH, error=printable(f"what it returned is not kept: {excerpt(value)}: {error}"))
    except Exception as error:  # noqa: BLE001 - what a host's object does when it is read
        return Ended(FINISH, error=f"what it returned is not kept: {error_of(error)}")
    return Ended(FINISH, value=plain)


async def _awaited(value: Awaitable[object]) -> object:
    return await value
