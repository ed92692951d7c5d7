# ruff: noqa: N802 - the visitor's methods are named after the nodes
"""Evaluation: `eval`, `exec`, `compile`, `globals` and `locals`.

Text goes the way of the program itself: it is parsed, judged and rewritten by the policy, and runs with the world's
builtins. So it can do nothing that the program could not say itself. What differs is where its names live; see
`spaces`.
"""

from __future__ import annotations

import ast
import builtins
from types import CodeType
from typing import Any, cast

from codeact.engines.restricted.policy import Policy
from codeact.engines.restricted.refusals import MISSING
from codeact.engines.restricted.rewriter import Violation, at
from codeact.engines.restricted.spaces import BUILTINS, STANDARD, Names, Space, View, hidden
from codeact.engines.restricted.supply import Supply

FILENAME = "<evaluated>"
"""The file name of evaluated text: its frames are not shown, but the line that called for it."""

PRICE = 20
"""Ticks that a character costs to read, judge and compile."""

_MODES = ("eval", "exec")
_KEPT = 100
_SHORT = 10_000


class _Policy(Policy):
    """The policy for text of the program's own."""

    names_at_top = ".names_here"
    steady = False  # a mapping of the program's may answer each time with another thing

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._binding: set[ast.AST] = set()

    def visit_Global(self, node: ast.Global) -> ast.AST:
        """A function that binds names of the module hands them over when it ends."""
        self._binding.update(self.scopes[-1:])
        return super().visit_Global(node)

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        made: Any = super()._visit_function(node)
        if node in self._binding:
            start = 0 if ast.get_docstring(made, clean=False) is None else 1
            hand_over = self.guard(".hand_over", node, [self.guard(".names_of_module", node, [])])
            made.body[start:] = [at(ast.Try(made.body[start:], [], [], [at(ast.Expr(hand_over), node)]), node)]
        return made  # type: ignore[no-any-return]

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function  # noqa: N815


class Code:
    """What `compile` gives: text that has been judged."""

    __slots__ = ("mode", "text")

    def __init__(self, text: str, mode: str) -> None:
        self.text = text
        self.mode = mode

    def __repr__(self) -> str:
        return "<code object>"


