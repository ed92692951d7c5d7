"""The host's side of every door, handed what a guest may send, and what must hold whatever that is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from codeact import Limits, Result, Sandbox, Tool, tool
from codeact.calls import Door
from codeact.engines import Answer, Doors, Face, Outcome, Program, Refusal, Stop
from codeact.engines.room import Room, bounded
from codeact.engines.wasm import _REPORTED, WasmInstance
from codeact.grant import Deadline
from codeact.output import Output
from codeact.portal import Portal, own_loop
from codeact.renderings import digest_of, jsonable
from codeact.testing.equality import same
from codeact.values import Uncrossable, encode, from_guest
from tests.conftest import offer
from wasm_runtime.guest.codec import decode
from wasm_runtime.guest.parcel import unpack

LIMITS = Limits(
    timeout=5.0, calls=30, concurrency=4, output=2_000, value_bytes=100_000, value_depth=20, workspace=10_000, files=5
)
HOSTS_ONLY = {"timeout", "fuel", "calls", "output", "host"}
"""Kinds of fault that only the host's own records give rise to."""

MESSAGE = 6_000
"""Characters of a message, and of a name, that come out at the most."""


class Ground:
    """Tools that count how often they are really called."""

    def __init__(self) -> None:
        self.reached = 0

    def tools(self) -> list[Tool[..., Any]]:
        """One of each kind."""

        @tool
        def echo(value: object) -> object:
            """What it is given."""
            self.reached += 1
            return value

        @tool
        async def fetch(number: int) -> int:
            """Twice a number."""
            self.reached += 1
            await asyncio.sleep(0)
            return number * 2

        @tool
        async def stuck() -> None:
            """Never."""
            self.reached += 1
            await asyncio.sleep(3600)

        @tool
        def greedy(*args: object, **kwargs: object) -> dict[str, object]:
            """All that it is given."""
            self.reached += 1
            return {"args": list(args), **kwargs}

        @tool
        def typed(names: list[str], *, number: float = 0.0) -> list[str]:
            """Particular about what it takes."""
            self.reached += 1
            return names * 2

        @tool
        def broken(value: object = None) -> None:
            """Fails."""
            self.reached += 1
            raise ValueError(value)

        return [echo, fetch, stuck, greedy, typed, broken]


def _doors(door: Door, output: Output) -> Doors:
    return Doors(
        call=door.call,
        submit=door.submit,
        wait=door.wait,
        cancel=door.cancel,
        refuse=door.refuse,
        write=output.write,
        interrupted=door.interrupted,
        now=lambda: 1,
        monotonic=lambda: 2,
        seed=bytes(32),
    )


def check_room(messages: Sequence[tuple[Any, ...]]) -> None:
    """Let these come through the doors of one run.

    Raises:
        AssertionError: a call went uncounted, an answer was no answer, or a tool was reached when it was over.
        Exception: a door raised.
    """
    ground = Ground()
    portal = Portal(own_loop)
    door = Door(offer(ground.tools(), LIMITS), LIMITS, Deadline(LIMITS), portal)
    output = Output(LIMITS.output)
    room = Room(_doors(door, output), LIMITS)
    sent = 0
    told: set[int] = set()
    try:
        for name, *handed in messages:
            if room.stopped():
                break
            answer = getattr(room, name)(*handed)
            if name == "call":
                sent += 1
                if not room.stopped():
                    _check_answer(answer)
            elif name == "wait":
                sent += sum(1 for line in handed[0].split("\n") if line and line[0] != "-")
                for line in answer.split("\n") if answer else ():
                    number, _, reply = line.partition(" ")
                    assert int(number) not in told, "answered twice"
                    told.add(int(number))
                    assert int(number) < sent, "an answer to nothing"
                    if not room.stopped():
                        _check_answer(reply)
        stopped = room.stopped()
    finally:
        door.close()
        portal.join(0.2)
    receipts = door.calls
    counted = len(receipts) + (1 if door.stop and door.stop.kind == "calls" else 0)
    assert counted == sent if not stopped else counted <= sent, "a call that was not counted"
    assert len(receipts) <= LIMITS.calls
    assert [receipt.seq for receipt in receipts] == list(range(1, len(receipts) + 1))
    assert ground.reached <= sum(receipt.state != "refused" for receipt in receipts), "a tool was reached unseen"
    assert all(len(receipt.name) <= 200 for receipt in receipts)
    assert len(output.text) <= LIMITS.output
    before = ground.reached
    room.call("echo", "[[1],{}]", 1)
    room.wait("+1 fetch [[1],{}]\n+1 echo [[1],{}]", 0, 1)
    assert ground.reached == before, "a tool was reached after the end"
    assert door.calls == receipts


