"""Text: showing values, and the methods of text whose result can be far larger than their arguments.

The real methods of `str` follow attributes by name (`format`), or amplify (`join`, `replace`, a width). Here they are
judged first and run afterwards. What is shown never carries an address.
"""

from __future__ import annotations

import re
from _string import formatter_field_name_split, formatter_parser  # type: ignore[import-not-found]
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from encodings.aliases import aliases
from io import BytesIO, StringIO
from string import Formatter
from types import BuiltinMethodType, FunctionType, MethodDescriptorType, MethodType
from typing import Any

from codeact.engines.restricted.hosted import seconds_in
from codeact.engines.restricted.names import SIZED
from codeact.engines.restricted.sizes import Sizes, length, plain
from codeact.engines.restricted.templates import LONG, MOST, PLAIN, Templates, clean

CODECS = frozenset(
    {
        "ascii", "big5", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp437",
        "cp850", "cp852", "cp858", "cp866", "cp932", "cp949", "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk", "iso8859_1",
        "iso8859_10", "iso8859_13", "iso8859_14", "iso8859_15", "iso8859_16", "iso8859_2", "iso8859_3", "iso8859_4",
        "iso8859_5", "iso8859_6", "iso8859_7", "iso8859_8", "iso8859_9", "iso_8859_1", "koi8_r", "koi8_u", "l1", "latin1",
        "latin_1", "mac_roman", "raw_unicode_escape", "shift_jis", "unicode_escape", "us_ascii", "utf8", "utf16", "utf32",
        "utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le", "utf_7", "utf_8", "utf_8_sig",
    }
)  # fmt: skip
"""Encodings that take time in proportion to the text."""

_TEXTS = (str, bytes, bytearray)
_TEXT_METHODS = SIZED - {"decode", "from_bytes", "join", "seek", "to_bytes", "truncate"}
_SPLITTING = frozenset({"split", "splitlines"})
_FIELD = re.compile(r"\w*")
_LARGE = 100_000


def _to_join(items: Any) -> Any:
    try:
        return iter(items)
    except TypeError:
        msg = "can only join an iterable"
        raise TypeError(msg) from None