class Evaluation:
    """Evaluation in one world."""

    def __init__(self, supply: Supply) -> None:
        self._world = supply.world
        self._supply = supply
        self._view = View(supply.world.globals)
        self._prepared: dict[Any, CodeType] = {}

    def guards(self) -> dict[str, Any]:
        """What the policy calls, and the same as values, for a program that uses the names for something else too."""
        return {
            ".eval": self.evaluate,
            ".exec": self.execute,
            ".compile": self.compile,
            ".globals": self.globals,
            ".locals": self.locals,
            ".names_of_module": builtins.globals,
            ".names_here": builtins.locals,
            ".hand_over": _hand_over,
            "eval": self._anywhere(self.evaluate),
            "exec": self._anywhere(self.execute),
            "compile": self.compile,
            "globals": self._anywhere(self.globals),
            "locals": self._anywhere(self.locals),
        }

    def _anywhere(self, function: Any) -> Any:
        own = self._world.globals
        return lambda *args, **named: function(own, own, *args, **named)  # no `partial`, which shows what it calls

    # --- what the program calls ------------------------------------------------------------------------------

    def evaluate(self, module: Any, here: Any, source: Any, /, globals: Any = None, locals: Any = None) -> Any:  # noqa: A002
        """`eval`; `module` and `here` are the names where it is called."""
        return self._run(_read(source, "eval"), module, here, globals, locals)

    def execute(self, module: Any, here: Any, source: Any, /, globals: Any = None, locals: Any = None) -> None:  # noqa: A002
        """`exec`."""
        self._run(_read(source, "exec"), module, here, globals, locals)

    def compile(self, source: Any, filename: Any, mode: Any, flags: Any = 0, *_: Any, **__: Any) -> Code:
        """`compile`: the text is judged, and judged again where it runs."""
        del filename
        if flags:
            msg = "compile() takes no flags here"
            raise ValueError(msg)
        made = Code(_text_of(source, "compile()"), str(mode))
        self._prepare(made, set(self._world.globals))
        return made

    def globals(self, module: Any, _here: Any) -> Any:
        """`globals`."""
        return module.names if type(module) is Space else self._view

    def locals(self, _module: Any, here: Any) -> Any:
        """`locals`."""
        if here is self._world.globals:
            return self._view
        if type(here) is Names:
            if here.given:
                return here.here
            here = here.here
        return {name: value for name, value in here.items() if not hidden(name)}

    # --- running ---------------------------------------------------------------------------------------------

    def _run(self, code: Code, module: Any, here: Any, given: Any, local: Any) -> Any:
        """Run code where it is asked for (`module`, `here`), or in mappings of the program's (`given`, `local`)."""
        own = self._world.globals
        if type(given) is View:
            given, module, here = None, own, own
        if type(local) is View:
            local, here = None, own
        if given is None and local is None and here is own:
            return eval(self._prepare(code, set(own)), own)  # noqa: S307 - judged and rewritten by the policy
        held = given is not None or local is not None
        if given is None:
            around, names = module, (here if local is None else local)
        else:
            if not isinstance(given, dict):
                msg = f"globals must be a dict, not {type(given).__name__}"
                raise TypeError(msg)
            around = Space(given, self._world.module, self._builtins_of(given))
            names = given if local is None else local
        if type(names) is Names:
            names, held = names.here, names.given
        outer = around.names if type(around) is Space else {}
        taken = {*(outer or own), *(names.keys() if hasattr(names, "keys") else ())}
        if around[BUILTINS] is not self._supply.made:
            taken |= self._supply.whole().keys() | MISSING
        compiled = self._prepare(code, taken)
        try:
            return eval(compiled, around, cast("Any", Names(names, outer, given=held)))  # noqa: S307 - as above
        finally:
            _hand_over(around)

    def _builtins_of(self, given: dict[Any, Any]) -> dict[str, Any]:
        """The builtins for a dict of the program's, which may name fewer."""
        named = dict.setdefault(given, BUILTINS, STANDARD)
        if named is STANDARD:
            return self._supply.made
        own = dict(named) if isinstance(named, dict) else {}
        kept = {name: value for name, value in self._supply.whole().items() if name[:1] in "._"}
        return {**{name: value for name, value in own.items() if type(name) is str and name not in kept}, **kept}

    def _prepare(self, code: Code, taken: set[Any]) -> CodeType:
        """The code of a text, where these names do not mean the builtins."""
        self._world.meter.tick()
        decided = frozenset(name for name in taken if type(name) is str and (name in self._supply or name in MISSING))
        key = (code.text, code.mode, decided)
        made = self._prepared.get(key)
        if made is None:
            made = self._translate(code.text, code.mode, decided)
            if len(code.text) <= _SHORT:
                if len(self._prepared) >= _KEPT:
                    self._prepared.clear()
                self._prepared[key] = made
        return made

    def _translate(self, source: str, mode: str, taken: frozenset[str]) -> CodeType:
        most = self._world.limits.source
        if mode not in _MODES:
            msg = f"the mode must be one of {', '.join(_MODES)} here"
            raise ValueError(msg)
        if len(source) > most:
            msg = f"the text has {len(source):,} characters, at most {most:,} are allowed"
            raise ValueError(msg)
        self._world.meter.charge(PRICE * (len(source) + 1))
        try:
            tree: Any = ast.parse(source, FILENAME, mode)
            policy = _Policy(source, taken, self._world.meter.look)
            policy.judge(tree)
            for violation in policy.violations:
                raise _refused(violation)
            made: CodeType = builtins.compile(tree, FILENAME, mode, dont_inherit=True)
        except SyntaxError as error:
            place = ("<string>", error.lineno, error.offset, error.text, error.end_lineno, error.end_offset)
            raise type(error)(error.msg, place) from None
        self._supply.provide(made)
        return made


def _hand_over(module: Any) -> None:
    if type(module) is Space:
        module.hand_over()


def _text_of(source: Any, what: str) -> str:
    if isinstance(source, str):
        return str.__str__(source)
    if type(source) in (bytes, bytearray):
        return str(source, "utf-8")
    msg = f"{what} arg 1 must be a string, bytes or code object"
    raise TypeError(msg)


def _read(source: Any, what: str) -> Code:
    if type(source) is Code:
        return source
    text = _text_of(source, f"{what}()")
    return Code(text.lstrip(" \t"), "eval") if what == "eval" else Code(text, "exec")


def _refused(violation: Violation) -> SyntaxError:
    told = violation.message + (f"; {violation.hint}" if violation.hint else "")
    return SyntaxError(told, (FILENAME, violation.line, violation.offset, None))
