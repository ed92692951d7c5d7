"""A page made of codeact's docstrings. The site is no part of the package, so nothing of it can name the extra."""

import tempfile
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config

with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "docs").mkdir()
    (Path(folder) / "docs" / "index.md").write_text("# Reference\n\n::: codeact.limits.Limits\n", "utf-8")
    (Path(folder) / "mkdocs.yml").write_text(
        "site_name: codeact\ntheme: {name: material, font: false}\nplugins: [mkdocstrings]\n", "utf-8"
    )
    build(load_config(str(Path(folder) / "mkdocs.yml"), strict=True))
    page = (Path(folder) / "site" / "index.html").read_text("utf-8")
    assert "call_timeout" in page