class Text:
    """Text functions of one world."""

    def __init__(self, sizes: Sizes, read: Callable[[Any, str], Any]) -> None:
        """Make them.

        Args:
            sizes: the world's limits on single operations.
            read: reads an attribute as the program may.
        """
        self.read = read
        self._sizes = sizes
        self._simple: dict[str, bool] = {}
        templates = Templates(sizes)
        self.percent = templates.percent
        self.widths = templates.widths

    def take(self, wanted: int) -> None:
        """Ask for bytes."""
        self._sizes.take(wanted)

    clean = staticmethod(clean)

    # --- showing ---------------------------------------------------------------------------------------------

    def show(self, value: Any) -> Any:
        """A value as an f-string shows it: plain values stay as they are."""
        return value if type(value) in PLAIN else self._show(value, format)

    def shown(self, value: Any = "", *more: Any, **named: Any) -> Any:
        """`str(value)`."""
        if type(value) in PLAIN and not more and not named:
            return str(value)
        if more or named:
            return self._decode(value, *more, **named)
        return self._show(value, str)

    def repr(self, value: Any) -> Any:
        """`repr(value)`."""
        return repr(value) if type(value) in PLAIN else self._show(value, repr)

    def ascii(self, value: Any) -> Any:
        """`ascii(value)`."""
        return self._show(value, ascii)

    def _show(self, value: Any, how: Callable[[Any], Any]) -> Any:
        self._sizes.walk(value)
        return clean(how(value))

    def format(self, value: Any, spec: Any = "") -> Any:
        """`format(value, spec)`."""
        spec = self.judged(value, spec)
        if spec == "":
            return self.shown(value)
        return format(value, spec)

    def judged(self, value: Any, spec: Any) -> Any:
        """What a value may be formatted by."""
        if type(spec) is str:
            self.widths(spec)
            if isinstance(value, date):
                spec = seconds_in(spec, value)
        self._sizes.exponent(value)
        return spec

    # --- methods ---------------------------------------------------------------------------------------------

    def method(self, target: Any, name: str) -> Callable[..., Any] | None:
        """What stands in for a method of text, bytes, integers or files; None when the target is none of these."""
        if type(target) is super:
            found = getattr(target, name, None)
            if type(found) is MethodDescriptorType:
                return self.raw(found.__objclass__, name)
            return self.raw(found.__self__, name) if isinstance(found, BuiltinMethodType) else None
        kind = target if isinstance(target, type) else type(target)
        if not issubclass(kind, _owners(name)) or isinstance(getattr(kind, name, None), (FunctionType, MethodType)):
            return None  # none of ours, or the program's own in its place
        return self.raw(target, name)

    def raw(self, target: Any, name: str) -> Callable[..., Any] | None:
        """The same for the interpreter's own method, whatever the program defines by that name."""
        kind = target if isinstance(target, type) else type(target)
        if not issubclass(kind, _owners(name)):
            return None
        if name == "from_bytes":
            return lambda *args, **named: self._from_bytes(target, *args, **named)
        if kind is target:
            return lambda *args, **named: self._call(name, *args, **named)
        return lambda *args, **named: self._call(name, target, *args, **named)

    def call(self, name: str, target: Any, /, *args: Any, **named: Any) -> Any:
        """Call a method by name, with the target's type judged first."""
        kind = type(target)
        if kind is str and name in _TEXT_METHODS and not named and PLAIN.issuperset(map(type, args)):
            _JUDGES[name](self, target, *args, **named)
            return getattr(target, name)(*args, **named)
        return (self.method(target, name) or getattr(target, name))(*args, **named)

    def caller(self, name: str) -> Callable[..., Any]:
        """The same for one name, where arguments are given in turn."""
        real: Any = getattr(str, name, None)
        judge = _JUDGES.get(name)
        ordinary = self.call
        if name in _SPLITTING:

            def split(target: Any, /, *args: Any) -> Any:
                if type(target) is str and len(target) < _LARGE and PLAIN.issuperset(map(type, args)):
                    return real(target, *args)
                return ordinary(name, target, *args)

            return split
        if real is None or judge is None:
            return lambda target, /, *args: ordinary(name, target, *args)

        def call(target: Any, /, *args: Any) -> Any:
            if type(target) is str and PLAIN.issuperset(map(type, args)):
                judge(self, target, *args)
                return real(target, *args)
            return ordinary(name, target, *args)

        return call

    def _call(self, name: str, target: Any, /, *args: Any, **named: Any) -> Any:
        if name == "format":
            return self._format(target, args, named)
        if name == "format_map":
            return self._format(target, (), *args)
        if name == "join":
            return self._joined(target, *args)
        args = tuple(map(plain, args))
        named = {key: plain(value) for key, value in named.items()}
        if name == "translate" and isinstance(target, str) and args and type(args[0]) is not dict:
            args = (_table(target, args[0]), *args[1:])
        _JUDGES[name](self, plain(target), *args, **named)
        for kind in (str, bytes, bytearray, int, StringIO, BytesIO):
            if isinstance(target, kind):
                return getattr(kind, name)(target, *args, **named)
        return getattr(target, name)(*args, **named)

    def join(self, target: Any, /, *args: Any) -> Any:
        """`target.join(items)`."""
        if type(target) is not str and (
            not isinstance(target, _TEXTS) or isinstance(getattr(type(target), "join", None), FunctionType)
        ):
            return (self.method(target, "join") or target.join)(*args)
        return self._joined(target, *args)

    def _joined(self, target: Any, /, *args: Any) -> Any:
        if len(args) != 1:
            return target.join(*args)
        items = args[0] if type(args[0]) in (list, tuple) else list(_to_join(args[0]))
        exact = {str, bytes}.issuperset(map(type, items))
        self._sizes.take(sum(map(len if exact else length, items)) + length(target) * len(items))
        kind: Any = next(kind for kind in _TEXTS if isinstance(target, kind))
        return kind.join(target, items)

    def _judge_center(self, _target: Any, width: Any = 0, *_: Any) -> None:
        if isinstance(width, int):
            self._sizes.take(int(width))

    _judge_ljust = _judge_rjust = _judge_zfill = _judge_center
    _judge_truncate = _judge_center

    def _judge_seek(self, target: Any, place: Any = 0, *_: Any) -> None:
        # Writing past the end fills what is in between; a text takes four bytes for every character of it.
        self._judge_center(target, place * 4 if isinstance(target, StringIO) and isinstance(place, int) else place)

    def _judge_to_bytes(self, _target: Any, length: Any = 1, *_: Any, **__: Any) -> None:
        self._judge_center(_target, length)

    def _judge_expandtabs(self, target: Any, tabsize: Any = 8) -> None:
        if isinstance(tabsize, int):
            self._sizes.take(len(target) + target.count("\t" if isinstance(target, str) else b"\t") * int(tabsize))

    def _judge_replace(self, target: Any, old: Any = "", new: Any = "", count: Any = -1) -> None:
        if not (isinstance(old, _TEXTS) and isinstance(new, _TEXTS)) or len(new) <= len(old):
            return
        most = len(target) // max(1, len(old)) + 1
        if len(target) + most * len(new) > self._sizes.limit:
            most = target.count(old) if len(old) else most
            if isinstance(count, int) and count >= 0:
                most = min(most, int(count))
            self._sizes.take(len(target) + most * len(new))

    def _judge_split(self, target: Any, sep: Any = None, maxsplit: Any = -1) -> None:
        if len(target) < _LARGE or (isinstance(maxsplit, int) and 0 <= maxsplit < _LARGE):
            return
        blanks = (" ", "\n") if isinstance(target, str) else (b" ", b"\n")
        pieces = target.count(sep) if isinstance(sep, _TEXTS) and sep else sum(map(target.count, blanks))
        self._sizes.take(len(target) + 60 * pieces)

    def _judge_rsplit(self, target: Any, sep: Any = None, maxsplit: Any = -1) -> None:
        self._judge_rfind(target, sep)
        self._judge_split(target, sep, maxsplit)

    def _judge_splitlines(self, target: Any, *_: Any, **__: Any) -> None:
        if len(target) >= _LARGE:
            self._judge_split(target, "\n" if isinstance(target, str) else b"\n")

    def _judge_rfind(self, target: Any, sub: Any = None, *_: Any) -> None:
        if isinstance(sub, _TEXTS) and len(sub) > 1:
            self._sizes.work(len(target) * len(sub), "searching from the right")

    _judge_rindex = _judge_rpartition = _judge_rfind

    def judge_encoding(self, encoding: str) -> None:
        """Judge the name of an encoding.

        Raises:
            LookupError: it is not known, or none that takes time in proportion to the text.
        """
        plain = encoding.lower().replace("-", "_").replace(" ", "_")
        if plain not in CODECS and aliases.get(plain) not in CODECS:
            msg = f"unknown encoding: {encoding[:50]}"
            raise LookupError(msg)

    def _judge_encode(self, _target: Any, encoding: Any = "utf-8", *_: Any, **__: Any) -> None:
        if isinstance(encoding, str):
            self.judge_encoding(encoding)

    _judge_decode = _judge_encode

    def _judge_translate(self, target: Any, table: Any = None, *_: Any, **__: Any) -> None:
        if isinstance(table, dict):
            longest = max((len(item) for item in dict.values(table) if isinstance(item, str)), default=1)
            self._sizes.take(len(target) * longest)

    def _from_bytes(self, target: Any, *args: Any, **named: Any) -> Any:
        data = args[0] if args else named.get("bytes")
        if isinstance(data, (bytes, bytearray)):
            self._sizes.bits(8 * len(data))
        kind = target if isinstance(target, type) else type(target)
        return _FROM_BYTES(None, kind)(*args, **named)

    def _decode(self, value: Any, *more: Any, **named: Any) -> Any:
        self._judge_encode(value, *more, **named)
        return str(value, *more, **named)

    # --- str.format ------------------------------------------------------------------------------------------

    def _format(self, template: Any, args: Any, named: Any) -> Any:
        text = str.__str__(template)
        if (
            self._is_simple(text)
            and PLAIN.issuperset(map(type, args))
            and type(named) is dict
            and PLAIN.issuperset(map(type, named.values()))
        ):
            longest = max((len(item) for item in (*args, *named.values()) if type(item) is str), default=0)
            self._sizes.take(longest * text.count("{"))
            return text.format(*args, **named)
        return _Judged(self).vformat(text, args, named)

    def _is_simple(self, template: str) -> bool:
        """Whether it only names its arguments, without a width that could be large."""
        known = self._simple.get(template)
        if known is None:
            try:
                known = all(
                    field is None or (_FIELD.fullmatch(field) and not conversion and "{" not in (spec or ""))
                    for _, field, spec, conversion in formatter_parser(template)
                ) and not LONG.search(template)
            except ValueError:
                known = False
            if len(self._simple) > MOST:
                self._simple.clear()
            self._simple[template] = known
        return known


