"""Whether an engine runs what honest programs are, and says what it must where they fail.

The cases are programs as models write them. What each must give is what plain CPython gives, or what its row says
where plain CPython cannot be asked. To put an engine of your own to the test, with pytest:

    from codeact.testing import conformance

    @pytest.mark.parametrize("case", conformance.cases(), ids=str)
    def test_conforms(case):
        verdict = conformance.check("mine", case)
        assert verdict.ok, verdict

`check` takes the name of a registered engine or an engine itself. `str(verdict)` holds the program, what was expected
and what was got.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from codeact.engines import Engine
from codeact.limits import Limits
from codeact.result import Error, Result
from codeact.sandbox import Sandbox
from codeact.testing.equality import same
from codeact.testing.reference import UnsafeCPython
from codeact.testing.table import Case, Raises, Value, Version, tables
from codeact.testing.tools import TOOLS

__all__ = ["Case", "Verdict", "cases", "check"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one case on one engine.

    Attributes:
        case: the case.
        engine: the engine's name.
        complaint: what is wrong; None when nothing is.
        skipped: why it was not run; None when it was.
    """

    case: Case
    engine: str
    complaint: str | None = None
    skipped: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the engine conforms, or could not be asked."""
        return self.complaint is None

    def __str__(self) -> str:
        return f"{self.case.name} on {self.engine}: {self.complaint or self.skipped or 'conforms'}"


def cases(prefix: str = "") -> tuple[Case, ...]:
    """The cases, those only whose name begins with the prefix."""
    return tuple(case for table in tables() for case in table.cases if case.name.startswith(prefix))


def check(engine: str | Engine, case: Case) -> Verdict:
    """Run a case on an engine.

    Args:
        engine: the name of a registered engine, or an engine.
        case: one of `cases()`, or one of your own.

    Returns:
        The verdict. It complains about a case that is `pending` on that engine when it conforms after all.
    """
    name = engine if isinstance(engine, str) else engine.name
    version = _version(cast("Any", engine))  # the protocol does not promise a hash; every object has one
    if version < case.since:
        return Verdict(case, name, skipped=f"needs Python {_shown(case.since)} and has {_shown(version)}")
    if name == UnsafeCPython.name and not case.on_cpython:
        return Verdict(case, name, skipped="nothing that plain CPython can show")
    if case.expects is None and sys.version_info < case.since:
        return Verdict(case, name, skipped=f"nobody here can say what it gives: this is no Python {_shown(case.since)}")
    complaint = _complaint(case, name, _run(engine, case))
    reason = case.pending.get(name)
    if reason is None:
        return Verdict(case, name, complaint)
    return Verdict(case, name, f"it conforms; take the mark off: pending ({reason})" if complaint is None else None)


def _complaint(case: Case, engine: str, result: Result) -> str | None:
    difference = case.differs.get(engine)
    if difference is not None:
        wrong = _mismatch(difference.expects, result)
    else:
        wrong = None if case.expects is None else _mismatch(case.expects, result)
        if wrong is None and case.note is not None and case.note not in (result.note or ""):
            wrong = f"a note with {case.note!r}", f"note: {result.note}"
        if wrong is None and case.on_cpython and sys.version_info >= case.since:
            python = _run(_reference, case)
            wrong = _unlike(python, result, told=case.expects is not None)
    if wrong is None:
        return None
    expected, got = wrong
    programs = "\n\n".join(map(_numbered, (*case.earlier, case.program)))
    return f"\n{programs}\nexpected: {expected}\ngot:      {got}\n{result.observation()}"


def _mismatch(expects: Value | Raises, result: Result) -> tuple[str, str] | None:
    match expects:
        case Value(value):
            if result.ok and same(result.value, value):
                return None
            return _described(value), _ending(result)
        case Raises(kind, message, reason, line):
            error = result.error
            fits = error is not None and error.type == kind and message in error.message
            if error is not None and fits and reason in {None, error.kind} and line in {None, error.line}:
                return None
            at = f", line {line}" if line is not None else ""
            return f"{kind}: …{message}… ({reason or 'any kind'}{at})", _ending(result)


def _unlike(python: Result, result: Result, *, told: bool) -> tuple[str, str] | None:
    """How a result differs from plain CPython's; `told` says that the row has judged the ending already."""
    if not told and not python.ok:
        return "a program that succeeds, or a row that says how it fails", _ending(python)
    if not told and not (result.ok and same(result.value, python.value)):
        return _described(python.value), _ending(result)
    for part, wanted in _rest(python).items():
        got = _rest(result)[part]
        if wanted != got and not (part == "note" and told):
            return f"{part}: {wanted!r}", f"{part}: {got!r}"
    return None


def _rest(result: Result) -> dict[str, object]:
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


def _described(value: object) -> str:
    return f"{type(value).__name__} {value!r}"


def _ending(result: Result) -> str:
    error: Error | None = result.error
    if error is None:
        return _described(result.value)
    return f"{error.type}: {error.message} ({error.kind}, line {error.line})"


def _numbered(program: str) -> str:
    return "\n".join(f"{number:4} {line}" for number, line in enumerate(program.splitlines(), 1))


def _run(engine: Any, case: Case) -> Result:
    files = tuple(case.files.items())
    if type(engine) is UnsafeCPython:
        return _python(case.program, case.earlier, files, case.tools)
    return _last(_sandbox(engine, case.tools, tuple(case.limits.items())), (*case.earlier, case.program), files)


@cache
def _python(
    program: str, earlier: tuple[str, ...], files: tuple[tuple[str, str], ...], tools: tuple[str, ...]
) -> Result:
    return _last(_sandbox(_reference, tools), (*earlier, program), files)


def _last(sandbox: Sandbox, programs: tuple[str, ...], files: tuple[tuple[str, str], ...]) -> Result:
    """The result of the last program; the others, and the files, make the world it runs in."""
    if len(programs) == 1:
        return sandbox.run(*programs, files=dict(files))
    with sandbox.session() as session:
        session.run(programs[0], files=dict(files))
        return [session.run(program) for program in programs[1:]][-1]


@cache
def _sandbox(engine: str | Engine, tools: tuple[str, ...] = (), limits: tuple[tuple[str, Any], ...] = ()) -> Sandbox:
    granted = {name: TOOLS[name] for name in tools}
    return Sandbox(granted, engine=engine, limits=Limits(**{"timeout": 20.0, **dict(limits)}))


@cache
def _version(engine: str | Engine) -> Version:
    return cast("Version", _sandbox(cast("Any", engine)).run("import sys\ntuple(sys.version_info[:2])").value)


def _shown(version: Version) -> str:
    return ".".join(map(str, version))


_reference = UnsafeCPython()
