"""Whatever was done to a program's text, some reading of it is that program, line by line."""

from __future__ import annotations

import ast
import contextlib
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from codeact.engines import Outcome
from codeact.source import MOST, Reading, is_unread, readings

# In the pieces of programs: quotes that may become typographic, a space and nothing that may become characters that
# look like them, and a line break inside a string.
BEGIN, END, SPACE, NOTHING, INNER = "⟦⟧␣∅⏎"

STATEMENTS = (
    "x␣=␣1",
    "s = ⟦it's⟧",
    "t = f⟦{x!r:>{4}} {{}} {s or 'none'}⟧",
    "u = '''one⏎  two⏎\tthree⏎```python⏎code⏎```⏎>>> four⏎'''",
    'u = """⏎don\'t \'\'\'⏎"""',
    "v = ⟦```⟧ + '~~~'",
    "w = [\n    1,\n  2,\n\n]",
    "y = 1 + \\\n    2",
    "# it's a comment: \u201cquoted\u201d, `x`, \" and '''",
    "z = r'\\d+\\n' + '\\n\\t\\\\'",
    "c = 'smart \u201cquotes\u201d stay, and so does it\u2019s'",
    "c = 'a\xa0b\u200bc'",
    "d∅ = {'a': [1, (2, 3)],␣⟦b⟧: x}",
    "e = f'{x:,}' f\"{'a' if x else 'b'}\"",
    "e = rb'\\x00' + b'\\\\'",
    "import json,␣re",
    "print(⟦hello⟧,␣x∅)  # done",
    "h = lambda q, *r: q",
    "k = '...' if x else ...",
    "m = f'''{x}⏎  {y:>10}⏎''' ; n = '#'",
    "o = ⟦say 'no'⟧ + ⟦⟧",
    "p = x[1:2], -x, ~x, not x",
)
OPENINGS = ("def f(q=⟦a⟧):", "for n in range(3):", "if x:", "class A:", "with f(⟦a⟧) as g:", "while␣x:  # forever")


def alone(statement: str) -> list[str]:
    return [statement]


def block(opening: str, body: list[list[str]]) -> list[str]:
    return [opening, *(" " + line for lines in body for line in lines), " pass"]


