"""The memory that this process and its children have for themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def private() -> int | None:
    """Private bytes of this process and of all below it; None where the kernel does not tell."""
    try:
        return sum(_private(pid) for pid in _family(os.getpid()))
    except OSError:
        return None


def _family(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text(encoding="ascii").split():
            yield from _family(int(child))


def _private(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))
