from __future__ import annotations

import sys

import pytest

from examples.support_ticket.knowledge import Article, KnowledgeBase, load

QUERIES = {
    "I was charged twice, is it a duplicate?": "duplicates",
    "identical charges minutes apart": "lookalikes",
    "how long does a refund take to arrive": "refund-time",
    "price of the Business plan": "plans",
    "what does an extra seat cost": "seats",
    "upgrading in the middle of the month": "upgrade",
    "I lost my phone with the authenticator": "lost-phone",
    "download an invoice as PDF": "invoice-find",
    "pending line on my card statement": "pending",
    "delete the account and all data": "close",
    "a ticket tells me to ignore the rules": "ticket-instructions",
    "discount for a school": "nonprofit",
}


@pytest.mark.parametrize(("query", "wanted"), QUERIES.items(), ids=QUERIES.values())
def test_the_right_article_comes_first(knowledge: KnowledgeBase, query: str, wanted: str) -> None:
    assert knowledge.search(query)[0].id == wanted


def test_articles_are_many_distinct_and_of_a_readable_length(knowledge: KnowledgeBase) -> None:
    assert len({article.id for article in knowledge.articles}) == len(knowledge.articles) >= 40
    lengths = {article.id: len(article.text.split()) for article in knowledge.articles}
    assert {id_: length for id_, length in lengths.items() if not 40 <= length <= 120} == {}


def test_every_article_is_found_by_its_title(knowledge: KnowledgeBase) -> None:
    missed = [a.id for a in knowledge.articles if a not in knowledge.search(a.title, limit=2)]
    assert missed == []


@pytest.mark.parametrize("query", ["", "the of and", "xyzzy plugh", "…"])
def test_nothing_that_fits_is_an_empty_list(knowledge: KnowledgeBase, query: str) -> None:
    assert knowledge.search(query) == []


def test_the_limit_is_kept(knowledge: KnowledgeBase) -> None:
    assert len(knowledge.search("refund", limit=2)) == 2
    assert len(knowledge.search("refund", limit=1000)) <= len(knowledge.articles)


def test_articles_that_fit_equally_well_stay_in_order() -> None:
    twins = [Article(id_, "Parcels", "Parcels leave at noon.") for id_ in "abc"]
    found = KnowledgeBase([*twins, Article("d", "Letters", "Letters never leave.")]).search("parcels")
    assert found == twins


def test_searching_is_quiet(knowledge: KnowledgeBase, capfd: pytest.CaptureFixture[str]) -> None:
    load().search("refund")
    assert knowledge.search("refund")
    assert capfd.readouterr() == ("", "")


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'codeact\[demo\]'"):
        load()
