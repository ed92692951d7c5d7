"""A guest that forges: whatever it sends, the host stays whole and says what it knows itself."""

from __future__ import annotations

import hashlib
import resource
import time
from typing import Any

import pytest

from codeact import Limits, Sandbox, tool
from tests import tools
from tests.conftest import MakeSandbox

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


PARCELS: dict[str, str] = {
    "a path upwards": "'8\\0../b\\0' + '1\\0x'",
    "an absolute path": "'7\\0/e\\0' + '1\\0xx'",
    "contents that are not there": "'9\\0a\\0' + '99999\\0x'",
    "no bytes": "'4\\0a\\0' + '1\\0\\u20ac'",
    "no parcel": "'what'",
    "more than the workspace holds": "'11\\0a\\0' + '40000000\\0' + 'x' * 40_000_000",
    "more files than there may be": "'9000\\0' + 'a\\0' * 4500",
}


@pytest.mark.parametrize("case", PARCELS)
def test_forged_files_are_no_more_than_a_failed_program(case: str) -> None:
    head = '{"finished": true, "bound": [], "unbound": [], "unawaited": [], "exit": null, "fault": null}\\n1\\n'
    program = f"import sys\nsys.modules['guest.exchange']._reply = lambda *_: '{head}' + {PARCELS[case]}\n1"
    result = Sandbox(limits=Limits(timeout=20)).run(program)
    assert result.error is not None
    assert result.error.type == "ProtocolError", result.observation()[:1000]
    assert result.files == ()


def test_a_digest_is_the_hosts() -> None:
    head = '{"finished": true, "bound": [], "unbound": [], "unawaited": [], "exit": null, "fault": null}\\n1\\n'
    program = f"import sys\nsys.modules['guest.exchange']._reply = lambda *_: '{head}4\\0a\\0' + '1\\0x'\n1"
    (file,) = Sandbox().run(program).files
    assert (file.path, file.data, file.digest) == ("a", b"x", hashlib.sha256(b"x").hexdigest())


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


WAITS: dict[str, tuple[str, list[str], list[str]]] = {
    # what is sent and how long it waits; the first characters of each answer's text; the states of the calls
    "nothing": ("'', 0", [], []),
    "nothing, for ever": ("'', -1", [], []),
    "nothing, for longer than that": ("'', -2 ** 63", [], []),
    "a call": ("'+1 fetch [[1],{}]', -1", ["0 +2"], ["ok"]),
    "a call twice": ("'+1 fetch [[1],{}]\\n+1 fetch [[2],{}]', -1", ["0 +2", "1 +4"], ["ok", "ok"]),
    "a call of a sync tool": ("'+1 echo [[1],{}]', -1", ["0 +1"], ["ok"]),
    "a call of nothing": ("'+', 0", ['0 -["TypeError"'], ["refused"]),
    "a call of what is not there": ("'+1 nope [[],{}]', 0", ['0 -["AttributeError"'], ["refused"]),
    "a call without a line": ("'+x fetch [[1],{}]', -1", ["0 +2"], ["ok"]),
    "a call at a line out of this world": ("'+' + '9' * 5000 + ' fetch [[1],{}]', -1", ["0 +2"], ["ok"]),
    "no arguments": ("'+1 fetch', 0", ['0 -["TypeError"'], ["refused"]),
    "arguments that are none": ("'+1 fetch x', 0", ['0 -["TypeError"'], ["refused"]),
    "deep arguments": ("'+1 fetch [[' + '[' * 150_000 + ']' * 150_000 + '],{}]', 0", ['0 -["TypeError"'], ["refused"]),
    "large arguments": ("'+1 fetch [[\"' + 'x' * 60_000_000 + '\"],{}]', 0", ['0 -["TypeError"'], ["refused"]),
    "a long name": ("'+1 ' + 'x' * 30_000_000 + ' [[],{}]', 0", ['0 -["AttributeError"'], ["refused"]),
    "no marks": ("'x\\ny\\n\\n\\n', 0", ['0 -["TypeError"', '1 -["TypeError"'], ["refused", "refused"]),
    "giving up nothing": ("'-0\\n-\\n--1\\n-' + '9' * 100_000 + '\\n-x\\n-\\u0663', 0", [], []),
    "giving up what has begun": ("'+1 stuck_async [[],{}]\\n-0', -1", [], ["unfinished"]),
    "giving up twice": ("'+1 stuck_async [[],{}]\\n-0\\n-0', -1", [], ["unfinished"]),
}


@pytest.mark.parametrize("case", WAITS)
def test_a_forged_wait_is_harmless(case: str) -> None:
    sent, answers, states = WAITS[case]
    result = Sandbox([tools.fetch, tools.echo, tools.stuck_async], limits=Limits(timeout=20)).run(
        f"import wit_world\nsent = {sent}\nanswer = wit_world.wait(*sent, 1)\n"
        f"while answer.count('\\n') + bool(answer) < {len(answers)}:\n    answer += '\\n' + wit_world.wait('', -1, 1)\n"
        "sorted(line[:300] for line in answer.split('\\n') if line)"
    )
    assert result.ok, result.observation()[:1000]
    told: Any = result.value
    assert len(told) == len(answers)
    for line, begin in zip(told, answers, strict=True):
        assert line.startswith(begin), told
    assert [call.state for call in result.calls] == states


