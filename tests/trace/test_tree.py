"""What a trace is made of, and what of it is left out and said to be."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import scene

from codeact.engines import Answer, Refusal
from codeact.journal import JournalError
from codeact.limits import Limits
from codeact.outbox import Step
from codeact.renderings import visible
from codeact.trace import Trace, page_of, rows_of, trace_of
from codeact.trace.tree import Failure, RunNode, Spoken
from codeact.trace.wording import day_of


def _run(record: scene.RunRecord) -> RunNode:
    (found,) = scene.trace(scene.Shelf([record]), wanted=record.id).runs
    return found


def _text(trace: Trace) -> str:
    return "\n".join(row.text for row in rows_of(trace))


def test_what_was_said_and_run_is_in_the_order_of_time() -> None:
    shelf, entries = scene.story()
    trace = scene.trace(shelf, entries)
    order = [step.number if isinstance(step, RunNode) else step.speaker for step in trace.steps]
    assert order == ["host", "model", 1, "observation", "model", 2, "observation", "model", "end"]
    assert trace.ended == "answered"
    assert trace.asked is trace.steps[0]
    assert trace.answer is trace.steps[-2]


def test_each_line_has_its_calls() -> None:
    shelf, entries = scene.story()
    run = scene.trace(shelf, entries).runs[1]
    assert [call.seq for call in run.program[4].calls] == [2, 3, 4]
    assert (len(run.program[13].calls), run.program[13].more) == (3, 1)
    assert sum(len(line.calls) + line.more for line in run.program) == 12


def test_proposals_show_what_became_of_them() -> None:
    shelf, entries = scene.story()
    run = scene.trace(shelf, entries).runs[1]
    assert [(one.ended, one.tone) for one in run.proposals] == [
        ("done", "good"),
        ("approved", "wary"),
        ("refused", "bad"),
    ]
    fate = run.proposals[2].fate
    assert fate is not None
    assert (fate.by, fate.reason) == ("ada", "not her charge")


def test_all_that_has_happened_to_a_proposal_is_shown() -> None:
    shelf, entries = scene.story()
    steps = {
        entries[0].id: (
            Step("proposed", 0.0),
            Step("approved", 1.0, by="ada"),
            Step("started", 2.0),
            Step("unknown", 3.0, error="TimeoutError: <b>"),
            Step("done", 4.0, by="bob", reason="looked"),
        ),
        entries[1].id: [Step("proposed", float(number)) for number in range(25)],
    }
    trace = trace_of(shelf, "T-100", lambda _task: entries, lambda entry: steps.get(entry, ()))
    page = re.sub(r"<[^>]+>", "\n", page_of(trace))
    for told, escaped in ((_text(trace), "<b>"), (page, "&lt;b&gt;")):
        lines = [line.strip() for line in told.splitlines()]
        first = lines.index("1970-01-01 00:00:01 UTC approved by ada")
        assert [line for line in lines[first:] if line][:4] == [
            "1970-01-01 00:00:01 UTC approved by ada",
            "1970-01-01 00:00:02 UTC started",
            f"1970-01-01 00:00:03 UTC unknown: TimeoutError: {escaped}",
            "1970-01-01 00:00:04 UTC done by bob: looked",
        ]
        assert "… 5 earlier steps left out …" in lines
        assert "1970-01-01 00:00:05 UTC proposed" in lines
        assert "1970-01-01 00:00:04 UTC proposed" not in lines
        assert "not her charge" in told, "what has no history is shown as it is"


def test_without_an_outbox_proposals_are_proposed_or_dropped() -> None:
    one = scene.proposal(1, "refund", charge_id="ch_1")
    assert _run(scene.run(ended=scene.result(proposals=(one,)))).proposals[0].ended == "proposed"
    shelf = scene.Shelf([scene.run(ended=scene.result(proposals=(one,)))])
    for told in (_text(scene.trace(shelf)), page_of(scene.trace(shelf))):
        assert "hat became of it is not known" in told
    failed = scene.result(ok=False, error=scene.error(), proposals=(one,))
    assert _run(scene.run(ended=failed)).proposals[0].ended == "dropped"


def test_what_was_tried_is_found() -> None:
    shelf, entries = scene.story()
    found = [
        (run.number, type(what).__name__, getattr(what, "seq", None))
        for run, what in scene.trace(shelf, entries).refused()
    ]
    assert found == [
        (1, "Failure", None),
        (2, "Line", None),
        (2, "CallNode", 5),
        (2, "ProposalNode", 3),
    ]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("tools.get_charges(1); tools['get_charges'](1); actions.refund(1)", ()),
        ("tools.delete_all()", ("tools.delete_all",)),
        ('x = tools [ "rm" ](tools.keys())', ("tools.rm",)),
        ("actions.get_charges(tools.refund)", ("actions.get_charges", "tools.refund")),
        ("mytools.x; print(tools); tools[name]", ()),
    ],
)
def test_what_was_not_granted_is_named_at_its_line(line: str, named: tuple[str, ...]) -> None:
    run = _run(scene.run(f"1\n{line}\n", ended=scene.result()))
    assert [one.not_granted for one in run.program] == [(), named]


@pytest.mark.parametrize("kind", ["denied", "timeout", "fuel", "memory", "calls", "host"])
def test_what_was_stopped_is_no_mistake(kind: scene.Kind) -> None:
    record = scene.run(ended=scene.result(ok=False, error=scene.error(kind)))
    ((_, what),) = scene.trace(scene.Shelf([record]), wanted=record.id).refused()
    assert isinstance(what, Failure)
    told = {"denied": "denied", "host": "failed"}.get(kind, f"stopped: {kind}")
    assert _run(record).ended == told


def test_what_was_used_is_told_beside_the_limit() -> None:
    costs = dict(_run(scene.run(ended=scene.result(stdout="four"))).costs)
    assert costs["timeout"] == "250 ms of 5.0 s"
    assert costs["fuel"] == "123,456 of 100,000,000,000"
    assert costs["output"] == "4 of 100,000"
    assert costs["file_types"] == "not set"


def test_a_run_that_has_not_ended_says_so() -> None:
    calls = [scene.call(1), scene.call(2, state=None)]
    record = scene.run(calls=calls)
    run = _run(record)
    assert (run.ended, run.tone, run.calls_made) == ("not ended", "wary", (("ok", 1), (None, 1)))
    told = _text(scene.trace(scene.Shelf([record]), wanted=record.id))
    assert f"program 1: not ended ({day_of(record.head.began)})\n" in told
    assert "calls: 1 ok, 1 not ended" in told


def _crashed() -> scene.Shelf:
    """A task whose process was killed in its first program, and that goes on with the same one; it is killed again."""
    talk = [scene.said(1, "said", 0, text="do it"), scene.said(2, "reply", 1, text="", programs=[{"code": "1 + 1"}])]
    again = scene.run("1 + 1", calls=[scene.call(1)], ended=scene.result(), number=2)
    return scene.Shelf([scene.run("1 + 1"), again, scene.run("2 + 2", number=3)], talk)


def test_a_task_that_was_killed_is_told_as_it_is() -> None:
    trace = scene.trace(_crashed())
    assert trace.ended == "not ended; it goes on when it is run again under the same id"
    told = _text(trace)
    assert not any(line.isspace() for line in told.splitlines())
    assert told.count("calls: not on record, because it has not ended") == 2
    assert "program 2: ok (" in told
    assert [run.same_as for run in trace.runs] == [None, 1, None]
    assert told.count("the same text as program 1") == 1
    page = page_of(trace)
    assert page.count("its calls are not on record") == 2
    assert "the same text as program 1" in page
    assert "0 calls" not in page


def test_a_killed_programs_bar_ends_where_the_next_one_begins() -> None:
    bars = re.findall(r'<rect x="([\d.]+)%" y="25%" width="([\d.]+)%"', page_of(scene.trace(_crashed())))
    ends = [round(float(left) + float(width)) for left, width in bars]
    began = [round(float(left)) for left, _ in bars]
    first, second = began.index(33), began.index(67)
    assert ends[first] == began[second]


@pytest.mark.parametrize(("count", "ended"), [(1, "ok"), (2, "ok (the last of its runs)")])
def test_a_task_of_runs_alone_ended_as_the_last_of_them(count: int, ended: str) -> None:
    shelf = scene.Shelf([scene.run(ended=scene.result(), number=number) for number in range(1, count + 1)])
    assert scene.trace(shelf).ended == ended


def test_a_limit_of_whole_seconds_is_told_in_seconds() -> None:
    record = replace(scene.run(ended=scene.result()), limits=Limits(timeout=3))
    assert dict(_run(record).costs)["timeout"] == "250 ms of 3.0 s"


def test_programs_that_were_not_run_are_shown() -> None:
    talk = [
        scene.said(1, "said", 0, text="do it"),
        scene.said(2, "reply", 1, text="", programs=[{"code": "1 + 1"}, {"code": "2 + 2"}, {"code": None, "unreadable": "no JSON"}]),
    ]  # fmt: skip
    shelf = scene.Shelf([scene.run("1 + 1\n", ended=scene.result())], talk)
    trace = scene.trace(shelf)
    (reply,) = [step for step in trace.steps if isinstance(step, Spoken) and step.speaker == "model"]
    assert [one.text.head for one in reply.not_run] == ["2 + 2", "no JSON"]
    assert trace.ended.startswith("not ended")
    assert "2 + 2" in _text(trace)


def test_entries_of_another_kind_are_shown_as_they_are() -> None:
    talk = [
        scene.said(1, "pause", 0, why="budget", spent=[1, {"a": None}]),
        scene.ConversationEntry(2, "reply", ["odd"], scene.BEGAN),
    ]
    trace = scene.trace(scene.Shelf(talk=talk))
    assert [step.speaker for step in trace.steps if isinstance(step, Spoken)] == ["other", "other"]
    assert '"why": "budget"' in _text(trace)


def test_a_run_that_cannot_be_read_leaves_the_others() -> None:
    class Damaged(scene.Shelf):
        def run(self, id: str) -> scene.RunRecord:  # noqa: A002 - as the journal calls it
            found = super().run(id)
            if found.head.number == 1:
                msg = "the record is damaged"
                raise JournalError(msg)
            return found

    records = [scene.run(ended=scene.result(), number=number) for number in (1, 2)]
    trace = scene.trace(Damaged(records))
    assert [run.number for run in trace.runs] == [2]
    assert "a run that cannot be read" in _text(trace)
    assert "the record is damaged" in page_of(trace)


def test_cuts_are_announced() -> None:
    calls = [
        *(scene.call(seq, line=2) for seq in range(1, 5001)),
        scene.call(5001, line=2, state="refused", answer=Refusal("AttributeError", "no such tool")),
        scene.call(5002, "long", args=("x" * 10_000,), answer=Answer("y" * 10_000), state="failed"),
    ]
    source = "a\nb\n" + "c" * 5000 + "\n" + "d\n" * 200_000
    record = scene.run(source, calls=calls, ended=scene.result(stdout="out\n" * 100_000, value="v" * 20_000))
    trace = scene.trace(scene.Shelf([record]), wanted=record.id)
    run = trace.runs[0]
    assert len(run.calls) == 2_000
    assert [call.seq for call in run.calls[-2:]] == [5001, 5002]
    assert run.calls_left_out == 3_002
    assert len(run.program) + run.lines_left_out == 200_003
    for told in (_text(trace), page_of(trace)):
        assert "3,002 more calls left out" in told
        assert f"{run.lines_left_out:,} more lines" in told
        assert "3,000 characters left out" in told
        assert "360,000 characters left out" in told
        assert "8,002 characters left out" in told
        assert "10,002 characters left out" in told
        assert len(told) < 4_000_000


def test_many_runs_are_cut_too() -> None:
    records = [scene.run("x = 1\n" * 10_000, ended=scene.result(stdout="o" * 90_000), number=n) for n in range(1, 301)]
    trace = scene.trace(scene.Shelf(records))
    assert (len(trace.runs), trace.runs_left_out) == (200, 100)
    assert trace.runs[-1].id == records[-1].id
    for told in (_text(trace), page_of(trace)):
        assert "100 runs between the first and the last ones left out" in told
        assert len(told) < 8_000_000


def test_nothing_in_the_text_steers_a_terminal() -> None:
    texts = ["\x1b[2J\x9b1m", "a\rb", "\u202eevil\u2066", "\x00", "\ud800", "line\nprogram 99: ok (forged)"]
    shelf, entries = scene.hostile(texts)
    rows = [row.text for row in rows_of(scene.trace(shelf, entries))]
    assert all(row == visible(row) and "\n" not in row for row in rows)
    "\n".join(rows).encode()
    assert not any(row.startswith("program 99") for row in rows)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ü \t\n", "plain ü \t\n"),
        ("a\rb\x1b[0m\x7f\x85", r"a\rb\x1b[0m\x7f\x85"),
        ("\u202e\u200b\ufeff", r"\u202e\u200b\ufeff"),
        ("\ud83d", r"\ud83d"),
        ("\U000e0041", r"\U000e0041"),
        ("\U0001f600 \u05d0", "\U0001f600 \u05d0"),
    ],
)
def test_what_cannot_be_seen_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown
