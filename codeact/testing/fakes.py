"""Fake tools: canned answers behind real signatures, which remember how they were called.

tools = fake_tools(get_charges=[Charge("ch_1", 1200)], get_order=LookupError("no such order"))
result = Sandbox(tools).run("tools.get_charges('c1')[0].amount")
assert result.value == 1200
tools["get_charges"].assert_called("c1")

An answer is a value; an exception, which is raised; or a function, which is called with the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from inspect import BoundArguments, Signature, isawaitable, iscoroutinefunction
from typing import Any, ParamSpec, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from codeact.tools import Tool, tool

__all__ = ["FakeCall", "FakeTool", "FakeTools", "Fakes", "fake_tools"]

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class FakeCall:
    """One call of a fake, as it came through the door: validated and converted.

    Attributes:
        name: the tool's.
        arguments: by the names of the parameters, with the defaults of those that were left out.
    """

    name: str
    arguments: Mapping[str, object]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


@dataclass(frozen=True, eq=False, repr=False)
class FakeTool(Tool[P, R]):
    """A tool with canned answers, which remembers its calls.

    Attributes:
        calls: what it was called with, in order; also calls that it was told to fail.
    """

    calls: list[FakeCall] = field(default_factory=list)

    def assert_called(self, *args: object, **kwargs: object) -> None:
        """Fail unless it was called so, by position or by name; without arguments, unless it was called at all.

        Raises:
            AssertionError: it was not; the text lists the calls there were.
            TypeError: the arguments do not fit its signature.
        """
        if not (args or kwargs):
            assert self.calls, f"{self.name} was not called"  # noqa: S101 - that is what it is for
            return
        wanted = FakeCall(self.name, _full(self.signature.bind(*args, **kwargs)))
        assert wanted in self.calls, f"{wanted} was not called; {_told(self.calls)}"  # noqa: S101 - as above

    def assert_not_called(self) -> None:
        """Fail where it was called.

        Raises:
            AssertionError: it was; the text lists the calls.
        """
        assert not self.calls, f"{self.name} was called; {_told(self.calls)}"  # noqa: S101 - that is what it is for


class FakeTools(Mapping[str, "FakeTool[..., Any]"]):
    """Fakes by name, to be granted to a sandbox as they are."""

    __slots__ = ("_tools",)

    def __init__(self, tools: Mapping[str, FakeTool[..., Any]]) -> None:
        """Hold fakes; `fake_tools` makes them."""
        self._tools = dict(tools)

    def __getitem__(self, name: str) -> FakeTool[..., Any]:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"FakeTools({', '.join(self._tools)})"

    def assert_not_called(self) -> None:
        """Fail where any of them was called.

        Raises:
            AssertionError: one was; the text lists its calls.
        """
        for fake in self._tools.values():
            fake.assert_not_called()


class Fakes:
    """Makes fake tools; see `fake_tools`."""

    __slots__ = ()

    def __call__(
        self, *given: FakeTool[..., Any] | Mapping[str, object] | Callable[..., object], **answers: object
    ) -> FakeTools:
        """Fakes by name.

        Args:
            given: fakes that `of` made; typed functions, which are called and remembered; or mappings from names to
                answers.
            answers: the answer of each, by the name of the tool. Unless it is a function with a signature of its own,
                the tool takes any arguments.

        Raises:
            TypeError: something given is none of these, or a function is not typed as a tool must be.
            ValueError: two have one name, or a name is no public identifier.
        """
        found: list[FakeTool[..., Any]] = []
        for one in given:
            if isinstance(one, FakeTool):
                found.append(one)
            elif isinstance(one, Mapping):
                found.extend(_answering(name, answer) for name, answer in one.items())
            elif callable(one):
                real = one if isinstance(one, Tool) else tool(one)
                found.append(_faked(real, real.function))
            else:
                msg = f"{one!r:.200}: expected a fake, a typed function, or a mapping of names to answers"
                raise TypeError(msg)
        found.extend(_answering(name, answer) for name, answer in answers.items())
        named = {fake.name: fake for fake in found}
        if len(named) < len(found):
            names = [fake.name for fake in found]
            msg = f"two fakes are named {next(name for name in names if names.count(name) > 1)!r}"
            raise ValueError(msg)
        return FakeTools(named)

    def of(self, real: Callable[P, R], *, returns: object) -> FakeTool[P, R]:
        """A fake in the place of a real tool: same name, signature and documentation, so arguments are validated.

        Args:
            real: a tool, or a typed function. It is never called.
            returns: its answer. It must fit what the real one returns, and may be written as plain data: a dict becomes
                the dataclass or model that it stands for.

        Raises:
            TypeError: the answer does not fit, or `real` is no tool.
        """
        made = real if isinstance(real, Tool) else tool(real)
        return _faked(made, _checked(made, returns))

    def by_argument(self, answers: Mapping[Any, object]) -> Callable[..., object]:
        """An answer that depends on the arguments.

        Args:
            answers: answers by the first argument, or by a tuple of all arguments, in the order of the signature. What is
                not among them is a `LookupError`.
        """

        def answer(*args: object, **kwargs: object) -> object:
            asked = (*args, *kwargs.values())
            for key in (asked, *asked[:1]):
                if key in answers:
                    return answers[key]
            msg = f"this fake has no answer for {', '.join(map(repr, asked)) or 'no arguments'}"
            raise LookupError(msg)

        return answer


fake_tools = Fakes()
"""Makes fake tools: `fake_tools(get_charges=[…])`, `fake_tools(fake_tools.of(get_charges, returns=[…]))`."""


def _answering(name: str, answer: object) -> FakeTool[..., Any]:
    """A fake of any signature, or of the function's own."""
    if isinstance(answer, FakeTool):
        msg = f"{name}: a fake has its name already; give it without one"
        raise TypeError(msg)
    if callable(answer) and not isinstance(answer, type) and _is_typed(answer):
        typed = tool(name=name)(answer)
        return _faked(typed, typed.function)

    def anything(*args: Any, **kwargs: Any) -> Any: ...

    async def anything_later(*args: Any, **kwargs: Any) -> Any: ...

    real: Any = anything_later if iscoroutinefunction(answer) else anything
    real.__annotations__["return"] = _kind(answer)
    return _faked(tool(name=name, doc="")(real), answer)


