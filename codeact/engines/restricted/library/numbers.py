"""`math`, `decimal` and `fractions`, within the size of a number."""

from __future__ import annotations

import decimal
import fractions
import math
import re
from abc import ABCMeta
from typing import Any

from codeact.engines.restricted.library.parts import Parts, StandIn, take
from codeact.engines.restricted.sizes import EXPONENT, plain

PRECISION = 2_000
"""Digits of the most precise Decimal context: a power of that many takes a quarter of a second, and one of ten
thousand, seven."""

_MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh degrees dist e erf erfc exp exp2 expm1 fabs "
    "floor fma fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt ldexp lgamma log log10 log1p log2 "
    "modf nan nextafter pi pow radians remainder sin sinh sqrt sumprod tan tanh tau trunc ulp"
)
_DECIMAL = (
    "BasicContext Clamped DecimalException DecimalTuple DefaultContext DivisionByZero ExtendedContext FloatOperation Inexact "
    "InvalidOperation Overflow ROUND_05UP ROUND_CEILING ROUND_DOWN ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN "
    "ROUND_HALF_UP ROUND_UP Rounded Subnormal Underflow"
)
_SHARED_CONTEXTS = ("BasicContext", "DefaultContext", "ExtendedContext")


def make_math(parts: Parts) -> dict[str, Any]:
    """The names of `math`."""
    sizes = parts.sizes

    def factorial(n: Any, /) -> int:
        n = plain(n)
        if isinstance(n, int) and n > 0:
            sizes.bits(n * max(1, int.bit_length(n) - 2))
        return math.factorial(n)

    def comb(n: Any, k: Any, /) -> int:
        n, k = plain(n), plain(k)
        if isinstance(n, int) and isinstance(k, int) and 0 < k < n:
            factors = min(k, n - k)
            sizes.bits(int(factors) * max(1, int.bit_length(n) - int.bit_length(factors) + 2))
        return math.comb(n, k)

    def perm(n: Any, k: Any = None, /) -> int:
        if k is None:
            return factorial(n)
        n, k = plain(n), plain(k)
        if isinstance(n, int) and isinstance(k, int) and 0 < k <= n:
            sizes.bits(int(k) * int.bit_length(n))
        return math.perm(n, k)

    def prod(iterable: Any, /, *, start: Any = 1) -> Any:
        result = start
        for item in iterable:
            parts.world.meter.tick()
            result = parts.guards[".mul"](result, item)
        return result

    def lcm(*integers: Any) -> int:
        integers = tuple(map(plain, integers))
        sizes.bits(sum(int.bit_length(number) for number in integers if isinstance(number, int)))
        return math.lcm(*integers)

    return {**take("math", _MATH), "factorial": factorial, "comb": comb, "perm": perm, "prod": prod, "lcm": lcm}


def make_decimal(parts: Parts) -> dict[str, Any]:
    """The names of `decimal`. A run happens in a context of its own, so its decimal context is its own too."""
    parts.world.setters[decimal.Context] = _Setter

    class Context(decimal.Context, metaclass=StandIn):
        def __new__(cls, *args: Any, **named: Any) -> Any:
            _check(*args[:1], **{key: value for key, value in named.items() if key == "prec"})
            return _bounded(decimal.Context(*args, **named))

        def __init__(self, *_: Any, **__: Any) -> None:
            """It would set what `__new__` has judged, on any context it is called with."""

        def __init_subclass__(cls) -> None:
            msg = "Context cannot be subclassed here"
            raise TypeError(msg)

    Context.__module__, Context.__qualname__ = "decimal", "Context"
    parts.world.stand_ins[decimal.Context] = Context

    def setcontext(chosen: decimal.Context) -> None:
        _check(chosen.prec)
        parts.world.decimals = _bounded(chosen.copy())
        decimal.setcontext(parts.world.decimals)

    def localcontext(ctx: Any = None, **named: Any) -> Any:
        _check(**{key: value for key, value in named.items() if key == "prec"})
        named = {key: value for key, value in named.items() if key not in {"Emax", "Emin"}}
        chosen = (ctx or decimal.getcontext()).copy()
        _check(chosen.prec)
        return decimal.localcontext(_bounded(chosen), **named)

    sizes = parts.sizes

    class Decimal(decimal.Decimal, metaclass=StandIn):
        def __new__(cls, *args: Any, **named: Any) -> Any:
            made = decimal.Decimal.__new__(decimal.Decimal if StandIn.stands(cls) else cls, *args, **named)
            sizes.exponent(made)
            return made

    Decimal.__module__, Decimal.__qualname__ = "decimal", "Decimal"
    parts.world.stand_ins[decimal.Decimal] = Decimal
    names = {**take("decimal", _DECIMAL), "Decimal": Decimal}
    names.update({name: _bounded(names[name].copy()) for name in _SHARED_CONTEXTS})
    return {
        **names,
        "Context": Context,
        "getcontext": decimal.getcontext,
        "setcontext": setcontext,
        "localcontext": localcontext,
    }


def make_fractions(parts: Parts) -> dict[str, Any]:
    """The names of `fractions`."""
    sizes = parts.sizes

    class Fraction(fractions.Fraction, metaclass=_AbstractStandIn):
        def __new__(cls, numerator: Any = 0, denominator: Any = None) -> Any:
            if isinstance(numerator, str):
                for exponent in _EXPONENT.findall(numerator):
                    sizes.bits(4 * int(exponent[:20]))
            return fractions.Fraction.__new__(real(cls), numerator, denominator)

        @classmethod
        def from_float(cls, f: Any) -> Any:
            return fractions.Fraction.from_float.__func__(real(cls), f)  # type: ignore[attr-defined]

        @classmethod
        def from_decimal(cls, dec: Any) -> Any:
            sizes.exponent(dec)
            return fractions.Fraction.from_decimal.__func__(real(cls), dec)  # type: ignore[attr-defined]

    def real(kind: Any) -> Any:
        return fractions.Fraction if StandIn.stands(kind) else kind

    Fraction.__module__, Fraction.__qualname__ = "fractions", "Fraction"
    parts.world.stand_ins[fractions.Fraction] = Fraction
    return {"Fraction": Fraction}


class _AbstractStandIn(StandIn, ABCMeta):
    """For a real class that is an abstract base class at heart."""


_EXPONENT = re.compile(r"[eE][-+]?(\d+)")


def _bounded(context: decimal.Context) -> decimal.Context:
    context.Emax, context.Emin = EXPONENT, -EXPONENT
    return context


def _check(prec: Any = None) -> None:
    if isinstance(prec, int) and int.__index__(prec) > PRECISION:
        msg = f"a precision of at most {PRECISION:,} digits is allowed"
        raise ValueError(msg)


class _Setter:
    """Stands in for a Decimal context while one of its attributes is written."""

    __slots__ = ("_context",)

    def __init__(self, context: decimal.Context) -> None:
        object.__setattr__(self, "_context", context)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "prec":
            _check(value)
        elif name in {"Emax", "Emin"}:
            msg = "the exponents of a context cannot be changed here"
            raise AttributeError(msg)
        setattr(self._context, name, value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)
