"""An agent of smolagents, whose program runs in a sandbox and ends with its answer."""

from typing import Any

from codeact.integrations.smolagents import SandboxExecutor

from smolagents import CodeAgent, Model  # isort: skip - codeact is to say first that it is missing
from smolagents.models import ChatMessage, MessageRole


class Scripted(Model):
    """Writes one program."""

    def generate(self, *_: Any, **__: Any) -> ChatMessage:
        """The program."""
        return ChatMessage(role=MessageRole.ASSISTANT, content="<code>\nfinal_answer(6 * 7)\n</code>")


answer = CodeAgent([], Scripted(), executor=SandboxExecutor(), verbosity_level=0).run("What is 6 times 7?")
assert answer == 42, answer