def _is_typed(function: Callable[..., object]) -> bool:
    try:
        found = Signature.from_callable(function)
    except ValueError:  # some built-in ones have none
        return False
    annotations = [parameter.annotation for parameter in found.parameters.values()]
    return Signature.empty not in (*annotations, found.return_annotation)


def _kind(answer: object) -> Any:
    """The type that a canned answer shows the model."""
    if isinstance(answer, BaseException) or callable(answer):
        return Any
    if isinstance(answer, (list, tuple)) and answer:
        (kind, *others) = {type(member) for member in answer}
        return list[Any if others else kind]  # type: ignore[misc] # known when it runs
    return None if answer is None else type(answer)


def _faked(real: Tool[P, R], answer: object) -> FakeTool[P, R]:
    """The tool, with an answer in the place of its function."""
    calls: list[FakeCall] = []

    def asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = real.signature.bind(*args, **kwargs)
        calls.append(FakeCall(real.name, _full(bound)))
        given = answer
        if callable(given):
            given = given(*bound.args, **bound.kwargs)
        if isinstance(given, BaseException):
            raise given
        return given

    def now(*args: Any, **kwargs: Any) -> Any:
        return asked(args, kwargs)

    async def later(*args: Any, **kwargs: Any) -> Any:
        given = asked(args, kwargs)
        return await given if isawaitable(given) else given

    function: Any = later if real.is_async else now
    function.__name__ = real.name
    function.__signature__ = real.signature
    function.__annotations__ = {name: found.annotation for name, found in real.signature.parameters.items()}
    function.__annotations__["return"] = real.signature.return_annotation
    made = tool(name=real.name, doc=real.doc, timeout=real.timeout)(function)
    return FakeTool(**{one.name: getattr(made, one.name) for one in fields(Tool)}, calls=calls)


def _checked(real: Tool[..., Any], returns: object) -> object:
    """The answer, once it fits what the tool returns; a function's answers are looked at as they are given."""
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(real.signature.return_annotation)
    except PydanticUserError:  # a type that has no schema: nobody can say what fits it
        return returns

    def fitting(answer: object) -> object:
        if isinstance(answer, BaseException):
            return answer
        try:
            return adapter.validate_python(answer)
        except ValidationError as error:
            wrong = error.errors(include_url=False)[0]
            place = "".join(f"[{part!r}]" for part in wrong["loc"])
            msg = f"returns{place}: {wrong['msg']}; {real.signature_line}"
            raise TypeError(msg) from None

    if not callable(returns):
        return fitting(returns)

    def answer(*args: Any, **kwargs: Any) -> Any:
        given = returns(*args, **kwargs)
        return _later(given) if isawaitable(given) else fitting(given)

    async def _later(given: Any) -> Any:
        return fitting(await given)

    return answer


def _full(bound: BoundArguments) -> dict[str, object]:
    bound.apply_defaults()
    return dict(bound.arguments)


def _told(calls: list[FakeCall]) -> str:
    return f"there was {', '.join(map(str, calls))}" if calls else "it was not called"
