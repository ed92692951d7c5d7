"""What may be asked of whom: a URL is taken apart, made plain, and held against the rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote, urlsplit

METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
PORTS = {"http": 80, "https": 443}
LONGEST = 8_000
"""Characters of a URL."""


class Refused(PermissionError):
    """A request is not allowed; the message says which part of it and what is."""


@dataclass(frozen=True)
class Allow:
    """One destination and what may be done there.

    Attributes:
        origin: scheme, host and, where it is not the scheme's own, port: `https://api.example.com`.
        methods: the operations. Reading is `GET` and `HEAD`; what changes something does not belong inside.
        path: a pattern of the decoded path: `*` stands for a segment or a part of one, `**`, which is a segment by
            itself, for one or more of them. `/v1/**` covers all that is below `/v1/`, and not `/v1`.
        account: whose credential the request carries, and the only account that a program may name there; None
            for requests that carry none.
        private: whether the host may have addresses that are not public: loopback, private and link-local ones.
    """

    origin: str
    methods: tuple[str, ...] = ("GET", "HEAD")
    path: str = "/**"
    account: str | None = None
    private: bool = False

    def __post_init__(self) -> None:
        try:
            target = parse(self.origin)
        except (Refused, TypeError) as error:
            msg = f"Allow(origin={self.origin!r}): expected a scheme and a host, such as https://api.example.com"
            raise ValueError(msg) from error
        if target.origin != self.origin.lower():
            msg = f"Allow(origin={self.origin!r}): write it as {target.origin!r}, without path, query or default port"
            raise ValueError(msg)
        unknown = [method for method in self.methods if method not in METHODS]
        if unknown or not self.methods or isinstance(self.methods, str):
            msg = f"Allow(methods={self.methods!r}): expected some of {', '.join(sorted(METHODS))}, in upper case"
            raise ValueError(msg)
        if not self.path.startswith("/"):
            msg = f"Allow(path={self.path!r}): expected a pattern that begins with /"
            raise ValueError(msg)
        if {"?", "#"} & set(self.path) or {"..", "."} & set(self.path.split("/")) or "//" in self.path:
            msg = f"Allow(path={self.path!r}): it matches nothing: a path has no query, and no segment that climbs or is empty"
            raise ValueError(msg)
        if not isinstance(self.private, bool):
            msg = f"Allow(private={self.private!r}): expected True or False"
            raise TypeError(msg)
        if self.account is not None and not (isinstance(self.account, str) and self.account):
            msg = f"Allow(account={self.account!r}): expected the name of an account, or None for requests without one"
            raise ValueError(msg)
        if any("**" in segment and segment != "**" for segment in self.path.split("/")):
            msg = f"Allow(path={self.path!r}): ** is a segment by itself, as in /v1/**; a part of one is *"
            raise ValueError(msg)

    @cached_property
    def _pattern(self) -> tuple[re.Pattern[str] | None, ...]:
        """A pattern for each segment; None for `**`."""
        return tuple(None if segment == "**" else _segment(segment) for segment in self.path.split("/"))

    def covers(self, path: str) -> bool:
        """Whether the pattern matches a whole path, which programs choose: the time it takes does not grow much."""
        pattern, segments = self._pattern, path.split("/")
        at = here = 0
        retry: tuple[int, int] | None = None  # what follows the last `**`, and the first segment after those it took
        while here < len(segments):
            if at < len(pattern) and (part := pattern[at]) is None:
                at, here = retry = at + 1, here + 1
            elif at < len(pattern) and part is not None and part.fullmatch(segments[here]):
                at, here = at + 1, here + 1
            elif retry is not None:
                at, here = retry = retry[0], retry[1] + 1
            else:
                return False
        return at == len(pattern)


def _segment(text: str) -> re.Pattern[str]:
    first, *others = map(re.escape, text.split("*"))
    # What a star takes before the next text is never given back: it need not be, and trying takes for ever.
    between = "".join(f"(?>.*?{other})" for other in others[:-1])
    return re.compile(first + between + (f".*{others[-1]}" if others else ""), re.DOTALL)


@dataclass(frozen=True, slots=True)
class Target:
    """A URL taken apart and made plain.

    Attributes:
        scheme: `http` or `https`.
        host: in lower case, ASCII, without a final dot.
        port: the number.
        path: begins with `/`; percent-encoded where it was, and without any segment that climbs.
        query: without the `?`.
    """

    scheme: str
    host: str
    port: int
    path: str
    query: str

    @property
    def origin(self) -> str:
        """Scheme, host and port, as a rule names them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == PORTS[self.scheme] else f":{self.port}")

    @property
    def url(self) -> str:
        """The whole URL."""
        return f"{self.origin}{self.path}" + (f"?{self.query}" if self.query else "")


