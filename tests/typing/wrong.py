"""Uses that type checkers must refuse, each in a line that says so; by which of them, where not by both."""

from __future__ import annotations

from codeact import Agent, Allow, Audit, Budget, Journal, Limits, Outbox, Policy, Sandbox, action, run, stubs, tool
from codeact.agent import AgentResult
from codeact.egress import Allow as Place
from codeact.integrations import Interpreter
from codeact.result import Result
from codeact.testing.fakes import fake_tools
from codeact.testing.models import FunctionModel, ScriptedModel
from codeact.testing.plugin import Sandboxes


@tool
def plain(x: int, *, y: str = "") -> list[str]:
    return [y] * x


@action
def pay(amount: int, *, idempotency_key: str) -> str:
    return f"{amount} {idempotency_key}"


plain("1")  # expect-error
plain(1, z=2)  # expect-error
pay("1", idempotency_key="a")  # expect-error
pay(1)  # expect-error
tool(3)  # expect-error
tool(timeout="2")  # expect-error
stubs(3)  # expect-error

sandbox = Sandbox([plain])
Sandbox(plain, actions=3)  # expect-error
Sandbox(engine=3)  # expect-error
Sandbox(limits={"timeout": 1})  # expect-error
Sandbox(workers="2")  # expect-error
Sandbox(ready=None)  # expect-error
Sandbox(audit=[print])  # expect-error
Sandbox(journal="journal.sqlite")  # expect-error
Sandbox(timeout=2)  # expect-error
Sandbox.from_policy("policy.toml")  # expect-error
Limits(1.0)  # expect-error
Limits(timeout="2")  # expect-error
run(3)  # expect-error
sandbox.run("1", files=["a.txt"])  # expect-error
sandbox.run(b"1")  # expect-error
sandbox.session(tenant=3)  # expect-error
Policy.load(3)  # expect-error


def look(result: Result, worked: AgentResult) -> None:
    result.ok = True  # expect-error
    result.vaule  # noqa: B018 # expect-error
    result.error.message  # noqa: B018 # expect-error
    if worked.stop == "nothing":  # expect-error: mypy
        pass


async def forgotten() -> Result:
    return sandbox.run_async("1")  # expect-error


Audit([3])  # expect-error
Place("https://a.example", methods="GET")  # expect-error
ScriptedModel([3])  # expect-error
Agent("claude", sandbox)  # expect-error
Agent(ScriptedModel([]))  # expect-error
Agent(FunctionModel(lambda request: request.messages[0]), sandbox)  # expect-error
Agent(ScriptedModel([]), sandbox, outbox=3)  # expect-error
Agent(ScriptedModel([]), sandbox, budget=10)  # expect-error
Budget(3)  # expect-error
Budget(seconds="1")  # expect-error
Allow(3)  # expect-error
Outbox(":memory:", rules=Allow("pay"))  # expect-error
Journal(3)  # expect-error
Interpreter("wasm")  # expect-error
fake_tools.of(plain, returns=[])("1")  # expect-error
fake_tools.of(3, returns=[])  # expect-error


def test_mine(sandbox: Sandboxes) -> None:
    sandbox(limits=3)  # expect-error