_FROM_BYTES: Any = int.__dict__["from_bytes"].__get__


def _table(target: str, table: Any) -> dict[int, Any]:
    """What a table that is no dict says about the characters of a text."""
    found: dict[int, Any] = {}
    for character in set(str.__str__(target)):
        with suppress(LookupError):
            found[ord(character)] = table[ord(character)]
    return found


_JUDGES: dict[str, Callable[..., None]] = {
    name.removeprefix("_judge_"): judge for name, judge in vars(Text).items() if name.startswith("_judge_")
}


class _Judged(Formatter):
    """`str.format` with every attribute judged like one in the text, every width bounded."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._total = 0

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        """Follow a field name."""
        first, rest = formatter_field_name_split(field_name)
        found = self.get_value(first, args, kwargs)
        for is_attribute, key in rest:
            found = self._text.read(found, key) if is_attribute else found[key]
        return found, first

    def format_field(self, value: Any, format_spec: str) -> Any:
        """Format one field."""
        made = self._text.format(value, format_spec)
        self._total += len(made)
        self._text.take(self._total)
        return made

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """Convert one field."""
        if conversion == "r":
            return self._text.repr(value)
        if conversion == "s":
            return self._text.shown(value)
        if conversion == "a":
            return self._text.ascii(value)
        return super().convert_field(value, conversion)


def _owners(name: str) -> Any:
    if name in {"to_bytes", "from_bytes"}:
        return int
    if name in {"seek", "truncate"}:
        return (StringIO, BytesIO)
    if name in {"format", "format_map"}:
        return str
    return _TEXTS
