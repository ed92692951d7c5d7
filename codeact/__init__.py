"""codeact: an in-process capability sandbox for code-as-action agents."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codeact.actions import Action, Actions, action
    from codeact.agent import Agent, AgentResult, Budget
    from codeact.audit import Audit
    from codeact.declarations import stubs
    from codeact.engines import Engine, EngineUnavailable, engine_names
    from codeact.files import File
    from codeact.journal import Journal
    from codeact.limits import Limits
    from codeact.outbox import Allow, NothingHappened, Outbox, Refuse
    from codeact.policy import Policy
    from codeact.proposals import Proposal
    from codeact.replay import Replayed, ReplayError
    from codeact.result import Call, Error, Result, Truncation, Usage
    from codeact.sandbox import Sandbox, run
    from codeact.session import Session
    from codeact.tools import Tool, Toolset, tool
    from codeact.world import PastRun

__all__ = [
    "Action",
    "Actions",
    "Agent",
    "AgentResult",
    "Allow",
    "Audit",
    "Budget",
    "Call",
    "Engine",
    "EngineUnavailable",
    "Error",
    "File",
    "Journal",
    "Limits",
    "NothingHappened",
    "Outbox",
    "PastRun",
    "Policy",
    "Proposal",
    "Refuse",
    "ReplayError",
    "Replayed",
    "Result",
    "Sandbox",
    "Session",
    "Tool",
    "Toolset",
    "Truncation",
    "Usage",
    "action",
    "engine_names",
    "run",
    "stubs",
    "tool",
]

_HOMES = {
    "Action": "actions",
    "Actions": "actions",
    "Agent": "agent",
    "AgentResult": "agent",
    "Allow": "outbox",
    "Audit": "audit",
    "Budget": "agent",
    "Call": "result",
    "Engine": "engines",
    "EngineUnavailable": "engines",
    "Error": "result",
    "File": "files",
    "Journal": "journal",
    "Limits": "limits",
    "NothingHappened": "outbox",
    "Outbox": "outbox",
    "PastRun": "world",
    "Policy": "policy",
    "Proposal": "proposals",
    "Refuse": "outbox",
    "ReplayError": "replay",
    "Replayed": "replay",
    "Result": "result",
    "Sandbox": "sandbox",
    "Session": "session",
    "Tool": "tools",
    "Toolset": "tools",
    "Truncation": "result",
    "Usage": "result",
    "action": "actions",
    "engine_names": "engines",
    "run": "sandbox",
    "stubs": "declarations",
    "tool": "tools",
}


def __getattr__(name: str) -> object:
    # pydantic and asyncio are most of the time an import takes, so each name is fetched when it is first used.
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
