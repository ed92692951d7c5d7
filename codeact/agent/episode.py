"""One task, from its beginning to its end: the model replies, its programs run, it reads what came of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from tenacity import AsyncRetrying, RetryError

from codeact.agent.asking import Asking
from codeact.agent.budget import Budget, End, Spent
from codeact.agent.events import Event, Ran, Running
from codeact.agent.memory import Memory
from codeact.agent.policies import Turn
from codeact.agent.repetition import SAME, Repetition
from codeact.agent.replies import amiss, read
from codeact.messages import Asked, Message, Model, ModelError, Observed, Reply, Request, Said
from codeact.result import Result
from codeact.session import Session

NOT_RUN = "the task was over before this program was"
"""What stands in the place of an observation."""

UNREADABLE = "it cannot be read"
RESTORED = "it is restored to what it was before this program"
LOST = "the sandbox was restarted before this program, and what earlier programs had bound is gone"
"""What the model is told of the session's world, when it was lost."""

log = logging.getLogger("codeact")


@dataclass(frozen=True, slots=True)
class Desk:
    """What a task is worked on with.

    Attributes:
        model: who works on it.
        system: what the model is told before the task.
        session: where its programs run.
        budget: what it may use.
        transport: when the model is asked again.
        programs: when a turn that failed is followed by another.
        emit: is given the events.
        memory: what is remembered of it.
    """

    model: Model
    system: str
    session: Session
    budget: Budget
    transport: AsyncRetrying
    programs: AsyncRetrying
    emit: Callable[[Event], None]
    memory: Memory


class Episode:
    """The work on one task.

    Attributes:
        messages: all that was said.
        results: of the programs that were run.
    """

    def __init__(self, desk: Desk, task: str) -> None:
        """Begin. The budget's seconds count from here, on the event loop that runs now."""
        self.messages: list[Message] = [Said(task)]
        self.results: list[Result] = []
        self._desk = desk
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._until = self._began + desk.budget.seconds
        self._asking = Asking(desk.model, desk.transport, self._until, desk.emit)
        self._repetition = Repetition()
        self._spent = Spent()
        self._is_restorable = True
        self._note = ""
        self._last = Turn(ok=True, spent=self._spent)

    @property
    def spent(self) -> Spent:
        """What it has used up to now."""
        return replace(self._spent, seconds=self._loop.time() - self._began)

    async def run(self) -> End:
        """Work until there is an end."""
        try:
            async with asyncio.timeout_at(self._until) as clock:
                while True:
                    end = await self._advance()
                    if end is not None:
                        return end
        except TimeoutError:
            if not clock.expired():
                raise
            return self._desk.budget.out_of_time()
        finally:
            self.messages.extend(Observed(asked.id, NOT_RUN, ok=False) for asked in self._unanswered())

    async def _advance(self) -> End | None:
        """Take turns until one of them does not fail, or the policy has had enough."""
        policy = self._desk.programs.copy()  # one that is shared keeps the state of whoever uses it
        with suppress(RetryError):
            await policy(self._turn)
        turn = self._last
        if turn.ok:
            return turn.end
        return self._desk.budget.met(self.spent) or self._desk.budget.out_of_failures(turn.spent)

    async def _turn(self) -> Turn:
        if self._last.end is not None:  # a policy that does not take it for one
            return self._last
        ok, end = await self._taken()
        if end is None:
            self._spent = replace(self._spent, failures=0 if ok else self._spent.failures + 1)
        self._last = Turn(ok or end is not None, self.spent, end)
        return self._last

    async def _taken(self) -> tuple[bool, End | None]:
        """Ask the model, and do what it asks for. Gives whether nothing failed, and whether that is the end."""
        end = self._desk.budget.met(self.spent)
        if end is not None:
            return True, end
        try:
            reply = self._desk.memory.reply() or await self._ask()
        except ModelError as error:
            return True, End("model", self._asking.told(error))
        self.messages.append(reply)
        spent = self._spent
        self._spent = replace(spent, replies=spent.replies + 1, tokens=spent.tokens + reply.tokens)
        if reply.ending == "refused":
            return True, End("refused", reply.text.strip() or "the model would not answer")
        if reply.programs:
            return await self._run_all(reply)
        wrong = amiss(reply)
        if wrong is None:
            return True, End("answered", "the model answered")
        said = Said(self._with_last_words(wrong))
        self._desk.memory.keep_said(said)
        self.messages.append(said)
        return False, None

    async def _ask(self) -> Reply:
        given = await self._asking.ask(Request(self._desk.system, tuple(self.messages)))
        reply = read(given, has_tools=self._desk.model.has_tools, earlier={asked.id for asked in self._asked()})
        self._desk.memory.keep_reply(reply)
        return reply

    async def _run_all(self, reply: Reply) -> tuple[bool, End | None]:
        """Run the programs of a reply in order. One that fails does not keep the others from being run."""
        budget, nothing_failed = self._desk.budget, True
        for asked in reply.programs:
            if self._spent.programs >= budget.programs:
                return False, budget.out_of_programs()
            self._spent = replace(self._spent, programs=self._spent.programs + 1)
            known = self._desk.memory.observed(asked)
            result = known[1] if known else await self._run(asked)
            times = self._repetition.count(asked, result)
            nothing_failed = nothing_failed and not times
            if result is not None:
                self.results.append(result)
            observed = known[0] if known else self._observed(asked, result, times, last=asked is reply.programs[-1])
            self.messages.append(observed)
            if times >= budget.repeats:
                return False, budget.out_of_repeats(times)
        return nothing_failed, None

    async def _run(self, asked: Asked) -> Result | None:
        if asked.code is None:
            return None
        self._desk.emit(Running(asked))
        session = self._desk.session
        if session.lost and not await self._restore():  # that of an earlier process
            self._note = f"\nnote: {LOST}"
        result = await session.run_async(asked.code)
        if session.lost and await self._restore():
            self._note = f"\nnote: {RESTORED}"
        return result

    async def _restore(self) -> bool:
        """Make the session's world again from recorded answers. Gives whether it is there; it is not tried twice in vain."""
        if self._is_restorable:
            try:
                await self._desk.session.restore_async()
            except RuntimeError as error:
                log.warning("a task goes on in an empty world: %s", error)
                self._is_restorable = False
        return self._is_restorable

    def _observed(self, asked: Asked, result: Result | None, times: int, *, last: bool) -> Observed:
        text = f"not run: {asked.unreadable or UNREADABLE}" if result is None else result.observation() + self._note
        self._note = ""
        if times > 1:
            text = f"{text}\nnote: {SAME}"
        if last:
            text = self._with_last_words(text)
        observed = Observed(asked.id, text, ok=result is not None and result.ok)
        self._desk.memory.keep_observed(observed, result, self._desk.session)
        self._desk.emit(Ran(asked, observed, result))
        return observed

    def _with_last_words(self, text: str) -> str:
        last = self._desk.budget.last_words(self._spent)
        return f"{text}\nnote: {last}" if last else text

    def _asked(self) -> Iterator[Asked]:
        return (asked for message in self.messages if isinstance(message, Reply) for asked in message.programs)

    def _unanswered(self) -> list[Asked]:
        answered = {message.id for message in self.messages if isinstance(message, Observed)}
        return [asked for asked in self._asked() if asked.id not in answered]
