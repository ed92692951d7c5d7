"""`codeact trace`, over real runs on both engines, in a journal that shares its file with an outbox."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from codeact import Journal, Limits, Sandbox, action, cli, tool
from codeact.cli import app
from codeact.outbox import Outbox

PROGRAM = """import asyncio
tickets = await asyncio.gather(*(tools.get_ticket(number) for number in (1, 2, 3)))
try:
    await tools.get_ticket("x")
except Exception as error:
    print("no", type(error).__name__)
try:
    tools.delete_everything()
except Exception as error:
    print("no", type(error).__name__)
actions.refund("ch_1", 20)
actions.refund("ch_9", 5000)
actions.reply("one\\ntwo")
len(tickets)
"""


@tool
async def get_ticket(number: int) -> dict[str, str]:
    """A ticket."""
    return {"subject": f"<b>{number}</b>", "body": "\x1b[31mred\u202e"}


@action
def refund(charge_id: str, amount: int) -> str:
    """Give money back."""
    return f"re_{charge_id}_{amount}"


@action
def reply(text: str) -> None:
    """Write to the customer."""
    msg = "no such mailbox"
    raise ValueError(msg)


@dataclass(frozen=True)
class Shop:
    """A file with a journal and an outbox, and the ids of its runs."""

    path: Path
    denied: str
    worked: str


@pytest.fixture
def shop(engine: str, tmp_path: Path) -> Iterator[Shop]:
    path = tmp_path / "agent.db"
    with Journal(path) as journal, Outbox(path, actions=[refund, reply]) as outbox:
        sandbox = Sandbox(
            [get_ticket], actions=[refund, reply], engine=engine, journal=journal, limits=Limits(timeout=20.0)
        )
        denied = sandbox.run("().__class__.__subclasses__()", task="T-1")
        worked = sandbox.run(PROGRAM, task="T-1")
        sandbox.run("6 * 7")
        assert worked.ok, worked.error
        small, large, letter = outbox.submit(worked.proposals, task="T-1")
        outbox.approve(small.id, digest=small.digest, by="ada")
        outbox.refuse(large.id, by="ada", reason="too much")
        outbox.approve(letter.id, digest=letter.digest, by="ada")
        outbox.perform()
        yield Shop(path, denied.run, worked.run)


def _codeact(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["trace", *map(str, arguments)])


def test_runs_are_listed(shop: Shop) -> None:
    done = _codeact("list", shop.path)
    assert (done.exit_code, done.stderr) == (0, "")
    last, worked, denied = done.stdout.splitlines()
    assert " ok " in last
    assert worked.split()[0] == shop.worked[:12]
    assert worked.endswith("7 calls       T-1")
    assert denied.startswith(shop.denied[:12])
    assert " ok " not in denied
    assert len(_codeact("list", shop.path, "--task", "T-1").stdout.splitlines()) == 2
    assert len(_codeact("list", shop.path, "--limit", "1").stdout.splitlines()) == 1
    (head,) = json.loads(_codeact("list", shop.path, "--task", "T-1", "--limit", 1, "--json").stdout)
    assert (head["id"], head["task"], head["ok"], head["calls"]) == (shop.worked, "T-1", True, 7)


def test_a_task_is_shown(shop: Shop, engine: str) -> None:
    done = _codeact("show", shop.path, "T-1")
    assert (done.exit_code, done.stderr) == (0, "")
    for told in (
        "Task T-1\n",
        "program 1: ",
        "! program 2, line 8 names what was not granted: tools.delete_everything\n",
        "! program 2, call 4 refused: get_ticket('x')\n",
        "! program 2, proposal 2 refused: refund(charge_id='ch_9', amount=5000)",
        " 2 | tickets = await asyncio.gather",
        "calls: 6 ok, 1 refused",
        "{'subject': '<b>1</b>', 'body': '",
        "proposal 1: done: refund(charge_id='ch_1', amount=20) (line 11)",
        " UTC approved by ada\n",
        " UTC refused by ada: too much\n",
        " UTC started\n",
        "came of it: 're_ch_1_20'",
        "proposal 3: failed: reply",
        "no such mailbox",
        "    no TypeError\n    no AttributeError\n",
        "value: 3",
    ):
        assert told in done.stdout, told
    assert ("! program 1, denied: PolicyError: the attribute __class__" in done.stdout) == (engine == "restricted")
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout


def test_a_run_is_shown_by_the_beginning_of_its_id(shop: Shop) -> None:
    done = _codeact("show", shop.path, shop.worked[:8])
    assert done.exit_code == 0
    assert done.stdout.startswith(f"Run {shop.worked}\n")
    assert "proposal 1: done" in done.stdout


def test_a_page_is_written(shop: Shop, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    done = _codeact("export", shop.path, "T-1", "-o", file)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert file.stat().st_mode & 0o777 == 0o600
    text = file.read_text(encoding="utf-8")
    assert "&lt;b&gt;1&lt;/b&gt;" in text
    assert "<b>1</b>" not in text
    assert "delete_everything" in text
    assert _codeact("export", shop.path, "T-1", "-o", "-").stdout == text


def test_nothing_is_changed_by_looking(shop: Shop) -> None:
    with sqlite3.connect(shop.path) as connection:
        before = list(connection.iterdump())
        _codeact("list", shop.path)
        _codeact("show", shop.path, "T-1")
        assert list(connection.iterdump()) == before
    connection.close()


def test_an_outbox_may_lie_elsewhere(engine: str, tmp_path: Path) -> None:
    path, other = tmp_path / "runs.db", tmp_path / "outbox.db"
    with Journal(path) as journal, Outbox(other, actions=[refund]) as outbox:
        sandbox = Sandbox(actions=[refund], engine=engine, journal=journal)
        ran = sandbox.run("actions.refund('ch_1', 1)", task="T-2")
        outbox.submit(ran.proposals, task="T-2")
    told = _codeact("show", path, "T-2").stdout
    assert "entry " not in told
    assert "what became of it is not known: no outbox here has it; --outbox FILE says where it is\n" in told
    assert "entry " in _codeact("show", path, "T-2", "--outbox", other).stdout
    done = _codeact("show", path, "T-2", "--outbox", path)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"codeact: --outbox {path}: it holds no outbox")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "codeact: no run is on record\n"),
        (["--task", "nope"], "codeact: no run is on record for the task 'nope'\n"),
    ],
)
def test_nothing_to_list_is_said(tmp_path: Path, arguments: list[str], told: str) -> None:
    path = tmp_path / "runs.db"
    Journal(path).close()
    done = _codeact("list", path, *arguments)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", told)
    assert _codeact("list", path, *arguments, "--json").stdout == "[]\n"


def test_a_run_that_was_killed_is_listed_as_not_ended(shop: Shop) -> None:
    with sqlite3.connect(shop.path) as connection:
        connection.execute("UPDATE journal_runs SET wall = NULL, ok = NULL, kind = NULL, calls = NULL")
    connection.close()
    done = _codeact("list", shop.path)
    assert [line.count("not ended") for line in done.stdout.splitlines()] == [1, 1, 1]


MISUSES = [
    (["list", "none.db"], "JOURNAL none.db: No such file or directory"),
    (["list", "text.db"], "JOURNAL text.db: file is not a database"),
    (["list", "empty.db"], "JOURNAL empty.db: it holds no journal"),
    (["list", "."], "JOURNAL .: it is no file"),
    (["list", "/dev/null"], "JOURNAL /dev/null: it is no file"),
    (["list", "runs.db", "--limit", "0"], "Invalid value for '--limit'"),
    (
        ["show", "runs.db", "nothing"],
        "RUN_OR_TASK 'nothing': there is no task or run of that name, and none that begins so",
    ),
    (["show", "runs.db", "T-"], "RUN_OR_TASK 'T-': several begin so: T-2, T-1; give more of it"),
    (["show", "runs.db", ""], "RUN_OR_TASK '': there is no task or run"),
    (["show", "runs.db", "T-1", "--outbox", "none.db"], "--outbox none.db: No such file or directory"),
    (["export", "runs.db", "T-1", "-o", "no/such/page.html"], "-o no/such/page.html: No such file or directory"),
    (["export", "runs.db", "T-1"], "Missing option '-o'"),
]


@pytest.mark.parametrize(
    ("arguments", "told"), MISUSES, ids=lambda given: " ".join(given) if isinstance(given, list) else ""
)
def test_misuse_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.db").write_text("no database" * 100)
    Path("empty.db").touch()
    with Journal("runs.db") as journal:
        sandbox = Sandbox(engine="restricted", journal=journal)
        for task in ("T-1", "T-2"):
            sandbox.run("1", task=task)
    monkeypatch.setattr(sys, "argv", ["codeact", "trace", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"codeact: {told}")
    assert err.count("\n") == 1
    assert Path("empty.db").stat().st_size == 0
    assert not Path("none.db").exists()


def test_a_task_is_found_by_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Journal(path) as journal:
        Sandbox(engine="restricted", journal=journal).run("1", task="ticket \x1b[2J\n100")
    done = _codeact("show", path, "ticket")
    assert done.stdout.startswith("Task ticket \\x1b[2J\n")
    assert _codeact("list", path).stdout.endswith("ticket \\x1b[2J\\n100\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", [["list"], ["show", "T-1"], ["export", "T-1", "-o", "-"]])
def test_a_full_disk_is_one_line(tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "runs.db"
    with Journal(path) as journal:
        Sandbox(engine="restricted", journal=journal).run("1", task="T-1")
    name, *rest = command
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "codeact", "trace", name, str(path), *rest],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "codeact: <stdout>: No space left on device\n")


def test_what_an_output_cannot_hold_is_written_out(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Journal(path) as journal:
        Sandbox(engine="restricted", journal=journal).run("'ü'", task="T-1")
    done = subprocess.run(
        [sys.executable, "-m", "codeact", "trace", "show", str(path), "T-1"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "value: '\\xfc'" in done.stdout


_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def test_a_terminal_gets_colors_and_nothing_else_that_steers_it(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Journal(path) as journal:
        sandbox = Sandbox(engine=engine, journal=journal)
        sandbox.run("print('\x1b]0;title\x07\x1b[2J :smile: [red]x[/]')", task="T-1")
    done = CliRunner(env={"FORCE_COLOR": "1", "NO_COLOR": None, "TERM": "xterm"}).invoke(
        app, ["trace", "show", str(path), "T-1"]
    )
    assert _STYLE.search(done.stdout)
    plain = _STYLE.sub("", done.stdout)
    assert "\x1b" not in plain
    assert "    \\x1b]0;title\\x07\\x1b[2J :smile: [red]x[/]\n" in plain


@pytest.mark.parametrize("command", ["list", "show", "export"])
def test_help_teaches(command: str) -> None:
    done = _codeact(command, "--help")
    assert done.exit_code == 0
    assert f"codeact trace {command} agent.db" in done.stdout
