"""A server on the loopback that speaks as the providers do: it judges each request, and answers by a script."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.models import validation

PATHS = {"/v1/messages": validation.anthropic, "/v1/chat/completions": validation.openai}


@dataclass(frozen=True)
class Answer:
    """One answer of the script.

    Attributes:
        body: what is sent, piece by piece.
        status: of HTTP.
        headers: beside those of the transport.
        whole: whether the connection ends as it should; else it breaks after the last piece.
        held: whether the server waits after the last piece, until the client goes or the server ends.
    """

    body: tuple[bytes, ...] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    whole: bool = True
    held: bool = False


@dataclass(frozen=True)
class Seen:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    port: int


class Server:
    def __init__(self) -> None:
        self.script: list[Answer] = []
        self.seen: list[Seen] = []
        self.refused: list[str] = []
        self.arrived = threading.Event()
        self.gone = threading.Event()
        self.ended = threading.Event()
        self.url = ""

    @property
    def host(self) -> str:
        """As errors name it."""
        return self.url.removeprefix("http://")

    def say(self, *answers: Answer) -> None:
        self.script += answers


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    told: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        server = self.told
        raw = self.rfile.read(int(self.headers["content-length"]))
        try:
            body = validation.decoded(raw)
            validation.check(self.path in PATHS, f"no path {self.path}")
            validation.check(self.headers["authorization"] or self.headers["x-api-key"], "no credential")
            PATHS[self.path](body)
        except (validation.InvalidError, KeyError, TypeError, ValueError) as error:
            server.refused.append(f"{type(error).__name__}: {error}")
            told = {"type": "error", "error": {"type": "invalid_request_error", "message": str(error)}}
            self.answer(Answer((json.dumps(told).encode(),), 400))
            return
        server.seen.append(
            Seen(self.path, {name.lower(): value for name, value in self.headers.items()}, body, self.client_address[1])
        )
        self.answer(server.script.pop(0))

    def answer(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for piece in answer.body:
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                self.wfile.flush()
            self.told.arrived.set()
            if answer.held:
                self.connection.settimeout(0.05)
                while not self.told.ended.is_set():
                    try:
                        if not self.connection.recv(1):
                            break
                    except TimeoutError:
                        continue
                self.told.gone.set()
            if answer.whole and not answer.held:
                self.wfile.write(b"0\r\n\r\n")
            else:
                self.close_connection = True
        except OSError:
            self.told.gone.set()
            self.close_connection = True


class Loopback(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, address: object) -> None:
        """A client that leaves is no error: many of these tests are about just that."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, address)


@contextmanager
def serving() -> Iterator[Server]:
    told = Server()
    http = Loopback(("127.0.0.1", 0), type("Told", (Handler,), {"told": told}))
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.005})
    thread.start()
    told.url = f"http://127.0.0.1:{http.server_port}"
    try:
        yield told
    finally:
        told.ended.set()
        http.shutdown()
        thread.join()
        http.server_close()
