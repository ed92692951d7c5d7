"""Walls around what a program may use up."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from codeact.engines import Kind
from codeact.memory import resident
from codeact.result import Result
from codeact.walls.attacks import ENDLESS, FILLING, FLOOD, HUNGRY, MANY_FILES
from codeact.walls.model import Broken
from codeact.walls.site import Site

LATE = 2.0
"""Seconds after the limit by which a run must be over on a busy machine."""

LIMITED = ("limit workspace", "limit files", "limit memory", "limit timeout", "limit fuel")
"""What a program that fills its workspace may meet, by name."""

EVERY = 0.01
"""Seconds between two looks at the size of the process."""

SLACK = 256 * 1024 * 1024
"""Bytes that the host itself may grow by while a bomb goes off."""


def endless(site: Site) -> str:
    """The host's own clock is the judge."""
    longest, met = 0.0, set()
    for program in ENDLESS:
        begun = time.monotonic()
        result = site.sandbox().run(program)
        longest = max(longest, time.monotonic() - begun)
        if longest > site.limits.timeout + LATE:
            msg = f"a program ran for {longest:.2f} s, and the limit is {site.limits.timeout:g} s"
            raise Broken(msg)
        met.add(_stopped(result, {"timeout", "fuel"}))
    return f"stopped by {' and '.join(sorted(met))} after {longest:.2f} s (limit timeout={site.limits.timeout:g} s)"


def memory(site: Site) -> str:
    """The size of the host's process meanwhile is the judge."""
    largest = 0
    for program in HUNGRY:
        with _growth() as grown:
            _stopped(site.sandbox().run(program), {"memory", "timeout", "fuel"})
        largest = max(largest, *grown)
    if largest > site.limits.memory + SLACK:
        msg = f"the host grew by {largest:,} bytes, and the limit is {site.limits.memory:,}"
        raise Broken(msg)
    return f"stopped; the host grew by {largest:,} bytes meanwhile (limit memory={site.limits.memory:,} bytes)"


def flood(site: Site) -> str:
    """What the host has kept is the judge."""
    result = site.sandbox().run(FLOOD)
    if len(result.stdout) > site.limits.output:
        msg = f"{len(result.stdout):,} characters came out, and the limit is {site.limits.output:,}"
        raise Broken(msg)
    # Where much may be printed in little time, another limit is met first.
    _stopped(result, {"output", "timeout", "fuel", "memory"})
    if result.error is not None and result.error.kind != "output":
        return f"stopped by {result.error.kind} after {len(result.stdout):,} characters (limit output={site.limits.output:,})"
    if not result.truncated:
        msg = "output was cut, and nobody was told"
        raise Broken(msg)
    return f"cut after {len(result.stdout):,} characters (limit output={site.limits.output:,}), and announced"


def quota(site: Site) -> str:
    """The files that came out are the judge, so all of them may."""
    all_leave = site.policy.results.model_copy(update={"file_types": None})
    sandbox = site.sandbox(policy=site.policy.model_copy(update={"results": all_leave}))
    met: list[str] = []
    for program in (FILLING, MANY_FILES):
        result = sandbox.run(program)
        if result.ok:
            msg = "a program that fills the workspace without end has ended well"
            raise Broken(msg)
        held = sum(file.size for file in result.files)
        if held > site.limits.workspace or len(result.files) > site.limits.files:
            msg = f"{len(result.files):,} files of {held:,} bytes came out; the limits are below"
            raise Broken(msg)
        told = result.error.message if result.error else ""
        if not any(limit in told for limit in LIMITED):
            msg = f"the workspace was full, and the error does not name the limit: {told[:200]}"
            raise Broken(msg)
        met.append(told[:100])
    if not any("limit workspace" in told or "limit files" in told for told in met):
        return f"another limit was met before the workspace was full: {met[0]}"
    return f"held at {site.limits.workspace:,} bytes and {site.limits.files:,} files, and the limit was named"


def _stopped(result: Result, kinds: Collection[Kind]) -> Kind:
    if result.error is None or result.error.kind not in kinds:
        seen = "it ended well" if result.error is None else f"{result.error.kind}: {result.error.message[:200]}"
        msg = f"a program that must be stopped was not stopped by its limit: {seen}"
        raise Broken(msg)
    if "limit" not in result.error.message:
        msg = f"the limit is not named: {result.error.message[:200]}"
        raise Broken(msg)
    return result.error.kind


@contextmanager
def _growth() -> Iterator[list[int]]:
    """By how much the process has grown, looked at every few milliseconds."""
    before, over = resident(), threading.Event()
    if before is None:
        msg = "the kernel does not tell how large the process is, so nobody has seen it stay small"
        raise Broken(msg)
    seen = [0]

    def look() -> None:
        while not over.wait(EVERY):
            seen.append((resident() or before) - before)

    looking = threading.Thread(target=look, name="codeact-walls", daemon=True)
    looking.start()
    try:
        yield seen
    finally:
        over.set()
        looking.join()
