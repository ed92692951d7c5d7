"""An interpreter for each conversation, where one agent of a framework serves many of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from codeact import prompt
from codeact.integrations.interpreter import Interpreter
from codeact.sandbox import Sandbox

__all__ = ["Conversations", "Programs", "checked_programs", "interpreter_of"]


class Conversations:
    """The interpreters of an agent that many conversations share, so that none of them sees another one's names.

    What tells conversations apart is the framework's: the id of a thread or of a session. An interpreter is there from the
    first program of its conversation until `end`, because its results are the host's to read (`Interpreter(keep=…)` bounds
    them); its session is over sooner where it is idle (limits `session_idle` and `session_lifetime`). It is a context manager
    and ends all of them at its end.
    """

    def __init__(self, sandbox: Sandbox, make: Callable[[str], Interpreter] | None = None) -> None:
        """Set up. Nothing runs before the first program.

        Args:
            sandbox: where programs run.
            make: makes the interpreter of a conversation, given its key, where more is to be said of it than its task:
                `lambda key: Interpreter(sandbox, outbox=outbox, task=key, tenant=tenants[key])`. By default the key is the
                task, and there is no outbox.

        Raises:
            TypeError: an argument is of the wrong type.
        """
        if not isinstance(sandbox, Sandbox):
            msg = f"sandbox={sandbox!r:.200}: expected a codeact.Sandbox"
            raise TypeError(msg)
        if make is not None and not callable(make):
            msg = f"make={make!r:.200}: expected a function from the key of a conversation to its Interpreter"
            raise TypeError(msg)
        self.sandbox = sandbox
        self._make = make or (lambda key: Interpreter(sandbox, task=key))
        self._open: dict[str, Interpreter] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Conversations of {self.sandbox!r}, {len(self._open)} of them>"

    @property
    def instructions(self) -> str:
        """What a model should know before it writes programs; see `Interpreter.instructions`."""
        return prompt.system(self.sandbox, has_tools=True, instructions="")

    @property
    def description(self) -> str:
        """What the tool says of itself; see `Interpreter.description`."""
        return prompt.description(self.sandbox)

    @property
    def keys(self) -> tuple[str, ...]:
        """Of the conversations that have an interpreter."""
        return tuple(self._open)

    def of(self, key: str) -> Interpreter:
        """The interpreter of a conversation, made where there is none yet.

        Raises:
            TypeError: `make` gave no interpreter.
            ValueError: it gave one of another sandbox, which is not what the model is told of.
        """
        with self._lock:
            if key not in self._open:
                self._open[key] = self._made(key)
            return self._open[key]

    def end(self, key: str) -> Interpreter | None:
        """Close a conversation's interpreter and let go of it. Where the conversation goes on, it begins in a new session.

        Returns:
            The interpreter, for what is in its results; None where no program came.
        """
        with self._lock:
            interpreter = self._open.pop(key, None)
        if interpreter is not None:
            interpreter.close()
        return interpreter

    def close(self) -> None:
        """End all of them."""
        for key in self.keys:
            self.end(key)

    def _made(self, key: str) -> Interpreter:
        made = self._make(key)
        if not isinstance(made, Interpreter):
            msg = f"make({key!r}) gave {made!r:.200}: expected a codeact.integrations.Interpreter"
            raise TypeError(msg)
        if made.sandbox is not self.sandbox:
            msg = f"make({key!r}) gave an interpreter of {made.sandbox!r:.200}: expected one of {self.sandbox!r:.200}"
            raise ValueError(msg)
        return made


Programs = Interpreter | Conversations
"""What a fit runs programs by: one interpreter, where the host says that all that comes is one conversation; or many."""


def interpreter_of(programs: Programs, key: object, *, named: str) -> Interpreter:
    """The interpreter for a program that has come.

    Args:
        programs: what the fit was given.
        key: what the framework says of the conversation; only a text that is not empty tells it from others.
        named: how the host gives that to the framework, for the error.

    Raises:
        ValueError: conversations are kept apart, and this one has no key.
    """
    if isinstance(programs, Interpreter):
        return programs
    if not isinstance(key, str) or not key:
        msg = f"conversations are kept apart, and this one cannot be told from others: give {named}; or give an Interpreter instead of Conversations, where all is one conversation"
        raise ValueError(msg)
    return programs.of(key)


def checked_programs(programs: object) -> Programs:
    """See that it is what a fit runs programs by.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(programs, (Interpreter, Conversations)):
        msg = f"programs={programs!r:.200}: expected an Interpreter or Conversations of codeact.integrations"
        raise TypeError(msg)
    return programs
