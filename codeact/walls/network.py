"""Walls around the network.

Where the policy names destinations, a recording transport stands at the last step before the wire: the requests are
real, and nobody's server is touched.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from typing import Any

from codeact.policy.settings import Destination
from codeact.sandbox import Sandbox
from codeact.tools import Tool
from codeact.walls.attacks import CONNECTING, LOOKING_UP
from codeact.walls.model import Absent, Broken
from codeact.walls.site import Site, canary

NONE = "the policy names no destinations"
PUBLIC = "93.184.216.34"


@dataclass
class Wire:
    """What would have gone out.

    Attributes:
        sent: requests: method, and host and path.
        names: names that were looked up.
        secret: the credential that the host attaches.
        carried: requests that had it.
    """

    sent: list[tuple[str, str]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    secret: str = field(default_factory=lambda: canary("credential"))
    carried: int = 0

    async def resolve(self, host: str, _port: int) -> list[str]:
        """A resolver that knows every name."""
        self.names.append(host)
        return [PUBLIC]

    def tool(self, site: Site) -> Tool[..., Any]:
        """The policy's own http tool, up to the wire."""
        import httpx  # noqa: PLC0415 - only where there is a network

        def answer(request: httpx.Request) -> httpx.Response:
            self.sent.append((request.method, request.headers["host"] + request.url.path))
            attached = request.headers.get("authorization", "")
            self.carried += attached == self.secret
            return httpx.Response(200, text=f"reached with {attached}")

        return site.policy.http_tool(
            lambda _rule: {"authorization": self.secret}, resolver=self.resolve, transport=httpx.MockTransport(answer)
        )


def _wired(site: Site) -> tuple[Wire, Sandbox]:
    """A wire, and a sandbox whose requests come to it."""
    if not site.policy.network.destinations:
        raise Absent(NONE)
    wire = Wire()
    return wire, site.sandbox([wire.tool(site)])


def _example(place: Destination) -> str:
    """A URL that the destination's pattern covers."""
    path: str = place.path
    return f"{place.origin}{path.replace('**', 'a').replace('*', 'a')}"


def _ask(method: str, url: str, account: str | None = None) -> str:
    return f"r = await tools.http({method!r}, {url!r}, account={account!r})\ntools.witness(r.text)"


def allowed(site: Site) -> str:
    """Each destination, as the policy names it."""
    wire, sandbox = _wired(site)
    carried = 0
    for place in site.policy.network.destinations:
        for method in place.methods:
            before = len(wire.sent)
            carried += place.account is not None
            site.record.results.append(sandbox.run(_ask(method, _example(place), place.account)))
            if len(wire.sent) != before + 1:
                msg = f"{method} {place.origin} is allowed and did not go out"
                raise Broken(msg)
            logged = [event for event in site.record.events if event.name == "egress"]
            if len(logged) != len(wire.sent) or logged[-1].data.get("allowed") is not True:
                msg = f"{method} {place.origin} went out and is not on record"
                raise Broken(msg)
    if wire.carried != carried:
        msg = f"{carried} requests name an account, and {wire.carried} went out with its credential"
        raise Broken(msg)
    if site.record.holds(wire.secret):
        msg = "the credential that the host attached came back to a program"
        raise Broken(msg)
    return f"{len(wire.sent)} allowed requests went out, each is on record, and no credential came back"


def elsewhere(site: Site) -> str:
    """A listener on the loopback that must not be reached, and names that must not be looked up."""
    wire = Wire()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        host, port = listener.getsockname()
        site.attack(CONNECTING, {"host": host, "port": port})
        looked_up = list(site.attack(LOOKING_UP, {"host": "localhost"}).said)
        tried = len(CONNECTING) + len(LOOKING_UP)
        if site.policy.network.destinations:
            sandbox = site.sandbox([wire.tool(site)])
            foreign = [
                f"http://{host}:{port}/",
                "https://canary.invalid/",
                "https://169.254.169.254/latest/meta-data",
                *(f"{place.origin}.canary.invalid/" for place in site.policy.network.destinations),
                *(place.origin.replace("://", "://x@canary.invalid@") for place in site.policy.network.destinations),
            ]
            mine = _origins(site)
            for url in foreign:
                if not url.startswith(tuple(f"{origin}/" for origin in mine)):
                    sandbox.run(_ask("GET", url))
                    tried += 1
        try:
            listener.accept()[0].close()
        except TimeoutError:
            pass
        else:
            msg = "a program reached a listener on the host"
            raise Broken(msg)
    if looked_up:
        msg = f"a program looked a name up: {looked_up[0][:200]}"
        raise Broken(msg)
    if wire.sent or wire.names:
        msg = f"a request or a look-up left the host: {(*wire.sent, *wire.names)[0]}"
        raise Broken(msg)
    return f"{tried} ways to reach another machine; nobody was reached and no name looked up"


def operations(site: Site) -> str:
    """What the policy does not let anybody do at a destination that it names."""
    wire, sandbox = _wired(site)
    tried = 0
    for place in site.policy.network.destinations:
        beside = [other for other in site.policy.network.destinations if other.origin.lower() == place.origin.lower()]
        asked = [
            (method, _example(place), place.account)
            for method in {"GET", "POST", "PUT", "PATCH", "DELETE"}
            - {name for other in beside for name in other.methods}
        ]
        asked.append((place.methods[0], _example(place), canary("account")))
        elsewhere = f"/{canary('path')}"
        if not any(other.rule().covers(elsewhere) for other in beside):
            asked.append((place.methods[0], place.origin + elsewhere, place.account))
        for each in asked:
            sandbox.run(_ask(*each))
        tried += len(asked)
    if wire.sent:
        msg = f"{wire.sent[0][0]} went out to {wire.sent[0][1]}"
        raise Broken(msg)
    denied = [event for event in site.record.events if event.name == "egress" and event.data.get("allowed") is False]
    if len(denied) != tried:
        msg = f"{tried} refused requests, and {len(denied)} of them are on record"
        raise Broken(msg)
    return f"{tried} requests with another operation, path or account were refused, and each is on record"


def _origins(site: Site) -> set[str]:
    return {place.origin.lower() for place in site.policy.network.destinations}
