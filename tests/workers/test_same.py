"""The same API and the same contract in workers: tests of the engines, with every world in another process."""

from __future__ import annotations

import pytest

from codeact.policy import Policy
from codeact.walls import WALLS, Site, Wall, examine
from tests.test_async import test_it_does_what_is_meant  # noqa: F401
from tests.test_contract import *  # noqa: F403
from tests.test_door import *  # noqa: F403
from tests.test_door import test_a_tool_may_run_programs_itself
from tests.test_lifecycle import test_a_forked_child_has_none_of_its_parents_sessions  # noqa: F401
from tests.test_limits import test_limit_stops_the_run, test_limits_may_be_as_large_as_a_word  # noqa: F401
from tests.test_session import (  # noqa: F401
    session,
    test_a_cancelled_turn_costs_the_world_and_nothing_else,
    test_a_history_makes_the_same_session_elsewhere,
    test_a_traceback_through_an_earlier_program,
    test_a_world_that_is_lost_is_said_to_be_lost,
    test_async_turns,
    test_everything_a_program_leaves_the_next_one_finds,
    test_names_survive_an_exception_and_the_note_says_which,
    test_names_survive_what_cannot_be_returned,
    test_sessions_do_not_see_each_other,
)
from tests.walls.conftest import TEXT

del test_a_tool_may_run_programs_itself  # deeper than there are workers; see `test_waiting`

pytestmark = pytest.mark.usefixtures("everywhere")

SLOW = {9}
"""Walls that take seconds; endless loops end in `test_limit_stops_the_run` too."""


@pytest.mark.parametrize("wall", [wall for wall in WALLS if wall.number not in SLOW], ids=lambda wall: str(wall.number))
def test_the_wall_holds(wall: Wall) -> None:
    (found,) = examine(Site(Policy.parse(TEXT.format(engine="wasm"))), [wall])
    assert found.outcome == "holds", found.evidence
