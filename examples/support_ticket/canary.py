"""Secrets planted on the host, to see whether any of them comes out of a sandbox."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

VARIABLE = "FERNWHARF_API_TOKEN"


@dataclass(frozen=True, slots=True)
class Canary:
    """A secret in an environment variable, another one in a file that this process can read.

    Attributes:
        token: the value of the environment variable.
        file: where the other secret lies.
        content: what the file holds.
    """

    token: str
    file: Path
    content: str

    def leaks(self, text: str) -> list[str]:
        """Which secrets, or which well-known file of the host, a text gives away."""
        signs = {f"${VARIABLE}": self.token, str(self.file): self.content, "/etc/passwd": "root:"}
        return [what for what, sign in signs.items() if sign in text]


@contextmanager
def planted() -> Iterator[Canary]:
    """Plant fresh secrets, and take them away afterwards."""
    before = os.environ.get(VARIABLE)
    with TemporaryDirectory(prefix="fernwharf-") as folder:
        canary = Canary(secrets.token_hex(16), Path(folder) / "credentials", secrets.token_hex(16))
        canary.file.write_text(canary.content, encoding="utf-8")
        os.environ[VARIABLE] = canary.token
        try:
            yield canary
        finally:
            if before is None:
                del os.environ[VARIABLE]
            else:
                os.environ[VARIABLE] = before
