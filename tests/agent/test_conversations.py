"""Whatever a model does, a task ends within its budget, with a conversation that every provider takes."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from codeact import Agent, Budget, Sandbox
from codeact.agent import transport
from codeact.messages import Asked, ModelError, Observed, Reply, Request, Tokens
from codeact.models.conversation import HostTurn, ModelTurn, turns
from codeact.testing.models import FunctionModel
from tests.agent.conftest import Pauses, get_charges
from tests.agent.talk import complaint

CODES = ["1", "a", "x = 1", "x", "tools.get_charges('c1')", "", "(", "raise ValueError(3)"]
TEXTS = [
    "",
    " ",
    "ok",
    "```python\n1\n```",
    "```python\ntools.get_charges('c')",
    "```\ntools.x\n```",
    "```",
    "~~~py\nx",
]

asked = st.builds(
    lambda name, code: Asked(name, code, None if code is not None else "no JSON"),
    st.sampled_from(["", "a", "b", "program-1", "program-2"]),
    st.sampled_from([*CODES, None]),
)
reply = st.builds(
    Reply,
    text=st.sampled_from(TEXTS),
    programs=st.lists(asked, max_size=4).map(tuple),
    ending=st.sampled_from(["done", "done", "done", "length", "refused", "other"]),
    tokens=st.builds(Tokens, st.integers(0, 60), st.integers(0, 20)),
)
error = st.builds(
    lambda passing, after: ModelError("busy", passing=passing, retry_after=after),
    st.sampled_from([True, True, True, False]),
    st.sampled_from([None, 0.0, 5.0, 1e9]),
)
budget = st.builds(
    Budget,
    replies=st.integers(1, 8),
    programs=st.integers(1, 6),
    failures=st.integers(1, 4),
    repeats=st.integers(1, 3),
    attempts=st.integers(1, 3),
    tokens=st.integers(1, 300),
)
sandbox = Sandbox([get_charges], engine="restricted")


def as_sent(request: Request) -> None:
    """See that host and model alternate as providers want it, and that nothing had to be made up for that."""
    found = turns(request, re.compile(r"[\w-]{1,64}"))
    assert [type(turn) for turn in found] == [HostTurn, ModelTurn] * (len(found) // 2) + [HostTurn]
    for model, host in zip(found[1::2], found[2::2], strict=True):
        assert [answer.id for answer in host.answers] == [call.id for call in model.calls]
    asked = [asked.id for message in request.messages if isinstance(message, Reply) for asked in message.programs]
    assert [call.id for turn in found[1::2] for call in turn.calls] == asked
    answers = [answer.text for turn in found[::2] for answer in turn.answers]
    assert answers == [message.text for message in request.messages if isinstance(message, Observed)]


@settings(max_examples=300, deadline=None)
@given(st.lists(reply | reply | error, min_size=1, max_size=6), budget, st.booleans())
def test_any_model_comes_to_an_end(script, budget, has_tools) -> None:
    asked_for = 0

    def play(_request):
        nonlocal asked_for
        asked_for += 1
        return script[asked_for % len(script)]

    model = FunctionModel(play, has_tools=has_tools)
    agent = Agent(model, sandbox, budget=budget, transport=transport(budget.attempts, sleep=Pauses()))
    result = agent.run("?")

    replies = [message for message in result.messages if isinstance(message, Reply)]
    assert complaint(result.messages) is None
    assert all(complaint(request.messages, over=False) is None for request in model.requests)
    for request in model.requests:
        as_sent(request)
    assert len(replies) <= budget.replies
    assert len(result.results) <= budget.programs
    assert len(model.requests) <= budget.replies * budget.attempts
    assert sum((message.tokens for message in replies[:-1]), Tokens()).total < budget.tokens
    assert result.tokens == sum((message.tokens for message in replies), Tokens())
    assert (result.answer is not None) == (result.stop == "answered") == result.ok
    assert result.why
