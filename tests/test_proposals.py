"""The digest of a proposal."""

from __future__ import annotations

import os
import subprocess
import sys
from decimal import Decimal, localcontext

import pytest

from codeact.proposals import digest_of

TEXT = "from codeact.proposals import digest_of; print(digest_of('tag', {ARGUMENTS}))"


@pytest.mark.parametrize(
    "arguments",
    [
        "{'labels': {'a', 'b', 'c', 'd', 'e'}}",
        "{'labels': [frozenset({('a', 1), ('b', 2), ('c', 3)})]}",
        "{'labels': {frozenset({'a', 'b'}): {'x', 'y', 'z'}}}",
        "{'labels': {'set': ['b', 'a']}}",
    ],
)
def test_the_digest_is_the_same_in_every_process(arguments: str) -> None:
    program = TEXT.replace("{ARGUMENTS}", arguments)
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1


def test_what_is_different_has_another_digest() -> None:
    values = [
        {"a", "b"},
        {"a", "c"},
        frozenset({"a", "b"}),
        ("a", "b"),
        ("b", "a"),
        ("set", "a", "b"),
        ["a", "b"],
        "set",
    ]
    assert len({digest_of("tag", {"labels": value}) for value in values}) == len(values)
    assert digest_of("tag", {"labels": "set"}) != digest_of("tug", {"labels": "set"})


def test_the_digest_is_what_it_was() -> None:
    # Outboxes keep it: with another one, what waits in them could be neither approved nor performed.
    arguments = {"a": [1, True, None, 0.5, "ü"], "b": {"y": (1,), "x": {2, 1}}, "c": Decimal("1.50"), "d": b"\x00"}
    assert digest_of("pay", arguments) == "d638d3973ae132aa3727b1f9d275c7ea8ffe9847f0684af35718b2fbd65bd3c3"


def test_numbers_are_told_apart_to_their_last_digit_whatever_a_thread_rounds_to() -> None:
    one, other = Decimal("1234567890123456789012345678.91"), Decimal("1234567890123456789012345678.92")
    found = digest_of("pay", {"amount": one})
    assert found != digest_of("pay", {"amount": other})
    assert digest_of("pay", {"amount": Decimal("1E-9999999")}) != digest_of("pay", {"amount": Decimal("2E-9999999")})
    with localcontext(prec=1):
        assert digest_of("pay", {"amount": one}) == found
        assert digest_of("pay", {"amount": Decimal(94)}) != digest_of("pay", {"amount": Decimal(90)})
