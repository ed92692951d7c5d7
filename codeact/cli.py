"""The command `codeact`: play the demo, run a program, look whether everything works here.

What the library needs is imported by the command that needs it, so that `codeact --help` answers at once.
Misuse of a command is one line on stderr and exit code 2; what a program does is 0 or 1.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from codeact.result import Result
    from codeact.sandbox import Sandbox
    from codeact.tools import Tool, Toolset

FAILED = 1
MISUSED = 2
INTERRUPTED = 130

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

app = typer.Typer(
    name="codeact",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich takes longer to import than all the rest of --help
    context_settings={"help_option_names": ["-h", "--help"]},
)

_EXAMPLES = """Examples:

\b
  codeact run -c "sum(range(10))"
  codeact run -c "tools.get_charges('c1')" --tools shop.tools:get_charges
  codeact doctor
  codeact demo
"""

_RUN_EXAMPLES = """Examples:

\b
  codeact run program.py
  codeact run -c "print('hello'); 6 * 7"
  echo "tools.add(1, 2)" | codeact run - --tools mytools:add
  codeact run program.py --tools mytools:TOOLS --engine restricted --timeout 2
  codeact run program.py --json | jq .value

\b
What is printed:
  stdout  what the program printed, then its value (None only if nothing else is there to show)
  stderr  why it failed, and notes; also what your own tools print
  --json  on stdout the whole result as one JSON document, and nothing else

\b
Exit codes:
  0  the program finished      1  it failed      2  the command was misused      130  interrupted
"""

_DOCTOR_EXAMPLES = """Exit codes: 0 when every engine works here, 1 otherwise.

\b
Examples:
  codeact doctor
  codeact doctor --json | jq .engines
"""

_BUILD_EXAMPLES = """Needs the extra `build`: pip install 'codeact[build]'. Packages with native code are tried without it.

\b
Examples:
  codeact build --with python-dateutil --with "pyyaml>=6" --output guest.wasm
  codeact build --with ./dist/ours-1.0-py3-none-any.whl --output guest.wasm
  codeact run -c "import yaml; yaml.__version__" --guest guest.wasm
"""

_DEMO_EXAMPLES = """Examples:

\b
  codeact demo
  codeact demo --engine wasm --seed 7
"""


def main() -> None:
    """The entry point of the command."""
    sys.exit(_main())


def _main() -> int:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started the command
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - for good
    try:
        code = app(prog_name="codeact", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        code = _hung_up()
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        # The parser's own errors come from click, which typer depends on or carries inside, by its version. All
        # of them, and nothing else, can say what they are in one line.
        told = getattr(error, "format_message", None)
        if told is None:
            raise
        _say(told())
        code = MISUSED
    return code if isinstance(code, int) else 0


@app.callback(invoke_without_command=True, epilog=_EXAMPLES)
def codeact(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Run programs that a model wrote in an empty world, which holds the tools granted and nothing else."""
    if version:
        from codeact.doctor import version_of  # noqa: PLC0415 - see the module's docstring

        typer.echo(f"codeact {version_of('codeact') or '(not installed, run from a checkout)'}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(epilog=_DEMO_EXAMPLES, short_help="Play the example: support tickets.")
def demo(
    engine: Annotated[str, typer.Option(metavar="wasm|restricted|both", help="Where the programs run.")] = "both",
    seed: Annotated[str | None, typer.Option(metavar="N", help="What the company's data is made from.")] = None,
) -> None:
    """Play the example: a scripted model works on a queue of support tickets."""
    from codeact import example  # noqa: PLC0415 - see the module's docstring

    engines = ("wasm", "restricted") if engine == "both" else (engine,)
    for name in engines:
        _load_engine(name)
    chosen = {} if seed is None else {"seed": _whole_number("--seed", seed)}
    try:
        report = example.demo().play(_console(), engines=engines, **chosen)
    except ModuleNotFoundError as error:
        told = "codeact[demo]" in str(error) or error.name == example.NAME
        _refuse(f"demo: {error}" if told else f"demo: {error}: pip install 'codeact[demo]'")
    except LookupError as error:
        _refuse(f"--seed {seed}: {error.args[0] if error.args else error}")
    raise typer.Exit(0 if report.ok else FAILED)


@app.command(epilog=_RUN_EXAMPLES, short_help="Run one program and show its result.")
def run(  # noqa: PLR0913, PLR0917 - each is an option of the command
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="The program's file; - is standard input.")] = None,
    code: Annotated[str | None, typer.Option("-c", "--code", metavar="CODE", help="The program itself.")] = None,
    tools: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE:ATTR",
            help="Grant a tool, a typed function, or a list, mapping or Toolset of them. May be given several times.",
        ),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            metavar="wasm|restricted", help="wasm is the boundary; restricted is fast and only stops accidents."
        ),
    ] = "wasm",
    timeout: Annotated[str | None, typer.Option(metavar="S", help="Seconds until it is stopped; 5 by default.")] = None,
    guest: Annotated[Path | None, typer.Option(help="A guest of your own for wasm; see codeact build.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")] = False,
) -> None:
    """Run one program and show its result."""
    source = _source(file, code)
    sandbox = _sandbox(tools or [], engine, timeout, guest)
    with contextlib.redirect_stdout(sys.stderr):  # what tools print is not the program's
        result = sandbox.run(source)
    if as_json:
        _put(json.dumps(result.to_dict()) + "\n", sys.stdout)
    else:
        _show(result)
    raise typer.Exit(0 if result.ok else FAILED)


