"""Modules whose names no program can change: functions, constants, and classes that the guards keep as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codeact.engines.restricted.library.parts import take

_NAMES = {
    "abc": "ABC ABCMeta abstractmethod",
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
    "enum": "Enum EnumMeta EnumType Flag IntEnum IntFlag StrEnum auto unique",
    "fractions": "Fraction",
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
    "textwrap": "dedent fill indent shorten wrap",
    "types": "MappingProxyType NoneType SimpleNamespace",
    "typing": "AbstractSet Annotated Any AnyStr AsyncIterable AsyncIterator Awaitable Callable ClassVar Collection "
    "Concatenate Coroutine Counter DefaultDict Deque Dict Final FrozenSet Generator Generic Hashable Iterable Iterator "
    "List Literal Mapping MutableMapping MutableSequence MutableSet NamedTuple Never NewType NoReturn NotRequired "
    "Optional OrderedDict ParamSpec Protocol Required Self Sequence Set Sized SupportsFloat SupportsInt TYPE_CHECKING "
    "Tuple Type TypeAlias TypeGuard TypeVar TypedDict Union Unpack assert_never cast final overload override "
    "runtime_checkable",
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


def _plain(module: str) -> Callable[[], dict[str, Any]]:
    return lambda: take(module, _NAMES[module])


SHARED: dict[str, Callable[[], dict[str, Any]]] = {**{name: _plain(name) for name in _NAMES}, "calendar": _calendar}
"""How each is made, when it is first imported in the process."""
