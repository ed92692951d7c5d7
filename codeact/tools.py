"""Tools: typed functions of the host that a program may call, and the read-only set of those granted."""

from __future__ import annotations

import functools
import inspect
import keyword
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, cast, overload
from unicodedata import normalize

from pydantic import ConfigDict, ValidationError, validate_call
from pydantic.errors import PydanticUserError

from codeact.misfits import explain
from codeact.shapes import Shape, shape_of
from codeact.signatures import signature_line
from wasm_runtime.guest.names import listed

P = ParamSpec("P")
R = TypeVar("R")


class Consequence:
    """What changes the world, and so is no tool; see `codeact.actions`."""

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class Tool(Generic[P, R]):
    """A function that programs may call. On the host it is called like the function it wraps.

    Attributes:
        name: the name inside.
        function: the host's function.
        doc: what the model is told.
        signature: the function's signature, annotations resolved.
        is_async: whether it is `async def`, and so awaitable inside.
        timeout: seconds one call may take; None leaves it to the limits.
        shape: makes records of the TypedDicts in what it returns; None where there are none.
    """

    name: str
    function: Callable[P, R]
    doc: str
    signature: inspect.Signature
    is_async: bool
    timeout: float | None
    shape: Shape | None
    _bind: Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]

    def __repr__(self) -> str:
        return f"<tool {self.signature_line}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, on the host and without validation."""
        return self.function(*args, **kwargs)

    @property
    def signature_line(self) -> str:
        """`get_charges(customer_id: str) -> list[Charge]`, as the model is told it."""
        return signature_line(self.name, self.signature, is_async=self.is_async)

    def bind(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Validate arguments against the annotations.

        Returns:
            The positional and keyword arguments to call the function with, converted.

        Raises:
            BadArguments: they do not fit; the text names each one and shows the signature.
        """
        try:
            return self._bind(*args, **kwargs)
        except ValidationError as error:
            msg = f"{self.name}(): {explain(self.signature_line, self.signature, error, args, kwargs)}"
            raise BadArguments(msg) from None


class BadArguments(TypeError):
    """Arguments that do not fit a tool's signature."""


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *, name: str | None = None, doc: str | None = None, timeout: float | None = None
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    doc: str | None = None,
    timeout: float | None = None,
) -> Tool[P, R] | Callable[[Callable[P, R]], Tool[P, R]]:
    """Make a tool of a typed function. A tool must be safe to call twice: it reads, it does not act.

    Args:
        function: a plain or `async def` function whose parameters are annotated.
        name: its name inside; the function's own by default.
        doc: what the model is told; the function's docstring by default.
        timeout: seconds one call may take before the program meets a `ToolError`.

    Raises:
        TypeError: it is not callable, a parameter has no annotation, or it does not say what it returns.
        ValueError: its name is no identifier, or the timeout is not above zero.
    """
    if function is None:
        return functools.partial(_make, name=name, doc=doc, timeout=timeout)
    return _make(function, name=name, doc=doc, timeout=timeout)


def _make(
    function: Callable[P, R], *, name: str | None = None, doc: str | None = None, timeout: float | None = None
) -> Tool[P, R]:
    if isinstance(function, Tool):
        msg = f"tool {function.name!r} is already a tool"
        raise TypeError(msg)
    if isinstance(function, Consequence):
        msg = f"tools: {function!r} changes the world, and a tool may be called twice; give it as one of actions=[…]"
        raise TypeError(msg)
    if not callable(function):
        msg = f"expected a function, got {function!r}"
        raise TypeError(msg)
    inside = name if name is not None else getattr(function, "__name__", None)
    if inside is None:
        msg = f"{function!r} has no name; give one: name=…"
        raise ValueError(msg)
    _check_name(inside)
    if timeout is not None and not (isinstance(timeout, (int, float)) and timeout > 0):
        msg = f"tool {inside!r}: timeout={timeout!r} must be a number of seconds above zero"
        raise ValueError(msg)
    signature, returns = _signature(inside, function)
    return Tool(
        name=inside,
        function=function,
        doc=inspect.cleandoc(doc if doc is not None else getattr(function, "__doc__", None) or ""),
        signature=signature,
        is_async=_is_async(function),
        timeout=timeout,
        shape=shape_of(returns),
        _bind=binder(inside, signature),
    )


def _check_name(name: str) -> None:
    if (
        not isinstance(name, str)
        or not name.isidentifier()
        or keyword.iskeyword(name)
        or name.startswith("_")
        or normalize("NFKC", name) != name
    ):
        msg = f'{name!r} is no public identifier; give another name: name="…"'
        raise ValueError(msg)


