"""The sixteen walls, in order."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from codeact.walls import bounds, files, network, processes, sessions
from codeact.walls.model import Absent, Broken, Outcome, Verdict, Wall
from codeact.walls.site import Record, Site

WALLS = (
    Wall(1, "a file of the host's cannot be read", files.canary_file),
    Wall(2, "nothing is written outside the workspace", files.outside),
    Wall(3, "an input cannot be changed", files.inputs),
    Wall(4, "home, policy and the runtime's own files are absent", files.own_files),
    Wall(5, "an allowed destination works and is on record", network.allowed),
    Wall(6, "no other destination, socket or name look-up works", network.elsewhere),
    Wall(7, "another operation, path or account is refused there", network.operations),
    Wall(8, "the environment's secrets are absent", processes.environment),
    Wall(9, "an endless loop is stopped and the limit named", bounds.endless),
    Wall(10, "a memory bomb is stopped and the limit named", bounds.memory),
    Wall(11, "no process, thread or fork", processes.spawning),
    Wall(12, "nothing of an earlier session is left", sessions.earlier),
    Wall(13, "another tenant's data is out of reach", sessions.tenants),
    Wall(14, "a flood of output is cut and announced", bounds.flood),
    Wall(15, "the quota of the workspace holds", bounds.quota),
    Wall(16, "with the boundary broken nothing starts", processes.no_boundary),
)


def examine(site: Site, walls: Iterable[Wall] = WALLS) -> Iterator[Verdict]:
    """Attack walls, one after the other.

    Args:
        site: the deployment.
        walls: which ones.
    """
    for wall in walls:
        begun = time.monotonic()
        outcome: Outcome = "holds"
        site.record = Record()
        try:
            evidence = wall.check(site)
        except Absent as absent:
            outcome, evidence = "not applicable", str(absent)
        except Broken as broken:
            outcome, evidence = "broken", str(broken)
        except Exception as error:  # noqa: BLE001 - a wall that cannot be tested has not been shown to hold
            outcome, evidence = "broken", f"the test itself failed: {type(error).__name__}: {error}"
        yield Verdict(wall.number, wall.name, outcome, evidence, time.monotonic() - begun)
