"""A real server on the loopback, which is as hostile as a test wants it to be."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import trustme

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Server:
    """A server, what it has seen, and what it answers by path."""

    httpd: ThreadingHTTPServer
    answers: dict[str, Answer] = field(default_factory=dict)
    seen: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    scheme: str = "http"

    @property
    def port(self) -> int:
        return int(self.httpd.server_address[1])

    def origin(self, host: str = "api.test") -> str:
        return f"{self.scheme}://{host}:{self.port}"

    def paths(self) -> list[str]:
        return [path for _, path, _, _ in self.seen]


def say(status: int, body: bytes = b"", **headers: str) -> Answer:
    """An answer of fixed content; `_` in names of headers stands for `-`."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)

    return answer


def _serve(context: ssl.SSLContext | None) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.seen.append((self.command, self.path, headers, body))
            server.answers.get(self.path.partition("?")[0], say(404))(self)

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = _any  # noqa: N815 - http.server's names

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    if context is not None:
        httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
    server = Server(httpd, scheme="https" if context else "http")
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    httpd.shutdown()
    httpd.server_close()
    thread.join(10)


@pytest.fixture
def server() -> Iterator[Server]:
    yield from _serve(None)


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secure(authority: trustme.CA) -> Iterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("api.test").configure_cert(context)
    yield from _serve(context)


async def loopback(_host: str, _port: int) -> list[str]:
    """A resolver for which every name is this machine."""
    return ["127.0.0.1"]
