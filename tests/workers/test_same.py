"""The same API and the same contract in workers: tests of the engines, with every world in another process."""

from __future__ import annotations

import pytest

from tests.test_contract import *  # noqa: F403
from tests.test_door import *  # noqa: F403
from tests.test_door import test_a_tool_may_run_programs_itself
from tests.test_events import test_every_end_is_on_record  # noqa: F401
from tests.test_forgery import test_a_forged_answer_is_no_more_than_a_failed_program  # noqa: F401
from tests.test_lifecycle import test_a_forked_child_has_none_of_its_parents_sessions  # noqa: F401
from tests.test_limits import test_limit_stops_the_run  # noqa: F401
from tests.test_machine import test_a_forked_child_can_run  # noqa: F401
from tests.test_session import *  # noqa: F403

del test_a_tool_may_run_programs_itself  # deeper than there are workers; see `test_crew`

pytestmark = pytest.mark.usefixtures("everywhere")
