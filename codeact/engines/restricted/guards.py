"""Guards: what the rewritten program calls in place of operators and attributes that have to be judged.

They are closures over one world, because a call of a closure is the cheapest call there is. Common cases come first and
are told apart by exact type.
"""

from __future__ import annotations

from itertools import compress
from typing import Any

from codeact.engines.restricted.arithmetic import FLOATS, NUMBERS, SCALARS, make_operators
from codeact.engines.restricted.classes import make_classes
from codeact.engines.restricted.extending import make_extending
from codeact.engines.restricted.formulas import ROOM
from codeact.engines.restricted.groups import make_groups
from codeact.engines.restricted.members import make_members
from codeact.engines.restricted.sizes import INT_BITS
from codeact.engines.restricted.supply import Group
from codeact.engines.restricted.templates import PLAIN
from codeact.engines.restricted.waiting import awaitable

_LONG = 1 << INT_BITS - ROOM

FIXED: dict[str, Any] = {
    ".numbers": NUMBERS,
    ".floats": FLOATS,
    ".scalars": SCALARS,
    ".plain": PLAIN,
    ".type": type,
    ".integer": int,
    ".real": float,
    ".most": _LONG,
    ".least": -_LONG,
    ".slice": slice,
    ".awaitable": awaitable,
    ".next": next,
    ".compress": compress,
}
"""Guards that are the same in every world."""

GUARDS: tuple[Group, ...] = (
    lambda supply: {".stream": supply.world.meter.stream, ".classes": supply.world.own},
    lambda supply: make_operators(supply.sizes, supply.text),
    lambda supply: make_extending(supply.world, supply.sizes),
    lambda supply: make_members(supply.world, supply.sizes, supply.text),
    lambda supply: make_classes(supply.world),
    lambda supply: make_groups(supply.world.meter.tick),
)
"""The guards of one world, by the names that the policy calls them."""