ABORTS: dict[str, tuple[str, str]] = {
    # what is sent; what comes of it
    "no such door": ("999, ['a', 'b', 1]", "runtime"),
    "what is no text": ("0, [1, 2, 3]", "runtime"),
    "too little": ("0, ['a']", "runtime"),
    "a line below zero": ("0, ['a', 'b', -1]", "runtime"),
    "texts that do not fit in twice": ("0, ['x' * 100_000_000, 'y' * 50_000_000, 1]", "memory"),
}


@pytest.mark.parametrize("case", ABORTS)
def test_the_interpreter_inside_gives_up_over_doors_that_are_used_wrongly(case: str) -> None:
    sent, kind = ABORTS[case]
    sandbox = Sandbox([tools.echo])
    error = sandbox.run(f"import componentize_py_runtime as runtime\nruntime.call_import({sent})").error
    assert error is not None
    assert error.kind == kind, error
    assert sandbox.run("tools.echo(1)").value == 1


def test_a_flood_of_calls_is_stopped_at_the_limit() -> None:
    program = (
        "import wit_world\nwhile True:\n    wit_world.wait('\\n'.join(['+1 stuck_async [[],{}]'] * 100_000), 0, 1)"
    )
    result = Sandbox([tools.stuck_async], limits=Limits(timeout=20, concurrency=5)).run(program)
    assert result.error is not None
    assert result.error.kind == "calls"
    states = [call.state for call in result.calls]
    assert (states.count("unfinished"), states.count("refused")) == (5, Limits().calls - 5)


def test_answers_that_nobody_fetches_are_no_more_than_calls_under_way() -> None:
    @tool
    def big() -> str:
        """A megabyte."""
        return "x" * 1_000_000

    program = "import wit_world\nwhile True:\n    wit_world.wait('\\n'.join(['+1 big [[],{}]'] * 1000), 0, 1)"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = Sandbox([big], limits=Limits(timeout=20, concurrency=20, calls=2000)).run(program)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000, "kilobytes"
    assert result.error is not None
    assert result.error.kind == "calls"
    assert len(result.calls) == 2000
    assert [call.state for call in result.calls].count("ok") < 50


@pytest.mark.parametrize("flood", ["'-0\\n' * 9_000_000", "'\\n' * 30_000_000", "'-' + '0\\n-' * 9_000_000"])
def test_a_flood_of_lines_ends_with_its_run(flood: str) -> None:
    began = time.monotonic()
    result = Sandbox([tools.stuck_async], limits=Limits(timeout=1.0)).run(
        f"import wit_world\nwit_world.wait('+1 stuck_async [[],{{}}]', 0, 1)\nflood = {flood}\nwhile True:\n    wit_world.wait(flood, 0, 1)"
    )
    assert time.monotonic() - began < 15
    assert result.error is not None
    assert result.error.kind == "timeout"


def test_nothing_begins_when_the_run_is_over() -> None:
    program = (
        "import wit_world\nwhile True:\n    try:\n        wit_world.wait('+1 stuck_async [[],{}]\\n-0', -1, 1)\n"
        "        wit_world.wait('+1 fetch [[1],{}]', -1, 1)\n    except BaseException:\n        pass"
    )
    result = Sandbox([tools.stuck_async, tools.fetch], limits=Limits(timeout=0.5)).run(program)
    assert result.error is not None
    assert result.error.kind in {"timeout", "calls"}
    assert result.usage.wall < 10


def test_a_guest_that_loses_count_loses_its_answers_only() -> None:
    program = (
        "import asyncio, sys\ntraffic = sys.modules['guest.tools'].traffic\nasync def f():\n    return await tools.fetch(2)\n"
        "traffic._sent = 7\ntry:\n    await asyncio.wait_for(f(), 0.2)\nexcept TimeoutError:\n    r = 'lost'\nr"
    )
    result = Sandbox([tools.fetch]).run(program)
    assert result.value == "lost", result.observation()
    assert [call.state for call in result.calls] == ["ok"]


def test_names_that_are_none_are_not_told(make: MakeSandbox) -> None:
    long = "x" * 5_000
    result = make().run(f"exec('{long} = 1')\ny = 2")
    assert result.note is not None
    assert "y" in result.note
    assert len(result.note) < 1000
    forged = "globals().update({'\\ud800': 1, 'a\\nvalue: 1': 2, '': 3, 'z': 4})\npass"
    note = Sandbox().run(forged).note
    assert note is not None
    assert "it bound z." in note


UNAWAITED = ("7", "'abc'", "[[1, 2]]", "[['a', -1]]", "[['a', 1e300]]", "{'a': 1}", "[['a', 1, 2]]", "[['x' * 10_000_000, 1]]", "[['a', 1]] * 100_000")  # fmt: skip


@pytest.mark.parametrize("forged", UNAWAITED)
def test_forged_calls_that_were_not_awaited(forged: str) -> None:
    result = Sandbox().run(f"import sys\nsys.modules['guest.tools'].ledger.close = lambda: {forged}\n1")
    assert result.ok or (result.error is not None and result.error.type == "ProtocolError")
    assert len(result.observation()) < 1000
