"""From a model's text to something that runs: top-level `return` and `await`, and the last expression as value.

A program is a module whose value is what it returns, or what its last expression gives. Python has no such
module, so a program becomes a body, and a tail that is evaluated after it; a program that returns at top
level becomes a function whose names are all global.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import CO_NEWLOCALS, CO_OPTIMIZED
from types import CodeType, FrameType

FILENAME = "<program>"
"""The file name of a world's first program."""


def filename(number: int) -> str:
    """The file name of a world's nth program: frames of such files are the model's own, all others are not shown."""
    return FILENAME if number == 1 else f"<program {number}>"


def number_of(name: str) -> int:
    """The number of the program that a file name belongs to; 0 when it is no program's."""
    if name == FILENAME:
        return 1
    number = name[9:-1] if name.startswith(_BEGIN) else ""
    return int(number) if number.isdecimal() and len(number) < _DIGITS else 0


_BEGIN = "<program "
_DIGITS = 8


def current_line(name: str) -> int:
    """The line that is running of the program in the file of that name; 0 where none is.

    Whoever asks is no program, and is not looked at. An earlier program's function has lines of another text.
    """
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - as documented as it gets
    while frame is not None:
        if frame.f_code.co_filename == name:
            return frame.f_lineno or 0
        frame = frame.f_back
    return 0


FUNCTION = "__program__"
"""The name of the function that a program with a top-level `return` becomes."""


_BREAK = re.compile(r"\r\n|\r|\n")


def lines_of(source: str) -> list[str]:
    """The lines of a text as Python counts them; `str.splitlines` breaks in more places."""
    return _BREAK.split(source) if "\r" in source else source.split("\n")


UNRETURNED = object()
"""What FUNCTION gives when it falls off its end, so that a `return` that gives None can be told from none."""


@dataclass(frozen=True)
class Lifted:
    """A program split for running.

    Attributes:
        body: what is executed.
        tail: the last expression; None where there is none, or where `body` defines the function FUNCTION.
        function: whether `body` only defines FUNCTION, which is then to be called.
    """

    body: ast.Module
    tail: ast.Expression | None
    function: bool


def lift(tree: ast.Module, source: str, unreturned: str) -> Lifted:
    """Split a parsed program.

    Args:
        tree: the program.
        source: its text: a program whose text does not say `return` need not be searched for one.
        unreturned: a name under which the program's builtins hold UNRETURNED.

    Raises:
        SyntaxError: it returns at top level and does there what no function can.
    """
    if "return" in source and any(isinstance(node, ast.Return) for node in _own(tree)):
        return Lifted(_as_function(tree, unreturned), None, function=True)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        body = ast.Module(tree.body[:-1], tree.type_ignores)
        return Lifted(body, ast.Expression(last.value), function=False)
    return Lifted(tree, None, function=False)


@dataclass(frozen=True)
class Compiled:
    """The code objects of a program, in the order they run; `function` as in `Lifted`."""

    body: CodeType
    tail: CodeType | None
    function: bool


NOTHING = compile("", FILENAME, "exec", dont_inherit=True)
"""The body of a program that is one expression; compiling a tree costs more than running it."""


def compile_program(tree: ast.Module, source: str, unreturned: str, name: str) -> Compiled:
    """Split and compile a program; code that awaits at top level gives a coroutine when it is evaluated.

    Args:
        tree: the program.
        source: its text.
        unreturned: see `lift`.
        name: its file name.

    Raises:
        SyntaxError: it cannot be compiled, or see `lift`.
    """
    try:
        lifted = lift(tree, source, unreturned)
    except SyntaxError as error:
        error.filename = name
        raise
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    body = NOTHING
    if lifted.body.body:
        body = compile(lifted.body, name, "exec", flags=flags, dont_inherit=True)
    tail = None
    if lifted.tail is not None:
        tail = compile(lifted.tail, name, "eval", flags=flags, dont_inherit=True)
    return Compiled(body, tail, lifted.function)


def as_module(function: CodeType) -> CodeType:
    """The code of the function FUNCTION, to be evaluated among globals: its locals are these, as a module's are.

    So `exec` and `locals` inside find what they would find in a module.
    """
    flags = function.co_flags & ~(CO_OPTIMIZED | CO_NEWLOCALS)
    return function.replace(co_flags=flags, co_name="<module>", co_qualname="<module>")


_YIELD = "'yield' outside function"
_STAR = "import * does not go with a top-level 'return'"

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below this one that run in its own scope; a nested definition is given, its inside is not."""
    pending = [node]
    while pending:
        for child in ast.iter_child_nodes(pending.pop()):
            yield child
            if isinstance(child, _SCOPES):
                for part in _evaluated_outside(child):
                    yield part
                    pending.append(part)
            else:
                pending.append(child)


def _evaluated_outside(scope: ast.AST) -> Iterator[ast.AST]:
    """The parts of a definition that run where it stands: decorators, defaults and bases."""
    yield from getattr(scope, "decorator_list", ())
    yield from getattr(scope, "bases", ())
    yield from getattr(scope, "keywords", ())
    arguments = getattr(scope, "args", None)
    if isinstance(arguments, ast.arguments):
        yield from arguments.defaults
        yield from filter(None, arguments.kw_defaults)


def _as_function(tree: ast.Module, unreturned: str) -> ast.Module:
    names: dict[str, None] = {}
    awaits = False
    for node in _own(tree):
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            raise _syntax_error(_YIELD, node)
        awaits = awaits or isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith))
        awaits = awaits or (isinstance(node, ast.comprehension) and bool(node.is_async))
        names.update(dict.fromkeys(_bound(node)))
    future = [statement for statement in tree.body if _is_future(statement)]
    body = [_Plain().visit(statement) for statement in tree.body if not _is_future(statement)]
    if isinstance(body[-1], ast.Expr):
        body[-1] = ast.copy_location(ast.Return(body[-1].value), body[-1])
    if not isinstance(body[-1], ast.Return):
        body.append(ast.copy_location(ast.Return(ast.Name(unreturned, ast.Load())), body[-1]))
    if names:
        body.insert(0, ast.copy_location(ast.Global(list(names)), tree.body[0]))
    shell = ast.parse(f"{'async ' if awaits else ''}def {FUNCTION}(): pass")
    shell.body[0].body = body  # type: ignore[attr-defined]
    shell.body[:0] = future
    return ast.fix_missing_locations(shell)


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _bound(node: ast.AST) -> Iterator[str]:
    """The names this node binds."""
    match node:
        case ast.Name(ctx=ast.Store() | ast.Del()):
            yield node.id
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                if alias.name == "*":
                    raise _syntax_error(_STAR, node)
                yield alias.asname or alias.name.partition(".")[0]


class _Plain(ast.NodeTransformer):
    """Takes the annotations off a scope's own names: an annotated name cannot be global."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if not isinstance(node.target, ast.Name):
            return node
        plain = ast.Assign([node.target], node.value) if node.value else ast.Pass()
        return ast.copy_location(plain, node)

    def _leave(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _leave  # noqa: N815 - ast's names


def _syntax_error(message: str, node: ast.expr | ast.stmt) -> SyntaxError:
    return SyntaxError(message, (None, node.lineno, node.col_offset + 1, None))
