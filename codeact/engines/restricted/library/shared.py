"""Modules whose names no program can change: functions, constants, and classes that the guards keep as they are."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from enum import EnumMeta
from importlib import import_module
from types import MappingProxyType, new_class
from typing import Any

from codeact.engines.restricted.library.parts import take
from codeact.engines.restricted.sealed import Sealed
from codeact.engines.restricted.sizes import plain

_NAMES = {
    "abc": "ABC",
    "array": "ArrayType array typecodes",
    "base64": "a85decode a85encode b16decode b16encode b32decode b32encode b32hexdecode b32hexencode b64decode b64encode "
    "b85decode b85encode decodebytes encodebytes standard_b64decode standard_b64encode urlsafe_b64decode "
    "urlsafe_b64encode z85decode z85encode",
    "binascii": "Error Incomplete a2b_base64 a2b_hex a2b_qp a2b_uu b2a_base64 b2a_hex b2a_qp b2a_uu crc32 crc_hqx "
    "hexlify unhexlify",
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "cmath": "acos acosh asin asinh atan atanh cos cosh e exp inf infj isclose isfinite isinf isnan log log10 nan nanj "
    "phase pi polar rect sin sinh sqrt tan tanh tau",
    "collections.abc": "AsyncGenerator AsyncIterable AsyncIterator Awaitable Callable Collection Container Coroutine "
    "Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping MutableSequence "
    "MutableSet Reversible Sequence Set Sized ValuesView",
    "colorsys": "hls_to_rgb hsv_to_rgb rgb_to_hls rgb_to_hsv rgb_to_yiq yiq_to_rgb",
    "enum": "CONFORM CONTINUOUS EJECT Enum EnumCheck Flag FlagBoundary IntEnum IntFlag KEEP NAMED_FLAGS STRICT "
    "StrEnum UNIQUE auto member nonmember property unique verify",
    "graphlib": "CycleError TopologicalSorter",
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "hmac": "HMAC compare_digest digest new",
    "html": "escape unescape",
    "http": "HTTPMethod HTTPStatus",
    "numbers": "Complex Integral Number Rational Real",
    "statistics": "NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean "
    "linear_regression mean median median_grouped median_high median_low mode multimode pstdev pvariance quantiles "
    "stdev variance",
    "unicodedata": "bidirectional category combining decimal decomposition digit east_asian_width is_normalized lookup mirrored name "
    "normalize numeric unidata_version",
    "urllib.parse": "DefragResult ParseResult SplitResult parse_qs parse_qsl quote quote_from_bytes quote_plus unquote "
    "unquote_plus unquote_to_bytes urldefrag urlencode urljoin urlparse urlsplit urlunparse urlunsplit",
    "__future__": "absolute_import annotations division generator_stop generators nested_scopes print_function "
    "unicode_literals with_statement",
}


def _abc() -> dict[str, Any]:
    return {**take("abc", _NAMES["abc"]), "ABCMeta": _ABC_META, "abstractmethod": marking(abstractmethod)}


class _EnumType(EnumMeta):
    """The type of enums that a program derives from: a call makes members, and nothing else goes into the class."""

    def _create_(cls, class_name: Any, names: Any, **named: Any) -> Any:
        if isinstance(names, str):
            names = str.__str__(names).replace(",", " ").split()
        elif hasattr(names, "keys"):
            names = [(name, names[name]) for name in names]
        names = [name if isinstance(name, str) else tuple(name) for name in names]
        for name in (name if isinstance(name, str) else name[0] for name in names):
            if type(name) is not str or name[:1] == "_":
                msg = f"{class_name}: a member cannot be named {name}"
                raise ValueError(msg)
        return super()._create_(class_name, names, **named)  # type: ignore[misc]


def _enum() -> dict[str, Any]:
    names = take("enum", _NAMES["enum"])
    for name, kind in names.items():
        if isinstance(kind, EnumMeta) and not kind.__members__:
            names[name] = new_class(name, (kind,), {"metaclass": _EnumType}, lambda inside: inside.update(_ENUM))
    return {**names, "EnumMeta": _ENUM_META, "EnumType": _ENUM_META}


_ENUM = {"__module__": "enum"}


def _statistics() -> dict[str, Any]:
    names = take("statistics", _NAMES["statistics"])
    real = names["quantiles"]

    def quantiles(data: Any, *, n: Any = 4, method: Any = "exclusive") -> Any:
        if plain(n) > _QUANTILES:
            msg = f"quantiles: at most {_QUANTILES:,} intervals are allowed"
            raise ValueError(msg)
        return real(data, n=plain(n), method=method)

    return {**names, "quantiles": quantiles}


_QUANTILES = 1_000_000


def unchanged(decorated: Any) -> Any:
    """A decorator that changes nothing."""
    return decorated


def marking(decorator: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A decorator that leaves a mark, held to what a program has written."""

    def mark(decorated: Any) -> Any:
        if getattr(decorated, "__module__", None) not in {"__main__", None} and not isinstance(decorated, _WRAPPERS):
            msg = f"{decorator.__name__} decorates what this program defines"
            raise TypeError(msg)
        return decorator(decorated)

    mark.__name__ = decorator.__name__
    return mark


_ABC_META, _ENUM_META = Sealed(ABCMeta), Sealed(EnumMeta)
_WRAPPERS = (property, classmethod, staticmethod)


def _plain(module: str) -> Callable[[], dict[str, Any]]:
    return lambda: take(module, _NAMES[module])


def _whole(module: str) -> Callable[[], dict[str, Any]]:
    """All of a module that holds nothing but numbers, and functions and tables of numbers."""
    return lambda: {name: _kept(value) for name, value in vars(import_module(module)).items() if name[0] != "_"}


def _kept(value: Any) -> Any:
    """A table as nobody can change it."""
    return MappingProxyType(value) if type(value) is dict else value


SHARED: dict[str, Callable[[], dict[str, Any]]] = {
    **{name: _plain(name) for name in _NAMES},
    "abc": _abc,
    "enum": _enum,
    "errno": _whole("errno"),
    "stat": _whole("stat"),
    "statistics": _statistics,
}
"""How each is made, when it is first imported in the process."""
