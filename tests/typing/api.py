"""The public API as a type checker sees it. mypy reads this file; nothing runs it."""

from __future__ import annotations

from typing import assert_never, assert_type

from tenacity import wait_fixed

from codeact import (
    Actions,
    Agent,
    AgentResult,
    Audit,
    Budget,
    Call,
    Error,
    Journal,
    Limits,
    Policy,
    Proposal,
    Replayed,
    Result,
    Sandbox,
    Session,
    Tool,
    Toolset,
    Truncation,
    Usage,
    action,
    engine_names,
    run,
    stubs,
    tool,
)
from codeact.agent import Finished, Ran, Running, Waiting, Wrote, programs, transport
from codeact.audit import Event
from codeact.audit.files import JsonLines
from codeact.egress import Allow
from codeact.journal import CallRecord, RunHead
from codeact.messages import Asked, ModelError, Observed, Reply, Said, Tokens
from codeact.outbox import Entry, Outbox
from codeact.testing.models import FunctionModel, Program, ScriptedModel


@tool
def plain(x: int, *, y: str = "") -> list[str]:
    return [y] * x


@tool(name="other", timeout=2.0)
async def later(x: int) -> int:
    return x


assert_type(plain(1, y="a"), list[str])
plain("1")  # type: ignore[arg-type]
plain(1, z=2)  # type: ignore[call-arg]


@action
def pay(amount: int, *, idempotency_key: str) -> str:
    return f"{amount} {idempotency_key}"


assert_type(pay(1, idempotency_key="a"), str)
pay("1", idempotency_key="a")  # type: ignore[arg-type]
assert_type(Sandbox(actions=[pay]).actions, Actions)
assert_type(Sandbox(actions={"settle": pay}).run("1").proposals, tuple[Proposal, ...])


async def use() -> None:
    assert_type(await later(1), int)
    assert_type(await Sandbox().run_async("1"), Result)


sandbox = Sandbox([plain, later], engine="restricted", limits=Limits(timeout=1, fuel=None))
Sandbox({"a": plain})
Sandbox(Toolset([plain]))
Sandbox(engine=3)  # type: ignore[arg-type]
Limits(1.0)  # type: ignore[call-arg]

result = sandbox.run("1")
assert_type(result, Result)
assert_type(result.ok, bool)
assert_type(result.value, object)
assert_type(result.error, Error | None)
assert_type(result.calls, tuple[Call, ...])
assert_type(result.usage, Usage)
assert_type(result.truncated, tuple[Truncation, ...])
assert_type(result.observation(), str)
assert_type(run("1", [plain], timeout=1.0), Result)
assert_type(engine_names(), tuple[str, ...])
assert_type(stubs(Toolset([plain])), str)
assert_type(Toolset([plain])["plain"].name, str)
assert isinstance(plain, Tool)
result.ok = True  # type: ignore[misc]


class Kept:
    def write(self, event: Event) -> None:
        assert_type(event.seq, int)


policy = Policy.load("policy.toml")
assert_type(Sandbox.from_policy(policy, [plain, policy.http_tool()]), Sandbox)
Sandbox.from_policy(policy, workers=2)
Sandbox.from_policy(policy, ready=2)
Sandbox(workers=2)
Sandbox(ready=2)
Sandbox(workers="2")  # type: ignore[arg-type]
Sandbox(ready=None)  # type: ignore[arg-type]
audit = Audit([Kept(), JsonLines("audit.jsonl", limit=1000)])
Sandbox(audit=audit, inputs={"a.txt": b"1", "b.txt": "2"})
Sandbox(audit=[Kept()])  # type: ignore[arg-type]
Audit([3])  # type: ignore[list-item]
Allow("https://a.example", methods="GET")  # type: ignore[arg-type]
with sandbox.session(tenant="acme") as session:
    assert_type(session, Session)
    assert_type(session.run("1"), Result)

model = ScriptedModel(["ok", Program("1"), [Program("1")], Reply("ok"), ModelError("busy", passing=True)])
ScriptedModel([lambda request: request.system])
ScriptedModel([3])  # type: ignore[list-item]
agent = Agent(model, sandbox, budget=Budget(seconds=1, replies=2), instructions="be kind")
Agent(
    FunctionModel(lambda request: request.messages[0]),  # type: ignore[arg-type, return-value]
    sandbox,
    transport=transport(attempts=2).copy(wait=wait_fixed(1)),
    programs=programs(failures=2),
)
Agent("claude", sandbox)  # type: ignore[arg-type]
Budget(3)  # type: ignore[call-arg]
with Outbox(":memory:") as outbox, Journal() as journal:
    Agent(model, Sandbox(journal=journal), outbox=outbox)
    recorded = Sandbox(journal=journal)
    replayed = recorded.replay(recorded.run("1", task="T-1").run)
    assert_type(replayed, Replayed)
    assert_type(replayed.result, Result)
    assert_type(replayed.diverged, str | None)
    assert_type(journal.runs(task="T-1", limit=5), tuple[RunHead, ...])
    assert_type(journal.run("0").calls, tuple[CallRecord, ...])
    assert_type(recorded.session(history=journal.history("0"), task="T-1"), Session)
    assert_type([entry.data for entry in journal.conversation("T-1").entries()], list[object])
Sandbox(journal="journal.sqlite")  # type: ignore[arg-type]
Agent(model, sandbox, outbox=3)  # type: ignore[arg-type]
worked = agent.run("?", id="t-1", files={"a.txt": b""}, tenant="acme")
assert_type(worked, AgentResult)
assert_type(worked.answer, str | None)
assert_type(worked.results, tuple[Result, ...])
assert_type(worked.messages, tuple[Said | Reply | Observed, ...])
assert_type(worked.tokens, Tokens)
assert_type(worked.proposals, tuple[Proposal, ...])
assert_type(worked.entries, tuple[Entry, ...])
if worked.stop == "nothing":  # type: ignore[comparison-overlap]
    pass


async def follow() -> None:
    assert_type(await agent.run_async("?"), AgentResult)
    async for event in agent.stream("?"):
        match event:
            case Wrote(text):
                assert_type(text, str)
            case Waiting():
                assert_type(event.seconds, float)
            case Running(asked):
                assert_type(asked, Asked)
            case Ran():
                assert_type(event.result, Result | None)
            case Finished(result):
                assert_type(result, AgentResult)
            case _ as never:
                assert_never(never)
