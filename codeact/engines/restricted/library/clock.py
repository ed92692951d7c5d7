"""`datetime`, `time` and what goes by them, by the clock of the world."""

from __future__ import annotations

import calendar
import datetime as dt
import enum
import time
import zoneinfo
from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn

from codeact.engines.restricted.hosted import has_seconds, seconds_in
from codeact.engines.restricted.library.copies import as_module, copied
from codeact.engines.restricted.library.parts import Parts, StandIn, pick, take
from codeact.engines.restricted.sizes import plain

_NANO = 1_000_000_000
_WIDEST = 10_000
"""Columns or lines of a calendar, and years."""


def make_datetime(parts: Parts) -> dict[str, Any]:
    """The names of `datetime`. Naive times are UTC: the world has no local time."""
    world = parts.world

    def utc() -> dt.datetime:
        return dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(microseconds=world.now() // 1000)

    class datetime(dt.datetime, metaclass=StandIn):
        def __new__(cls, *args: Any, **named: Any) -> Any:
            return dt.datetime.__new__(dt.datetime if StandIn.stands(cls) else cls, *args, **named)

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return utc().replace(tzinfo=None) if tz is None else utc().astimezone(tz)

        @classmethod
        def utcnow(cls) -> Any:
            return utc().replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return utc().replace(tzinfo=None)

        @classmethod
        def fromtimestamp(cls, timestamp: Any, tz: Any = None) -> Any:
            found = dt.datetime.fromtimestamp(timestamp, tz or dt.UTC)
            return found if tz is not None else found.replace(tzinfo=None)

    class date(dt.date, metaclass=StandIn):
        def __new__(cls, *args: Any, **named: Any) -> Any:
            return dt.date.__new__(dt.date if StandIn.stands(cls) else cls, *args, **named)

        @classmethod
        def today(cls) -> Any:
            return utc().date()

        @classmethod
        def fromtimestamp(cls, timestamp: Any) -> Any:
            return dt.datetime.fromtimestamp(timestamp, dt.UTC).date()

    for kind in (datetime, date):
        kind.__module__ = "datetime"
        kind.__qualname__ = kind.__name__
    world.stand_ins[dt.datetime] = datetime
    world.stand_ins[dt.date] = date
    return {
        **take("datetime", "MAXYEAR MINYEAR UTC time timedelta timezone tzinfo"),
        "datetime": datetime,
        "date": date,
    }


def make_zoneinfo(parts: Parts) -> dict[str, Any]:
    """The names of `zoneinfo`.

    The interpreter keeps zones by their keys, for everyone: a key of a class of the program's own would go on being
    asked for its hash and its equals after the run.
    """

    class ZoneInfo(zoneinfo.ZoneInfo, metaclass=StandIn):
        def __new__(cls, key: str) -> Any:
            return zoneinfo.ZoneInfo(plain(key))

        @classmethod
        def no_cache(cls, key: str) -> Any:
            return zoneinfo.ZoneInfo.no_cache(plain(key))

        @classmethod
        def from_file(cls, *_: Any, **__: Any) -> NoReturn:
            msg = "time zones are found by name here: ZoneInfo('Europe/Paris')"
            raise TypeError(msg)

    ZoneInfo.__module__, ZoneInfo.__qualname__ = "zoneinfo", "ZoneInfo"
    parts.world.stand_ins[zoneinfo.ZoneInfo] = ZoneInfo
    return {**take("zoneinfo", "ZoneInfoNotFoundError available_timezones"), "ZoneInfo": ZoneInfo}


def make_time(parts: Parts) -> dict[str, Any]:
    """The names of `time`."""
    world = parts.world
    now, monotonic = world.now, world.monotonic
    begun = monotonic()

    def seconds() -> float:
        return now() / _NANO

    def since() -> float:
        return (monotonic() - begun) / _NANO

    def since_ns() -> int:
        return monotonic() - begun

    def sleep(secs: Any) -> None:
        if secs < 0:
            msg = "sleep length must be non-negative"
            raise ValueError(msg)
        until = monotonic() + min(secs, 1e9) * _NANO
        while (left := until - monotonic()) > 0:
            world.passage.wait(left / _NANO)

    def gmtime(secs: Any = None) -> Any:
        return time.gmtime(seconds() if secs is None else secs)

    def strftime(format: str, t: Any = None) -> str:
        parts.text.widths(format)
        t = gmtime() if t is None else t
        if has_seconds(format):
            format = seconds_in(format, dt.datetime(*t[:6]))  # noqa: DTZ001 - UTC
        return time.strftime(format, t)

    return {
        **take("time", "strptime struct_time"),
        "altzone": 0,
        "asctime": lambda t=None: time.asctime(gmtime() if t is None else t),
        "ctime": lambda secs=None: time.asctime(gmtime(secs)),
        "daylight": 0,
        "gmtime": gmtime,
        "localtime": gmtime,
        "mktime": lambda t: float(calendar.timegm(t)),
        **dict.fromkeys(("monotonic", "perf_counter", "process_time", "thread_time"), since),
        **dict.fromkeys(("monotonic_ns", "perf_counter_ns", "process_time_ns", "thread_time_ns"), since_ns),
        "sleep": sleep,
        "strftime": strftime,
        "time": seconds,
        "time_ns": now,
        "timezone": 0,
        "tzname": ("UTC", "UTC"),
    }


def make_calendar(parts: Parts) -> dict[str, Any]:
    """The names of `calendar`; which day a week begins with is the world's own."""
    members: dict[str, Any] = {}

    def global_enum(kind: Any, **_: Any) -> Any:
        # The real one writes the members into the host's module of that name; newer versions use it.
        kind.__repr__ = enum.global_enum_repr
        members.update(kind.__members__)
        return kind

    names = copied(parts, "calendar", {"enum": as_module("enum", {**vars(enum), "global_enum": global_enum})})
    names.update(members)
    for kind in (names["TextCalendar"], names["HTMLCalendar"]):
        for name, method in list(vars(kind).items()):
            if isinstance(method, FunctionType):
                setattr(kind, name, _narrow(method))
    made = pick(
        names,
        "Calendar FRIDAY HTMLCalendar IllegalMonthError IllegalWeekdayError MONDAY SATURDAY SUNDAY THURSDAY "
        "TUESDAY TextCalendar WEDNESDAY calendar firstweekday isleap leapdays month monthcalendar monthrange prcal "
        "prmonth setfirstweekday timegm weekday weekheader",
    )
    return {**made, **{name: tuple(names[name]) for name in ("day_abbr", "day_name", "month_abbr", "month_name")}}


def _narrow(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that is asked for columns and lines of ordinary numbers only."""

    def narrow(*args: Any, **named: Any) -> Any:
        for value in (*args, *named.values()):
            if isinstance(value, int) and int.__index__(value) > _WIDEST:
                msg = f"a calendar has at most {_WIDEST:,} columns or lines"
                raise ValueError(msg)
        return method(*args, **named)

    narrow.__name__, narrow.__qualname__, narrow.__doc__ = method.__name__, method.__qualname__, method.__doc__
    return narrow


def make_sched(parts: Parts) -> dict[str, Any]:
    """The names of `sched`."""
    return pick(copied(parts, "sched"), "Event scheduler")


def make_timeit(parts: Parts) -> dict[str, Any]:
    """The names of `timeit`, for functions: a text to be run would be no part of the program."""
    clock = parts.load("time").perf_counter

    def timeit(stmt: Any = None, setup: Any = None, timer: Any = clock, number: int = 1_000_000, **_: Any) -> float:
        for part in (stmt, setup):
            if part is not None and not callable(part):
                msg = "timeit measures functions here: timeit.timeit(lambda: f(3), number=100)"
                raise TypeError(msg)
        if setup is not None:
            setup()
        begun = timer()
        for _ in parts.world.meter.charged(range(number)):
            stmt()
        return float(timer() - begun)

    def repeat(
        stmt: Any = None, setup: Any = None, timer: Any = clock, repeat: int = 5, number: int = 1_000_000, **_: Any
    ) -> list[float]:
        return [timeit(stmt, setup, timer, number) for _ in parts.world.meter.charged(range(repeat))]

    return {"default_timer": clock, "timeit": timeit, "repeat": repeat}
