"""LangChain: `run_python` as one of its tools, and its tools as what programs may call and propose."""

from codeact.integrations.langchain.programs import run_python
from codeact.integrations.langchain.tools import from_langchain

__all__ = ["from_langchain", "run_python"]
