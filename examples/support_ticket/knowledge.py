"""The help articles and the search over them: BM25, by the package bm25s."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from codeact.extras import extra

_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_COMMON = frozenset(_FILE["common"].split())
_SHORTEST = 3
"""Letters that stay of a word at least when its ending is dropped."""


@dataclass(frozen=True, slots=True)
class Article:
    """One help article.

    Attributes:
        id: a short name, like `refund-time`.
        title: what it is about.
        text: forty to a hundred and twenty words.
    """

    id: str
    title: str
    text: str


class KnowledgeBase:
    """Articles that can be searched.

    Raises:
        MissingExtra: the package that ranks is not installed; the message names the extra that brings it.
    """

    def __init__(self, articles: Iterable[Article]) -> None:
        self.articles = tuple(articles)
        self._index: Any = _bm25()
        self._index.index(
            [_words(f"{article.title} {article.title} {article.text}") for article in self.articles],
            show_progress=False,
        )

    def search(self, query: str, limit: int = 3) -> list[Article]:
        """The articles that fit best, best first; none when no word of the query occurs anywhere."""
        words = [word for word in _words(query) if word in self._index.vocab_dict]
        if not words:
            return []
        scores = self._index.get_scores(words).tolist()
        ranked = sorted(zip(scores, range(len(scores)), self.articles, strict=True), key=lambda row: (-row[0], row[1]))
        return [article for score, _, article in ranked[:limit] if score > 0]


def load() -> KnowledgeBase:
    """The articles that come with the example."""
    return KnowledgeBase(Article(row["id"], row["title"], " ".join(row["text"].split())) for row in _FILE["article"])


def _bm25() -> Any:
    with extra("demo", "searching the help articles"):  # here and not at the top: the other modules work without it
        return import_module("bm25s").BM25()


def _words(text: str) -> list[str]:
    """Lower-case words without the commonest ones, folded so that `charges`, `charged` and `charging` meet."""
    return [_stem(word) for word in re.findall(r"[^\W_]+", text.lower()) if word not in _COMMON]


def _stem(word: str) -> str:
    for ending in ("ings", "ing", "ies", "ied", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word.removesuffix(ending)
    return word
