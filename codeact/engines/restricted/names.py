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

GUARDED = frozenset({*SIZED, "format", "format_map", "decode", "elements", "extend", "mro", "obj", "register"})
"""Plain names for which the object decides."""

HOSTED = frozenset({"buffer_info", "timestamp", "astimezone", "strftime", "samples", "clear_cache"})
"""Plain names that a pattern may read too, of methods that would ask the host for what the world has of its own."""

OPERATIONS = frozenset(
    {
        "__abs__", "__add__", "__aenter__", "__aexit__", "__aiter__", "__and__", "__anext__", "__await__", "__bool__",
        "__bytes__", "__call__", "__ceil__", "__complex__", "__contains__", "__delete__", "__delitem__", "__divmod__",
        "__enter__", "__eq__", "__exit__", "__float__", "__floor__", "__floordiv__", "__format__", "__ge__", "__get__",
        "__getitem__", "__gt__", "__hash__", "__iadd__", "__iand__", "__ifloordiv__", "__ilshift__", "__imatmul__",
        "__imod__", "__imul__", "__index__", "__int__", "__invert__", "__ior__", "__ipow__", "__irshift__", "__isub__",
        "__iter__", "__itruediv__", "__ixor__", "__le__", "__len__", "__length_hint__", "__lshift__", "__lt__",
        "__matmul__", "__missing__", "__mod__", "__mul__", "__ne__", "__neg__", "__next__", "__or__", "__pos__",
        "__pow__", "__radd__", "__rand__", "__rdivmod__", "__repr__", "__reversed__", "__rfloordiv__", "__rlshift__",
        "__rmatmul__", "__rmod__", "__rmul__", "__ror__", "__round__", "__rpow__", "__rrshift__", "__rshift__",
        "__rsub__", "__rtruediv__", "__rxor__", "__set__", "__setitem__", "__str__", "__sub__", "__truediv__",
        "__trunc__", "__xor__",
    }
)  # fmt: skip
"""Special methods that syntax calls: calling one by its name can do no more."""

LIFE = frozenset(
    {
        "__copy__", "__deepcopy__", "__delattr__", "__dir__", "__init__", "__init_subclass__", "__instancecheck__",
        "__post_init__", "__replace__", "__set_name__", "__setattr__", "__sizeof__", "__subclasscheck__",
        "__subclasshook__",
    }
)  # fmt: skip
"""Special methods that the interpreter and its library call in the life of an object or a class."""

JUDGED = frozenset({"__new__", "__getattr__"})
"""Special methods that are judged where they are written; see `Definitions`."""

ADDABLE = OPERATIONS | LIFE
"""Special methods that a class may be given in any way."""

DEFINABLE = ADDABLE | JUDGED
"""Special methods that a class statement may define. Left out is what runs unseen (`__del__`), takes objects apart
(`__reduce__` and the like) or stands between every read and its object (`__getattribute__`)."""

ASSIGNABLE = frozenset({"__slots__", "__hash__", "__doc__"})
"""Special names that a class body may bind in any way; `__match_args__` only as a constant."""

TELLING = frozenset({"__name__", "__qualname__", "__doc__", "__module__"})
"""Special names that are plain text on everything that has them."""

WRITABLE = TELLING | {"__annotations__", "__cause__", "__dict__", "__wrapped__"}
"""Special names beside the methods that a program may write, where the object allows it."""

READABLE = (
    DEFINABLE
    | WRITABLE
    | {
        "__abstractmethods__", "__base__", "__bases__", "__class__", "__code__", "__defaults__", "__func__",
        "__kwdefaults__", "__members__", "__mro__", "__notes__", "__self__", "__slots__", "__subclasses__",
        "__suppress_context__",
    }
)  # fmt: skip
"""Special names that a program may read, where the object allows it."""

VARIABLES = ADDABLE | frozenset(
    {
        "__all__", "__author__", "__copyright__", "__credits__", "__date__", "__doc__", "__email__", "__license__",
        "__maintainer__", "__name__", "__status__", "__title__", "__version__",
    }
)  # fmt: skip
"""Special names that are variables like any other outside a class: functions that a class is given later, and what
modules tell of themselves."""

LOADABLE = VARIABLES | DEFINABLE | {"__annotations__", "__class__", "__debug__", "__module__", "__qualname__"}
"""Special names that may be read as variables."""

RESERVED = frozenset(
    {
        "_apply_", "_getattr_", "_getitem_", "_getiter_", "_inplacevar_", "_iter_unpack_sequence_", "_print_",
        "_unpack_sequence_", "_write_",
    }
)  # fmt: skip
"""What guards are called elsewhere. No guard is called so here, but nobody should have to know."""

RECORD_NAMES = frozenset({"_asdict", "_replace", "_make", "_fields", "_field_defaults"})
"""The public methods of namedtuples, which start with an underscore only to stay out of the way of fields."""


def is_special(name: str) -> bool:
    """Whether it has two underscores on each side."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")  # noqa: PLR2004 - four underscores


def sort(name: str) -> Sort:
    """How an attribute of that name is read."""
    if name[:1] == "_":
        if is_special(name):
            return Sort.SPECIAL if name in READABLE else Sort.REFUSED
        return Sort.PRIVATE
    if name in GUARDED:
        return Sort.GUARDED
    return Sort.REFUSED if name in REFUSED else Sort.FREE


def in_pattern(name: str) -> bool:
    """Whether a pattern may read it, past every guard."""
    return sort(name) is Sort.FREE


def sort_at_run_time(name: str) -> Sort:
    """The same for a name that is only known when the program runs, as strict as it would be in the text."""
    if name.isascii():
        return sort(name)
    written = sort(normalize("NFKC", name))
    return written if written is not Sort.FREE else sort(name)
