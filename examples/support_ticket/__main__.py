"""`python -m examples.support_ticket` plays the demo."""

from __future__ import annotations

import sys

from rich.console import Console

from .demo import play

if __name__ == "__main__":
    sys.exit(0 if play(Console()).ok else 1)
