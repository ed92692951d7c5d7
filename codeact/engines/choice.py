"""From what a host asks for to an engine: by its name, with a guest of one's own, in workers, or with worlds made ready."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from codeact.engines import Engine, load
from codeact.limits import Limits

if TYPE_CHECKING:
    from codeact.engines.ready import ReadyEngine
    from codeact.engines.remote import RemoteEngine

MOST_READY = 1000
"""Worlds that a sandbox may keep ready: half a gigabyte of them."""

MOST_WORKERS = 256
"""Processes that a sandbox may have: a mistake in a number should not start thousands."""


def remote(local: Engine, workers: object) -> RemoteEngine:
    """The engine, with its worlds in so many processes.

    Raises:
        TypeError: that is no number.
        ValueError: there cannot be so many, or the engine cannot be there.
    """
    if isinstance(workers, bool) or not isinstance(workers, int):
        msg = f"workers={workers!r:.100}: expected a number of processes, such as os.cpu_count(), or None for none"
        raise TypeError(msg)
    if not 0 < workers <= MOST_WORKERS:
        msg = f"workers={workers}: expected 1 to {MOST_WORKERS} processes; leave it out to run in this one"
        raise ValueError(msg)
    if local.name != "wasm":
        msg = (
            f"workers={workers}: only engine='wasm' runs in workers; engine={local.name!r} is for programs that need"
            " no wall, and where it should use more cores, start more processes of your own"
        )
        raise ValueError(msg)
    from codeact.engines.remote import RemoteEngine  # noqa: PLC0415 - only where there are workers
    from codeact.engines.wasm import WasmEngine  # noqa: PLC0415 - as above

    if not isinstance(local, WasmEngine):
        msg = f"workers={workers}: {type(local).__name__} is an engine of your own, which does not say how it would run there"
        raise ValueError(msg)  # noqa: TRY004 - it is the combination that does not work
    return RemoteEngine(local, workers)


def chosen(engine: str | Engine, guest: str | os.PathLike[str] | None) -> Engine:
    """The engine of that name, or the one that was given.

    Raises:
        ValueError: there is none of that name, or it has no guest.
        EngineUnavailable: it cannot be set up here.
    """
    if isinstance(engine, str):
        return load(engine, None if guest is None else Path(guest))
    if guest is not None:
        msg = f"guest={os.fspath(guest)!r}: a guest is what engine='wasm' runs; {type(engine).__name__} has its own"
        raise ValueError(msg)
    return engine


def prepared(local: Engine, ready: object, limits: Limits) -> ReadyEngine:
    """The engine, with so many worlds made ready; see `remote`."""
    if isinstance(ready, bool) or not isinstance(ready, int):
        msg = f"ready={ready!r:.100}: expected a number of worlds, such as 2, or 0 for none"
        raise TypeError(msg)
    if not 0 < ready <= MOST_READY:
        msg = f"ready={ready}: expected 1 to {MOST_READY} worlds, or 0 for none"
        raise ValueError(msg)
    from codeact.engines.wasm import WasmEngine  # noqa: PLC0415 - as above

    if not isinstance(local, WasmEngine):
        msg = f"ready={ready}: only engine='wasm' has worlds that take time to make; engine={local.name!r} does without"
        raise ValueError(msg)  # noqa: TRY004 - it is the combination that does not work
    from codeact.engines.ready import ReadyEngine  # noqa: PLC0415 - only where it is asked for

    return ReadyEngine(local, ready, limits)
