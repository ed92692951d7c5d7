"""The worlds inside a worker: which one a run finds, and the one that is made ahead of demand."""

from __future__ import annotations

import pytest

from codeact import Limits, Sandbox, engines
from codeact.engines.wasm import WasmEngine
from tests.workers.scene import made
from wasm_runtime.instance import Instance
from wasm_runtime.worker import Worlds

ROOM = 128 * 1024 * 1024


@pytest.fixture
def worlds() -> Worlds:
    engine = engines.load("wasm")
    assert isinstance(engine, WasmEngine)
    return Worlds(engine.machine)


@pytest.fixture
def made_worlds(monkeypatch: pytest.MonkeyPatch) -> list[Instance]:
    """All worlds that are made, in order."""
    made: list[Instance] = []
    make = Instance.__init__

    def init(self: Instance, *args: object, **kwargs: object) -> None:
        make(self, *args, **kwargs)  # type: ignore[arg-type]
        made.append(self)

    monkeypatch.setattr(Instance, "__init__", init)
    return made


def test_a_world_stays_until_it_is_dropped(worlds: Worlds) -> None:
    world = worlds.get(1, ROOM)
    assert worlds.get(1, ROOM) is world
    worlds.drop(1)
    worlds.drop(1)
    assert worlds.get(1, ROOM) is not world


def test_the_next_world_is_made_ahead_and_like_the_last(worlds: Worlds, made_worlds: list[Instance]) -> None:
    worlds.prepare()
    assert made_worlds == [], "nobody knows what it would be like"
    worlds.get(1, ROOM)
    worlds.prepare()
    worlds.prepare()
    _, ahead = made_worlds
    assert worlds.get(2, ROOM) is ahead
    worlds.prepare()
    assert worlds.get(3, 2 * ROOM) is made_worlds[-1]
    assert len(made_worlds) == 4, "the one that was made ahead had less memory than was asked for"


def test_a_world_that_cannot_be_made_ahead_is_for_whoever_asks_for_it() -> None:
    with made(memory=1 << 20) as sandbox:
        for _ in range(3):
            error = sandbox.run("1").error
            assert error is not None
            assert "less than the interpreter itself needs" in error.message


def test_each_run_has_the_memory_of_its_own_limits() -> None:
    program = "len(bytes(100 * 1024 * 1024))"
    with made() as sandbox:
        small = Sandbox(engine=sandbox._grant.engine, limits=Limits(timeout=20, memory=ROOM // 2))
        for _ in range(3):
            assert sandbox.run(program).ok
            error = small.run(program).error
            assert error is not None
            assert error.kind == "memory"
