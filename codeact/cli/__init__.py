"""The command `codeact`: play the demo, run a program, look whether everything works here.

What the library needs is imported by the command that needs it, so that `codeact --help` answers at once.
Misuse of a command is one line on stderr and exit code 2; what a program does is 0 or 1.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from codeact.cli import outbox, policies, programs, servers, traces
from codeact.cli.sandboxes import load_engine
from codeact.cli.terminal import FAILED, INTERRUPTED, MISUSED, console, hung_up, put, refuse, say
from codeact.extras import MissingExtra
from wasm_runtime import progress

app = typer.Typer(
    name="codeact",
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
  codeact demo --out desk && codeact trace show desk/desk.sqlite T-6
  codeact demo --model anthropic:claude-opus-5-5
"""


def main() -> None:
    """The entry point of the command."""
    sys.exit(_main())


def _main() -> int:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started the command
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - for good
    progress.tell("lines")
    try:
        code = app(prog_name="codeact", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        code = hung_up()
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except MissingExtra as error:
        say(str(error))
        code = MISUSED
    except Exception as error:
        # The parser's own errors come from click, which typer depends on or carries inside, by its version. All
        # of them, and nothing else, can say what they are in one line.
        told = getattr(error, "format_message", None)
        if told is None:
            raise
        say(told())
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
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A new folder for journal, outbox, audit log and trace pages.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="anthropic:NAME|openai:NAME", help="Who works; a script by default.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Another endpoint that speaks like that provider.")
    ] = None,
) -> None:
    """Play the example: a scripted model, or one of a provider's, works on a queue of support tickets."""
    from codeact import example  # noqa: PLC0415 - see the module's docstring

    engines = ("wasm", "restricted") if engine == "both" else (engine,)
    for name in engines:
        load_engine(name)
    chosen = {"out": out} | ({} if seed is None else {"seed": _whole_number("--seed", seed)})
    try:
        played = example.demo()
        if model is None:
            ok = played.play(console(), engines=engines, **chosen).ok
        else:
            ok = played.serve(console(), _model(model, base_url), engine=engines[0], **chosen).ok
    except ModuleNotFoundError as error:
        refuse(f"demo: {error}")
    except LookupError as error:
        refuse(f"--seed {seed}: {error.args[0] if error.args else error}")
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        refuse(f"--out {out}: {error.strerror or error}")
    raise typer.Exit(0 if ok else FAILED)


def _model(name: str, base_url: str | None) -> object:
    from codeact import example  # noqa: PLC0415 - see the module's docstring

    try:
        return example.demo("models").named(name, base_url)
    except ValueError as error:
        refuse(f"--model {error}")


app.command(epilog=programs.EXAMPLES, short_help="Run one program and show its result.")(programs.run)
app.command(epilog=servers.EXAMPLES, short_help="Serve run_python to MCP clients.")(servers.mcp)
app.command(epilog=policies.ATTACKS, short_help="Attack the walls of a policy and say which hold.")(policies.walls)
app.add_typer(policies.policy, name="policy", short_help="Look at a policy.")
app.add_typer(outbox.outbox, name="outbox", short_help="Decide what programs have proposed.")
app.add_typer(traces.trace, name="trace", short_help="Look at what programs did, by a journal.")


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
        make(packages, output, lambda line: put(f"{line}\n", sys.stdout))
    except GuestNotMade as error:
        put(f"codeact: build: {error}\n", sys.stderr)
        raise typer.Exit(FAILED) from error


@app.command(epilog=_DOCTOR_EXAMPLES, short_help="Look whether everything works here.")
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as one JSON document.")] = False,
) -> None:
    """Look whether everything works here, by running a program with a tool call on each engine."""
    from codeact.doctor import examine, lines  # noqa: PLC0415 - see the module's docstring

    if as_json:
        progress.tell("never")
    report = examine()
    if as_json:
        put(json.dumps(report.to_dict(), indent=2) + "\n", sys.stdout)
    else:
        terminal = console()
        for line in lines(report):
            terminal.print(line, soft_wrap=True)
    raise typer.Exit(0 if report.ok else FAILED)


def _whole_number(option: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        refuse(f"{option} {text}: expected a whole number")
