"""The names that programs of another framework are used to: its tools without `tools.`, its variables, and an ending."""

from __future__ import annotations

import asyncio
import functools
import inspect
import keyword
import threading
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar, cast, get_type_hints

from codeact.actions import action
from codeact.integrations.interpreter import Interpreter, MakeInterpreter
from codeact.integrations.selection import ForeignTools
from codeact.portal import inside_a_loop
from codeact.result import Result
from codeact.tools import Tool, tool
from codeact.values import Uncrossable, from_host

R = TypeVar("R")

_VARIABLES = "given_variables"


class Namespace:
    """One conversation's interpreter, and the names that its programs find.

    What the framework calls a tool is one inside where the host trusts it to only read; anything else is an action: calling
    it is a proposal. The ending is a function that a program calls to give its last word, wherever it is; the program is left.
    """

    def __init__(self, make: MakeInterpreter, *, reads: Iterable[str], ending: str) -> None:
        """Have no names yet but the ending's.

        Args:
            make: see `MakeInterpreter`.
            reads: names of tools that only read.
            ending: the ending's name.
        """
        self._make = make
        self._reads = frozenset(reads)
        self._ending = ending
        self._parameters: tuple[str, ...] = ()
        self._made: Interpreter | None = None
        self._known: dict[str, Callable[..., Any]] = {}
        self._offered: frozenset[str] = frozenset()
        self._bound: frozenset[str] = frozenset()
        self._variables: dict[str, Any] = {}
        self._ready = False
        self._given: dict[str, Any] | None = None
        self._turn = threading.Lock()

    @property
    def interpreter(self) -> Interpreter:
        """The conversation's interpreter; made where there is none yet."""
        if self._made is None:
            self._make_room()
        return cast("Interpreter", self._made)

    def offer(self, tools: Mapping[str, Callable[..., Any]], ends_with: Iterable[str]) -> None:
        """Say which tools there are from now on, and what the ending is given.

        Args:
            tools: typed functions, by name. One that is not among them any more is not called again.
            ends_with: the parameters of the ending.

        Raises:
            TypeError: a tool cannot be called from inside, and why; see `codeact.tool`.
            ValueError: a name is no identifier, or belongs to something else.
            RuntimeError: as `Interpreter.move`.
        """
        parameters = tuple(ends_with)
        for name in (*tools, *parameters):
            _check(name, taken={self._ending, "tools", "actions"} if name in tools else ())
        before = self._known
        same = all(name in before and _alike(function, before[name]) for name, function in tools.items())
        self._known = {**before, **tools}
        if not same or self._made is None:
            try:
                self._make_room()
            except BaseException:
                self._known = before
                raise
        if not same or self._offered != tools.keys() or self._parameters != parameters:
            self._ready = False
        self._offered, self._parameters = frozenset(tools), parameters

    def bind(self, variables: Mapping[str, object]) -> None:
        """Have the next program find copies of values under these names.

        Raises:
            TypeError: a value cannot cross; it says where and why.
            ValueError: a name is no identifier, or a tool's.
        """
        for name in variables:
            _check(name, taken={*self._offered, self._ending})
        limits = self.interpreter.sandbox.limits
        together = {**self._variables, **variables}
        try:
            copied = from_host(together, depth=limits.value_depth, size=limits.value_bytes)
        except Uncrossable as error:
            msg = f"variables{error.path}: {error.reason}"
            raise TypeError(msg) from None
        self._variables = cast("dict[str, Any]", copied)
        self._ready = self._ready and not variables

    def run(self, code: str) -> tuple[Result, dict[str, Any] | None]:
        """Run a program; in an event loop too, which is held as long.

        Returns:
            What came of it; and what it gave to the ending, where it has called that and did not fail.
        """
        with self._turn:
            if not self._ready:
                self.interpreter.prepare(self._prologue())
                self._ready = True
            self._given = None
            result = outside_a_loop(functools.partial(self.interpreter.run, code))
            if self.interpreter.is_prepared:
                self._bound |= self._offered
            return result, self._given if result.ok else None

    def close(self) -> None:
        """End the session. What came of its programs stays."""
        if self._made is not None:
            self._made.close()

    def _make_room(self) -> None:
        """Make the interpreter, or let it go on where all tools are that are known now."""
        made = self._make(*self._capabilities())
        if self._made is None:
            self._made = made
        else:
            outside_a_loop(functools.partial(self._made.move, made.sandbox))

    def _capabilities(self) -> ForeignTools:
        def variables() -> dict[str, Any]:
            """What programs find under names of their own."""
            return self._variables

        def ending(**given: Any) -> None:
            """End the program."""
            if given.keys() != {*self._parameters}:
                msg = f"expected {', '.join(self._parameters)}, by name"
                raise TypeError(msg)
            self._given = given

        tools: list[Tool[..., Any]] = [tool(name=_VARIABLES)(variables), tool(name=self._ending)(ending)]
        tools += [tool(name=_public(name))(self._guarded(name)) for name in self._known if name in self._reads]
        actions = [action(name=_public(name))(self._guarded(name)) for name in self._known if name not in self._reads]
        return ForeignTools(tools, actions)

    def _guarded(self, name: str) -> Callable[..., Any]:
        """The tool of that name, as it is when it is called; a coroutine is waited for."""

        def call(*args: Any, **kwargs: Any) -> Any:
            if name not in self._offered:
                msg = f"{name} is not offered any more"
                raise LookupError(msg)
            value = self._known[name](*args, **kwargs)
            return outside_a_loop(lambda: asyncio.run(_awaited(value))) if inspect.isawaitable(value) else value

        guarded: Any = call
        function = self._known[name]
        guarded.__signature__, guarded.__annotations__ = _typed(function)
        guarded.__doc__ = function.__doc__
        return call

    def _prologue(self) -> str:
        """The program that binds the names."""
        given = ", ".join(self._parameters)
        handed = ", ".join(f"{name}={name}" for name in self._parameters)
        gone = [
            "tools",
            *(["actions"] if self._known.keys() - self._reads else []),
            *sorted(self._bound - self._offered),
        ]
        lines = [line for name in gone for line in _undone(name)]
        lines += [
            f"{name} = {'tools' if name in self._reads else 'actions'}.{_public(name)}"
            for name in sorted(self._offered)
        ]
        lines += [f"_{self._ending} = tools.{self._ending}", f"def {self._ending}({given}):"]
        lines += [f"    _{self._ending}({handed})", "    raise SystemExit"]
        if self._variables:
            lines.append(f"_{_VARIABLES} = tools.{_VARIABLES}()")
            lines += [f"{name} = _{_VARIABLES}[{name!r}]" for name in self._variables]
            lines.append(f"del _{_VARIABLES}")
        return "\n".join(lines)


def outside_a_loop(call: Callable[[], R]) -> R:
    """Call what must not hold an event loop; where there is one, on a thread, in the same context."""
    if not inside_a_loop():
        return call()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, call).result()


def _typed(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any]]:
    """The signature and annotations of a function, with Any where nothing is said."""
    signature = inspect.signature(function)
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError):
        hints = {}
    parameters = [each.replace(annotation=hints.get(each.name, Any)) for each in signature.parameters.values()]
    given = hints.get("return", Any)
    annotations = {each.name: each.annotation for each in parameters}
    return signature.replace(parameters=parameters, return_annotation=given), {**annotations, "return": given}


def _alike(function: Callable[..., Any], other: Callable[..., Any]) -> bool:
    return function is other or _typed(function) == _typed(other)


def _check(name: str, *, taken: Container[str]) -> None:
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        msg = f"{name!r:.200} is no identifier, and programs could not use it; give another name"
        raise ValueError(msg)
    if name in taken:
        msg = f"{name!r} is the name of something else that programs find; give another name"
        raise ValueError(msg)


def _public(name: str) -> str:
    """What a tool is called that programs know by a name with underscores around it."""
    return name.strip("_")


def _undone(name: str) -> list[str]:
    return [f"{name} = None", f"del {name}"]  # which asks for no other name: programs may have bound that


async def _awaited(value: Awaitable[R]) -> R:
    return await value
