"""Every block of code in the documents is true: it runs as it stands, in order, and prints what it says."""

from __future__ import annotations

import contextlib
import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from codeact.policy import Policy
from tests.docs.blocks import PAGES, Block, blocks, indented, is_as_told, named, told
from tests.docs.commands import holds, typed
from tests.docs.rooms import ROOMS

FREE = {"text": "what something prints, or a model is told"}
"""Languages of which nothing can be run, and what they are for."""


class Reader:
    """Somebody who does what a page says, from its beginning to its end."""

    def __init__(self, module: ModuleType, capsys: pytest.CaptureFixture[str], config: pytest.Config) -> None:
        self.module = module
        self.capsys = capsys
        self.config = config

    def python(self, block: Block) -> None:
        # Lines as in the page, for tracebacks and for what reads the source of its own functions.
        code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec", dont_inherit=True)
        self.capsys.readouterr()
        exec(code, vars(self.module))
        printed = self.capsys.readouterr().out
        said = told(block.text)
        assert is_as_told(printed, said), f"{block}: it prints\n{printed}\nand says\n" + "\n".join(said)

    def toml(self, block: Block) -> None:
        if tomllib.loads(block.text).keys() & {"policy", "boundary"}:
            Path("policy.toml").write_text(block.text)
            Policy.load("policy.toml")

    def json(self, block: Block) -> None:
        json.loads(block.text)

    def sh(self, block: Block) -> None:
        for words, shown in typed(block):
            printed = holds(words, self.config)
            if shown and printed is not None:
                assert is_as_told(printed, [line.strip() for line in shown.strip().splitlines()]), (
                    f"{block}: {' '.join(words)} prints\n{printed}"
                )

    console = sh


@pytest.mark.parametrize("page", [page for page in PAGES if any(blocks(page))], ids=named)
def test_what_a_page_says_is_so(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    pytestconfig: pytest.Config,
) -> None:
    module = ModuleType("a_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # `codeact run --tools` adds the directory
    reader = Reader(module, capsys, pytestconfig)
    with ROOMS.get(named(page), lambda _patch: contextlib.nullcontext())(monkeypatch):
        for block in blocks(page):
            if block.language in FREE:
                continue
            done: Callable[[Block], None] | None = getattr(reader, block.language, None)
            assert block.language, f"{block}: a block without a language"
            assert done, f"{block}: nobody checks {block.language}"
            done(block)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_code_is_fenced(page: Path) -> None:
    assert list(indented(page)) == []