@app.command(epilog=_BUILD_EXAMPLES, short_help="Make a guest with packages of your choosing.")
def build(
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to make.")],
    packages: Annotated[
        list[str], typer.Option("--with", metavar="PACKAGE", help="What pip can install; may be given several times.")
    ],
) -> None:
    """Make a guest for the engine wasm that has packages of your choosing beside the standard library."""
    from codeact.guests import GuestNotMade, make  # noqa: PLC0415 - see the module's docstring

    try:
        make(packages, output, lambda line: _put(f"{line}\n", sys.stdout))
    except GuestNotMade as error:
        _put(f"codeact: build: {error}\n", sys.stderr)
        raise typer.Exit(FAILED) from error


@app.command(epilog=_DOCTOR_EXAMPLES, short_help="Look whether everything works here.")
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as one JSON document.")] = False,
) -> None:
    """Look whether everything works here, by running a program with a tool call on each engine."""
    from codeact.doctor import examine, lines  # noqa: PLC0415 - see the module's docstring

    report = examine()
    if as_json:
        _put(json.dumps(report.to_dict(), indent=2) + "\n", sys.stdout)
    else:
        console = _console()
        for line in lines(report):
            console.print(line, soft_wrap=True)
    raise typer.Exit(0 if report.ok else FAILED)


def _source(file: str | None, code: str | None) -> str:
    """The program's text."""
    if code is not None:
        if file is not None:
            _refuse(f"-c: the program was given twice, as FILE {file} and as -c CODE; choose one")
        return code
    if file is None:
        _refuse("FILE: no program; give a FILE, -c CODE, or - for standard input")
    try:
        raw = _standard_input() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        _refuse(f"FILE {file}: {error.strerror or error}")
    except ValueError as error:  # a NUL in the name, for one
        _refuse(f"FILE {file!r}: {error}")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = "standard input" if file == "-" else f"FILE {file}"
        line = raw.count(b"\n", 0, error.start) + 1
        _refuse(f"{where}: not UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start:,}, line {line}")


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed")
    return sys.stdin.buffer.read()


def _sandbox(tools: list[str], engine: str, timeout: str | None, guest: Path | None) -> Sandbox:
    from codeact.limits import Limits  # noqa: PLC0415 - see the module's docstring
    from codeact.sandbox import Sandbox  # noqa: PLC0415 - see the module's docstring

    limits = Limits()
    if timeout is not None:
        try:
            limits = Limits(timeout=_seconds(timeout))
        except ValueError as error:
            _refuse(f"--timeout {timeout}: {str(error).rpartition(': ')[2]}")
    granted = _tools(tools)
    _load_engine(engine, guest)
    return Sandbox(granted, engine=engine, limits=limits, guest=guest)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        msg = "expected a number of seconds"
        raise ValueError(msg) from None


