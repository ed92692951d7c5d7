"""A guest that forges: whatever it sends, the host stays whole and says what it knows itself."""

from __future__ import annotations

import resource
from typing import Any

import pytest

from codeact import Limits, Sandbox
from tests import tools

NONE = "NONE = {'hint': None, 'cause': None}"

REPORTS: dict[str, str] = {
    "an offset out of this world": "{'kind': 'syntax', 'type': 'E', 'message': '', 'frames': [[1, 'f']], 'offset': 10 ** 15, 'omitted': 0, **NONE}",
    "a line that is infinite": "{'kind': 'runtime', 'type': 'E', 'message': '', 'frames': [[float('inf'), 'f']], 'offset': None, 'omitted': 0, **NONE}",
    "a line that is no number": "{'kind': 'runtime', 'type': 'E', 'message': '', 'frames': [['1', 'f']], 'offset': None, 'omitted': 0, **NONE}",
    "frames that are none": "{'kind': 'runtime', 'type': 'E', 'message': '', 'frames': 5, 'offset': None, 'omitted': 0, **NONE}",
    "a message that is none": "{'kind': 'runtime', 'type': 'E', 'message': {}, 'frames': [], 'offset': None, 'omitted': 0, **NONE}",
    "a list as kind": "{'kind': [], 'type': 'E', 'message': '', 'frames': [], 'offset': None, 'omitted': 0, **NONE}",
    "a hint that is none": "{'kind': 'runtime', 'type': 'E', 'message': '', 'frames': [], 'offset': None, 'omitted': 0, 'hint': [], 'cause': None}",
    "an endless cause": "{'kind': 'runtime', 'type': 'E', 'message': '', 'frames': [], 'offset': None, 'omitted': 0, 'hint': 'x' * 100_000, 'cause': 'x' * 100_000}",
    "nothing at all": "{}",
    "no mapping": "7",
}


@pytest.mark.parametrize("case", REPORTS)
def test_a_forged_report_is_no_more_than_a_failed_program(case: str) -> None:
    program = f"import sys\n{NONE}\nsys.modules['guest.faults'].describe = lambda *_: {REPORTS[case]}\n1 / 0"
    result = Sandbox().run(program)
    assert result.error is not None
    assert result.error.kind == "runtime", result.observation()
    assert len(result.observation()) < 2500


@pytest.mark.parametrize("kind", ["timeout", "fuel", "calls", "output", "host", "nonsense"])
def test_a_guest_cannot_claim_what_only_the_host_knows(kind: str) -> None:
    report = f"{{'kind': {kind!r}, 'type': 'E', 'message': 'm', 'frames': [], 'offset': None, 'omitted': 0, **NONE}}"
    result = Sandbox().run(f"import sys\n{NONE}\nsys.modules['guest.faults'].describe = lambda *_: {report}\n1 / 0")
    assert result.error is not None
    assert result.error.kind == "runtime"


ANSWERS: dict[str, str] = {
    "empty": "''",
    "no line": "'x' * 2_000_000",
    "no JSON": "'x\\n1'",
    "no value": '\'{"finished": true, "bound": [], "unbound": [], "unawaited": [], "exit": null, "fault": null}\\n\'',
    "a deep value": '\'{"finished": true, "bound": [], "unbound": [], "unawaited": [], "exit": null, "fault": null}\\n\' + \'[\' * 200_000',
    "many parts": '\'{"finished": true, "bound": [], "unbound": [], "unawaited": [], "exit": null, "fault": null}\\n[\' + \'[],\' * 4_000_000 + \'1]\'',
    "a huge value": '\'{"finished": true, "bound": [], "unbound": [], "unawaited": [], "exit": null, "fault": null}\\n"\' + \'x\' * 60_000_000 + \'"\'',
    "names that are none": '\'{"finished": true, "bound": [1], "unbound": [], "unawaited": [], "exit": null, "fault": null}\\n1\'',
    "an exit that is none": '\'{"finished": true, "bound": [], "unbound": [], "unawaited": [], "exit": 1.5, "fault": null}\\n1\'',
    "a list": "'[]\\n1'",
}


@pytest.mark.parametrize("case", ANSWERS)
def test_a_forged_answer_is_no_more_than_a_failed_program(case: str) -> None:
    program = f"import sys\nsys.modules['guest.exchange']._reply = lambda *_: {ANSWERS[case]}\n1"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = Sandbox(limits=Limits(timeout=20)).run(program)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert result.error is not None
    assert result.error.kind in {"runtime", "value"}, result.observation()[:1000]
    assert grown < 500_000, "kilobytes: the guest's own memory and one bounded copy"


def test_calls_are_on_record_whatever_the_guest_says() -> None:
    program = (
        "import sys\ntools.echo(1)\ntools.echo(2)\n"
        "sys.modules['guest.exchange']._reply = lambda *_: "
        '\'{"finished": true, "bound": [], "unbound": [], "unawaited": [], "exit": null, "fault": null}\\n"no calls"\'\n1'
    )
    result = Sandbox([tools.echo]).run(program)
    assert result.value == "no calls"
    assert [call.state for call in result.calls] == ["ok", "ok"]


RAW: dict[str, tuple[str, str]] = {
    "no JSON": ("'echo', 'x'", "TypeError"),
    "no pair": ("'echo', '[]'", "TypeError"),
    "no mapping": ("'echo', '[[], []]'", "TypeError"),
    "keys that are no names": ('\'echo\', \'[[], {"$": "dict", "v": [[1, 2]]}]\'', "TypeError"),
    "an unknown row": ("'echo', '[[{\"$\": \"no\"}], {}]'", "TypeError"),
    "deep": ("'echo', '[[' + '[' * 150_000 + ']' * 150_000 + '], {}]'", "TypeError"),
    "many": ("'echo', '[[' + '[],' * 4_000_000 + '1], {}]'", "TypeError"),
    "large": ("'echo', '[[\"' + 'x' * 60_000_000 + '\"], {}]'", "TypeError"),
    "a string without an end": ("'echo', '\"' + '\\\\\"' * 100_000 + ',' * 10_001", "TypeError"),
    "a dunder": ("'__class__', '[[], {}]'", "AttributeError"),
    "a long name": ("'x' * 30_000_000, '[[], {}]'", "AttributeError"),
    "an empty name": ("'', '[[], {}]'", "AttributeError"),
}


@pytest.mark.parametrize("case", RAW)
def test_a_forged_call_is_refused(case: str) -> None:
    sent, refusal = RAW[case]
    result = Sandbox([tools.echo], limits=Limits(timeout=20)).run(
        f"import wit_world, json\njson.loads(wit_world.call({sent}, 1)[1:])"
    )
    value: Any = result.value
    assert result.ok, result.observation()[:1000]
    assert value[0] == refusal
    assert len(value[1]) < 1000
    assert [call.state for call in result.calls] == ["refused"]
