"""`codeact mcp`: a sandbox for whoever speaks MCP."""

from __future__ import annotations

import logging
import socket
import sys
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codeact.cli.sandboxes import (
    ActionPlaces,
    Chosen,
    EngineName,
    GuestFile,
    JournalFile,
    PolicyFile,
    Seconds,
    ToolPlaces,
)
from codeact.cli.terminal import refuse, say

if TYPE_CHECKING:
    from codeact.outbox import Outbox
    from codeact.sandbox import Sandbox

EXAMPLES = """Examples:

\b
  codeact mcp --tools shop.tools:TOOLS
  codeact mcp --tools shop.tools:TOOLS --actions shop.actions:ACTIONS --outbox outbox.db
  codeact mcp --tools shop.tools:TOOLS --policy policy.toml --journal runs.sqlite
  codeact mcp --tools shop.tools:TOOLS --http 8000
  claude mcp add shop -- codeact mcp --tools shop.tools:TOOLS

\b
It serves run_python, and search_tools where there are many tools. Each client has a session of its own: names stay
from one program to the next. Over stdio it ends when its client closes the pipe. Over HTTP it is at
http://HOST:PORT/mcp, for this machine alone: there is no authentication. What it logs goes to stderr.

\b
What programs propose by --actions is submitted to --outbox, and waits there: see codeact outbox. Nothing of it is
performed here.

Needs the extra `mcp`: pip install 'codeact[mcp]'.
"""


def mcp(  # noqa: PLR0913, PLR0917 - each is an option of the command
    tools: ToolPlaces = None,
    actions: ActionPlaces = None,
    engine: EngineName = None,
    timeout: Seconds = None,
    guest: GuestFile = None,
    policy: PolicyFile = None,
    outbox: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Submit what programs propose to this outbox.")
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(metavar="TASK", help="What all programs are for, on record; by default a task for each session."),
    ] = None,
    journal: JournalFile = None,
    http: Annotated[
        str | None, typer.Option(metavar="[HOST:]PORT", help="Serve over HTTP, in place of stdio; HOST is 127.0.0.1.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A name by which other machines call it; needed to listen to them. May be given several times.",
        ),
    ] = None,
) -> None:
    """Serve run_python to MCP clients, over stdio or HTTP."""
    if outbox is not None and not actions:
        refuse(f"--outbox {outbox}: nothing can be proposed; grant something with --actions")
    if allow_host and http is None:
        refuse("--allow-host: it is for --http")
    if actions and outbox is None:
        say("nothing keeps what programs propose for a decision; --outbox FILE does")
    from codeact.integrations.mcp import server, transports  # noqa: PLC0415 - see the package's docstring

    if http is None and sys.stdin is None:
        refuse("stdin: it is closed; a client is to be at the other end, or give --http PORT")
    listening = None if http is None else _listening(http, allow_host or [], transports.LOCAL)
    with ExitStack() as until:
        with redirect_stdout(sys.stderr):
            sandbox = Chosen(tools or [], actions or [], journal, policy, engine, timeout, guest).sandbox()
            opened = None if outbox is None else until.enter_context(_outbox(outbox, sandbox))
            served = server(sandbox, outbox=opened, task=task)
        logging.basicConfig(stream=sys.stderr, format="codeact: %(levelname)s: %(name)s: %(message)s")
        if listening is None:
            if sys.stdin.isatty():
                say("a client is to be at the other end of stdin and stdout; Ctrl-C ends it, and --help has examples")
            transports.over_stdio(served)
        else:
            host, port = listening.getsockname()[:2]
            say(f"serving http://{f'[{host}]' if ':' in host else host}:{port}{transports.PATH}")
            transports.over_http(served, listening, allow_host or [])


def _outbox(file: Path, sandbox: Sandbox) -> Outbox:
    from codeact.outbox import Outbox, OutboxError  # noqa: PLC0415 - see the package's docstring

    try:
        return Outbox(file, actions=sandbox.actions)
    except OutboxError as error:
        refuse(f"--outbox {file}: {error}")


def _listening(place: str, allowed: list[str], local: frozenset[str]) -> socket.socket:
    """A socket that is bound to a place."""
    host, _, port = place.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not (port.isascii() and port.isdigit() and int(port) < 2**16):
        refuse(f"--http {place}: expected PORT or HOST:PORT, like 8000 or 127.0.0.1:8000")
    if host not in local and not allowed:
        refuse(
            f"--http {place}: other machines reach {host}, and nobody authenticates; if that is meant, say by --allow-host"
            " NAME what they call it"
        )
    try:
        family, _, _, _, address = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        refuse(f"--http {place}: {error.strerror or error}")
