"""The policy as a block that fits on one page, for people."""

from __future__ import annotations

from dataclasses import fields

from codeact.limits import Limits
from codeact.policy.document import ELSEWHERE, Policy
from codeact.policy.settings import Record


def page(policy: Policy) -> str:
    """The policy as a block that fits on one page, for people."""
    limits = policy.as_limits()
    weak = list(policy.weaknesses())
    places = [
        f"{'/'.join(place.methods)} {place.origin}{place.path}"
        + (f" as {place.account}" if place.account else "")
        + (" (private addresses)" if place.private else "")
        for place in policy.network.destinations
    ]
    kinds = ", ".join(policy.results.file_types) if policy.results.file_types is not None else "all"
    settings = [
        f"{field.name} {value:,}"
        for field in fields(Limits)
        if field.name not in ELSEWHERE and isinstance(value := getattr(limits, field.name), (int, float))
    ]
    rows = [
        ("policy", [policy.policy.name]),
        ("owner", [policy.policy.owner]),
        ("review by", [policy.policy.review.isoformat()]),
        ("boundary", [f"engine {policy.boundary.engine}; if it cannot be set up, nothing runs"]),
        ("workspace", [f"{limits.workspace:,} bytes, {limits.files:,} files, in memory only"]),
        ("inputs", [f"{path} (from {source}), read-only" for path, source in policy.workspace.inputs.items()] or ["none"]),
        ("network", places or ["none"]),
        ("credentials", ["none inside"]),
        ("limits", settings),
        ("results", [f"{limits.shown:,} characters shown; file types that may leave: {kinds}"]),
        ("lifecycle", [f"one world a session and tenant; {limits.session_idle:g} s idle, {limits.session_lifetime:g} s in all"]),
        ("audit", [_logged(policy.audit)]),
        ("look twice", weak or ["nothing is weaker than the defaults"]),
    ]  # fmt: skip
    return "\n".join(
        f"{label if not number else '':<12}{text}" for label, texts in rows for number, text in enumerate(texts)
    )


def _logged(record: Record) -> str:
    if record.file is None:
        return "no file; the host may have other sinks"
    kept = "with arguments and results" if record.content else "digests only"
    return f"{record.file}, at most {record.bytes:,} bytes, {kept}{', durable' if record.durable else ''}"
