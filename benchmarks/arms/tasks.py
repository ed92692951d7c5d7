"""What an arm is asked to do, and the doing: the only place where anything is timed."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from benchmarks.arms import Arm, CannotError, Prepared, Run, Tools, WrongAnswerError
from benchmarks.arms.processes import private

Kind = Literal["fresh", "new", "turn", "new turn", "ready", "idle", "used", "rate", "sustained"]


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do again and again.

    Attributes:
        kind: `fresh` times a run in a world of its own, `turn` one more run in a session, `new` and `new turn` these
            with a text that nobody has run before, `ready` a run in a world that was made ready before, all in
            seconds; `idle` and `used` give the private bytes of a live instance before and after its first program;
            `rate` gives fresh runs per second, `sustained` the same where worlds are made ready, which nobody waits
            for.
        program: its text.
        wanted: the value it must come to.
        tools: what it is granted.
        count: how many instances are held (`idle`, `used`), or how many threads run (`rate`, `sustained`).
        seconds: how long a sample of these two takes.
    """

    kind: Kind
    program: str = "1+1"
    wanted: object = 2
    tools: Tools = "none"
    count: int = 1
    seconds: float = 1.0


class Worker:
    """Does tasks on an arm. The world, or what makes worlds, stays for as long as tasks are of the same kind and grants."""

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self._made: tuple[Kind, Tools] | None = None
        self._open = ExitStack()
        self._run: Run | None = None
        self._numbers = itertools.count()

    def close(self) -> None:
        """Let go of the world."""
        self._made = self._run = None
        self._open.close()

    def samples(self, task: Task, rounds: int, warmup: int) -> list[float]:
        """Do a task some times.

        Args:
            task: what.
            rounds: how many samples.
            warmup: how often before that, uncounted.

        Raises:
            CannotError: the arm cannot.
            WrongAnswerError: the program came to another value.
        """
        match task.kind:
            case "fresh" | "turn":
                run = self._runner(task)
                for _ in range(warmup):
                    _right(task, run(task.program))
                return [_timed(task, run) for _ in range(rounds)]
            case "new" | "new turn":
                run = self._runner(task)
                return [_timed(self._unseen(task), run) for _ in range(warmup + rounds)][warmup:]
            case "ready":
                self.close()
                return self._ready(task, rounds, warmup)
            case "idle" | "used":
                self.close()
                return [self._held(task) for _ in range(rounds)]
            case "rate" | "sustained":
                self.close()
                return [self._rate(task) for _ in range(rounds)]

    def _runner(self, task: Task) -> Run:
        if self._run is None or self._made != (task.kind, task.tools):
            self.close()
            maker = self._arm.session if task.kind in {"turn", "new turn"} else self._arm.fresh
            self._run, self._made = self._open.enter_context(maker(task.tools)), (task.kind, task.tools)
        return self._run

    def _unseen(self, task: Task) -> Task:
        """The same in other words: an arm may keep what it has made of a text."""
        return replace(task, program=f"{task.program}  # {next(self._numbers)}")

    def _prepared(self, task: Task) -> AbstractContextManager[tuple[Run, Callable[[], object]]]:
        if not isinstance(self._arm, Prepared):
            msg = "nothing is made ready ahead of a run"
            raise CannotError(msg)
        return self._arm.ready(task.tools)

    @contextmanager
    def _sustained(self, task: Task) -> Iterator[Run]:
        with self._prepared(task) as (run, _):
            yield run

    def _ready(self, task: Task, rounds: int, warmup: int) -> list[float]:
        samples = []
        with self._prepared(task) as (run, wait):
            for _ in range(warmup + rounds):
                wait()
                samples.append(_timed(task, run))
        return samples[warmup:]

    def _held(self, task: Task) -> float:
        with self._instance(task):  # so that what the process needs once is there before
            before = _private()
            with ExitStack() as held:
                for _ in range(task.count):
                    held.enter_context(self._instance(task))
                return (_private() - before) / task.count

    @contextmanager
    def _instance(self, task: Task) -> Iterator[None]:
        if task.kind == "idle":
            with self._arm.idle():
                yield
        else:
            with self._arm.session(task.tools) as run:
                _right(task, run(task.program))
                yield

    def _rate(self, task: Task) -> float:
        ready, done = threading.Barrier(task.count), [0] * task.count
        failures: list[BaseException] = []

        def serve(run: Run, number: int) -> None:
            try:
                _right(task, run(task.program))
                ready.wait()
                until = time.perf_counter() + task.seconds
                while time.perf_counter() < until:
                    _right(task, run(task.program))
                    done[number] += 1
            except threading.BrokenBarrierError:
                pass  # another one has failed
            except BaseException as error:  # noqa: BLE001 - it is raised again, by the thread that waits
                failures.append(error)
                ready.abort()

        maker = self._sustained(task) if task.kind == "sustained" else self._arm.fresh(task.tools)
        with maker as run:
            threads = [threading.Thread(target=serve, args=(run, number)) for number in range(task.count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        for failure in failures:
            raise failure
        return sum(done) / task.seconds


def _timed(task: Task, run: Run) -> float:
    began = time.perf_counter()
    value = run(task.program)
    took = time.perf_counter() - began
    _right(task, value)
    return took


def _right(task: Task, value: object) -> None:
    if value != task.wanted:
        msg = f"{value!r:.200} instead of {task.wanted!r:.200}"
        raise WrongAnswerError(msg)


def _private() -> int:
    found = private()
    if found is None:
        msg = "the kernel does not tell its private memory (smaps_rollup in /proc)"
        raise CannotError(msg)
    return found
