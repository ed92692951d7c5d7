"""What a guest may send: texts that are nearly right, texts that are not, and programs that send them themselves."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Self

from hypothesis import strategies as st

from wasm_runtime.guest.codec import _IN
from wasm_runtime.guest.records import Member, record

MARKS = [*_IN, "nothing", "", "$"]
NAMES = ["echo", "fetch", "greedy", "typed", "broken", "stuck", "nope", "__class__", "__call__", "", "tools.echo", "é\u202e", "x" * 300]  # fmt: skip
KEYS = [
    "value",
    "number",
    "names",
    "self",
    "cls",
    "args",
    "kwargs",
    "__class__",
    "items",
    "get",
    "$",
    "v",
    "",
    "\ud800",
]
ZONES = ["UTC", "Europe/Berlin", "America", "../UTC", "/etc/localtime", "", ".", "tzdata.zi", "a/__init__.py", "x\0y", "\ud800", "A/" * 90]  # fmt: skip
COUNTS = st.one_of(st.integers(-3, 40), st.sampled_from([2**31, 2**63, -(2**63), 10**15]))

# --- the text of a value -------------------------------------------------------------------------------------

_numbers = st.one_of(
    COUNTS.map(str),
    st.sampled_from(["-0", "1.5", "-1e400", "1e-400", "NaN", "Infinity", "-Infinity", "1" * 5000, "0.1" + "1" * 400]),
    st.integers(0, 12).map(lambda n: str(n * (2**61 - 1))),
)
_strings = st.one_of(
    st.text(max_size=8),
    st.sampled_from([*KEYS, *ZONES, "0x" + "f" * 300, "-0x1", "1e999999", "9" * 400, "sNaN123", "2026-02-30", "2026-01-02",
                     "0001-01-01T00:00:00", "9999-12-31T23:59:59.999999", "24:00", "12:00:00+25:00", "{0.__class__}"]),
)  # fmt: skip
_leaves = st.one_of(st.sampled_from(["null", "true", "false", "{}", "[]"]), _numbers, _strings.map(json.dumps))


def _object(pairs: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f"{json.dumps(key)}:{value}" for key, value in pairs) + "}"


def _joined(items: Iterable[str]) -> str:
    return f"[{','.join(items)}]"


_spans = st.lists(_numbers, max_size=5).map(_joined)


_DEEPEST = 3


@st.composite
def value(draw: st.DrawFn, depth: int = _DEEPEST) -> str:
    """JSON as the codec writes it, more or less: every mark with every content, keys twice, numbers of all sizes.

    It is no `st.recursive`: to make an example of such a one smaller takes hypothesis hours and gigabytes.
    """
    shape = draw(st.integers(0 if depth < _DEEPEST else 3, 12)) if depth else 0
    inner = value(depth - 1)
    if shape < 4:
        return draw(_leaves)
    if shape < 6:
        return _joined(draw(st.lists(inner, max_size=10 if depth < _DEEPEST else 3)))
    if shape == 6:
        return _object(draw(st.lists(st.tuples(st.sampled_from(KEYS), inner), max_size=3)))
    mark = draw(st.sampled_from(MARKS))
    content = draw(_content(mark, inner)) if draw(st.integers(0, 4)) else draw(inner)
    fields = [("$", json.dumps(mark)), ("v", content)]
    if mark in {"datetime", "time"}:
        fields.append(("fold", draw(st.sampled_from(["0", "0", "1", "2"]))))
        fields += draw(st.lists(st.tuples(st.just("zone"), _zones), max_size=1))
    if mark == "member":
        fields.append(("n", draw(_strings.map(json.dumps))))
    strange = st.tuples(st.sampled_from(["v", "n", "fold", "zone", "$", "x"]), inner)
    return _object([*fields, *(draw(st.lists(strange, max_size=2)) if not draw(st.integers(0, 4)) else [])])


def _content(mark: str, inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """What an object with this mark holds."""
    match mark:
        case "tuple" | "set" | "frozenset":
            return st.lists(inner, max_size=12).map(_joined)
        case "dict":
            return st.lists(st.tuples(inner, inner).map(_joined), max_size=4).map(_joined)
        case "rec":
            return st.lists(st.tuples(st.sampled_from(KEYS), inner), max_size=4).map(_object)
        case "fraction":
            return st.tuples(_whole, _whole).map(_joined)
        case "timedelta":
            return st.lists(COUNTS.map(str), min_size=3, max_size=3).map(_joined)
        case "int" | "bytes" | "datetime" | "date" | "time" | "decimal" | "uuid":
            return _FITTING[mark].map(json.dumps)
        case _:
            return inner


_hexadecimal = st.one_of(
    st.integers().map(hex), st.sampled_from(["0x" + "f" * 250, "0x" + "f" * 400, "-0x" + "1" * 70_000])
)
_whole = st.one_of(COUNTS.map(str), _hexadecimal.map(lambda text: _object([("$", '"int"'), ("v", json.dumps(text))])))
_FITTING = {
    "int": _hexadecimal,
    "bytes": st.text(alphabet="a\0\xff\u0100", max_size=5),
    "datetime": st.sampled_from(["0001-01-01T00:00:00", "9999-12-31T23:59:59.999999", "2026-03-29T02:30:00"]),
    "date": st.dates().map(str),
    "time": st.times().map(str),
    "decimal": st.one_of(
        st.decimals().map(str), st.sampled_from(["1E999999", "-1E-999999", "9" * 400, "9" * 90_000, "sNaN1"])
    ),
    "uuid": st.uuids().map(str),
}
_zones = st.one_of(
    st.sampled_from(ZONES).map(json.dumps),
    _spans,
    st.tuples(st.just("0"), st.integers(-90_000, 90_000).map(str), st.just("0")).map(_joined),
    st.tuples(st.just("0"), st.just("3600"), st.just("0"), _strings.map(json.dumps)).map(_joined),
)

values = value()


@st.composite
def damaged(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """A text of which a piece is gone, is there twice, or is another one."""
    text = draw(texts)
    begin = draw(st.integers(0, len(text)))
    end = draw(st.integers(begin, min(len(text), begin + 20)))
    piece = draw(st.one_of(st.just(""), st.text(max_size=5), st.just(text[begin:end] * 2), _leaves))
    return text[:begin] + piece + text[end:]


def nearly(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Texts as they are, damaged ones, and any text at all."""
    return st.one_of(*[texts] * 5, damaged(texts), damaged(texts), st.text(max_size=30))


