"""The site is built from the pages without a complaint, has all of them, and needs nobody else's server."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

from tests.docs.blocks import DOCS, PAGES, TOP, named

CONFIG = DOCS / "site" / "mkdocs.yml"

LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("object", "data")}
"""What a browser fetches by itself, where a page names it."""


class Page(HTMLParser):
    """What a page of the site has and names: anchors, links, and what is fetched with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"id", "name"} and value:
                self.anchors.add(value)
            elif value and (tag, name) in LOADED:
                self.loaded.append(value)
            elif value and (tag, name) == ("a", "href"):
                self.links.append(value)


PUBLIC = [
    name
    for page in (DOCS / "api").glob("*.md")
    for name in re.findall(r"^::: ([\w.]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
]
"""Modules that a host imports from; a test of what is public says that none is left out."""


def test_the_site_is_built_without_a_complaint_and_is_whole(tmp_path: Path) -> None:
    # One test, because two processes that run tests would each build a site of their own.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", CONFIG, "-d", tmp_path]
    built = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in tmp_path.rglob("*.html")}
    assert [*_broken(pages)] == [], "links that lead nowhere"
    assert [*_foreign(tmp_path, pages)] == [], "what is fetched from elsewhere"
    reference = set().union(*(page.anchors for path, page in pages.items() if path.parent.name == "api"))
    assert {*_public()} <= reference, "names that the reference lacks"


def _broken(pages: dict[Path, Page]) -> Iterator[str]:
    for path, page in pages.items():
        for link in page.links:
            if urlsplit(link).scheme or path.name == "404.html":
                continue
            target, anchor = urldefrag(link)
            found = (path.parent / unquote(target)).resolve() if target else path
            if not found.exists() or (anchor and found in pages and unquote(anchor) not in pages[found].anchors):
                yield f"{path.name}: {link}"


def _foreign(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    yield from (url for page in pages.values() for url in page.loaded if urlsplit(url).netloc)
    for style in site.rglob("*.css"):
        yield from re.findall(r"url\(['\"]?(?:https?:)?//[^)]*|@import[^;]*//[^;]*", style.read_text(encoding="utf-8"))


def _public() -> Iterator[str]:
    for name in PUBLIC:
        yield name
        if "integrations." not in name:  # a framework takes seconds
            yield from (f"{name}.{one}" for one in import_module(name).__all__)


def test_every_page_is_in_the_navigation() -> None:
    menu = re.findall(r"[\w/]+\.md", CONFIG.read_text(encoding="utf-8").split("\nnav:")[1])
    assert {page.relative_to(DOCS).as_posix() for page in PAGES if DOCS in page.parents} <= {*menu}
    assert len(menu) == len({*menu})


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_between_documents_work_in_the_repository(page: Path) -> None:
    prose = re.sub(r"(?s)```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)\s]+)\)", prose)
    targets = [urldefrag(link).url for link in links if not urlsplit(link).scheme]
    generated = {"changelog.md": TOP / "CHANGELOG.md"}
    assert [t for t in targets if t and t not in generated and not (page.parent / t).exists()] == []
