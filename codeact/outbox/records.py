"""What the audit is told of an entry: one event for each state that it comes into."""

from __future__ import annotations

from codeact.audit import Audit, EventName, Trail
from codeact.outbox.entries import Entry, State
from codeact.renderings import jsonable
from codeact.result import DIGITS

_EVENTS: dict[State, EventName] = {
    "proposed": "outbox_proposed",
    "approved": "outbox_approved",
    "refused": "outbox_refused",
    "started": "outbox_started",
    "done": "outbox_done",
    "failed": "outbox_failed",
    "unknown": "outbox_unknown",
}


def emit(audit: Audit | None, entry: Entry) -> None:
    """Put on record that an entry has come into its state.

    Args:
        audit: where; None for nowhere.
        entry: as it is now.

    Raises:
        Unrecorded: a sink did not take it.
    """
    if audit is None:
        return
    data: dict[str, object] = {
        "entry": entry.id,
        "task": entry.task,
        "action": entry.name,
        "arguments_digest": entry.digest[:DIGITS],
        "by": entry.by,
    }
    if entry.error is not None:
        data["error"] = entry.error.partition(":")[0]
    if audit.content:
        data |= {"arguments": jsonable(dict(entry.arguments)), "reason": entry.reason}
        data |= {"result": jsonable(entry.value), "message": entry.error}
    audit.emit(_EVENTS[entry.state], Trail(audit, run=entry.run), data)
