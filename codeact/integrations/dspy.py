"""DSPy: a `CodeInterpreter`, for `dspy.RLM` and other modules that run programs."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Self

from codeact.actions import Action
from codeact.extras import extra
from codeact.integrations.interpreter import LOST, Interpreter, MakeInterpreter
from codeact.integrations.namespace import Namespace
from codeact.integrations.selection import selected
from codeact.limits import Limits
from codeact.renderings import jsonable, printable, written
from codeact.result import Error, Result
from codeact.sandbox import Sandbox
from codeact.tools import Tool

with extra("dspy", "codeact.integrations.dspy"):
    from dspy.primitives.code_interpreter import CodeExecutionError, CodeInterpreterError, FinalOutput

__all__ = ["LM_CALLS", "SUB_AGENTS", "SandboxInterpreter", "factory"]

LM_CALLS = ("llm_query", "llm_query_batched")
"""Tools that `dspy.RLM` brings: they ask a language model, as often as its `max_llm_calls` says."""

SUB_AGENTS = ("__dspy_construct__", "__dspy_call__")
"""Tools by which programs of `dspy.RLM` and `dspy.Flex` build sub-agents and call them. Those run on the host and use the module's
tools by themselves, so all of these must be among `reads` where these are."""

TIMEOUT = 300.0
"""Seconds that a program may take where the host says nothing: asking a language model takes some of them each time."""

INSTRUCTIONS = """\
Programs run in a sandbox: Python with its standard library, no other packages, no network. State persists from one to the next.
You are shown what a program prints, or the value that it ends in. Calling a tool that changes something only proposes it, as its
value says: nothing has happened then, it is decided outside, later. Proposals of a program that fails are dropped."""

_SUBMIT = "SUBMIT"


def made_by_default(tools: list[Tool[..., Any]], actions: list[Action[..., Any]]) -> Interpreter:
    """What is made where the host says nothing: on `wasm`, with time to ask a language model."""
    return Interpreter(Sandbox(tools, actions=actions, limits=Limits(timeout=TIMEOUT)))


class SandboxInterpreter:
    """Runs programs of DSPy in a session of a sandbox.

    Attributes:
        tools: functions that programs call by their names, as they are when a program begins. What is not among `reads` is an
            action: calling it is a proposal.
        output_fields: what `SUBMIT` takes: dicts with a `name`; None for one value, without a name.
        execution_instructions: what DSPy tells the model of the place.
    """

    execution_instructions = INSTRUCTIONS

    def __init__(
        self,
        tools: Mapping[str, Callable[..., Any]] | None = None,
        output_fields: list[dict[str, Any]] | None = None,
        *,
        make: MakeInterpreter = made_by_default,
        reads: Iterable[str] = LM_CALLS,
    ) -> None:
        """Set an interpreter up. Nothing runs before the first program.

        Args:
            tools: see above; what has no annotations takes anything.
            output_fields: see above.
            make: makes the interpreter of it, of its tools and actions.
            reads: names of tools that only read, and so are called while a program runs.

        Raises:
            TypeError: `reads` is no collection of names.
        """
        self.tools = dict(tools or {})
        self.output_fields = output_fields
        self._reads = selected("reads", reads)
        self._names = Namespace(make, reads=self._reads, ending=_SUBMIT)
        self._over = False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    def __call__(self, code: str, variables: Mapping[str, Any] | None = None) -> Any:
        """As `execute`."""
        return self.execute(code, variables)

    @property
    def interpreter(self) -> Interpreter:
        """What runs its programs, with their results, proposals and entries."""
        return self._names.interpreter

    def start(self) -> None:
        """Nothing: the session opens with the first program.

        Raises:
            CodeInterpreterError: it is over.
        """
        if self._over:
            msg = "this interpreter was shut down; make another one"
            raise CodeInterpreterError(msg)

    def execute(self, code: str, variables: Mapping[str, Any] | None = None) -> Any:
        """Run a program.

        Args:
            code: the program.
            variables: what it finds under names of its own, as copies.

        Returns:
            What it gave to `SUBMIT`, as a `FinalOutput`. Otherwise its value, or what it printed; the whole observation where
            there is more to be said of it, such as both, or what it has proposed; None where there is nothing.

        Raises:
            SyntaxError: it is no Python.
            CodeExecutionError: it failed, with what a model should be told. The next program may still be run.
            CodeInterpreterError: the interpreter was shut down, or the host could not run it.
        """
        self.start()
        _refuse_sub_agents(self.tools, self._reads)
        fields = [str(field.get("name")) for field in self.output_fields or [{"name": "output"}]]
        try:
            self._names.offer({name: _by_name(function) for name, function in self.tools.items()}, fields)
            self._names.bind(variables or {})
            result, submitted = self._names.run(code)
        except (TypeError, ValueError, RuntimeError) as error:
            raise CodeInterpreterError(str(error)) from error
        if result.error is not None:
            raise _raised(result, result.error)
        if submitted is not None:
            return FinalOutput({name: jsonable(value) for name, value in submitted.items()})
        return _told(result)

    def shutdown(self) -> None:
        """End the session. What came of its programs stays in `interpreter`. Harmless when called twice."""
        self._over = True
        self._names.close()


def factory(
    make: MakeInterpreter = made_by_default, *, reads: Iterable[str] = LM_CALLS
) -> Callable[[], SandboxInterpreter]:
    """What makes interpreters, for the `interpreter_factory` of a module or of `dspy.configure`.

    Args:
        make: see `SandboxInterpreter`; called once for each, so that no two calls of a module share a session.
        reads: see `SandboxInterpreter`.

    Raises:
        TypeError: `reads` is no collection of names.
    """
    names = selected("reads", reads)

    def made() -> SandboxInterpreter:
        return SandboxInterpreter(make=make, reads=names)

    made.execution_instructions = INSTRUCTIONS  # type: ignore[attr-defined]  # DSPy looks for it here
    return made


def _by_name(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function called with arguments by name, which is all that DSPy's tools take; programs may leave names out."""
    signature = inspect.signature(function)
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    if kinds & {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL}:
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(**dict(zip(signature.parameters, args, strict=False)), **kwargs)

    return call


def _refuse_sub_agents(tools: Collection[str], reads: Collection[str]) -> None:
    """See that what programs of sub-agents may do is no more than what other programs may.

    Raises:
        CodeExecutionError: it is more. (RLM then goes on without them.)
    """
    if not {*SUB_AGENTS} & {*tools}:
        return
    acting = sorted({*tools} - {*reads})
    if acting:
        msg = f"there are no sub-agents here: they would call {', '.join(acting)} without asking anybody; use llm_query"
        raise CodeExecutionError(msg)


def _raised(result: Result, error: Error) -> Exception:
    if error.kind == "syntax":
        return SyntaxError(result.observation())
    raised: type[Exception] = CodeInterpreterError if error.kind == "host" else CodeExecutionError
    return raised(result.observation())


def _told(result: Result) -> Any:
    """What the module shows the model."""
    printed = result.stdout.rstrip("\n")
    more = result.proposals or result.files or result.truncated or LOST in (result.note or "")
    if more or (printed and result.value is not None):
        return result.observation()
    if result.value is None:
        return printed or None
    return result.value if _is_json(result.value) else printable(written(result.value))


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError):
        return False
    return True
