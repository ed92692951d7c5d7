"""`types`, `typing`, `inspect`, `ast` and `keyword`: what a program asks about programs."""

from __future__ import annotations

import ast
import inspect
import keyword
import types
import typing
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, ForwardRef, runtime_checkable

from codeact.engines.restricted.library.parts import Parts, take
from codeact.engines.restricted.library.shared import marking, unchanged
from codeact.engines.restricted.sealed import Sealed

_SEALED = (
    "AsyncGeneratorType BuiltinFunctionType BuiltinMethodType CoroutineType FunctionType GeneratorType GenericAlias "
    "LambdaType MethodType ModuleType TracebackType UnionType"
)
_TYPING = (
    "AbstractSet Annotated Any AnyStr AsyncContextManager AsyncGenerator AsyncIterable AsyncIterator Awaitable "
    "BinaryIO Callable ChainMap ClassVar Collection Concatenate Container ContextManager Coroutine Counter DefaultDict "
    "Deque Dict Final FrozenSet Generator Generic Hashable IO ItemsView Iterable Iterator KeysView List Literal "
    "LiteralString Mapping MappingView Match MutableMapping MutableSequence MutableSet NamedTuple Never NewType "
    "NoReturn NotRequired Optional OrderedDict ParamSpec Pattern Protocol ReadOnly Required Reversible Self Sequence "
    "Set Sized SupportsAbs SupportsBytes SupportsComplex SupportsFloat SupportsIndex SupportsInt SupportsRound "
    "TYPE_CHECKING Text TextIO Tuple Type TypeAlias TypeAliasType TypeGuard TypeIs TypeVar TypeVarTuple TypedDict "
    "Union Unpack ValuesView assert_never assert_type cast is_typeddict"
)
_TESTS = (
    "isasyncgen isasyncgenfunction isawaitable isbuiltin isclass iscoroutine iscoroutinefunction isfunction "
    "isgenerator isgeneratorfunction ismethod ismodule isroutine"
)
_LITERAL = 1_000_000
"""Characters of a literal: its tree takes a hundred times as much."""

_NOWHERE = "<program 0>"
"""The file name of a text that is no program; warnings about it are of no interest."""


def make_types(parts: Parts) -> dict[str, Any]:
    """The names of `types`; those that would make machinery only tell what a value is."""
    known = parts.world.stand_ins
    sealed = {name: getattr(types, name) for name in _SEALED.split()}
    return {
        **take("types", "EllipsisType MappingProxyType NoneType NotImplementedType SimpleNamespace"),
        **{name: known.setdefault(kind, Sealed(kind)) for name, kind in sealed.items()},
    }


def make_typing(parts: Parts) -> dict[str, Any]:
    """The names of `typing`."""

    def granted(kind: Any) -> Any:
        """A part of a type as the program has it: no metaclass, and the text of what has not been looked up."""
        if isinstance(kind, ForwardRef):
            return kind.__forward_arg__
        if isinstance(kind, list):
            return [granted(one) for one in kind]
        return parts.world.builtins["type"] if kind is type else kind

    def get_origin(tp: Any) -> Any:
        return granted(typing.get_origin(tp))

    def get_args(tp: Any) -> tuple[Any, ...]:
        return tuple(granted(one) for one in typing.get_args(tp))

    def get_type_hints(obj: Any, *_: Any, include_extras: bool = False, **__: Any) -> dict[str, Any]:
        kinds = reversed(obj.__mro__) if isinstance(obj, type) else (obj,)
        found: dict[str, Any] = {}
        for kind in kinds:
            if parts.guards[".guest"](kind) or kind in parts.world.own:
                found.update(vars(kind).get("__annotations__", {}) if isinstance(kind, type) else kind.__annotations__)
        return {name: _bare(looked_up(hint), include_extras) for name, hint in found.items()}

    def looked_up(hint: Any) -> Any:
        while isinstance(hint, str):
            hint = parts.world.builtins["eval"](hint)
        return type(None) if hint is None else hint

    def reveal_type(obj: Any, /) -> Any:
        parts.load("sys").stderr.write(f"Runtime type is {type(obj).__name__!r}\n")
        return obj

    # The real ones write on whatever they are given, or keep it in a registry of the process.
    names: dict[str, Any] = dict.fromkeys(("final", "no_type_check", "overload", "override"), unchanged)
    return {
        **take("typing", _TYPING),
        **names,
        "dataclass_transform": lambda **_: unchanged,
        "get_args": get_args,
        "get_origin": get_origin,
        "get_type_hints": get_type_hints,
        "reveal_type": reveal_type,
        "runtime_checkable": marking(runtime_checkable),
    }


