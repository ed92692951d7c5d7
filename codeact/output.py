"""What a program prints: kept in order, counted while it is written, cut at its limit."""

from __future__ import annotations

from codeact.engines import Fault
from codeact.renderings import printable
from codeact.result import Truncation


class Output:
    """The printed text of one run."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[str] = []
        self._kept = 0
        self._left_out = 0

    def write(self, text: str) -> Fault | None:
        """Take printed text. Gives a fault once the limit is passed."""
        text = printable(text)
        room = self._limit - self._kept
        if len(text) <= room:
            self._parts.append(text)
            self._kept += len(text)
            return None
        self._parts.append(text[:room])
        self._kept += room
        self._left_out += len(text) - room
        return Fault(
            "output",
            "RuntimeError",
            f"the program printed more than {self._limit:,} characters (limit output)",
            hint="print less: return the value, or print a summary or a slice of it",
        )

    @property
    def text(self) -> str:
        """What was kept."""
        return "".join(self._parts)

    @property
    def truncations(self) -> tuple[Truncation, ...]:
        """The cut, if there was one."""
        return (Truncation("stdout", self._kept, self._left_out),) if self._left_out else ()
