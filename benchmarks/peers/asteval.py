"""asteval: an interpreter over the syntax tree, in the host's process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from asteval import Interpreter

from benchmarks.arms import CannotError, Run, Tools, WrongAnswerError
from benchmarks.arms.shop import granted


class Asteval:
    """Makes interpreters."""

    @contextmanager
    def fresh(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        functions = _tools(tools)
        yield lambda program: _run(_interpreter(functions), program)

    @contextmanager
    def session(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        interpreter = _interpreter(_tools(tools))
        yield lambda program: _run(interpreter, program)

    @contextmanager
    def idle(self) -> Iterator[object]:
        """See `Arm`."""
        yield _interpreter(SimpleNamespace())


def _tools(tools: Tools) -> SimpleNamespace:
    if tools == "later":
        msg = "no async: await is no node it knows"
        raise CannotError(msg)
    return SimpleNamespace(**granted(tools))


def _interpreter(functions: SimpleNamespace) -> Interpreter:
    return Interpreter(user_symbols={"tools": functions}, use_numpy=False, config={"import": True, "importfrom": True})


def _run(interpreter: Interpreter, program: str) -> object:
    value = interpreter.eval(program, show_errors=False)
    if interpreter.error:
        # The first one, of which the last line says what; those after it tell where it passed.
        raise WrongAnswerError(interpreter.error[0].get_error()[1].rpartition("\n")[2])
    return value


def arm() -> Asteval:
    """The arm."""
    return Asteval()
