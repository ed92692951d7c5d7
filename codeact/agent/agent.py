"""The agent: a model and a sandbox in; for each task a result, always data, out."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from tenacity import AsyncRetrying

from codeact import prompt
from codeact.agent import policies
from codeact.agent.budget import Budget
from codeact.agent.episode import Desk, Episode
from codeact.agent.events import Event, Finished
from codeact.agent.memory import Memory
from codeact.agent.outcome import AgentResult, Outlet, submitted
from codeact.completion import refuse_in_a_loop
from codeact.files import Content
from codeact.messages import Model, Reply
from codeact.portal import own_loop
from codeact.result import proposed
from codeact.sandbox import Sandbox
from codeact.session import Session

if TYPE_CHECKING:
    from codeact.journal import Journal
    from codeact.outbox import Entry


class Agent:
    """A model that works on tasks by writing programs, which run in a sandbox.

    An agent may be used for many tasks at once. Each has a session of the sandbox to itself, so that what one program
    leaves behind the next one finds, and nobody else.
    """

    def __init__(  # noqa: PLR0913 - what an agent is made of
        self,
        model: Model,
        sandbox: Sandbox,
        *,
        budget: Budget | None = None,
        instructions: str = "",
        outbox: Outlet | None = None,
        transport: AsyncRetrying | None = None,
        programs: AsyncRetrying | None = None,
    ) -> None:
        """Set an agent up.

        Args:
            model: who writes the programs.
            sandbox: where they run, with the tools that they are granted. Where it has a journal, each task is kept there as
                well: one that is run again under its `id`, such as after a crash, takes from there what the model has
                replied and what its programs gave, and goes on.
            budget: what one task may use; it holds whatever the policies say.
            instructions: what the model is to be and to do, in your words. The rules of the room and the tools are told
                after them; see `system`.
            outbox: where the proposals of a task go when the model has come to an answer; those of a task that was given
                up do not. It decides on them as it was made to, and performing is the host's: `outbox.perform()`.
            transport: when the model is asked again after it gave no reply; `codeact.agent.transport` by default.
            programs: when it may try again after a turn that failed; `codeact.agent.programs` by default.

        Raises:
            TypeError: an argument is of the wrong type.
        """
        if (
            not callable(getattr(model, "complete", None))
            or not hasattr(model, "has_tools")
            or not hasattr(model, "name")
        ):
            msg = f"model={model!r:.200}: expected a codeact.messages.Model (complete, name, has_tools), such as those of codeact.models"
            raise TypeError(msg)
        self._model = model
        self._sandbox = _expected("sandbox", sandbox, "a codeact.Sandbox", Sandbox)
        self._budget = _expected("budget", Budget() if budget is None else budget, "a codeact.agent.Budget", Budget)
        self._transport = policies.transport(self._budget.attempts) if transport is None else transport
        most = self._budget
        self._programs = policies.programs(most.failures, most.tokens, most.seconds) if programs is None else programs
        _expected("transport", self._transport, "a tenacity.AsyncRetrying", AsyncRetrying)
        _expected("programs", self._programs, "a tenacity.AsyncRetrying", AsyncRetrying)
        if outbox is not None and not callable(getattr(outbox, "submit_async", None)):
            msg = f"outbox={outbox!r:.200}: expected a codeact.outbox.Outbox"
            raise TypeError(msg)
        self._outbox = outbox
        told = _expected("instructions", instructions, "a str", str)
        self._system = prompt.system(self._sandbox, has_tools=model.has_tools, instructions=told)

    def __repr__(self) -> str:
        return f"<Agent of {self._model.name} in {self._sandbox!r}>"

    @property
    def system(self) -> str:
        """What the model is told before each task."""
        return self._system

    def run(
        self,
        task: str,
        *,
        id: str | None = None,  # noqa: A002 - it is the task's, and nobody's builtin
        files: Mapping[str, Content] | None = None,
        tenant: str | None = None,
    ) -> AgentResult:
        """Work on a task and wait for its end, no longer than the budget's seconds.

        Nothing that the model or its programs do raises: it is in the result.

        Args:
            task: what is to be done, in words.
            id: what the task is called; a new one by default. The journal of the sandbox knows the task by it.
            files: what programs find in their workspace; see `Sandbox.run`.
            tenant: whose task it is; see `Sandbox.session`.

        Raises:
            TypeError: an argument is of the wrong type.
            ValueError: the task or its id is empty, the journal has another task of that id, or the files do not fit; see
                `Sandbox.run`.
            JournalError, OutboxError: the journal or the outbox cannot be read or written, or what the journal has of the
                task is none of an agent's; a `codeact.journal.ConversationTaken` where somebody else works on the task, before
                the model is asked.
            Unrecorded: an audit did not take that the task's session is opened, or that a proposal is in the outbox.
            RuntimeError: called inside a running event loop, which it would hold; use `run_async`.
        """
        refuse_in_a_loop()
        given = self._given(task, id, files, tenant)
        # The clients of models keep connections that belong to a loop, so it is the same one for all tasks.
        working = asyncio.run_coroutine_threadsafe(_caught(self._work(given, _ignore)), own_loop())
        try:
            came = working.result()
        except BaseException:
            working.cancel()
            raise
        if isinstance(came, BaseException):
            raise came
        return came

    async def run_async(
        self,
        task: str,
        *,
        id: str | None = None,  # noqa: A002 - as above
        files: Mapping[str, Content] | None = None,
        tenant: str | None = None,
    ) -> AgentResult:
        """Work on a task without holding the event loop; as `run`. Cancelling it ends the task and closes its session."""
        return await self._work(self._given(task, id, files, tenant), _ignore)

    def stream(
        self,
        task: str,
        *,
        id: str | None = None,  # noqa: A002 - as above
        files: Mapping[str, Content] | None = None,
        tenant: str | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Work on a task, as `run`, and tell what happens as it happens. The last event is `Finished`, with the result.

        Whoever leaves before that should close the generator, as `contextlib.aclosing` does: it cancels the task.
        """
        return self._stream(self._given(task, id, files, tenant))

    def _given(self, task: str, name: str | None, files: Mapping[str, Content] | None, tenant: str | None) -> _Given:
        """The task, once it is seen to be one."""
        named = uuid.uuid4().hex if name is None else name
        for what, value in (("task", task), ("id", named)):
            if not _expected(what, value, "a str", str).strip():
                msg = f"{what}={value!r}: expected some text"
                raise ValueError(msg)
        journal = self._sandbox.journal
        memory = Memory() if journal is None else self._minutes(journal, named, task)
        session = self._sandbox.session(tenant=tenant, files=files, task=named, history=memory.history)
        return _Given(task, named, session, memory)

    def _minutes(self, journal: Journal, name: str, task: str) -> Memory:
        from codeact.agent.minutes import Minutes  # noqa: PLC0415 - only where there is a journal

        return Minutes(journal, name, task, model=self._model.name, system=self._system)

    async def _stream(self, given: _Given) -> AsyncGenerator[Event, None]:
        events: asyncio.Queue[Event | None] = asyncio.Queue()

        async def work() -> None:
            try:
                events.put_nowait(Finished(await self._work(given, events.put_nowait)))
            finally:
                events.put_nowait(None)

        working = asyncio.create_task(work())
        try:
            while (event := await events.get()) is not None:
                yield event
            await working
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    async def _work(self, given: _Given, emit: Callable[[Event], None]) -> AgentResult:
        with given.session, given.memory.working():  # who may not work has opened a session too
            return await self._work_alone(given, emit)

    async def _work_alone(self, given: _Given, emit: Callable[[Event], None]) -> AgentResult:
        with given.session as session:
            desk = Desk(
                model=self._model,
                system=self._system,
                session=session,
                budget=self._budget,
                transport=self._transport,
                programs=self._programs,
                emit=emit,
                memory=given.memory,
            )
            episode = Episode(desk, given.task)
            end = await episode.run()
        last = episode.messages[-1]
        answer = last.text if end.stop == "answered" and isinstance(last, Reply) else None
        given.memory.keep_end(end, answer)
        entries: tuple[Entry, ...] = ()
        if self._outbox is not None and end.stop == "answered":
            entries = await submitted(episode.results, given.id, self._outbox)
        return AgentResult(
            id=given.id,
            answer=answer,
            stop=end.stop,
            why=end.why,
            messages=tuple(episode.messages),
            results=tuple(episode.results),
            tokens=episode.spent.tokens,
            seconds=episode.spent.seconds,
            proposals=proposed(episode.results),
            entries=entries,
        )


@dataclass(frozen=True, slots=True)
class _Given:
    """A task that an agent was given.

    Attributes:
        task: what is to be done.
        id: what it is called.
        session: where its programs will run.
        memory: what is remembered of it.
    """

    task: str
    id: str
    session: Session
    memory: Memory


async def _caught(work: Awaitable[AgentResult]) -> AgentResult | BaseException:
    """What it comes to. A SystemExit of a host's callback would end the loop, which is everybody's, if it were raised there."""
    try:
        return await work
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - it is raised where the task was begun
        return error


def _ignore(_event: Event) -> None:
    """Nobody listens."""


T = TypeVar("T")


def _expected(name: str, value: object, wanted: str, kind: type[T]) -> T:
    if isinstance(value, kind):
        return value
    msg = f"{name}={value!r:.200}: expected {wanted}"
    raise TypeError(msg)
