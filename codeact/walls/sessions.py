"""Walls between those who share a host."""

from __future__ import annotations

from codeact.session import Session
from codeact.walls.attacks import FINDING, LEAVING
from codeact.walls.model import Broken
from codeact.walls.site import Site, canary, filled


def earlier(site: Site) -> str:
    """What a session that is over has left."""
    text = canary("earlier")
    sandbox = site.sandbox()
    with sandbox.session(tenant="codeact-canary-first") as first:
        for program in LEAVING:
            first.run(filled(program, {"canary": text}))
    said = len(site.record.said)
    with sandbox.session(tenant="codeact-canary-second") as second:
        _look(site, second)
    site.record.results.extend(sandbox.run(program) for program in FINDING)
    if text in "".join(site.record.said[said:]) or site.record.holds(text):
        msg = "a text of an earlier session was found in a later one"
        raise Broken(msg)
    return f"{len(LEAVING)} ways to leave something and {len(FINDING)} to find it; nothing was found"


def tenants(site: Site) -> str:
    """What the session of another tenant holds that is alive at the same time."""
    text = canary("tenant")
    sandbox = site.sandbox()
    with (
        sandbox.session(tenant="codeact-canary-owner") as owner,
        sandbox.session(tenant="codeact-canary-thief") as thief,
    ):
        for program in LEAVING:
            owner.run(filled(program, {"canary": text}))
        said = len(site.record.said)
        _look(site, thief)
        if text in "".join(site.record.said[said:]) or site.record.holds(text):
            msg = "a text of one tenant's session was found in another's"
            raise Broken(msg)
        kept = owner.run("tools.witness(secret)\nsecret")
        if kept.value != text:
            msg = "the owner's own names are gone"
            raise Broken(msg)
        named = {(event.session, event.tenant) for event in site.record.events if event.run is not None}
        if named != {(owner.id, owner.tenant), (thief.id, thief.tenant)}:
            msg = "the record does not say whose runs these were"
            raise Broken(msg)
    return f"{len(FINDING)} ways to look for another tenant's data; nothing was found"


def _look(site: Site, session: Session) -> None:
    site.record.results.extend(session.run(program) for program in FINDING)
