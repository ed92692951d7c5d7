"""What models really write runs, says what was done to it, and keeps the lines that they wrote."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from codeact import Limits, Sandbox
from codeact.engines import Doors, Face, Fault, Frame, Instance, Outcome, Program
from tests import tools
from tests.conftest import MakeSandbox

LQ, RQ, LS, RS = "\u201c\u201d\u2018\u2019"

WRAPPED = "Here's the program:\n\n```python\nx = 20\nx + 1\n```\n\nIt gives 21."

REPAIRED: dict[str, tuple[str, object, str]] = {
    # what was written, its value, the note
    "fence": ("```python\n6 * 7\n```", 42, "taken out of a markdown fence (line 2)"),
    "fence, py": ("```py\n6 * 7\n```\n", 42, "taken out of a markdown fence (line 2)"),
    "fence without a language": ("```\n6 * 7\n```", 42, "taken out of a markdown fence (line 2)"),
    "fence of tildes": ("~~~\n6 * 7\n~~~", 42, "taken out of a markdown fence (line 2)"),
    "fence of many backticks": ("`````python\n6 * 7\n`````", 42, "taken out of a markdown fence (line 2)"),
    "prose around a fence": (WRAPPED, 21, "taken out of a markdown fence (lines 4-5)"),
    "unclosed fence": ("```python\nx = 6\nx * 7", 42, "taken out of a markdown fence (lines 2-3)"),
    "fence on the last line of code": ("```python\n6 * 7```", 42, "taken out of a markdown fence (line 2)"),
    "text after the closing fence": ("```python\n6 * 7\n```<end_code>", 42, "taken out of a markdown fence (line 2)"),
    "several blocks": (
        "First:\n```python\nx = 6\n```\nIt's set. Then:\n```python\nx * 7\n```\nOutput:\n```\n42\n```",
        42,
        "taken out of 2 markdown fences (lines 3, 7)",
    ),
    "block of another language first": (
        "```bash\npip install it's\n```\n```python\n6 * 7\n```",
        42,
        "taken out of a markdown fence (line 5)",
    ),
    "a block that was not closed before the next": (
        "```python\nx = 6\n\n```python\nx * 7\n```",
        42,
        "taken out of 2 markdown fences (lines 2-3, 5)",
    ),
    "indented fence": (
        "1. Do:\n   ```python\n   x = 6\n   x * 7\n   ```",
        42,
        "taken out of a markdown fence (lines 3-4)",
    ),
    "fence in a list": (
        "1. ```py\n   x = 6\n   x * 7\n   ```\n2. Done",
        42,
        "taken out of a markdown fence (lines 2-3)",
    ),
    "fence at the end of a sentence": (
        "The code: ```python\nx = 6\nx * 7\n```",
        42,
        "taken out of a markdown fence (lines 2-3)",
    ),
    "fences within strings": (
        "```python\nmd = '''\n```\ncode\n```\n'''\n(md, '```', '\\n```\\n')\n```",
        ("\n```\ncode\n```\n", "```", "\n```\n"),
        "taken out of a markdown fence (lines 2-7)",
    ),
    "beside the fence": (
        '```python title="a.py"\n6 * 7\n```',
        42,
        "taken out of a markdown fence (line 2); left out what stood beside the fence, 'title=\"a.py\"'",
    ),
    "one line in backticks": ("```6 * 7```", 42, "taken out of backticks"),
    "one line with its language": ("```python 6 * 7```", 42, "taken out of backticks"),
    "one backtick": ("`6 * 7`", 42, "taken out of backticks"),
    "opening fence cut off": ("x = 6\nx * 7\n```", 42, "a markdown fence at the end left out"),
    "language left over": ("python\nx = 6\nx * 7", 42, "a first line that only says python left out"),
    "language left over, and a fence": (
        "Python\r\nx = 6\r\nx * 7\r\n```\r\n",
        42,
        "a markdown fence at the end left out; a first line that only says Python left out",
    ),
    "indented": ("    x = 6\n    if x:\n        x *= 7\n    x", 42, "indentation of 4 spaces taken off"),
    "indented by tabs": ("\tx = 6\n\tif x:\n\t\tx *= 7\n\tx", 42, "indentation of 1 tab taken off"),
    "leading space": (" x = 6\nx * 7", 42, "indentation taken off the first line, 1 space"),
    "all but the first line": (
        "import math\n    x = 6\n    if x:\n        x *= 7\n    x",
        42,
        "indentation taken off all lines but the first, 4 spaces",
    ),
    "all but the first line, which opens a block": (
        "def f():\n        return 6\n    for n in range(1):\n        x = f() * 7\n    x",
        42,
        "indentation taken off all lines but the first, 4 spaces",
    ),
    "strings keep what they hold": (
        "    a = '''\n      x\n    y'''\n    b = [\n  1,\n    ]\n# done\n    a, b",
        ("\n      x\n    y", [1]),
        "indentation of 4 spaces taken off",
    ),
    "tab among spaces": (
        "for n in range(2):\n    x = n\n\tx += 41\nx",
        42,
        "tabs read as 4 columns (line 3)",
    ),
    "tabs of eight columns": (
        "if True:\n    if True:\n\tx = 42\nx",
        42,
        "tabs read as 8 columns (line 3)",
    ),
    "mark at the start": ("\ufeffx = 6\nx * 7", 42, "U+FEFF left out (line 1)"),
    "invisible characters": ("x\u200b = 6\n\u2060x * 7\u200b", 42, "U+200B, U+2060 left out (lines 1-2)"),
    "unusual spaces": ("if 1:\n\xa0\xa0x\xa0=\u30006\nx * 7", 42, "U+00A0, U+3000 read as space (line 2)"),
    "unusual line break": ("x = 6\u2028x * 7", 42, "U+2028 read as line break (line 1)"),
    "typographic quotes": (
        f"x = {LQ}it{RS}s{RQ}\ny = {LS}don{RS}t{RS}\nz = '{LQ}'\nx, y, z",
        (f"it{RS}s", f"don{RS}t", LQ),
        "typographic quotes read as plain ones (lines 1-2)",
    ),
    "typographic quotes around plain ones": (
        f'({LQ}say "hi" now{RQ}, {LS}it\'s{RS})',
        ('say "hi" now', "it's"),
        "typographic quotes read as plain ones (line 1)",
    ),
    "typographic quotes in a replacement field": (
        f"d = {{{LS}k{RS}: 6}}\nf{LQ}{{d[{LS}k{RS}]:>3}} {{{{}}}}{RQ}",
        "  6 {}",
        "typographic quotes read as plain ones (lines 1-2)",
    ),
    "three typographic quotes": (
        f"{LQ}{LQ}{LQ}a\n{LQ}b{RQ}\n{RQ}{RQ}{RQ}",
        f"a\n{LQ}b{RQ}\n",
        "typographic quotes read as plain ones (lines 1, 3)",
    ),
    "escaped": (r"x = {\"a\": 'b\\n'}\nfor k in x:\n    y = x[k]\ny", "b\n", "one level of escaping taken off"),
    "escaped line breaks only": (
        r"x = 'a\nb'\nx.split('\n')",
        ["a", "b"],
        r"\n outside strings read as a line break (line 1)",
    ),
    "escaped, beginning with a comment": (r"# it's so\nx = 6\nx * 7", 42, "one level of escaping taken off"),
    "escaped with its fence": (
        r"Here's it:\n```python\nx = \"6\"\nx * 2\n```\n",
        "66",
        "one level of escaping taken off; taken out of a markdown fence (line 1)",
    ),
    "escaped in its fence": (
        "```python\nx = 6\\nx * 7\n```",
        42,
        "taken out of a markdown fence (line 2); one level of escaping taken off",
    ),
    "escaped quotes": ("x = \\\"a\\\"\nx + '\\n'", "a\n", "escaped quotes read as quotes (line 1)"),
    "prompts": (
        ">>> x = 6\n>>> for n in range(2):\n...     x += 18\n...\n>>> x\n42\n",
        42,
        "prompts taken off; 1 line without one left out",
    ),
    "everything": (
        f"Sure, here{RS}s it:\r\n\r\n  ```python\r\n  x\xa0= {LQ}a{RQ}\r\n  if x:\r\n      x += 'b'\r\n  x\r\n  ```\r\nThat{RS}s it.",
        "ab",
        "taken out of a markdown fence (lines 4-7); U+00A0 read as space (line 4); "
        "typographic quotes read as plain ones (line 4)",
    ),
}


@pytest.mark.parametrize("case", REPAIRED)
def test_what_models_write_runs_and_the_note_says_how_it_was_read(sandbox: Sandbox, case: str) -> None:
    written, value, note = REPAIRED[case]
    result = sandbox.run(written)
    assert result.ok, result.observation()
    assert result.value == value
    assert result.note == note
    assert f"\nnote: {note}" in result.observation()


UNTOUCHED: dict[str, tuple[str, object]] = {
    "line breaks of every kind": ("x = 1\r\nif x:\r\n    x = '''a\r\nb'''\rx", "a\nb"),
    "no line break at the end": ("x = 1\nx", 1),
    "form feeds": ("\x0cx = 1\n\x0c\nif x:\n\x0c    x = 2\nx", 2),
    "another encoding declared": ("# -*- coding: latin-1 -*-\n'\xe9\u201c'", "\xe9\u201c"),
    "an unknown encoding declared": ("# coding: nonsense\n'\xe9'", "\xe9"),
    "one string": ("'''\n```python\n1 / 0\n```\n'''", "\n```python\n1 / 0\n```\n"),
    "one string of a program": (r"'import json\nx = 1'", "import json\nx = 1"),
    "typographic quotes within strings": (f"'{LQ}a{RQ} it{RS}s \xa0\u200b'", f"{LQ}a{RQ} it{RS}s \xa0\u200b"),
    "backticks within strings": ("'```' + '`'", "````"),
    "tabs throughout": ("if True:\n\tif True:\n\t\tx = 1\nx", 1),
    "a name that is a language's": ("python = 1\npython", 1),
    "main guard": ('def main():\n    return 7\nif __name__ == "__main__":\n    x = main()\nx', 7),
    "return": ("if True:\n    return 5\n", 5),
    "await": ("async def f():\n    return 5\nawait f()", 5),
}


@pytest.mark.parametrize("case", UNTOUCHED)
def test_what_parses_means_what_it_says(sandbox: Sandbox, case: str) -> None:
    written, value = UNTOUCHED[case]
    result = sandbox.run(written)
    assert result.ok, result.observation()
    assert result.value == value
    assert result.note is None


PLACES: dict[str, tuple[str, int, str, str]] = {
    # what was written, the line at fault, its text, and the last frame of the traceback
    "fence": ("Here's it:\n```python\nx = 1\n\nx / 0\n```", 5, "x / 0", "line 5: x / 0"),
    "fence, in a function": (
        "```\ndef f(n):\n    return n / 0\nf(1)\n```",
        3,
        "    return n / 0",
        "line 3, in f: return n / 0",
    ),
    "indented": ("    x = 1\n    x / 0", 2, "    x / 0", "line 2: x / 0"),
    "prompts": (">>> x = 1\n>>> x / 0", 2, ">>> x / 0", "line 2: >>> x / 0"),
    "escaped": (r"x = \"1\"\nif x:\n    x / 0\nx", 1, "    x / 0", "line 1: x / 0"),
    "unusual line break": ("y = 2\nx = 1\u2028x / 0\ny", 2, "x / 0", "line 2: x / 0"),
    "carriage returns": ("```python\rx = 1\rx / 0\r```", 3, "x / 0", "line 3: x / 0"),
    "quotes": (f"x = {LQ}a{RQ}\n{LQ}b{RQ} / x", 2, f"{LQ}b{RQ} / x", f"line 2: {LQ}b{RQ} / x"),
}


@pytest.mark.parametrize("case", PLACES)
def test_faults_are_at_the_lines_that_the_model_wrote(sandbox: Sandbox, case: str) -> None:
    written, line, text, frame = PLACES[case]
    result = sandbox.run(written)
    error = result.error
    assert error is not None
    assert error.kind == "runtime", result.observation()
    assert (error.line, error.source_line) == (line, text)
    assert error.traceback.endswith(frame)
    assert result.note


CARETS: dict[str, tuple[str, int, str]] = {
    # what was written, and the line and the place in it that the caret is at
    "as it is": ("x = 1\nx = = 2", 2, "= 2"),
    "fence": ("It's here:\n```python\nx = 1\nx = = 2\n```", 4, "= 2"),
    "indented fence": ("- so:\n  ```\n  x = 1\n  x = = 2\n  ```", 4, "= 2"),
    "indented": ("    x = 1\n    x = = 2", 2, "= 2"),
    "prompts": (">>> x = 1\n>>> x = = 2", 2, "= 2"),
    "invisible characters": ("\ufeffx = 1\nx\u200b = = 2", 2, "= 2"),
}


@pytest.mark.parametrize("case", CARETS)
def test_an_error_of_its_own_stays_where_the_model_made_it(sandbox: Sandbox, case: str) -> None:
    written, line, place = CARETS[case]
    result = sandbox.run(written)
    error = result.error
    assert error is not None
    assert (error.kind, error.message, error.line) == ("syntax", "invalid syntax", line)
    assert error.source_line == written.split("\n")[line - 1]
    shown, caret = error.traceback.splitlines()[-2:]
    assert shown[caret.index("^") :] == place
    assert result.note is None, "what was tried in vain is no news"


@pytest.mark.parametrize(
    "written",
    [
        "x = = 1",
        "def f(:\n    pass",
        "print('a",
        "md = '''\n```python\nx = 1\n```\n'''\ny = = 2",
        "if x:\n    y = = 2",
        "class A:\n    return 1",
        "for n in [1]:\n    if n:\n        a = 1\n\tb = 1\n",
        "if x:\n        y = 1\n    z = 2\n",
        "if x:\n\ty = 1\n        z = 2\n",
        "def f():\n    x = 1\n  return x",
        "I cannot do that: it's not right.",
        "```python\n```",
        "x = 'a\\nb' +",
    ],
)
def test_a_text_that_is_no_program_has_the_error_of_its_text(sandbox: Sandbox, written: str) -> None:
    result = sandbox.run(written)
    assert result.error is not None
    assert result.error.kind in {"syntax", "denied"}, result.observation()
    assert result.note is None


@pytest.mark.parametrize(
    ("written", "note"),
    [
        ("", "the program is empty, so nothing was run"),
        (" \n\t\n", "the program is empty, so nothing was run"),
        ("# first\n\n  # then", "the program has only comments, so nothing was run"),
        ("```python\n# nothing to do\n```", "taken out of a markdown fence (line 2); the program has only comments, so nothing was run"),
        ("```\ny = 1\n```", "taken out of a markdown fence (line 2); the program ended without a value; it bound y."),
        ("pass", "the program ended without a value."),
    ],
)  # fmt: skip
def test_an_empty_success_says_why(sandbox: Sandbox, written: str, note: str) -> None:
    result = sandbox.run(written)
    assert (result.ok, result.value) == (True, None)
    assert result.note is not None
    assert result.note.startswith(note)


@pytest.mark.parametrize(
    ("written", "message", "line", "hint"),
    [
        ("x = 1\ny = '\0'", "NUL bytes", 2, r"\x00"),
        ("x = 1\n\ny = '\ud83d'", "the lone surrogate U+D83D", 3, r"\ud83d"),
    ],
)
def test_what_no_source_can_hold(sandbox: Sandbox, written: str, message: str, line: int, hint: str) -> None:
    error = sandbox.run(written).error
    assert error is not None
    assert (error.kind, error.type, error.line) == ("syntax", "SyntaxError", line)
    assert message in error.message
    assert error.hint is not None
    assert hint in error.hint


def test_tools_are_called_once_by_a_program_that_was_repaired(make: MakeSandbox) -> None:
    result = make(tools.ALL).run("```python\nrows = tools.get_charges('c1')\nlen(rows)\n```")
    assert result.value == 3
    assert len(result.calls) == 1


def test_files_are_there_for_a_program_that_was_repaired(sandbox: Sandbox) -> None:
    program = "```python\ntext = open('in.txt').read()\nopen('out.txt', 'w').write(text.upper())\n```"
    result = sandbox.run(program, files={"in.txt": b"a"})
    assert result.ok, result.observation()
    assert [(file.path, file.data) for file in result.files] == [("out.txt", b"A")]


def test_run_async_reads_as_run_does(sandbox: Sandbox) -> None:
    result = asyncio.run(sandbox.run_async(WRAPPED))
    assert (result.value, result.note) == (21, "taken out of a markdown fence (lines 4-5)")


def test_a_session_knows_the_lines_of_all_its_programs(sandbox: Sandbox) -> None:
    with sandbox.session() as session:
        assert session.run("Here's a function:\n```python\ndef f(n):\n    return 1 / n\n```").ok
        result = session.run("    n = 0\n    f(n)")
        assert result.error is not None
        assert (result.error.line, result.error.source_line) == (2, "    f(n)")
        assert "line 4 of program 1, in f: return 1 / n" in result.error.traceback
        assert result.note == "indentation of 4 spaces taken off; the session goes on, with the names f, n"
        session.restore()
        assert session.run("f(2)").value == 0.5


@dataclass
class Puppet:
    """An engine whose programs do as they are told, to which nothing is Python."""

    act: Callable[[Doors], object]
    name: str = "puppet"
    default_fuel: int = 1
    alive: bool = True
    texts: list[str] = field(default_factory=list)

    def open(self, faces: tuple[Face, ...], limits: Limits) -> Instance:
        return self

    def run(self, program: Program, doors: Doors) -> Outcome:
        self.texts.append(program.source)
        self.act(doors)
        return Outcome(fault=Fault("syntax", "SyntaxError", "no", (Frame(1, "<module>"),)), fuel=5)

    def close(self) -> None:
        pass


def test_the_engines_parser_is_the_judge() -> None:
    engine = Puppet(lambda doors: None)
    result = Sandbox(engine=engine).run("  ```\n  x = 1\n  ```")
    assert engine.texts == ["  ```\n  x = 1\n  ```", "\nx = 1\n"]
    assert result.usage.fuel == 10
    assert result.note is None


@pytest.mark.parametrize(
    "act", [lambda doors: doors.write("begun"), lambda doors: doors.refuse("echo", "no")], ids=["printed", "called"]
)
def test_what_has_acted_is_not_run_again(act: Callable[[Doors], object]) -> None:
    """A guest may say what it likes; the host knows that something was run."""
    engine = Puppet(act)
    assert not Sandbox(engine=engine).run("```\nx = 1\n```").ok
    assert len(engine.texts) == 1


def test_the_deadline_holds_between_readings() -> None:
    def wait(doors: Doors) -> None:
        while doors.interrupted() is None:
            pass

    engine = Puppet(wait)
    result = Sandbox(engine=engine, limits=Limits(timeout=0.1)).run("```\nx = 1\n```")
    assert result.error is not None
    assert result.error.kind == "timeout"
    assert len(engine.texts) == 1
