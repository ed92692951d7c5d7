"""pydantic-monty: an interpreter of a subset, in Rust, in worker processes of a pool."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any

from pydantic_monty import AsyncMonty, Monty, ResourceLimits

from benchmarks.arms import Run, Tools
from benchmarks.arms.shop import granted
from benchmarks.peers.texts import bare

LIMITS: ResourceLimits = {"max_suspensions": 1_000_000}
"""By default 1,000 calls end a program."""


class MontyPool:
    """Checks workers out of a pool, which for fresh runs has one ready."""

    @contextmanager
    def fresh(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        functions = granted(tools)
        if tools == "later":
            with asyncio.Runner() as runner:
                stack = AsyncExitStack()
                pool = runner.run(_entered(stack))
                try:
                    yield lambda program: runner.run(_later(pool, bare(program), functions))
                finally:
                    runner.run(stack.aclose())
            return
        with Monty() as pool:

            def run(program: str) -> object:
                with pool.checkout(limits=LIMITS) as session:
                    return session.feed_run(bare(program), external_lookup=functions)

            yield run

    @contextmanager
    def session(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        functions = granted(tools)
        with Monty() as pool, pool.checkout(limits=LIMITS) as session:
            yield lambda program: session.feed_run(bare(program), external_lookup=functions)

    @contextmanager
    def idle(self) -> Iterator[object]:
        """See `Arm`."""
        with Monty() as pool, pool.checkout() as session:
            yield session


async def _entered(stack: AsyncExitStack) -> AsyncMonty:
    return await stack.enter_async_context(AsyncMonty())


async def _later(pool: AsyncMonty, program: str, functions: dict[str, Any]) -> object:
    async with pool.checkout(limits=LIMITS) as session:
        return await session.feed_run(program, external_lookup=functions)


def arm() -> MontyPool:
    """The arm."""
    return MontyPool()