def _is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _signature(name: str, function: Callable[..., object]) -> tuple[inspect.Signature, object]:
    try:
        signature = inspect.signature(function)
        hinted = function if inspect.isroutine(function) else type(function).__call__
        if isinstance(function, functools.partial):
            hinted = function.func
        hints = typing.get_type_hints(hinted, include_extras=True)
    except (NameError, TypeError, ValueError) as error:
        msg = f"function {name!r}: its signature cannot be read: {error}"
        raise TypeError(msg) from error
    parameters = []
    for parameter in signature.parameters.values():
        if parameter.name not in hints:
            msg = f"function {name!r}: parameter {parameter.name!r} has no annotation; the model and the check need one"
            raise TypeError(msg)
        parameters.append(parameter.replace(annotation=hints[parameter.name]))
    returns = hints.get("return", inspect.Signature.empty)
    if returns is inspect.Signature.empty:
        msg = f"function {name!r} does not say what it returns; annotate it (-> None if nothing)"
        raise TypeError(msg)
    return signature.replace(parameters=parameters, return_annotation=returns), returns


def binder(name: str, signature: inspect.Signature) -> Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]:
    """A function that validates arguments for this signature and gives them back instead of calling."""

    def bound(*args: object, **kwargs: object) -> tuple[tuple[object, ...], dict[str, object]]:
        return args, kwargs

    twin = cast("Any", bound)
    twin.__name__ = twin.__qualname__ = name
    twin.__signature__ = signature.replace(return_annotation=inspect.Signature.empty)
    twin.__annotations__ = {parameter.name: parameter.annotation for parameter in signature.parameters.values()}
    try:
        return validate_call(config=ConfigDict(arbitrary_types_allowed=False))(bound)
    except PydanticUserError as error:
        msg = f"function {name!r}: an annotation is no type that values can have: {error.message.partition(chr(10))[0]}"
        raise TypeError(msg) from error


Granted = Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]]
"""What a sandbox takes as tools: tools or typed functions, or a mapping from the name inside to either."""


class Toolset(Mapping[str, "Tool[..., Any]"]):
    """The tools granted to a sandbox, by name, read-only."""

    __slots__ = ("_tools",)

    def __init__(self, tools: Granted = ()) -> None:
        """Collect tools.

        Raises:
            TypeError: a member is not callable or not annotated, or `tools` is no collection.
            ValueError: two have one name, or a name is no identifier.
        """
        self._tools = collected("tools", tools, _as_tool)

    def __getitem__(self, name: str) -> Tool[..., Any]:
        return self._tools[name]

    def get(self, name: str, default: Any = None, /) -> Any:
        """The tool of that name, or the default."""
        return self._tools.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"Toolset({listed(list(self._tools)) if self._tools else ''})"


def _as_tool(member: Callable[..., Any], name: str | None) -> Tool[..., Any]:
    if not isinstance(member, Tool):
        return tool(name=name)(member)
    if name is None or name == member.name:
        return member
    return tool(name=name, doc=member.doc, timeout=member.timeout)(member.function)


class Named(Protocol):
    """What programs find by its name."""

    @property
    def name(self) -> str:
        """The name inside."""
        ...


N = TypeVar("N", bound=Named)


def collected(
    noun: str, given: Granted, made: Callable[[Callable[..., Any], str | None], N]
) -> MappingProxyType[str, N]:
    """What a host gives of one kind, by name.

    Args:
        noun: what they are, and the argument that they were given as: `tools`.
        given: see `Granted`.
        made: makes one of a member, of the name that it was given by; None where it was given by none.

    Raises:
        TypeError: a member is none, or `given` is no collection.
        ValueError: two have one name, or a name is no identifier.
    """
    named: Iterable[tuple[str | None, Callable[..., Any]]]
    if isinstance(given, Mapping):
        named = given.items()
    elif isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        msg = f"{noun}={given!r}: expected a list of {noun} or typed functions (put a single one in a list), or a mapping of names to them"
        raise TypeError(msg)
    else:
        named = ((None, member) for member in given)
    found: dict[str, N] = {}
    for name, member in named:
        one = made(member, name)
        if one.name in found:
            msg = f'{noun}: two {noun} are named {one.name!r}; rename one: @{noun.removesuffix("s")}(name="…")'
            raise ValueError(msg)
        found[one.name] = one
    return MappingProxyType(found)