def _check_answer(answer: str) -> None:
    answer.encode()
    assert "\n" not in answer
    if answer[0] == "+":
        decode(answer[1:])
        return
    assert answer[0] == "-"
    kind, message = json.loads(answer[1:])
    assert kind in {"ToolError", "TypeError", "AttributeError"}
    assert len(message) < MESSAGE


def check_value(text: str) -> None:
    """Read a text as a value.

    Raises:
        AssertionError: what was made of it is no plain value, or does not stay what it is.
        Exception: anything but the errors that say what is wrong with it.
    """
    with suppress(ValueError):
        decode(text)
    try:
        value = bounded(text, LIMITS)
    except (Uncrossable, ValueError) as error:
        wrong = str(error)
    else:
        wrong = ""
        _check_plain(value)
    assert len(wrong) < MESSAGE


def _check_plain(value: object) -> None:
    again = encode(value, LIMITS.value_depth + 1)
    assert same(from_guest(decode(again), depth=LIMITS.value_depth, size=10 * LIMITS.value_bytes), value)
    assert len(digest_of((value,), {"x": value}, LIMITS.value_depth)) == 64
    json.dumps(jsonable(value), allow_nan=False)


def check_parcel(text: str) -> None:
    """Read a text as files.

    Raises:
        AssertionError: there are more, or larger ones, than there may be.
    """
    with suppress(ValueError):
        files = unpack(text, 0, count=4, size=20)
        assert len(files) <= 4
        assert sum(len(data) for data in files.values() if data is not None) <= 20
        assert not any(path.startswith("/") or ".." in path.split("/") for path in files)


class _Forger:
    """An engine whose guest answers what it was told to answer."""

    name = "forger"

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self.alive = True

    def open(self, faces: tuple[Face, ...], limits: Limits) -> Any:
        """Make a world."""
        return self

    def run(self, program: Program, doors: Doors) -> Outcome:
        """Answer."""
        instance = object.__new__(WasmInstance)
        instance._limits = LIMITS
        return instance._outcome(self._answer, 7, program.number)

    def close(self) -> None:
        """Nothing is left."""


def check_end(answer: str) -> None:
    """End a run with this answer of the guest's.

    Raises:
        AssertionError: it passed for what only the host can know, or what came of it is out of all proportion.
    """
    _check_result(Sandbox(engine=_Forger(answer), limits=LIMITS).run("1"), HOSTS_ONLY)


def _check_result(result: Result, never: set[str]) -> None:
    if result.error is not None:
        assert result.error.kind not in never, result.error
        assert result.error.kind in _REPORTED | HOSTS_ONLY
        assert len(result.error.message) < MESSAGE
    assert result.ok is (result.error is None)
    assert len(result.observation()) < 60_000
    json.dumps(result.to_dict(), allow_nan=False)
    result.observation().encode()
    assert len(result.files) <= 2 * LIMITS.files
    assert all(len(file.data or b"") <= LIMITS.workspace for file in result.files)


def check_digger(program: str) -> None:
    """Run a program that digs out the doors, in the room itself.

    Raises:
        AssertionError: it passed for what only the host can know, a call went uncounted, or the host is not well.
    """
    ground = Ground()
    limits = Limits(timeout=5.0, calls=30, concurrency=4, output=2_000, value_bytes=100_000, value_depth=20, workspace=10_000, files=5)  # fmt: skip
    result = Sandbox(ground.tools(), limits=limits).run(program)
    _check_result(result, {"host", "fuel"})
    if result.error is not None:
        if result.error.kind == "calls":
            assert len(result.calls) == limits.calls
        if result.error.kind == "output":
            assert result.truncated
        if result.error.kind == "timeout":
            assert result.usage.wall >= limits.timeout
    assert result.usage.calls == len(result.calls)
    assert result.usage.wall < limits.timeout + 5
    assert ground.reached <= sum(call.state != "refused" for call in result.calls)


def check_call(call: tuple[str, tuple[object, ...], dict[str, object]]) -> None:
    """Call a tool by the one door, with values that are read already.

    Raises:
        AssertionError: what came back is no reply, or the call is not on record.
    """
    ground = Ground()
    portal = Portal(own_loop)
    door = Door(
        offer([made for made in ground.tools() if made.name != "stuck"], LIMITS), LIMITS, Deadline(LIMITS), portal
    )
    try:
        for reply in (door.call(*call), door.submit(*call)):
            assert isinstance(reply, (int, Answer, Refusal, Stop))
            if isinstance(reply, Refusal):
                assert len(reply.message) < MESSAGE
            assert not isinstance(reply, Stop), reply
        door.wait(0.0)
    finally:
        door.close()
        portal.join(0.2)
    assert len(door.calls) == 2
