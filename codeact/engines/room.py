"""The doors of one run in the words of the wasm room: text in, text out. Whatever comes from inside may be forged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from codeact.engines import Answer, Doors, Fault, Refusal, Reply, Stop
from codeact.limits import Limits
from codeact.values import NODE, Uncrossable, from_guest
from wasm_runtime.guest import tables
from wasm_runtime.guest.codec import decode, encode, is_marked

HEADER = 1_000_000
"""Characters beside a value that are read: the first line of an answer, or what stands before arguments."""

ENCODED = 3
"""How much longer the encoding of a value may be than the value, at the most: escapes and marks."""

MANY = 10_000
"""Separators below which nobody looks whether they stand inside strings."""

SMALL = 4000
"""Characters of a text below which no value in it counts for more than NODE bytes a character."""

LONGEST = 10_000_000
"""Lines, columns and counts of frames are below this in any program that the limit `source` lets in."""

TOGETHER = 1_000_000
"""Characters of answers that cross together; the guest has to hold them all."""

_SECOND = 1_000_000_000
_DIGITS = 8
_R = TypeVar("_R")


class Room:
    """Who stands behind the doors of the room while a program runs; see `wasm_runtime.doors.Host`.

    Attributes:
        asked: bytes of one text that are read from what the guest asks for.
        told: the same for what it prints and what it answers.
        stop: why the host ends the program; None where it does not.
        line: the program's line, where that was at a door.
    """

    __slots__ = ("_answers", "_doors", "_limits", "_sent", "_under_way", "asked", "line", "stop", "told")

    def __init__(self, doors: Doors, limits: Limits) -> None:
        self._doors = doors
        self._limits = limits
        self._sent = 0
        self._under_way: dict[int, _Sent] = {}
        self._answers: dict[int, str] = {}
        self.line = 0
        self.stop: Fault | None = None
        self.asked = ENCODED * limits.value_bytes + HEADER
        self.told = max(self.asked + 2 * limits.workspace, limits.output + HEADER)

    def call(self, name: str, arguments: str, line: int) -> str:
        """Answer a call; see `world.wit` for what the reply begins with."""
        return self._told(name, self._reply(self._doors.call, name, arguments, line), line)

    def wait(self, sent: str, nanoseconds: int, line: int) -> str:
        """Begin calls and wait for answers; see `world.wit`."""
        for entry in _lines(sent):
            if self.stopped():
                break
            if entry[:1] == "-":
                self._give_up(entry[1:])
            elif entry:
                self._begin(entry)
        ended = self._doors.wait(0.0 if self._answers else None if nanoseconds < 0 else nanoseconds / _SECOND)
        if isinstance(ended, Stop):
            self._end(ended.fault, next((call.line for call in self._under_way.values()), line))
            return ""
        for ticket, reply in ended:
            call = self._under_way.pop(ticket, None)
            if call is not None:
                self._answers[call.number] = self._told(call.name, reply, call.line)
        return self._some()

    def _begin(self, entry: str) -> None:
        mark, name, arguments = (*entry.split(" ", 2), "", "")[:3]
        line = mark[1:]
        call = _Sent(self._sent, name, int(line) if line.isdecimal() and len(line) < _DIGITS else 0)
        self._sent += 1
        begun: int | Reply
        if len(self._under_way) + len(self._answers) < self._limits.concurrency:
            begun = self._reply(self._doors.submit, name, arguments, call.line)
        else:  # the interpreter inside sends no more of them before it has been answered: what it is owed is kept here
            refused = f"{self._limits.concurrency:,} calls are under way (limit concurrency)"
            begun = self._doors.refuse(name, refused, call.line)
        if isinstance(begun, int):
            self._under_way[begun] = call
        else:
            self._answers[call.number] = self._told(name, begun, call.line)

    def _give_up(self, number: str) -> None:
        if len(number) < _DIGITS and number.isdecimal():
            self._answers.pop(int(number), None)
        for ticket, call in self._under_way.items():
            if str(call.number) == number:
                del self._under_way[ticket]
                self._doors.cancel(ticket)
                return

    def _some(self) -> str:
        """Answers, as many as cross well together; the others wait for the next time."""
        some: list[str] = []
        size = 0
        for number, answer in self._answers.items():
            if some and size + len(answer) > TOGETHER:
                break
            some.append(f"{number} {answer}")
            size += len(answer)
        for number in list(self._answers)[: len(some)]:
            del self._answers[number]
        return "\n".join(some)

    def _told(self, name: str, reply: Reply, line: int) -> str:
        if isinstance(reply, Answer):
            depth = self._limits.value_depth + 1
            table = tables.written(reply.value, depth)
            if table is not None:
                return "=" + table
            try:
                return "+" + encode(reply.value, depth)
            except Uncrossable as error:
                return _refused("ToolError", f"{name} gave what cannot cross into the sandbox: {error}")
        if isinstance(reply, Refusal):
            return _refused(reply.type, reply.message)
        self._end(reply.fault, line)
        return ""  # never read: the guest ends here

    def _reply(
        self,
        door: Callable[[str, tuple[object, ...], dict[str, object], int], _R],
        name: str,
        arguments: str,
        line: int,
    ) -> _R | Reply:
        if line >= LONGEST:  # no program has so many
            line = 0
        try:
            args, kwargs = _arguments(bounded(arguments, self._limits, levels=2))
            return door(name, args, kwargs, line)
        except (Uncrossable, ValueError, RecursionError) as error:
            return self._doors.refuse(name, _ARGUMENT.sub(_named, str(error)), line)

    def write(self, text: str, line: int) -> None:
        """Take printed text."""
        fault = self._doors.write(text)
        if fault is not None:
            self._end(fault, line)

    def now(self) -> int:
        """The wall clock."""
        return self._doors.now()

    def monotonic(self) -> int:
        """The monotonic clock."""
        return self._doors.monotonic()

    def stopped(self) -> bool:
        """Whether the guest must end."""
        self.stop = self.stop or self._doors.interrupted()
        return self.stop is not None

    def _end(self, fault: Fault, line: int) -> None:
        self.stop, self.line = fault, line


@dataclass(frozen=True, slots=True)
class _Sent:
    """A call that is under way: its number, its tool and the program's line that made it."""

    number: int
    name: str
    line: int


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, one by one: a guest may send any number of them."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        yield text[begin:end]
        begin = end + 1


