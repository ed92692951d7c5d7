"""The models of `codeact.testing.models`: what hosts test their agents with."""

from __future__ import annotations

import asyncio

import pytest

from codeact import Agent
from codeact.messages import Asked, ModelError, Reply, Request, Said, Tokens
from codeact.testing.models import FunctionModel, Program, ScriptedModel

REQUEST = Request("system", (Said("?"),))


def replies(model: FunctionModel, requests: list[Request]) -> list[Reply]:
    async def ask() -> list[Reply]:
        return [await model.complete(request, lambda _text: None) for request in requests]

    return asyncio.run(ask())


def test_a_script_is_played_step_by_step() -> None:
    given = Reply("as it is", ending="length")
    model = ScriptedModel(
        ["a", Program("1"), [Program("2", "b"), Program("3", "c")], given, lambda request: request.system],
        tokens=Tokens(3, 1),
    )
    assert model.left == 5
    assert replies(model, [REQUEST] * 5) == [
        Reply("a", tokens=Tokens(3, 1)),
        Reply("", (Asked("program-1", "1"),), tokens=Tokens(3, 1)),
        Reply("b\n\nc", (Asked("program-1", "2"), Asked("program-2", "3")), tokens=Tokens(3, 1)),
        given,
        Reply("system", tokens=Tokens(3, 1)),
    ]
    assert (model.left, model.requests) == (0, [REQUEST] * 5)


def test_ids_go_by_the_conversation() -> None:
    before = Reply("", (Asked("x", "1"), Asked("y", "2")))
    (reply,) = replies(ScriptedModel([Program("3")]), [Request("", (Said("?"), before))])
    assert reply.programs[0].id == "program-3"


def test_without_tools_programs_are_fenced() -> None:
    (reply,) = replies(ScriptedModel([[Program("1", "so"), Program("2")]], has_tools=False), [REQUEST])
    assert reply == Reply("so\n\n```python\n1\n```\n\n```python\n2\n```")


def test_text_comes_in_pieces() -> None:
    pieces: list[str] = []
    asyncio.run(ScriptedModel([" a few  words\n"]).complete(REQUEST, pieces.append))
    assert pieces == [" a ", "few  ", "words\n"]


@pytest.mark.parametrize("error", [ModelError("x", passing=True), KeyError("x")], ids=repr)
def test_errors_are_raised(error) -> None:
    with pytest.raises(type(error)):
        replies(ScriptedModel([error]), [REQUEST])


def test_a_function_may_be_async_and_decide_on_anything() -> None:
    async def later(request: Request) -> Program:
        return Program(request.messages[0].text)

    (reply,) = replies(FunctionModel(later), [REQUEST])
    assert reply.programs == (Asked("program-1", "?"),)


@pytest.mark.parametrize("step", [None, 3, [], ["a"], {"a": 1}], ids=repr)
def test_what_is_no_step_is_named(step) -> None:
    with pytest.raises(TypeError, match="is no step"):
        replies(ScriptedModel([step]), [REQUEST])


def test_a_script_that_is_too_short_says_what_the_agent_had_told(fast) -> None:
    with pytest.raises(
        RuntimeError, match="the script of 1 step is over, and the model is asked again after it heard: ok"
    ):
        Agent(ScriptedModel([Program("1")]), fast).run("?")
