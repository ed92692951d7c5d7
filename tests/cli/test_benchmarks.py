from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import check, cpu, report, throughput
from benchmarks.arms import CannotError, WrongAnswerError
from benchmarks.arms.plain import Plain
from benchmarks.arms.shop import granted
from benchmarks.arms.tasks import Kind, Task, Worker
from benchmarks.check import Figure
from benchmarks.contest import AtLeast, AtMost, Field, Row, Trial, blocks
from benchmarks.contestant import PLAIN, Contestant, Entry
from benchmarks.growth import exponent
from benchmarks.measure import Spread, spread, timed
from benchmarks.peers import PEERS, Peer, texts
from benchmarks.peers.environments import entry
from benchmarks.suites import SUITES, Suite

ROOT = Path(__file__).parents[2]
OURS = ["wasm", "restricted", "wasm, 2 workers"]


def _benchmarks(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_spread_is_of_the_samples_in_any_order() -> None:
    assert spread([5, 1, 4, 2, 3, 11, 10, 9, 8, 7, 6]) == Spread(n=11, least=1, p10=2, median=6, p90=10)
    assert spread([7.5]) == Spread(n=1, least=7.5, p10=7.5, median=7.5, p90=7.5)
    with pytest.raises(ValueError, match="no samples"):
        spread([])


def test_rounds_of_the_warm_up_are_not_counted() -> None:
    rounds: list[int] = []
    samples = timed(lambda: rounds.append(1), rounds=4, warmup=3)
    assert (len(rounds), len(samples)) == (7, 4)
    assert min(samples) >= 0


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_every_case_has_a_name_of_its_own(suite: Suite) -> None:
    assert len({case.name for case in suite.cases}) == len(suite.cases)


def test_a_suite_prints_a_table_and_writes_what_it_found(tmp_path: Path) -> None:
    done = _benchmarks("latency", "--quick", "--only", "among", "--json", str(tmp_path / "found.json"))
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["machine"]["cores"] >= 1
    assert [row["who"] for row in found["suites"]["latency"]] == OURS
    for row in found["suites"]["latency"]:
        assert (row["skipped"], row["failed"]) == (None, None)
        assert 0 < row["spread"]["least"] <= row["spread"]["median"] <= row["spread"]["p90"]
        assert f"| {row['case']} | {row['who']} | **" in done.stdout


@pytest.mark.parametrize("kind", ["fresh", "turn"])
def test_a_plain_world_is_fresh_or_kept_as_the_task_says(kind: Kind) -> None:
    worker = Worker(Plain())
    assert len(worker.samples(Task(kind, "kept = 1\nkept + 1"), 3, 1)) == 3
    again = Task(kind, "globals().get('kept')", 1 if kind == "turn" else None)
    assert len(worker.samples(again, 2, 0)) == 2


def test_a_wrong_answer_is_no_sample() -> None:
    with pytest.raises(WrongAnswerError, match="3 instead of 2"):
        Worker(Plain()).samples(Task("fresh", "1+2"), 1, 0)


def test_a_plain_arm_has_no_instances_and_no_records() -> None:
    with pytest.raises(CannotError, match="an instance is a dict"):
        Worker(Plain()).samples(Task("idle"), 1, 0)
    with pytest.raises(CannotError, match="only plain values cross"):
        Worker(Plain()).samples(Task("fresh", tools="records"), 1, 0)


def test_a_contestant_is_asked_again_and_again_and_says_what_it_cannot() -> None:
    with Contestant(PLAIN) as plain:
        assert len(plain.samples(Task("fresh"), 3)) == 3
        with pytest.raises(WrongAnswerError, match="NameError: name 'nothing' is not defined"):
            plain.samples(Task("fresh", "nothing"), 1)
        with pytest.raises(CannotError, match="an instance is a dict"):
            plain.samples(Task("idle"), 1)
        assert len(plain.samples(Task("fresh"), 1)) == 1


def test_one_that_cannot_start_says_so_each_time() -> None:
    with Contestant(Entry("nobody", ("benchmarks.arms.ours", "no such engine"))) as nobody:
        for _ in range(2):
            with pytest.raises(CannotError, match="no such engine"):
                nobody.samples(Task("fresh"), 1)


def test_everyone_has_a_row_and_those_that_cannot_say_why() -> None:
    def measure(who: Contestant, _reference: Contestant, rounds: int) -> list[float]:
        if who.name == "restricted":
            msg = "no time | today"
            raise CannotError(msg)
        return [0.25] * rounds

    with Field() as field:
        trial = Trial("waiting", "ms", "how long", 7, measure, {"wasm": AtMost(100)}, ("wasm", "restricted"))
        rows = trial.rows(field, quick=False)
    assert [(row.who, row.skipped, row.kept) for row in rows] == [
        ("wasm", None, False),
        ("restricted", "no time | today", None),
    ]
    assert rows[0].spread == Spread(7, 250, 250, 250, 250)
    first, second = report.lines(rows)
    assert first == "| waiting | wasm | **250 ms** | 250 | 250 | 250 | 7 | <= 100 ms: MISSED | 1x |  |"
    assert second.startswith("| waiting | restricted | -: no time / today |")
    assert {line.count("|") for line in (*report.HEAD, first, second)} == {11}


def test_targets_are_bounds_from_either_side() -> None:
    assert (AtMost(2).kept(2), AtMost(2).kept(2.1)) == (True, False)
    assert (AtLeast(2).kept(2), AtLeast(2).kept(1.9)) == (True, False)


def test_rounds_are_cut_into_blocks_that_are_not_empty() -> None:
    assert blocks(3) == [1, 1, 1]
    assert blocks(23) == [4, 5, 4, 5, 5]


def test_no_case_of_that_name_is_an_error() -> None:
    done = _benchmarks("latency", "--only", "no such case")
    assert done.returncode == 2
    assert "no such case; there are: " in done.stderr


def test_lateness_is_told_of_runs_that_met_their_timeout(tmp_path: Path) -> None:
    done = _benchmarks("lateness", "--quick", "--json", str(tmp_path / "found.json"))
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["runs"] > 2 * len(found["seconds_late"]) > 5
    assert f"of {found['runs']} runs, {len(found['seconds_late'])} met their timeout" in done.stdout
    assert min(found["seconds_late"]) > -0.01


@pytest.mark.parametrize(
    ("suite", "only"),
    [("calls", "one tool"), ("cpu", "json"), ("memory", "idle"), ("throughput", "1 thread"), ("growth", "tools")],
)
def test_every_suite_is_quick_where_it_is_asked_to(suite: str, only: str, tmp_path: Path) -> None:
    done = _benchmarks(suite, "--quick", "--only", only, "--json", str(tmp_path / "found.json"))
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads((tmp_path / "found.json").read_text())["suites"][suite]
    assert {row["who"] for row in rows} == set(OURS[:2] if suite == "growth" else OURS)
    assert all((row["spread"] is None) == bool(row["skipped"]) for row in rows)


def test_a_peer_stands_beside_ours_and_says_what_it_cannot() -> None:
    done = _benchmarks("latency", "--quick", "--only", "dicts", "--peers", "subprocess")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split("|")[2].strip() for line in done.stdout.splitlines() if "| the same" in line] == [
        *OURS,
        "subprocess",
    ]
    done = _benchmarks("calls", "--quick", "--only", "without the run", "--peers", "subprocess")
    assert "| subprocess | -: no calls at the same time: " in done.stdout


