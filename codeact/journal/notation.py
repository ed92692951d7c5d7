"""How a journal writes what it keeps: JSON, and numbers for what there may be very much of."""

from __future__ import annotations

import json
import re
import sys
import zlib
from array import array
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from codeact.engines import Face, Fault
from codeact.files import File, FileState
from codeact.journal.records import CallRecord, Versions
from codeact.journal.shapes import made
from codeact.limits import DEEPEST, Limits
from codeact.proposals import Proposal
from codeact.result import Call, Error, Result, State, Truncation, Usage
from codeact.tape import LONGEST, Answered, Called, Heard, Tape, arguments_of
from codeact.values import encode
from wasm_runtime.guest.codec import decode

LARGE = 4096
"""Bytes from which something is compressed."""

MOST = 1024 * 1024 * 1024
"""Bytes that something compressed may become."""

PARTS = 16 * LONGEST
"""Values that a document may hold; no tape has so many. Each is many times what it is in a text that was compressed."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Setting:
    """What all runs of a sandbox have in common.

    Attributes:
        engine: its name.
        versions: what they run on.
        ready: whether their worlds are made before they are asked for.
        limits: what each may use.
        faces: the tools and actions that they see.
        inputs: digests of the files that they cannot change, by path.
    """

    engine: str
    versions: Versions
    ready: bool
    limits: Limits
    faces: tuple[Face, ...]
    inputs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Beginning:
    """What is known of a run when it begins, beside what a list shows.

    Attributes:
        source: the program's text.
        files: digests of what is put into its workspace, by path.
        past: ids of the runs that made its world what it is.
        whole: whether these are all; otherwise the record of the first one says what was before it.
        started: when, nanoseconds by `time.monotonic_ns`.
    """

    source: str
    files: Mapping[str, str]
    past: tuple[str, ...]
    whole: bool
    started: int


def compressed(data: bytes) -> bytes:
    """Bytes as they are kept: the first one says how."""
    return b"z" + zlib.compress(data, 1) if len(data) >= LARGE else b"=" + data


def expanded(data: object, most: int = MOST) -> bytes:
    """What was kept.

    Args:
        data: as it is kept.
        most: bytes that it may become.

    Raises:
        ValueError: it is nothing that was.
    """
    if isinstance(data, bytes) and data[:1] == b"=":
        return data[1:]
    if not isinstance(data, bytes) or data[:1] != b"z":
        msg = "no bytes of a journal's"
        raise ValueError(msg)
    reader = zlib.decompressobj()
    try:
        found = reader.decompress(data[1:], most)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not reader.eof:
        msg = "cut, or larger than it may be"
        raise ValueError(msg)
    return found


def document(found: object) -> bytes:
    """What JSON can hold, as it is kept."""
    return compressed(_encode(found).encode())


_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def opened(data: object) -> Any:
    """What `document` kept.

    Raises:
        ValueError: it is nothing that was.
    """
    text = expanded(data)
    if _parts(text) > PARTS and _parts(_STRING.sub(b"", text)) > PARTS:
        msg = "of more parts than it may have"
        raise ValueError(msg)
    try:
        return json.loads(text)
    except RecursionError:
        msg = "nested too deeply"
        raise ValueError(msg) from None


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)


def _parts(text: bytes) -> int:
    """How many values a text holds at the most."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def written(record: Setting | Beginning) -> bytes:
    """A record as it is kept."""
    return document(_row(record) if isinstance(record, Beginning) else asdict(record))


def read(kind: type[T], data: object) -> T:
    """The record that `written` wrote.

    Raises:
        ValueError: it is none.
    """
    return made(kind, opened(data))


_Kind = Literal["Answer", "ToolError", "TypeError", "AttributeError"]


@dataclass(frozen=True, slots=True)
class _Tape:
    """A tape, as it is kept, without its clocks."""

    seed: str
    calls: list[tuple[str, str, tuple[_Kind, str] | int | None, str | None, int, int]]
    heard: list[tuple[int, list[tuple[int, _Kind, str]]]]
    end: Fault | None
    verdicts: list[Fault | str | None]


def tape_written(tape: Tape) -> tuple[bytes, bytes, bytes]:
    """A tape as it is kept: all of it but the clocks, and the two clocks."""
    heard = [(heard.wait, [(ticket, *answered) for ticket, answered in heard.answers]) for heard in tape.heard]
    found = {
        "seed": tape.seed.hex(),
        "calls": tape.calls,  # each is a tuple of its parts
        "heard": heard,
        "end": tape.end and asdict(tape.end),
        "verdicts": [asdict(verdict) if isinstance(verdict, Fault) else verdict for verdict in tape.verdicts],
    }
    return document(found), _track_written(tape.now), _track_written(tape.monotonic)


