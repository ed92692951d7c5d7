"""Time as the host tells it. The interpreter's own clocks would ask an operating system that is not there.

Installed before the library is imported, so that every module that takes a function of `time` takes ours.
"""

from __future__ import annotations

import _lsprof
import datetime  # noqa: ICN001  # the name that help() shows
import errno
import os
import time
from collections.abc import Callable
from operator import index
from types import SimpleNamespace
from typing import Any

from . import world
from .patching import amend, replace

_SECOND = 1_000_000_000


def _seconds(nanoseconds: int) -> float:
    return nanoseconds / _SECOND


def _wall() -> float:
    return _seconds(world.now())


def _steady() -> float:
    return _seconds(world.monotonic())


def _sleep(seconds: float, /) -> None:
    """Let time pass. Calls that are under way are answered meanwhile, for the loop to find when it goes on."""
    if not isinstance(seconds, float):
        seconds = index(seconds)
    if seconds != seconds:  # noqa: PLR0124  # it is no number
        msg = "Invalid value NaN (not a number)"
        raise ValueError(msg)
    if seconds < 0:
        msg = "sleep length must be non-negative"
        raise ValueError(msg)
    end = world.monotonic() + round(seconds * _SECOND)
    while (left := end - world.monotonic()) > 0:
        pass_time(_seconds(left))


def _nobody(seconds: float) -> object:
    return world.wait("", seconds)


pass_time: Callable[[float], object] = _nobody
"""How time passes. It is for whoever has calls under way to take their answers."""


_CLOCKS: dict[int, Any] = {}
"""What the numbers of `clock_gettime` stand for."""

for _name, _clock in (
    ("CLOCK_REALTIME", world.now),
    ("CLOCK_MONOTONIC", world.monotonic),
    ("CLOCK_PROCESS_CPUTIME_ID", world.monotonic),
    ("CLOCK_THREAD_CPUTIME_ID", world.monotonic),
):
    if hasattr(time, _name):
        _CLOCKS[getattr(time, _name)] = _clock


def _clock_gettime_ns(clock: int, /) -> int:
    if clock not in _CLOCKS:
        raise OSError(22, "there is no such clock in the sandbox")
    return _CLOCKS[clock]()  # type: ignore[no-any-return]


def _clock_gettime(clock: int, /) -> float:
    return _seconds(_clock_gettime_ns(clock))


def _clock_getres(clock: int, /) -> float:
    _clock_gettime_ns(clock)
    return 1e-9


def _get_clock_info(name: str, /) -> SimpleNamespace:
    if name not in {"time", "monotonic", "perf_counter", "process_time", "thread_time"}:
        msg = "unknown clock"
        raise ValueError(msg)
    wall = name == "time"
    return SimpleNamespace(implementation="the host's clock", monotonic=not wall, adjustable=wall, resolution=1e-9)


_gmtime, _ctime, _asctime, _strftime = time.gmtime, time.ctime, time.asctime, time.strftime


def _broken_down(seconds: float | None = None, /) -> time.struct_time:
    return _gmtime(_wall() if seconds is None else seconds)


def _as_text(seconds: float | None = None, /) -> str:
    return _ctime(_wall() if seconds is None else seconds)


def _broken_down_as_text(moment: Any = None, /) -> str:
    return _asctime(_broken_down() if moment is None else moment)


def _formatted(form: str, moment: Any = None, /) -> str:
    return _strftime(form, _broken_down() if moment is None else moment)


def _tzset() -> None:
    """Take the local time from the environment: there is but one."""
    zone = os.environ.get("TZ", "")
    if zone.upper() not in _LOCAL:
        msg = f"local time is UTC in the sandbox; use datetime and zoneinfo.ZoneInfo({zone!r})"
        raise OSError(errno.ENOSYS, msg)


_LOCAL = frozenset({"", "UTC", "UTC0", "GMT", "GMT0", "ETC/UTC", "ZULU"})


_FUNCTIONS = {
    "time": _wall,
    "time_ns": world.now,
    "monotonic": _steady,
    "monotonic_ns": world.monotonic,
    "perf_counter": _steady,
    "perf_counter_ns": world.monotonic,
    "process_time": _steady,
    "process_time_ns": world.monotonic,
    "thread_time": _steady,
    "thread_time_ns": world.monotonic,
    "clock_gettime": _clock_gettime,
    "clock_gettime_ns": _clock_gettime_ns,
    "clock_getres": _clock_getres,
    "get_clock_info": _get_clock_info,
    "gmtime": _broken_down,
    "localtime": _broken_down,
    "ctime": _as_text,
    "asctime": _broken_down_as_text,
    "strftime": _formatted,
    "sleep": _sleep,
}


class _Profiler(_lsprof.Profiler):
    """The profiler written in C, with our clock where nobody gives it another."""

    def __init__(self, timer: Any = None, *rest: Any, **options: Any) -> None:
        super().__init__(timer or _steady, *rest, **options)


def _now(cls: type[datetime.datetime], tz: datetime.tzinfo | None = None) -> datetime.datetime:
    """The current date and time; without `tz` in UTC, which is local time here."""
    seconds, rest = divmod(world.now(), _SECOND)
    return cls.fromtimestamp(seconds, tz).replace(microsecond=rest // 1000)


def _utcnow(cls: type[datetime.datetime]) -> datetime.datetime:
    """The current date and time in UTC, without a time zone."""
    return _now(cls)


def install() -> None:
    """Put our clock in the place of the interpreter's.

    `datetime` is a type written in C and asks libc itself; `today` goes through `time.time`, `now` and `utcnow`
    do not. They are replaced in the type's own dictionary, so that every datetime stays an instance of the one
    type there is. A subclass would be another type for `type(x) is datetime` and for pickle.
    """
    for name, function in _FUNCTIONS.items():
        if hasattr(time, name):
            replace(getattr(time, name), function)
    time.tzset = _tzset
    # libc would look for the zone that the environment names among the files.
    replace(os.putenv, lambda _name, _value: None)
    replace(os.unsetenv, lambda _name: None)
    _lsprof.Profiler = _Profiler  # type: ignore[misc]
    _now.__name__, _utcnow.__name__ = "now", "utcnow"
    amend(datetime.datetime, now=classmethod(_now), utcnow=classmethod(_utcnow))
