"""Mediated requests, against a real server: what may leave, where to, and with what."""

from __future__ import annotations

import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
import trustme

from codeact import Result, Sandbox
from codeact.audit import Audit, Event, Trail, trail
from codeact.egress import Allow, http_tool
from tests.conftest import MakeSandbox
from tests.egress.conftest import Server, loopback, say

KEY = "Bearer sk_live_canary_4711"


class Kept:
    """A sink that keeps what it gets."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def write(self, event: Event) -> None:
        self.events.append(event)


@pytest.fixture
def ask(make: MakeSandbox) -> Any:
    """Runs one request inside and gives the result."""

    def ask(call: str, *rules: Allow, **settings: Any) -> Result:
        given = {"resolver": loopback, "credential": lambda _rule: {"authorization": KEY}, **settings}
        sandbox: Sandbox = make([http_tool(rules, **given)])
        return sandbox.run(f"r = await tools.http({call})\n(r.status, r.text)")

    return ask


def refused(result: Result) -> str:
    assert result.error is not None, result.value
    assert result.error.kind == "tool"
    assert "canary" not in result.observation()
    return result.error.message


def test_a_request_that_is_allowed(ask: Any, server: Server) -> None:
    server.answers["/v1/customers"] = say(200, b'{"n": 1}', content_type="application/json", set_cookie="s=1")
    rule = Allow(server.origin(), path="/v1/*", account="support", private=True)
    result = ask(f"'GET', {server.origin() + '/v1/customers'!r}, params={{'q': 'a b'}}", rule)
    assert result.value == (200, '{"n": 1}'), result.error
    ((method, path, headers, _),) = server.seen
    assert (method, path) == ("GET", "/v1/customers?q=a+b")
    assert headers["authorization"] == KEY
    assert headers["host"] == f"api.test:{server.port}"
    assert "canary" not in str(result.to_dict())


def test_a_body_is_sent_as_json(ask: Any, server: Server) -> None:
    server.answers["/search"] = say(200, b"ok")
    rule = Allow(server.origin(), methods=("POST",), private=True)
    assert ask(f"'post', {server.origin() + '/search'!r}, json={{'q': [1, None]}}", rule).value == (200, "ok")
    ((_, _, headers, body),) = server.seen
    assert (body, headers["content-type"]) == (b'{"q": [1, null]}', "application/json")
    assert "authorization" not in headers, "the rule names no account"


REFUSED = {
    "another origin": ("'GET', 'http://evil.test/'", "http://evil.test is no destination of this sandbox"),
    "another port": ("'GET', 'http://api.test:1/v1/a'", "http://api.test:1 is no destination"),
    "another scheme": ("'GET', 'https://api.test:{port}/v1/a'", "is no destination"),
    "another operation": ("'DELETE', '{origin}/v1/a'", "DELETE is not allowed at"),
    "an unknown operation": ("'TRACE', '{origin}/v1/a'", "method 'TRACE' is not known"),
    "another path": ("'GET', '{origin}/v2/a'", "GET /v2/a is not allowed at"),
    "a deeper path": ("'GET', '{origin}/v1/a/b'", "is not allowed at"),
    "another account": ("'GET', '{origin}/v1/a', account='admin'", "account 'admin' may not be used there"),
    "a climbing path": ("'GET', '{origin}/v1/../admin'", "path climbs"),
    "an encoded climb": ("'GET', '{origin}/v1/%2e%2e/admin'", "path climbs"),
    "an encoded slash": ("'GET', '{origin}/v1/a%2fb'", "hides slashes"),
    "an encoded backslash": ("'GET', '{origin}/v1/a%5cb'", "hides slashes"),
    "an escape in an escape": ("'GET', '{origin}/v1/a%252fb'", "hides slashes"),
    "a climb with parameters": ("'GET', '{origin}/v1/..;a=b'", "path climbs"),
    "a climb with spaces": ("'GET', '{origin}/v1/..%20'", "path climbs"),
    "an encoded line break": ("'GET', '{origin}/v1/a%0d%0ax:%20y'", "control characters"),
    "a dot in too many bytes": ("'GET', '{origin}/v1/%c0%ae%c0%ae'", "escapes that are none"),
    "an escape that is none": ("'GET', '{origin}/v1/%u002e'", "escapes that are none"),
    "an empty segment": ("'GET', '{origin}//v1/a'", "empty segment"),
    "a user name": ("'GET', 'http://api.test:{port}@evil.test/v1/a'", "holds a user name"),
    "a user name before": ("'GET', 'http://evil.test@api.test:{port}/v1/a'", "holds a user name"),
    "a backslash": ("'GET', 'http://evil.test\\\\@api.test:{port}/v1/a'", "backslashes"),
    "a line break": ("'GET', '{origin}/v1/a\\r\\nx: y'", "control characters"),
    "a fragment": ("'GET', '{origin}/v1/a#b'", "fragment"),
    "no scheme": ("'GET', '//api.test/v1/a'", "no scheme"),
    "a file": ("'GET', 'file:///etc/passwd'", "begins with 'file'"),
    "a long URL": ("'GET', '{origin}/v1/' + 'a' * 9000", "longer than 8,000"),
    "a header of the host's": ("'GET', '{origin}/v1/a', headers={{'Authorization': 'x'}}", "'authorization' cannot"),
    "a host header": ("'GET', '{origin}/v1/a', headers={{'host': 'evil.test'}}", "'host' cannot"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_allowed_never_reaches_the_server(ask: Any, server: Server, name: str) -> None:
    call, told = REFUSED[name]
    rule = Allow(server.origin(), path="/v1/*", account="support", private=True)
    assert told in refused(ask(call.format(origin=server.origin(), port=server.port), rule))
    assert server.seen == []


@pytest.mark.parametrize("same", ["HTTP://API.test:{port}/v1/a", "http://api.test.:{port}/v1/a"])
def test_other_spellings_of_the_same_destination(ask: Any, server: Server, same: str) -> None:
    server.answers["/v1/a"] = say(200)
    rule = Allow(server.origin(), private=True)
    assert ask(f"'get', {same.format(port=server.port)!r}", rule).value == (200, "")


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.8", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "fe80::1", "fd00::1",
     "::ffff:127.0.0.1", "::7f00:1", "::ffff:0:127.0.0.1", "fec0::1", "4000::1", "64:ff9b::7f00:1", "2002:7f00:1::", "224.0.0.1", "fe80::1%eth0", "no address"],
)  # fmt: skip
def test_addresses_that_are_not_public(ask: Any, server: Server, address: str) -> None:
    async def resolver(_host: str, _port: int) -> list[str]:
        return ["93.184.216.34", address]

    told = refused(ask(f"'GET', {server.origin() + '/'!r}", Allow(server.origin()), resolver=resolver))
    assert "leads to an address that is not public" in told
    assert address not in told


def test_a_name_is_looked_up_once(ask: Any, server: Server) -> None:
    """Rebinding: the second answer is another one."""
    server.answers["/"] = say(200, b"here")
    answers = [["127.0.0.1"], ["169.254.169.254"]]

    async def resolver(_host: str, _port: int) -> list[str]:
        return answers.pop(0)

    rule = Allow(server.origin(), private=True)
    assert ask(f"'GET', {server.origin() + '/'!r}", rule, resolver=resolver).value == (200, "here")
    assert len(answers) == 1


def test_a_name_without_address(ask: Any, server: Server) -> None:
    async def resolver(_host: str, _port: int) -> list[str]:
        raise socket.gaierror

    rule = Allow(server.origin())
    assert "has no address" in refused(ask(f"'GET', {server.origin() + '/'!r}", rule, resolver=resolver))


@pytest.mark.parametrize(
    ("pattern", "covered", "other"),
    [
        ("/v1/**", ["/v1/", "/v1/a", "/v1/a/b"], ["/v1", "/v10/a", "/a/v1/a"]),
        ("/v1/*/x", ["/v1/a/x", "/v1//x"], ["/v1/x", "/v1/a/b/x", "/v1/a/x/b"]),
        ("/**/a/*.json", ["/b/a/1.json", "/a/a/a/.json", "/b/a/c/a/1.json"], ["/a/1.json", "/b/a/b/1.json", "/b/a/1.jsonx"]),
        ("/a*b*c/**/d", ["/abc/x/d", "/axbxbc/x/d/d"], ["/abc/d", "/acb/x/d", "/abc/x/d/e"]),
        ("/a.c", ["/a.c"], ["/abc", "/a.c/", "/a.c\n"]),
    ],
)  # fmt: skip
def test_what_a_pattern_covers(pattern: str, covered: list[str], other: list[str]) -> None:
    rule = Allow("https://api.test", path=pattern)
    assert [path for path in (*covered, *other) if rule.covers(path)] == covered


@pytest.mark.parametrize("pattern", ["/**/a/**/b/**/c", "/*a*a*a*a*b"])
def test_no_path_takes_long_to_judge(pattern: str) -> None:
    """Programs choose it, and nothing stops a regular expression."""
    path = "/a/b" * 2000 if "**" in pattern else "/" + "a" * 8000
    assert not Allow("https://api.test", path=pattern).covers(path)


@pytest.mark.parametrize("path", ["/v1**", "/**x/a", "/***"])
def test_two_stars_are_a_segment(path: str) -> None:
    with pytest.raises(ValueError, match="is a segment by itself"):
        Allow("https://api.test", path=path)


CREDENTIALS: dict[str, Any] = {
    "a line break at its end": lambda _rule: {"authorization": KEY + "\n"},
    "a header in it": lambda _rule: {"authorization": f"Bearer a\r\nx: {KEY}"},
    "letters beyond ASCII": lambda _rule: {"authorization": KEY + "é"},
    "another type": lambda _rule: {"authorization": KEY.encode()},
    "nothing": lambda _rule: None,
    "an error that tells it": lambda _rule: {}[KEY],
}


@pytest.mark.parametrize("case", CREDENTIALS)
def test_a_credential_that_cannot_be_sent_is_not_told(
    ask: Any, server: Server, case: str, caplog: pytest.LogCaptureFixture
) -> None:
    rule = Allow(server.origin(), account="support", private=True)
    told = refused(ask(f"'GET', {server.origin() + '/'!r}", rule, credential=CREDENTIALS[case]))
    assert "has no credential that can be sent for the account 'support'" in told
    assert server.seen == []
    assert "for the account 'support'" in caplog.text


class TestRedirects:
    """Every step is a request of its own."""

    def test_within_the_rules_they_are_followed(self, ask: Any, server: Server) -> None:
        server.answers["/v1/a"] = say(302, location="/v1/b")
        server.answers["/v1/b"] = say(200, b"b")
        rule = Allow(server.origin(), path="/v1/*", private=True)
        assert ask(f"'GET', {server.origin() + '/v1/a'!r}", rule).value == (200, "b")

    @pytest.mark.parametrize(
        ("location", "told"),
        [
            ("http://evil.test/", "is no destination"),
            ("//evil.test/", "is no destination"),
            ("/admin", "is not allowed at"),
            ("/v1/../admin", "is not allowed at"),
            ("file:///etc/passwd", "begins with 'file'"),
            ("http://api.test@evil.test/", "holds a user name"),
        ],
    )
    def test_elsewhere_they_are_not(self, ask: Any, server: Server, location: str, told: str) -> None:
        server.answers["/v1/a"] = say(302, location=location)
        rule = Allow(server.origin(), path="/v1/*", account="support", private=True)
        assert told in refused(ask(f"'GET', {server.origin() + '/v1/a'!r}", rule))
        assert server.paths() == ["/v1/a"]

    def test_a_credential_stays_with_its_destination(self, ask: Any, server: Server) -> None:
        server.answers["/a"] = say(302, location=server.origin("other.test") + "/b")
        server.answers["/b"] = say(200)
        rules = (
            Allow(server.origin(), account="support", private=True),
            Allow(server.origin("other.test"), private=True),
        )
        assert ask(f"'GET', {server.origin() + '/a'!r}", *rules).value == (200, "")
        assert [headers.get("authorization") for _, _, headers, _ in server.seen] == [KEY, None]

    @pytest.mark.parametrize("location", ["/b?k={key}", "http://other.test:{port}/b?k={key}", "/no/{key}"])
    def test_a_credential_does_not_travel_in_a_location(self, ask: Any, server: Server, location: str) -> None:
        server.answers["/a"] = say(302, location=location.format(key=KEY.split()[1], port=server.port))
        server.answers["/b"] = say(200)
        rules = (
            Allow(server.origin(), path="/*", account="support", private=True),
            Allow(server.origin("other.test"), private=True),
        )
        result = ask(f"'GET', {server.origin() + '/a'!r}", *rules)
        assert "canary" not in result.observation()
        assert "canary" not in "".join(server.paths())

    @pytest.mark.parametrize("location", ["http://[x/", "javascript:1"])
    def test_a_location_that_is_none(self, ask: Any, server: Server, location: str) -> None:
        server.answers["/a"] = say(302, location=location)
        sink = Kept()
        token = trail.set(Trail(Audit([sink])))
        try:
            refused(ask(f"'GET', {server.origin() + '/a'!r}", Allow(server.origin(), private=True)))
        finally:
            trail.reset(token)
        assert "error" in sink.events[-1].data

    def test_a_post_becomes_a_get(self, ask: Any, server: Server) -> None:
        server.answers["/a"] = say(303, location="/b")
        server.answers["/b"] = say(200)
        rule = Allow(server.origin(), methods=("GET", "POST"), private=True)
        assert ask(f"'POST', {server.origin() + '/a'!r}, json=1", rule).value == (200, "")
        assert [(method, body) for method, _, _, body in server.seen] == [("POST", b"1"), ("GET", b"")]

    def test_they_end(self, ask: Any, server: Server) -> None:
        server.answers["/a"] = say(302, location="/a")
        rule = Allow(server.origin(), private=True)
        assert "more than 5 redirects" in refused(ask(f"'GET', {server.origin() + '/a'!r}", rule))
        assert len(server.seen) == 6


class TestAnswers:
    """A server may be as hostile as a program."""

    def test_too_large(self, ask: Any, server: Server) -> None:
        server.answers["/"] = say(200, b"x" * 2001)
        rule = Allow(server.origin(), private=True)
        assert "larger than 2,000 bytes" in refused(ask(f"'GET', {server.origin() + '/'!r}", rule, max_bytes=2000))

    def test_endless(self, ask: Any, server: Server) -> None:
        stopped = threading.Event()

        def endless(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.end_headers()
            try:
                while True:
                    handler.wfile.write(b"x" * 1000)
            except OSError:
                stopped.set()

        server.answers["/"] = endless
        rule = Allow(server.origin(), private=True)
        assert "larger than" in refused(ask(f"'GET', {server.origin() + '/'!r}", rule))
        assert stopped.wait(20)

    def test_slow(self, ask: Any, server: Server) -> None:
        leave = threading.Event()

        def slow(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.end_headers()
            handler.wfile.write(b"x")
            handler.wfile.flush()
            leave.wait(20)

        server.answers["/"] = slow
        rule = Allow(server.origin(), private=True)
        told = refused(ask(f"'GET', {server.origin() + '/'!r}", rule, timeout=0.2))
        leave.set()
        assert "no whole answer within 0.2 s" in told

    def test_compressed(self, ask: Any, server: Server) -> None:
        server.answers["/"] = say(200, b"\x1f\x8b", content_encoding="gzip")
        rule = Allow(server.origin(), private=True)
        assert "compressed" in refused(ask(f"'GET', {server.origin() + '/'!r}", rule))

    def test_an_echoed_credential(self, ask: Any, server: Server) -> None:
        def echo(handler: BaseHTTPRequestHandler) -> None:
            told = (handler.headers["authorization"] or "").encode()
            say(200, told + b" " + told[7:], etag=told.decode())(handler)

        server.answers["/"] = echo
        rule = Allow(server.origin(), account="support", private=True)
        result = ask(f"'GET', {server.origin() + '/'!r}", rule)
        assert result.value == (200, "[credential] [credential]")

    @pytest.mark.parametrize("line", ["HTTP/1.1 200 OK\r\n{told}\r\n\r\n", "{told}\r\n\r\n"])
    def test_an_answer_that_is_none(self, ask: Any, server: Server, line: str) -> None:
        def broken(handler: BaseHTTPRequestHandler) -> None:
            handler.wfile.write(line.format(told=handler.headers["authorization"]).encode())
            handler.close_connection = True

        server.answers["/"] = broken
        rule = Allow(server.origin(), account="support", private=True)
        assert "no answer that could be read from" in refused(ask(f"'GET', {server.origin() + '/'!r}", rule))

    @pytest.mark.parametrize("charset", ["klingon", "zlib", "rot13", "undefined", "idna", "punycode", "unicode_escape"])
    def test_a_charset_that_is_none(self, ask: Any, server: Server, charset: str) -> None:
        server.answers["/"] = say(200, "ü".encode(), content_type=f"text/plain; charset={charset}")
        rule = Allow(server.origin(), private=True)
        assert ask(f"'GET', {server.origin() + '/'!r}", rule).value == (200, "ü")


class TestTls:
    """The certificate is the name's, though the connection is made to an address."""

    def test_the_name_s_certificate(self, ask: Any, secure: Server, authority: trustme.CA) -> None:
        secure.answers["/"] = say(200, b"safe")
        verify = ssl.create_default_context()
        authority.configure_trust(verify)
        rule = Allow(secure.origin(), private=True)
        assert ask(f"'GET', {secure.origin() + '/'!r}", rule, verify=verify).value == (200, "safe")

    def test_another_name_s_certificate(self, ask: Any, secure: Server, authority: trustme.CA) -> None:
        verify = ssl.create_default_context()
        authority.configure_trust(verify)
        rule = Allow(secure.origin("other.test"), private=True)
        assert "ConnectError" in refused(ask(f"'GET', {secure.origin('other.test') + '/'!r}", rule, verify=verify))
        assert secure.seen == []


