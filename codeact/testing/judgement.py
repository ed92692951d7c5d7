"""What is wrong with a result: pure comparison, of data with data."""

from __future__ import annotations

from codeact.result import Result
from codeact.testing.equality import same
from codeact.testing.table import Case, Expectation, Raises, Value


def complaint(case: Case, engine: str, result: Result, python: Result | None) -> str | None:
    """Why a result is not what the case asks of an engine; None when it is.

    Args:
        case: the case.
        engine: the engine's name.
        result: what the engine gave.
        python: what plain CPython gave; None where it cannot be asked.
    """
    wrong = _wrong(case, engine, result, python)
    if wrong is None:
        return None
    expected, got = wrong
    programs = "\n\n".join(map(_numbered, (*case.earlier, case.program)))
    return f"\n{programs}\nexpected: {expected}\ngot:      {got}\n{result.observation()}"


Wrong = tuple[str, str]
"""What was expected and what was got."""


def _wrong(case: Case, engine: str, result: Result, python: Result | None) -> Wrong | None:
    if engine in case.differs:
        return _ends_otherwise(case.differs[engine].expects, result)
    if case.note is not None and case.note not in (result.note or ""):
        return f"a note with {case.note!r}", f"note: {result.note}"
    if case.expects is not None:
        ends = _ends_otherwise(case.expects, result)
        return ends or (None if python is None else _differs_beside(python, result, notes=False))
    if python is None or not python.ok:
        return "a program that succeeds, or a row that says how it fails", _ending(python or result)
    return _ends_otherwise(Value(python.value), result) or _differs_beside(python, result, notes=True)


def _ends_otherwise(expects: Expectation, result: Result) -> Wrong | None:
    if isinstance(expects, Value):
        return None if result.ok and same(result.value, expects.value) else (_value(expects.value), _ending(result))
    return None if _fails_so(expects, result) else (_failure(expects), _ending(result))


def _fails_so(expects: Raises, result: Result) -> bool:
    error = result.error
    return (
        error is not None
        and error.type == expects.type
        and expects.message in error.message
        and expects.kind in {None, error.kind}
        and expects.line in {None, error.line}
    )


def _differs_beside(python: Result, result: Result, *, notes: bool) -> Wrong | None:
    """What tells two results apart beside their values and errors."""
    got = _beside(result)
    for part, wanted in _beside(python).items():
        if wanted != got[part] and (notes or part != "note"):
            return f"{part}: {wanted!r}", f"{part}: {got[part]!r}"
    return None


def _beside(result: Result) -> dict[str, object]:
    return {
        "stdout": result.stdout,
        "note": result.note,
        "exit_code": result.exit_code,
        "files": [(file.path, file.state, _text(file.data)) for file in result.files],
    }


def _text(data: bytes | None) -> str:
    """A file's content, where it is text: archives and databases hold times and versions."""
    try:
        return (data or b"").decode()
    except UnicodeDecodeError:
        return "(no text)"


def _value(value: object) -> str:
    return f"{type(value).__name__} {value!r}"


def _failure(expects: Raises) -> str:
    at = "" if expects.line is None else f", line {expects.line}"
    return f"{expects.type}: …{expects.message}… ({expects.kind or 'any kind'}{at})"


def _ending(result: Result) -> str:
    error = result.error
    if error is None:
        return _value(result.value)
    return f"{error.type}: {error.message} ({error.kind}, line {error.line})"


def _numbered(program: str) -> str:
    return "\n".join(f"{number:4} {line}" for number, line in enumerate(program.splitlines(), 1))
