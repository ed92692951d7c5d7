"""Formulas: arithmetic of names and numbers, and what the names have to be for it to need no guard.

`a * b % 7` is harmless where `a` and `b` are integers of ordinary size, and one look at them is enough for the whole of
it. What is only added, divided or multiplied by constants may be a number of any size: it grows by a word at a time.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

SMALL = 1 << 63
"""Constants below this make a number grow only a word at a time."""

DIGIT = (1 << 30) - 1
"""Integers below this are one digit of the interpreter's, which compares two of them in place."""

_NAMES = 4  # with more of them the guards cost less than the looks
_PARTS = 24
_SHIFT = 63
_EXPONENT = 8
_GROWING_LITTLE = frozenset(
    {ast.Add, ast.Sub, ast.Mod, ast.Div, ast.FloorDiv, ast.BitAnd, ast.BitOr, ast.BitXor, ast.RShift}
)


@dataclass(slots=True)
class Formula:
    """What is in a formula.

    Attributes:
        names: its names, by what they are; one that is multiplied by others must be an integer of ordinary size.
        multiplied: which of them are.
        operators: how many there are.
    """

    names: dict[str, ast.Name] = field(default_factory=dict)
    multiplied: set[str] = field(default_factory=set)
    operators: int = 0

    def read(self, node: ast.expr, *, multiplied: bool = False) -> bool:
        """Read a part of it; whether it is nothing but arithmetic of names and numbers."""
        kind = type(node)
        if kind is ast.Name:
            name: str = node.id  # type: ignore[attr-defined]
            self.names[name] = node  # type: ignore[assignment]
            if multiplied:
                self.multiplied.add(name)
            return len(self.names) <= _NAMES
        if kind is ast.Constant:
            return is_number(node)
        if isinstance(node, ast.UnaryOp):
            return not isinstance(node.op, ast.Not) and self.read(node.operand, multiplied=multiplied)
        if isinstance(node, ast.BinOp):
            self.operators += 1
            return self.operators < _PARTS and self._read_operator(node, multiplied)
        return False

    def _read_operator(self, node: ast.BinOp, multiplied: bool) -> bool:
        kind, left, right = type(node.op), node.left, node.right
        left_multiplied = right_multiplied = multiplied
        if kind is ast.Mult:
            left_multiplied = multiplied or not is_number(right)
            right_multiplied = multiplied or not is_number(left)
        elif kind is ast.Pow:
            return isinstance(left, ast.Name) and _at_most(right, _EXPONENT) and self.read(left, multiplied=True)
        elif kind is ast.LShift:
            return _at_most(right, _SHIFT) and self.read(left, multiplied=multiplied)
        elif kind not in _GROWING_LITTLE:
            return False
        return self.read(left, multiplied=left_multiplied) and self.read(right, multiplied=right_multiplied)


def formula_of(node: ast.expr) -> Formula | None:
    """What is in it; None where it is more than arithmetic of a few names and numbers."""
    found = Formula()
    return found if found.read(node) and found.names else None


def is_number(node: ast.expr) -> bool:
    """Whether it is a constant number of ordinary size."""
    if not isinstance(node, ast.Constant):
        return False
    return isinstance(node.value, float) or (isinstance(node.value, int) and node.value < SMALL)


def _at_most(node: ast.expr, most: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value <= most
