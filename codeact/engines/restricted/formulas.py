"""Formulas: arithmetic of names and numbers, and what the names have to be for it to need no guard.

`a * b % 7` is harmless where `a` and `b` are integers of ordinary size, and one look at them is enough for the whole of
it. What is scaled, that is multiplied or shifted by constants, grows by a word at a time, and must not be at the limit
yet. What is only added or divided grows by a bit, and may be any number.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import IntEnum

SMALL = 1 << 63
"""Constants below this make a number grow only a word at a time."""

ROOM = 2048
"""Bits that a formula makes a number longer by, at most: so many short of the limit it is looked at as a whole."""

DIGIT = (1 << 30) - 1
"""Integers below this are one digit of the interpreter's, which compares two of them in place."""

_NAMES = 4  # with more of them the guards cost less than the looks
_PARTS = 24
_SHIFT = 63
_EXPONENT = 8
_GROWING_LITTLE = frozenset(
    {ast.Add, ast.Sub, ast.Mod, ast.Div, ast.FloorDiv, ast.BitAnd, ast.BitOr, ast.BitXor, ast.RShift}
)


_LITTLE = 2
"""Constants up to this make a number grow no faster than adding it to itself does."""


class Growth(IntEnum):
    """How fast a formula makes a name grow."""

    ADDED = 0
    SCALED = 1
    MULTIPLIED = 2


@dataclass(slots=True)
class Formula:
    """What is in a formula.

    Attributes:
        names: its names, by what they are.
        growth: what becomes of each.
        operators: how many there are.
    """

    names: dict[str, ast.Name] = field(default_factory=dict)
    growth: dict[str, Growth] = field(default_factory=dict)
    operators: int = 0

    @property
    def grows(self) -> bool:
        """Whether a look at the types of its names is not enough."""
        return any(self.growth.values())

    def read(self, node: ast.expr, growth: Growth = Growth.ADDED) -> bool:
        """Read a part of it; whether it is nothing but arithmetic of names and numbers."""
        kind = type(node)
        if kind is ast.Name:
            name: str = node.id  # type: ignore[attr-defined]
            self.names[name] = node  # type: ignore[assignment]
            self.growth[name] = max(growth, self.growth.get(name, growth))
            return len(self.names) <= _NAMES
        if kind is ast.Constant:
            return is_number(node)
        if isinstance(node, ast.UnaryOp):
            return not isinstance(node.op, ast.Not) and self.read(node.operand, growth)
        if isinstance(node, ast.BinOp):
            self.operators += 1
            return self.operators < _PARTS and self._read_operator(node, growth)
        return False

    def _read_operator(self, node: ast.BinOp, growth: Growth) -> bool:
        kind, left, right = type(node.op), node.left, node.right
        if kind is ast.Mult:
            return self.read(left, max(growth, _factor(right))) and self.read(right, max(growth, _factor(left)))
        if kind is ast.Pow:
            return isinstance(left, ast.Name) and _at_most(right, _EXPONENT) and self.read(left, Growth.MULTIPLIED)
        if kind is ast.LShift:
            return _at_most(right, _SHIFT) and self.read(left, max(growth, Growth.SCALED))
        return kind in _GROWING_LITTLE and self.read(left, growth) and self.read(right, growth)


def formula_of(node: ast.expr) -> Formula | None:
    """What is in it; None where it is more than arithmetic of a few names and numbers."""
    found = Formula()
    return found if found.read(node) and found.names else None


def is_number(node: ast.expr) -> bool:
    """Whether it is a constant number of ordinary size."""
    if not isinstance(node, ast.Constant):
        return False
    return isinstance(node.value, float) or (isinstance(node.value, int) and node.value < SMALL)


def _factor(node: ast.expr) -> Growth:
    """What becomes of the other factor."""
    if not is_number(node):
        return Growth.MULTIPLIED
    value = node.value  # type: ignore[attr-defined]
    return Growth.ADDED if isinstance(value, float) or -_LITTLE <= value <= _LITTLE else Growth.SCALED


def _at_most(node: ast.expr, most: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value <= most
