"""Hostile programs collected from publicly documented escapes, each in a process of its own, which is forked from one.

Where the collection is not beside the checkout, these tests are skipped; what each class of them tries is in
`docs/security.md`, and the project's own programs of the same classes are in `own/`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).parents[3] / "shared" / "escapes" / "cases"
CHILD = Path(__file__).with_name("case.py")
SECONDS = 4.0
"""Several times the timeout of a case: a run that nothing stops takes longer."""
STUCK = 60.0
"""Seconds after which a program is taken for one that holds its process."""
MEMORY = 1024 * 1024 * 1024
"""Bytes that the whole process may have had: the limit of the run, and room for the host."""


def heads() -> list[Any]:
    found = []
    for path in sorted(CASES.glob("*.py")):
        head = json.loads(path.read_text(errors="replace").partition("\n")[0].removeprefix("# "))
        engines = ["restricted", "wasm"] if head["engine"] == "both" else [head["engine"]]
        found += [pytest.param(path, engine, head, id=f"{path.stem}-{engine}") for engine in engines]
    return found


class Children:
    """The process that is forked for each program; another one where it was lost."""

    def __init__(self) -> None:
        self._parent: subprocess.Popen[str] | None = None

    def run(self, path: Path, engine: str) -> dict[str, Any]:
        parent = self._started()
        assert parent.stdin is not None
        assert parent.stdout is not None
        stuck = threading.Timer(STUCK, os.killpg, (parent.pid, signal.SIGKILL))
        stuck.start()
        answer = ""
        try:
            print(json.dumps([str(path), engine]), file=parent.stdin, flush=True)
            answer = parent.stdout.readline()
        except BrokenPipeError:
            pass
        finally:
            stuck.cancel()
        if not answer:
            self.close()
            pytest.fail(f"{path.name} did not end within {STUCK:g} s, or ended the process that it was forked from")
        return dict(json.loads(answer))

    def close(self) -> None:
        if self._parent is not None:
            self._parent.kill()
            self._parent.communicate()
            self._parent = None

    def _started(self) -> subprocess.Popen[str]:
        if self._parent is None or self._parent.poll() is not None:
            command = [sys.executable, str(CHILD), "--each-in-a-child"]
            pipe = subprocess.PIPE
            self._parent = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True)
        return self._parent


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    made = Children()
    yield made
    made.close()


@pytest.mark.skipif(not CASES.is_dir(), reason="the collection of hostile programs is not beside this checkout")
@pytest.mark.parametrize(("path", "engine", "head"), heads() or [pytest.param(None, "", {}, id="none")])
def test_a_hostile_program_gets_nowhere(children: Children, path: Path, engine: str, head: dict[str, Any]) -> None:
    done = children.run(path, engine)
    assert done["returncode"] == 0, done["stderr"][-2000:]
    seen = json.loads(done["stdout"].splitlines()[-1])
    assert not seen["escaped"], seen
    assert not seen["leaked"], seen
    assert seen["changed"] == [], seen
    assert seen["late"] == 0, seen
    assert seen["honest"] == 1205, seen
    assert seen["seconds"] < SECONDS, seen
    assert seen["peak"] < MEMORY, seen
    if head.get(f"expect_{engine}", head["expect"]) == "denied":
        assert not seen["ok"], seen
