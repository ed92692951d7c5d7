"""How a model is asked for a reply: again after a pause, where it gave none for a reason that passes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from inspect import isawaitable

from tenacity import AsyncRetrying, RetryCallState, RetryError

from codeact.agent.events import Event, Waiting, Wrote
from codeact.messages import Model, ModelError, Reply, Request

log = logging.getLogger("codeact")


class Asking:
    """Asks a model, for one task."""

    def __init__(self, model: Model, policy: AsyncRetrying, until: float, emit: Callable[[Event], None]) -> None:
        """Prepare to ask.

        Args:
            model: the model.
            policy: when to ask it again.
            until: when the task must be over, by the event loop's time.
            emit: is given what the model writes, and the pauses.
        """
        self._model = model
        self._emit = emit
        self._until = until
        self._before_pause = policy.before_sleep
        self._stop = policy.stop
        self._policy = policy.copy(stop=self._gives_up, before_sleep=self._announce)
        self._attempts = 0
        self._late: float | None = None

    async def ask(self, request: Request) -> Reply:
        """The model's reply.

        Raises:
            ModelError: there is none, however often it was asked.
        """
        policy = self._policy.copy()  # one that is shared keeps the state of whoever uses it
        self._attempts, self._late = 0, None
        try:
            reply: Reply = await policy(self._attempt, request)
        except RetryError as gave_up:
            reply = gave_up.last_attempt.result()
        return reply

    def told(self, error: ModelError) -> str:
        """Why there is no reply, in words."""
        times = f" (after {self._attempts} attempts)" if self._attempts > 1 else ""
        late = f"; the next attempt would be {self._late:.3g} s later, when the task must be over" if self._late else ""
        return f"{self._model.name} gave no reply: {error}{times}{late}"

    async def _attempt(self, request: Request) -> Reply:
        self._attempts += 1
        streamed = False

        def on_text(text: str) -> None:
            nonlocal streamed
            streamed = True
            self._emit(Wrote(text))

        reply = await self._model.complete(request, on_text)
        if not isinstance(reply, Reply):
            msg = f"the model {self._model.name} gave {reply!r:.200}: complete() must give a codeact.messages.Reply"
            raise TypeError(msg)
        if reply.text and not streamed:
            self._emit(Wrote(reply.text))
        return reply

    def _gives_up(self, state: RetryCallState) -> bool:
        """Whether the policy stops, or the next attempt would come when the task must be over."""
        if self._stop(state):
            return True
        pause = state.upcoming_sleep
        if asyncio.get_running_loop().time() + pause < self._until:
            return False
        self._late = pause
        return True

    async def _announce(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        pause = state.upcoming_sleep
        log.info("%s is asked again in %.3g s: %s", self._model.name, pause, error)
        self._emit(Waiting(error, state.attempt_number, pause))
        done = self._before_pause(state) if self._before_pause else None
        if isawaitable(done):
            await done
