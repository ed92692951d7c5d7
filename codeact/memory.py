"""How much memory the process holds."""

from __future__ import annotations

import os
from pathlib import Path


def resident() -> int | None:
    """Bytes of the process that are in memory now; None where the kernel does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
