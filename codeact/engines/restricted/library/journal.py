"""`logging`, `warnings` and `traceback`: what a program tells of itself, with its own frames and no others."""

from __future__ import annotations

import posixpath
import sys
import warnings
from collections.abc import Iterator
from traceback import FrameSummary, StackSummary, TracebackException
from types import FrameType, TracebackType
from typing import Any

from codeact.engines.restricted.library.copies import as_module, copied
from codeact.engines.restricted.library.parts import Parts, pick, take
from codeact.engines.restricted.library.texts import quiet
from wasm_runtime.guest.program import FUNCTION, lines_of, number_of

_CARETS = 4
_NOTHING = "NoneType: None\n"


class Frames:
    """The program's own frames, with the lines that they are at."""

    def __init__(self, parts: Parts) -> None:
        self._texts = parts.world.texts

    def line(self, filename: str, number: int) -> str:
        """A line of a program; empty where it is not known."""
        lines = lines_of(self._texts.get(filename, ""))
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    def of(self, traceback: TracebackType | None) -> Iterator[FrameSummary]:
        """Those of a traceback, outermost first."""
        while traceback is not None:
            if number_of(traceback.tb_frame.f_code.co_filename):
                yield self._summary(traceback.tb_frame, traceback.tb_lineno)
            traceback = traceback.tb_next

    def at(self, frame: FrameType | None) -> Iterator[FrameSummary]:
        """Those of a stack, innermost first."""
        while frame is not None:
            if number_of(frame.f_code.co_filename):
                yield self._summary(frame, frame.f_lineno)
            frame = frame.f_back

    def _summary(self, frame: FrameType, number: int | None) -> FrameSummary:
        code = frame.f_code
        name = "<module>" if code.co_name == FUNCTION else code.co_name
        line = self.line(code.co_filename, number or 0)
        return FrameSummary(code.co_filename, number, name, lookup_line=False, line=line)


# --- traceback ---------------------------------------------------------------------------------------------------


def make_traceback(parts: Parts) -> dict[str, Any]:
    """The names of `traceback` that show an exception."""
    frames = Frames(parts)

    def judge(error: BaseException) -> None:
        parts.sizes.walk(error)
        if isinstance(error, SyntaxError):
            for place in (error.offset, error.end_offset):
                parts.sizes.take(_CARETS * abs(place) if isinstance(place, int) else 0)

    def told(error: BaseException, limit: Any) -> TracebackException:
        """The interpreter's own account of an exception, made without its traceback and linked by hand."""
        made = _Account(type(error), error, None, lookup_lines=False)
        known = {id(error)}
        pending: list[tuple[Any, BaseException]] = [(made, error)]
        while pending:
            parts.world.meter.tick()
            account, error = pending.pop()
            judge(error)
            found = list(frames.of(error.__traceback__))
            if limit is not None:
                found = found[:limit] if limit >= 0 else found[limit:]
            account.stack = StackSummary.from_list(found)
            inner = {"__cause__": error.__cause__, "__context__": error.__context__}
            for name, other in inner.items():
                if other is not None and id(other) not in known:
                    known.add(id(other))
                    setattr(account, name, _Account(type(other), other, None, lookup_lines=False))
                    pending.append((getattr(account, name), other))
            if isinstance(error, BaseExceptionGroup):
                members = [(_Account(type(one), one, None, lookup_lines=False), one) for one in error.exceptions]
                account.exceptions = [account for account, _ in members]
                pending += members
        return made

    def format_exception(
        exc: Any, /, value: Any = None, tb: Any = None, limit: Any = None, chain: bool = True, **_: Any
    ) -> list[str]:
        del tb
        error = exc if isinstance(exc, BaseException) else value
        return [_NOTHING] if error is None else list(told(error, limit).format(chain=chain))

    def format_exception_only(exc: Any, /, value: Any = None, **_: Any) -> list[str]:
        error = exc if isinstance(exc, BaseException) else value
        return [_NOTHING] if error is None else list(told(error, 0).format_exception_only())

    def print_exception(exc: Any, /, *args: Any, file: Any = None, **named: Any) -> None:
        to = parts.load("sys").stderr if file is None else file
        to.write("".join(format_exception(exc, *args, **named)))

    def format_exc(limit: Any = None, chain: bool = True) -> str:
        return "".join(format_exception(sys.exc_info()[1], limit=limit, chain=chain))

    def print_exc(limit: Any = None, file: Any = None, chain: bool = True) -> None:
        print_exception(sys.exc_info()[1], limit=limit, file=file, chain=chain)

    def format_stack(f: Any = None, limit: Any = None) -> list[str]:
        del f
        found = list(frames.at(sys._getframe(1)))[:limit]  # noqa: SLF001 - as documented as it gets
        return StackSummary.from_list(found[::-1]).format()

    def print_stack(f: Any = None, limit: Any = None, file: Any = None) -> None:
        del f
        found = list(frames.at(sys._getframe(1)))[:limit]  # noqa: SLF001 - see above
        to = parts.load("sys").stderr if file is None else file
        to.write("".join(StackSummary.from_list(found[::-1]).format()))

    return {
        "format_exc": format_exc,
        "format_exception": format_exception,
        "format_exception_only": format_exception_only,
        "format_stack": format_stack,
        "print_exc": print_exc,
        "print_exception": print_exception,
        "print_stack": print_stack,
    }