def blocks(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    return st.builds(block, st.sampled_from(OPENINGS), st.lists(inner, max_size=3))


# No lambdas: hypothesis reads their source, and CPython 3.11 may fail at that where another thread makes a tree too
# (python/cpython#106905).
statements = st.recursive(st.sampled_from(STATEMENTS).map(alone), blocks, max_leaves=6)
"""Statements as lists of lines, indented by a space a level."""


@st.composite
def programs(draw: st.DrawFn) -> str:
    level = draw(st.sampled_from(["    ", "  ", "\t"]))
    found = draw(st.lists(statements, min_size=1, max_size=4))
    lines = [line for statement in found for line in statement]
    depths = [len(line) - len(line.lstrip(" ")) for line in lines]
    return "\n".join(level * depth + line.lstrip(" ") for line, depth in zip(lines, depths, strict=True)) + "\n"


def plain(program: str) -> str:
    return mangled(program, '"', '"', " ", "", "\n")


def mangled(program: str, *replacements: str) -> str:
    for mark, put in zip((BEGIN, END, SPACE, NOTHING, INNER), replacements, strict=True):
        program = program.replace(mark, put)
    return program


def as_it_is(program: str) -> str:
    return program


def indented(by: str) -> Callable[[str], str]:
    return partial(indented_by, by)


def indented_by(by: str, program: str) -> str:
    return "".join(by + line if line.strip() else line for line in program.splitlines(keepends=True))


def stripped(by: str) -> Callable[[str], str]:
    return partial(stripped_of, by)


def stripped_of(by: str, program: str) -> str:
    """All but the first line; where that one opens a block, Python alone knows which lines are its own."""
    return program if program.startswith(OPENINGS) else indented(by)(program).strip()


def prompted(program: str) -> str:
    lines = program.replace(INNER, f"{INNER}... ").splitlines(keepends=True)
    statements = ast.parse(plain(program.replace(INNER, " "))).body
    more = {number for node in statements for number in range(node.lineno + 1, (node.end_lineno or 0) + 1)}
    return "".join(("... " if number in more else ">>> ") + line for number, line in enumerate(lines, 1))


layouts = st.sampled_from(
    [as_it_is, *map(indented, ("  ", "    ", "\t", " \t")), *map(stripped, ("    ", "\t")), prompted]
)


def opened_as_closed(marks: tuple[str, ...]) -> bool:
    return marks[0] != '"' or marks[1] == '"'


characters = st.tuples(
    st.sampled_from(["\u201c", "\u201d", "\u201e", '"']),
    st.sampled_from(["\u201d", "\u201c", '"']),
    st.sampled_from([" ", "\xa0", "\u3000"]),
    st.sampled_from(["", "\u200b", "\ufeff"]),
).filter(opened_as_closed)

fences = st.tuples(
    st.sampled_from(["", "Here's the code:\n\n", "Sure! It\u2019s \u201csimple\u201d (\n", "# Plan\n1. Don't\n"]),
    st.sampled_from(["", "   "]),
    st.sampled_from(["```python", "```py", "````", "```", "```{python}", "``` Python", "~~~python", "~~~"]),
    st.sampled_from(["\n", "", "\n\nThis prints it's \"value.", "\n```text\noutput '''\n```\n"]),
)


def fenced(program: str, before: str, indent: str, opening: str, after: str) -> str:
    closing = opening[0] * (4 if opening == "````" else 3)
    return f"{before}{indent}{opening}\n{indented(indent)(program.rstrip())}\n{indent}{closing}{after}"


def unclosed(program: str) -> str:
    return f"```python\n{program}"


def glued(program: str) -> str:
    return f"```\n{program.rstrip()}```"


def understood(text: str) -> Reading:
    """The first reading that is Python."""
    for reading in readings(text):
        with contextlib.suppress(SyntaxError):
            tree = ast.parse(reading.text)
            if not is_unread(reading.text, Outcome(bound=("something",) if tree.body else ())):
                return reading
    pytest.fail(f"no reading of it is Python: {text!r}")


def names(tree: ast.AST) -> Iterator[ast.Name]:
    """The names of which the parser knows the place."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Name):
            yield node
        if not isinstance(node, ast.JoinedStr) or sys.version_info >= (3, 12):
            yield from names(node)


def assert_is(reading: Reading, program: str, before: int | None = None) -> None:
    """Assert that a reading is a program, which begins after so many lines; None where lines were lost."""
    expected, found = ast.parse(program), ast.parse(reading.text)
    assert ast.dump(found) == ast.dump(expected), reading
    lines = re.split("\r\n|\r|\n", reading.text)
    for wanted, got in zip(names(expected), names(found), strict=True):
        column = len(lines[got.lineno - 1].encode()[: got.col_offset].decode()) + 1
        line = reading.line(got.lineno, column)
        assert line.text[line.column - 1 :].startswith(got.id), (line, got.id)
        if before is not None:
            assert line.number == got.lineno == wanted.lineno + before
            assert line.text == re.split("\r\n|\r|\n", reading.written)[line.number - 1]


@given(programs(), layouts, characters, fences | st.sampled_from([None, unclosed, glued]), st.data())
@settings(deadline=None)
def test_a_mangled_program_is_found_again(
    program: str,
    layout: Callable[[str], str],
    marks: tuple[str, ...],
    wrap: Callable[[str], str] | tuple[str, str, str, str] | None,
    data: st.DataObject,
) -> None:
    text = layout(program)
    before = 0
    if isinstance(wrap, tuple):
        text = fenced(text, *wrap)
        before = wrap[0].count("\n") + 1
    elif wrap is not None and "#" not in text.splitlines()[-1]:
        text = wrap(text)
        before = 1
    text = mangled(text, *marks, "\n").replace("\n", data.draw(st.sampled_from(["\n", "\r\n", "\r"])))
    text = data.draw(st.sampled_from(["", "\ufeff"])) + text
    assert_is(understood(text), plain(program), before)


def means_something_else(text: str) -> bool:
    """Whether a text parses as it is: one statement, or one that a comment swallows the others after."""
    with contextlib.suppress(SyntaxError):
        return bool(ast.parse(text).body)
    return False


@given(programs(), layouts, fences | st.none(), st.booleans())
@settings(deadline=None)
def test_an_escaped_program_is_found_again(
    program: str, layout: Callable[[str], str], fence: tuple[str, str, str, str] | None, outside: bool
) -> None:
    text = layout(program)
    if fence and outside:
        text = fenced(text, *fence)
    text = json.dumps(plain(text), ensure_ascii=False)[1:-1]
    assume(not means_something_else(text))  # a fence around it is not taken for an escape
    if fence and not outside:
        text = fenced(text, *fence)
        assume(not means_something_else(text))
    assert_is(understood(text), plain(program))


@given(programs())
@settings(deadline=None)
def test_only_the_line_breaks_are_escaped(program: str) -> None:
    text = plain(program.replace(INNER, ""))
    try:
        ast.parse(text)
    except SyntaxError:
        return  # a line break inside a string was needed
    expected = text.replace("\\\n", "")
    text = expected.replace("\n", "\\n")
    assume(not means_something_else(text))
    assert_is(understood(text), expected)


@given(programs(), st.sampled_from(["y = = 2", "def", "print('a", "f(", "if x:\nx = 1"]), st.booleans())
@settings(deadline=None)
def test_a_program_with_an_error_of_its_own_has_no_other_reading(program: str, error: str, last: bool) -> None:
    text = plain(program)
    text = f"{text}{error}\n" if last else f"{error}\n{text}"
    for reading in readings(text):
        with pytest.raises(SyntaxError):
            ast.parse(reading.text)


@given(
    st.text(
        st.sampled_from("`~\\nrt\"'\u201c\u201d\u2018\u2019\n\r\t \f#(){}[]:=fxN>.\xa0\u200b\u2028a1"), max_size=200
    )
)
@settings(max_examples=300, deadline=None)
def test_any_text_has_few_readings_and_every_line_a_place(text: str) -> None:
    found = list(readings(text))
    assert found[0] == Reading(text, text)
    assert len(found) <= MOST + 1
    for reading in found:
        assert reading.notes or reading is found[0]
        for number in range(reading.text.count("\n") + 2):
            line = reading.line(number, 3)
            assert line.text in text
            assert 0 <= line.number <= text.count("\n") + text.count("\r") + 1


HOSTILE = ["`", "```\n", "``` ", "~~~ ", "\\", "\\n", '\\"', "(", '"', "'''", 'f"{', "f'{x:{", "\u201c", '\u201ca"', "\xa0",
           "\u200bx", "\n", "\r", "\tx\n x\n", " ", "#\n", ">>>", "```py\nx\n```\n", "x\u2028", "f'\\N{", "rb", "\f", " \f"]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_work_grows_with_the_length_and_not_with_its_square(piece: str) -> None:
    text = " \u201c" + piece * (128 * 1024 // len(piece.encode()))
    started = time.monotonic()
    assert sum(1 for _ in readings(text)) <= MOST + 1
    assert time.monotonic() - started < 30, "it takes a fraction of a second"