def test_every_attempt_is_on_record(ask: Any, server: Server) -> None:
    server.answers["/v1/a"] = say(302, location="http://evil.test/x")
    sink = Kept()
    token = trail.set(Trail(Audit([sink]), session="s1", tenant="acme"))
    try:
        rule = Allow(server.origin(), account="support", private=True)
        refused(ask(f"'GET', {server.origin() + '/v1/a'!r}", rule))
        refused(ask(f"'DELETE', {server.origin() + '/v1/a'!r}", rule))
        refused(ask(f"'GET', {'http://user:hidden@api.test/'!r}", rule))
        refused(ask(f"'FETCH', {server.origin() + '/v1/a'!r}, account='x' * 1000", rule))
        refused(ask(f"'GET', {server.origin() + '/v1/a'!r}, json={{'a': b'x'}}", rule))
        server.answers["/v1/a"] = say(302, location="http://u:hidden@api.test/x")
        refused(ask(f"'GET', {server.origin() + '/v1/a'!r}", rule))
    finally:
        trail.reset(token)
    seen = [(e.data["method"], e.data["origin"], e.data["allowed"], e.session, e.tenant) for e in sink.events]
    assert seen == [
        ("GET", server.origin(), True, "s1", "acme"),
        ("GET", "http://evil.test", False, "s1", "acme"),
        ("DELETE", server.origin(), False, "s1", "acme"),
        ("GET", None, False, "s1", "acme"),
        ("FETCH", None, False, "s1", "acme"),
        ("GET", None, False, "s1", "acme"),
        ("GET", server.origin(), True, "s1", "acme"),
        ("GET", None, False, "s1", "acme"),
    ]
    assert [event.seq for event in sink.events] == list(range(1, 9))
    assert sink.events[4].data["account"] == "x" * 100
    assert "canary" not in str(sink.events)
    assert "hidden" not in str(sink.events)


