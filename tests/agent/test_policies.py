"""When the agent tries again: the pauses, who decides on them, and where they end."""

from __future__ import annotations

import asyncio

import pytest
from tenacity import AsyncRetrying, retry_always, retry_if_result, stop_after_attempt, wait_fixed

from codeact import Agent, Budget
from codeact.agent import Waiting, Wrote, programs, transport
from codeact.messages import ModelError, Reply, Tokens
from codeact.testing.models import Program, ScriptedModel

BUSY = ModelError("overloaded", passing=True, status=529)


def asking_for(seconds: float) -> ModelError:
    return ModelError("slow down", passing=True, retry_after=seconds, status=429)


def test_pauses_grow_and_are_never_shorter_than_asked_for(patient, pauses) -> None:
    model = ScriptedModel([BUSY, BUSY, asking_for(20), BUSY, "ok"])
    assert patient(model).run("?").answer == "ok"
    assert [len(request.messages) for request in model.requests] == [1] * 5
    first, second, asked, fourth = pauses
    assert 1 <= first <= 2
    assert 2 <= second <= 3
    assert asked == 20
    assert 8 <= fourth <= 9


def test_a_short_pause_asked_for_is_no_reason_to_hurry(patient, pauses) -> None:
    assert patient(ScriptedModel([asking_for(0.01), "ok"])).run("?").ok
    assert pauses[0] >= 1


def test_each_reply_has_attempts_of_its_own(patient, pauses) -> None:
    model = ScriptedModel([BUSY, Program("1"), BUSY, "ok"])
    result = patient(model, attempts=2).run("?")
    assert result.ok
    assert all(pause <= 2 for pause in pauses)
    assert len(result.messages) == 4


def test_attempts_end(patient, pauses) -> None:
    result = patient(ScriptedModel([BUSY] * 3), attempts=3).run("?")
    assert (result.stop, len(pauses)) == ("model", 2)
    assert result.why == "scripted gave no reply: overloaded (after 3 attempts)"


def test_what_does_not_pass_is_not_tried_again(patient, pauses) -> None:
    result = patient(ScriptedModel([ModelError("bad key", passing=False)])).run("?")
    assert (result.stop, pauses) == ("model", [])


def test_a_pause_that_ends_too_late_is_not_begun(patient, pauses) -> None:
    result = patient(ScriptedModel([asking_for(90)]), seconds=60).run("?")
    assert (result.stop, pauses) == ("model", [])
    assert result.why == (
        "scripted gave no reply: slow down; the next attempt would be 90 s later, when the task must be over"
    )


def test_the_host_makes_its_own_transport(fast, pauses) -> None:
    seen: list[int] = []
    policy = AsyncRetrying(
        stop=stop_after_attempt(3),
        wait=wait_fixed(7),
        sleep=pauses,
        before_sleep=lambda state: seen.append(state.attempt_number),
    )
    result = Agent(ScriptedModel([BUSY, OSError("reset"), "ok"]), fast, transport=policy).run("?")
    assert result.answer == "ok"
    assert (pauses, seen) == ([7, 7], [1, 2])
    assert Agent(ScriptedModel([BUSY] * 3), fast, transport=policy).run("?").stop == "model"


def test_what_the_host_does_before_a_pause_may_be_async(fast, pauses) -> None:
    seen: list[float] = []

    async def before(state) -> None:
        seen.append(state.upcoming_sleep)

    policy = transport(sleep=pauses).copy(before_sleep=before)
    assert Agent(ScriptedModel([BUSY, "ok"]), fast, transport=policy).run("?").ok
    assert seen == pauses


def test_the_host_tries_again_because_of_a_reply(fast, pauses) -> None:
    policy = AsyncRetrying(
        retry=retry_if_result(lambda reply: "please" not in reply.text), stop=stop_after_attempt(2), sleep=pauses
    )
    assert Agent(ScriptedModel(["no", "please"]), fast, transport=policy).run("?").answer == "please"
    assert Agent(ScriptedModel(["no", "never"]), fast, transport=policy).run("?").answer == "never"


