"""What a sandbox grants its runs, and what one of them is asked to do, where and until when."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codeact.actions import Actions
from codeact.audit import SILENT, Audit, Trail
from codeact.engines import Engine, Face, Instance
from codeact.engines.code_cache import CodeCache
from codeact.errand import Errand, Past, checked_task, checked_tenant
from codeact.files import checked, checked_together
from codeact.limits import Limits
from codeact.source import Reading
from codeact.tape import Player, Recorder, Tape
from codeact.tools import Toolset

if TYPE_CHECKING:
    from codeact.catalogue import Catalogue
    from codeact.check import Checker
    from codeact.journal.recording import Recording

ARGUMENTS = 32 * 1024 * 1024
"""Characters of the arguments of one run's calls that a journal keeps to be read."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What every run of a sandbox shares.

    Attributes:
        engine: makes the worlds.
        tools: the tools granted.
        actions: what programs may propose.
        faces: what programs see of both.
        limits: what one run may use.
        checker: looks at programs before they run; None leaves that to the run itself.
        inputs: files that are in every world, to be read and not changed: contents by path.
        audit: where events go; None when nobody listens.
        code: what the engine has compiled.
        recording: keeps its runs in a journal; None where there is none.
        catalogue: finds tools, where there are many; otherwise None.
    """

    engine: Engine
    tools: Toolset
    actions: Actions
    faces: tuple[Face, ...]
    limits: Limits
    checker: Checker | None = None
    inputs: Mapping[str, bytes] = field(default_factory=dict)
    audit: Audit | None = None
    code: CodeCache = field(default_factory=CodeCache)
    recording: Recording | None = None
    catalogue: Catalogue | None = None

    def tape(self) -> Tape:
        """An empty tape for a run."""
        return Tape() if self.recording is None else Tape(room=ARGUMENTS)

    def errand(self, source: object, files: object, tenant: object = None, task: object = None) -> Errand:
        """What a host asks for.

        Raises:
            TypeError: the source, the tenant or the task is no string, or the files are no mapping of paths to contents.
            ValueError: a path of a file does not lead to a place in the workspace, or they do not fit.
        """
        if not isinstance(source, str):
            msg = f"code: expected the program as a str, got {type(source).__name__}"
            raise TypeError(msg)
        found = checked("files", files, self.limits)
        if self.inputs and found:
            checked_together(self.inputs, found, self.limits)
        return Errand(str.__str__(source), found, checked_tenant(tenant), checked_task(task))


class Deadline:
    """When a run must be over: at its own end or, where that is sooner, at its session's.

    Attributes:
        at: by `time.monotonic`.
        waits: whether the run waits for its turn.
    """

    __slots__ = ("_limits", "_own", "_session", "at", "waits")

    def __init__(self, limits: Limits, session: float = math.inf) -> None:
        """The deadline of a run that begins now.

        Args:
            limits: what it may use.
            session: when its session has lived as long as it may.
        """
        self._limits = limits
        self._session = session
        self.waits = False
        self._set(time.monotonic() + limits.timeout)

    def _set(self, own: float) -> None:
        self._own = own
        self.at = min(own, self._session)

    @property
    def limit(self) -> str:
        """How long that was, and the limit's name, in words."""
        if self.at == self._session:
            return f"the {self._limits.session_lifetime:g} s that its session may live (limit session_lifetime)"
        return f"{self._limits.timeout:g} s (limit timeout)"

    @property
    def hint(self) -> str | None:
        """What to do when it is met; None for what is said of every timeout."""
        if self.at != self._session:
            return None
        return f"this session is over; {'nothing was run; ' * self.waits}begin again in a new one"

    def left(self) -> float:
        """Seconds until then, at least zero."""
        return max(0.0, self.at - time.monotonic())

    @contextmanager
    def put_off(self) -> Iterator[None]:
        """Let the run wait for its turn, which is no time of its own; its session does not live longer for it."""
        began, own = time.monotonic(), self._own
        self.waits = True
        self._set(math.inf)
        try:
            yield
        finally:
            self._set(own + time.monotonic() - began)
            self.waits = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run takes place that is one of a session's.

    Attributes:
        instance: the session's world, which outlives the run; None where there is none yet, and the run opens it.
        earlier: the programs that ran in it before.
        files: digests of the files that they have left.
        passage: puts what passes through the doors on a tape, or takes it from one.
        past: the runs that made its world what it is.
        trail: the session's.
        until: when it has lived as long as it may, by `time.monotonic`.
    """

    instance: Instance | None
    earlier: tuple[Reading, ...]
    files: Mapping[str, str]
    passage: Recorder | Player
    past: Past = field(default_factory=Past)
    trail: Trail = SILENT
    until: float = math.inf
