"""Rules: what is approved or refused without asking anybody.

    rules = [
        Refuse("refund", where={"amount": Gt(500)}, reason="never without the finance team"),
        Allow("refund", where={"amount": Interval(gt=0, le=50), "currency": "EUR"}, count=1),
        Allow("send_reply", count=3, rate=Rate(100, seconds=3600)),
    ]

The first rule that speaks decides. Where none speaks, the callback is asked, and then a person.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from inspect import isroutine
from types import MappingProxyType
from typing import Annotated, Any, Protocol, cast
from uuid import UUID

from annotated_types import Ge, Gt, Interval, Le, Len, Lt, MaxLen, MinLen, MultipleOf, Predicate
from pydantic import StringConstraints, TypeAdapter
from pydantic.errors import PydanticUserError

from codeact.actions import Actions

_MEASURES = (Ge, Gt, Interval, Le, Len, Lt, MaxLen, MinLen, MultipleOf, Predicate, StringConstraints)
"""Constraints that hold or fail by themselves. Others would be ignored where they stand alone, and hold for all."""

_PLAIN = (type(None), bool, int, float, str, bytes, Decimal, Fraction, date, datetime, time, timedelta, UUID)
"""Types of values that an argument may have to be equal to."""

log = logging.getLogger("codeact")

Condition = Callable[[object], bool | None]
"""Whether it is met; None where nobody can say, because a predicate of the host's has failed."""


class Tally(Protocol):
    """How much of an action has been approved."""

    def approved(self, name: str, task: str) -> int:
        """How many entries of an action have been approved in a task, by whomever."""
        ...

    def approved_since(self, name: str, moment: float) -> int:
        """How many entries of an action have been approved in all tasks since a time, by whomever."""
        ...


@dataclass(frozen=True, slots=True)
class Rate:
    """So many in so many seconds, over all tasks.

    Raises:
        ValueError: one of them is not above zero.
        TypeError: one of them is no number.
    """

    count: int
    seconds: float

    def __post_init__(self) -> None:
        _check_count("Rate(count", self.count)
        if isinstance(self.seconds, bool) or not isinstance(self.seconds, (int, float)):
            msg = f"Rate(seconds={self.seconds!r}): expected a number of seconds"
            raise TypeError(msg)
        if not 0 < self.seconds < math.inf:
            msg = f"Rate(seconds={self.seconds!r}): must be above zero, and finite"
            raise ValueError(msg)


@dataclass(frozen=True)
class _About:
    """An action, or those of its calls whose arguments meet every condition."""

    name: str
    where: Mapping[str, object] = field(default_factory=dict)
    _conditions: Mapping[str, Condition] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kind = type(self).__name__
        if not isinstance(self.name, str):
            msg = f"{kind}({self.name!r:.200}): expected the name of an action"
            raise TypeError(msg)
        if not isinstance(self.where, Mapping):
            msg = f"{kind}({self.name!r}, where={self.where!r:.200}): expected conditions by the names of parameters, such as {{'amount': Le(50)}}"
            raise TypeError(msg)
        object.__setattr__(self, "where", MappingProxyType(dict(self.where)))
        object.__setattr__(self, "_conditions", _conditions(self))

    def __str__(self) -> str:
        where = ", ".join(f"{name!r}: {_written(wanted)}" for name, wanted in self.where.items())
        told = [repr(self.name), *([f"where={{{where}}}"] if where else [])]
        bounds = {name: value for name, value in vars(self).items() if name in {"count", "rate"} and value is not None}
        told += [f"{name}={value!r}" for name, value in bounds.items()]
        return f"{type(self).__name__}({', '.join(told)})"

    def speaks(self, name: str, arguments: Mapping[str, object]) -> bool | None:
        """Whether this rule is about such a call; None where a predicate has failed."""
        return name == self.name and _met(self._conditions, arguments)


@dataclass(frozen=True)
class Refuse(_About):
    """Refuses an action, or those of its calls whose arguments meet every condition.

    A condition is a constraint of `annotated_types` (`Gt(500)`, `MaxLen(100)`, `Predicate(…)`) or pydantic's
    `StringConstraints`, a type, which is checked strictly (`Literal["EUR", "USD"]`, `Annotated[str, …]`), or a plain value
    that the argument must be equal to. What is missing, is of another type, or is not a number, meets none: so rather
    say what is allowed than what is not.

    Attributes:
        name: the action.
        where: conditions by the names of parameters; all of them must be met.
        reason: is put on record; None for the rule itself.

    Raises:
        TypeError: a condition is none, or `name` or `where` is of the wrong type.
    """

    reason: str | None = None


@dataclass(frozen=True)
class Allow(_About):
    """Approves an action, or those of its calls whose arguments meet every condition; see `Refuse` for these.

    Past `count` or `rate` it does not speak any more, and the next rule, the callback or a person decides. What counts is
    every entry of the action that has been approved, by whomever, and whatever became of it.

    Attributes:
        name: the action.
        where: conditions by the names of parameters; all of them must be met.
        count: how many may be approved in one task; None for any number.
        rate: how many may be approved in a time, over all tasks; None for any number.
        reason: is put on record; None for the rule itself.

    Raises:
        TypeError: a condition is none, `count` is no whole number, or an attribute is of the wrong type.
        ValueError: `count` is not above zero.
    """

    count: int | None = None
    rate: Rate | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.count is not None:
            _check_count("Allow(count", self.count)
        if self.rate is not None and not isinstance(self.rate, Rate):
            msg = f"Allow(rate={self.rate!r}): expected a Rate, such as Rate(100, seconds=3600)"
            raise TypeError(msg)
        super().__post_init__()

    def has_room(self, tally: Tally, task: str, now: float) -> bool:
        """Whether one more may be approved."""
        if self.count is not None and tally.approved(self.name, task) >= self.count:
            return False
        return self.rate is None or tally.approved_since(self.name, now - self.rate.seconds) < self.rate.count


