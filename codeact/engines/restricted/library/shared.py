"""Modules whose names no program can change: functions, constants, and classes that the guards keep as they are."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from enum import EnumMeta
from types import new_class
from typing import Any, runtime_checkable

from codeact.engines.restricted.library.parts import take
from codeact.engines.restricted.sealed import Sealed
from codeact.engines.restricted.sizes import plain

_NAMES = {
    "abc": "ABC",
    "base64": "b16decode b16encode b32decode b32encode b64decode b64encode b85decode b85encode decodebytes encodebytes "
    "standard_b64decode standard_b64encode urlsafe_b64decode urlsafe_b64encode",
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "calendar": "FRIDAY MONDAY SATURDAY SUNDAY THURSDAY TUESDAY WEDNESDAY isleap leapdays monthrange timegm weekday "
    "monthcalendar",
    "collections.abc": "AsyncGenerator AsyncIterable AsyncIterator Awaitable Callable Collection Container Coroutine "
    "Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping MutableSequence "
    "MutableSet Reversible Sequence Set Sized ValuesView",
    "contextlib": "AbstractContextManager ContextDecorator ExitStack asynccontextmanager closing contextmanager "
    "nullcontext suppress",
    "enum": "Enum Flag IntEnum IntFlag StrEnum auto unique",
    "hashlib": "blake2b blake2s md5 sha1 sha224 sha256 sha384 sha3_224 sha3_256 sha3_384 sha3_512 sha512",
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "html": "escape unescape",
    "io": "BytesIO StringIO",
    "numbers": "Complex Integral Number Rational Real",
    "statistics": "NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean "
    "linear_regression mean median median_grouped median_high median_low mode multimode pstdev pvariance quantiles "
    "stdev variance",
    "string": "ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable punctuation "
    "whitespace",
    "types": "MappingProxyType NoneType SimpleNamespace",
    "typing": "AbstractSet Annotated Any AnyStr AsyncIterable AsyncIterator Awaitable Callable ClassVar Collection "
    "Concatenate Coroutine Counter DefaultDict Deque Dict Final FrozenSet Generator Generic Hashable Iterable Iterator "
    "List Literal Mapping MutableMapping MutableSequence MutableSet NamedTuple Never NewType NoReturn NotRequired "
    "Optional OrderedDict ParamSpec Protocol Required Self Sequence Set Sized SupportsFloat SupportsInt TYPE_CHECKING "
    "Tuple Type TypeAlias TypeGuard TypeVar TypedDict Union Unpack assert_never cast",
    "unicodedata": "bidirectional category combining decimal digit east_asian_width is_normalized lookup mirrored name "
    "normalize numeric unidata_version",
    "urllib.parse": "ParseResult SplitResult parse_qs parse_qsl quote quote_plus unquote unquote_plus urldefrag "
    "urlencode urljoin urlparse urlsplit urlunparse urlunsplit",
    "zoneinfo": "ZoneInfo ZoneInfoNotFoundError",
    "__future__": "annotations",
}


def _calendar() -> dict[str, Any]:
    names = take("calendar", _NAMES["calendar"])
    for name in ("day_abbr", "day_name", "month_abbr", "month_name"):
        names[name] = tuple(take("calendar", name)[name])
    return names


def _abc() -> dict[str, Any]:
    return {**take("abc", _NAMES["abc"]), "ABCMeta": _ABC_META, "abstractmethod": _marking(abstractmethod)}


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
        if isinstance(kind, EnumMeta):
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


def _typing() -> dict[str, Any]:
    # The real ones write on whatever they are given, or keep it in a registry of the process.
    names = dict.fromkeys(("final", "override", "overload", "no_type_check"), _unchanged)
    return {**take("typing", _NAMES["typing"]), **names, "runtime_checkable": _marking(runtime_checkable)}


def _unchanged(decorated: Any) -> Any:
    return decorated


def _marking(decorator: Callable[[Any], Any]) -> Callable[[Any], Any]:
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


SHARED: dict[str, Callable[[], dict[str, Any]]] = {
    **{name: _plain(name) for name in _NAMES},
    "abc": _abc,
    "calendar": _calendar,
    "enum": _enum,
    "statistics": _statistics,
    "typing": _typing,
}
"""How each is made, when it is first imported in the process."""
