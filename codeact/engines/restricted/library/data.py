"""`json`, `collections`, `dataclasses`, `copy`, `csv`, `difflib` and `pprint`, within the size of a structure."""

from __future__ import annotations

import collections
import copy
import csv
import dataclasses
import difflib
import json
import pprint
from collections.abc import Callable, Iterator
from typing import Any

from codeact.engines.restricted.classes import is_hiding, positional, refuse_fields
from codeact.engines.restricted.library.parts import Parts, take
from codeact.engines.restricted.sealed import Sealed
from codeact.engines.restricted.sizes import plain

_INDENT = 100
_COMPARISONS = 20_000_000


def make_json(parts: Parts) -> dict[str, Any]:
    """The names of `json`."""
    sizes = parts.sizes

    def judged(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        total = 0

        def default(o: Any) -> Any:
            nonlocal total
            made = function(o)
            total += sizes.walk(made)
            sizes.take(total)
            return made

        return default

    class JSONEncoder(json.JSONEncoder):
        def __init__(self, *, indent: Any = None, separators: Any = None, **named: Any) -> None:
            indent = plain(indent)
            if (isinstance(indent, int) and indent > _INDENT) or (isinstance(indent, str) and len(indent) > _INDENT):
                msg = f"an indentation of at most {_INDENT} is allowed"
                raise ValueError(msg)
            separators = separators and tuple(map(plain, separators))
            if separators and any(len(text) > _INDENT for text in separators):
                msg = f"separators of at most {_INDENT} characters are allowed"
                raise ValueError(msg)
            super().__init__(indent=indent, separators=separators, **named)

        def encode(self, o: Any) -> str:
            if type(o) is str:
                return super().encode(o)
            pieces = self.iterencode(o, _one_shot=True)
            return "".join(pieces)

        def iterencode(self, o: Any, _one_shot: bool = False) -> Iterator[str]:
            sizes.walk(o)
            given = self.default
            self.default = judged(given)  # type: ignore[method-assign, assignment]
            try:
                pieces = super().iterencode(o, _one_shot)
            finally:
                self.default = given  # type: ignore[method-assign]
            return pieces if _one_shot else parts.world.meter.charged(pieces)

    JSONEncoder.__module__, JSONEncoder.__qualname__ = "json", "JSONEncoder"

    def dumps(obj: Any, *, cls: Any = None, indent: Any = None, separators: Any = None, **named: Any) -> str:
        return json.dumps(obj, cls=cls or JSONEncoder, indent=indent, separators=separators, **named)

    def dump(obj: Any, fp: Any, **named: Any) -> None:
        fp.write(dumps(obj, **named))

    def load(fp: Any, **named: Any) -> Any:
        return json.loads(fp.read(), **named)

    return {
        **take("json", "JSONDecodeError JSONDecoder loads"),
        "JSONEncoder": JSONEncoder,
        "dump": dump,
        "dumps": dumps,
        "load": load,
    }


def make_collections(parts: Parts) -> dict[str, Any]:
    """The names of `collections`."""
    world = parts.world

    def namedtuple(typename: str, field_names: Any, *, rename: bool = False, defaults: Any = None) -> Any:
        make: Any = collections.namedtuple  # noqa: PYI024 - the program's own
        made = make(typename, field_names, rename=rename, defaults=defaults, module=world.module)
        return parts.guards[".own"](made)

    multiplied = parts.guards[".mul"]

    class UserList(collections.UserList[Any]):
        def __mul__(self, n: Any) -> Any:
            return self.__class__(multiplied(self.data, n))

        __rmul__ = __mul__

        def __imul__(self, n: Any) -> Any:
            self.data = multiplied(self.data, n)
            return self

    UserList.__module__, UserList.__qualname__ = "collections", "UserList"
    return {
        **take("collections", "ChainMap Counter OrderedDict UserDict defaultdict deque"),
        "UserList": UserList,
        "namedtuple": namedtuple,
    }


def make_dataclasses(parts: Parts) -> dict[str, Any]:  # noqa: C901 - a table of closures
    """The names of `dataclasses`, without what makes classes from text."""
    world = parts.world

    def dataclass(cls: Any = None, /, **named: Any) -> Any:
        if cls is None:
            return lambda cls: dataclass(cls, **named)
        if cls not in world.own:
            msg = "dataclass decorates classes of this program"
            raise TypeError(msg)
        if is_hiding(cls):
            own = cls.__dict__.get("__annotations__", {})  # noqa: RUF063 - the class as it was written
            refuse_fields(cls.__name__, own, getattr(cls, "__dataclass_fields__", ()))
        with_positions = named.pop("match_args", True)
        made: Any = dataclasses.dataclass(match_args=False, **named)(cls)
        if with_positions and "__match_args__" not in made.__dict__:
            # `kw_only` is also true of class variables.
            fields = [field.name for field in made.__dataclass_fields__.values() if field.init and not field.kw_only]
            type.__setattr__(made, "__match_args__", positional(fields))
        return made

    read = parts.guards[".read"]
    # A field of the program's own kind could be renamed after it was judged.
    sealed = world.stand_ins[dataclasses.Field] = Sealed(dataclasses.Field)

    def convert(value: Any, made: Callable[[Any, list[tuple[str, Any]]], Any]) -> Any:
        world.meter.tick()
        kind = type(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return made(
                value, [(field.name, convert(read(value, field.name), made)) for field in dataclasses.fields(value)]
            )
        if kind is list or kind is tuple or kind is set or kind is frozenset:
            return kind(convert(item, made) for item in value)
        if isinstance(value, tuple):
            return kind(*(convert(item, made) for item in value))
        if isinstance(value, dict):
            return {convert(key, made): convert(item, made) for key, item in value.items()}
        return value

    def asdict(obj: Any, *, dict_factory: Any = dict) -> Any:
        return convert(instance(obj, "asdict"), lambda _, pairs: dict_factory(pairs))

    def astuple(obj: Any, *, tuple_factory: Any = tuple) -> Any:
        return convert(instance(obj, "astuple"), lambda _, pairs: tuple_factory([item for _, item in pairs]))

    def instance(obj: Any, function: str) -> Any:
        if isinstance(obj, type) or not dataclasses.is_dataclass(obj):
            msg = f"{function}() should be called on dataclass instances"
            raise TypeError(msg)
        return obj

    return {
        **take("dataclasses", "FrozenInstanceError InitVar KW_ONLY MISSING field fields is_dataclass replace"),
        "Field": sealed,
        "dataclass": dataclass,
        "asdict": asdict,
        "astuple": astuple,
    }


def make_copy(parts: Parts) -> dict[str, Any]:
    """The names of `copy`."""

    def deepcopy(x: Any, memo: Any = None) -> Any:
        parts.sizes.walk(x)
        return copy.deepcopy(x, memo)

    return {"copy": copy.copy, "deepcopy": deepcopy, "Error": copy.Error}


def make_csv(parts: Parts) -> dict[str, Any]:
    """The names of `csv`; dialects cannot be registered, because they would be everyone's."""
    names = take(
        "csv",
        "DictReader Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC QUOTE_NOTNULL QUOTE_STRINGS "
        "excel excel_tab reader unix_dialect",
    )
    walk, tick = parts.sizes.walk, parts.world.meter.tick

    class Writer:
        """What `csv.writer` gives; a row is judged before it is written."""

        __slots__ = ("_real",)

        def __init__(self, real: Any) -> None:
            self._real = real

        @property
        def dialect(self) -> Any:
            return self._real.dialect

        def writerow(self, row: Any) -> Any:
            tick()
            row = row if isinstance(row, (list, tuple)) else list(row)
            if not _FLAT.issuperset(map(type, row)):
                walk(row)
            return self._real.writerow(row)

        def writerows(self, rows: Any) -> None:
            for row in rows:
                self.writerow(row)

    def writer(file: Any, *args: Any, **named: Any) -> Writer:
        return Writer(csv.writer(file, *args, **named))

    class DictWriter(_DICT_WRITER):  # type: ignore[misc]
        def __init__(self, f: Any, fieldnames: Any, *args: Any, **named: Any) -> None:
            super().__init__(f, fieldnames, *args, **named)
            self.writer: Any = Writer(self.writer)

    DictWriter.__module__, DictWriter.__qualname__ = "csv", "DictWriter"
    return {**names, "writer": writer, "DictWriter": DictWriter}


_DICT_WRITER: Any = csv.DictWriter
_FLAT = frozenset({str, int, float, bool, type(None)})


def make_difflib(parts: Parts) -> dict[str, Any]:
    """The names of `difflib`, for texts short enough to compare."""

    def judge(a: Any, b: Any) -> None:
        if len(a) * len(b) > _COMPARISONS:
            parts.sizes.refuse(f"comparing {len(a):,} with {len(b):,} items would take too long in one call")

    class SequenceMatcher(difflib.SequenceMatcher[Any]):
        def __init__(self, isjunk: Any = None, a: Any = "", b: Any = "", autojunk: bool = True) -> None:
            judge(a, b)
            super().__init__(isjunk, a, b, autojunk)

        def find_longest_match(self, *args: Any, **named: Any) -> Any:
            # Once for every block that matches, which makes the whole cubic.
            parts.world.meter.tick()
            return super().find_longest_match(*args, **named)

        def set_seq1(self, a: Any) -> None:
            judge(a, getattr(self, "b", None) or "")
            super().set_seq1(a)

        def set_seq2(self, b: Any) -> None:
            judge(getattr(self, "a", None) or "", b)
            super().set_seq2(b)

    def matches(word: Any, possibilities: Any, n: int = 3, cutoff: float = 0.6) -> list[Any]:
        found = list(possibilities)
        judge(word, range(sum(map(len, found))))
        return difflib.get_close_matches(word, found, n, cutoff)

    def compared(function: Callable[..., Iterator[str]], most: int) -> Callable[..., Iterator[str]]:
        def compare(a: Any, b: Any, *args: Any, **named: Any) -> Iterator[str]:
            judge(range(len(a) * most), range(len(b)))
            return parts.world.meter.charged(function(a, b, *args, **named))

        return compare

    return {
        "SequenceMatcher": SequenceMatcher,
        "get_close_matches": matches,
        "unified_diff": compared(difflib.unified_diff, 1),
        "context_diff": compared(difflib.context_diff, 1),
        "ndiff": compared(difflib.ndiff, 100),
    }


def make_pprint(parts: Parts) -> dict[str, Any]:
    """The names of `pprint`."""

    def pformat(value: Any, indent: Any = 1, *args: Any, **named: Any) -> str:
        parts.sizes.walk(value)
        indent = plain(indent)
        if isinstance(indent, int) and indent > _INDENT:
            msg = f"an indentation of at most {_INDENT} is allowed"
            raise ValueError(msg)
        args = (indent, *args)
        return str(parts.text.clean(pprint.pformat(value, *args, **named)))

    def show(value: Any, stream: Any = None, **named: Any) -> None:
        line = pformat(value, **named) + "\n"
        if stream is None:
            parts.world.write(line)
        else:
            stream.write(line)

    def pp(value: Any, *args: Any, sort_dicts: bool = False, **named: Any) -> None:
        show(value, *args, sort_dicts=sort_dicts, **named)

    return {"pformat": pformat, "pprint": show, "pp": pp}