Rule = Allow | Refuse


def checked(rules: Iterable[Rule], actions: Actions) -> tuple[Rule, ...]:
    """Rules that can speak.

    Args:
        rules: in the order in which they are asked.
        actions: the actions that they are about; where there are none, nothing is known of their parameters.

    Raises:
        TypeError: one is no rule.
        ValueError: one names an action or a parameter that does not exist. A misspelt refusal would refuse nothing.
    """
    if isinstance(rules, (Allow, Refuse, str)) or not isinstance(rules, Iterable):
        msg = f"rules={rules!r:.200}: expected a list of rules, such as [Allow('refund', where={{'amount': Le(50)}})]"
        raise TypeError(msg)
    found = tuple(rules)
    for rule in found:
        if not isinstance(rule, (Allow, Refuse)):
            msg = f"rules: {rule!r:.200} is no rule: expected Allow(…) or Refuse(…)"
            raise TypeError(msg)
        if not actions:
            continue
        if rule.name not in actions:
            msg = f"rules: {rule}: there is no action {rule.name!r}; there are {', '.join(actions)}"
            raise ValueError(msg)
        parameters = actions[rule.name].signature.parameters
        for name in rule.where:
            if name not in parameters:
                msg = f"rules: {rule}: {rule.name} has no parameter {name!r}; it has {', '.join(parameters)}"
                raise ValueError(msg)
    return found


def first(
    rules: Iterable[Rule], name: str, arguments: Mapping[str, object], has_room: Callable[[Allow], bool]
) -> Rule | None:
    """The first rule that speaks about a call.

    Args:
        rules: in their order.
        name: the action.
        arguments: plain values by the names of the parameters.
        has_room: whether a rule may approve one more.
    """
    for rule in rules:
        speaks = rule.speaks(name, arguments)
        if speaks is None and isinstance(rule, Refuse):
            return None  # what it might have refused no later rule may approve
        if speaks and (isinstance(rule, Refuse) or has_room(rule)):
            return rule
    return None


def _conditions(rule: _About) -> Mapping[str, Condition]:
    try:
        return {name: _condition(wanted) for name, wanted in rule.where.items()}
    except (PydanticUserError, AttributeError) as error:  # the latter where something resembles a type
        msg = f"{rule}: a condition is none: {str(error).partition(chr(10))[0]}"
        raise TypeError(msg) from error


def _condition(wanted: object) -> Condition:
    if isinstance(wanted, Predicate):
        return partial(_asked, wanted.func)
    if isinstance(wanted, _MEASURES):
        measure: TypeAdapter[Any] = TypeAdapter(Annotated[Any, wanted])
        # To Python, True is a number: a bound would hold for it.
        return lambda value: type(value) is not bool and _holds(measure, value)
    if type(wanted) in _PLAIN:
        return lambda value: type(value) is type(wanted) and value == wanted
    if isroutine(wanted):
        msg = f"{wanted!r} is a function; write Predicate(…) around it"
        raise PydanticUserError(msg, code=None)
    kind: TypeAdapter[Any] = TypeAdapter(cast("Any", wanted))
    return lambda value: _holds(kind, value)


def _asked(predicate: Callable[[Any], object], value: object) -> bool | None:
    try:
        return bool(predicate(value))
    except Exception:
        log.exception("a predicate of a rule has failed")
        return None


def _holds(adapter: TypeAdapter[Any], value: object) -> bool:
    try:
        taken = adapter.validate_python(value, strict=True)
        # What validation would first have to change is not what the function would be given.
        return type(taken) is type(value) and bool(taken == value)
    except Exception:  # noqa: BLE001 - a comparison of a host's may fail in any way, and then does not hold
        return False


def _written(wanted: object) -> str:
    """A condition as it was written: without the bounds that it does not set."""
    if not isinstance(wanted, (Interval, Len, StringConstraints)):
        return repr(wanted)
    told = {each.name: getattr(wanted, each.name) for each in fields(wanted)}
    return f"{type(wanted).__name__}({', '.join(f'{name}={value!r}' for name, value in told.items() if value is not None)})"


def _met(conditions: Mapping[str, Condition], arguments: Mapping[str, object]) -> bool | None:
    told: bool | None = True
    for name, condition in conditions.items():
        met = name in arguments and condition(arguments[name])
        if met is False:
            return False
        told = None if met is None else told
    return told


def _check_count(what: str, count: object) -> None:
    if isinstance(count, bool) or not isinstance(count, int):
        msg = f"{what}={count!r}): expected a whole number"
        raise TypeError(msg)
    if count <= 0:
        msg = f"{what}={count!r}): must be above zero"
        raise ValueError(msg)
