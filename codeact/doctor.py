"""What `codeact doctor` finds out: versions, the guest, its cache, and whether each engine works."""

from __future__ import annotations

import hashlib
import logging
import platform
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

    from wasm_runtime.machine import Machine

PACKAGES = ("codeact", "wasmtime", "RestrictedPython", "pydantic")

PROGRAM = "print('hello')\ntools.double(21)"
"""What each engine is tried with: output, a call to a tool, and a value that needs its answer."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or directory of the cache.

    Attributes:
        path: where it is.
        size: its bytes; for a directory those of its compiled guests.
        owner: the user it belongs to.
        mode: its permissions, like `0700`.
    """

    path: str
    size: int
    owner: str
    mode: str


@dataclass(frozen=True, slots=True)
class Guest:
    """The wasm guest.

    Attributes:
        path: the component.
        size: its bytes; None where it cannot be read.
        digest: its SHA-256, hexadecimal; None where it cannot be read.
        imports: what the compiled component asks of its host; None where it could not be loaded.
        doors: what it may ask for.
        problem: what is wrong; None where nothing is.
    """

    path: str
    size: int | None
    digest: str | None
    imports: tuple[str, ...] | None
    doors: tuple[str, ...] | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class CacheState:
    """The cache of compiled guests.

    Attributes:
        path: the directory; None where it is not known.
        directory: its state; None where there is none.
        entry: the compiled form of this guest; None where there is none.
        problem: why it is of no use; None where it is. Without it every process compiles the guest anew.
    """

    path: str | None
    directory: Entry | None
    entry: Entry | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Trial:
    """One engine, tried.

    Attributes:
        engine: its name.
        ok: whether a program with a call to a tool came to the right value.
        setup: seconds to load it, what it imports and compiles included; None where that failed.
        run: seconds of the first run; None where there was none.
        problem: why it does not work; None where it does.
    """

    engine: str
    ok: bool
    setup: float | None
    run: float | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Report:
    """Everything found."""

    versions: dict[str, str | None]
    guest: Guest
    cache: CacheState
    engines: tuple[Trial, ...]

    @property
    def ok(self) -> bool:
        """Whether every engine works."""
        return all(trial.ok for trial in self.engines)

    def to_dict(self) -> dict[str, object]:
        """The report as JSON-ready data."""
        return {"ok": self.ok, **asdict(self)}


def examine() -> Report:
    """Try everything. Never raises for what it finds; on a new machine this compiles the guest."""
    from codeact.engines import engine_names  # noqa: PLC0415 - pydantic comes with it; --version needs none of it

    with _log() as log:
        trials = tuple(_try(name, log) for name in engine_names())
        machine = _machine()
        return Report(_versions(), _guest(machine), _cache(machine), trials)


def version_of(package: str) -> str | None:
    """The version of an installed package; None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {name.lower(): version_of(name) for name in PACKAGES}
    return found | {"python": platform.python_version(), "platform": platform.platform()}


class _Log(logging.Handler):
    """Keeps what the library logs off stderr: the report says it."""

    def __init__(self) -> None:
        super().__init__()
        self.causes: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            self.causes.append(" ".join(f"{type(error).__name__}: {error}".split()))


@contextmanager
def _log() -> Iterator[_Log]:
    logger, log = logging.getLogger("codeact"), _Log()
    logger.addHandler(log)
    try:
        yield log
    finally:
        logger.removeHandler(log)


def _double(number: int) -> int:
    """Give twice the number."""
    return 2 * number


def _try(name: str, log: _Log) -> Trial:
    from codeact.sandbox import Sandbox  # noqa: PLC0415 - see `examine`
    from codeact.tools import tool  # noqa: PLC0415 - see `examine`

    began = time.perf_counter()
    try:
        sandbox = Sandbox([tool(name="double")(_double)], engine=name)
        setup = time.perf_counter() - began
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        return Trial(name, ok=False, setup=None, run=None, problem=_told(error, name))
    log.causes.clear()
    began = time.perf_counter()
    result = sandbox.run(PROGRAM)
    took = time.perf_counter() - began
    if not result.ok:
        problem: str | None = "; ".join([*result.observation().splitlines(), *log.causes])
    elif (result.value, result.stdout, [call.state for call in result.calls]) != (42, "hello\n", ["ok"]):
        problem = f"a program that should give 42 gave: {'; '.join(result.observation().splitlines())}"
    else:
        problem = _foreign_imports() if name == "wasm" else None
    return Trial(name, ok=problem is None, setup=setup, run=took, problem=problem)


def _told(error: Exception, engine: str) -> str:
    text = " ".join(str(error).removeprefix(f"engine={engine!r}: ").split())
    return text or type(error).__name__


def _machine() -> Machine | None:
    """The machine behind the wasm engine; None where it cannot be set up, and the engine's trial says why."""
    from codeact.engines import load  # noqa: PLC0415 - see `examine`

    try:
        engine = load("wasm")
    except Exception:  # noqa: BLE001 - told by the trial
        return None
    machine: Machine | None = getattr(engine, "machine", None)
    return machine


