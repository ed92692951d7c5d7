"""What each event says: the names of its data, which are part of the log's format.

Programs, arguments and values are told as digests and sizes; the audit's `content` adds them themselves.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Concatenate, ParamSpec

from codeact.audit import EventName, Trail, Unrecorded
from codeact.engines import Answer, Fault, Refusal, Reply
from codeact.files import digest_of as digest_of_bytes
from codeact.limits import DEEPEST
from codeact.pending import Arguments
from codeact.result import DIGITS, Call, Result
from codeact.values import digest_of, jsonable

log = logging.getLogger("codeact")

Said = ParamSpec("Said")


def recorded(
    emit: Callable[Concatenate[Trail, Said], None], trail: Trail, *args: Said.args, **kwargs: Said.kwargs
) -> Fault | None:
    """Put an event on record, where somebody listens.

    Returns:
        Why the run that it is about cannot go on, where a sink did not take it.
    """
    if trail.audit is None:
        return None
    try:
        emit(trail, *args, **kwargs)
    except Unrecorded as error:
        return unrecorded(error)
    return None


def unrecorded(error: Unrecorded) -> Fault:
    """Why a run cannot go on of which something is not on record."""
    # Its text is for the operator: it may hold paths of the host.
    log.error("%s", error, exc_info=error)
    text = "an event could not be put on record, so the run was ended; the host's log says why"
    return Fault("host", "Unrecorded", text)


def spawn(trail: Trail, engine: str, source: str, files: int) -> None:
    """A run begins.

    Args:
        trail: the run's.
        engine: its name.
        source: the program.
        files: how many were put into its workspace.
    """
    encoded = source.encode("utf-8", "surrogatepass")
    data: dict[str, object] = {
        "engine": engine,
        "program": digest_of_bytes(encoded)[:DIGITS],
        "program_len": len(encoded),
        "files": files,
    }
    if trail.content:
        data["text"] = source
    trail.emit("sandbox_spawn", data)


def exit_of(trail: Trail, result: Result) -> None:
    """A run has ended. `stdout_len` counts what went to stderr too: a program has one output, in order."""
    error = result.error
    data: dict[str, object] = {
        "ok": result.ok,
        "exit_code": result.exit_code,
        "duration_ms": _milliseconds(result.usage.wall),
        "stdout_len": len(result.stdout),
        "stderr_len": 0,
        "timed_out": error is not None and error.kind == "timeout",
        "fuel": result.usage.fuel,
        "memory": result.usage.memory,
        "calls": result.usage.calls,
        "error": None if error is None else error.kind,
        "error_type": None if error is None else error.type,
    }
    if trail.content:
        data["value"] = jsonable(result.value)
        data["message"] = None if error is None else error.message
    trail.emit("sandbox_exit", data)


def call(trail: Trail, receipt: Call, reply: Reply | None, said: Arguments | None) -> None:
    """A tool call has ended, or was refused at the door.

    Args:
        trail: the run's.
        receipt: the call's.
        reply: what the program was told; None where nobody waited for it.
        said: its arguments; None where they could not be read.
    """
    data: dict[str, object] = {
        "call": receipt.seq,
        "tool": receipt.name,
        "state": receipt.state,
        "arguments_digest": receipt.digest,
        "duration_ms": _milliseconds(receipt.duration),
    }
    name: EventName = "tool_call_denied" if receipt.state == "refused" else "tool_call_executed"
    if isinstance(reply, Answer):
        data["result_digest"] = digest_of((reply.value,), {}, DEEPEST)[:DIGITS]
    elif isinstance(reply, Refusal):
        data["error"] = reply.type
    if trail.content:
        if said is not None:
            data["arguments"] = jsonable([list(said[0]), dict(said[1])])
        if isinstance(reply, Answer):
            data["result"] = jsonable(reply.value)
        elif isinstance(reply, Refusal):
            data["message"] = reply.message
    trail.emit(name, data)


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
