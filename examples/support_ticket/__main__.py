"""`python -m examples.support_ticket` plays the demo."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from codeact.messages import Model

from .data import SEED
from .demo import ENGINES, play, serve
from .models import named


def main(arguments: Sequence[str] | None = None) -> int:
    """Play it as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m examples.support_ticket", description="Play the demo.")
    parser.add_argument("--engine", choices=ENGINES, help="where the programs run; by default on each")
    parser.add_argument("--seed", type=int, default=SEED, help="what the company's data is made from")
    parser.add_argument("--out", type=Path, metavar="DIR", help="a new folder for journal, outbox, log and pages")
    parser.add_argument("--model", help="anthropic:NAME or openai:NAME; by default a script, without a network")
    parser.add_argument("--base-url", metavar="URL", help="an endpoint that speaks like that provider")
    options = parser.parse_args(arguments)
    given = {"seed": options.seed, "out": options.out}
    engines = ENGINES if options.engine is None else (options.engine,)
    try:
        if options.model is None:
            done = play(Console(), engines=engines, **given).ok
        else:
            done = serve(Console(), _model(parser, options), engine=engines[0], **given).ok
    except FileExistsError as error:
        parser.error(f"--out {options.out}: {error.strerror}")
    except (LookupError, ModuleNotFoundError) as error:
        parser.error(str(error))
    return 0 if done else 1


def _model(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Model:
    try:
        return named(options.model, options.base_url)
    except ValueError as error:
        parser.error(f"--model {error}")


if __name__ == "__main__":
    sys.exit(main())
