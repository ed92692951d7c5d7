"""Where a program failed: its frame, the expression, and what the names in it stood for.

Nothing of the program's own is called to find out: values are told by their exact type, and only those of builtin
types and records are looked into, and only so far.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import FrameType, ModuleType, TracebackType
from typing import Any

from .records import Record, ShadowingRecord

MAPPINGS = (dict, Record, ShadowingRecord)
SEQUENCES = (list, tuple, str, bytes)

_LOOKED_AT = 1000
"""Items of a container that are looked at."""

_SOURCE = 20_000
"""Characters of a text that is parsed once more."""

_TEXT = 60
"""Characters of an expression that are repeated."""

_OWN_SCOPES = frozenset({"<lambda>", "<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>"})


@dataclass(frozen=True)
class Scene:
    """What is known of the world in which a program failed.

    Attributes:
        text: the text of the program that a file name stands for; None for what is no program's.
        offered: signatures by how it is written what they are of: `tools.get_charges`, `actions.refund`.
        modules: the modules that were imported.
        importable: the names of those that could be.
    """

    text: Callable[[str], str | None]
    offered: Mapping[str, str]
    modules: Mapping[str, ModuleType]
    importable: Callable[[], Iterable[str]]


@dataclass(frozen=True)
class Place:
    """The innermost frame of a program, and the expression at which it failed.

    Attributes:
        frame: the frame.
        path: the syntax tree from the module down to the expression; empty when it could not be found.
    """

    frame: FrameType
    path: tuple[ast.AST, ...]

    @property
    def node(self) -> ast.AST | None:
        """The expression."""
        return self.path[-1] if self.path else None

    def values(self, node: ast.AST) -> Iterator[Any]:
        """What an expression stood for: nothing when that cannot be told, and several for what a comprehension binds."""
        match node:
            case ast.Constant():
                yield node.value
            case ast.Name():
                yield from self._named(node.id)
            case ast.Attribute():
                for value in self.values(node.value):
                    if type(value) in MAPPINGS[1:]:
                        yield from _item(value, node.attr)
            case ast.Subscript():
                for key in islice(self.values(node.slice), 1):
                    for value in self.values(node.value):
                        yield from _item(value, key)
            case ast.Call(func=ast.Attribute(value=inner, attr="values"), args=[]):
                for value in self.values(inner):
                    if type(value) in MAPPINGS:
                        yield list(islice(dict.values(value), _LOOKED_AT))

    def value(self, node: ast.AST, fits: Callable[[Any], bool]) -> Any:
        """The first of the values of an expression that fits; None where there is none."""
        return next(filter(fits, self.values(node)), None)

    def _named(self, name: str) -> Iterator[Any]:
        names = self.frame.f_locals
        if self.frame.f_code.co_name in _OWN_SCOPES and name in names:
            yield names[name]
            return
        source = self._bound_by_comprehension(name)
        if source is not None:
            for values in self.values(source):
                if type(values) is list or type(values) is tuple:
                    yield from values[:_LOOKED_AT]
        elif name in names:
            yield names[name]
        elif name in self.frame.f_globals:
            yield self.frame.f_globals[name]

    def _bound_by_comprehension(self, name: str) -> ast.expr | None:
        """What the innermost comprehension around the expression runs through, if it binds the name."""
        for node in reversed(self.path):
            if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
                for part in node.generators:
                    if isinstance(part.target, ast.Name) and part.target.id == name:
                        return part.iter
        return None


def place_of(error: BaseException, scene: Scene) -> Place | None:
    """Where a program failed; None when no frame of the traceback is a program's."""
    found: TracebackType | None = None
    traceback = error.__traceback__
    text = None
    while traceback is not None:
        known = scene.text(traceback.tb_frame.f_code.co_filename)
        if known is not None:
            found, text = traceback, known
        traceback = traceback.tb_next
    if found is None:
        return None
    return Place(found.tb_frame, _path(found, text) if text is not None and len(text) <= _SOURCE else ())


def _path(traceback: TracebackType, text: str) -> tuple[ast.AST, ...]:
    positions = islice(traceback.tb_frame.f_code.co_positions(), traceback.tb_lasti // 2, None)
    span = next(positions, None)
    if span is None or None in span:
        return ()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    above: dict[ast.AST, ast.AST] = {}
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        if first is not None and last is not None and (first > span[0] or last < span[1]):
            continue
        if isinstance(node, ast.expr) and (first, last, node.col_offset, node.end_col_offset) == span:
            return _down_to(node, above)
        for child in ast.iter_child_nodes(node):
            above[child] = node
            pending.append(child)
    return ()


def _down_to(node: ast.AST, above: dict[ast.AST, ast.AST]) -> tuple[ast.AST, ...]:
    path = [node]
    while node in above:
        node = above[node]
        path.append(node)
    return tuple(reversed(path))


def _item(value: Any, key: Any) -> Iterator[Any]:
    kind = type(key)
    if type(value) in MAPPINGS:
        if kind is str or kind is int:
            for known, item in islice(dict.items(value), _LOOKED_AT):
                if type(known) is kind and known == key:
                    yield item
    elif kind is int and (type(value) is list or type(value) is tuple) and -len(value) <= key < len(value):
        yield value[key]


def text_of(node: ast.AST) -> str | None:
    """A short expression as it is written; None for a long one."""
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return None
    text = ast.unparse(node)
    return text if len(text) <= _TEXT and "\n" not in text else None
