"""The builtins that a program has. What is not here does not exist."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from functools import partial
from itertools import compress
from types import AsyncGeneratorType, CoroutineType, FunctionType, GeneratorType, MethodType, UnionType
from typing import Any, NoReturn

from codeact.engines.restricted.arithmetic import SCALARS
from codeact.engines.restricted.evaluation import Evaluation
from codeact.engines.restricted.files import Files
from codeact.engines.restricted.guards import make_guards
from codeact.engines.restricted.imports import make_importer
from codeact.engines.restricted.kinds import Type
from codeact.engines.restricted.lazy import BUILTINS, LongRange, make_range
from codeact.engines.restricted.names import Sort, sort
from codeact.engines.restricted.output import Output
from codeact.engines.restricted.refusals import RAISING, refusal
from codeact.engines.restricted.sealed import Making, Sealed
from codeact.engines.restricted.sealed import real as unsealed
from codeact.engines.restricted.sizes import INT_BITS, Sizes, plain
from codeact.engines.restricted.text import Text
from codeact.engines.restricted.toolbox import Tool, Toolbox, explain, make_toolbox
from codeact.engines.restricted.world import World
from wasm_runtime.guest.faults import ToolError

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
}

_SEALED = (FunctionType, compress, GeneratorType, CoroutineType, AsyncGeneratorType)

_HEX_DIGITS = INT_BITS // 2


def make_builtins(world: World) -> dict[str, Any]:  # noqa: C901, PLR0915 - a table of closures
    """The builtins of one world, guards included."""
    sizes = Sizes(world.limits.memory, world.meter.tick)
    text = Text(sizes)
    guards = make_guards(world, sizes, text)
    text.read = guards[".read"]
    world.make_files = partial(Files, world, sizes, text)
    meter = world.meter
    stand_ins: dict[type, Any] = {kind: Sealed(kind) for kind in _SEALED}

    def bound(function: Any, target: Any, /) -> MethodType:
        if not guards[".guest"](function):
            msg = "types.MethodType binds functions of this program"
            raise TypeError(msg)
        return MethodType(function, target)

    stand_ins[MethodType] = Making(MethodType, bound)
    load = make_importer(world, guards, sizes, text)
    kind_of = Type(world, guards[".make_class"], load)
    ranges = make_range(meter)
    stand_ins[range] = stand_ins[LongRange] = ranges

    def real(kind: Any) -> Any:
        """The classes behind a class that is granted as something else."""
        if kind is kind_of:
            return type
        if kind is ranges:
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

    def integer(value: Any = 0, *base: Any, **named: Any) -> int:
        kind = type(value)
        if kind is not int and kind is not float:
            if isinstance(value, (str, bytes, bytearray)):
                if (base or named) and len(value) > _HEX_DIGITS:
                    sizes.bits(4 * len(value))
            else:
                sizes.exponent(value)
        return int(value, *base, **named)

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
            return kind(*args, **named)

        return make

    def power(base: Any, exp: Any, mod: Any = None) -> Any:
        if mod is not None:
            sizes.modular_power(exp, mod)
            return pow(base, exp, mod)
        return guards[".pow"](base, exp)

    def rounded(number: Any, ndigits: Any = None) -> Any:
        if isinstance(ndigits, int) and isinstance(number, int):
            if -ndigits > int.bit_length(number):
                return 0
        else:
            sizes.places(number, ndigits)
        return round(number, ndigits) if ndigits is not None else round(number)

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

    def hashed(value: Any) -> int:
        if type(value) not in SCALARS:
            sizes.walk(value)
        return hash(value)

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

    numbers: dict[int, int] = {}

    def number_of(value: Any) -> int:
        return numbers.setdefault(id(value), len(numbers) + 1)

    def fields(*args: Any) -> dict[str, Any]:
        if len(args) != 1:
            msg = f"vars() needs an object here: {refusal('vars()').told()}"
            raise TypeError(msg)
        return guards[".vars"](args[0])  # type: ignore[no-any-return]

    def names(*args: Any) -> list[str]:
        if len(args) != 1:
            msg = f"dir() needs an object here: {refusal('dir()').told()}"
            raise TypeError(msg)
        return [
            name
            for name in dir(args[0])
            if type(name) is str and name[:1] not in "_." and sort(name) is not Sort.REFUSED
        ]

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

    def helped(subject: Any = None) -> None:
        if isinstance(subject, Tool):
            world.write(explain(subject) + "\n")
        elif subject is None or isinstance(subject, Toolbox):
            world.write(str(toolbox) + "\n")
        else:
            doc = getattr(subject, "__doc__", None)
            name = getattr(subject, "__name__", type(subject).__name__)
            world.write(f"{name}\n{doc if isinstance(doc, str) else 'no documentation'}\n")

    def opened(*args: Any, **named: Any) -> Any:
        return world.files.open(*args, **named)

    toolbox = make_toolbox(world)
    output, errors = Output(world), Output(world)
    named: dict[str, Any] = {
        "dir": names,
        "hash": hashed,
        "help": helped,
        "id": number_of,
        "isinstance": is_instance,
        "issubclass": is_subclass,
        "iter": iterator,
        "max": largest,
        "min": smallest,
        "open": opened,
        "pow": power,
        "print": show,
        "round": rounded,
        "sorted": in_order,
        "sum": total,
        "vars": fields,
    }
    for name, function in named.items():
        function.__name__ = function.__qualname__ = name
    granted: dict[str, Any] = {
        **PLAIN,
        **guards,
        **named,
        ".sized": text.call,
        ".join": text.join,
        ".str": text.shown,
        ".int": integer,
        ".bytes": byte_string(bytes),
        ".bytearray": byte_string(bytearray),
        **{f".{kind.__name__}": collection(kind, hashing=False) for kind in (list, tuple)},
        **{f".{kind.__name__}": collection(kind, hashing=True) for kind in (set, frozenset)},
        ".text": text.show,
        ".repr": text.repr,
        ".ascii": text.ascii,
        ".format": text.format,
        ".stderr": errors,
        ".stdout": output,
        "__import__": load,
        "ascii": text.ascii,
        "delattr": guards[".delattr"],
        "format": text.format,
        "getattr": guards[".getattr"],
        "hasattr": guards[".hasattr"],
        "range": ranges,
        "repr": text.repr,
        "setattr": guards[".setattr"],
        "tools": toolbox,
        "type": kind_of,
    }
    granted.update(Evaluation(world, granted).guards())
    world.builtins = granted
    world.stand_ins = stand_ins
    return granted
