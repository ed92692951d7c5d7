"""A world for many programs, as the host knows it: who ran in it, and what they have left there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeact.errand import Errand, Past
from codeact.execution import Ended
from codeact.files import digest_of
from codeact.grant import Grant, Place
from codeact.lifecycle import Life
from codeact.source import Reading
from codeact.tape import Player, Recorder, Tape


@dataclass(frozen=True, slots=True)
class PastRun:
    """One program that a session has run, with all that is needed to run it again.

    Attributes:
        source: its text.
        ok: whether it finished.
        tape: what came through its doors.
        files: what was put into its workspace: contents by path.
        run: the id of its run; empty where that is not in a journal.
    """

    source: str
    ok: bool
    tape: Tape
    files: Mapping[str, bytes] = field(default_factory=dict)
    run: str = ""


class World:
    """What the programs of one world have left behind.

    Attributes:
        names: the public names that they have bound.
        past: their runs.
    """

    def __init__(self, grant: Grant, life: Life) -> None:
        self.names: dict[str, None] = {}
        self.past = Past()
        self._grant = grant
        self._life = life
        self._programs: list[Reading] = []
        self._files: dict[str, str] = {}
        self._player = Player(Tape(), grant.limits)

    @property
    def number(self) -> int:
        """Which program the next one is, from 1."""
        return len(self._programs) + 1

    def place(self, passage: Recorder | Player) -> Place:
        """Where the next program takes place.

        Args:
            passage: what stands between it and its doors.
        """
        life = self._life
        return Place(
            life.instance, tuple(self._programs), dict(self._files), passage, self.past, life.trail, life.until
        )

    def again(self, past: PastRun) -> tuple[Errand, Place]:
        """What is to be run, and where, to do again what a program did."""
        self._player = Player(past.tape, self._grant.limits)
        return Errand(past.source, past.files), self.place(self._player)

    def settle_again(self, past: PastRun, ended: Ended) -> str | None:
        """Take note of what a program has left behind again.

        Returns:
            What it did otherwise; None where it did the same.
        """
        there = self.settle(Errand(past.source, past.files), ended)
        error = ended.result.error
        if there and ended.result.ok == past.ok and self._player.diverged is None:
            self.past = Past((*self.past.runs, past.run))
            return None
        return self._player.diverged or ("it finished, and had failed" if error is None else error.message)

    def settle(self, asked: Errand, ended: Ended) -> bool:
        """Take note of what a run has left behind. Gives whether its world is still there."""
        outcome = ended.outcome
        if outcome is not None and ended.instance is None:
            return True  # it was not begun, and nothing has changed
        self._life.instance = ended.instance
        if outcome is None or self._life.instance is None or not self._life.instance.alive:
            self.forget(close=outcome is not None)
            return False
        if not self._programs:
            self._files.update((path, digest_of(data)) for path, data in self._grant.inputs.items())
        self._programs.append(ended.reading)
        for name in outcome.unbound:
            self.names.pop(name, None)
        self.names.update(dict.fromkeys(outcome.bound))
        self._files.update((path, digest_of(data)) for path, data in asked.files.items())
        for file in ended.result.files:
            if file.digest is None:
                del self._files[file.path]
            else:
                self._files[file.path] = file.digest
        return True

    def forget(self, *, close: bool = True) -> None:
        """Be without a world. One that a run has not left yet is closed by the run itself."""
        self._life.lose(close=close)
        self.names.clear()
        self._programs.clear()
        self._files.clear()
        self.past = Past()
