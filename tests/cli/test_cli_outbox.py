"""`codeact outbox`."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from codeact.cli import app
from codeact.outbox import Entry, Outbox
from codeact.proposals import Proposal, digest_of

SHOP = """
from decimal import Decimal

from codeact import action


@action
def refund(charge_id: str, amount: Decimal) -> str:
    print("refunding")
    if amount == 13:
        raise TimeoutError("no answer")
    return f"refunded {amount}"


@action
def charge(charge_id: str, idempotency_key: str) -> str:
    raise ConnectionError("gone")


ACTIONS = [refund, charge]
"""

Call = Callable[..., Result]


def _proposal(name: str, **arguments: object) -> Proposal:
    return Proposal(1, name, arguments, digest_of(name, arguments), 3)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "shop_actions.py").write_text(SHOP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "outbox.db"


@pytest.fixture
def entries(file: Path) -> list[Entry]:
    with Outbox(file) as outbox:
        return outbox.submit(
            [
                _proposal("refund", charge_id="ch_1", amount=Decimal(20)),
                _proposal("refund", charge_id="ch_\u202e2\n\x1b[2J", amount=Decimal(13)),
                _proposal("charge", charge_id="ch_1"),
                _proposal("gone", text="x" * 500),
            ],
            task="T-1",
        )


@pytest.fixture
def call(file: Path, entries: list[Entry]) -> Call:
    def call(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["outbox", *arguments[:1], str(file), *arguments[1:]])

    return call


def _approve(call: Call, entry: Entry, *options: str) -> Result:
    return call("approve", entry.id[:10], "--digest", entry.digest[:12], "--by", "ada", *options)


def test_entries_are_listed(call: Call, entries: list[Entry]) -> None:
    done = call("list")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert re.fullmatch(
        rf"{entries[0].id[:8]}  proposed  \d{{4}}-\d\d-\d\d \S+ UTC  T-1  refund\(charge_id='ch_1', amount=Decimal\('20'\)\)",
        lines[0],
    )
    assert "\u202e" not in done.stdout
    assert "\x1b" not in done.stdout
    none = call("list", "--state", "done")
    assert (none.exit_code, none.stdout, none.stderr) == (0, "", "codeact: there is no such entry\n")
    assert len(call("list", "--task", "T-1", "--state", "proposed").stdout.splitlines()) == 4
    assert [one["id"] for one in json.loads(call("list", "--json").stdout)] == [entry.id for entry in entries]


def test_an_entry_is_shown_whole(call: Call, entries: list[Entry]) -> None:
    done = call("show", entries[3].id[:12])
    assert f"          text = {'x' * 500!r}\n" in done.stdout
    assert f"digest    {entries[3].digest}\n" in done.stdout
    shown = call("show", entries[1].id).stdout
    assert "charge_id = 'ch_\\u202e2\\n\\x1b[2J'\n" in shown
    assert json.loads(call("show", entries[0].id, "--json").stdout)["arguments"] == {
        "charge_id": "ch_1",
        "amount": "20",
    }


def test_a_call_is_approved_by_its_digest_and_performed(call: Call, entries: list[Entry]) -> None:
    done = _approve(call, entries[0], "--expires", "3600")
    assert done.exit_code == 0
    assert "state     approved\n" in done.stdout
    assert re.search(r"decided   .* by ada\nexpires   ", done.stdout)
    performed = call("perform", "--actions", "shop_actions:ACTIONS")
    assert (performed.exit_code, performed.stderr) == (0, "refunding\n")
    assert performed.stdout.startswith(f"{entries[0].id[:8]}  done ")
    assert "value     'refunded 20'\n" in call("show", entries[0].id).stdout
    again = _approve(call, entries[0])
    assert (again.exit_code, again.stdout) == (2, "")
    assert "is done: it cannot be approved; that is final" in again.stderr
    nothing = call("perform", "--actions", "shop_actions:ACTIONS")
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    assert nothing.stderr.startswith("codeact: nothing is approved; ")


@pytest.mark.parametrize("command", ["refuse", "reject"])
def test_what_is_refused_is_so_for_good(call: Call, entries: list[Entry], command: str) -> None:
    done = call(command, entries[0].id, "--by", "bob", "--reason", "by hand")
    assert done.exit_code == 0
    assert "state     refused\n" in done.stdout
    assert "reason    'by hand'\n" in done.stdout
    assert re.search(r"\nhistory   .* UTC proposed\n          .* UTC refused by bob: by hand\n$", done.stdout)


def test_all_that_has_happened_to_an_entry_is_shown(call: Call, entries: list[Entry]) -> None:
    entry = entries[1]
    _approve(call, entry)
    call("perform", "--actions", "shop_actions:ACTIONS")
    done = call("settle", entry.id, "done", "--note", "seen\n\x1b[2J", "--by", "bob")
    assert "error     " not in done.stdout, "it is of an earlier step"
    shown = [line.partition(" UTC ")[2] for line in done.stdout.partition("history ")[2].splitlines()]
    assert shown == [
        "proposed",
        "approved by ada",
        "started",
        "unknown: TimeoutError: no answer",
        "done by bob: seen\\n\\x1b[2J",
    ]
    history = json.loads(call("show", entry.id, "--json").stdout)["history"]
    assert [(step["state"], step["by"], step["error"]) for step in history][1:4] == [
        ("approved", "ada", None),
        ("started", None, None),
        ("unknown", None, "TimeoutError: no answer"),
    ]


def test_what_people_decide_and_what_is_performed_is_in_the_log(
    call: Call, entries: list[Entry], tmp_path: Path
) -> None:
    log = str(tmp_path / "audit.jsonl")
    _approve(call, entries[1], "--audit", log)
    call("refuse", entries[0].id, "--by", "bob", "--audit", log)
    call("perform", "--actions", "shop_actions:ACTIONS", "--audit", log)
    call("settle", entries[1].id, "failed", "--by", "eve", "--audit", log)
    events = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [(event["event"], event["by"]) for event in events] == [
        ("outbox_approved", "ada"),
        ("outbox_refused", "bob"),
        ("outbox_started", "ada"),
        ("outbox_unknown", "ada"),
        ("outbox_failed", "eve"),
    ]


@pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="there is no device that is always full")
def test_what_cannot_be_logged_is_not_decided(call: Call, entries: list[Entry]) -> None:
    done = _approve(call, entries[0], "--audit", "/dev/full")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("codeact: --audit /dev/full: ")
    assert "state     proposed\n" in call("show", entries[0].id).stdout


def test_what_is_unknown_is_settled(call: Call, entries: list[Entry]) -> None:
    for entry in entries[1:]:
        _approve(call, entry)
    performed = call("perform", "--actions", "shop_actions:refund", "--actions", "shop_actions:charge")
    assert performed.exit_code == 1
    assert [line.split()[1] for line in performed.stdout.splitlines()] == ["unknown", "unknown", "approved"]
    assert f"codeact: {entries[3].id[:8]}: not performed: there is no action 'gone' here" in performed.stderr
    without = call("settle", entries[1].id, "again", "--by", "ada")
    assert (without.exit_code, without.stdout) == (2, "")
    assert "takes no idempotency_key" in without.stderr
    assert "state     done\n" in call("settle", entries[1].id, "done", "--note", "seen", "--by", "ada").stdout
    assert "state     approved\n" in call("settle", entries[2].id, "again", "--by", "ada").stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["list", "none.db"], "codeact: FILE none.db: No such file or directory"),
        (["list", "shop_actions.py"], "codeact: FILE shop_actions.py: file is not a database"),
        (["list", "empty.db"], "codeact: FILE empty.db: it holds no outbox; give the file"),
        (["list", "outbox.db", "--state", "gone"], "codeact: --state gone: expected one of proposed, approved, "),
        (["show", "outbox.db", "zz"], "codeact: there is no entry 'zz'"),
        (["approve", "outbox.db", "ID"], "codeact: --digest: nobody can be asked; look with `codeact outbox show "),
        (["approve", "outbox.db", "ID", "--digest", "123"], "codeact: --digest 123: give at least 12 digits of it"),
        (["approve", "outbox.db", "ID", "--digest", "0" * 64], "codeact: entry "),
        (["approve", "outbox.db", "ID", "--digest", "0" * 64, "--expires", "x"], "codeact: --expires x: expected a "),
        (["approve", "outbox.db", "ID", "--digest", "0" * 64, "--expires", "nan"], "codeact: --expires nan: must be "),
        (["reject", "outbox.db", "ID", "--by", " "], "codeact: --by: it is empty"),
        (["settle", "outbox.db", "ID", "maybe", "--by", "a"], "codeact: outcome='maybe': expected one of done, "),
        (["settle", "outbox.db", "ID", "done", "--by", "a"], "codeact: entry "),
        (
            ["perform", "outbox.db", "--actions", "shop_actions"],
            "codeact: --actions shop_actions: expected MODULE:ATTR, like shop.actions:ACTIONS",
        ),
        (["perform", "outbox.db"], "codeact: --actions: give what performs it, as MODULE:ATTR, like shop.actions:"),
        (["refuse", "outbox.db", "ID", "--by", "a", "--audit", "."], "codeact: --audit .: Is a directory"),
        (
            ["perform", "outbox.db", "--actions", "shop_actions:no"],
            "codeact: --actions shop_actions:no: shop_actions has",
        ),
        (
            ["perform", "outbox.db", "--actions", "shop_actions:ACTIONS", "--actions", "shop_actions:refund"],
            "codeact: --actions: two actions are named 'refund'",
        ),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_misuse_is_one_line_on_stderr(file: Path, entries: list[Entry], arguments: list[str], told: str) -> None:
    (file.parent / "empty.db").touch()
    done = CliRunner().invoke(app, ["outbox", *[entries[0].id if one == "ID" else one for one in arguments]])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(told)
    assert done.stderr.count("\n") == 1
    with Outbox(file) as outbox:
        assert outbox.entries() == entries
    assert not (file.parent / "none.db").exists()
    assert (file.parent / "empty.db").stat().st_size == 0


@pytest.mark.parametrize(
    ("answer", "state", "code"), [("y\n", "approved", 0), ("n\n", "proposed", 1), ("\n", "proposed", 1)]
)
def test_who_sits_at_a_terminal_is_shown_the_call_and_asked(
    file: Path, entries: list[Entry], answer: str, state: str, code: int
) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    done = subprocess.run(
        [sys.executable, "-m", "codeact", "outbox", "approve", file, entries[0].id, "--by", "ada"],
        stdin=theirs,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == code
    assert "          amount = Decimal('20')\n" in done.stderr
    assert "approve this call? [y/N]" in done.stderr
    with Outbox(file) as outbox:
        assert outbox.get(entries[0].id).state == state


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line(file: Path, entries: list[Entry]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "codeact", "outbox", "list", str(file)],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "codeact: <stdout>: No space left on device\n")


def test_help_teaches(call: Call) -> None:
    done = CliRunner().invoke(app, ["outbox", "--help"])
    assert all(name in done.stdout for name in ("list", "show", "approve", "refuse", "reject", "settle", "perform"))
    assert "unknown   was begun, and nobody knows" in CliRunner().invoke(app, ["outbox", "list", "--help"]).stdout
