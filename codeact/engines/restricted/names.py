"""What a name may lead to: one table, read by the policy in the text and by the guards at run time.

Every attribute name falls into one class. `free` names are read without a guard, because no object that is granted
carries anything harmful under them. The others need the object to be judged, or are refused.
"""

from __future__ import annotations

from enum import Enum
from unicodedata import normalize

from RestrictedPython.transformer import INSPECT_ATTRIBUTES


class Sort(Enum):
    """How an attribute is read."""

    FREE = "free"
    PRIVATE = "private"
    SPECIAL = "special"
    GUARDED = "guarded"
    REFUSED = "refused"


REFUSED = frozenset(
    {
        *INSPECT_ATTRIBUTES,
        "f_lineno",
        "gi_running",
        "gi_suspended",
        "cr_running",
        "cr_suspended",
        "ag_running",
        "mro",
        "tb_lasti",
        "tb_lineno",
        "with_traceback",
    }
)
"""Plain names that lead into frames, code, or the tree of classes."""

SIZED = frozenset(
    {
        "center",
        "encode",
        "expandtabs",
        "from_bytes",
        "join",
        "ljust",
        "replace",
        "rfind",
        "rindex",
        "rjust",
        "rpartition",
        "rsplit",
        "seek",
        "split",
        "splitlines",
        "to_bytes",
        "translate",
        "truncate",
        "zfill",
    }
)
"""Methods whose result can be far larger, or take far longer, than their arguments tell."""

GUARDED = frozenset({*SIZED, "format", "format_map", "decode", "elements", "obj", "register"})
"""Plain names for which the object decides."""

HOSTED = frozenset({"timestamp", "astimezone", "strftime", "samples", "clear_cache"})
"""Plain names that a pattern may read too, of methods that would ask the host for what the world has of its own."""

OPERATIONS = frozenset(
    {
        "__aenter__", "__aexit__", "__aiter__", "__anext__", "__await__", "__bool__", "__call__", "__contains__",
        "__delitem__", "__enter__", "__eq__", "__exit__", "__ge__", "__getitem__", "__gt__", "__hash__",
        "__init__", "__init_subclass__", "__iter__", "__le__", "__len__", "__lt__", "__missing__", "__ne__",
        "__new__", "__next__", "__post_init__", "__repr__", "__reversed__", "__setitem__", "__str__",
    }
)  # fmt: skip
"""Special methods that a program may define, and call on its own classes, on `super()` and on classes."""

DEFINABLE = OPERATIONS | frozenset(
    {
        "__abs__", "__add__", "__and__", "__ceil__", "__complex__", "__delete__", "__divmod__", "__float__",
        "__floor__", "__floordiv__", "__format__", "__get__", "__iadd__", "__iand__", "__ifloordiv__",
        "__ilshift__", "__imatmul__", "__imod__", "__imul__", "__index__", "__int__", "__invert__", "__ior__",
        "__ipow__", "__irshift__", "__isub__", "__itruediv__", "__ixor__", "__length_hint__", "__lshift__",
        "__matmul__", "__mod__", "__mul__", "__neg__", "__or__", "__pos__", "__pow__", "__radd__", "__rand__",
        "__rdivmod__", "__rfloordiv__", "__rlshift__", "__rmatmul__", "__rmod__", "__rmul__", "__ror__",
        "__round__", "__rpow__", "__rrshift__", "__rshift__", "__rsub__", "__rtruediv__", "__rxor__", "__set__",
        "__set_name__", "__sub__", "__truediv__", "__trunc__", "__xor__",
    }
)  # fmt: skip
"""Special methods that a program may define. Left out is what runs unseen or answers for other names:
`__del__`, `__getattr__`, `__getattribute__`, `__setattr__`, `__class_getitem__`, `__reduce__` and the like."""

ASSIGNABLE = frozenset({"__slots__", "__hash__", "__doc__"})
"""Special names that a class body may assign; `__match_args__` only as a constant."""

TELLING = frozenset({"__name__", "__qualname__", "__doc__"})
"""Special names that are plain text on everything that has them."""

READABLE = OPERATIONS | TELLING | {"__class__", "__dict__", "__setattr__", "__members__", "__annotations__"}
"""Special names that a program may read, where the object allows it."""

ENUM_HOOKS = frozenset({"_missing_", "_generate_next_value_", "_ignore_", "_order_"})
"""Names with one underscore on each side that Enum gives a meaning."""

RECORD_NAMES = frozenset({"_asdict", "_replace", "_make", "_fields", "_field_defaults"})
"""The public methods of namedtuples, which start with an underscore only to stay out of the way of fields."""


def is_special(name: str) -> bool:
    """Whether it has two underscores on each side."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")  # noqa: PLR2004 - four underscores


def is_reserved(name: str) -> bool:
    """Whether it has one underscore on each side, as names of machinery have."""
    return len(name) > 2 and name[0] == "_" == name[-1] and name[1] != "_" != name[-2]  # noqa: PLR2004


def sort(name: str) -> Sort:
    """How an attribute of that name is read."""
    if name[:1] == "_":
        if is_special(name):
            return Sort.SPECIAL if name in READABLE else Sort.REFUSED
        return Sort.PRIVATE
    if name in GUARDED:
        return Sort.GUARDED
    return Sort.REFUSED if name in REFUSED else Sort.FREE


def sort_at_run_time(name: str) -> Sort:
    """The same for a name that is only known when the program runs, as strict as it would be in the text."""
    if name.isascii():
        return sort(name)
    written = sort(normalize("NFKC", name))
    return written if written is not Sort.FREE else sort(name)