def tape_read(data: object, now: object, monotonic: object) -> Tape:
    """The tape that `tape_written` wrote.

    Raises:
        ValueError: it is none.
    """
    found = read(_Tape, data)
    tape = Tape(bytes.fromhex(found.seed), end=found.end, now=_track_read(now), monotonic=_track_read(monotonic))
    for name, digest, answer, arguments, line, began in found.calls:
        told = _answered(tape, *answer) if isinstance(answer, tuple) else answer
        tape.calls.append(Called(name, digest, told, arguments, line, began))
    for wait, answers in found.heard:
        tape.heard.append(Heard(wait, tuple((ticket, _answered(tape, kind, text)) for ticket, kind, text in answers)))
    tape.verdicts = found.verdicts
    return tape


def _answered(tape: Tape, kind: _Kind, text: str) -> Answered:
    if kind == "Answer":
        decode(text)  # a program that runs again must not be the first to find that it is none
    tape.size += len(text)
    return Answered(kind, text)


def _track_written(track: array[int]) -> bytes:
    if sys.byteorder == "big":
        track = array("q", track)
        track.byteswap()
    return compressed(track.tobytes())


def _track_read(data: object) -> array[int]:
    track = array("q")
    track.frombytes(expanded(data, LONGEST * track.itemsize))
    if sys.byteorder == "big":
        track.byteswap()
    return track


@dataclass(frozen=True, slots=True)
class _Ending:
    """A result, as it is kept: the value encoded, and of files what they are without what they hold."""

    ok: bool
    value: str | None
    error: Error | None
    stdout: str
    note: str | None
    calls: tuple[tuple[int, str, str, State, float, int | None], ...]
    usage: Usage
    files: tuple[tuple[str, FileState, str | None], ...]
    truncated: tuple[Truncation, ...]
    exit_code: int | None
    proposals: tuple[tuple[int, str, str, str, int | None], ...]
    shown: int


def result_written(result: Result) -> bytes:
    """A result as it is kept, without the contents of its files."""
    found = {
        "ok": result.ok,
        "value": None if result.value is None else encode(result.value, DEEPEST),
        "error": result.error and _row(result.error),
        "stdout": result.stdout,
        "note": result.note,
        "calls": [(call.seq, call.name, call.digest, call.state, call.duration, call.line) for call in result.calls],
        "usage": _row(result.usage),
        "files": [(file.path, file.state, file.digest) for file in result.files],
        "truncated": [_row(cut) for cut in result.truncated],
        "exit_code": result.exit_code,
        "proposals": [
            (each.seq, each.name, encode(dict(each.arguments), DEEPEST), each.digest, each.line)
            for each in result.proposals
        ],
        "shown": result.shown,
    }
    return document(found)


def _row(record: Any) -> dict[str, object]:
    """A record of scalars by the names of its parts; `asdict` takes several times as long."""
    return {name: getattr(record, name) for name in record.__slots__}


def result_read(data: object, run: str, content: Callable[[str], bytes]) -> Result:
    """The result that `result_written` wrote.

    Args:
        data: what was kept.
        run: its run's id.
        content: gives the content with a digest.

    Raises:
        ValueError: it is none.
    """
    found = read(_Ending, data)
    files = tuple(
        File(path, state, None if digest is None else content(digest), digest) for path, state, digest in found.files
    )
    return Result(
        ok=found.ok,
        value=None if found.value is None else decode(found.value),
        error=found.error,
        stdout=found.stdout,
        note=found.note,
        calls=tuple(Call(*each) for each in found.calls),
        usage=found.usage,
        files=files,
        truncated=found.truncated,
        exit_code=found.exit_code,
        run=run,
        proposals=tuple(_proposal(*each) for each in found.proposals),
        shown=found.shown,
    )


def _proposal(seq: int, name: str, arguments: str, digest: str, line: int | None) -> Proposal:
    decoded = decode(arguments)
    if not isinstance(decoded, dict):
        msg = "the arguments of a proposal are a dict"
        raise ValueError(msg)  # noqa: TRY004 - it is the record that is wrong
    return Proposal(seq, name, MappingProxyType(decoded), digest, line)


def calls_of(tape: Tape, receipts: tuple[Call, ...], started: int) -> tuple[CallRecord, ...]:
    """The calls of a run, to be read.

    Args:
        tape: what was called and answered.
        receipts: how they ended.
        started: when the run began, nanoseconds by `time.monotonic_ns`.

    Raises:
        ValueError: the arguments of one are none.
    """
    later = {ticket: answered for heard in tape.heard for ticket, answered in heard.answers}
    calls = []
    for receipt in receipts:
        # The door numbers what the tape has in the same order.
        called = tape.calls[receipt.seq - 1] if receipt.seq <= len(tape.calls) else Called(receipt.name, "", None)
        args, kwargs = (None, None) if called.arguments is None else arguments_of(called.arguments)
        answered = called.answer if isinstance(called.answer, Answered) else later.get(receipt.seq)
        calls.append(
            CallRecord(
                receipt.seq,
                receipt.name,
                receipt.digest,
                args,
                kwargs,
                None if answered is None else answered.reply,
                receipt.state,
                receipt.line,
                max(0, called.began - started) / 1e9,
                receipt.duration,
            )
        )
    return tuple(calls)
