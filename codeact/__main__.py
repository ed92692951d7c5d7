"""`python -m codeact` is the command `codeact`."""

from __future__ import annotations

from codeact.cli import main

if __name__ == "__main__":
    main()
