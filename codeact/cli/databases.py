"""The databases that commands are given."""

from __future__ import annotations

import stat
from contextlib import closing
from pathlib import Path

from codeact.cli.terminal import refuse


def holds(path: Path, table: str, option: str) -> bool:
    """Whether a file is a database with a table. It is not made, and nothing in it is changed.

    Args:
        path: the file.
        table: the table.
        option: where the file was named.
    """
    import sqlite3  # noqa: PLC0415 - see the package's docstring

    try:
        # Not opened: to close a file takes from this process what SQLite has locked in it.
        if not stat.S_ISREG(path.stat().st_mode):  # whose errors say more than SQLite's
            refuse(f"{option} {path}: it is no file")
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            found = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))
            return found.fetchone() is not None
    except OSError as error:
        refuse(f"{option} {path}: {error.strerror or error}")
    except (sqlite3.Error, ValueError) as error:
        refuse(f"{option} {path}: {error}")
