"""Uses an outbox and is killed: before its n-th statement or access to a file, for each n, until it lives to the end.

    python victim.py FOLDER STORY

makes FOLDER/<n>/ for each n, with the outbox and with a file `effects` that has a line for each effect, and prints how
many there are. The last of them was not killed.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from decimal import Decimal
from pathlib import Path

from desk import approved, proposal

from codeact.actions import Actions, action
from codeact.outbox import Allow, Outbox

ACCESSES = {"open", "os.remove", "os.link", "fcntl.flock", "sqlite3.connect"}


class Countdown:
    """Kills this process at the n-th step."""

    def __init__(self) -> None:
        self.left = -1

    def __call__(self, *_: object) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


countdown = Countdown()
deadly: set[tuple[str, str]] = set()
_connect = sqlite3.connect


def die(point: tuple[str, str]) -> None:
    countdown()
    if point in deadly:
        os.kill(os.getpid(), signal.SIGKILL)


def traced(*args: object, **kwargs: object) -> sqlite3.Connection:
    connection = _connect(*args, **kwargs)
    connection.set_trace_callback(countdown)
    return connection


effects: list[Path] = []
"""Where the line of the next effect goes: one file for each outbox."""


def effect(line: str) -> None:
    point = line.split(maxsplit=1)[0]
    die((point, "before"))
    with effects[-1].open("a") as file:
        file.write(f"{line}\n")
    die((point, "after"))


@action
def refund(charge_id: str, amount: Decimal) -> str:
    effect(f"refund {charge_id}")
    return "ok"


@action
def charge(charge_id: str, amount: Decimal, idempotency_key: str) -> str:
    effect(f"charge {idempotency_key}")
    return "ok"


@action
def send(to: str) -> str:
    effect(f"send {to}")
    raise ValueError(to)


ACTIONS = Actions([refund, charge, send])


def opened(folder: Path) -> Outbox:
    effects.append(folder / "effects")
    return Outbox(folder / "outbox.db", actions=ACTIONS, rules=[Allow("refund", count=1)])


PROPOSALS = [
    proposal("refund", charge_id="c1", amount=Decimal(20)),
    proposal("refund", charge_id="c2", amount=Decimal(20), seq=2),
    proposal("charge", charge_id="c1", amount=Decimal(20), seq=3),
    proposal("send", to="a", seq=4),
]


def whole(folder: Path) -> None:
    """From the proposal to the end: one is approved by a rule and two by a person, one of those fails, one is refused."""
    with opened(folder) as outbox:
        outbox.submit(PROPOSALS, task="t")
        for entry in outbox.entries(state="proposed"):
            if entry.name != "refund":
                approved(outbox, entry)
        for entry in outbox.entries(state="proposed"):
            outbox.refuse(entry.id, by="ada")
        outbox.perform()


def again(folder: Path) -> None:
    """What another has left unknown is settled."""
    with opened(folder) as outbox:
        for entry in outbox.entries(state="unknown"):
            outbox.settle(entry.id, "again" if entry.keyed else "failed", by="ada")
        outbox.perform()


def before_again(folder: Path) -> None:
    """Two processes are killed in the middle of what they perform, one with an effect and one without."""
    for name, point in (("refund", "before"), ("charge", "after")):
        pid = os.fork()
        if pid == 0:
            deadly.add((name, point))
            with opened(folder) as outbox:
                for entry in outbox.submit(PROPOSALS, task="t"):
                    if entry.name == name and entry.state == "proposed" and entry.seq != 2:
                        approved(outbox, entry)
                outbox.perform()
            os._exit(1)
        assert os.WIFSIGNALED(os.waitpid(pid, 0)[1])


STORIES = {"whole": (lambda _: None, whole), "again": (before_again, again)}


def main(folder: Path, story: str) -> int:
    before, told = STORIES[story]
    for n in range(1, 10_000):
        place = folder / str(n)
        place.mkdir()
        before(place)
        pid = os.fork()
        if pid == 0:
            countdown.left = n
            told(place)
            os._exit(0)
        status = os.waitpid(pid, 0)[1]
        if not os.WIFSIGNALED(status):
            assert status == 0
            return n
    raise AssertionError


sqlite3.connect = traced
sys.addaudithook(lambda event, _: countdown() if event in ACCESSES else None)

if __name__ == "__main__":
    print(main(Path(sys.argv[1]), sys.argv[2]))  # noqa: T201 - it is what the test reads
