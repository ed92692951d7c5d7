"""MCP, both ways: a server's tools in a sandbox, and a sandbox as a server.

`tools_from_mcp` gives what a server offers as tools and actions. `server` serves a sandbox's `run_python` to MCP clients, as
the command `codeact mcp` does. Needs the extra `mcp`: pip install 'codeact[mcp]'.
"""

from codeact.integrations.mcp.answers import Media, Resource, ServerError
from codeact.integrations.mcp.client import Unanswered, Unsent, tools_from_mcp
from codeact.integrations.mcp.service import server

__all__ = ["Media", "Resource", "ServerError", "Unanswered", "Unsent", "server", "tools_from_mcp"]
