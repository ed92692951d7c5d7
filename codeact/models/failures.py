"""Why a provider gave no reply, and whether it is worth asking again."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from codeact.messages import ModelError

LONGEST_WAIT = 3600.0
"""Seconds. Nobody waits longer because a header says so."""

_LONGEST_TEXT = 300
_KEYS = re.compile(r"\b(?:sk|gsk|xai)[-_][\w*.-]{8,}|(?<=[Bb]earer )\S+")
"""What looks like a credential: some providers repeat the one that they refuse."""

_PASSING = frozenset({408, 409, 425, 429})
_FIXED = frozenset({501, 505})
"""Statuses of servers that will answer the same tomorrow."""

_SPENT = re.compile(r"insufficient_(?:quota|balance|funds)|billing|spend_limit|credit_balance|quota_exceeded|on_hold")
"""Types and codes of an account without money: status 429 with most providers, and no wait helps."""

_PASSING_TYPES = re.compile(r"overloaded|api_error|server_error|rate_limit|timeout|unavailable|internal")
"""Types of errors that arrive inside a stream, when the status has long been 200."""


def from_status(
    status: int, headers: Mapping[str, str], body: object, *, provider: str, secrets: Iterable[str] = ()
) -> ModelError:
    """The error for an answer that says there is none.

    Args:
        status: of HTTP. One of success means that the error arrived within a stream.
        headers: of the answer.
        body: what it says, decoded where it is JSON.
        provider: whom to name, such as its host.
        secrets: credentials, which the message must not hold.
    """
    told = _error_of(body)
    kind = " ".join(str(told[name]) for name in ("type", "code") if isinstance(told.get(name), str))
    if isinstance(details := told.get("details"), dict) and isinstance(details.get("error_code"), str):
        kind += " " + details["error_code"]
    late = status < 400  # noqa: PLR2004 - the first status of an error
    passing = _is_passing(status, headers, kind, late=late)
    said = told.get("message") or kind or (body if isinstance(body, str) else "") or "it does not say why"
    text = f"{provider} broke off: {said}" if late else f"{provider} answered {status}: {said}"
    return ModelError(
        shortened(text, secrets),
        passing=passing,
        retry_after=retry_after(headers) if passing else None,
        status=None if late else status,
    )


def broken(provider: str, what: object, secrets: Iterable[str] = ()) -> ModelError:
    """The error for a connection that broke, or an answer that makes no sense: the next one may be whole."""
    return ModelError(shortened(f"{provider}: {what}", secrets), passing=True)


def _is_passing(status: int, headers: Mapping[str, str], kind: str, *, late: bool) -> bool:
    if _SPENT.search(kind):
        return False
    if late:
        return not kind or bool(_PASSING_TYPES.search(kind))
    told = headers.get("x-should-retry", "")
    if told in {"true", "false"}:
        return told == "true"
    return status in _PASSING or (status >= 500 and status not in _FIXED)  # noqa: PLR2004 - the server's own errors


def _error_of(body: object) -> dict[str, Any]:
    """The part of a body that tells of the error, wherever this provider puts it."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return {}
    inner = body.get("error")
    if isinstance(inner, str):
        return {"message": inner}
    found = dict(inner) if isinstance(inner, dict) else dict(body)
    if not isinstance(found.get("message"), str):
        found["message"] = found["detail"] if isinstance(found.get("detail"), str) else ""
    return found


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer asks to wait, 0 to `LONGEST_WAIT`; None where it does not, or in no known way."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        told = headers.get(name)
        if told is None:
            continue
        seconds = _seconds(told, unit)
        if seconds is not None:
            return min(max(seconds, 0.0), LONGEST_WAIT)
    return None


def _seconds(told: str, unit: float) -> float | None:
    try:
        found = float(told) / unit
    except ValueError:
        try:
            when = parsedate_to_datetime(told)
        except (ValueError, TypeError, OverflowError):
            return None
        # A date without a zone is one of HTTP's, which are all GMT.
        return (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return None if math.isnan(found) else found


def shortened(text: str, secrets: Iterable[str] = ()) -> str:
    """A message on one line, not long, without credentials."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    text = " ".join(_KEYS.sub("[key]", text).split())
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
