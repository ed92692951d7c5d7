"""Rounds, their statistics, and the facts about the machine that numbers mean nothing without."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("codeact", "wasmtime", "RestrictedPython", "pydantic")


@dataclass(frozen=True, slots=True)
class Spread:
    """Samples, summed up. The median is the number to quote; the others say how far to trust it.

    Attributes:
        n: how many there were.
        least: the smallest.
        p10: a tenth were below.
        median: half were below.
        p90: nine tenths were below.
    """

    n: int
    least: float
    p10: float
    median: float
    p90: float


def spread(samples: Iterable[float]) -> Spread:
    """Sum samples up.

    Raises:
        ValueError: there are none.
    """
    ordered = sorted(samples)
    if not ordered:
        msg = "no samples"
        raise ValueError(msg)
    tenth = (len(ordered) - 1) / 10
    return Spread(
        n=len(ordered),
        least=ordered[0],
        p10=ordered[round(tenth)],
        median=statistics.median(ordered),
        p90=ordered[round(9 * tenth)],
    )


def timed(function: Callable[[], object], *, rounds: int, warmup: int) -> list[float]:
    """The seconds of each round, after rounds that are not counted.

    The garbage collector stays on, as it is for users.
    """
    for _ in range(warmup):
        function()
    samples = []
    for _ in range(rounds):
        began = time.perf_counter()
        function()
        samples.append(time.perf_counter() - began)
    return samples


def machine() -> dict[str, object]:
    """What ran the benchmark, and how busy it was with other things."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "platform": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        **{name.lower(): _version(name) for name in PACKAGES},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed, run from a checkout"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