def test_a_peer_that_is_not_there_says_so() -> None:
    missing = entry(Peer("nobody", ("interpreters", "nobody"), program="codeact-has-no-such-program"))
    assert missing.cannot == "there is no codeact-has-no-such-program here"
    old = entry(Peer("tomorrow", ("tomorrow",), "tomorrow==1", python=(3, 99)))
    assert old.cannot == "it needs Python 3.99, and there is none here"


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_every_peer_has_a_driver(peer: Peer) -> None:
    assert (ROOT / "benchmarks" / "peers" / f"{peer.arm[0]}.py").is_file()
    assert not peer.requirement or "==" in peer.requirement


def test_a_program_is_put_into_the_words_of_a_peer() -> None:
    assert texts.bound("a = 1\na + 1") == "a = 1\n_value = a + 1"
    assert texts.bound("a = 1", "result") == "a = 1"
    assert texts.printed("1").splitlines()[-1] == "print(_json.dumps(_value))"
    assert texts.bare("tools.increment(a.tools)") == "increment(a.tools)"
    called = texts.awaiting("tools.increment(tools.later(1)), tools.search('a', limit=2)", granted("five"))
    assert called == "(await increment(number=later(1)), await search(query='a', limit=2))"
    assert texts.awaiting("tools.later(1)", granted("later")) == "later(number=1)"


def test_the_exponent_is_of_the_upper_half() -> None:
    square = [(size, 100.0 if size < 10 else float(size * size)) for size in (1, 2, 5, 10, 20, 50)]
    assert exponent(square) == pytest.approx(2)
    assert exponent([(1, 3), (10, 3), (100, 3)]) == pytest.approx(0)


def _row(case: str, who: str, number: float) -> Row:
    return Row(case, who, "x", "", spread=spread([number]))


