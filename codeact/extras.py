"""What to say where a package is missing that only an extra brings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["MissingExtra"]


class MissingExtra(ModuleNotFoundError):
    """A package is not installed that an extra of codeact brings."""


@contextmanager
def extra(name: str, wanted_by: str) -> Iterator[None]:
    """Import inside it what an extra brings.

    Args:
        name: the extra's.
        wanted_by: what cannot do without, such as the name of the module that imports it.

    Raises:
        MissingExtra: a package is not there; it says what to install. A module of codeact's own that is missing is another
            matter, and raised as it is.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if isinstance(error, MissingExtra) or missing in {"", "codeact", "wasm_runtime"}:
            raise
        msg = f"{wanted_by} needs the package {missing}, which is not installed: pip install 'codeact[{name}]'"
        raise MissingExtra(msg, name=error.name) from None
