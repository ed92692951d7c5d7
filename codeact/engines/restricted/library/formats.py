"""`json`, `csv`, `configparser` and `tomllib`: data as text, within the size of a structure."""

from __future__ import annotations

import _csv
import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

from codeact.engines.restricted.library.copies import as_module, copied
from codeact.engines.restricted.library.parts import Parts, pick, take
from codeact.engines.restricted.sizes import plain

_INDENT = 100
_FIELD = 131_072
"""Characters of the longest field of a csv file; the limit is the process's."""

_FLAT = frozenset({str, int, float, bool, type(None)})


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


def make_json_decoder(parts: Parts) -> dict[str, Any]:
    """The names of `json.decoder`."""
    return pick(vars(parts.load("json")), "JSONDecodeError JSONDecoder")


def make_json_encoder(parts: Parts) -> dict[str, Any]:
    """The names of `json.encoder`."""
    return pick(vars(parts.load("json")), "JSONEncoder")


def make_csv(parts: Parts) -> dict[str, Any]:
    """The names of `csv`; dialects are registered in the world, and the limit of a field stays as it is."""
    dialects = _Dialects()

    def writer(file: Any, dialect: Any = "excel", **named: Any) -> _Writer:
        return _Writer(csv.writer(file, dialects.get(dialect), **named), parts)

    def reader(rows: Any, dialect: Any = "excel", **named: Any) -> Any:
        return csv.reader(rows, dialects.get(dialect), **named)

    def field_size_limit(limit: Any = _FIELD) -> int:
        int(limit)
        return _FIELD

    inner = {**vars(_csv), "reader": reader, "writer": writer, "register_dialect": dialects.register}
    copy = copied(parts, "csv", {"_csv": as_module("_csv", inner)})
    return {
        **pick(
            copy,
            "Dialect DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC QUOTE_NOTNULL "
            "QUOTE_STRINGS Sniffer excel excel_tab reader unix_dialect writer",
        ),
        "field_size_limit": field_size_limit,
        "get_dialect": dialects.get,
        "list_dialects": dialects.names,
        "register_dialect": dialects.register,
        "unregister_dialect": dialects.unregister,
    }


class _Writer:
    """What `csv.writer` gives; a row is judged before it is written."""

    __slots__ = ("_real", "_tick", "_walk")

    def __init__(self, real: Any, parts: Parts) -> None:
        self._real = real
        self._walk, self._tick = parts.sizes.walk, parts.world.meter.tick

    @property
    def dialect(self) -> Any:
        """How it writes."""
        return self._real.dialect

    def writerow(self, row: Any) -> Any:
        """Write a row."""
        self._tick()
        row = row if isinstance(row, (list, tuple)) else list(row)
        if not _FLAT.issuperset(map(type, row)):
            self._walk(row)
        return self._real.writerow(row)

    def writerows(self, rows: Any) -> None:
        """Write several rows."""
        for row in rows:
            self.writerow(row)


class _Dialects:
    """The dialects of one world."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def get(self, name: Any) -> Any:
        if not isinstance(name, str):
            return name
        if name not in self._known:
            msg = "unknown dialect"
            raise csv.Error(msg)
        return self._known[name]

    def register(self, name: Any, dialect: Any = "excel", **named: Any) -> None:
        if not isinstance(name, str):
            msg = "dialect name must be a string"
            raise TypeError(msg)
        self._known[name] = csv.writer(io.StringIO(), self.get(dialect), **named).dialect

    def unregister(self, name: Any) -> None:
        self.get(name)
        del self._known[name]

    def names(self) -> list[str]:
        return list(self._known)


def make_configparser(parts: Parts) -> dict[str, Any]:
    """The names of `configparser`; what stands in for the value of another option is counted."""
    names = copied(parts, "configparser")
    for kind in (names["BasicInterpolation"], names["ExtendedInterpolation"]):
        _count(kind, parts)
    for name in ("RawConfigParser", "ConfigParser"):
        parts.world.setters[names[name]] = lambda parser: parser
    return pick(
        names,
        "BasicInterpolation ConfigParser ConverterMapping DEFAULTSECT DuplicateOptionError DuplicateSectionError Error "
        "ExtendedInterpolation Interpolation InterpolationDepthError InterpolationError "
        "InterpolationMissingOptionError InterpolationSyntaxError MAX_INTERPOLATION_DEPTH MissingSectionHeaderError "
        "MultilineContinuationError NoOptionError NoSectionError ParsingError RawConfigParser SectionProxy "
        "UnnamedSectionDisabledError UNNAMED_SECTION",
    )


def _count(interpolation: Any, parts: Parts) -> None:
    step = interpolation._interpolate_some  # noqa: SLF001 - a copy of our own

    def interpolate(self: Any, parser: Any, option: Any, accum: Any, *rest: Any) -> None:
        step(self, parser, option, accum, *rest)
        if rest[-1] == 1:  # the outermost
            parts.sizes.take(sum(map(len, accum)))

    interpolation._interpolate_some = interpolate  # noqa: SLF001


def make_tomllib(parts: Parts) -> dict[str, Any]:
    """The names of `tomllib`."""
    types = as_module("tomllib._types", copied(parts, "tomllib._types"))
    patterns = as_module("tomllib._re", copied(parts, "tomllib._re", {"tomllib._types": types}))
    names = copied(parts, "tomllib._parser", {"tomllib._types": types, "tomllib._re": patterns})
    return pick(names, "TOMLDecodeError load loads")
