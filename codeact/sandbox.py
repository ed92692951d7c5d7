"""The sandbox: tools, an engine and limits in; a result, always data, out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from codeact.actions import Actions
from codeact.audit import Audit
from codeact.catalogue import Catalogue, Offered, offered
from codeact.completion import complete, complete_async
from codeact.engines import Engine, Face, choice
from codeact.files import Content, checked
from codeact.grant import Grant
from codeact.limits import Limits
from codeact.result import Result
from codeact.session import Session
from codeact.tools import Granted, Toolset
from codeact.world import PastRun
from wasm_runtime.guest.names import listed

if TYPE_CHECKING:
    from codeact.check import Checker
    from codeact.journal import Journal
    from codeact.journal.recording import Recording
    from codeact.policy import Policy
    from codeact.replay import Replayed

GUEST_PYTHON = (3, 14)
"""The version of the Python in the wasm engine's guest."""


class Sandbox:
    """An empty world for model-written programs, which holds the tools granted and nothing else.

    Every run gets a fresh world; a `session` keeps one for several. A sandbox may be used from many threads at once.
    """

    def __init__(  # noqa: PLR0913 - what a sandbox is made of
        self,
        tools: Granted = (),
        *,
        actions: Granted = (),
        engine: str | Engine = "wasm",
        limits: Limits | None = None,
        guest: str | os.PathLike[str] | None = None,
        check: bool = False,
        inputs: Mapping[str, Content] | None = None,
        audit: Audit | None = None,
        journal: Journal | None = None,
        workers: int | None = None,
        ready: int = 0,
    ) -> None:
        """Set a sandbox up. The first use of `wasm` on a machine compiles its guest, which takes some seconds.

        Args:
            tools: tools or typed functions, or a mapping of names to them.
            actions: what programs may propose to do to the world, given like tools: see `codeact.action`. Inside they are
                found in `actions`; what is proposed is in `Result.proposals`, and nothing of it happens.
            engine: `wasm`, the boundary, for programs that nobody vouches for; or `restricted`, which is fast
                and stops accidents, and is no security boundary; or an engine of your own.
            limits: what one run may use.
            guest: for `wasm`, the file of a guest with packages of your choosing, made by `codeact build`.
            check: whether every program is type-checked against the tools before it runs, by `ty`, in processes of
                their own on the host. What is sure to fail is then refused (`denied`) and nothing of it is run. It
                needs the extra `check`, and takes about ten milliseconds a program, or a tenth of a second where it is
                refused, or uses names that earlier programs of its session have bound.
            inputs: files that every program finds in its workspace and cannot change: contents by path. They are
                copied.
            audit: where the events of its runs, calls and sessions go; see `codeact.audit`.
            journal: keeps its runs, with all that is needed to `replay` them; see `codeact.journal` for who may read it.
                A run that cannot be put on record ends with an error of kind `host`.
            workers: for `wasm`, processes that the guests run in, as many at a time; by default they run in this one.
                Tools stay in this one. They are started with the first run, and end with `close`, with the sandbox,
                or with this process. A run that finds all of them busy waits, at most for as long as it may take; while none
                is set up yet, for that, which takes a fraction of a second, or up to two minutes where nothing can be cached.
            ready: for `wasm`, worlds that are made on other threads before they are asked for, so that a run or a
                session is done in three quarters of the time. Each takes about half a megabyte of memory, and for each one taken another
                one is made, on another core where there is one.

        Raises:
            MissingExtra: `check` is asked for, and its extra is not installed.
            ValueError: there is no such engine, it has no guest or no workers, the tools do not go together, or the
                inputs are more than the limits let in.
            TypeError: an argument is of the wrong type, or a tool is not annotated.
            EngineUnavailable: the engine cannot be set up here. No other engine is used in its place.
        """
        if not isinstance(engine, (str, Engine)):
            msg = f"engine={engine!r}: expected the name of an engine, or a codeact.Engine"
            raise TypeError(msg)
        if limits is not None and not isinstance(limits, Limits):
            msg = f"limits={limits!r}: expected codeact.Limits"
            raise TypeError(msg)
        if guest is not None and not isinstance(guest, (str, os.PathLike)):
            msg = f"guest={guest!r}: expected the path of a file that `codeact build` made"
            raise TypeError(msg)
        if audit is not None and not isinstance(audit, Audit):
            msg = f"audit={audit!r}: expected codeact.audit.Audit"
            raise TypeError(msg)
        most = limits or Limits()
        given = checked("inputs", inputs, most)
        toolset = tools if isinstance(tools, Toolset) else Toolset(tools)
        made = choice.chosen(engine, guest)
        self._end: Callable[[], object] = _nothing
        if workers is not None:
            if ready:
                msg = f"ready={ready!r}, workers={workers!r}: worlds are made ready in this process; leave one of them out"
                raise ValueError(msg)
            made = remote = choice.remote(made, workers)
            self._end = remote.close
        elif ready or type(ready) is not int:
            made = prepared = choice.prepared(made, ready, most)
            self._end = prepared.close
        proposable = actions if isinstance(actions, Actions) else Actions(actions)
        offer = offered(toolset, proposable)
        checker = _checker(offer, proposable, made) if check else None
        recording = None if journal is None else _recording(journal, made, offer.faces, most, given)
        self._grant = Grant(
            made, offer.tools, proposable, offer.faces, most, checker, given, audit,
            recording=recording, catalogue=offer.catalogue,
        )  # fmt: skip

    @classmethod
    def from_policy(  # noqa: PLR0913 - as above
        cls,
        policy: Policy,
        tools: Granted = (),
        *,
        actions: Granted = (),
        audit: Audit | None = None,
        journal: Journal | None = None,
        guest: str | os.PathLike[str] | None = None,
        check: bool = False,
        workers: int | None = None,
        ready: int = 0,
    ) -> Self:
        """Set a sandbox up as a policy says.

        The policy says what may be granted; the tools are granted here, `policy.http_tool(…)` among them.

        Args:
            policy: the policy, see `codeact.policy.Policy.load`.
            tools: see `Sandbox`.
            actions: see `Sandbox`.
            audit: where events go; what the policy says by default. For the policy's own file and more sinks give
                `policy.open_audit(*sinks)`, also where several sandboxes share one.
            journal: see `Sandbox`.
            guest: see `Sandbox`.
            check: see `Sandbox`.
            workers: see `Sandbox`.
            ready: see `Sandbox`.

        Raises:
            PolicyError: an input or the log of the policy cannot be opened.
            EngineUnavailable: the boundary cannot be set up here. No other engine is used in its place.
            ValueError, TypeError: as `Sandbox`.
        """
        from codeact.policy import Policy  # noqa: PLC0415 - only where there is one

        if not isinstance(policy, Policy):
            msg = f"policy={policy!r:.200}: expected a codeact.Policy; Policy.load(path) reads one"
            raise TypeError(msg)
        return cls(
            tools,
            actions=actions,
            engine=policy.boundary.engine,
            limits=policy.as_limits(),
            guest=guest,
            check=check,
            inputs=policy.read_inputs(),
            audit=policy.open_audit() if audit is None else audit,
            journal=journal,
            workers=workers,
            ready=ready,
        )

    def __repr__(self) -> str:
        return f"<Sandbox on {self.engine} with {listed(list(self.tools)) if self.tools else 'no tools'}>"

    @property
    def tools(self) -> Toolset:
        """The tools granted; where there are many, what finds them is among them (see `catalogue`)."""
        return self._grant.tools

    @property
    def catalogue(self) -> Catalogue | None:
        """What programs find tools by, as `tools.search("…")`; None where a prompt has room for all that is to be said of them."""
        return self._grant.catalogue

    @property
    def actions(self) -> Actions:
        """What programs may propose."""
        return self._grant.actions

    @property
    def limits(self) -> Limits:
        """What one run may use."""
        return self._grant.limits

    @property
    def journal(self) -> Journal | None:
        """What keeps its runs; None where nothing does."""
        return None if self._grant.recording is None else self._grant.recording.journal

    @property
    def engine(self) -> str:
        """The name of the engine."""
        return self._grant.engine.name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End its workers, and with them what runs there and the worlds of its sessions. Harmless when called twice.

        What is run later in a sandbox with workers fails, with an error of kind `host`. Worlds that were made ready are
        destroyed, and no more are made ready: later runs make their own. A sandbox with neither has nothing to end.
        """
        self._end()

    def run(
        self,
        code: str,
        *,
        files: Mapping[str, Content] | None = None,
        tenant: str | None = None,
        task: str | None = None,
    ) -> Result:
        """Run a program and wait for its result, no longer than the limit `timeout`.

        Args:
            code: the text the model wrote.
            files: what it finds in its workspace: contents by path, such as `{"data/in.csv": b"…"}`. A str becomes
                UTF-8. They are copied; what the program does to them is in `Result.files`.
            tenant: whose run it is: for the audit, and for what `restricted` keeps of programs that it has compiled. It is
                kept for the tenant alone, because it tells what was run; runs without one share theirs.
            task: what it is for, as the host calls it, such as the number of a ticket; for the journal.

        Raises:
            TypeError: `code` or `task` is no string, or `files` is no mapping of paths to contents.
            ValueError: a path leads out of the workspace, or the files are more than the limits let in.
            RuntimeError: called inside a running event loop, which it would hold; use `run_async`.
        """
        ended = complete(self._grant, self._grant.errand(code, files, tenant, task))
        return ended.keep(ended.result)

    async def run_async(
        self,
        code: str,
        *,
        files: Mapping[str, Content] | None = None,
        tenant: str | None = None,
        task: str | None = None,
    ) -> Result:
        """Run a program without holding the event loop; async tools run on this loop.

        Cancelling it stops the guest. The sinks of an audit are called on the loop, at the beginning, at the end and for
        requests that leave.

        Args:
            code: the text the model wrote.
            files: what it finds in its workspace; see `run`.
            tenant: whose run it is: for the audit, and for what `restricted` keeps of programs that it has compiled. It is
                kept for the tenant alone, because it tells what was run; runs without one share theirs.
            task: what it is for, as the host calls it, such as the number of a ticket; for the journal.

        Raises:
            TypeError: `code` or `task` is no string, or `files` is no mapping of paths to contents.
            ValueError: a path leads out of the workspace, or the files are more than the limits let in.
        """
        ended = await complete_async(self._grant, self._grant.errand(code, files, tenant, task))
        return ended.keep(ended.result)

    def session(
        self,
        *,
        tenant: str | None = None,
        history: Iterable[PastRun] = (),
        files: Mapping[str, Content] | None = None,
        task: str | None = None,
    ) -> Session:
        """One world for many programs: what one leaves behind, the next one finds.

        Args:
            tenant: whose it is. Nothing of it is ever seen by another session; what `restricted` keeps of programs that it
                has compiled is kept for the tenant alone.
            history: the `history` of an earlier session, for `Session.restore`.
            files: what its first program finds in the workspace, and the next one where a program has cost the session its
                world; see `run`.
            task: what its programs are for, as the host calls it; for the journal.

        Raises:
            TypeError: `tenant` or `task` is no string, or `files` is no mapping of paths to contents.
            ValueError: a path leads out of the workspace, or the files are more than the limits let in.
            Unrecorded: the audit did not take that it is opened.
        """
        return Session(self._grant, tenant, history, files=files, task=task)

    def replay(self, run: str) -> Replayed:
        """Run a program again as the journal has it. No tool is called, and nothing leaves.

        It gets a fresh world of the same engine, as it was then: with the tools that it saw, its limits, files, answers,
        clocks and randomness; the earlier programs of its session come first. What is granted here does not matter.

        Args:
            run: its id, as in `Result.run`.

        Returns:
            What it did, and whether that is what is on record, to the bit.

        Raises:
            ReplayError: it cannot be run again here, and why.
            LookupError: the journal has no such run.
            JournalError: its record is damaged.
            ValueError: this sandbox has no journal.
            RuntimeError: called inside a running event loop, which it would hold; use `replay_async`.
        """
        from codeact.replay import replay  # noqa: PLC0415 - only where it is asked for

        return replay(self._grant, run)

    async def replay_async(self, run: str) -> Replayed:
        """Run a program again; as `replay`, without holding the event loop."""
        from codeact.replay import replay_async  # noqa: PLC0415 - as above

        return await replay_async(self._grant, run)


def _checker(offer: Offered, actions: Actions, engine: Engine) -> Checker:
    from codeact.check import Checker  # noqa: PLC0415 - an extra, and only where it is asked for

    version = GUEST_PYTHON if engine.name == "wasm" else sys.version_info[:2]
    return Checker(offer.tools, actions, version, offer.catalogue)


def _recording(
    journal: object, engine: Engine, seen: tuple[Face, ...], limits: Limits, inputs: Mapping[str, bytes]
) -> Recording:
    from codeact.journal import Journal  # noqa: PLC0415 - only where there is one

    if not isinstance(journal, Journal):
        msg = f"journal={journal!r:.200}: expected a codeact.Journal, such as Journal('runs.sqlite')"
        raise TypeError(msg)
    return journal.recording(engine, seen, limits, inputs)


def _nothing() -> None:
    """There are no workers, and no worlds that were made ready."""


def run(
    code: str,
    tools: Granted = (),
    *,
    files: Mapping[str, Content] | None = None,
    timeout: float = 2.0,
    engine: str = "wasm",
) -> Result:
    """Run one program in a sandbox made for it, with less time than a `Sandbox` gives by default.

    Args:
        code: the text the model wrote.
        tools: what it is granted; see `Sandbox`.
        files: what it finds in its workspace; see `Sandbox.run`.
        timeout: seconds until it is stopped.
        engine: `wasm` or `restricted`; see `Sandbox`.
    """
    return Sandbox(tools, engine=engine, limits=Limits(timeout=timeout)).run(code, files=files)