def _foreign_imports() -> str | None:
    """What is wrong with the guest's imports. They are the policy, so they must be exactly the doors."""
    from wasm_runtime.doors import DOORS  # noqa: PLC0415 - it imports wasmtime, which may be what does not work

    machine = _machine()
    if machine is None or set(machine.imports) == set(DOORS):
        return None
    more, fewer = set(machine.imports) - set(DOORS), set(DOORS) - set(machine.imports)
    parts = [f"{kind}: {', '.join(sorted(names))}" for kind, names in (("foreign", more), ("missing", fewer)) if names]
    return f"the guest's imports are not exactly the doors ({'; '.join(parts)})"


def _guest(machine: Machine | None) -> Guest:
    import wasm_runtime  # noqa: PLC0415 - see `examine`

    path = Path(wasm_runtime.__file__ or "").with_name("guest.wasm")
    try:
        binary = path.read_bytes()
    except OSError as error:
        return Guest(str(path), None, None, None, None, problem=error.strerror or str(error))
    digest = hashlib.sha256(binary).hexdigest()
    if machine is None:
        return Guest(str(path), len(binary), digest, None, None, problem="it could not be loaded; see the engine wasm")
    from wasm_runtime.doors import DOORS  # noqa: PLC0415 - there is a machine, so wasmtime works

    doors = tuple(sorted(DOORS))
    problem = _foreign_imports()
    if problem is None and digest != machine.digest:
        problem = "it changed on disk while this process had it loaded"
    return Guest(str(path), len(binary), digest, machine.imports, doors, problem)


def _cache(machine: Machine | None) -> CacheState:
    from wasm_runtime import cache  # noqa: PLC0415 - see `examine`

    try:
        root = cache.directory()
    except RuntimeError as error:  # no home directory
        return CacheState(None, None, None, problem=f"{error}; set {cache.VARIABLE}")
    directory = _entry(root)
    try:
        cache.Cache.open(root)
    except cache.CacheUnusable as error:
        return CacheState(str(root), directory, None, problem=f"{error}; set {cache.VARIABLE} to a directory of yours")
    entry = None if machine is None or machine.cached is None else _entry(machine.cached)
    problem = None
    if machine is not None and entry is None:
        problem = "the compiled guest could not be kept there; is the disk full?"
    return CacheState(str(root), _entry(root), entry, problem)


def _entry(path: Path) -> Entry | None:
    try:
        found = path.stat()
        size = sum(file.stat().st_size for file in path.glob("*.cwasm")) if path.is_dir() else found.st_size
    except OSError:
        return None
    return Entry(str(path), size, _owner(found.st_uid), f"{stat.S_IMODE(found.st_mode):04o}")


def _owner(uid: int) -> str:
    try:
        import pwd  # noqa: PLC0415 - there is none on Windows

        return pwd.getpwuid(uid).pw_name
    except (ImportError, KeyError):
        return str(uid)


def lines(report: Report) -> Iterator[Text]:
    """The report for a person."""
    for name, found in report.versions.items():
        yield _line(name, found or ("not installed, run from a checkout" if name == "codeact" else "not installed"))
    yield from _guest_lines(report.guest)
    yield from _cache_lines(report.cache)
    for trial in report.engines:
        if trial.ok:
            yield _line(
                trial.engine,
                f"works: set up in {_time(trial.setup)}, a run with a tool call {_time(trial.run)}",
                "green",
            )
        else:
            yield _line(trial.engine, f"does not work: {trial.problem}", "red")


def _guest_lines(guest: Guest) -> Iterator[Text]:
    yield _line("guest", guest.path)
    if guest.size is not None:
        yield _line("", f"{_megabytes(guest.size)}, sha256 {guest.digest}")
    if guest.imports is not None:
        exactly = " (exactly the doors)" if guest.problem is None else ""
        yield _line("", f"imports {', '.join(guest.imports)}{exactly}")
    if guest.problem is not None:
        yield _line("", guest.problem, "red")


def _cache_lines(state: CacheState) -> Iterator[Text]:
    known = state.directory
    owned = f", {_megabytes(known.size)}, owner {known.owner}, mode {known.mode}" if known else ""
    yield _line("cache", f"{state.path or 'nowhere'}{owned}")
    if state.entry is not None:
        entry = state.entry
        yield _line("", f"{Path(entry.path).name}, {_megabytes(entry.size)}, owner {entry.owner}, mode {entry.mode}")
    if state.problem is not None:
        yield _line("", f"not usable, every process compiles the guest anew: {state.problem}", "yellow")


def _line(name: str, text: str, style: str = "") -> Text:
    from rich.text import Text  # noqa: PLC0415 - only the report for a person needs it

    return Text.assemble((f"{name:<17}", "bold"), (text, style))


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"
