"""To run a program and wait for its end, on a thread or in an event loop."""

from __future__ import annotations

import threading

from codeact.errand import Errand
from codeact.execution import Ended, Execution
from codeact.grant import Grant, Place
from codeact.portal import Portal, inside_a_loop, own_loop


def complete(grant: Grant, errand: Errand, place: Place | None = None) -> Ended:
    """Run a program and wait for its end, no longer than the limit `timeout`.

    Args:
        grant: what it may use.
        errand: what is to be run.
        place: the session's world; without one it gets a fresh world, which ends with it.

    Raises:
        RuntimeError: called inside a running event loop, which it would hold.
    """
    refuse_in_a_loop()
    waiting = threading.Lock()
    waiting.acquire()
    portal = Portal(own_loop)
    run = Execution(grant, errand, portal, place).start(waiting.release)
    try:
        ended = False
        while not ended and run.left():  # again where its deadline was put off
            ended = waiting.acquire(timeout=run.left())
        if not ended and not run.door.expire():
            waiting.acquire(timeout=run.grace())
        run.abandon()
        portal.join(run.grace())  # what is given up is on record before the run is over
    except BaseException:
        run.cancelled()
        raise
    return run.ended()


async def complete_async(grant: Grant, errand: Errand, place: Place | None = None) -> Ended:
    """The same without holding the event loop; async tools run on this loop.

    Cancelling it stops the guest and cancels its calls.
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

    portal = Portal(lambda: loop)
    run = Execution(grant, errand, portal, place).start(finished)
    try:
        ended = False
        while not ended and run.left():  # as above
            ended = await within(run.left())
        if not ended and not run.door.expire():
            await within(run.grace())
        run.abandon()
        await portal.settle(run.grace())  # as above
    except BaseException:
        run.abandon()
        try:
            await portal.settle(run.grace())
        finally:
            run.cancelled()
        raise
    return run.ended()


def refuse_in_a_loop() -> None:
    """See that the caller's thread may wait.

    Raises:
        RuntimeError: it runs an event loop, which it would hold.
    """
    if inside_a_loop():
        msg = "this would hold the running event loop: await run_async in place of run, and restore_async in place of restore"
        raise RuntimeError(msg)
