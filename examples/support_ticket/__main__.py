"""`python -m examples.support_ticket` plays the demo."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from .data import SEED
from .demo import ENGINES, play


def main() -> int:
    """Play it as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m examples.support_ticket", description="Play the demo.")
    parser.add_argument("--engine", choices=(*ENGINES, "both"), default="both")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep the outbox and the audit log there")
    options = parser.parse_args()
    engines = ENGINES if options.engine == "both" else (options.engine,)
    try:
        return 0 if play(Console(), engines=engines, seed=options.seed, out=options.out).ok else 1
    except FileExistsError as error:
        parser.error(f"--out: {error}")


if __name__ == "__main__":
    sys.exit(main())