def _bare(hint: Any, include_extras: bool) -> Any:
    """A hint without what `Annotated` adds to it."""
    if not include_extras and typing.get_origin(hint) is typing.Annotated:
        return typing.get_args(hint)[0]
    return hint


def make_ast(_parts: Parts) -> dict[str, Any]:
    """The names of `ast`: reading literals. A tree of code would be of no use here."""

    def literal_eval(node_or_string: Any) -> Any:
        if not isinstance(node_or_string, str):
            msg = f"malformed node or string: {node_or_string!r}"
            raise ValueError(msg)  # noqa: TRY004 - as the real one
        if len(node_or_string) > _LITERAL:
            msg = f"literals of at most {_LITERAL:,} characters are read; use json.loads"
            raise ValueError(msg)
        return ast.literal_eval(ast.parse(node_or_string.lstrip(" \t"), _NOWHERE, "eval"))

    return {"literal_eval": literal_eval}


def make_keyword(_parts: Parts) -> dict[str, Any]:
    """The names of `keyword`."""
    return {
        **take("keyword", "iskeyword issoftkeyword"),
        "kwlist": list(keyword.kwlist),
        "softkwlist": list(keyword.softkwlist),
    }


def make_inspect(parts: Parts) -> dict[str, Any]:
    """The names of `inspect` that tell what a value is, and how the program's own functions are called."""
    read, names = parts.guards[".read"], parts.world.builtins["dir"]
    guest = parts.guards[".guest"]

    def signature(obj: Any, **_: Any) -> Signature:
        inner = obj.__func__ if isinstance(obj, MethodType) else obj
        if not ((isinstance(inner, FunctionType) and guest(inner)) or inner in parts.world.own):
            msg = f"no signature found for {parts.text.repr(obj)}: it is not this program's; help() tells about it"
            raise ValueError(msg)
        real = inspect.signature(obj)
        parts.sizes.walk([parameter.default for parameter in real.parameters.values()])
        return Signature(real)

    def getdoc(obj: Any) -> str | None:
        doc = getattr(obj, "__doc__", None)
        return inspect.cleandoc(doc) if isinstance(doc, str) else None

    def getmembers(obj: Any, predicate: Callable[[Any], Any] | None = None) -> list[tuple[str, Any]]:
        found = [(name, read(obj, name)) for name in names(obj)]
        return [(name, value) for name, value in found if predicate is None or predicate(value)]

    return {
        **take("inspect", f"{_TESTS} cleandoc"),
        "Parameter": Parameter,
        "Signature": Signature,
        "getdoc": getdoc,
        "getmembers": getmembers,
        "signature": signature,
    }


class Parameter:
    """One parameter of a function."""

    __slots__ = ("annotation", "default", "kind", "name")
    empty = inspect.Parameter.empty
    POSITIONAL_ONLY = inspect.Parameter.POSITIONAL_ONLY
    POSITIONAL_OR_KEYWORD = inspect.Parameter.POSITIONAL_OR_KEYWORD
    VAR_POSITIONAL = inspect.Parameter.VAR_POSITIONAL
    KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
    VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD

    def __init__(self, name: str, kind: Any, *, default: Any = empty, annotation: Any = empty) -> None:
        self.name, self.kind, self.default, self.annotation = name, kind, default, annotation

    def __repr__(self) -> str:
        return f"<Parameter {self.name}>"


class Signature:
    """How a function is called; the real one would evaluate annotations that are text, and show any default."""

    __slots__ = ("_shown", "parameters", "return_annotation")
    empty = inspect.Signature.empty

    def __init__(self, real: inspect.Signature) -> None:
        self.parameters = {
            name: Parameter(name, found.kind, default=found.default, annotation=found.annotation)
            for name, found in real.parameters.items()
        }
        self.return_annotation = real.return_annotation
        self._shown = str(real)

    def __str__(self) -> str:
        return self._shown

    def __repr__(self) -> str:
        return f"<Signature {self._shown}>"