class _Many(str):
    """A piece of text many times; what is shown of it is short."""

    __slots__ = ("_shown",)

    def __new__(cls, piece: str, count: int) -> Self:
        made = super().__new__(cls, piece * count)
        made._shown = f"{piece!r} * {count:_}"
        return made

    def __repr__(self) -> str:
        return self._shown


heavy = st.builds(
    _Many,
    st.sampled_from(["[", '{"a":', "[],", '{"$":"tuple","v":[', '{"$":"frozenset","v":[', '"', '\\"', "1", ",", "\n", "-0\n", "+1 echo [[],{}]\n", "\0", "é"]),
    st.sampled_from([1_000, 30_000, 300_000]),
)  # fmt: skip

# --- calls ---------------------------------------------------------------------------------------------------

names = st.one_of(st.sampled_from(NAMES), st.text(max_size=10))
_kwargs = st.lists(st.tuples(st.sampled_from(KEYS), values), max_size=3).map(_object)
_arguments = st.builds(lambda args, kwargs: f"[[{','.join(args)}],{kwargs}]", st.lists(values, max_size=3), _kwargs)
arguments = nearly(st.one_of(_arguments, _arguments, values))
lines = st.integers(0, 2**32 - 1)

_entries = st.one_of(
    st.builds("+{} {} {}".format, COUNTS, names, arguments),
    st.builds("+{} fetch [[{}],{{}}]".format, COUNTS, COUNTS),
    st.just("+1 stuck [[],{}]"),
    st.builds("-{}".format, st.one_of(COUNTS, st.sampled_from(["", "-1", "٣", "9" * 5000]))),
    st.text(max_size=10),
)
sendings = nearly(st.lists(_entries, max_size=8).map("\n".join))

