"""Lazy iterators: as fast as the interpreter's own, but they end when the meter does, and do not nest without end.

What could go on for ever, or for very long, is charged for every item, and so is what calls a function for every item:
one of the interpreter's own takes as long as its argument is large, and nothing else would tick. What only passes on
the items of something else needs no charge, but it must not be nested so deeply that the C stack overflows.
"""

from __future__ import annotations

import itertools
import operator
from _csv import reader
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from gc import get_referents
from types import FunctionType
from typing import Any, NoReturn

from codeact.engines.restricted.meter import Meter, current
from codeact.engines.restricted.sizes import Sizes, plain

DEPTH = 100
"""Iterators over iterators over iterators."""

SHORT = 1 << 20
"""Ranges up to this length are the interpreter's own: a builtin runs through one in a few milliseconds."""


@dataclass(frozen=True, slots=True)
class _Slots:
    """Which arguments of an iterator are what.

    Attributes:
        iterables: those that are run through.
        charged: how many iterables there may be before every step is charged.
        quick: whether a step takes the next item of one iterable and calls nothing, so that a tick for each is enough.
    """

    iterables: slice
    charged: int = 0
    quick: bool = False


def _layer(base: Any, slots: _Slots) -> Any:
    class Layer(base):  # type: ignore[misc]
        __slots__ = ("depth",)

        def __new__(cls, *args: Any, **named: Any) -> Any:
            if not named and len(args) <= slots.charged and _FLAT.issuperset(map(type, args[slots.iterables])):
                made = base.__new__(cls, *args)
                made.depth = 1
                return made
            parts = list(args)
            named = {name: _begun(part) if name in _ITERABLES else _called(part) for name, part in named.items()}
            parts[slots.iterables] = map(_begun, parts[slots.iterables])
            depth = 1 + max(map(_depth, (*parts, *named.values())), default=0)
            if depth > DEPTH:
                msg = f"more than {DEPTH} {base.__name__} objects and the like nested in each other; make a list in between"
                raise RecursionError(msg)
            parts = [_called(part) for part in parts]
            given = parts[slots.iterables]
            if len(given) > slots.charged:
                meter = current.get()
                quick = slots.quick or any(type(part) is FunctionType for part in (*parts, *named.values()))
                charge = meter.charged if quick else meter.closely
                parts[slots.iterables] = [charge(given[0]), *(map(charge, given[1:]) if slots.quick else given[1:])]
            made = base.__new__(cls, *parts, **named)
            made.depth = depth
            return made

        def __init_subclass__(cls) -> NoReturn:
            # It would be seen as no layer.
            msg = f"type '{base.__name__}' is not an acceptable base type"
            raise TypeError(msg)

        def __repr__(self) -> str:
            return f"<{base.__name__} object>"

    Layer.__name__ = Layer.__qualname__ = base.__name__
    Layer.__module__ = base.__module__
    Layer.__doc__ = base.__doc__
    return Layer


def _begun(iterable: Any) -> Any:
    """An iterable as its iterator where only that tells what it is: a class can hand out any iterator."""
    return iterable if type(iterable) in _FLAT else iter(iterable)


def _depth(part: Any) -> int:
    """How many iterators are nested in one."""
    kind = type(part)
    if kind in LAYERS:
        return part.depth  # type: ignore[no-any-return]
    if kind in _CARRIERS:
        return 1 + max(map(_depth, get_referents(part)), default=0)
    return 0


def _called(function: Any) -> Any:
    """What is called for every item, as it may be."""
    return _CONVERTING.get(function, function) if type(function) is type else function


def _converting(kind: Any) -> Callable[..., Any]:
    """A class that runs through its argument, called so that the interpreter counts how deep the calls are nested."""

    def convert(*args: Any) -> Any:
        return kind(*args)

    return convert


