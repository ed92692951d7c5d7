"""The interpreter behind a code tool in somebody else's agent loop."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from codeact import prompt
from codeact.actions import Action
from codeact.completion import refuse_in_a_loop
from codeact.files import Content
from codeact.models.programs import RUN_PYTHON
from codeact.proposals import Proposal
from codeact.result import Result, proposed
from codeact.sandbox import Sandbox
from codeact.session import Session, noted
from codeact.tools import Tool
from codeact.world import PastRun

if TYPE_CHECKING:
    from codeact.outbox import Entry, Outbox

__all__ = ["LOST", "RUN_PYTHON", "Interpreter", "MakeInterpreter", "made_by_default"]


LOST = "this is a new session; the names of earlier programs are gone"
"""What the next program is told where its conversation goes on in another session."""


class Interpreter:
    """Runs the programs of one conversation, in a session of a sandbox, and keeps what came of each.

    A framework's loop sees a tool that takes a program and gives a text. The host sees what it would see of the sandbox:
    `results`, with their receipts; `proposals`; and, where there is an outbox, the `entries` of what was submitted to it.

    Programs run one after the other; one that comes while another one runs waits for it. Where a session is over because
    it was idle for too long, the next program finds a new one, and is told. An interpreter is a context manager and closes at its end.
    """

    def __init__(  # noqa: PLR0913 - named settings, each with a default
        self,
        sandbox: Sandbox,
        *,
        outbox: Outbox | None = None,
        task: str | None = None,
        tenant: str | None = None,
        files: Mapping[str, Content] | None = None,
        keep: int | None = None,
    ) -> None:
        """Set an interpreter up. Its session opens with the first program.

        Args:
            sandbox: where programs run.
            outbox: where the proposals of each program that finished are submitted, at once: other than an `Agent`, a tool
                does not learn that a task is done, or given up. Performing is the host's: `outbox.perform()`. Without one
                they are for the host to submit, from `results`.
            task: what the conversation is for, as the host calls it; for the outbox and the journal.
            tenant: whose it is; see `Sandbox.session`.
            files: what programs find in their workspace; see `Sandbox.run`.
            keep: how many of the latest results are kept, where a conversation may go on for long and nobody reads them. All
                by default, each with its value and its files.

        Raises:
            TypeError: an argument is of the wrong type.
            ValueError: there is an outbox and no task, by which it knows what was submitted before; or `keep` is below zero.
        """
        if not isinstance(sandbox, Sandbox):
            msg = f"sandbox={sandbox!r:.200}: expected a codeact.Sandbox"
            raise TypeError(msg)
        if outbox is not None and not callable(getattr(outbox, "submit_async", None)):
            msg = f"outbox={outbox!r:.200}: expected a codeact.outbox.Outbox"
            raise TypeError(msg)
        if outbox is not None and not (isinstance(task, str) and task.strip()):
            msg = f"task={task!r}: an outbox needs the task that proposals are for, such as the number of a ticket"
            raise ValueError(msg)
        if keep is not None and (type(keep) is not int or keep < 0):
            msg = f"keep={keep!r}: expected how many results are kept, or None for all"
            raise ValueError(msg)
        self.sandbox = sandbox
        self._outbox = outbox
        self._task = task
        self._tenant = tenant
        self._files = files
        self._session: Session | None = None
        self._results: deque[Result] = deque(maxlen=keep)
        self._entries: deque[list[Entry]] = deque(maxlen=keep)
        self._turn = threading.Lock()
        self._prologue = ""
        self._note = ""
        self._lost = False
        self._prepared = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Interpreter of {self.sandbox!r}, {len(self._results)} programs>"

    @property
    def instructions(self) -> str:
        """What a model should know before it writes programs: for the system prompt."""
        return prompt.system(self.sandbox, has_tools=True, instructions="")

    @property
    def description(self) -> str:
        """What the tool says of itself: at most 1,024 characters, which is what providers take."""
        return prompt.description(self.sandbox)

    @property
    def is_open(self) -> bool:
        """Whether its session is open, with the names of earlier programs; not before the first, nor after the last."""
        return self._session is not None

    @property
    def results(self) -> tuple[Result, ...]:
        """What came of each program that is kept, in order."""
        return tuple(self._results)

    @property
    def proposals(self) -> tuple[Proposal, ...]:
        """What those of them have proposed that finished, the same action with the same arguments once."""
        return proposed(self._results)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Those of the outbox that the proposals are in, as they were when they were submitted."""
        return tuple({entry.id: entry for entries in self._entries for entry in entries}.values())

    def prepare(self, prologue: str) -> None:
        """Have names ready for the programs that come.

        Args:
            prologue: a program that is run before the next one, and again wherever one finds a fresh world. What comes of
                it is not among the `results`; where it fails, that is what the next program is told.
        """
        self._prologue, self._prepared = prologue, False

    def resume(self) -> None:
        """Know that the conversation had programs elsewhere: where no session is open, the first one is told that names are gone."""
        self._lost = self._lost or self._session is None

    @property
    def is_prepared(self) -> bool:
        """Whether the prologue has done its work in the world that there is."""
        return self._prepared

    def move(self, sandbox: Sandbox) -> None:
        """Go on in another sandbox, with the names that there are: its programs are run again, and no tool is called.

        Where one does not do there what it did here, such as one that asked what tools there are, the names are gone, and
        the next program is told so.

        Args:
            sandbox: has the tools and actions of this one, and more.

        Raises:
            RuntimeError: called inside a running event loop, which it would hold.
        """
        refuse_in_a_loop()
        with self._turn:
            before, self._session, self.sandbox = self._session, None, sandbox
            if before is None:
                return
            before.close()
            self._lost = True
            try:
                self._opened(before.history).restore()
                self._note = ""
            except RuntimeError:
                self.close()

    def run(self, code: str) -> Result:
        """Run the next program of the conversation.

        Raises:
            TypeError: `code` is no string.
            RuntimeError: called inside a running event loop, which it would hold; use `run_async`.
            OutboxError: the outbox cannot be written.
            Unrecorded: an audit did not take that the session is opened, or that a proposal is in the outbox.
        """
        refuse_in_a_loop()  # before it waits for a program that needs this very loop
        with self._turn:
            session = self._opened()
            if not self._lacking(session) or self._ready(told := session.run(self._prologue)):
                told = session.run(code)
            result = self._keep(told)
            if self._outbox is not None and result.ok and result.proposals:
                self._entries.append(self._outbox.submit(result, self._task))
            return result

    async def run_async(self, code: str) -> Result:
        """Run the next program without holding the event loop; as `run`. Cancelling it stops the program."""
        while not self._turn.acquire(blocking=False):  # noqa: ASYNC110 - see _WAIT
            await asyncio.sleep(_WAIT)
        try:
            session = self._opened()
            if not self._lacking(session) or self._ready(told := await session.run_async(self._prologue)):
                told = await session.run_async(code)
            result = self._keep(told)
            if self._outbox is not None and result.ok and result.proposals:
                self._entries.append(await self._outbox.submit_async(result, self._task))
            return result
        finally:
            self._turn.release()

    def close(self) -> None:
        """End its session. What came of its programs stays. Harmless when called twice; a program later opens another one."""
        session, self._session = self._session, None
        if session is not None:
            session.close()
            self._lost = True

    def _opened(self, history: Iterable[PastRun] = ()) -> Session:
        if self._session is None:
            self._session = self.sandbox.session(
                tenant=self._tenant, task=self._task, files=self._files, history=history
            )
            self._prepared = False
            if self._lost:  # not before: a program of the old session may still be under way
                self._note, self._lost = LOST, False
        return self._session

    def _lacking(self, session: Session) -> bool:
        """Whether the prologue is to be run before the next program."""
        self._prepared = self._prepared and not session.lost
        return bool(self._prologue) and not self._prepared

    def _ready(self, result: Result) -> bool:
        self._prepared = result.ok
        return result.ok

    def _keep(self, result: Result) -> Result:
        if self._note:
            result, self._note = noted(result, self._note), ""
        self._results.append(result)
        if result.error is not None and result.error.type == "SessionExpired":
            self.close()
        return result


_WAIT = 0.005
"""Seconds after which a program that waits for another one looks again; a lock of asyncio belongs to one loop, and
frameworks run tools on several."""


MakeInterpreter = Callable[[list[Tool[..., Any]], list[Action[..., Any]]], Interpreter]
"""Makes the interpreter of a conversation, of the tools and the actions that a framework has for it. The host's own may stand
beside them: `lambda tools, actions: Interpreter(Sandbox([get_charges, *tools], actions=actions), task="T-1")`. Where tools come
later it is called again, and of what it makes then only the sandbox is used; see `Interpreter.move`."""


def made_by_default(tools: list[Tool[..., Any]], actions: list[Action[..., Any]]) -> Interpreter:
    """What is made where the host says nothing: on `wasm`, with the default limits, without an outbox."""
    return Interpreter(Sandbox(tools, actions=actions))
