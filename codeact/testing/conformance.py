"""Whether an engine runs what honest programs are, and says what it must where they fail.

The cases are programs as models write them. What each must give is what plain CPython gives, or what its row says
where plain CPython cannot be asked. To put an engine of your own to the test, with pytest:

    from codeact.testing import conformance

    @pytest.mark.parametrize("case", conformance.cases(), ids=str)
    def test_conforms(case):
        verdict = conformance.check("mine", case)
        assert verdict.ok, verdict

`check` takes the name of a registered engine or an engine itself. `str(verdict)` holds the program, what was expected
and what was got. Where your engine differs by design, say so in the case:

    dataclasses.replace(case, differs={"mine": Difference("there is no clock", None, Raises("OSError", "clock"))})

or, where it differs as one of codeact's own does, `check("mine", case, like="restricted")`. From a shell:

    python -m codeact.testing.conformance mine --like restricted
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from codeact.engines import Engine
from codeact.limits import Limits
from codeact.result import Result
from codeact.sandbox import Sandbox
from codeact.testing.judgement import complaint
from codeact.testing.reference import UnsafeCPython
from codeact.testing.table import Case, Difference, Raises, Value, Version, tables
from codeact.testing.tools import TOOLS

__all__ = ["Case", "Difference", "Raises", "Value", "Verdict", "cases", "check", "check_all"]


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


def check(engine: str | Engine, case: Case, *, like: str | None = None) -> Verdict:
    """Run a case on an engine. Whatever the engine does is in the verdict.

    Args:
        engine: the name of a registered engine, or an engine.
        case: one of `cases()`, or one of your own.
        like: the engine whose differences by design it has; by default those of its own name.

    Returns:
        The verdict. It complains about a case that is `pending` on that engine when it conforms after all.

    Raises:
        EngineUnavailable, ValueError: there is no such engine, or it cannot be set up.
    """
    name = engine if isinstance(engine, str) else engine.name
    version, failure = _version(engine)
    if failure is not None:
        return Verdict(case, name, f"it cannot say which Python it runs:\n{failure}")
    asked = case.on_cpython and sys.version_info >= case.since
    if version < case.since:
        return Verdict(case, name, skipped=f"needs Python {_shown(case.since)} and has {_shown(version)}")
    if case.expects is None and not asked:
        return Verdict(case, name, skipped=f"nobody here can say what it gives: this is no Python {_shown(case.since)}")
    if name == UnsafeCPython.name and not case.on_cpython:
        return Verdict(case, name, skipped="nothing that plain CPython can show")
    python = _result(_PYTHON, case) if asked else None
    wrong = complaint(case, like or name, _result(engine, case), python)
    reason = case.pending.get(like or name)
    if reason is None:
        return Verdict(case, name, wrong)
    return Verdict(case, name, f"it conforms; take the mark off: pending ({reason})" if wrong is None else None)


def check_all(
    engine: str | Engine, prefix: str = "", *, like: str | None = None, patience: float = 120.0
) -> Iterator[Verdict]:
    """Run the cases on an engine, one after the other.

    Args:
        engine: the name of a registered engine, or an engine.
        prefix: only cases whose name begins so.
        like: see `check`.
        patience: seconds that a case may take. One that takes longer is the last: an engine that does not end a program at
            its deadline holds the thread that it runs on for ever.

    Raises:
        EngineUnavailable, ValueError: there is no such engine, or it cannot be set up.
    """
    _sandbox(engine)  # raises here, on this thread
    for case in cases(prefix):
        found: list[Verdict] = []
        thread = threading.Thread(target=_into, args=(found, engine, case, like), daemon=True)
        thread.start()
        thread.join(patience)
        if found:
            yield found[0]
            continue
        name = engine if isinstance(engine, str) else engine.name
        stuck = "has not ended" if thread.is_alive() else "has no verdict"
        yield Verdict(case, name, f"it {stuck} after {patience:g} s: does the engine ask doors.interrupted?")
        return


def _into(found: list[Verdict], engine: str | Engine, case: Case, like: str | None) -> None:
    found.append(check(engine, case, like=like))


_PYTHON = UnsafeCPython()
_NO_LIMITS: Mapping[str, Any] = {}
_results: dict[str, Result] = {}
_sandboxes: dict[object, Sandbox] = {}
_versions: dict[object, tuple[Version, str | None]] = {}


def _result(engine: str | Engine, case: Case) -> Result:
    if type(engine) is not UnsafeCPython:
        return _run(_sandbox(engine, case.tools, case.limits), case)
    known = repr(case)  # every engine is compared with it
    if known not in _results:
        _results[known] = _run(_sandbox(engine, case.tools), case)
    return _results[known]


def _run(sandbox: Sandbox, case: Case) -> Result:
    """The result of a case's program; the files, and earlier programs, make the world it runs in."""
    if not case.earlier:
        return sandbox.run(case.program, files=case.files)
    first, *others = case.earlier
    with sandbox.session() as session:
        session.run(first, files=case.files)
        for program in others:
            session.run(program)
        return session.run(case.program)


def _sandbox(engine: str | Engine, tools: tuple[str, ...] = (), limits: Mapping[str, Any] = _NO_LIMITS) -> Sandbox:
    key = (engine, tools, *limits.items())
    if key not in _sandboxes:
        granted = {name: TOOLS[name] for name in tools}
        _sandboxes[key] = Sandbox(granted, engine=engine, limits=Limits(**{"timeout": 20.0, **limits}))
    return _sandboxes[key]


def _version(engine: str | Engine) -> tuple[Version, str | None]:
    """The Python that an engine runs, and what is wrong where it cannot say."""
    if engine not in _versions:
        told = _sandbox(engine).run("import sys\ntuple(sys.version_info[:2])")
        match told.value:
            case (int(major), int(minor)) if told.ok:
                _versions[engine] = (major, minor), None
            case _:
                _versions[engine] = (0, 0), told.observation()
    return _versions[engine]


def _shown(version: Version) -> str:
    return ".".join(map(str, version))


if __name__ == "__main__":
    from codeact.testing.command import main

    sys.exit(main())
