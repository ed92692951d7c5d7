"""What the modules of one world are made of."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from codeact.engines.restricted.sizes import Sizes
from codeact.engines.restricted.text import Text
from codeact.engines.restricted.world import World


@dataclass(frozen=True, slots=True)
class Parts:
    """A world, with the guards that were made for it."""

    world: World
    guards: dict[str, Any]
    sizes: Sizes
    text: Text


def take(module: str, names: str) -> dict[str, Any]:
    """These names of a real module, those that this Python has."""
    real = import_module(module)
    return {name: getattr(real, name) for name in names.split() if hasattr(real, name)}
