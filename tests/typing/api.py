"""The public API as a type checker sees it. mypy reads this file; nothing runs it."""

from __future__ import annotations

from typing import assert_type

from codeact import (
    Actions,
    Audit,
    Call,
    Error,
    Limits,
    Policy,
    Proposal,
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
from codeact.audit import Event
from codeact.audit.files import JsonLines
from codeact.egress import Allow


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
