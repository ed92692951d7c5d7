"""The interpreters of a server's clients: who has which, and until when."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from codeact.extras import extra
from codeact.integrations.interpreter import Interpreter

with extra("mcp", "codeact.integrations.mcp"):
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
    from mcp.server.connection import Connection
    from mcp.server.context import ServerRequestContext

Context = ServerRequestContext["Sessions", Any]


class NoSession(LookupError):
    """There is no session of that name, or it is another client's."""


class Sessions:
    """An interpreter for each session of a server's clients. What it is depends on how the client came.

    Over a pipe the connection is the session, and so it is over HTTP where the protocol has sessions: until 2026-07-28. Since
    then a request over HTTP stands alone. There a session is begun by a program that names none, and has a name that nobody
    can guess, which the answer tells and the next program gives.

    Attributes:
        room: to be held while a program runs. There is as much of it as there may be sessions: a session that was ended goes
            on with its program, and a program has memory and a thread of its own.
    """

    def __init__(self, make: Callable[[], Interpreter], most: int) -> None:
        """Keep none yet.

        Args:
            make: makes an interpreter.
            most: how many there may be; one more ends the one that was used least recently.
        """
        self.room = asyncio.Semaphore(most)
        self._make = make
        self._most = most
        self._held: OrderedDict[Hashable, Interpreter] = OrderedDict()

    def __contains__(self, interpreter: object) -> bool:
        """Whether an interpreter is that of a session which goes on."""
        return any(held is interpreter for held in self._held.values())

    def of(self, context: Context, name: str | None) -> tuple[Interpreter, str | None]:
        """The interpreter for a request, and the name of its session where the client has to give it.

        Args:
            context: the request's.
            name: the session that the client names, if it does.

        Raises:
            NoSession: there is none of that name that this client may use.
        """
        if not are_named(context):
            return self._of_connection(_connection(context)), None
        owner = _owner(context)
        if name is None:
            name = secrets.token_urlsafe(16)
            return self._begun((owner, name)), name
        try:
            self._held.move_to_end((owner, name))
        except KeyError:
            msg = f"there is no session {name[:_SHOWN]!r}: it is over, or never was; leave `session` out to begin a new one"
            raise NoSession(msg) from None
        return self._held[owner, name], name

    def end(self, interpreter: Interpreter) -> None:
        """End a session. Harmless where it has ended already."""
        for key in [key for key, held in self._held.items() if held is interpreter]:
            del self._held[key]
        interpreter.close()

    def close(self) -> None:
        """End all of them."""
        while self._held:
            self._held.popitem()[1].close()

    def _of_connection(self, connection: Connection) -> Interpreter:
        key = ("connection", connection.session_id)
        if key not in self._held:
            found = self._begun(key)
            if connection.session_id is not None:  # a pipe ends with all of this
                connection.exit_stack.callback(self.end, found)
        self._held.move_to_end(key)
        return self._held[key]

    def _begun(self, key: Hashable) -> Interpreter:
        while len(self._held) >= self._most:
            self._held.popitem(last=False)[1].close()
        return self._held.setdefault(key, self._make())


_SHOWN = 40
"""Characters of a name that an error shows."""


def are_named(context: Context) -> bool:
    """Whether a client that makes such a request has to name its session."""
    return context.request is not None and _connection(context).session_id is None


def _connection(context: Context) -> Connection:
    # Versions 2.0 to 2.3 of the SDK speak of `context.connection` in what they document, and do not have it.
    return context.session._connection  # noqa: SLF001


def _owner(context: Context) -> Hashable:
    """Who has authenticated for a request; None where nobody has to."""
    user = context.request.scope.get("user") if context.request is not None else None
    return tuple(authorization_context(user).items()) if isinstance(user, AuthenticatedUser) else None
