"""The supply: the builtins of one world, guards included, made where a program first names them.

To make all of them takes longer than most programs run, and most programs name a few. A builtin is reached by its name
in a code object or not at all, so what a text may reach is known before it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

from codeact.engines.restricted.sizes import Sizes
from codeact.engines.restricted.text import Text
from codeact.engines.restricted.world import World


class Supply:
    """The builtins of one world.

    Attributes:
        world: the world.
        sizes: its limits on single operations.
        text: its functions of text.
        made: those that there are, as the interpreter sees them.
    """

    def __init__(self, world: World, fixed: Mapping[str, Any], homes: Mapping[str, Group]) -> None:
        """Make a supply that has only what is the same in every world.

        Args:
            world: the world.
            fixed: what is the same in every world.
            homes: by the name of everything else, what makes it and its like.
        """
        self.world = world
        self.sizes = Sizes(world.limits.memory, world.meter.tick)
        self.text = Text(self.sizes, self._read)
        self.made: dict[str, Any] = dict(fixed)
        self._homes = homes

    def __getitem__(self, name: str) -> Any:
        if name not in self.made:
            self._make(name)
        return self.made[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self.made and name in self._homes:
            self._make(name)  # otherwise its like, made later, would bring the first one back
        self.made[name] = value

    def __contains__(self, name: object) -> bool:
        return name in self.made or name in self._homes

    def get(self, name: str) -> Any:
        """The builtin of that name, or None."""
        return self[name] if name in self else None  # noqa: SIM401 - this is `get`

    def provide(self, code: CodeType) -> None:
        """See that all that a code object may name is there."""
        pending = [code]
        while pending:
            code = pending.pop()
            for name in code.co_names:
                if name not in self.made and name in self._homes:
                    self._make(name)
            pending += [part for part in code.co_consts if type(part) is CodeType]

    def whole(self) -> dict[str, Any]:
        """All of them."""
        for name in self._homes:
            if name not in self.made:
                self._make(name)
        return self.made

    def clear(self) -> None:
        """Be without any: the world is over."""
        self._homes = {}
        self.made.clear()

    def _read(self, target: Any, name: str) -> Any:
        return self[".read"](target, name)

    def _make(self, name: str) -> None:
        self.made.update(self._homes[name](self))


Group = Callable[[Supply], dict[str, Any]]
"""Makes builtins of one world that are made together, by name."""


def homes_of(groups: tuple[Group, ...], specimen: Supply) -> dict[str, Group]:
    """By the name of a builtin the group that makes it; a group may ask for what earlier ones make.

    Args:
        groups: the groups.
        specimen: of a world that is for nothing else, without any homes.
    """
    homes: dict[str, Group] = {}
    for group in groups:
        made = group(specimen)
        specimen.made.update(made)
        homes.update(dict.fromkeys(made, group))
    return homes
