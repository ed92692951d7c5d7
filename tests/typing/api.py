"""The public API as type checkers see it. mypy and ty read this file; nothing runs it. What they must refuse is in `wrong.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never, assert_type

from annotated_types import Le
from tenacity import wait_fixed

from codeact import (
    Action,
    Actions,
    Agent,
    AgentResult,
    Allow,
    Audit,
    Budget,
    Call,
    Engine,
    EngineUnavailable,
    Error,
    File,
    Journal,
    Limits,
    NothingHappened,
    Outbox,
    PastRun,
    Policy,
    Proposal,
    Refuse,
    Replayed,
    ReplayError,
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
from codeact.audit.loggers import Logging
from codeact.audit.telemetry import OpenTelemetry
from codeact.catalogue import Catalogue, Found
from codeact.egress import Allow as Place
from codeact.egress import http_tool
from codeact.engines import Face, Instance, load
from codeact.extras import MissingExtra
from codeact.journal import CallRecord, RunHead
from codeact.messages import Asked, ModelError, Observed, Reply, Said, Tokens
from codeact.outbox import Entry
from codeact.policy import page
from codeact.schemas import identifiers, typed
from codeact.testing import conformance
from codeact.testing.conformance import Verdict
from codeact.testing.fakes import FakeCall, Fakes, fake_tools
from codeact.testing.models import FunctionModel, Program, ScriptedModel
from codeact.testing.plugin import Sandboxes
from codeact.trace import Trace, trace_of


@tool
def plain(x: int, *, y: str = "") -> list[str]:
    return [y] * x


@tool(name="other", timeout=2.0)
async def later(x: int) -> int:
    return x


assert_type(plain(1, y="a"), list[str])


@action
def pay(amount: int, *, idempotency_key: str) -> str:
    return f"{amount} {idempotency_key}"


assert_type(pay(1, idempotency_key="a"), str)
assert_type(Sandbox(actions=[pay]).actions, Actions)
assert_type(Sandbox(actions={"settle": pay}).run("1").proposals, tuple[Proposal, ...])


async def use() -> None:
    assert_type(await later(1), int)
    assert_type(await Sandbox().run_async("1"), Result)


sandbox = Sandbox([plain, later], engine="restricted", limits=Limits(timeout=1, fuel=None))
Sandbox({"a": plain})
Sandbox(Toolset([plain]))

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


class Kept:
    def write(self, event: Event) -> None:
        assert_type(event.seq, int)


policy = Policy.load("policy.toml")
assert_type(page(policy), str)
assert_type(Sandbox.from_policy(policy, [plain, policy.http_tool()]), Sandbox)
Sandbox.from_policy(policy, workers=2)
Sandbox.from_policy(policy, ready=2)
Sandbox(workers=2)
Sandbox(ready=2)
audit = Audit([Kept(), JsonLines("audit.jsonl", limit=1000)])
Sandbox(audit=audit, inputs={"a.txt": b"1", "b.txt": "2"})
with sandbox.session(tenant="acme") as session:
    assert_type(session, Session)
    assert_type(session.run("1"), Result)

model = ScriptedModel(["ok", Program("1"), [Program("1")], Reply("ok"), ModelError("busy", passing=True)])
ScriptedModel([lambda request: request.system])
agent = Agent(model, sandbox, budget=Budget(seconds=1, replies=2), instructions="be kind")
Agent(
    FunctionModel(lambda request: request.system),
    sandbox,
    transport=transport(attempts=2).copy(wait=wait_fixed(1)),
    programs=programs(failures=2),
)
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
worked = agent.run("?", id="t-1", files={"a.txt": b""}, tenant="acme")
assert_type(worked, AgentResult)
assert_type(worked.answer, str | None)
assert_type(worked.results, tuple[Result, ...])
assert_type(worked.messages, tuple[Said | Reply | Observed, ...])
assert_type(worked.tokens, Tokens)
assert_type(worked.proposals, tuple[Proposal, ...])
assert_type(worked.entries, tuple[Entry, ...])


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


class Mine:
    """An engine of one's own."""

    name = "mine"

    def open(self, faces: tuple[Face, ...], limits: Limits) -> Instance:
        return load("restricted").open(faces, limits)


mine: Engine = Mine()
assert_type(Sandbox(engine=mine).engine, str)
assert_type(result.files, tuple[File, ...])
assert isinstance(pay, Action)
assert_type(session.history, tuple[PastRun, ...])
rules: list[Allow | Refuse] = [Allow("pay", where={"amount": Le(50)}, count=1), Refuse("pay")]
settled = Outbox(":memory:", actions=[pay], rules=rules)
problems: tuple[type[Exception], ...] = (EngineUnavailable, MissingExtra, NothingHappened, ReplayError)
assert_type(http_tool([Place("https://a.example")]), Tool[..., Any])
Audit([Logging(), OpenTelemetry()])
assert_type(Catalogue([plain]).search("x"), list[Found])
assert_type(typed("plain", lambda given: given, parameters={"type": "object"}), Callable[..., Any])
assert_type(identifiers(["get-x"]), dict[str, str])
assert_type(trace_of(journal, "T-1"), Trace)
assert_type(list(conformance.check_all("wasm", "limits/", like="wasm")), list[Verdict])

fakes = fake_tools(fake_tools.of(plain, returns=["a"]), get_order=3)
assert_type(fakes["get_order"].calls, list[FakeCall])
assert_type(fake_tools.of(plain, returns=["a"])(1, y="a"), list[str])


def test_of_ones_own(sandbox: Sandboxes, fake_tools: Fakes) -> None:
    assert_type(sandbox(fake_tools(get_order=3), limits=Limits(timeout=1)), Sandbox)
    assert_type(sandbox.engine, str)