messages = st.one_of(
    st.tuples(st.just("call"), names, st.one_of(arguments, arguments, heavy), lines),
    st.tuples(st.just("wait"), st.one_of(sendings, sendings, sendings, heavy), st.sampled_from([0, 1, 10**6, -(2**63)]), lines),
    st.tuples(st.just("write"), st.one_of(st.text(max_size=50), heavy), lines),
    st.tuples(st.just("now")),
    st.tuples(st.just("monotonic")),
)  # fmt: skip
"""What comes through one door, once: its name and what is handed over."""

plain = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=5), st.decimals(), st.fractions(),
        st.datetimes(timezones=st.none() | st.timezones()), st.dates(), st.times(), st.timedeltas(), st.uuids(),
        st.sampled_from([1 << 9_000, "\ud800", float("nan"), Member("x", 1)]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple), st.dictionaries(st.text(max_size=5), inner, max_size=4),
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=4).map(record),
    ),
    max_leaves=10,
)  # fmt: skip
"""Values as they are once they have been read."""

plain_args = st.lists(plain, max_size=3).map(tuple)
plain_kwargs = st.dictionaries(st.sampled_from(KEYS), plain, max_size=3)

# --- answers -------------------------------------------------------------------------------------------------

_json_text = st.one_of(_strings, st.just("x" * 5_000)).map(json.dumps)
_small = st.one_of(*[st.integers(0, 50).map(str)] * 4, _numbers)
_frames = st.lists(
    st.one_of(*[st.builds("[{},{},{}]".format, _small, _json_text, st.integers(0, 3))] * 3, st.lists(_leaves, max_size=4).map(_joined)), max_size=3
).map(lambda frames: f"[{','.join(frames)}]")  # fmt: skip
_kinds = [
    "syntax",
    "denied",
    "runtime",
    "tool",
    "timeout",
    "fuel",
    "memory",
    "stack",
    "calls",
    "output",
    "value",
    "host",
]


@st.composite
def _fields(draw: st.DrawFn, rows: dict[str, st.SearchStrategy[str]]) -> str:
    """An object with these fields: now and then one holds anything, is missing or is there twice."""
    pairs = [(key, draw(row)) for key, row in rows.items()]
    place = draw(st.integers(0, len(pairs) - 1))
    key = pairs[place][0]
    wrong = draw(st.sampled_from(["", "", "", "", "other", "missing", "twice"]))
    if wrong == "other":
        pairs[place] = key, draw(values)
    elif wrong == "missing":
        del pairs[place]
    elif wrong == "twice":
        pairs.append((key, draw(st.one_of(values, rows[key]))))
    return _object(pairs)


_faults = _fields(
    {
        "kind": st.sampled_from(_kinds).map(json.dumps),
        "type": _json_text,
        "message": _json_text,
        "frames": _frames,
        "offset": st.one_of(st.just("null"), _small),
        "hint": st.one_of(st.just("null"), _json_text),
        "omitted": _small,
        "cause": st.one_of(st.just("null"), _json_text),
    }
)
_listed = st.lists(_json_text, max_size=3).map(lambda items: f"[{','.join(items)}]")
_heads = _fields(
    {
        "finished": st.sampled_from(["true", "false"]),
        "bound": _listed,
        "unbound": _listed,
        "unawaited": st.lists(st.builds("[{},{}]".format, _json_text, _small), max_size=2).map(lambda items: f"[{','.join(items)}]"),
        "exit": st.one_of(st.just("null"), _small),
        "fault": st.one_of(st.just("null"), _faults, _faults),
    }
)  # fmt: skip

