"""Templates of `%`: the widths that they ask for, and what is put into them, judged before they are filled."""

from __future__ import annotations

import re
from typing import Any

from codeact.engines.restricted.sizes import Sizes

WIDTH = 1_000_000
"""The widest field that a format may ask for."""

PLAIN = frozenset({str, int, float, bool, type(None)})
"""Types whose values are shown as they are."""

LONG = re.compile(r"\d{4,}")
"""Widths that may be large."""

MOST = 200
"""Templates that are remembered."""

_LARGE = 100_000
_SHORT = 1000
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_WIDENING = re.compile(r"%[-+ #0-9.]*\d{4}|%\(|\*")


def clean(shown: Any) -> Any:
    """Text without addresses."""
    return _ADDRESS.sub("", shown) if " at 0x" in shown else shown


class Templates:
    """The templates of one world."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._narrow: dict[str, bool] = {}

    def percent(self, template: Any, values: Any) -> Any:
        """`template % values`."""
        if type(template) is str and self._is_narrow(template):
            items = values if type(values) is tuple else (values,)
            kinds = set(map(type, items))
            if kinds <= PLAIN:
                if str in kinds:
                    self._sizes.take(sum([len(item) for item in items if type(item) is str]))
                return clean(template % values)
        shown = template if isinstance(template, str) else template.decode("latin-1")
        self.widths(shown)
        # What a class of the program's says that its tuple holds, is not what the interpreter takes from it.
        items = tuple.__getitem__(values, slice(None)) if isinstance(values, tuple) else (values,)
        if "%(" in shown and not isinstance(values, (dict, tuple)):
            values, items = _Walked(values, self._sizes), ()
        if "*" in shown:
            for item in items:
                if isinstance(item, int):
                    self._width(int.__index__(item))
        wanted = 0
        for item in items:
            if type(item) is str:
                wanted += len(item)
            elif type(item) is not int:
                self._sizes.exponent(item)
        self._sizes.take(wanted)
        if not PLAIN.issuperset(map(type, items)) or len(shown) > _LARGE:
            self._sizes.take(
                self._sizes.walk(values) * max(1, shown.count("%"))
                if isinstance(values, dict)
                else self._sizes.walk(values)
            )
        result = template % values
        return clean(result) if isinstance(result, str) else result

    def _is_narrow(self, template: str) -> bool:
        """Whether it takes values in turn, and asks for no width that could be large."""
        known = self._narrow.get(template)
        if known is None:
            known = len(template) <= _LARGE and not _WIDENING.search(template)
            if len(self._narrow) > MOST:
                self._narrow.clear()
            if len(template) <= _SHORT:
                self._narrow[template] = known
        return known

    def widths(self, spec: str) -> None:
        """Judge the widths in a format."""
        total = 0
        for digits in LONG.findall(spec):
            width = int(digits[:20])
            total += width
            self._width(width)
        self._sizes.take(total)

    def _width(self, width: int) -> None:
        if width > WIDTH:
            self._sizes.refuse(f"a format asks for a width of {width:,}, at most {WIDTH:,} are allowed")


class _Walked:
    """A mapping for `%`, each of its values judged when it is asked for."""

    __slots__ = ("_sizes", "_values")

    def __init__(self, values: Any, sizes: Sizes) -> None:
        self._values = values
        self._sizes = sizes

    def __getitem__(self, key: Any) -> Any:
        found = self._values[key]
        self._sizes.walk(found)
        return found
