"""A process of its own: which of the type checker's findings in a program are sure to be mistakes.

It is run by path, without anything of this package or of others: `python -I -S judge.py request answer`. What it reads
was written by a model, so it happens here and not in the host's process, under the limits that the host sets.

A type checker believes what a program says of itself; Python does not. So annotations of functions and variables are
taken out of the text first, each for as many blanks. What is found then counts only where the program cannot have
changed things behind the checker's back, and where it does not catch the exception.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MOST = 50
"""Findings that are given."""

LINES = 2000
"""Lines of the checker's output that are read."""

ANY = "Any"
"""What the checker is told stands for anything, with or without an import."""

_FINDING = re.compile(r"program\.py:(\d+):(\d+): error\[([a-z-]+)\] (.*)")
_MISSING = re.compile(r"Object of type `(.+)` has no attribute `(\w+)`")
_CALL = re.compile(r"bound method `(Tools|Actions)\.(\w+)`")
_FOUND = re.compile(r"Expected `(.+)`, found `(.+)`$")
_MEMBER = re.compile(r"Literal\[\w*\.")
_NAME = re.compile(r"Name `(\w+)` used when not defined")

_CALL_RULES = frozenset(
    {
        "invalid-argument-type",
        "missing-argument",
        "parameter-already-assigned",
        "too-many-positional-arguments",
        "unknown-argument",
    }
)
RULES = _CALL_RULES | {
    "call-non-callable",
    "missing-attribute",
    "no-matching-overload",
    "non-subscriptable",
    "not-iterable",
    "not-subscriptable",
    "unresolved-attribute",
    "unresolved-reference",
    "unsupported-operator",
}
"""The rules whose findings may be sure, by all the names they had."""

_SCALARS = frozenset({"bool", "bytes", "float", "int", "str", "Literal", "LiteralString"})
_CONTAINERS = frozenset({"dict", "frozenset", "list", "set", "tuple"})
_TYPES = _SCALARS | _CONTAINERS | {"Decimal", "Fraction", "UUID", "date", "datetime", "time", "timedelta"}
"""Types of values that cannot have been changed into something else, told by how they are shown."""

_CATCHING = {
    "AttributeError": {"AttributeError"},
    "NameError": {"NameError", "UnboundLocalError"},
    "TypeError": {"TypeError"},
}
_DYNAMIC = frozenset({"__builtins__", "eval", "exec", "globals", "locals", "vars"})


def main(request: str, answer: str) -> None:
    """Judge the program in one file, and put what was found into another."""
    asked = json.loads(Path(request).read_text("utf-8"))
    try:
        program = Program(asked["source"], asked["kinds"], asked["earlier"])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        findings = None  # whoever runs it will say what is wrong with it
    else:
        Path("program.py").write_text(program.untyped(), "utf-8", newline="")
        findings = []
        for line, column, rule, message in found(asked["command"]):
            finding = program.judged(line, column, rule, message)
            if finding is not None and finding not in findings:
                findings.append(finding)
    Path(answer).write_text(json.dumps(None if findings is None else findings[:MOST]), "utf-8")


