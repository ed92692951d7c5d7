"""Models that need no provider: one that plays a script, and one that is a function. A host tests its agent with them.

model = ScriptedModel([Program("tools.get_charges('c1')"), "There is one charge."])
result = Agent(model, sandbox).run("How many charges does c1 have?")
assert result.answer == "There is one charge."
assert "ch_1" in model.requests[1].messages[-1].text
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from inspect import isawaitable

from codeact.messages import Asked, Reply, Request, Tokens

__all__ = ["FunctionModel", "Program", "ScriptedModel", "Step"]


@dataclass(frozen=True, slots=True)
class Program:
    """A reply that asks for one program, or a part of a reply that asks for several.

    Attributes:
        code: the program.
        text: what is said before it.
    """

    code: str
    text: str = ""


Told = str | Program | list[Program] | Reply | BaseException
"""What a model does: answer in words, ask for a program or for several, give a reply as it is, or raise."""

Step = Told | Callable[[Request], "Told | Awaitable[Told]"]
"""The same, or a function that says what to do when it has read the request."""


class FunctionModel:
    """A model that is a function: of the request, plain or `async def`. It may serve many tasks at once.

    Attributes:
        name: what it is called.
        has_tools: whether it asks for programs by calling `run_python`; otherwise it writes them as fenced text.
        tokens: what a reply costs that does not say so itself.
        requests: what it was asked, in order.
    """

    def __init__(
        self,
        function: Callable[[Request], Told | Awaitable[Told]],
        *,
        name: str = "function",
        has_tools: bool = True,
        tokens: Tokens | None = None,
    ) -> None:
        """Make a model of a function; the arguments are the attributes."""
        self.name = name
        self.has_tools = has_tools
        self.tokens = tokens or Tokens()
        self.requests: list[Request] = []
        self._function = function

    async def complete(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """What the function says, its text word by word."""
        self.requests.append(request)
        told = self._function(request)
        said = await told if isawaitable(told) else told
        reply = self._reply(said, request)
        for piece in _pieces(reply.text):
            on_text(piece)
        return reply

    def _reply(self, told: object, request: Request) -> Reply:
        match told:
            case Reply():
                return told
            case BaseException():
                raise told
            case str():
                return Reply(told, tokens=self.tokens)
            case Program():
                return self._asking([told], request)
            case list() if told and all(isinstance(each, Program) for each in told):
                return self._asking(told, request)
        msg = (
            f"{self.name}: {told!r:.200} is no step: expected a str, a Program, a list of them, a Reply or an exception"
        )
        raise TypeError(msg)

    def _asking(self, programs: list[Program], request: Request) -> Reply:
        if not self.has_tools:
            parts = [part for each in programs for part in (each.text, f"```python\n{each.code}\n```")]
            return Reply("\n\n".join(filter(None, parts)), tokens=self.tokens)
        # By the place in the conversation: a model that is asked again after a crash gives the same ids.
        first = 1 + sum(len(message.programs) for message in request.messages if isinstance(message, Reply))
        asked = tuple(Asked(f"program-{number}", each.code) for number, each in enumerate(programs, first))
        return Reply("\n\n".join(filter(None, (each.text for each in programs))), asked, tokens=self.tokens)


class ScriptedModel(FunctionModel):
    """A model that plays a script, one step each time it is asked. It is for one task at a time.

    Attributes:
        requests: what it was asked, in order.
    """

    def __init__(
        self,
        script: Iterable[Step],
        *,
        name: str = "scripted",
        has_tools: bool = True,
        tokens: Tokens | None = None,
    ) -> None:
        """Make a model.

        Args:
            script: what it does, step by step.
            name: what it is called.
            has_tools: whether it asks for programs by calling `run_python`; otherwise it writes them as fenced text.
            tokens: what a reply costs that does not say so itself.
        """
        super().__init__(self._next, name=name, has_tools=has_tools, tokens=tokens)
        self._script = list(script)

    @property
    def left(self) -> int:
        """Steps that it has not played yet."""
        return max(0, len(self._script) - len(self.requests))

    def _next(self, request: Request) -> Told | Awaitable[Told]:
        played = len(self.requests)
        if played > len(self._script):
            last = request.messages[-1]
            heard = "" if isinstance(last, Reply) else f" after it heard: {last.text[:500]}"
            msg = f"{self.name}: the script of {_steps(len(self._script))} is over, and the model is asked again{heard}"
            raise RuntimeError(msg)
        step = self._script[played - 1]
        return step(request) if callable(step) else step


def _pieces(text: str) -> Iterable[str]:
    """The words of a text, each with the blanks after it."""
    return re.findall(r"\s*\S+\s*|\s+", text) if text else ()


def _steps(number: int) -> str:
    return f"{number} step{'s' * (number != 1)}"
