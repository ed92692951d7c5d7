"""Actions: functions of the host that change the world. A program can propose them, and nothing more.

Inside, `actions.refund(…)` validates its arguments and puts a `Proposal` on record. Outside, the host decides, and
performs what it approves; see `codeact.outbox`.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar, overload

from pydantic import ValidationError

from codeact.excerpts import excerpt
from codeact.limits import DEEPEST
from codeact.misfits import explain
from codeact.proposals import digest_of
from codeact.signatures import signature_line
from codeact.tools import BadArguments, Consequence, Granted, Tool, Toolset, binder, collected, tool
from codeact.values import Member, Uncrossable, from_host
from wasm_runtime.guest.names import listed

P = ParamSpec("P")
R = TypeVar("R")

KEY = "idempotency_key"
"""The parameter by which a function is told which performance this is. Programs do not see it."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """It is proposed and not done; it is decided outside, later."""

    proposal: int
    status: str = "proposed, not done: it is decided outside, after this program"


@dataclass(frozen=True, eq=False)
class Action(Consequence, Generic[P, R]):
    """A function that programs may propose to call. On the host it is called like the function it wraps.

    Attributes:
        name: the name inside.
        function: the host's function.
        doc: what the model is told.
        signature: as programs see it: without the idempotency key, and giving a `Proposed`.
        is_async: whether the function is `async def`.
        takes_key: whether the function has a parameter `idempotency_key`.
        inside: what programs see of it.
    """

    name: str
    function: Callable[P, R]
    doc: str
    signature: inspect.Signature
    is_async: bool
    takes_key: bool
    inside: Tool[..., Proposed]
    _bind: Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]

    def __repr__(self) -> str:
        return f"<action {self.signature_line}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, on the host, without validation, and at once."""
        return self.function(*args, **kwargs)

    @property
    def signature_line(self) -> str:
        """`refund(charge_id: str, amount: Decimal) -> Proposed`, as the model is told it."""
        return signature_line(self.name, self.signature, is_async=False)

    def arguments(
        self, args: tuple[object, ...], kwargs: Mapping[str, object], *, depth: int, size: int
    ) -> dict[str, object]:
        """What a program's arguments are for: plain values by the names of all parameters, validated and converted.

        Args:
            args: positional arguments, plain values.
            kwargs: keyword arguments, plain values.
            depth: levels of nesting that one may have.
            size: bytes that all of them may hold.

        Raises:
            BadArguments: they do not fit; the text names each one and shows the signature. Or they are no plain values
                that validation would take back.
        """
        try:
            bound_args, bound_kwargs = self._bind(*args, **kwargs)
        except ValidationError as error:
            msg = f"{self.name}(): {explain(self.signature_line, self.signature, error, args, kwargs)}"
            raise BadArguments(msg) from None
        plain = self._plain(bound_args, bound_kwargs, depth=depth, size=size)
        try:
            self.call_of(plain, "")
        except BadArguments as error:
            msg = f"{self.name}() cannot be proposed, which is for its host to mend: its validation does not take back what it has made: {error}"
            raise BadArguments(msg) from None
        return plain

    def call_of(self, arguments: Mapping[str, object], key: str) -> functools.partial[R]:
        """What performs the action with the arguments of a proposal.

        Args:
            arguments: see `Proposal.arguments`.
            key: the idempotency key, for functions that take one.

        Raises:
            BadArguments: they do not fit this function, or it would be given others: it is another one than they were made
                for, or its validation makes something else of what it has made already.
        """
        positional = [arguments[name] for name in self._positional() if name in arguments]
        named = {name: value for name, value in arguments.items() if name not in self._positional()}
        try:
            args, kwargs = self._bind(*positional, **named)
        except ValidationError as error:
            msg = f"{self.name}(): {explain(self.signature_line, self.signature, error, positional, named)}"
            raise BadArguments(msg) from None
        given = self._plain(args, kwargs, depth=DEEPEST, size=sys.maxsize)
        for name, value in arguments.items():
            if not _alike(value, given[name]):
                msg = f"{self.name}(): validation makes {excerpt(given[name])} of {name}={excerpt(value)}: it must leave as it is what it has made"
                raise BadArguments(msg)
        function: Callable[..., R] = self.function
        return functools.partial(function, *args, **kwargs, **({KEY: key} if self.takes_key else {}))

    def _plain(
        self, args: tuple[object, ...], kwargs: Mapping[str, object], *, depth: int, size: int
    ) -> dict[str, object]:
        """What was validated as plain values by the names of all parameters."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        plain: dict[str, object] = {}
        for name, value in bound.arguments.items():
            try:
                plain[name] = _bare(from_host(value, depth=depth, size=size))
            except Uncrossable as error:
                msg = f"{self.name}(): argument {name}{error.path}: {error.reason}"
                raise BadArguments(msg) from None
        return plain

    def _positional(self) -> tuple[str, ...]:
        parameters = self.signature.parameters.values()
        return tuple(each.name for each in parameters if each.kind is each.POSITIONAL_ONLY)


@overload
def action(function: Callable[P, R], /) -> Action[P, R]: ...
@overload
def action(*, name: str | None = None, doc: str | None = None) -> Callable[[Callable[P, R]], Action[P, R]]: ...
def action(
    function: Callable[P, R] | None = None, /, *, name: str | None = None, doc: str | None = None
) -> Action[P, R] | Callable[[Callable[P, R]], Action[P, R]]:
    """Make an action of a typed function: one that sends, charges or deletes.

    A function with a parameter `idempotency_key: str` is given a text that is the same each time the same proposal is
    performed, and another one for every other proposal. Programs do not see that parameter.

    Args:
        function: a plain or `async def` function whose parameters are annotated, each with a name.
        name: its name inside; the function's own by default.
        doc: what the model is told; the function's docstring by default.

    Raises:
        TypeError: it is not callable, a parameter has no annotation or no name of its own, it does not say what it returns,
            or a default is no plain value.
        ValueError: its name is no identifier.
    """
    if function is None:
        return functools.partial(_make, name=name, doc=doc)
    return _make(function, name=name, doc=doc)


def _make(function: Callable[P, R], *, name: str | None = None, doc: str | None = None) -> Action[P, R]:
    if isinstance(function, (Action, Tool)):
        msg = f"action: {function!r} is already {'a tool' if isinstance(function, Tool) else 'an action'}"
        raise TypeError(msg)
    made = tool(name=name, doc=doc)(function)
    parameters = []
    for parameter in made.signature.parameters.values():
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            msg = f"action {made.name!r}: *{parameter.name} has no name that a rule or a person could go by; list its parameters"
            raise TypeError(msg)
        if parameter.name != KEY:
            _check_default(made.name, parameter)
            parameters.append(parameter)
    signature = made.signature.replace(parameters=parameters, return_annotation=Proposed)
    bind = binder(made.name, signature)
    inside: Tool[..., Proposed] = Tool(made.name, _unreachable, made.doc, signature, False, None, None, bind)
    return Action(
        name=made.name,
        function=function,
        doc=made.doc,
        signature=signature,
        is_async=made.is_async,
        takes_key=KEY in made.signature.parameters,
        inside=inside,
        _bind=bind,
    )


def _unreachable(*_args: object, **_kwargs: object) -> Proposed:
    msg = "what programs see of an action is proposed, and not called"
    raise RuntimeError(msg)


def _check_default(name: str, parameter: inspect.Parameter) -> None:
    if parameter.default is parameter.empty:
        return
    try:
        from_host(parameter.default, depth=16, size=1_000_000)
    except Uncrossable as error:
        msg = f"action {name!r}: the default of {parameter.name!r} is no plain value, and could not be put on record: {error}"
        raise TypeError(msg) from None


def _bare(value: object) -> object:
    """The value with members of Enums as what they stand for, which validation takes back."""
    match value:
        case Member():
            return _bare(value.value)
        case dict():
            return {_bare(key): _bare(item) for key, item in dict.items(value)}
        case list():
            return [_bare(item) for item in value]
        case tuple():
            return tuple(_bare(item) for item in value)
        case _:
            return value


def _alike(one: object, other: object) -> bool:
    try:
        if one == other:
            return True
    except ArithmeticError:  # a signalling NaN
        pass
    return digest_of("", {"": one}) == digest_of("", {"": other})  # NaN is as good as NaN


class Actions(Mapping[str, "Action[..., Any]"]):
    """The actions that a sandbox lets its programs propose, by name, read-only."""

    __slots__ = ("_actions",)

    def __init__(self, actions: Granted = ()) -> None:
        """Collect actions.

        Args:
            actions: actions or typed functions, or a mapping from the name inside to either.

        Raises:
            TypeError: a member is a tool, not callable or not annotated, or `actions` is no collection.
            ValueError: two have one name, or a name is no identifier.
        """
        self._actions = collected("actions", actions, _as_action)

    def __getitem__(self, name: str) -> Action[..., Any]:
        return self._actions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._actions)

    def __len__(self) -> int:
        return len(self._actions)

    def __repr__(self) -> str:
        return f"Actions({listed(list(self._actions)) if self._actions else ''})"

    @property
    def inside(self) -> Toolset:
        """What programs see of them."""
        return Toolset([member.inside for member in self._actions.values()])


def _as_action(member: Callable[..., Any], name: str | None) -> Action[..., Any]:
    if not isinstance(member, Action):
        return action(name=name)(member)
    return member if name is None or name == member.name else action(name=name, doc=member.doc)(member.function)
