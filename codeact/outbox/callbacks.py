"""The callback: what is asked about what no rule decides.

It cannot stop what comes after it: where it fails, a person decides, and the reason is on record.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable

from codeact.outbox.entries import Entry, Verdict
from codeact.outbox.texts import error_of, reason_of

log = logging.getLogger("codeact")

Decision = bool | Verdict | None
Approver = Callable[[Entry], Decision | Awaitable[Decision]]
"""What is asked where no rule speaks: True approves, False refuses, None leaves it to a person; a `Verdict` says why too."""

_LEFT = "the callback left it to a person"


def ask(approve: Approver, entry: Entry) -> Verdict:
    """What a callback says of an entry."""
    try:
        return _verdict(approve(entry))
    except Exception as error:  # noqa: BLE001 - a callback of the host's may fail in any way, and the next entry is asked about
        return _failed(entry, error)


async def ask_async(approve: Approver, entry: Entry) -> Verdict:
    """See `ask`; the callback may be async."""
    try:
        decision = approve(entry)
        return _verdict(await decision if inspect.isawaitable(decision) else decision)
    except Exception as error:  # noqa: BLE001 - as above
        return _failed(entry, error)


def _verdict(decision: object) -> Verdict:
    said = decision if isinstance(decision, Verdict) else Verdict(decision)  # type: ignore[arg-type]  # looked at below
    if said.approved is not None and not isinstance(said.approved, bool):
        if inspect.iscoroutine(decision):
            decision.close()
        msg = f"it gave {decision!r:.200}; expected True, False, None for a person to decide, or a Verdict"
        raise TypeError(msg)
    reason = reason_of(said.reason)
    return Verdict(said.approved, _LEFT if said.approved is None and reason is None else reason)


def _failed(entry: Entry, error: Exception) -> Verdict:
    log.error("the callback `approve` failed for entry %s, which waits for a person", entry.id, exc_info=error)
    return Verdict(None, f"the callback failed: {error_of(error)}")
