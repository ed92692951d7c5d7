"""Declaring tools, and what is said when a declaration is wrong."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codeact import Sandbox, Toolset, run, tool


def plain(x: int) -> int:
    """Plain."""
    return x


def bare(x):
    return x


def silent(x: int):
    return x


class Adder:
    def __call__(self, x: int) -> int:
        return x + 1


BAD: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "no annotation": (lambda: Toolset([bare]), TypeError, "'bare': parameter 'x' has no annotation"),
    "no return annotation": (lambda: Toolset([silent]), TypeError, "'silent' does not say what it returns"),
    "lambda": (lambda: Toolset([lambda: 1]), ValueError, "'<lambda>' is no public identifier"),
    "no name": (lambda: Toolset([functools.partial(plain, 1)]), ValueError, "has no name; give one"),
    "twice": (lambda: Toolset([plain, plain]), ValueError, "two tools are named 'plain'"),
    "no identifier": (lambda: tool(name="get charges")(plain), ValueError, "'get charges' is no public identifier"),
    "keyword": (lambda: tool(name="class")(plain), ValueError, "'class' is no public identifier"),
    "a ligature": (lambda: tool(name="\ufb01le")(plain), ValueError, "is no public identifier"),
    "private": (lambda: tool(name="_x")(plain), ValueError, "'_x' is no public identifier"),
    "not callable": (lambda: Toolset([3]), TypeError, "expected a function, got 3"),  # type: ignore[list-item]
    "no collection": (lambda: Toolset(3), TypeError, "tools=3"),  # type: ignore[arg-type]
    "a string": (lambda: Toolset("plain"), TypeError, "tools='plain'"),  # type: ignore[arg-type]
    "a tool of a tool": (lambda: tool(tool(plain)), TypeError, "already a tool"),
    "timeout": (lambda: tool(timeout=0)(plain), ValueError, "timeout=0"),
    "unknown engine": (lambda: Sandbox(engine="wasp"), ValueError, "engine='wasp'.*restricted, wasm"),
    "engine of the wrong type": (lambda: Sandbox(engine=3), TypeError, "engine=3"),  # type: ignore[arg-type]
    "limits of the wrong type": (lambda: Sandbox(engine="restricted", limits={"fuel": 3}), TypeError, "limits="),  # type: ignore[arg-type]
    "timeout of run": (lambda: run("1", timeout=0), ValueError, "timeout=0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_declarations_are_refused_at_once(case: str) -> None:
    declare, kind, message = BAD[case]
    with pytest.raises(kind, match=message):
        declare()


@pytest.mark.parametrize("code", [None, 3, b"1", ["1"]])
def test_code_that_is_no_string_is_refused(sandbox: Sandbox, code: Any) -> None:
    with pytest.raises(TypeError, match="code: expected the program as a str"):
        sandbox.run(code)


@pytest.mark.parametrize(
    ("code", "message"),
    [("x = 1\n" * 2_000_000, "12,000,000 bytes"), ("x = 1\ny = '\0'", "NUL"), ("\ud800", "")],
    ids=["10 MB", "NUL", "lone surrogate"],
)
def test_text_that_is_no_program_is_an_error_as_data(sandbox: Sandbox, code: str, message: str) -> None:
    error = sandbox.run(code).error
    assert error is not None
    assert error.kind == "syntax"
    assert message in error.message


def test_a_tool_is_still_the_function() -> None:
    made = tool(plain)
    assert made(3) == 3
    assert (made.name, made.doc, made.is_async) == ("plain", "Plain.", False)


def test_functions_mappings_partials_and_callables_are_taken(engine: str) -> None:
    granted = {"one": functools.partial(plain, 1), "plus": Adder(), "again": tool(plain)}
    assert Sandbox(granted, engine=engine).run("[tools.one(), tools.plus(1), tools.again(3)]").value == [1, 2, 3]


def test_toolset_is_read_only() -> None:
    toolset = Toolset([plain])
    with pytest.raises(TypeError):
        toolset["x"] = 1  # type: ignore[index]
    with pytest.raises(AttributeError):
        toolset.x = 1  # type: ignore[attr-defined]


def test_the_public_names_are_what_they_say() -> None:
    import codeact  # noqa: PLC0415

    assert sorted(codeact.__all__) == codeact.__all__
    for name in codeact.__all__:
        assert getattr(codeact, name).__module__.startswith("codeact.")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        codeact.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_importing_codeact_brings_nothing_heavy() -> None:
    heavy = {"pydantic", "wasmtime", "RestrictedPython", "asyncio", "typer", "rich", "tenacity"}
    code = f"import sys, codeact\nprint(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent
    )
    assert done.stdout.strip() == "[]"


def test_the_package_is_typed() -> None:
    import codeact  # noqa: PLC0415

    assert codeact.__file__ is not None
    assert Path(codeact.__file__).with_name("py.typed").exists()