_paths = st.one_of(
    st.sampled_from(["a", "b/c", "../a", "/a", "", "a//b", ".", "é", "x" * 300, "tmp/\x1b[31m"]), st.text(max_size=4)
)


@st.composite
def parcels(draw: st.DrawFn) -> str:
    """Files as they are packed, with paths, orders and lengths that need not be right."""
    files = draw(st.lists(st.tuples(_paths, st.one_of(st.none(), st.text(alphabet="ab\xff", max_size=5))), max_size=4))
    if draw(st.booleans()):
        files = sorted(dict(files).items())
    wrong = draw(st.sampled_from([0, 0, 0, 0, 1, -1, 10**9]))
    table = "".join(f"{path}\0{'' if data is None else len(data) + wrong}\0" for path, data in files)
    off = draw(st.sampled_from([0, 0, 0, 1, -1, 10**11]))
    return f"{len(table) + off}\0{table}" + "".join(data or "" for _, data in files)


answers = nearly(
    st.one_of(
        st.builds("{}\n{}".format, _heads, nearly(values)),
        st.builds("{}\n{}\n{}".format, _heads, st.one_of(st.just("null"), values), nearly(parcels())),
        _heads,
    )
)
"""What a guest says at the end of a run."""

# --- programs that send such things themselves ---------------------------------------------------------------

_raw = st.one_of(
    st.integers(-3, 20), COUNTS, st.text(max_size=5), st.none(), st.just([]), st.just(["echo", "[[1],{}]", 1]), st.just(("",)),
    st.just(["+1 fetch [[1],{}]", 0, 1]), st.just(b"x"), st.floats(),
)  # fmt: skip
_program_parts = st.one_of(
    messages.map(lambda message: f"wit_world.{message[0]}(*{message[1:]!r})"),
    st.builds(
        "runtime.call_import({!r}, {!r})".format, st.integers(-1, 6), st.one_of(st.lists(_raw, max_size=3), _raw)
    ),
    st.builds("runtime.drop_resource({!r}, {!r})".format, _raw, _raw),
    answers.map(lambda answer: f"exchange._reply = lambda *_: {answer!r}"),
    values.map(lambda value: f"codec.encode = lambda *_: {value!r}"),
    st.sampled_from(
        [
            "faults.describe = lambda *_: {'kind': 'host'}",
            "class D:\n    def __del__(self):\n        wit_world.call('echo', '[[\"late\"],{}]', 1)\nkept = D()",
            "def late():\n    try:\n        yield\n    finally:\n        wit_world.wait('+1 fetch [[1],{}]', 0, 1)\nkept2 = late()\nnext(kept2)",
            "import atexit\natexit.register(lambda: wit_world.call('echo', '[[1],{}]', 1))",
            "exchange._write = lambda *_: 1 / 0",
            "parcel.pack = lambda *_: 'x' * 100",
            "sys.modules.clear()",
            "wit_world.WitWorld().run('{}')",
            'exchange.run(\'{"source": "1", "number": 1}\')',
            "tools.fetch(1)",
            "await tools.fetch(1)",
            "sys.exit(10 ** 30)",
            "raise SystemExit('x' * 10 ** 6)",
            "raise KeyboardInterrupt",
            "raise type('TimeoutError', (BaseException,), {})('the program was terminated after 5 s (limit timeout)')",
        ]
    ),
)


def _program(parts: list[str]) -> str:
    body = [
        "import sys, wit_world, componentize_py_runtime as runtime",
        "exchange, codec, faults, parcel = (sys.modules['guest.' + n] for n in ('exchange', 'codec', 'faults', 'parcel'))",
    ]
    for part in parts[:-1]:
        inner = "\n".join(f"    {line}" for line in part.split("\n"))
        body.append(f"try:\n{inner}\nexcept BaseException as error:\n    print(type(error))")
    return "\n".join([*body, *parts[-1:]])


diggers = st.lists(_program_parts, min_size=1, max_size=5).map(_program)
"""Programs that dig out the doors and everything around them, and send through them whatever they like."""
