"""docs/language.md is what the tables say."""

from __future__ import annotations

from pathlib import Path

from codeact.testing.language import document

PAGE = Path(__file__).parents[2] / "docs/language.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == document(), "run: python -m codeact.testing.language > docs/language.md"
