"""Spaces: where the names of evaluated text live, and how a program looks at its own.

The guards' names live beside a program's in the interpreter's dicts. So a program never holds such a dict, and the
interpreter never meets one that a program holds: between them stands a `Names`, which knows no name that begins with a
dot, or a `View`.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from codeact.engines.restricted.names import RESERVED, VARIABLES, is_special
from codeact.engines.restricted.refusals import refusal

BUILTINS = "__builtins__"


class Space(dict[str, Any]):
    """The globals of text that is evaluated in a dict of the program's: what it lacks is looked up there.

    Attributes:
        names: the program's dict.
    """

    __slots__ = ("names",)

    def __init__(self, names: Any, module: str, builtins: dict[str, Any]) -> None:
        super().__init__(__name__=module, __builtins__=builtins)
        self.names = names

    def __missing__(self, name: str) -> Any:
        if hidden(name):
            raise KeyError(name)
        return self.names[name]

    def hand_over(self) -> None:
        """Give what a `global` statement has bound to the program's dict."""
        for name in [name for name in self if not hidden(name) and name != "__name__"]:
            self.names[name] = self.pop(name)


class Names:
    """The locals of evaluated text: two mappings of the program's, and apart from them what is the engine's.

    Attributes:
        here: where names are bound, and looked up first.
        given: whether the program holds that mapping, and it is not the interpreter's.
    """

    __slots__ = ("_around", "_kept", "given", "here")

    def __init__(self, here: Any, around: Any, *, given: bool) -> None:
        self.here = here
        self.given = given
        self._around = around
        self._kept: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if hidden(name):
            return self._kept[name]
        try:
            return self.here[name]
        except KeyError:
            return self._around[name]

    def __setitem__(self, name: str, value: Any) -> None:
        (self._kept if hidden(name) else self.here)[name] = value

    def __delitem__(self, name: str) -> None:
        del (self._kept if hidden(name) else self.here)[name]


class View(MutableMapping[str, Any]):
    """`globals()`: the program's own names, and no other."""

    __slots__ = ("_names",)

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def __getitem__(self, name: Any) -> Any:
        if type(name) is not str or hidden(name):
            raise KeyError(name)
        return self._names[name]

    def __setitem__(self, name: Any, value: Any) -> None:
        self._names[_bindable(name)] = value

    def __delitem__(self, name: Any) -> None:
        del self._names[_bindable(name)]

    def __iter__(self) -> Iterator[str]:
        return iter([name for name in self._names if not hidden(name)])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def copy(self) -> dict[str, Any]:
        """The names as they are now."""
        return dict(self)

    def __repr__(self) -> str:
        return f"<globals: {', '.join(self)}>"

    __copy__ = copy

    def __deepcopy__(self, _memo: Any) -> dict[str, Any]:
        return self.copy()


class Standard:
    """What stands as `__builtins__` in a dict that text was executed in: the builtins there are."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<builtins>"

    def __copy__(self) -> Standard:
        return self

    def __deepcopy__(self, _memo: Any) -> Standard:
        return self


STANDARD = Standard()


def hidden(name: str) -> bool:
    """Whether a name is the engine's and not the program's."""
    return name[:1] == "." or name == BUILTINS


def _bindable(name: Any) -> str:
    if type(name) is not str:
        msg = f"names are strings, not {type(name).__name__}"
        raise TypeError(msg)
    if hidden(name) or (is_special(name) and name not in VARIABLES) or name in RESERVED:
        msg = f"{name} cannot be bound: {refusal('_x_' if name in RESERVED else name).why}"
        raise KeyError(msg)
    return name
