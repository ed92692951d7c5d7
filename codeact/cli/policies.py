"""`codeact policy` and `codeact walls`: what is granted, and whether it holds."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codeact.cli.terminal import FAILED, MISUSED, console, put, refuse
from wasm_runtime import progress

if TYPE_CHECKING:
    from codeact.policy import Policy
    from codeact.walls import Verdict, Wall

ATTACKS = """Examples:

\b
  codeact walls policy.toml
  codeact walls policy.toml --html walls.html
  codeact walls policy.toml --json | jq '.walls[] | select(.outcome == "broken")'
  codeact walls policy.toml --only 5 --only 6

\b
Hostile programs are run inside sandboxes made by the policy, and the host's own record is the judge.
Exit codes: 0 every wall holds, 1 one is broken, 2 the policy cannot be used.
"""

_SHOW = """Examples:

\b
  codeact policy show policy.toml
"""

policy = typer.Typer(
    help="Look at a policy.",
    epilog=_SHOW,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_File = Annotated[Path, typer.Argument(metavar="FILE", help="The policy; policy.toml by default.", show_default=False)]
_USUAL = Path("policy.toml")
_Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 also where there is something to look at twice.")]


@policy.callback()
def policies() -> None:
    """Look at a policy."""


@policy.command(epilog=_SHOW, short_help="Print a policy as a block that fits on a page.")
def show(file: _File = _USUAL, strict: _Strict = False) -> None:
    """Print a policy as a block that fits on a page, with what a reviewer should look at twice."""
    from codeact.policy import page  # noqa: PLC0415 - see the package's docstring

    found = load(file, quiet=True)
    put(page(found) + "\n", sys.stdout)
    _judge_strictly(found, strict)


def walls(
    file: _File = _USUAL,
    only: Annotated[list[int] | None, typer.Option(metavar="N", help="One wall; may be given several times.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the findings as one HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as one JSON document.")] = False,
    strict: _Strict = False,
) -> None:
    """Attack the walls of a policy from inside, and say which hold."""
    from codeact.walls import Site, examine  # noqa: PLC0415 - see the package's docstring
    from codeact.walls.report import document, line, page_of, summary  # noqa: PLC0415 - as above

    if as_json:
        progress.tell("never")
    used = load(file, quiet=True)
    chosen = _chosen(only)
    if html is not None:
        try:
            html.touch()  # before the walls take their time
        except OSError as error:
            refuse(f"--html {html}: {error.strerror or error}")
    verdicts: list[Verdict] = []
    terminal = console()
    styles = {"holds": "green", "broken": "bold red"}
    for verdict in examine(Site(used), chosen):
        verdicts.append(verdict)
        if not as_json:
            style = styles.get(verdict.outcome, "dim")
            terminal.print(line(verdict), style=style, markup=False, soft_wrap=True)
    if html is not None:
        html.write_text(page_of(used, verdicts), encoding="utf-8")
    if as_json:
        put(json.dumps(document(used, verdicts), indent=2) + "\n", sys.stdout)
    else:
        put(f"{summary(verdicts)}\n", sys.stdout)
        for weakness in used.weaknesses():
            put(f"look twice: {weakness}\n", sys.stdout)
    if any(verdict.outcome == "broken" for verdict in verdicts):
        raise typer.Exit(FAILED)
    _judge_strictly(used, strict)


def _judge_strictly(found: Policy, strict: bool) -> None:
    if strict and any(found.weaknesses()):
        raise typer.Exit(FAILED)


def load(file: Path, option: str = "FILE", *, quiet: bool = False) -> Policy:
    """The policy in a file, which can be used here; its warnings are for whoever runs the command.

    Args:
        file: the file.
        option: where it was named.
        quiet: whether its warnings are told in another way.
    """
    from codeact.policy import Policy, PolicyError  # noqa: PLC0415 - see the package's docstring

    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = Policy.load(file)
            found.check()
    except PolicyError as error:
        put("".join(f"codeact: {line.removeprefix(f'{file}: ')}\n" for line in str(error).splitlines()), sys.stderr)
        raise typer.Exit(MISUSED) from error
    except OSError as error:
        refuse(f"{option} {file}: {error.strerror or error}")
    for warning in () if quiet else told:
        put(f"codeact: warning: {warning.message}\n", sys.stderr)
    return found


def _chosen(numbers: Sequence[int] | None) -> tuple[Wall, ...]:
    from codeact.walls import WALLS  # noqa: PLC0415 - see the package's docstring

    if not numbers:
        return WALLS
    unknown = [number for number in numbers if not 1 <= number <= len(WALLS)]
    if unknown:
        refuse(f"--only {unknown[0]}: there are walls 1 to {len(WALLS)}")
    return tuple(wall for wall in WALLS if wall.number in numbers)
