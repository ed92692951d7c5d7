"""A server's way to its clients: a pipe, or HTTP."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any

from codeact.extras import extra

with extra("mcp", "codeact.integrations.mcp"):
    import uvicorn
    from mcp.server.stdio import stdio_server
    from mcp.server.transport_security import TransportSecuritySettings

if TYPE_CHECKING:
    from mcp.server import Server
    from starlette.applications import Starlette

    from codeact.integrations.mcp.sessions import Sessions

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
"""Hosts that only this machine reaches."""

PATH = "/mcp"
"""Where over HTTP it is served."""

GRACE = 2
"""Seconds that requests over HTTP have to end when the server is to."""


def over_stdio(server: Server[Sessions]) -> None:
    """Serve the client that holds this process's stdin and stdout, until it closes them or the process is told to end.

    What else is written to stdout while it serves goes to stderr.

    Raises:
        KeyboardInterrupt: it was SIGINT that ended it.
    """
    with _ending_with_signals():
        asyncio.run(_over_stdio(server))


async def _over_stdio(server: Server[Sessions]) -> None:
    # The transport lends the descriptor to stderr; what a buffered `sys.stdout` still has at the end would go to the client.
    async with stdio_server() as (read, write):
        with redirect_stdout(sys.stderr):
            await server.run(read, write, server.create_initialization_options())


def over_http(server: Server[Sessions], listening: socket.socket, allowed: Sequence[str] = ()) -> None:
    """Serve whoever connects, until the process is told to end.

    Args:
        server: what is served.
        listening: a socket that is bound.
        allowed: see `application`.

    Raises:
        KeyboardInterrupt: it was SIGINT that ended it.
    """
    config = uvicorn.Config(
        application(server, allowed), log_config=None, access_log=False, timeout_graceful_shutdown=GRACE
    )
    uvicorn.Server(config).run(sockets=[listening])


def application(server: Server[Sessions], allowed: Sequence[str] = ()) -> Starlette:
    """An ASGI application that serves over HTTP whoever has business here.

    Requests must name a host of this machine, or one that is allowed: a page in somebody's browser that has made a name of
    its own lead here is refused.

    Args:
        server: what is served.
        allowed: names, as in `tools.example.com` or `tools.example.com:8000`, by which others than this machine call it.
    """
    hosts = [*LOCAL, "[::1]", *allowed]
    hosts += [f"{host}:*" for host in hosts if host.rpartition(":")[2] == host or host.endswith("]")]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts],
    )
    return server.streamable_http_app(streamable_http_path=PATH, transport_security=security)


@contextmanager
def _ending_with_signals() -> Iterator[None]:
    """Let SIGINT and SIGTERM be to the process what it is when its stdin is closed.

    Whoever reads a pipe cannot be interrupted, and the process would wait for its client. So another pipe is put in place of
    stdin, which a thread fills from it until a signal comes.

    Raises:
        KeyboardInterrupt: there was SIGINT, and all has ended.
    """
    stdin = os.dup(sys.stdin.fileno())
    told, tell = os.pipe()
    inner, outer = os.pipe()
    os.dup2(inner, sys.stdin.fileno())
    os.close(inner)
    threading.Thread(target=_pass_on, args=(stdin, told, outer), name="codeact-mcp-stdin", daemon=True).start()
    came: list[int] = []

    def end(number: int, _frame: object) -> None:
        came.append(number)
        signal.signal(number, before[number])  # for whoever cannot wait
        os.write(tell, b"!")

    before: dict[int, Any] = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.dup2(stdin, sys.stdin.fileno())
    if signal.SIGINT in came:
        raise KeyboardInterrupt


def _pass_on(stdin: int, told: int, outer: int) -> None:
    """Write all that is read, until there is no more, or nobody reads it, or it is told to end."""
    try:
        while told not in (ready := select.select([stdin, told], [], [])[0]):
            if stdin in ready:
                chunk = os.read(stdin, _CHUNK)
                if not chunk:
                    return
                while chunk:
                    chunk = chunk[os.write(outer, chunk) :]
    except OSError:  # nobody reads it any more
        return
    finally:
        os.close(outer)


_CHUNK = 65_536
