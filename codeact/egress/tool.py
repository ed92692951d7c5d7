"""The tool that makes requests, on httpx."""

from __future__ import annotations

import asyncio
import codecs
import json as jsons
import logging
import re
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from inspect import iscoroutinefunction
from typing import Any
from urllib.parse import urlencode, urljoin

from codeact.audit import events, trail
from codeact.egress.addresses import Resolver, checked, resolve
from codeact.egress.rules import METHODS, Allow, Refused, Target, judge, parse
from codeact.extras import extra
from codeact.tools import Tool, tool

with extra("http", "codeact.egress"):
    import httpx

log = logging.getLogger("codeact")

Credential = Callable[[Allow], Mapping[str, str]]
"""Gives the headers that a request by a rule must carry."""

HOPS = 5
"""Redirects that are followed."""

_SENT = frozenset({"accept", "accept-language", "content-type", "if-match", "if-none-match", "if-modified-since"})
"""Headers that a program may set; all others are the host's."""

_SHARED = frozenset(
    {"content-type", "content-length", "date", "etag", "last-modified", "link", "location", "retry-after"}
)
"""Headers of an answer that a program is told; cookies and the like are not among them."""

_MOVED = frozenset({301, 302, 303, 307, 308})
_REPEATED = frozenset({307, 308})

_CHARSETS = re.compile(r"utf-\d.*|ascii|iso8859-.*|cp\d+|koi8-.*|gb.*|big5.*|euc_.*|shift_jis.*")
"""Those that are quick to read. A server may name any codec of Python's, and some take longer than anybody waits."""


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered.

    Attributes:
        status: the number, such as 200.
        url: where it came from, after redirects.
        headers: the harmless ones, names in lower case.
        text: the body as text.
    """

    status: int
    url: str
    headers: dict[str, str]
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """What a program asks for."""

    method: str
    target: Target
    account: str | None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None


class AnswerRefused(RuntimeError):
    """A server's answer is not taken: it is too large, too slow or compressed, or leads on too often."""


class NoAnswer(RuntimeError):
    """There was no answer that could be read. What the error was about may hold what was sent, and stays outside."""


class NoCredential(RuntimeError):
    """The host could not attach a credential; its log says why."""