def test_a_request_that_cannot_be_recorded_ends_the_run(engine: str, server: Server) -> None:
    class Full:
        def write(self, event: Event) -> None:
            if event.name == "egress":
                msg = "/srv/log is full"
                raise OSError(msg)

    server.answers["/v1/a"] = say(200, b"ok")
    tool = http_tool([Allow(server.origin(), private=True)], resolver=loopback)
    sandbox = Sandbox([tool], engine=engine, audit=Audit([Full()]))
    call = f"await tools.http('GET', {server.origin() + '/v1/a'!r})"
    result = sandbox.run(f"try: {call}\nexcept BaseException: pass\n{call}")
    assert result.error is not None
    assert (result.error.kind, result.error.type) == ("host", "Unrecorded")
    assert "/srv" not in result.observation()
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"origin": "api.test"}, "expected a scheme and a host"),
        ({"origin": "https://api.test/"}, "without path"),
        ({"origin": "https://api.test:443"}, "write it as 'https://api.test'"),
        ({"origin": "https://api.test/v1"}, "without path"),
        ({"origin": "https://u@api.test"}, "expected a scheme and a host"),
        ({"origin": "https://api.test", "methods": ("FETCH",)}, "methods=('FETCH',)"),
        ({"origin": "https://api.test", "methods": ()}, "methods=()"),
        ({"origin": "https://api.test", "path": "v1"}, "begins with /"),
    ],
)
def test_rules_that_are_none(rule: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match="Allow") as caught:
        Allow(**rule)
    assert told in str(caught.value)


def test_the_model_is_told_where_it_may_go() -> None:
    made = http_tool(
        [Allow("https://api.test", path="/v1/*", account="support")], credential=lambda _rule: {"authorization": KEY}
    )
    assert "- GET/HEAD https://api.test/v1/* (account='support')" in made.doc
