"""Whenever a process is killed: no effect happens twice, and none is lost without a word."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from victim import PROPOSALS, opened

from codeact.outbox import Entry, Outbox
from codeact.outbox.entries import MOVES

HERE = Path(__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is one: a thousand times the disk is waited for."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def _folders(tmp_path: Path, story: str) -> list[Path]:
    """What is left of a story that was killed at each of its steps."""
    told = subprocess.run(
        [sys.executable, HERE / "victim.py", tmp_path, story], capture_output=True, text=True, check=False, timeout=300
    )
    assert told.returncode == 0, told.stderr
    last = int(told.stdout)
    assert last > 40
    return [tmp_path / str(n) for n in range(1, last + 1)]


def _effects(folder: Path) -> Counter[str]:
    path = folder / "effects"
    return Counter(path.read_text().split("\n")[:-1] if path.exists() else [])


def _effect_of(entry: Entry) -> str:
    return f"charge {entry.key}" if entry.name == "charge" else f"{entry.name} {next(iter(entry.arguments.values()))}"


def _check_history(outbox: Outbox, entry: Entry) -> None:
    """Each step is there if, and only if, it was taken."""
    states = [step.state for step in outbox.history(entry.id)]
    assert states[0] == "proposed"
    assert states[-1] == entry.state
    assert all(any(one in move.sources and other == move.to for move in MOVES) for one, other in pairwise(states))


def _check(folder: Path, outbox: Outbox, entries: list[Entry], at_most: int = 1) -> None:
    effects = _effects(folder)
    for entry in entries:
        _check_history(outbox, entry)
        count = effects.pop(_effect_of(entry), 0)
        match entry.state:
            case "proposed" | "approved" | "refused":
                assert count == 0, entry
            case "done":
                assert 1 <= count <= at_most, entry
            case "failed" if entry.error == "ValueError: a":  # it is what the function raised
                assert count == 1, entry
            case "unknown" | "failed":
                assert count <= at_most, entry
            case _:
                raise AssertionError(entry)
    assert not effects


def test_killed_at_any_step_from_the_proposal_to_the_end(folder: Path) -> None:
    states = set()
    for place in _folders(folder, "whole"):
        with opened(place) as outbox:
            left = outbox.entries()
            assert len(left) in {0, len(PROPOSALS)}  # all were taken in, or none
            states |= {entry.state for entry in left}
            _check(place, outbox, left)
            # Whoever comes next submits the same, decides what is not decided, and performs.
            for entry in outbox.submit(PROPOSALS, task="t"):
                if entry.state == "proposed":
                    outbox.approve(entry.id, digest=entry.digest, by="bob")
            outbox.perform()
            assert outbox.perform() == []
            ended = outbox.entries()
            assert len(ended) == len(PROPOSALS)
            assert {entry.state for entry in ended} <= {"done", "failed", "refused", "unknown"}
            _check(place, outbox, ended)
        opened(place).close()
        assert [path.name for path in place.glob("outbox.db-*")] == []
    assert states == {"proposed", "approved", "refused", "done", "failed", "unknown"}


def test_killed_at_any_step_of_what_is_performed_again(folder: Path) -> None:
    for place in _folders(folder, "again"):
        with opened(place) as outbox:
            refund, other, charge, send = left = outbox.entries()
            assert refund.state in {"unknown", "failed"}
            assert charge.state in {"unknown", "approved", "done"}
            assert (other.state, send.state) == ("proposed", "proposed")
            if charge.state == "unknown":
                outbox.settle(charge.id, "again", by="bob")
            outbox.perform()
            assert outbox.get(charge.id).state == "done"
            # It is asked for twice or thrice, always with the same key.
            _check(place, outbox, [refund, other, outbox.get(charge.id), send], at_most=3)
            assert left
