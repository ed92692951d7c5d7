"""What a program prints: it leaves the world, or goes into what the program has put in its way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from codeact.engines.restricted.world import World


class Output:
    """`sys.stdout`, `sys.stderr`, and where `print` writes: one door for both."""

    __slots__ = ("_door", "_instead", "_number")

    def __init__(self, world: World) -> None:
        self._door: Callable[[str], None] = lambda text: world.write(text)  # noqa: PLW0108 - looked up at each call
        self._number: Callable[[], int] = lambda: world.number
        self._instead: list[tuple[int, Any]] = []

    def __init_subclass__(cls) -> NoReturn:
        msg = "the streams of sys cannot be subclassed"
        raise TypeError(msg)

    def write(self, text: str) -> int:
        """Print text."""
        if type(text) is not str:
            if not isinstance(text, str):
                msg = f"write() argument must be str, not {type(text).__name__}"
                raise TypeError(msg)
            text = str.__str__(text)
        # What an earlier program has left in the way is none of this one's business.
        if self._instead and self._instead[-1][0] == self._number():
            target = self._instead[-1][1]
            if target is not None:
                target.write(text)
        else:
            self._door(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Print several texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Nothing is kept back."""

    def isatty(self) -> bool:
        """Nobody is looking."""
        return False

    def writable(self) -> bool:
        """It can be written to."""
        return True

    @property
    def encoding(self) -> str:
        """Text is passed on as it is."""
        return "utf-8"

    def __repr__(self) -> str:
        return "<stream>"


def divert(output: Output, target: Any) -> None:
    """Let it go into another file."""
    output._instead.append((output._number(), target))  # noqa: SLF001 - no method, a program could call it


def restore(output: Output) -> None:
    """Let it go where it went before."""
    if output._instead:  # noqa: SLF001 - see above
        output._instead.pop()  # noqa: SLF001 - see above