def _as_it_comes(*items: Any) -> tuple[Any, ...]:
    """A tuple: of a source itself one is made as long as that says that it is."""
    return tuple(*map(itertools.chain, ((),) * len(items), items))


_CONVERTING: dict[Any, Any] = {kind: _converting(kind) for kind in (list, set, frozenset, dict)}
_CONVERTING[tuple] = _as_it_comes
_ITERABLES = frozenset({"data", "iterable", "selectors"})
_FLAT = frozenset({list, tuple, dict, set, frozenset, str, bytes, bytearray, range, deque})
_CARRIERS = frozenset(
    {
        itertools.compress,
        itertools.cycle,
        type(itertools.tee(())[0]),
        type(next(itertools.groupby("x"))[1]),
        type(reader(())),
    }
)
"""Iterators over others that carry no depth of their own."""

_ALL, _FIRST, _OTHERS = slice(None), slice(0, 1), slice(1, None)
_MANY = 16
"""Iterables whose next items make a step that takes no time to speak of."""

BUILTINS: dict[str, Any] = {
    "map": _layer(map, _Slots(_OTHERS)),
    "filter": _layer(filter, _Slots(_OTHERS)),
    "zip": _layer(zip, _Slots(_ALL, charged=_MANY)),
    "enumerate": _layer(enumerate, _Slots(_FIRST, charged=_MANY)),
}
"""Builtin iterators that pass on what they are given."""

PASSING: dict[str, Any] = {
    name: _layer(getattr(itertools, name), slots)
    for name, slots in {
        "accumulate": _Slots(_FIRST),
        "batched": _Slots(_FIRST, charged=_MANY),
        "chain": _Slots(_ALL, quick=True),
        "compress": _Slots(_ALL, charged=_MANY),
        "dropwhile": _Slots(_OTHERS),
        "filterfalse": _Slots(_OTHERS),
        "groupby": _Slots(_FIRST),
        "islice": _Slots(_FIRST, charged=_MANY),
        "pairwise": _Slots(_FIRST, charged=_MANY),
        "starmap": _Slots(_OTHERS),
        "takewhile": _Slots(_OTHERS),
        "zip_longest": _Slots(_ALL, charged=_MANY),
    }.items()
    if hasattr(itertools, name)
}
"""The same from itertools; not every Python has each."""


def _flattened(iterables: Iterable[Iterable[Any]]) -> Iterator[Any]:
    """`chain.from_iterable`. It is no C iterator: one of those can be made to run through itself, without end."""
    stream = current.get().stream
    for iterable in itertools.compress(iterables, stream):
        yield from itertools.compress(iterable, stream)


PASSING["chain"].from_iterable = staticmethod(_flattened)

LAYERS = frozenset({*BUILTINS.values(), *PASSING.values()})


class LongRange(Sequence[int]):
    """A range too long to be handed to a builtin as it is: whoever runs through it pays for every step."""

    __slots__ = ("_meter", "_range")

    def __init__(self, meter: Meter, numbers: range) -> None:
        self._meter = meter
        self._range = numbers

    def __iter__(self) -> Iterator[int]:
        return self._meter.charged(self._range)

    def __reversed__(self) -> Iterator[int]:
        return self._meter.charged(reversed(self._range))

    @property
    def start(self) -> int:
        """Its first number."""
        return self._range.start

    @property
    def stop(self) -> int:
        """Where it ends."""
        return self._range.stop

    @property
    def step(self) -> int:
        """From one number to the next."""
        return self._range.step

    def __len__(self) -> int:
        return len(self._range)

    def __getitem__(self, index: Any) -> Any:
        found = self._range[index]
        return self._of(found) if isinstance(found, range) else found

    def _of(self, numbers: range) -> Any:
        return LongRange(self._meter, numbers) if _long(numbers) else numbers

    def __contains__(self, value: object) -> bool:
        if type(value) in (int, bool):
            return value in self._range
        return any(value == number for number in self)

    def count(self, value: Any) -> int:
        """How often a number is in it."""
        return self._range.count(value) if type(value) is int else sum(value == number for number in self)

    def index(self, value: Any, *_: Any) -> int:
        """Where a number is in it."""
        if type(value) is not int:
            msg = f"{value!r} is not in range"
            raise ValueError(msg)
        return self._range.index(value)

    def __eq__(self, other: object) -> bool:
        return self._range == (other._range if isinstance(other, LongRange) else other)

    def __hash__(self) -> int:
        return hash(self._range)

    def __repr__(self) -> str:
        return repr(self._range)


