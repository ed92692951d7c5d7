"""An arm as seen from here: a process that is asked for samples."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from benchmarks.arms import CannotError, WrongAnswerError
from benchmarks.arms.tasks import Task

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Entry:
    """What takes part.

    Attributes:
        name: what tables call it.
        arm: its module, and what the module's `arm` is given.
        python: the interpreter that runs it; None for the one that runs this.
        cannot: why it cannot take part here; None where it can.
        version: what exactly is measured, where that is not said elsewhere.
    """

    name: str
    arm: tuple[str, ...]
    python: str | None = None
    cannot: str | None = None
    version: str = ""


PLAIN = Entry("python", ("benchmarks.arms.plain",))
ENGINES = tuple(Entry(name, ("benchmarks.arms.ours", name)) for name in ("wasm", "restricted"))
OURS = (*ENGINES, Entry("wasm, 2 workers", ("benchmarks.arms.ours", "wasm", "2")))


class Contestant:
    """One that takes part, in a process of its own, which is started when it is first asked and then stays."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self._process: subprocess.Popen[str] | None = None
        self._cannot = entry.cannot

    @property
    def name(self) -> str:
        """What tables call it."""
        return self.entry.name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End its process."""
        if self._process is not None:
            self._process.communicate()  # it ends when nobody asks any more
            self._process = None

    def samples(self, task: Task, rounds: int, warmup: int = 0) -> list[float]:
        """Have it do a task; see `benchmarks.arms.tasks.Worker.samples`.

        Raises:
            CannotError: it cannot.
            WrongAnswerError: it came to another value, or its process ended.
        """
        self.ask(task, rounds, warmup)
        return self.answer()

    def ask(self, task: Task, rounds: int, warmup: int = 0) -> None:
        """Begin `samples`, of which `answer` gives what came out: two can be busy at the same time."""
        process = self._started()
        asked = json.dumps({"task": asdict(task), "rounds": rounds, "warmup": warmup})
        try:
            print(asked, file=process.stdin, flush=True)
        except BrokenPipeError:
            self._ended()

    def answer(self) -> list[float]:
        """What the task that it was asked for gave; see `samples`."""
        process = self._process
        if process is None or process.stdout is None:
            msg = "nothing was asked"
            raise RuntimeError(msg)
        line = process.stdout.readline()
        if not line:
            self._ended()
        found: dict[str, Any] = json.loads(line)
        if "cannot" in found:
            raise CannotError(found["cannot"])
        if "wrong" in found:
            raise WrongAnswerError(found["wrong"])
        return [float(sample) for sample in found["samples"]]

    def _started(self) -> subprocess.Popen[str]:
        if self._cannot is not None:
            raise CannotError(self._cannot)
        if self._process is None:
            self._process = subprocess.Popen(
                [self.entry.python or sys.executable, "-m", "benchmarks.arms.child", *self.entry.arm],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
            try:
                self.answer()
            except CannotError as error:
                self._cannot = str(error)
                raise
        return self._process

    def _ended(self) -> None:
        process, self._process = self._process, None
        code = None if process is None else process.wait()
        msg = f"its process ended with code {code}; see stderr"
        raise WrongAnswerError(msg)