def found(command: list[str]) -> Iterator[tuple[int, int, str, str]]:
    """What the checker says: line, column, rule and message."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - the host's own command
        for _, line in zip(range(LINES), process.stdout or (), strict=False):
            match = _FINDING.match(line.decode("utf-8", "replace").rstrip("\n"))
            if match:
                yield int(match[1]), int(match[2]), match[3], match[4]
        process.kill()


class Program:
    """A program, and what must be known of it to believe a finding."""

    def __init__(self, source: str, kinds: list[str], earlier: list[str]) -> None:
        self._lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", source)
        self._tree = ast.parse(source)
        self._kinds = frozenset(kinds)
        self._above: dict[ast.AST, ast.AST] = {}
        self._named: set[str] = set()  # what the program may have put on an object under this name
        self._shared: set[str] = set()  # names that several functions assign
        self._classes: set[str] = set()
        self._bound: set[str] = set()  # names that are given a value somewhere
        self._dynamic = False  # whether others may come from where nobody sees
        for text in earlier:
            self._bound.update(*map(_bound, ast.walk(ast.parse(text))))
        for node in ast.walk(self._tree):
            for child in ast.iter_child_nodes(node):
                self._above[child] = node
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        self._bound.update(_bound(node))
        match node:
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                self._named.add(node.attr)
            case ast.Constant(value=str(text)) if not self._is_item(node):
                self._named.add(text)
            case ast.keyword(arg=str(name)):
                self._named.add(name)
            case ast.Global() | ast.Nonlocal():
                self._shared.update(node.names)
            case ast.ClassDef():
                self._classes.add(node.name)
            case ast.Name() if node.id in _DYNAMIC:
                self._dynamic = True
            case ast.ImportFrom() if any(alias.name == "*" for alias in node.names):
                self._dynamic = True

    def _is_item(self, node: ast.AST) -> bool:
        """Whether it is the key of an item that is read."""
        above = self._above.get(node)
        return isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Load)

    # --- annotations -----------------------------------------------------------------------------------------

    def untyped(self) -> str:
        """The text without the annotations that Python does not look at, every other letter in its place."""
        lines = list(self._lines)
        for node in ast.walk(self._tree):
            match node:
                case ast.arg(annotation=ast.expr() as annotation):
                    self._blank(lines, annotation, ":")
                case ast.FunctionDef(returns=ast.expr() as annotation):
                    self._blank(lines, annotation, "->")
                case ast.AsyncFunctionDef(returns=ast.expr() as annotation):
                    self._blank(lines, annotation, "->")
                case ast.AnnAssign():
                    self._blank_variable(lines, node)
        return "".join(lines)

    def _blank_variable(self, lines: list[str], node: ast.AnnAssign) -> None:
        if isinstance(self._above[node], ast.ClassDef):
            text = ast.unparse(node.annotation)
            if len(text) >= len(ANY) and not text.startswith(("ClassVar", "InitVar", "typing.", "dataclasses.")):
                _write(lines, node.annotation, ANY)
        elif node.value is not None:
            self._blank(lines, node.annotation, ":")
        else:
            _write(lines, node, "..." if node.end_col_offset - node.col_offset < 4 else "pass")  # type: ignore[operator]  # noqa: PLR2004

    def _blank(self, lines: list[str], annotation: ast.expr, mark: str) -> None:
        """Blank an annotation, what is around it in parentheses, and the mark before it."""
        _write(lines, annotation, "")
        line, column = annotation.lineno - 1, _letters(lines[annotation.lineno - 1], annotation.col_offset)
        while line >= 0:
            before = lines[line][:column]
            bare = before.rstrip("( \t\\\r\n")
            if bare:
                if bare.endswith(mark):
                    kept = bare[: -len(mark)]
                    lines[line] = kept + _blanks(before[len(kept) :]) + lines[line][column:]
                    self._close(lines, annotation, before[len(bare) :].count("("))
                return
            lines[line] = _blanks(before) + lines[line][column:]
            line, column = line - 1, len(lines[line - 1])

    def _close(self, lines: list[str], annotation: ast.expr, opened: int) -> None:
        """Blank the parentheses that were opened before an annotation."""
        line, column = annotation.end_lineno - 1, _letters(lines[annotation.end_lineno - 1], annotation.end_col_offset)  # type: ignore[operator,arg-type]
        while opened and line < len(lines):
            at = lines[line].find(")", column)
            if at < 0:
                line, column = line + 1, 0
                continue
            lines[line] = f"{lines[line][:at]} {lines[line][at + 1 :]}"
            opened -= 1

    # --- findings --------------------------------------------------------------------------------------------

    def judged(self, line: int, column: int, rule: str, message: str) -> dict[str, Any] | None:
        """A finding that is sure to be a mistake, as data; None for any other."""
        made = self._attribute(line, column, message) or self._name(message) or self._call(line, column, rule, message)
        if made is None and "`CoroutineType[" in message and rule not in _CALL_RULES:
            made = {"what": "unawaited", "type": "TypeError"}
        if made is None or self._is_caught(line, made["type"]):
            return None
        return {**made, "line": line}

    def _attribute(self, line: int, column: int, message: str) -> dict[str, Any] | None:
        missing = _MISSING.fullmatch(message)
        if not missing:
            return None
        kind, name = missing[1], missing[2]
        node = self._at(ast.Attribute, line, column, lambda node: node.attr == name)
        if node is None or not self._is_sure(node.value, kind):
            return None
        if name in self._named and any(_outer(part) in self._kinds for part in kind.split(" | ")):
            return None
        what = "unawaited" if kind.startswith("CoroutineType[") else "attribute"
        return {"what": what, "type": "AttributeError", "of": kind, "name": name, "text": _short(node.value)}

    def _name(self, message: str) -> dict[str, Any] | None:
        missing = _NAME.fullmatch(message)
        # Where a name has been bound is what a checker follows; whether it is bound anywhere is what is sure.
        if not missing or self._dynamic or missing[1] in self._bound:
            return None
        return {"what": "name", "type": "NameError", "name": missing[1], "near": sorted(self._bound)[:LINES]}

    def _call(self, line: int, column: int, rule: str, message: str) -> dict[str, Any] | None:
        tool = _CALL.search(message)
        if not tool or rule not in _CALL_RULES:
            return None
        call = self._call_at(line, column, tool[2])
        if call is None or any(isinstance(part, ast.Starred) for part in call.args):
            return None
        if any(keyword.arg is None for keyword in call.keywords):
            return None
        made = {
            "what": rule,
            "type": "TypeError",
            "of": tool[1],
            "tool": tool[2],
            "message": message,
            "count": len(call.args),
        }
        if rule != "invalid-argument-type":
            return made
        types = _FOUND.search(message)
        argument = self._argument(call, line, column)
        if not types or argument is None or not self._is_misfit(argument[1], types[1], types[2]):
            return None
        return {**made, "argument": argument[0], "found": types[2]}

    def _argument(self, call: ast.Call, line: int, column: int) -> tuple[str | int, ast.expr] | None:
        """The argument that a finding is about: its name or place, and itself."""
        for place, value in enumerate(call.args):
            if self._begins(value, line, column):
                return place, value
        for keyword in call.keywords:
            if keyword.arg and (self._begins(keyword, line, column) or self._begins(keyword.value, line, column)):
                return keyword.arg, keyword.value
        return None

    def _is_misfit(self, node: ast.expr, expected: str, kind: str) -> bool:
        """Whether an argument of this type cannot be one of what is expected."""
        if "|" in kind or not self._is_steady(node):
            return False
        if kind == "None":
            return isinstance(node, (ast.Constant, ast.Name))
        if "Literal[" in expected and _outer(kind) in _SCALARS - {"Literal"}:
            return False
        return (self._is_known(kind) and not _MEMBER.match(kind)) or kind.startswith("CoroutineType[")

    def _is_sure(self, node: ast.expr, kind: str) -> bool:
        """Whether an expression can be nothing but what the checker takes it for."""
        parts = [part for part in kind.split(" | ") if part != "None"]
        if kind.startswith("CoroutineType["):
            return True
        if not parts or not all(map(self._is_known, parts)):
            return False
        of_tools = all(any(name in part for name in self._kinds) for part in parts)
        if isinstance(node, ast.Subscript):
            return of_tools and self._is_steady(node.value)
        if isinstance(node, ast.Name) and not of_tools and any(_outer(part) in _SCALARS for part in parts):
            return False
        return self._is_steady(node)

    def _is_known(self, kind: str) -> bool:
        outer = _outer(kind)
        return (outer in _TYPES or outer in self._kinds) and outer not in self._classes

    def _is_steady(self, node: ast.AST) -> bool:
        """Whether nothing else can have given this expression another value than the one that is seen."""
        match node:
            case ast.Name():
                return node.id not in self._shared
            case ast.Attribute():
                return node.attr not in self._named and self._is_steady(node.value)
            case ast.Subscript():
                return isinstance(node.value, ast.Call)
        return True

    def _is_caught(self, line: int, kind: str) -> bool:
        """Whether the program is ready for an exception on this line."""
        catching = {"BaseException", "Exception", *_CATCHING[kind]}
        somewhere = self._is_deferred(line)
        for node in ast.walk(self._tree):
            body = getattr(node, "body", None)
            if not isinstance(body, list) or not body:
                continue
            if not somewhere and not body[0].lineno <= line <= body[-1].end_lineno:
                continue
            if isinstance(node, (ast.Try, ast.TryStar)) and any(
                _catches(handler.type, catching) for handler in node.handlers
            ):
                return True
            if isinstance(node, (ast.With, ast.AsyncWith)) and any(
                "suppress" in ast.unparse(item.context_expr) for item in node.items
            ):
                return True
        return False

    def _is_deferred(self, line: int) -> bool:
        """Whether something on this line runs when it is called, which may be anywhere."""
        scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp)
        return any(
            isinstance(node, scopes) and node.lineno <= line <= (node.end_lineno or 0) for node in ast.walk(self._tree)
        )

    def _call_at(self, line: int, column: int, tool: str) -> ast.Call | None:
        """The innermost call of a tool around a place."""
        found = None
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == tool:
                inside = node.lineno <= line <= node.end_lineno  # type: ignore[operator]
                if inside and (self._begins(node, line, column) or self._argument(node, line, column)):
                    found = node
        return found

    def _at(self, kind: type[ast.Attribute], line: int, column: int, fits: Any) -> ast.Attribute | None:
        for node in ast.walk(self._tree):
            if isinstance(node, kind) and self._begins(node, line, column) and fits(node):
                return node
        return None

    def _begins(self, node: Any, line: int, column: int) -> bool:
        return bool(node.lineno == line) and _letters(self._lines[line - 1], node.col_offset) == column - 1


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a part of a program binds, in whatever scope."""
    match node:
        case ast.Name(ctx=ast.Store()):
            yield node.id
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.arg():
            yield node.arg
        case ast.alias():
            yield node.asname or node.name.partition(".")[0]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name


def _catches(kind: ast.expr | None, catching: set[str]) -> bool:
    if kind is None:
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    # What is no plain name of an exception may be any.
    return any(not isinstance(one, ast.Name) or one.id in catching for one in kinds)


def _outer(kind: str) -> str:
    return kind.partition("[")[0]


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 and "\n" not in text else "it"  # noqa: PLR2004


def _letters(line: str, octets: int) -> int:
    """A column in letters, where the tree counts the octets of UTF-8."""
    return octets if line.isascii() else len(line.encode()[:octets].decode("utf-8", "ignore"))


def _write(lines: list[str], node: Any, text: str) -> None:
    """Put a text in the place of a part of the program, and blanks in what is left of it."""
    for number in range(node.lineno - 1, node.end_lineno):
        line = lines[number]
        first = _letters(line, node.col_offset) if number == node.lineno - 1 else 0
        last = _letters(line, node.end_col_offset) if number == node.end_lineno - 1 else len(line)
        blank = _blanks(line[first:last])
        if number == node.lineno - 1:
            blank = text + blank[len(text) :]
        lines[number] = line[:first] + blank + line[last:]


def _blanks(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


if __name__ == "__main__":
    main(*sys.argv[1:])
