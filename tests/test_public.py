"""What is public: each name is there, documented and in the reference; and what is shipped is what is said."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, pairwise
from pathlib import Path

import pytest

import codeact
from codeact import egress

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PUBLIC = sorted(
    {
        name
        for page in (ROOT / "docs" / "api").glob("*.md")
        for name in re.findall(r"^::: ([\w.]+)", page.read_text("utf-8"), re.MULTILINE)
    }
)
"""The modules of the reference."""

PRIVATE = {"codeact.engines.restricted.library", "codeact.walls"}
"""Packages with an `__all__` for others of codeact's own; what hosts do with them has a command."""

TYPED = [ROOT / "tests" / "typing" / name for name in ("api.py", "integrations.py", "models.py")]


@cache
def _tree(module: str) -> ast.Module:
    origin = find_spec(module).origin
    return ast.parse(Path(origin).read_text("utf-8"))


def _imported(statements: list[ast.stmt]) -> dict[str, str]:
    """Names and the modules that they are imported from."""
    found = [(each.names, each.module) for each in statements if isinstance(each, ast.ImportFrom)]
    return {name.asname or name.name: module for names, module in found for name in names}


def _guarded(module: str) -> dict[str, str]:
    """What a module imports for type checkers alone."""
    (guard,) = [
        each for each in _tree(module).body if isinstance(each, ast.If) and ast.unparse(each.test) == "TYPE_CHECKING"
    ]
    return _imported(guard.body)


def _home(module: str, name: str) -> str:
    """The module that binds a name which others import from one another."""
    guards = [each.body for each in _tree(module).body if isinstance(each, ast.If)]
    imported = _imported([*_tree(module).body, *chain(*guards)])
    return _home(imported[name], name) if name in imported else module


def _described(module: str, name: str) -> bool:
    """Whether somebody has written what a name is: in its docstring, or in the text below it."""
    body = _tree(_home(module, name)).body
    defined = [each for each in body if getattr(each, "name", None) == name]
    if defined:
        return any(map(ast.get_docstring, defined))  # that of a function with overloads is at the last
    for one, below in pairwise(body):
        targets = one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    return False


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_sorted_there_and_described(module: str) -> None:
    tree = _tree(module)  # read and not imported: frameworks take seconds
    (names,) = [ast.literal_eval(each.value) for each in tree.body if "__all__ = " in ast.unparse(each)]
    assert names == sorted(set(names), key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert ast.get_docstring(tree)
    assert [name for name in names if not _described(module, name)] == []


@pytest.mark.parametrize("module", [module for module in PUBLIC if "integrations" not in module])
def test_public_names_are_there(module: str) -> None:
    found = import_module(module)
    assert [name for name in found.__all__ if not hasattr(found, name)] == []


def test_no_public_package_is_left_out_of_the_reference() -> None:
    having = {
        ".".join(path.relative_to(ROOT).parent.parts)
        for path in (ROOT / "codeact").rglob("__init__.py")
        if "__all__" in path.read_text("utf-8")
    }
    assert having - {*PUBLIC} == PRIVATE


def test_the_names_of_the_top_are_what_type_checkers_see() -> None:
    seen = _guarded("codeact")
    assert seen == {name: f"codeact.{home}" for name, home in codeact._HOMES.items()}
    assert sorted(seen) == codeact.__all__ == dir(codeact)
    for name, home in seen.items():
        assert getattr(codeact, name) is getattr(import_module(home), name)
    with pytest.raises(AttributeError, match="module 'codeact' has no attribute 'Sandpit'"):
        codeact.Sandpit  # noqa: B018 - that is the point


def test_the_names_of_egress_are_what_type_checkers_see() -> None:
    seen = _guarded("codeact.egress") | _imported(_tree("codeact.egress").body)
    names = {name: home for name, home in seen.items() if home.startswith("codeact.")}
    assert sorted(names) == egress.__all__
    assert all(getattr(egress, name) is getattr(import_module(home), name) for name, home in names.items())


def test_every_name_of_the_top_is_in_the_typing_tests() -> None:
    used = {
        node.id for path in TYPED for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Name)
    }
    assert {*codeact.__all__} - used == set()


def test_every_public_module_is_in_the_typing_tests() -> None:
    froms = [
        node
        for path in TYPED
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
    ]
    imported = {node.module for node in froms} | {f"{node.module}.{name.name}" for node in froms for name in node.names}
    assert {*PUBLIC} - imported - {"codeact.testing.walls"} == set()


def test_the_wheel_is_told_to_hold_what_is_used() -> None:
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["codeact", "wasm_runtime"]
    assert wheel["artifacts"] == ["wasm_runtime/guest.wasm"]
    assert wheel["force-include"] == {"examples/support_ticket": "codeact/demo"}
    assert (ROOT / "examples" / "support_ticket" / "script.toml").exists()
    assert (ROOT / "codeact" / "py.typed").exists()
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert "/wasm_runtime/guest.wasm" in ignored  # so the wheel must name it, and the source distribution leave it out
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["exclude"] == ["wasm_runtime/guest.wasm"]


def test_entry_points_lead_somewhere() -> None:
    project = PROJECT["project"]
    points = [*project["scripts"].values(), *project["entry-points"]["pytest11"].values()]
    assert "codeact.testing.plugin" in points
    for point in points:
        module, _, attribute = point.partition(":")
        assert hasattr(import_module(module), attribute or "__name__")


def test_what_makes_the_guest_is_pinned_once() -> None:
    (pin,) = [one for one in PROJECT["build-system"]["requires"] if one.startswith("componentize-py")]
    assert pin in PROJECT["project"]["optional-dependencies"]["build"]
    assert not any("componentize" in one for one in PROJECT["project"]["dependencies"])