_ARGUMENT = re.compile(r"\Avalue(?:\[0\]\[(\d+)\]|\[1\]\['(\w+)'\])?")
"""The place of an argument in what is sent: positional ones and named ones, side by side."""


def _named(found: re.Match[str]) -> str:
    number, name = found.groups()
    return f"argument {int(number) + 1}" if number else f"argument {name}" if name else "the arguments"


def _refused(kind: str, message: str) -> str:
    return "-" + json.dumps([kind, message])


def bounded(text: str, limits: Limits, levels: int = 0) -> object:
    """Decode what a guest sent, after a look at its size and with its depth and content checked."""
    size, most = len(text), limits.value_bytes // NODE
    # A short text has not so many parts, whatever it is.
    if size > ENCODED * limits.value_bytes or (_WEIGHT * size > most and _parts(text) > most):
        msg = f"larger than the limit value_bytes={limits.value_bytes:,}"
        raise Uncrossable(msg)
    depth = limits.value_depth + levels
    if size <= min(SMALL, most) and not is_marked(text) and _depth(text) <= depth:
        return decode(text)  # JSON's own types, within all limits: a copy would be the same
    return from_guest(decode(text), depth=depth, size=limits.value_bytes)


def _depth(text: str) -> int:
    """Levels of nesting that a text has at the most."""
    return text.count("[") + text.count("{")


_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)


def _parts(text: str) -> int:
    """How many values the text of a value holds at the most; counted before any of them is made."""
    found = _separators(text)
    return found if found < MANY else _separators(_STRING.sub("", text))


def _separators(text: str) -> int:
    """A weight for the values in a text: what a parser makes of a list or a dict is several times a number."""
    return text.count(",") + 2 * text.count(":") + _WEIGHT * _depth(text)


_WEIGHT = 4
"""The weight of a list or a dict, which is the most that a character can have."""


def _arguments(decoded: object) -> tuple[tuple[object, ...], dict[str, object]]:
    if type(decoded) is list and len(decoded) == 2:  # noqa: PLR2004 - both
        args, kwargs = decoded
        if type(args) is list and type(kwargs) is dict and all(type(name) is str for name in kwargs):
            return tuple(args), kwargs
    msg = "a call is a list of arguments and a dict of keyword arguments"
    raise ValueError(msg)