_PLAIN_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]+")
_PLAIN_TEXT = re.compile(r"[\x21-\x7e]*")
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def parse(url: str) -> Target:
    """Take a URL apart.

    Anything that two readers of URLs might read differently is refused: user names, control characters,
    backslashes, encoded slashes and dots, dots with parameters (`..;x`), escapes that are no UTF-8, double slashes.
    So what is checked here is what is asked for.

    Raises:
        Refused: it is not a plain http or https URL.
    """
    if len(url) > LONGEST:
        msg = f"the URL is longer than {LONGEST:,} characters"
        raise Refused(msg)
    if not _PLAIN_TEXT.fullmatch(url) or "\\" in url:
        msg = "the URL holds spaces, backslashes, control characters or letters beyond ASCII; percent-encode them"
        raise Refused(msg)
    try:
        parts = urlsplit(url)
        port = parts.port
        host = parts.hostname or ""
    except ValueError as error:
        msg = f"the URL cannot be read: {error}"
        raise Refused(msg) from None
    if parts.scheme not in PORTS:
        msg = f"the URL begins with {parts.scheme[:20] or 'no scheme'!r}; http and https are there"
        raise Refused(msg)
    if "@" in parts.netloc or "%" in parts.netloc:
        msg = "the URL holds a user name or an encoded host; credentials are attached outside"
        raise Refused(msg)
    host = host.removesuffix(".")
    if not _PLAIN_HOST.fullmatch(host) or ".." in host:
        msg = "the URL's host is no plain host name"
        raise Refused(msg)
    if parts.fragment or url.endswith("#"):
        msg = "the URL holds a fragment (#…), which servers never see; leave it out"
        raise Refused(msg)
    return Target(parts.scheme, host, port or PORTS[parts.scheme], _plain_path(parts.path or "/"), parts.query)


def _plain_path(path: str) -> str:
    for segment in path[1:].split("/"):
        try:
            decoded = unquote(segment, errors="strict")
        except UnicodeDecodeError:
            decoded = "\0"
        if _ESCAPE.search(segment) or _CONTROL.search(decoded):
            msg = "the URL's path holds control characters, or escapes that are none; percent-encode UTF-8"
            raise Refused(msg)
        name = decoded.partition(";")[0]
        if (name and not name.strip(". ")) or {"/", "\\"} & set(decoded) or unquote(decoded) != decoded:
            msg = "the URL's path climbs (..), or hides slashes or escapes in escapes; write it plainly"
            raise Refused(msg)
    if "//" in path:
        msg = "the URL's path has an empty segment (//); write it plainly"
        raise Refused(msg)
    return path


def judge(rules: Sequence[Allow], target: Target, method: str, account: str | None) -> Allow:
    """The rule by which a request may be made.

    Raises:
        Refused: there is none; the message names the first thing that no rule allows.
    """
    there = [rule for rule in rules if rule.origin.lower() == target.origin]
    if not there:
        origins = ", ".join(dict.fromkeys(rule.origin for rule in rules)) or "none"
        msg = f"{target.origin} is no destination of this sandbox; the destinations are: {origins}"
        raise Refused(msg)
    operated = [rule for rule in there if method in rule.methods]
    if not operated:
        methods = ", ".join(dict.fromkeys(name for rule in there for name in rule.methods))
        msg = f"{method} is not allowed at {target.origin}; allowed: {methods}"
        raise Refused(msg)
    placed = [rule for rule in operated if rule.covers(unquote(target.path))]
    if not placed:
        paths = ", ".join(dict.fromkeys(rule.path for rule in operated))
        msg = f"{method} {target.path[:200]} is not allowed at {target.origin}; allowed: {paths}"
        raise Refused(msg)
    for rule in placed:
        if rule.account == account or (account is None and len(placed) == 1):
            return rule
    accounts = ", ".join(repr(rule.account) for rule in placed)
    msg = f"account {account!r} may not be used there; account={accounts} may"
    raise Refused(msg)
