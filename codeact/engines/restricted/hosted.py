"""Methods that ask the host for its time zone or its chance, or that empty its caches: what stands in for them."""

from __future__ import annotations

import calendar
import datetime as dt
from array import array
from collections.abc import Callable
from functools import partial
from random import Random
from types import BuiltinMethodType, FunctionType, MethodDescriptorType, MethodType
from typing import Any

from codeact.engines.restricted.world import World

_FORMAT = 10_000


def has_seconds(spec: str) -> bool:
    """Whether a format for times has `%s` in it.

    Raises:
        ValueError: it is too long for a format.
    """
    if len(spec) > _FORMAT:
        msg = f"a format of times has at most {_FORMAT:,} characters"
        raise ValueError(msg)
    return "%s" in spec


def seconds_in(spec: str, moment: dt.date) -> str:
    """A format for times with the seconds put in: `%s` would be read in the host's time zone."""
    if not has_seconds(spec):
        return spec
    parts = spec.split("%%")
    whole = str(calendar.timegm(moment.utctimetuple() if isinstance(moment, dt.datetime) else moment.timetuple()))
    return "%%".join(part.replace("%s", whole) for part in parts)


def _timestamp(self: dt.datetime) -> float:
    return (self if self.tzinfo is not None else self.replace(tzinfo=dt.UTC)).timestamp()


def _astimezone(self: dt.datetime, tz: Any = None) -> dt.datetime:
    return (self if self.tzinfo is not None else self.replace(tzinfo=dt.UTC)).astimezone(tz or dt.UTC)


def _strftime(self: Any, format: str) -> str:  # noqa: A002 - its name inside
    if isinstance(format, str) and isinstance(self, dt.date):
        format = seconds_in(format, self)  # noqa: A001
    return self.strftime(format) if type(self) in _TIMES else _real_strftime(self)(self, format)


def _real_strftime(value: Any) -> Callable[..., str]:
    return next(kind.strftime for kind in _TIMES if isinstance(value, kind))


_TIMES = (dt.datetime, dt.date, dt.time)
_METHODS: dict[str, Callable[..., Any]] = {
    "timestamp": _timestamp,
    "astimezone": _astimezone,
    "strftime": _strftime,
}


def make_hosted(world: World) -> Callable[[str, Any], Any]:
    """What stands in for the value of an attribute."""

    def samples(self: Any, n: int, *, seed: Any = None) -> list[float]:
        gauss = Random(world.chance.getrandbits(128) if seed is None else seed).gauss  # noqa: S311 - a program's dice
        return [gauss(self.mean, self.stdev) for _ in world.meter.charged(range(n))]

    def stand_in(name: str, value: Any) -> Any:
        kind = type(value)
        method = _METHODS.get(name)
        if method is not None:
            if isinstance(value, BuiltinMethodType) and isinstance(value.__self__, _TIMES):
                return partial(method, value.__self__)
            if kind is MethodDescriptorType and value.__objclass__ in _TIMES:
                return method
        elif name == "samples":
            function = value.__func__ if kind is MethodType else value
            if type(function) is FunctionType and function.__module__ == "statistics":
                return partial(samples, value.__self__) if kind is MethodType else samples
        elif name == "buffer_info" and (
            (isinstance(value, BuiltinMethodType) and isinstance(value.__self__, array))
            or (kind is MethodDescriptorType and value.__objclass__ is array)
        ):
            msg = f"{name} cannot be used: addresses are not shown"
            raise AttributeError(msg)
        elif name == "clear_cache" and isinstance(value, BuiltinMethodType):
            msg = f"{name} cannot be used: the cache is everyone's"
            raise AttributeError(msg)
        return value

    return stand_in
