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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as people build it."""
    made = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", CONFIG, "-d", made]
    built = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return made


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_page_is_in_the_navigation() -> None:
    menu = re.findall(r"[\w/]+\.md", CONFIG.read_text(encoding="utf-8").split("\nnav:")[1])
    assert {page.relative_to(DOCS).as_posix() for page in PAGES if DOCS in page.parents} <= {*menu}
    assert len(menu) == len({*menu})


def test_links_lead_somewhere(pages: dict[Path, Page]) -> None:
    assert [*_broken(pages)] == []


def _broken(pages: dict[Path, Page]) -> Iterator[str]:
    for path, page in pages.items():
        for link in page.links:
            if urlsplit(link).scheme or path.name == "404.html":
                continue
            target, anchor = urldefrag(link)
            found = (path.parent / unquote(target)).resolve() if target else path
            if not found.exists() or (anchor and found in pages and unquote(anchor) not in pages[found].anchors):
                yield f"{path.name}: {link}"


def test_nothing_is_fetched_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    assert [url for page in pages.values() for url in page.loaded if urlsplit(url).netloc] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"url\(['\"]?(?:https?:)?//[^)]*|@import[^;]*//[^;]*", styles) == []


PUBLIC = [
    "codeact",
    "codeact.agent",
    "codeact.audit",
    "codeact.catalogue",
    "codeact.egress",
    "codeact.engines",
    "codeact.integrations",
    "codeact.journal",
    "codeact.messages",
    "codeact.models",
    "codeact.outbox",
    "codeact.policy",
    "codeact.schemas",
    "codeact.testing.conformance",
    "codeact.testing.fakes",
    "codeact.testing.models",
    "codeact.trace",
]
"""Modules that a host imports from. Those of a framework have a page, and are known by it."""


def test_every_public_name_is_in_the_reference(pages: dict[Path, Page]) -> None:
    known = set().union(*(page.anchors for path, page in pages.items() if path.parent.name == "api"))
    assert {f"{module}.{name}" for module in PUBLIC for name in getattr(import_module(module), "__all__", ())} <= known


def test_every_module_for_a_framework_is_in_the_reference(pages: dict[Path, Page]) -> None:
    known = set().union(*(page.anchors for path, page in pages.items() if path.parent.name == "api"))
    fits = {page.stem for page in PAGES if page.parent.name == "integrations"} - {"index"}
    assert {f"codeact.integrations.{fit}" for fit in fits} <= known


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_between_documents_work_in_the_repository(page: Path) -> None:
    prose = re.sub(r"(?s)```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)\s]+)\)", prose)
    targets = [urldefrag(link).url for link in links if not urlsplit(link).scheme]
    generated = {"changelog.md": TOP / "CHANGELOG.md"}
    assert [t for t in targets if t and t not in generated and not (page.parent / t).exists()] == []
