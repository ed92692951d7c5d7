"""Groups: what `except*` does with an exception group, step by step.

The interpreter's own `except*` calls methods of the group and trusts what they give; some interpreters confuse types
over it. Here a `try` with `except*` becomes a plain one whose handlers ask a `Group`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from codeact.engines.restricted.meter import Stopped
from codeact.engines.restricted.refusals import refusal

_split: Any = BaseExceptionGroup.split
_subgroup: Any = BaseExceptionGroup.subgroup
_parts: Any = BaseExceptionGroup.exceptions.__get__


class Group:
    """One error on its way through the handlers of one `try`."""

    __slots__ = ("_again", "_matched", "_raised", "_rest", "_whole")

    def __init__(self, error: BaseException) -> None:
        self._whole = self._rest = error
        self._matched: Any = None
        self._again: list[BaseException] = []
        self._raised: list[BaseException] = []

    def match(self, kinds: Any) -> None:
        """Raise the part of the group that a handler is for."""
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            if not (isinstance(kind, type) and issubclass(kind, BaseException)):
                msg = "catching classes that do not inherit from BaseException is not allowed"
                raise TypeError(msg)
            if issubclass(kind, BaseExceptionGroup):
                msg = "catching ExceptionGroup with except* is not allowed. Use except instead."
                raise TypeError(msg)
        self._matched = None
        if isinstance(self._rest, BaseExceptionGroup):
            self._matched, self._rest = _split(self._rest, kinds)
            if self._matched is not None:
                raise self._matched
        elif isinstance(self._rest, kinds):
            msg = f"except* met a {type(self._rest).__name__}, which is no group: {refusal('except*').told()}"
            raise TypeError(msg)

    def begin(self, error: BaseException) -> None:
        """Enter a handler, unless the error is another than the part that was matched."""
        if error is not self._matched:
            raise error

    def keep(self, error: BaseException) -> None:
        """Keep what a handler raised for the end."""
        if isinstance(error, Stopped):
            raise error
        (self._again if error is self._matched else self._raised).append(error)

    def finish(self) -> None:
        """Raise what no handler was for together with what the handlers raised."""
        if self._rest is self._whole and not self._raised:
            raise self._whole
        left = [*self._again, *([] if self._rest is None else [self._rest])]
        raised = self._raised
        if left:
            leaves = {id(leaf) for error in left for leaf in _leaves(error)}
            raised.append(_subgroup(self._whole, lambda error: id(error) in leaves))
        if len(raised) == 1:
            raise raised[0]
        if raised:
            msg = ""
            raise BaseExceptionGroup(msg, raised)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    pending = [error]
    while pending:
        found = pending.pop()
        if isinstance(found, BaseExceptionGroup):
            pending += _parts(found)
        else:
            yield found


def make_groups(tick: Callable[[], object]) -> dict[str, Any]:
    """The guards of `except*`."""

    def star(error: BaseException) -> Group:
        if isinstance(error, Stopped):
            raise error
        tick()
        return Group(error)

    return {".star": star, ".BaseException": BaseException}