class _Account(TracebackException):
    """One exception of several that are linked: it looks at no traceback, and at no other exception."""

    def __init__(self, kind: Any, error: Any, traceback: None, **named: Any) -> None:
        self.__cause__ = self.__context__ = self.exceptions = None
        super().__init__(kind, error, traceback, _seen=set(), **named)


# --- warnings ----------------------------------------------------------------------------------------------------

_FILTERS: tuple[tuple[Any, ...], ...] = (
    ("ignore", "", PendingDeprecationWarning, 0),
    ("ignore", "", ImportWarning, 0),
    ("ignore", "", ResourceWarning, 0),
)
_ACTIONS = frozenset({"error", "ignore", "always", "all", "default", "module", "once"})


class Warner:
    """The filters of one world, and what has been warned of."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._frames = Frames(parts)
        self.filters = list(_FILTERS)
        self.seen: set[Any] = set()
        self.record: list[Any] | None = None

    def warn(self, message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **_: Any) -> None:
        """Warn, at a line of the program."""
        del source
        if isinstance(message, Warning):
            category = type(message)
        category = category or UserWarning
        if not (isinstance(category, type) and issubclass(category, Warning)):
            msg = f"category must be a Warning subclass, not '{type(category).__name__}'"
            raise TypeError(msg)
        self._parts.sizes.walk(message)
        text = self._parts.text.shown(message)
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as documented as it gets
        for _level in range(min(stacklevel, _LEVELS) - 1):
            frame = frame.f_back if frame is not None else None
        place = next(self._frames.at(frame), None)
        filename, line = (place.filename, place.lineno or 0) if place else ("sys", 1)
        action = self._action(text, category, line)
        if action == "error":
            raise message if isinstance(message, Warning) else category(message)
        key = (text, category) if action == "once" else (text, category, filename, line)
        if action == "ignore" or (action not in {"always", "all"} and key in self.seen):
            return
        self.seen.add(key)
        if self.record is not None:
            shown = message if isinstance(message, Warning) else category(message)
            self.record.append(warnings.WarningMessage(shown, category, filename, line))
        else:
            self.show(text, category, filename, line)

    def _action(self, text: str, category: Any, line: int) -> str:
        for action, message, kind, number in self.filters:
            matches = self._parts.load("re").match
            if issubclass(category, kind) and number in {0, line} and (not message or matches(message, text, 2)):
                return str(action)
        return "default"

    def format(self, message: Any, category: Any, filename: Any, lineno: Any, line: Any = None) -> str:
        """The text of a warning."""
        line = self._frames.line(filename, lineno) if line is None else line.strip()
        told = f"{filename}:{lineno}: {category.__name__}: {self._parts.text.shown(message)}\n"
        return f"{told}  {line}\n" if line else told

    def show(self, message: Any, category: Any, filename: Any, lineno: Any, file: Any = None, line: Any = None) -> None:
        """Print a warning."""
        to = self._parts.load("sys").stderr if file is None else file
        to.write(self.format(message, category, filename, lineno, line))

    def reset(self) -> None:
        """Let every warning be shown again."""
        self.filters.clear()
        self.seen.clear()

    def add(
        self, action: Any, message: Any = "", category: Any = Warning, lineno: int = 0, append: bool = False
    ) -> None:
        """Add a filter."""
        if action not in _ACTIONS:
            msg = f"invalid action: {action!r}"
            raise ValueError(msg)
        self.filters.insert(len(self.filters) if append else 0, (action, message, category, lineno))
        self.seen.clear()


_LEVELS = 1000


def make_warnings(parts: Parts) -> dict[str, Any]:
    """The names of `warnings`."""
    warner = Warner(parts)

    def simplefilter(action: Any, category: Any = Warning, lineno: int = 0, append: bool = False) -> None:
        warner.add(action, "", category, lineno, append)

    def filterwarnings(
        action: Any, message: str = "", category: Any = Warning, module: str = "", lineno: int = 0, append: bool = False
    ) -> None:
        del module  # there is one
        warner.add(action, message, category, lineno, append)

    class catch_warnings:
        def __init__(
            self, *, record: bool = False, module: Any = None, action: Any = None, category: Any = Warning, **_: Any
        ) -> None:
            del module
            self._record = record
            self._filter = (action, category)

        def __enter__(self) -> Any:
            self._before = warner.filters[:], warner.record
            if self._filter[0] is not None:
                simplefilter(*self._filter)
            warner.seen.clear()
            if not self._record:
                return None
            warner.record = []
            return warner.record

        def __exit__(self, *_: object) -> None:
            warner.filters, warner.record = self._before
            warner.seen.clear()

    catch_warnings.__module__, catch_warnings.__qualname__ = "warnings", "catch_warnings"
    return {
        "WarningMessage": warnings.WarningMessage,
        "catch_warnings": catch_warnings,
        "filterwarnings": filterwarnings,
        "formatwarning": warner.format,
        "resetwarnings": warner.reset,
        "showwarning": warner.show,
        "simplefilter": simplefilter,
        "warn": warner.warn,
    }


# --- logging -----------------------------------------------------------------------------------------------------


class _Free:
    """A lock that nobody else wants: loggers are let go of at times when nothing may tick."""

    def acquire(self) -> bool:
        """Take it."""
        return True

    def release(self) -> None:
        """Give it back."""

    def __enter__(self) -> bool:
        return True

    def __exit__(self, *_: object) -> None:
        """Give it back."""


def make_logging(parts: Parts) -> dict[str, Any]:
    """The names of `logging`: a logger prints, its formats are judged like those in the text."""
    text, streams = parts.text, parts.load("sys")
    traceback = parts.load("traceback")
    names = copied(
        parts,
        "logging",
        {
            "atexit": as_module("atexit", {"register": lambda *_: None}),
            "os": as_module("os", {"path": _paths(), "getpid": lambda: 1, "fspath": str}),
            "string": parts.load("string"),
            "sys": as_module(
                "sys",
                {
                    "_getframe": sys._getframe,  # noqa: SLF001 - as documented as it gets
                    "exc_info": lambda: (*sys.exc_info()[:2], None),
                    "exception": lambda: sys.exc_info()[1],
                    "modules": {},
                    "stderr": streams.stderr,
                    "stdout": streams.stdout,
                },
            ),
            "threading": as_module(
                "threading",
                {"RLock": _Free, "current_thread": lambda: _MAIN, "get_ident": lambda: 1},
            ),
            "traceback": traceback,
        },
    )

    def message(self: Any) -> str:
        told = text.shown(self.msg)
        return str(text.percent(told, self.args)) if self.args else str(told)

    def fields(self: Any, record: Any) -> dict[str, Any]:
        return {**(self._defaults or {}), **vars(record)}

    def percent(self: Any, record: Any) -> str:
        return str(text.percent(self._fmt, fields(self, record)))

    def braces(self: Any, record: Any) -> str:
        return str(text.call("format", self._fmt, **fields(self, record)))

    def shown(self: Any) -> str:
        parts.sizes.walk([self.name, self.msg])
        return f'<LogRecord: {self.name}, {self.levelno}, {self.pathname}, {self.lineno}, "{self.msg}">'

    def when(self: Any, record: Any, datefmt: Any = None) -> str:
        moment = strftime(datefmt or self.default_time_format, self.converter(record.created))
        exact = not datefmt and self.default_msec_format
        return str(text.percent(exact, (moment, record.msecs)) if exact else moment)

    def exception(_self: Any, ei: Any) -> str:
        return "".join(traceback.format_exception(ei[1])).removesuffix("\n")

    def failed(_self: Any, record: Any) -> None:
        if names["raiseExceptions"]:
            problem = "".join(traceback.format_exception(sys.exc_info()[1]))
            told = f"--- Logging error ---\n{problem}Message: {text.repr(record.msg)}\n"
            streams.stderr.write(f"{told}Arguments: {text.repr(record.args)}\n")

    real = names["Logger"].makeRecord

    def make_record(
        self: Any, name: Any, level: Any, fn: Any, lno: Any, msg: Any, args: Any, exc_info: Any, *rest: Any
    ) -> Any:
        exc_info = exc_info and (*exc_info[:2], None)
        return real(self, name, level, fn, lno, msg, args, exc_info, *rest)

    strftime = parts.load("time").strftime
    # A handler may be gone when the run is over, and nothing may tick then.
    names["_removeHandlerRef"] = quiet(names["_removeHandlerRef"])
    names["LogRecord"].getMessage, names["LogRecord"].__repr__ = message, shown
    names["Formatter"].formatTime = when
    names["PercentStyle"]._format = percent  # noqa: SLF001 - a copy of our own
    names["StrFormatStyle"]._format = braces  # noqa: SLF001 - see above
    names["Formatter"].formatException = exception
    names["Formatter"].converter = staticmethod(parts.load("time").localtime)
    names["Handler"].handleError = failed
    names["Logger"].makeRecord = make_record
    kinds = [kind for kind in names.values() if isinstance(kind, type) and kind.__module__ == "logging"]
    for kind in kinds:
        parts.world.setters[kind] = lambda target: target
    return pick(
        names,
        "BASIC_FORMAT BufferingFormatter CRITICAL DEBUG ERROR FATAL FileHandler Filter Formatter Handler INFO LogRecord "
        "Logger LoggerAdapter NOTSET NullHandler StreamHandler WARN WARNING addLevelName basicConfig critical debug "
        "disable error exception fatal getLevelName getLevelNamesMapping getLogRecordFactory getLogger getLoggerClass "
        "info lastResort log makeLogRecord root setLogRecordFactory setLoggerClass shutdown warn warning",
    )


_MAIN = take("types", "SimpleNamespace")["SimpleNamespace"](name="MainThread")


def _paths() -> Any:
    """Paths as text: nothing is asked of the host's disk."""
    names = {name: getattr(posixpath, name) for name in ("basename", "dirname", "normcase", "splitext")}
    return as_module("os.path", {**names, "abspath": lambda path: path})
