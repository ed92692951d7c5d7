"""What each event says: the names of its data, which are part of the log's format.

Programs, arguments and values are told as digests and sizes; the audit's `content` adds them themselves.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Concatenate, ParamSpec

from codeact.audit import Trail, Unrecorded
from codeact.engines import Answer, Fault, Refusal, Reply
from codeact.files import digest_of as digest_of_bytes
from codeact.limits import DEEPEST
from codeact.pending import NOTHING, Arguments
from codeact.renderings import digest_of, jsonable
from codeact.result import DIGITS, Call, Result
from wasm_runtime.guest.names import ACTIONS

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


def arguments(trail: Trail, said: Arguments | None) -> Mapping[str, object]:
    """What an event says of a call's arguments beside their digest.

    Args:
        trail: the run's.
        said: the arguments; None where they could not be read.
    """
    return {"arguments": jsonable([list(said[0]), dict(said[1])])} if trail.content and said is not None else NOTHING


def answer(trail: Trail, reply: Reply) -> Mapping[str, object]:
    """What an event says of what a program was told."""
    if trail.audit is None:
        return NOTHING
    data: dict[str, object] = {}
    if isinstance(reply, Answer):
        data["result_digest"] = digest_of((reply.value,), {}, DEEPEST)[:DIGITS]
        if trail.content:
            data["result"] = jsonable(reply.value)
    elif isinstance(reply, Refusal):
        data["error"] = reply.type
        if trail.content:
            data["message"] = reply.message
    return data


def call(trail: Trail, receipt: Call, content: Mapping[str, object]) -> None:
    """A tool call has ended, an action was proposed, or either was refused at the door.

    Args:
        trail: the run's.
        receipt: the call's.
        content: what `arguments` and `answer` say of it.
    """
    data = {
        "call": receipt.seq,
        "tool": receipt.name,
        "state": receipt.state,
        "arguments_digest": receipt.digest,
        "duration_ms": _milliseconds(receipt.duration),
        **content,
    }
    if receipt.state == "refused":
        trail.emit("tool_call_denied", data)
    else:
        trail.emit("action_proposed" if receipt.name.startswith(ACTIONS) else "tool_call_executed", data)


def session_open(trail: Trail, engine: str) -> None:
    """A session begins, on the engine of that name."""
    trail.emit("session_open", {"engine": engine})


def session_close(trail: Trail, reason: str, runs: int, seconds: float) -> None:
    """A session is over.

    Args:
        trail: the session's.
        reason: why.
        runs: programs that have run in it.
        seconds: how long it has lived.
    """
    trail.emit("session_close", {"reason": reason, "runs": runs, "seconds": round(seconds, 3)})


@dataclass
class Egress:
    """A request that leaves, as far as it has come.

    Attributes:
        method: what it would do.
        account: whose secrets it would carry.
        origin: where to; None where that could not be read.
        path: the resource there.
        allowed: whether it may leave.
        status: what was answered; None where nothing was.
        error: the type of what went wrong; None where nothing did.
    """

    method: str
    account: str | None
    origin: str | None = None
    path: str | None = None
    allowed: bool = False
    status: int | None = None
    error: str | None = None


def egress(trail: Trail, request: Egress, seconds: float | None = None) -> None:
    """A request has left, or was refused.

    Args:
        trail: the trail of the run that asked for it.
        request: what became of it.
        seconds: how long that took; None where it was refused at once.
    """
    data: dict[str, object] = {
        "method": request.method[:_METHOD],
        "origin": request.origin,
        "path": request.path and request.path[:_PATH],
        "account": request.account and request.account[:_ACCOUNT],
        "allowed": request.allowed,
    }
    if request.status is not None:
        data["status"] = request.status
    if request.error is not None:
        data["error"] = request.error
    if seconds is not None:
        data["duration_ms"] = _milliseconds(seconds)
    trail.emit("egress", data)


_METHOD, _PATH, _ACCOUNT = 20, 500, 100
"""Characters of what a program has written that are put on record."""


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
