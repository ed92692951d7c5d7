"""The sandbox: tools, an engine and limits in; a result, always data, out."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from codeact.declarations import face
from codeact.engines import load
from codeact.execution import Execution, Grant
from codeact.limits import Limits
from codeact.portal import Portal, own_loop, portal_to
from codeact.result import Result
from codeact.tools import Granted, Toolset

GRACE = 0.2
"""Seconds that a guest gets to notice its deadline, before the run is abandoned."""


class Sandbox:
    """An empty world for model-written programs, which holds the tools granted and nothing else.

    Every run gets a fresh world. A sandbox may be used from many threads at once.
    """

    def __init__(self, tools: Granted = (), *, engine: str = "wasm", limits: Limits | None = None) -> None:
        """Set a sandbox up. The first use of `wasm` on a machine compiles its guest, which takes some seconds.

        Args:
            tools: tools or typed functions, or a mapping of names to them.
            engine: `wasm`, the boundary, for programs that nobody vouches for; or `restricted`, which is fast
                and stops accidents, and is no security boundary.
            limits: what one run may use.

        Raises:
            ValueError: there is no such engine, or the tools do not go together.
            TypeError: an argument is of the wrong type, or a tool is not annotated.
            EngineUnavailable: the engine cannot be set up here. No other engine is used in its place.
        """
        if not isinstance(engine, str):
            msg = f"engine={engine!r}: expected the name of an engine"
            raise TypeError(msg)
        if limits is not None and not isinstance(limits, Limits):
            msg = f"limits={limits!r}: expected codeact.Limits"
            raise TypeError(msg)
        toolset = tools if isinstance(tools, Toolset) else Toolset(tools)
        faces = tuple(face(tool) for tool in toolset.values())
        self._grant = Grant(load(engine), toolset, faces, limits or Limits())

    def __repr__(self) -> str:
        return f"<Sandbox on {self.engine} with {', '.join(self.tools) or 'no tools'}>"

    @property
    def tools(self) -> Toolset:
        """The tools granted."""
        return self._grant.tools

    @property
    def limits(self) -> Limits:
        """What one run may use."""
        return self._grant.limits

    @property
    def engine(self) -> str:
        """The name of the engine."""
        return self._grant.engine.name

    def run(self, code: str) -> Result:
        """Run a program and wait for its result, no longer than the limit `timeout`.

        Args:
            code: the text the model wrote.

        Raises:
            TypeError: `code` is no string.
            RuntimeError: called inside a running event loop, which it would hold; use `run_async`.
        """
        if _inside_a_loop():
            msg = "Sandbox.run would hold the running event loop; use: await sandbox.run_async(code)"
            raise RuntimeError(msg)
        waiting = threading.Lock()
        waiting.acquire()
        run = self._begin(code, own_loop, waiting.release)
        try:
            if not waiting.acquire(timeout=run.left()) and not run.door.expire():
                waiting.acquire(timeout=GRACE)
        except BaseException:
            run.door.close()
            raise
        return run.result()

    async def run_async(self, code: str) -> Result:
        """Run a program without holding the event loop; async tools run on this loop.

        Cancelling it stops the guest.

        Args:
            code: the text the model wrote.

        Raises:
            TypeError: `code` is no string.
        """
        import asyncio  # noqa: PLC0415 - most of what an import of this module would cost

        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def finished() -> None:
            try:
                loop.call_soon_threadsafe(done.set)
            except RuntimeError:  # the loop was closed before an abandoned run came to its end
                return

        async def within(seconds: float) -> bool:
            try:
                await asyncio.wait_for(done.wait(), seconds)
            except TimeoutError:
                return False
            return True

        run = self._begin(code, portal_to(loop), finished)
        try:
            if not await within(run.left()) and not run.door.expire():
                await within(GRACE)
        except BaseException:
            run.door.close()
            raise
        return run.result()

    def _begin(self, code: str, portal: Portal, finished: Callable[[], None]) -> Execution:
        if not isinstance(code, str):
            msg = f"code: expected the program as a str, got {type(code).__name__}"
            raise TypeError(msg)
        return Execution(self._grant, str.__str__(code), portal).start(finished)


def _inside_a_loop() -> bool:
    running = getattr(sys.modules.get("asyncio"), "get_running_loop", None)
    if running is None:  # not imported, or just being imported by another thread: nobody can run a loop here
        return False
    try:
        running()
    except RuntimeError:
        return False
    return True


def run(code: str, tools: Granted = (), *, timeout: float = 2.0, engine: str = "wasm") -> Result:
    """Run one program in a sandbox made for it, with less time than a `Sandbox` gives by default.

    Args:
        code: the text the model wrote.
        tools: what it is granted; see `Sandbox`.
        timeout: seconds until it is stopped.
        engine: `wasm` or `restricted`; see `Sandbox`.
    """
    return Sandbox(tools, engine=engine, limits=Limits(timeout=timeout)).run(code)
