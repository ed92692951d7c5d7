"""When an agent tries again: two tenacity policies, one for the model's provider, one for the model's programs.

Both are ordinary objects of tenacity. A host changes one with its own means, and gives it to the agent:

    policy = transport(attempts=3)
    Agent(…, transport=policy.copy(wait=wait_fixed(2) + wait_random(0, 1)))
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, retry_if_result, stop_after_attempt
from tenacity.stop import stop_base
from tenacity.wait import wait_base, wait_exponential_jitter

from codeact.agent.budget import Budget, End, Spent
from codeact.messages import ModelError

Sleep = Callable[[float], Awaitable[None]]
"""Waits for so many seconds."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of the model, and what came of its programs. This is what the policy for programs judges.

    Attributes:
        ok: whether there is nothing that the model has to mend.
        spent: what the task has used up to here.
        end: why the task is over; None where it goes on.
    """

    ok: bool
    spent: Spent
    end: End | None = None


def transport(attempts: int = Budget().attempts, *, sleep: Sleep = asyncio.sleep) -> AsyncRetrying:
    """The policy for a model that gives no reply, for a reason that passes: a rate limit, an overload, a broken line.

    It waits longer from time to time, by chance a little more or less, and never shorter than the provider asks.

    Args:
        attempts: how many there are, the first one included.
        sleep: how it waits.
    """
    return AsyncRetrying(
        retry=retry_if_exception(passes),
        wait=wait_as_asked(wait_exponential_jitter(initial=1, max=30, jitter=1)),
        stop=stop_after_attempt(attempts),
        sleep=sleep,
        reraise=True,
    )


def programs(
    failures: int = Budget().failures, tokens: int = Budget().tokens, seconds: float = Budget().seconds
) -> AsyncRetrying:
    """The policy for turns that fail: the model reads what went wrong, and writes another program.

    Args:
        failures: turns in a row that may fail.
        tokens: that the task may have used by then.
        seconds: that it may have taken by then.
    """
    return AsyncRetrying(
        retry=retry_if_result(failed),
        stop=stop_after_attempt(failures) | stop_after_tokens(tokens) | stop_after_seconds(seconds),
        retry_error_callback=the_last,
    )


def passes(error: BaseException) -> bool:
    """Whether the same request may well succeed later."""
    return isinstance(error, ModelError) and error.passing


def failed(turn: Turn) -> bool:
    """Whether the model has something to mend."""
    return not turn.ok


def the_last(state: RetryCallState) -> Turn:
    """The turn with which a policy gave up."""
    outcome = state.outcome
    assert outcome is not None, "a policy is asked when a turn is over"  # noqa: S101 - for the type checker
    turn: Turn = outcome.result()
    return turn


class wait_as_asked(wait_base):  # noqa: N801 - named as its kin in tenacity
    """Wait as long as the provider asks, and no shorter than another strategy says."""

    def __init__(self, otherwise: wait_base) -> None:
        self._otherwise = otherwise

    def __call__(self, retry_state: RetryCallState) -> float:
        """Seconds to wait."""
        error = retry_state.outcome.exception() if retry_state.outcome else None
        asked = error.retry_after if isinstance(error, ModelError) else None
        return max(self._otherwise(retry_state), asked or 0.0)


class stop_after_tokens(stop_base):  # noqa: N801 - as above
    """Stop when the task has used so many tokens, of all its turns."""

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens

    def __call__(self, retry_state: RetryCallState) -> bool:
        """Whether to stop."""
        return the_last(retry_state).spent.tokens.total >= self._tokens


class stop_after_seconds(stop_base):  # noqa: N801 - as above
    """Stop when the task has taken so many seconds, of all its turns; tenacity's `stop_after_delay` counts those in a row."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __call__(self, retry_state: RetryCallState) -> bool:
        """Whether to stop."""
        return the_last(retry_state).spent.seconds >= self._seconds
