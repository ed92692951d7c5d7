"""The outbox: what programs have proposed, decided by rules and people, and performed once.

An entry is one consequence: an action with its arguments, in a task. Every step of it is on the disk before the next is
taken, so that a process may be killed anywhere: what it had not begun another performs, and what it had begun and not
ended is `unknown`, for a person to settle.
"""

from codeact.outbox.entries import Entry, OutboxError, State, Step, Verdict
from codeact.outbox.outbox import Outbox
from codeact.outbox.performing import NothingHappened
from codeact.outbox.rules import Allow, Rate, Refuse

__all__ = ["Allow", "Entry", "NothingHappened", "Outbox", "OutboxError", "Rate", "Refuse", "State", "Step", "Verdict"]
