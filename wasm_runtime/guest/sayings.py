"""Tables: what programs write that Python calls something else, and what to do about what Python says."""

from __future__ import annotations

CONSTANTS = {"true": "True", "false": "False", "null": "None", "undefined": "None", "NaN": 'float("nan")'}

"""What others call Python's constants."""

OF_DATETIME = frozenset({"datetime", "date", "time", "timedelta", "timezone", "UTC"})
"""Names of the module `datetime`; those of the class are others."""

HOMES: dict[str, frozenset[str]] = {
    module: frozenset(names.split())
    for module, names in {
        "collections": "Counter OrderedDict defaultdict deque namedtuple",
        "dataclasses": "asdict dataclass field",
        "datetime": "UTC date timedelta timezone",
        "decimal": "ROUND_HALF_EVEN ROUND_HALF_UP Decimal",
        "enum": "Enum IntEnum StrEnum auto",
        "fractions": "Fraction",
        "functools": "cache lru_cache partial reduce wraps",
        "heapq": "heappop heappush nlargest nsmallest",
        "io": "StringIO BytesIO",
        "itertools": "accumulate chain combinations groupby islice pairwise permutations product zip_longest",
        "math": "ceil floor inf isclose isnan pi prod sqrt",
        "operator": "attrgetter itemgetter",
        "pathlib": "Path",
        "pprint": "pprint",
        "statistics": "mean median stdev",
        "textwrap": "dedent",
        "typing": "Any Callable Dict List NamedTuple Optional Tuple TypedDict Union",
        "uuid": "UUID uuid4",
        "zoneinfo": "ZoneInfo",
    }.items()
}
"""Names that programs use as if they were there, by the module they come from."""

METHODS: dict[tuple[type, str], str] = {
    (list, "add"): "{x}.append(…)",
    (list, "push"): "{x}.append(…)",
    (set, "append"): "{x}.add(…)",
    (dict, "add"): "{x}[key] = value",
    (dict, "append"): "{x}[key] = value",
    (dict, "has_key"): "key in {x}",
    (dict, "iteritems"): "{x}.items()",
    (str, "contains"): "part in {x}",
    (str, "trim"): "{x}.strip()",
    (str, "toLowerCase"): "{x}.lower()",
    (str, "toUpperCase"): "{x}.upper()",
    (str, "append"): "{x} += …",
    (str, "decode"): "{x} as it is: it is text already",
    **{(kind, name): "len({x})" for kind in (list, tuple, str, dict, set) for name in ("length", "size")},
    **{(kind, name): "a comprehension: [… for item in {x}]" for kind in (list, tuple) for name in ("map", "filter")},
}
"""What others call methods of builtin types, and what to write; `x` is the value."""

SAYINGS: tuple[tuple[str, str], ...] = (
    ("'decimal.Decimal' and 'float'", "Decimal and float do not mix: make the float a Decimal(str(x))"),
    ("'float' and 'decimal.Decimal'", "Decimal and float do not mix: make the float a Decimal(str(x))"),
    ("offset-naive and offset-aware", "give both a time zone: x.replace(tzinfo=datetime.timezone.utc)"),
    ("'datetime.date' and 'datetime.datetime'", "make the datetime a date: x.date()"),
    ("'datetime.datetime' and 'datetime.date'", "make the datetime a date: x.date()"),
    ("compare datetime.datetime to datetime.date", "make the datetime a date: x.date()"),
    ("'datetime.date' and 'str'", 'make the text a date: datetime.date.fromisoformat("2026-01-31")'),
    ("'str' and 'datetime.date'", 'make the text a date: datetime.date.fromisoformat("2026-01-31")'),
    ("'datetime.datetime' and 'str'", "make the text a datetime: datetime.datetime.fromisoformat(text)"),
    ("'str' and 'datetime.datetime'", "make the text a datetime: datetime.datetime.fromisoformat(text)"),
    ("is not JSON serializable", "return the value itself, which need not be JSON; or json.dumps(…, default=str)"),
    ("the JSON object must be str", "it is no text but the data itself: use it without json.loads"),
    ("can only concatenate str", "make it text: str(…), or an f-string"),
    ("NoneType", "a value is None: check for that before use, or give a default: (x or 0)"),
    ("unhashable type: 'Record'", "a record cannot be in a set or a key of a dict: use a field of it, such as its id"),
    ("unhashable type: 'list'", "a list cannot be in a set or a key of a dict: use tuple(…)"),
    ("unhashable type: 'dict'", "a dict cannot be in a set or a key of a dict: use a value of it, or tuple(x.items())"),
    ("unhashable type: 'slice'", "a dict has no order to slice: list(x.items())[…]"),
    ("unhashable type: 'set'", "a set cannot be in a set or a key of a dict: use frozenset(…)"),
    ("'set' object is not subscriptable", "a set has no order: sorted(x)[0], or next(iter(x))"),
    ("'dict_keys' object is not subscriptable", "make it a list first: list(…)[0]"),
    ("'dict_values' object is not subscriptable", "make it a list first: list(…)[0]"),
    ("'dict_items' object is not subscriptable", "make it a list first: list(…)[0]"),
    ("'generator' object is not subscriptable", "make it a list first: list(…)[0]"),
    ("'Tool' object is not subscriptable", "call a tool: tools.name(…)"),
    ("'AwaitableTool' object is not subscriptable", "call a tool: await tools.name(…)"),
    ("'Tools' object is not callable", "call one of the tools: tools.name(…)"),
    ("'Toolbox' object is not callable", "call one of the tools: tools.name(…)"),
    ("'str' and 'int'", "one is text and one a number: convert with int(…) or str(…)"),
    ("'int' and 'str'", "one is text and one a number: convert with int(…) or str(…)"),
    ("'str' and 'float'", "one is text and one a number: convert with float(…) or str(…)"),
    ("'float' and 'str'", "one is text and one a number: convert with float(…) or str(…)"),
    ("is an empty sequence", "give a default for when there is nothing: max(items, default=None)"),
    ("iterable argument is empty", "give a default for when there is nothing: max(items, default=None)"),
    ("invalid literal for int() with base 10: '", "only digits become an int: check the text, or use float(…)"),
)
"""The next step for what the interpreter says, by a part of it."""
