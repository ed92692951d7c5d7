"""`datetime` and `time`, by the clock of the world."""

from __future__ import annotations

import datetime as dt
import time
from typing import Any

from codeact.engines.restricted.hosted import seconds_in
from codeact.engines.restricted.library.parts import Parts, StandIn, take

_NANO = 1_000_000_000
_NAP = 0.01


def make_datetime(parts: Parts) -> dict[str, Any]:
    """The names of `datetime`. Naive times are UTC: the world has no local time."""
    world = parts.world

    def utc() -> dt.datetime:
        return dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(microseconds=world.now() // 1000)

    class datetime(dt.datetime, metaclass=StandIn):  # noqa: N801 - its name inside
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

    class date(dt.date, metaclass=StandIn):  # noqa: N801
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
        until = time.monotonic() + min(secs, 1e9)
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _NAP))
            world.meter.look()

    def gmtime(secs: Any = None) -> Any:
        return time.gmtime(seconds() if secs is None else secs)

    def strftime(format: str, t: Any = None) -> str:  # noqa: A002 - its name inside
        parts.text.widths(format)
        t = gmtime() if t is None else t
        if "%s" in format:
            format = seconds_in(format, dt.datetime(*t[:6]))  # noqa: A001, DTZ001 - UTC
        return time.strftime(format, t)

    def mktime(t: Any) -> float:
        import calendar  # noqa: PLC0415 - seldom needed

        return float(calendar.timegm(t))

    return {
        "time": seconds,
        "time_ns": now,
        "monotonic": since,
        "monotonic_ns": since_ns,
        "perf_counter": since,
        "perf_counter_ns": since_ns,
        "process_time": since,
        "sleep": sleep,
        "gmtime": gmtime,
        "localtime": gmtime,
        "mktime": mktime,
        "strftime": strftime,
        "strptime": time.strptime,
        "struct_time": time.struct_time,
        "timezone": 0,
        "tzname": ("UTC", "UTC"),
    }
