"""Pages of the site that are files at the top of the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

TOP = Path(__file__).parents[2]
PAGES = {"changelog.md": "CHANGELOG.md", "reporting.md": "SECURITY.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add them, with what they say of `docs/…` leading to the page."""
    for page, source in PAGES.items():
        text = (TOP / source).read_text(encoding="utf-8")
        text = re.sub(r"\]\(docs/", "](", re.sub(r"`docs/([\w/]+\.md)`", _linked, text))
        files.append(File.generated(config, page, content=text))
    return files


def _linked(found: re.Match[str]) -> str:
    return f"[{found[1]}]({found[1]})" if (TOP / "docs" / found[1]).is_file() else found[0]
