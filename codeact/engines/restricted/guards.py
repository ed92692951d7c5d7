"""Guards: what the rewritten program calls in place of operators and attributes that have to be judged.

They are closures over one world, made when the world is made, because a call of a closure is the cheapest call
there is. Common cases come first and are told apart by exact type.
"""

from __future__ import annotations

from itertools import compress
from typing import Any

from codeact.engines.restricted.arithmetic import FLOATS, NUMBERS, SCALARS, make_operators
from codeact.engines.restricted.classes import make_classes
from codeact.engines.restricted.extending import make_extending
from codeact.engines.restricted.groups import make_groups
from codeact.engines.restricted.members import make_members
from codeact.engines.restricted.sizes import Sizes
from codeact.engines.restricted.text import Text
from codeact.engines.restricted.waiting import awaitable
from codeact.engines.restricted.world import World


def make_guards(world: World, sizes: Sizes, text: Text) -> dict[str, Any]:
    """The guards of one world, by the names that the policy calls them."""
    return {
        **make_operators(sizes, text),
        **make_extending(world, sizes),
        **make_members(world, sizes, text),
        **make_classes(world),
        **make_groups(world.meter.tick),
        ".numbers": NUMBERS,
        ".floats": FLOATS,
        ".classes": world.own,
        ".scalars": SCALARS,
        ".type": type,
        ".slice": slice,
        ".awaitable": awaitable,
        ".next": next,
        ".compress": compress,
        ".stream": world.meter.stream,
    }