def _long(numbers: range) -> bool:
    try:
        return len(numbers) > SHORT
    except OverflowError:
        return True


class _RangeType(type):
    """The type of `range`: it makes ranges, and knows them in a class pattern."""

    def __call__(cls, *args: Any) -> Any:
        numbers = range(*args)
        return LongRange(current.get(), numbers) if _long(numbers) else numbers

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, (range, LongRange))

    def __repr__(cls) -> str:
        return "<class 'range'>"


class Range(metaclass=_RangeType):
    """`range`."""

    __slots__ = ()

    def __init_subclass__(cls) -> NoReturn:
        msg = "type 'range' is not an acceptable base type"
        raise TypeError(msg)


Range.__name__ = Range.__qualname__ = "range"
Range.__module__ = "builtins"


def make_itertools(meter: Meter, sizes: Sizes) -> dict[str, Any]:  # noqa: C901 - a table of closures
    """The names of itertools for one world."""
    charged = meter.charged

    def sized(pool: Iterable[Any]) -> tuple[Any, ...]:
        return pool if type(pool) is tuple else _as_it_comes(pool)

    def tee(iterable: Iterable[Any], n: Any = 2, /) -> tuple[Any, ...]:
        number = operator.index(n)
        sizes.take(100 * number)
        return itertools.tee(iterable, number)

    def added(a: Any, b: Any) -> Any:
        sizes.sum(a, b)
        return a + b

    def accumulate(iterable: Iterable[Any], func: Any = None, *, initial: Any = None) -> Iterator[Any]:
        made: Iterator[Any] = PASSING["accumulate"](iterable, added if func is None else func, initial=initial)
        return made

    def starmap(function: Any, iterable: Iterable[Iterable[Any]], /) -> Iterator[Any]:
        made: Iterator[Any] = PASSING["starmap"](function, BUILTINS["map"](_as_it_comes, iterable))
        return made

    def count(start: Any = 0, step: Any = 1) -> Iterator[Any]:
        return charged(itertools.count(start, step))

    def cycle(iterable: Iterable[Any]) -> Iterator[Any]:
        return charged(itertools.cycle(iterable))

    def repeat(item: Any, *times: Any) -> Iterator[Any]:
        return charged(itertools.repeat(item, *times))

    def product(*pools: Iterable[Any], repeat: int = 1) -> Iterator[Any]:
        kept, repeat = [sized(pool) for pool in pools], plain(repeat)
        sizes.take(8 * sum(map(len, kept)) * max(1, repeat) + 64 * len(kept) * max(1, repeat))
        return charged(itertools.product(*kept, repeat=repeat))

    def chosen(function: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def choose(iterable: Iterable[Any], r: Any = None) -> Iterator[Any]:
            pool, r = sized(iterable), plain(r)
            if isinstance(r, int):
                sizes.take(16 * r)
            return charged(function(pool) if r is None else function(pool, r))

        choose.__name__ = function.__name__
        return choose

    return {
        **PASSING,
        "count": count,
        "cycle": cycle,
        "repeat": repeat,
        "product": product,
        "tee": tee,
        "accumulate": accumulate,
        "starmap": starmap,
        "permutations": chosen(itertools.permutations),
        "combinations": chosen(itertools.combinations),
        "combinations_with_replacement": chosen(itertools.combinations_with_replacement),
    }