def _whole_number(option: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        _refuse(f"{option} {text}: expected a whole number")


def _load_engine(name: str, guest: Path | None = None) -> None:
    from codeact.engines import load  # noqa: PLC0415 - see the module's docstring

    try:
        load(name, guest)
    except Exception as error:  # noqa: BLE001 - engines of others may fail in any way
        told = str(error).removeprefix(f"engine={name!r}: ")
        _refuse(f"--engine {name}: {told or type(error).__name__}")


def _tools(places: list[str]) -> Toolset:
    """The tools that the options name, as one set."""
    from codeact.tools import Toolset  # noqa: PLC0415 - see the module's docstring

    if places:
        sys.path.insert(0, os.getcwd())  # noqa: PTH109 - sys.path holds text; an installed script lacks what -m has
    members: list[Tool[..., Any]] = []
    for place in places:
        found = _imported(place)
        # A list of names is no tool and a tool is callable: what is neither a mapping nor a collection stands alone.
        collection = isinstance(found, Mapping) or (not callable(found) and hasattr(found, "__iter__"))
        try:
            members.extend(Toolset(found if collection else [found]).values())
        except (TypeError, ValueError) as error:
            _refuse(f"--tools {place}: {error}")
    try:
        return Toolset(members)
    except ValueError as error:
        _refuse(f"--tools: {str(error).removeprefix('tools: ')}")


def _imported(place: str) -> Any:
    from importlib import import_module  # noqa: PLC0415 - see the module's docstring

    module, colon, attribute = place.partition(":")
    if not (module and colon and attribute):
        _refuse(f"--tools {place}: expected MODULE:ATTR, like shop.tools:get_charges")
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found: Any = import_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a module of the user's may fail in any way
        _refuse(f"--tools {place}: {module} cannot be imported: {type(error).__name__}: {error}")
    for name in attribute.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            _refuse(f"--tools {place}: {module} has no {attribute}")
    return found


def _show(result: Result) -> None:
    """Show a result to a person: output and value on stdout, everything else on stderr."""
    nothing = not result.ok or (result.value is None and (result.stdout or result.note))
    shown = "" if nothing else _repr(result.value)
    text = result.stdout
    if text and not text.endswith("\n") and (shown or sys.stdout.isatty()):
        text += "\n"
    _put(text + (f"{shown}\n" if shown else ""), sys.stdout)
    if not result.ok:
        head, _, rest = replace(result, stdout="").observation().partition("\n")
        console = _console(stderr=True)
        console.print(_printable(head, sys.stderr), style="bold red", markup=False, soft_wrap=True)
        console.print(_printable(rest, sys.stderr), markup=False, soft_wrap=True)
        return
    if result.note:
        _put(f"note: {result.note}\n", sys.stderr)
    for cut in result.truncated:
        _put(f"cut: {cut.what}: {cut.left_out:,} characters left out after {cut.kept:,}\n", sys.stderr)


def _repr(value: object) -> str:
    try:
        return repr(value)
    except ValueError as error:  # an int of more digits than Python will write out
        return f"<{type(value).__name__} that cannot be shown: {error}>"


def _console(*, stderr: bool = False) -> Console:
    """A console that writes plain text where there is no terminal, or NO_COLOR is set."""
    from rich.console import Console  # noqa: PLC0415 - see the module's docstring

    return Console(stderr=stderr, highlight=False)


def _put(text: str, stream: TextIO) -> None:
    """Write text, whatever characters the stream can hold."""
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(_printable(text, stream).encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _hung_up()
        _refuse(f"{stream.name}: {error.strerror or error}")


def _printable(text: str, stream: TextIO) -> str:
    """On a terminal, text with its control characters shown: a program's output must not steer the terminal."""
    if not stream.isatty():
        return text
    return _CONTROLS.sub(lambda found: f"\\x{ord(found.group()):02x}", text)


def _say(message: str) -> None:
    line = " ".join(message.split())
    _put(f"codeact: {line}\n", sys.stderr)


def _refuse(message: str) -> NoReturn:
    """Say what was wrong with the command, in one line, and end it."""
    _say(message)
    raise typer.Exit(MISUSED)


def _hung_up() -> int:
    """Nobody reads on: send what is still buffered nowhere, so that the interpreter's last flush is quiet."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED
