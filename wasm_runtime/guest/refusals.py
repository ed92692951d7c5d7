"""Functions that are there so that calling them says why they cannot work."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn


def refusing(error: type[Exception], *arguments: object) -> Callable[..., NoReturn]:
    """A function that takes anything and raises this error, made anew at every call."""

    def refuse(*_: object, **_options: object) -> NoReturn:
        raise error(*arguments)

    return refuse
