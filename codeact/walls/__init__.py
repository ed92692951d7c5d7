"""Sixteen tests of the walls around a program, run from inside against a deployed policy.

Each sends hostile programs into a sandbox made by the policy and then judges by the host's own record: what came
out, what was called, what was asked of the network, what is on the disk. What a program says of itself counts for
nothing.
"""

from codeact.walls.model import Outcome, Verdict, Wall
from codeact.walls.site import Site
from codeact.walls.table import WALLS, examine

__all__ = ["WALLS", "Outcome", "Site", "Verdict", "Wall", "examine"]
