"""The table of refusals: every row is refused, and the error says its words."""

from __future__ import annotations

from operator import attrgetter

import pytest

from codeact.engines.restricted.refusals import MISSING, REFUSALS, Refusal, refusal


@pytest.mark.parametrize("row", REFUSALS, ids=attrgetter("what"))
def test_every_row_is_refused_with_its_words(run, row: Refusal):
    fault = run(row.example).fault
    told = f"{fault.message} {fault.hint or ''}"
    assert fault.kind in {"denied", "runtime"}
    assert row.why in told
    assert row.instead in told


def test_every_name_has_one_row():
    names = [name for row in REFUSALS for name in row.names]
    assert len(names) == len(set(names))
    assert all(refusal(name).names.count(name) == 1 for name in names)


def test_what_has_no_row_is_told_of_all_the_same():
    assert refusal("__never_heard_of__").what == "other special names"


def test_what_is_missing_is_missing(run):
    for name in sorted(MISSING):
        assert run(f"x = {name}").fault.kind == "denied", name
