"""What is to be run: for whom, for what, and after what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


def checked_task(task: object) -> str | None:
    """What a run is for; None where the host does not say.

    Raises:
        TypeError: it is no string.
        ValueError: it is blank, or no text that can be kept.
    """
    if task is None:
        return None
    if not isinstance(task, str):
        msg = f"task={task!r:.200}: expected a str, such as the number of a ticket"
        raise TypeError(msg)
    if not task.strip() or task.encode("utf-8", "replace") != task.encode("utf-8", "surrogatepass"):
        msg = f"task={task!r:.200}: expected a text that is not blank and has no lone surrogates"
        raise ValueError(msg)
    return task


def checked_tenant(tenant: object) -> str | None:
    """Whose a run or a session is; None where nobody was named.

    Raises:
        TypeError: it is no string.
    """
    if tenant is None or isinstance(tenant, str):
        return tenant
    msg = f"tenant={tenant!r:.200}: expected a str"
    raise TypeError(msg)


@dataclass(frozen=True, slots=True)
class Errand:
    """What is to be run.

    Attributes:
        source: the program's text.
        files: what it finds in its workspace: contents by path.
        tenant: whose it is, where it is not a session's.
        task: what it is for, as the host calls it.
    """

    source: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    tenant: str | None = None
    task: str | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """What made a session's world what it is.

    Attributes:
        runs: ids of runs, in order; empty strings for those that are not on record.
        whole: whether these are all; otherwise the record of the first one says what was before it.
    """

    runs: tuple[str, ...] = ()
    whole: bool = True
