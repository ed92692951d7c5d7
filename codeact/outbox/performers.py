"""Who performs: each performer holds a name of its own for as long as it works."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from codeact.locks import Locks, Taken


@dataclass(frozen=True, slots=True)
class Performers:
    """Those who perform the entries of one database.

    Attributes:
        locks: of their names.
    """

    locks: Locks

    @contextmanager
    def work(self) -> Iterator[str]:
        """Be a performer, of the name that is given, until the end of the block."""
        with ExitStack() as until:
            yield self._begin(until)

    def lives(self, name: str) -> bool:
        """Whether the performer of that name still works."""
        return self.locks.is_held(name)

    def sweep(self) -> None:
        """Remove what dead performers have left."""
        self.locks.sweep()

    def _begin(self, until: ExitStack) -> str:
        while True:
            name = secrets.token_hex(8)
            with suppress(Taken):  # by somebody who sweeps, and took it for a dead one's before it was locked
                until.enter_context(self.locks.hold(name))
                return name
