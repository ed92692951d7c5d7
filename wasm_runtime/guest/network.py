"""The network that is not there. Modules for it import, and what would connect says so."""

from __future__ import annotations

import asyncio
import errno
import http.client
import select
import selectors
import socket
import urllib.request
from typing import Any, NoReturn

from .library import Shelf
from .patching import replace
from .refusals import refusing

_ADVICE = "there is no network in the sandbox; reach other systems through the tools"

unreachable = refusing(OSError, errno.ENETUNREACH, _ADVICE)

AUDITED = {
    "socket.__new__": unreachable,
    "socket.getaddrinfo": unreachable,
    "socket.gethostbyaddr": unreachable,
    "socket.gethostbyname": unreachable,
    "socket.getnameinfo": unreachable,
}
"""What C code announces before it asks for the network."""

_ENCRYPTED = {"ftplib": "FTP_TLS", "imaplib": "IMAP4_SSL", "poplib": "POP3_SSL", "smtplib": "SMTP_SSL"}
"""What these modules have only where there is a module `ssl`."""


class _HTTPSConnection(http.client.HTTPConnection):
    """As far from connecting as its base class, and there for those that look for it."""

    default_port = 443

    def __init__(self, host: str, port: int | None = None, *, context: object = None, **options: Any) -> None:  # noqa: ARG002  # as with `ssl`
        super().__init__(host, port, **options)


class _HTTPSHandler(urllib.request.HTTPHandler):
    """Opens `https:` as far as it goes; without it, that would be an unknown type of URL."""

    def __init__(self, debuglevel: Any = None, context: object = None, check_hostname: object = None) -> None:  # noqa: ARG002  # as with `ssl`
        super().__init__(debuglevel)

    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_HTTPSConnection, request)

    https_request = urllib.request.AbstractHTTPHandler.do_request_


async def _no_server(*_: object, **_options: object) -> NoReturn:
    unreachable()


_HTTPSConnection.__name__ = _HTTPSConnection.__qualname__ = "HTTPSConnection"
_HTTPSHandler.__name__ = _HTTPSHandler.__qualname__ = "HTTPSHandler"


def install(shelf: Shelf) -> None:
    """Answer in the place of the network.

    Args:
        shelf: where the modules wait that are imported later.
    """
    replace(select.select, unreachable)
    replace(select.poll, unreachable)
    replace(socket.close, unreachable)
    selectors.PollSelector._selector_cls = unreachable  # type: ignore[attr-defined]  # noqa: SLF001
    asyncio.BaseEventLoop.create_server = _no_server  # type: ignore[method-assign]
    http.client.HTTPSConnection = _HTTPSConnection  # type: ignore[misc,assignment]
    urllib.request.HTTPSHandler = _HTTPSHandler  # type: ignore[misc,assignment]
    for module, name in _ENCRYPTED.items():
        shelf.amend(module, {name: unreachable})
