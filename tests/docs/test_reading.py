"""What reads the documents sees what is in them: a block that is not seen would be a block that nobody runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeact.cli import app
from tests.docs import blocks, commands

PAGE = """\
# A page

```python
print(1)        # 1
```

* in a list:

  ```sh
  codeact doctor
  ```

````text
```
inside
```
````

    indented = True
"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(blocks, "TOP", tmp_path)
    (tmp_path / "page.md").write_text(PAGE)
    return tmp_path / "page.md"


def test_every_block_is_found(page: Path) -> None:
    assert [(block.language, block.line, block.text) for block in blocks.blocks(page)] == [
        ("python", 4, "print(1)        # 1\n"),
        ("sh", 10, "codeact doctor\n"),
        ("text", 14, "```\ninside\n```\n"),
    ]
    assert list(blocks.indented(page)) == [19]


def test_a_fence_that_is_not_closed_is_an_error(page: Path) -> None:
    page.write_text("```python\nprint(1)\n")
    with pytest.raises(AssertionError, match=r"page\.md:2"):
        list(blocks.blocks(page))


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("print(1)  # 1", ["1"]),
        ("with a:\n    print(1)  # 1", ["1"]),
        ("f()\n# 1\n#   2", ["1", "2"]),
        ("for a in b:\n    f(a)\n# 1", ["1"]),
        ('f("""\n# no\n""")\n# 1', ["1"]),
        ("print(1,\n      2)\n# 1 2", ["1 2"]),
        ("# before\nf()", []),
        ("f()\n\n# later\nf()", []),
        ("a = 1  # why", []),
        ("def f():\n    # why\n    return 1", []),
    ],
)
def test_what_a_block_says_that_it_prints(source: str, lines: list[str]) -> None:
    assert blocks.told(source) == lines


@pytest.mark.parametrize(
    ("printed", "said", "same"),
    [
        ("1\n", ["1"], True),
        ("1\n2\n", ["1"], False),
        ("1\n", [], False),
        ("", [], True),
        ("  1 (0x7f)\n", ["1 (…)"], True),
        ("1\n2\n3\n", ["1", "…"], True),
        ("1\n2\n3\n", ["…", "3"], True),
        ("1\n2\n", ["1 …"], False),
    ],
)
def test_what_is_printed_is_compared(printed: str, said: list[str], same: bool) -> None:
    assert blocks.is_as_told(printed, said) is same


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("sh", "a 'b c' --d=e  # why\nf\n", [(["a", "b c", "--d=e"], ""), (["f"], "")]),
        ("sh", "a && X=1 b | c > d\n", [(["a"], ""), (["b"], ""), (["c"], "")]),
        ("sh", "a \\\n  b 'c\nd'\n", [(["a", "b", "c\nd"], "")]),
        ("console", "$ a\n1\n2\n$ b\n", [(["a"], "1\n2\n"), (["b"], "")]),
    ],
)
def test_the_commands_of_a_block(language: str, text: str, found: list[tuple[list[str], str]]) -> None:
    assert [*commands.typed(blocks.Block(blocks.TOP / "page.md", 1, language, text))] == found


@pytest.mark.parametrize("words", [["codeact", "walls", "--nothing"], ["pip", "install", "codeact[nothing]"], ["rm"]])
def test_a_command_that_is_none_is_found_out(words: list[str], pytestconfig: pytest.Config) -> None:
    with pytest.raises(Exception, match="nothing|rm"):
        commands.holds(words, pytestconfig)


@pytest.mark.parametrize("name", commands.NOT_RUN)
def test_what_is_not_run_is_there(name: str) -> None:
    commands._helps(app, [name])
