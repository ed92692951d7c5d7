"""Conversations of one agent have an interpreter each."""

from __future__ import annotations

import asyncio
import threading

import pytest

from codeact.integrations import Conversations, Interpreter
from codeact.integrations.conversations import interpreter_of


def test_each_conversation_has_a_session_of_its_own(make) -> None:
    with Conversations(make()) as conversations:
        conversations.of("a").run("x = 1")
        assert conversations.of("b").run("x").error.type == "NameError"
        assert conversations.of("a").run("x").value == 1
        assert conversations.keys == ("a", "b")


def test_one_is_made_for_a_conversation_however_many_ask(make) -> None:
    with Conversations(make()) as conversations:
        found: list[Interpreter] = []
        threads = [threading.Thread(target=lambda: found.append(conversations.of("a"))) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert len({id(each) for each in found}) == 1


def test_one_that_is_ended_leaves_its_results_and_begins_anew(make) -> None:
    with Conversations(make()) as conversations:
        conversations.of("a").run("x = 1")
        ended = conversations.end("a")
        assert [result.ok for result in ended.results] == [True]
        assert conversations.keys == ()
        assert conversations.of("a").run("x").error.type == "NameError"
    assert conversations.end("a") is None


def test_the_key_is_the_task_unless_the_host_says_more(make) -> None:
    sandbox = make()
    opened: list[str] = []

    def made(key: str) -> Interpreter:
        opened.append(key)
        return Interpreter(sandbox, task=f"ticket {key}", files={"in.txt": b"hello"})

    with Conversations(sandbox, made) as conversations:
        assert conversations.of("7").run("open('in.txt').read()").value == "hello"
        conversations.of("7")
    assert opened == ["7"]


def test_what_the_model_is_told_is_what_an_interpreter_tells_it(make) -> None:
    sandbox = make()
    conversations, interpreter = Conversations(sandbox), Interpreter(sandbox)
    assert conversations.instructions == interpreter.instructions
    assert conversations.description == interpreter.description


@pytest.mark.parametrize("key", [None, "", 7, {}])
def test_what_has_no_key_is_told_from_others_by_nothing(make, key) -> None:
    with Conversations(make()) as conversations, pytest.raises(ValueError, match="give an id"):
        interpreter_of(conversations, key, named="an id")
    interpreter = Interpreter(make())
    assert interpreter_of(interpreter, key, named="an id") is interpreter


def test_the_host_is_told_what_it_did_wrong(make) -> None:
    with pytest.raises(TypeError, match="sandbox='wasm'"):
        Conversations("wasm")
    with pytest.raises(TypeError, match="make=7"):
        Conversations(make(), 7)
    with pytest.raises(TypeError, match="expected a codeact.integrations.Interpreter"):
        Conversations(make(), lambda key: key).of("a")
    with pytest.raises(ValueError, match="gave an interpreter of"):
        Conversations(make(), lambda _: Interpreter(make())).of("a")


def test_programs_of_two_conversations_run_together(make) -> None:
    meeting = asyncio.Barrier(2)

    async def meet() -> int:
        """Both are here."""
        await meeting.wait()
        return 1

    async def together() -> list[object]:
        with Conversations(make([meet])) as conversations:
            results = await asyncio.gather(*[conversations.of(key).run_async("await tools.meet()") for key in "ab"])
            return [result.value for result in results]

    assert asyncio.run(together()) == [1, 1]
