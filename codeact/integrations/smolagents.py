"""smolagents: an executor for the programs of a `CodeAgent`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from codeact.extras import extra
from codeact.integrations.interpreter import Interpreter, MakeInterpreter, made_by_default
from codeact.integrations.namespace import Namespace
from codeact.integrations.selection import selected
from codeact.renderings import printable, written
from codeact.schemas import typed

with extra("smolagents", "codeact.integrations.smolagents"):
    from smolagents import Tool
    from smolagents.default_tools import FinalAnswerTool
    from smolagents.local_python_executor import CodeOutput, InterpreterError, PythonExecutor

__all__ = ["INSTRUCTIONS", "SandboxExecutor"]

INSTRUCTIONS = """\
Programs run in a sandbox: Python with its standard library, no other packages, no network. Its files are gone in the end.
A program ends in an expression, whose value you are shown, as you are what it printed.
Calling a tool that changes something only proposes it. Nothing has happened then: it is decided outside, later. So say what
you proposed, not that it is done. Proposals of a program that fails are dropped."""
"""What a model should know beside the prompt of a `CodeAgent`: for its `instructions`."""

_FINAL = "final_answer"


class SandboxExecutor(PythonExecutor):  # type: ignore[misc]  # smolagents has no types
    """Runs the programs of a `CodeAgent`; for its argument `executor`.

    Each run of the agent is a conversation of its own, with a session of its own. What a program does wrong becomes the
    agent's own error, with the text that any model of ours is told, and the agent tries again.
    """

    def __init__(
        self, make: MakeInterpreter = made_by_default, *, reads: Iterable[str] = (), lasting: bool = False
    ) -> None:
        """Set an executor up.

        Args:
            make: makes the interpreter of a run, of the agent's tools and actions.
            reads: names of the agent's tools that only read, and so are called while a program runs. Calling any other one
                is a proposal.
            lasting: whether what one run of the agent leaves behind is there in the next, for `run(…, reset=False)`.

        Raises:
            TypeError: `reads` is no collection of names.
        """
        self._make = make
        self._reads = selected("reads", reads)
        self._lasting = lasting
        self._variables: dict[str, Any] = {}
        self._functions: dict[str, tuple[Any, Callable[..., Any]]] = {}
        self._names = self._fresh()
        self._last_word: Any = FinalAnswerTool()

    @property
    def interpreter(self) -> Interpreter:
        """The interpreter of the agent's latest run, with its results, proposals and entries."""
        return self._names.interpreter

    def send_variables(self, variables: Mapping[str, Any]) -> None:
        """Take the variables of a run that begins; see `CodeAgent.run(…, additional_args=…)`."""
        if not self._lasting:
            self._names.close()
            self._names = self._fresh()
        self._variables = dict(variables)

    def send_tools(self, tools: Mapping[str, Any]) -> None:
        """Take the tools of a run that begins.

        Raises:
            ValueError: one of them is an agent, or answers in a way of its own that is not among `reads`; or `reads` names what
                is not there.
            TypeError: a variable or a tool cannot go in, and why.
        """
        for name, each in tools.items():
            if not isinstance(each, Tool):
                msg = f"{name}: a managed agent acts on the host by itself, and is not called from a sandbox; leave it out"
                raise ValueError(msg)  # noqa: TRY004 - what is wrong is that it is there
        selected("reads", self._reads, among={*tools, _FINAL})
        self._last_word = tools.get(_FINAL) or FinalAnswerTool()
        if type(self._last_word) is not FinalAnswerTool and _FINAL not in self._reads:
            msg = f"{_FINAL} is a tool of your own, which runs on the host; name it in reads, or leave it out"
            raise ValueError(msg)
        before = self._functions  # the same tool is the same function, and no reason to begin anew
        self._functions = {
            name: before[name] if name in before and before[name][0] is each else (each, _function(name, each))
            for name, each in tools.items()
            if name != _FINAL
        }
        self._names.offer({name: function for name, (_, function) in self._functions.items()}, self._last_word.inputs)
        self._names.bind(self._variables)

    def __call__(self, code_action: str) -> CodeOutput:
        """Run a program.

        Raises:
            InterpreterError: it failed; with what the model is told.
        """
        result, last_word = self._names.run(code_action)
        if not result.ok:
            raise InterpreterError(result.observation())
        told = result.remarks()
        final = last_word is not None
        output = result.value if last_word is None else self._last_word(**last_word)
        return CodeOutput(output=_sayable(output), logs=told and f"{told}\n", is_final_answer=final)

    def cleanup(self) -> None:
        """End the session; called by the agent at its end."""
        self._names.close()

    def _fresh(self) -> Namespace:
        return Namespace(self._make, reads=self._reads, ending=_FINAL)


def _sayable(value: object) -> object:
    """The value; or as text, where the agent could not write it out: numbers of thousands of digits, lone surrogates."""
    try:
        str(value).encode()
    except ValueError:
        return printable(value if isinstance(value, str) else written(value))
    return value


def _function(name: str, tool: Any) -> Callable[..., Any]:
    """The tool as a typed function."""
    properties = {key: _schema(given) for key, given in tool.inputs.items()}
    needed = [n for n, given in enumerate(tool.inputs.values(), 1) if not given.get("nullable")]
    required = list(tool.inputs)[: max(needed, default=0)]  # in the order that the agent's prompt has them in
    return typed(
        name,
        lambda arguments: tool(**arguments),
        parameters={"type": "object", "properties": properties, "required": required},
        returns=tool.output_schema or _schema({"type": tool.output_type}),
        doc=tool.description,
    )


def _schema(described: Mapping[str, Any]) -> dict[str, Any]:
    """What smolagents says of a value as JSON Schema, which has no type for anything, images and sounds."""
    foreign = described["type"] if isinstance(described["type"], list) else [described["type"]]
    return {key: value for key, value in described.items() if key != "type" or _JSON.issuperset(foreign)}


_JSON = frozenset({"string", "boolean", "integer", "number", "array", "object", "null"})