@dataclass(frozen=True, slots=True)
class Client:
    """Makes requests by rules.

    Attributes:
        rules: what may be asked of whom.
        credential: gives the headers that a rule's requests carry.
        timeout: seconds for a request, redirects included.
        limit: bytes of an answer.
        resolver: looks names up.
        verify: how certificates are checked; None for httpx's own way.
        transport: what carries requests; None for the network.
    """

    rules: tuple[Allow, ...]
    credential: Credential | None
    timeout: float
    limit: int
    resolver: Resolver
    verify: ssl.SSLContext | None
    transport: httpx.AsyncBaseTransport | None

    async def send(self, request: Request) -> Response:
        """Make a request and follow where it is sent, each step by the rules."""
        try:
            async with asyncio.timeout(self.timeout):
                return await self._follow(request)
        except TimeoutError:
            msg = f"no whole answer within {self.timeout:g} s"
            raise AnswerRefused(msg) from None

    async def _follow(self, request: Request) -> Response:
        for _ in range(HOPS + 1):
            response, onward = await self._recorded(request)
            if onward is None:
                return response
            repeated = response.status in _REPEATED
            with _refusals(request.method, request.account):
                target = parse(urljoin(request.target.url, onward))
            request = Request(
                request.method if repeated or request.method == "HEAD" else "GET",
                target,
                request.account,
                request.headers,
                request.body if repeated else None,
            )
        msg = f"more than {HOPS} redirects"
        raise AnswerRefused(msg)

    async def _recorded(self, request: Request) -> tuple[Response, str | None]:
        """One request, on record whatever comes of it."""
        begun = time.monotonic()
        seen = events.Egress(request.method, request.account, request.target.origin, request.target.path)
        try:
            rule = judge(self.rules, request.target, request.method, request.account)
            seen.account = rule.account
            address = await checked(request.target.host, request.target.port, self.resolver, private=rule.private)
            seen.allowed = True
            try:
                response, onward = await self._once(request, rule, address)
            except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
                msg = f"no answer that could be read from {request.target.origin} ({_kind(error)})"
                log.warning("%s %s: %s", request.method, request.target.origin, msg)
                raise NoAnswer(msg) from None
            seen.status = response.status
        except BaseException as error:
            seen.error = type(error).__name__
            raise
        finally:
            events.egress(trail.get(), seen, time.monotonic() - begun)
        return response, onward

    async def _once(self, request: Request, rule: Allow, address: str) -> tuple[Response, str | None]:
        target = request.target
        secret = self._secret(rule)
        headers = {**request.headers, "accept-encoding": "identity", "user-agent": "codeact", **secret}
        headers["host"] = target.origin.partition("://")[2]
        pinned = httpx.URL(target.url).copy_with(host=address)
        extensions = {"sni_hostname": target.host}
        async with (
            httpx.AsyncClient(
                verify=self.verify or _certificates(),
                trust_env=False,
                timeout=self.timeout,
                transport=self.transport,
            ) as client,
            client.stream(
                request.method, pinned, headers=headers, content=request.body, extensions=extensions
            ) as answer,
        ):
            moved = answer.headers.get("location") if answer.status_code in _MOVED else None
            onward = None if moved is None else _without(secret, moved)
            told = {name: _without(secret, value) for name, value in answer.headers.items() if name in _SHARED}
            body = b"" if onward is not None else await self._body(answer)
            text = _without(secret, body.decode(_charset(answer), "replace"))
            return Response(answer.status_code, target.url, told, text), onward

    def _secret(self, rule: Allow) -> dict[str, str]:
        """The headers that the host adds, which nobody inside may learn of, by an error neither."""
        if self.credential is None or rule.account is None:
            return {}  # where a rule names an account, there is a credential
        told = f"the host has no credential that can be sent for the account {rule.account!r}"
        try:
            secret = dict(self.credential(rule))
        except Exception:
            log.exception(told)
            raise NoCredential(told) from None
        if not secret:
            log.error("%s: what gives credentials gave no header", told)
            raise NoCredential(told)
        if not all(isinstance(text, str) and _SENDABLE.fullmatch(text) for pair in secret.items() for text in pair):
            log.error("%s: a header of it holds line breaks, spaces at an end, or what is not ASCII", told)
            raise NoCredential(told)
        return secret

    async def _body(self, answer: httpx.Response) -> bytes:
        if answer.headers.get("content-encoding", "identity") != "identity":
            msg = "the server sent a compressed answer, which was not asked for"
            raise AnswerRefused(msg)
        body = bytearray()
        async for part in answer.aiter_raw():
            body += part
            if len(body) > self.limit:
                msg = f"the answer is larger than {self.limit:,} bytes; ask for less"
                raise AnswerRefused(msg)
        return bytes(body)


def _kind(error: BaseException) -> str:
    """What kind of error it was, and what it came from: types alone, because the texts may hold what was sent."""
    kinds = [type(error).__name__]
    while (cause := error.__cause__ or error.__context__) is not None and len(kinds) < _CAUSES:
        error = cause
        if type(error).__name__ != kinds[-1]:
            kinds.append(type(error).__name__)
    return " from ".join(kinds)


_CAUSES = 5


@cache
def _certificates() -> ssl.SSLContext:
    """Reading the authorities' certificates takes longer than most requests."""
    return httpx.create_ssl_context()


def _charset(answer: httpx.Response) -> str:
    try:
        name = codecs.lookup(answer.charset_encoding or "utf-8").name
    except LookupError:
        name = "utf-8"
    return name if _CHARSETS.fullmatch(name) else "utf-8"


def _without(secret: Mapping[str, str], text: str) -> str:
    """The text, should a server echo what it was sent as it was sent, without the credential in it."""
    for value in secret.values():
        for part in (value, *value.split()):
            if len(part) >= _SHORTEST:
                text = text.replace(part, "[credential]")
    return text


_SENDABLE = re.compile(r"[!-~]([ -~]*[!-~])?")
"""A name or a value of a header, as HTTP can carry it."""

_SHORTEST = 8
"""Characters of a part of a credential that is looked for; shorter ones are words such as `Bearer`."""