def test_the_host_composes_a_policy_for_programs(fast, pauses) -> None:
    policy = programs().copy(stop=stop_after_attempt(2), wait=wait_fixed(3), sleep=pauses)
    agent = Agent(ScriptedModel([Program("a"), Program("b")]), fast, programs=policy)
    result = agent.run("?")
    assert (result.stop, pauses) == ("failures", [3])
    assert result.why == "2 turns in a row failed"


def test_a_policy_for_programs_that_raises_is_one_that_stops(fast) -> None:
    policy = AsyncRetrying(retry=retry_if_result(lambda turn: not turn.ok), stop=stop_after_attempt(1))
    result = Agent(ScriptedModel([Program("a")]), fast, programs=policy).run("?")
    assert (result.stop, len(result.results)) == ("failures", 1)


def test_the_budget_holds_whatever_the_policies_say(fast) -> None:
    policy = programs(failures=1000, tokens=10**9)
    model = ScriptedModel([Program(f"a{n}") for n in range(3)])
    assert Agent(model, fast, budget=Budget(replies=3), programs=policy).run("?").stop == "replies"


@pytest.mark.parametrize(("script", "stop"), [(["ok"], "answered"), ([[Program("1"), Program("2")]], "programs")])
def test_a_policy_that_never_has_enough_does_not_go_on_after_the_end(fast, script, stop) -> None:
    policy = AsyncRetrying(retry=retry_always, stop=stop_after_attempt(5))
    model = ScriptedModel(script)
    assert Agent(model, fast, programs=policy, budget=Budget(programs=1)).run("?").stop == stop
    assert len(model.requests) == 1


def test_the_policy_for_programs_stops_at_tokens(fast) -> None:
    model = ScriptedModel([Program("a"), Program("b")], tokens=Tokens(50, 0))
    result = Agent(model, fast, programs=programs(tokens=100)).run("?")
    assert (result.stop, result.why) == ("failures", "2 turns in a row failed")


def test_the_policy_for_programs_stops_at_seconds(fast) -> None:
    result = Agent(ScriptedModel([Program("a")]), fast, programs=programs(seconds=1e-9)).run("?")
    assert (result.stop, result.why) == ("failures", "1 turn in a row failed")


def test_each_pause_is_an_event_and_pieces_before_it_are_void(patient) -> None:
    class Breaking(ScriptedModel):
        async def complete(self, request, on_text):
            if not self.requests:
                on_text("hal")
            return await super().complete(request, on_text)

    async def events() -> list[object]:
        return [event async for event in patient(Breaking([BUSY, "half a word"])).stream("?")]

    written, waiting, *rest, _ = asyncio.run(events())
    assert written == Wrote("hal")
    assert isinstance(waiting, Waiting)
    assert (waiting.error, waiting.attempt, waiting.retry_after) == (BUSY, 1, None)
    assert 1 <= waiting.seconds <= 2
    assert "".join(event.text for event in rest) == "half a word"


def test_policies_are_not_shared_between_tasks(fast, pauses) -> None:
    """Tenacity keeps the state of a policy in the policy, which tasks on one thread would share."""

    class Odd:
        name, has_tools = "odd", True

        def __init__(self) -> None:
            self.failed: set[str] = set()

        async def complete(self, request, on_text):
            task = request.messages[0].text
            await asyncio.sleep(0)
            if task not in self.failed:
                self.failed.add(task)
                raise BUSY
            return Reply(task)

    agent = Agent(Odd(), fast, transport=transport(attempts=2, sleep=pauses))

    async def many() -> list[object]:
        return await asyncio.gather(*(agent.run_async(f"task {n}") for n in range(20)))

    assert [result.answer for result in asyncio.run(many())] == [f"task {n}" for n in range(20)]
    assert len(pauses) == 20
