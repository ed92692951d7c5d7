"""A program that runs as a tool of LangChain, with a tool of LangChain's inside."""

from codeact import Sandbox
from codeact.integrations import Conversations
from codeact.integrations.langchain import from_langchain, run_python

from langchain_core.tools import tool  # isort: skip - codeact is to say first that it is missing


@tool
def double(number: int) -> int:
    """Twice a number."""
    return 2 * number


with Conversations(Sandbox(from_langchain([double], reads=["double"]).tools)) as conversations:
    call = {"type": "tool_call", "name": "run_python", "id": "1", "args": {"code": "tools.double(21)"}}
    message = run_python(conversations).invoke(call, {"configurable": {"thread_id": "T-1"}})
    assert message.artifact["value"] == 42, message
