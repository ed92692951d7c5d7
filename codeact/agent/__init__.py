"""The agent loop: a model writes programs, a sandbox runs them, and the model reads what came of them.

`Agent` is the way in; `docs/agent.md` tells the whole.
"""

from __future__ import annotations

from codeact.agent.agent import Agent
from codeact.agent.budget import Budget, End, Spent, Stop
from codeact.agent.events import Event, Finished, Ran, Running, Waiting, Wrote
from codeact.agent.outcome import AgentResult, Outlet
from codeact.agent.policies import Turn, programs, transport

__all__ = [
    "Agent",
    "AgentResult",
    "Budget",
    "End",
    "Event",
    "Finished",
    "Outlet",
    "Ran",
    "Running",
    "Spent",
    "Stop",
    "Turn",
    "Waiting",
    "Wrote",
    "programs",
    "transport",
]