def test_a_mean_of_some_programs_stands_beside_ours_of_the_same() -> None:
    no = partial(Row, unit="x", note="", skipped="no")
    rows = [_row("a", "wasm", 2), _row("b", "wasm", 8), _row("a", "peer", 3), no("b", "peer"), no("a", "none")]
    groups = [[(row.case, row.who, row.spread and row.spread.median) for row in rows] for rows in cpu.summary(rows)]
    assert groups == [
        [("geometric mean", "wasm", pytest.approx(4))],
        [
            ("geometric mean, the 1 that peer can run", "wasm", 2),
            ("geometric mean, the 1 that peer can run", "peer", pytest.approx(3)),
        ],
        [("geometric mean", "none", None)],
    ]


def test_the_best_of_all_numbers_of_threads_is_kept() -> None:
    rows = [_row("from 1 thread", "wasm", 800), _row("from 2 threads", "wasm", 950), _row("other", "wasm", 9000)]
    ((best,),) = throughput.summary(rows)
    assert (best.spread, best.kept) == (spread([950]), True)


@pytest.mark.parametrize(
    ("before", "now", "verdict"),
    [
        (100, 149, "as before"),
        (100, 151, "WORSE"),
        (100, 51, "as before"),
        (100, 49, "better"),
        (None, 1, "new"),
        (100, None, "NOT MEASURED"),
    ],
)
def test_a_figure_is_worse_beyond_the_tolerance_of_its_baseline(
    before: float | None, now: float | None, verdict: str
) -> None:
    baseline = {} if before is None else {"it": Figure(before, 0.5)}
    found = {} if now is None else {"it": Figure(now, 0.01)}
    (finding,) = check.compare(baseline, found)
    assert finding == check.Finding("it", before, now, verdict)
    assert finding.bad == verdict.isupper()


def test_the_worst_comes_first_and_figures_survive_their_file() -> None:
    figures = {"a": Figure(1, 0.5), "b": Figure(2, 0.5)}
    assert check.figures(json.loads(json.dumps(check.document(figures)))) == figures
    findings = check.compare(figures, {"a": Figure(1, 0.5), "b": Figure(4, 0.5)})
    assert [finding.name for finding in findings] == ["b", "a"]
    assert [*check.table(findings)][2:] == ["| b | 2 | 4 | 2.000 | WORSE |", "| a | 1 | 1 | 1.000 | as before |"]


def test_counts_are_the_same_every_time() -> None:
    first = dict(islice(check.counted(), 3))
    assert first == dict(islice(check.counted(), 3))
    assert all(name.startswith(check.COUNTS) and figure.value > 0 for name, figure in first.items())


def test_a_check_fails_for_what_costs_more_and_says_where_a_baseline_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "check", "--counted", "--baseline", str(tmp_path / "none.json")])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 2
    assert "no such file; `check --write` makes it" in capsys.readouterr().err
    file = tmp_path / "baseline.json"
    assert _benchmarks("check", "--counted", "--write", "--baseline", str(file)).returncode == 0
    baseline = json.loads(file.read_text())
    baseline["fuel: 1+1"]["value"] /= 2
    file.write_text(json.dumps(baseline))
    done = _benchmarks("check", "--counted", "--baseline", str(file))
    assert (done.returncode, done.stderr) == (1, "")
    assert next(line for line in done.stdout.splitlines() if "WORSE" in line).startswith("| fuel: 1+1 |")
    assert done.stdout.count("as before") == len(baseline) - 1


def test_drawings_are_the_same_for_the_same_numbers(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `benchmarks` is not installed")
    rows = [_row("a case", "wasm", 2), _row("a case", "peer", 300), Row("a case", "other", "x", "", skipped="no")]
    curve = Row("a curve", "wasm", "", "", spread=spread([1]), points=((1, 1e-3), (10, 1e-2)))
    document = report.document({}, {"bars": rows, "curves": [curve, curve], "nothing": [rows[2]]})
    found = tmp_path / "found.json"
    found.write_text(json.dumps(document))
    drawn = []
    for directory in ("first", "second"):
        done = _benchmarks("draw", str(found), "--plots", str(tmp_path / directory))
        assert (done.returncode, done.stderr) == (0, "")
        drawn.append({path.name: path.read_bytes() for path in (tmp_path / directory).iterdir()})
    assert sorted(drawn[0]) == ["bars.svg", "curves.svg"]
    assert drawn[0] == drawn[1]
    assert b"a case" in drawn[0]["bars.svg"]


def test_plots_without_matplotlib_are_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "latency", "--plots"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 2
    assert "pip install 'codeact[benchmarks]'" in capsys.readouterr().err
