"""The builtins that a program has. What is not here does not exist."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import compress
from types import AsyncGeneratorType, CoroutineType, FunctionType, GeneratorType, MethodType, UnionType
from typing import Any, NoReturn

from codeact.engines import Face
from codeact.engines.restricted.arithmetic import SCALARS
from codeact.engines.restricted.evaluation import Evaluation
from codeact.engines.restricted.files import Files
from codeact.engines.restricted.guards import FIXED, GUARDS
from codeact.engines.restricted.imports import make_importer
from codeact.engines.restricted.kinds import Type
from codeact.engines.restricted.lazy import BUILTINS, LongRange, Range
from codeact.engines.restricted.names import SIZED, Sort, sort
from codeact.engines.restricted.output import Output
from codeact.engines.restricted.refusals import MISSING, RAISING, refusal
from codeact.engines.restricted.sealed import Making, Sealed
from codeact.engines.restricted.sealed import real as unsealed
from codeact.engines.restricted.sizes import INT_BITS, length, plain
from codeact.engines.restricted.supply import Group, Supply, homes_of
from codeact.engines.restricted.toolbox import Tool, Toolbox, explain, make_toolboxes
from codeact.engines.restricted.world import World
from codeact.limits import Limits
from wasm_runtime.guest.faults import ToolError
from wasm_runtime.guest.names import ACTIONS

_PLAIN = (
    "abs", "aiter", "all", "anext", "any", "bin", "bool", "bytearray", "bytes", "callable", "chr", "classmethod",
    "complex", "dict", "divmod", "float", "frozenset", "hex", "int", "len", "list", "next", "object",
    "oct", "ord", "property", "reversed", "set", "slice", "staticmethod", "str", "super", "tuple",
    "Ellipsis", "NotImplemented", "__debug__",
)  # fmt: skip
"""Builtins that are harmless as they are: what they run through is charged where it comes from."""

_ERRORS = tuple(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException) and name[0] != "_"
)


def _absent(name: str) -> Any:
    """A builtin that says at a call that it cannot be called."""

    def absent(*_: Any, **__: Any) -> NoReturn:
        msg = f"{name}(): {refusal(name).told()}"
        raise RAISING[name](msg)

    absent.__name__ = absent.__qualname__ = name
    return Making(memoryview, absent) if name == "memoryview" else absent


PLAIN: dict[str, Any] = {
    **{name: getattr(builtins, name) for name in (*_PLAIN, *_ERRORS) if hasattr(builtins, name)},
    **BUILTINS,
    **{name: _absent(name) for name in RAISING},
    "ToolError": ToolError,
    "range": Range,
    **FIXED,
}
"""What is the same in every world."""

_SEALED: dict[type, Any] = {
    **{kind: Sealed(kind) for kind in (FunctionType, compress, GeneratorType, CoroutineType, AsyncGeneratorType)},
    range: Range,
    LongRange: Range,
}

_HEX_DIGITS = INT_BITS // 2


def make_supply(world: World) -> Supply:
    """The builtins of one world, guards included."""
    supply = world.builtins = Supply(world, PLAIN, _homes())
    supply.made["__import__"] = make_importer(supply)
    world.make_files = lambda: Files(world, supply.sizes, supply.text)

    def bound(function: Any, target: Any, /) -> MethodType:
        if not supply[".guest"](function):
            msg = "types.MethodType binds functions of this program"
            raise TypeError(msg)
        return MethodType(function, target)

    world.stand_ins = {**_SEALED, MethodType: Making(MethodType, bound)}
    return supply


def _kinds(supply: Supply) -> dict[str, Any]:
    """Types, and what tells them."""

    def make(*args: Any, **named: Any) -> type:
        return supply[".make_class"](*args, **named)  # type: ignore[no-any-return]

    kind_of = Type(supply.world, make, supply.made["__import__"])

    def real(kind: Any) -> Any:
        """The classes behind a class that is granted as something else."""
        if kind is kind_of:
            return type
        if kind is Range:
            return (range, LongRange)
        if type(kind) is tuple:
            return tuple(map(real, kind))
        if isinstance(kind, UnionType):
            return tuple(map(real, kind.__args__))
        return unsealed(kind)

    def is_instance(value: Any, kind: Any) -> bool:
        return isinstance(type if value is kind_of else unsealed(value), real(kind))

    def is_subclass(value: Any, kind: Any) -> bool:
        return issubclass(type if value is kind_of else unsealed(value), real(kind))

    own = supply.world.own

    def kind_of_one(value: Any) -> Any:
        kind = type(value)
        return kind if kind in own or kind in SCALARS else kind_of(value)

    return {**_named(isinstance=is_instance, issubclass=is_subclass), "type": kind_of, ".kind": kind_of_one}


def _numbers(supply: Supply) -> dict[str, Any]:
    """What makes numbers of others."""
    sizes = supply.sizes

    def integer(value: Any = 0, *base: Any, **named: Any) -> int:
        if base or named:
            if length(value) > _HEX_DIGITS:
                sizes.bits(4 * length(value))
            return int(value, *base, **named)
        if type(value) not in SCALARS:
            sizes.exponent(value)
        return int(value)

    def power(base: Any, exp: Any, mod: Any = None) -> Any:
        if mod is not None:
            sizes.modular_power(exp, mod)
            return pow(base, exp, mod)
        return supply[".pow"](base, exp)

    def rounded(number: Any, ndigits: Any = None) -> Any:
        ndigits = plain(ndigits)
        if isinstance(ndigits, int) and isinstance(number, int):
            if -ndigits > int.bit_length(number):
                return 0
        else:
            sizes.places(number, ndigits)
        return round(number, ndigits) if ndigits is not None else round(number)

    return {".int": integer, **_named(pow=power, round=rounded)}


def _sums(supply: Supply) -> dict[str, Any]:
    """Sums."""
    sizes, meter = supply.sizes, supply.world.meter

    def total(iterable: Iterable[Any], /, start: Any = 0) -> Any:
        if type(start) in (int, float):
            return sum(iterable, start)
        if isinstance(start, list):
            made = list(start)
            for part in iterable:
                meter.tick()
                sizes.take(8 * (len(made) + len(part)))
                made += part
            return made
        if isinstance(start, (str, bytes)):
            msg = "sum() can't sum strings [use ''.join(seq) instead]"
            raise TypeError(msg)
        for part in iterable:
            meter.tick()
            sizes.sum(start, part)
            start = start + part
        return start

    return _named(sum=total)


def _collections(supply: Supply) -> dict[str, Any]:
    """What makes collections."""
    sizes, text = supply.sizes, supply.text

    def byte_string(kind: Callable[..., Any]) -> Callable[..., Any]:
        def make(*args: Any, **named: Any) -> Any:
            args = (*map(plain, args[:1]), *args[1:])
            if args and isinstance(args[0], int):
                sizes.take(args[0])
            elif args and isinstance(args[0], str):
                text.method(args[0], "encode")(*args[1:], **named)  # type: ignore[misc]
            return kind(*args, **named)

        return make

    def collection(kind: Callable[..., Any], *, hashing: bool) -> Callable[..., Any]:
        def make(*args: Any, **named: Any) -> Any:
            if args and isinstance(args[0], (str, bytes, bytearray)):
                sizes.take_apart(args[0])
            elif hashing and args and type(args[0]) in (list, tuple) and not SCALARS.issuperset(map(type, args[0])):
                sizes.keys(args[0])
            elif kind is tuple and len(args) == 1:
                args = (supply[".spread"](args[0]),)
            return kind(*args, **named)

        return make

    return {
        ".bytes": byte_string(bytes),
        ".bytearray": byte_string(bytearray),
        **{f".{kind.__name__}": collection(kind, hashing=False) for kind in (list, tuple)},
        **{f".{kind.__name__}": collection(kind, hashing=True) for kind in (set, frozenset)},
    }


def _passes(supply: Supply) -> dict[str, Any]:
    """What runs through an iterable, or is about to."""
    sizes, meter = supply.sizes, supply.world.meter

    def iterator(*args: Any) -> Any:
        made = iter(*args)
        return meter.charged(made) if len(args) > 1 else made

    def smallest(*args: Any, **named: Any) -> Any:
        return min(*args, **keyed(named))

    def largest(*args: Any, **named: Any) -> Any:
        return max(*args, **keyed(named))

    def keyed(named: dict[str, Any]) -> dict[str, Any]:
        return {**named, "key": meter.ticking(named["key"])} if "key" in named else named

    def in_order(iterable: Iterable[Any], /, *, key: Any = None, reverse: Any = False) -> list[Any]:
        if isinstance(iterable, (str, bytes, bytearray)):
            sizes.take_apart(iterable)
        return sorted(iterable, key=meter.ticking(key), reverse=reverse)

    return _named(iter=iterator, min=smallest, max=largest, sorted=in_order)


def _looks(supply: Supply) -> dict[str, Any]:
    """What looks at a value."""
    sizes = supply.sizes
    numbers: dict[int, int] = {}

    def hashed(value: Any) -> int:
        if type(value) not in SCALARS:
            sizes.walk(value)
        return hash(value)

    def number_of(value: Any) -> int:
        return numbers.setdefault(id(value), len(numbers) + 1)

    def fields(*args: Any) -> dict[str, Any]:
        if len(args) != 1:
            msg = f"vars() needs an object here: {refusal('vars()').told()}"
            raise TypeError(msg)
        return supply[".vars"](args[0])  # type: ignore[no-any-return]

    def names(*args: Any) -> list[str]:
        if len(args) != 1:
            msg = f"dir() needs an object here: {refusal('dir()').told()}"
            raise TypeError(msg)
        return [
            name
            for name in dir(args[0])
            if type(name) is str and name[:1] not in "_." and sort(name) is not Sort.REFUSED
        ]

    return _named(hash=hashed, id=number_of, vars=fields, dir=names)


def _members(supply: Supply) -> dict[str, Any]:
    """Attributes by names that are values."""
    return {name: supply["." + name] for name in ("delattr", "getattr", "hasattr", "setattr")}


def _texts(supply: Supply) -> dict[str, Any]:
    """What makes text, and methods of text."""
    text = supply.text
    return {
        ".sized": text.call,
        ".join": text.join,
        ".str": text.shown,
        ".text": text.show,
        ".repr": text.repr,
        ".ascii": text.ascii,
        ".format": text.format,
        ".percent": text.percent,
        "ascii": text.ascii,
        "format": text.format,
        "repr": text.repr,
    }


def _sized(supply: Supply) -> dict[str, Any]:
    """Methods of text whose result can be far larger than their arguments tell."""
    return {f".sized_{name}": supply.text.caller(name) for name in SIZED - {"join"}}


def _outputs(supply: Supply) -> dict[str, Any]:
    """What prints."""
    world, text = supply.world, supply.text
    output, errors = Output(world), Output(world)

    def show(*values: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False) -> None:
        del flush
        for name, given in (("sep", sep), ("end", end)):
            if given is not None and not isinstance(given, str):
                msg = f"{name} must be None or a string, not {type(given).__name__}"
                raise TypeError(msg)
        sep, end = plain(sep), plain(end)  # a text's own class may add to others what it likes
        line = (" " if sep is None else sep).join([text.shown(value) for value in values]) + (
            "\n" if end is None else end
        )
        (output if file is None else file).write(line)

    return {**_named(print=show), ".stderr": errors, ".stdout": output}


def _tools(supply: Supply) -> dict[str, Any]:
    """The tools and actions, and what tells of them."""
    world = supply.world
    toolbox, actions = make_toolboxes(world)

    def helped(subject: Any = None) -> None:
        if isinstance(subject, Tool):
            world.write(explain(subject) + "\n")
        elif subject is None or isinstance(subject, Toolbox):
            world.write(f"{toolbox if subject is None else subject}\n")
        else:
            doc = getattr(subject, "__doc__", None)
            name = getattr(subject, "__name__", type(subject).__name__)
            world.write(f"{name}\n{doc if isinstance(doc, str) else 'no documentation'}\n")

    return {**_named(help=helped), "tools": toolbox, **({"actions": actions} if len(actions) else {})}


def _files(supply: Supply) -> dict[str, Any]:
    """What opens files."""
    world = supply.world

    def opened(*args: Any, **named: Any) -> Any:
        return world.files.open(*args, **named)

    return _named(open=opened)


def _named(**functions: Any) -> dict[str, Any]:
    """Functions by the names that they have in errors."""
    for name, function in functions.items():
        function.__name__ = function.__qualname__ = name
    return functions


_GROUPS: tuple[Group, ...] = (
    *GUARDS, _kinds, _numbers, _sums, _collections, _passes, _looks, _members, _texts, _sized, _outputs, _tools, _files,
    lambda supply: Evaluation(supply).guards(),
)  # fmt: skip


_ANY = Face(f"{ACTIONS}any", "", "", awaitable=False)
"""An action, because `actions` has a home too; worlds without any do not find it there."""


@cache
def _homes() -> Mapping[str, Group]:
    """By the name of a builtin that belongs to one world what makes it."""
    specimen = Supply(World((_ANY,), Limits(), 1), PLAIN, {})
    specimen.made["__import__"] = make_importer(specimen)
    return homes_of(_GROUPS, specimen)


@cache
def builtin_names() -> frozenset[str]:
    """The names that mean something in every world, and by which the policy goes: those of what is missing too."""
    return frozenset({*PLAIN, *_homes(), *MISSING})