def http_tool(  # noqa: PLR0913 - named settings, each with a default
    allow: Iterable[Allow],
    *,
    credential: Credential | None = None,
    name: str = "http",
    timeout: float = 10.0,
    max_bytes: int = 1_000_000,
    resolver: Resolver = resolve,
    verify: ssl.SSLContext | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Tool[..., Any]:
    """A tool with which programs make requests to the destinations named here, and to no others.

    Args:
        allow: the destinations, and what may be done there.
        credential: gives the headers that a request by one of these rules must carry, such as
            `{"authorization": "Bearer …"}`. It is asked for rules with an account, for every request.
        name: what the tool is called inside.
        timeout: seconds for one call, redirects included.
        max_bytes: bytes of one answer.
        resolver: looks the addresses of a name up; the operating system's resolver by default.
        verify: how certificates are checked; httpx's own way by default.
        transport: what carries requests in place of the network, for tests.

    Raises:
        TypeError: `allow` holds something else than rules; a limit is no number; `credential` cannot be called.
        ValueError: a limit is not above zero; a rule names an account, and there is no `credential`.
    """
    if isinstance(allow, Allow) or not isinstance(allow, Iterable):
        msg = f"allow={allow!r:.200}: expected a list of codeact.egress.Allow"
        raise TypeError(msg)
    rules = tuple(allow)
    if not all(isinstance(rule, Allow) for rule in rules):
        msg = "allow: expected an iterable of codeact.egress.Allow"
        raise TypeError(msg)
    for label, value in (("timeout", timeout), ("max_bytes", max_bytes)):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            msg = f"{label}={value!r}: expected a number"
            raise TypeError(msg)
        if not value > 0:
            msg = f"{label}={value!r}: must be above zero"
            raise ValueError(msg)
    if credential is not None and (not callable(credential) or iscoroutinefunction(credential)):
        msg = f"credential={type(credential).__name__}: expected a function, not async, that takes a rule and gives headers"
        raise TypeError(msg)
    named = next((rule for rule in rules if rule.account is not None), None)
    if named is not None and credential is None:
        msg = f"credential: the rule for {named.origin} names the account {named.account!r}; give what attaches its credential"
        raise ValueError(msg)
    client = Client(rules, credential, timeout, max_bytes, resolver, verify, transport)

    async def http(  # noqa: PLR0913 - what a request is made of
        method: str,
        url: str,
        *,
        params: dict[str, str | int | float | bool] | None = None,
        headers: dict[str, str] | None = None,
        json: Any = None,
        account: str | None = None,
    ) -> Response:
        with _refusals(method, account):
            request = _request(method, url, params, headers, json, account)
        return await client.send(request)

    http.__name__ = name
    http.__doc__ = _described(rules)
    return tool(http)


@contextmanager
def _refusals(method: str, account: str | None) -> Iterator[None]:
    """Put a request on record that is refused before anything is known of where it would go."""
    try:
        yield
    except Exception as error:
        events.egress(trail.get(), events.Egress(method, account, error=type(error).__name__))
        raise


def _request(  # noqa: PLR0913, PLR0917 - what the tool takes
    method: str,
    url: str,
    params: Mapping[str, object] | None,
    headers: Mapping[str, str] | None,
    json: object,
    account: str | None,
) -> Request:
    verb = method.upper()
    if verb not in METHODS:
        msg = f"method {method[:20]!r} is not known; there are {', '.join(sorted(METHODS))}"
        raise Refused(msg)
    if params:
        url = f"{url}{'&' if '?' in url else '?'}{urlencode(dict(params))}"
    sent = {key.lower(): value for key, value in (headers or {}).items()}
    foreign = sorted(set(sent) - _SENT)
    if foreign:
        msg = f"the header {foreign[0][:40]!r} cannot be set; these can: {', '.join(sorted(_SENT))}"
        raise Refused(msg)
    body = None
    if json is not None:
        body = jsons.dumps(json, allow_nan=False).encode()
        sent["content-type"] = "application/json"
    return Request(verb, parse(url), account, sent, body)


def _described(rules: tuple[Allow, ...]) -> str:
    lines = [
        f"- {'/'.join(rule.methods)} {rule.origin}{rule.path}"
        + (f" (account={rule.account!r})" if rule.account else "")
        for rule in rules
    ]
    places = "\n".join(lines) or "- nowhere"
    return f"Make an HTTP request. Credentials are attached outside. Allowed:\n{places}"
