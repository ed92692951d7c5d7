"""What a desk keeps of its work, for whoever asks later: journal and outbox, audit log, and a page for each ticket."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from codeact import Audit, Journal, Outbox, Sandbox
from codeact.audit.files import JsonLines
from codeact.trace import page_of, trace_of, write_page

from .desk import Episode

DATABASE = "desk.sqlite"
AUDIT = "audit.jsonl"


@dataclass(frozen=True, slots=True)
class Cabinet:
    """The records of a desk, in one folder.

    Attributes:
        folder: where they are.
        journal: every program, all that passed its doors, and the conversations; in one file with the outbox.
        audit: every run, call, proposal and decision, in order; digests, and no contents.
    """

    folder: Path
    journal: Journal
    audit: Audit

    @property
    def database(self) -> Path:
        """The file of the journal and the outbox."""
        return self.folder / DATABASE

    def log(self) -> str:
        """What the audit has written."""
        return (self.folder / AUDIT).read_text(encoding="utf-8")

    def draw(self, episode: Episode) -> str:
        """Make the page of a ticket: what was asked, each program with its calls, each proposal and its fate."""
        with Outbox(self.database) as outbox:
            trace = trace_of(self.journal, episode.ticket.id, lambda task: outbox.entries(task=task), outbox.history)
        page = page_of(trace)
        write_page(self.folder / f"{episode.ticket.id}.html", page)
        return page

    def replay(self, engine: str) -> tuple[int, int]:
        """Run every program again as the journal has it, without a tool.

        Returns:
            How many there are, and how many did the same to the bit.
        """
        sandbox = Sandbox(engine=engine, journal=self.journal)
        replayed = [sandbox.replay(run.id).same for run in self.journal.runs()]
        return len(replayed), sum(replayed)


def refuse_full(folder: Path | None) -> None:
    """See that nothing is in the way of a cabinet.

    Raises:
        FileExistsError: the folder is not empty.
        OSError: it cannot be looked into.
    """
    if folder is not None and folder.exists() and any(folder.iterdir()):
        raise FileExistsError(errno.EEXIST, "it is not empty; give a new folder", str(folder))


@contextmanager
def opened(folder: Path | None) -> Iterator[Cabinet]:
    """Open a cabinet.

    Args:
        folder: a new or an empty one; without one, everything is taken away at the end.

    Raises:
        FileExistsError: the folder is not empty.
    """
    if folder is None:
        with TemporaryDirectory(prefix="fernwharf-desk-") as passing, opened(Path(passing)) as cabinet:
            yield cabinet
        return
    refuse_full(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # what programs read is in there
    with closing(JsonLines(folder / AUDIT)) as log, Journal(folder / DATABASE) as journal:
        yield Cabinet(folder, journal, Audit([log]))
