"""What to do about an exception: the next step, in a few words.

Only exceptions of exactly the builtin types are judged, by their type, text and the place of the failure. All of it
is computed when a program has failed, and none of the program's own code is called.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from types import FunctionType, GetSetDescriptorType, ModuleType
from typing import Any

from .absent import Missing
from .names import listed, meant, near
from .records import Member
from .sayings import CONSTANTS, HOMES, METHODS, OF_DATETIME, SAYINGS
from .scene import MAPPINGS, SEQUENCES, Place, Scene, place_of, text_of

_KEY = 40
"""Characters of a key that are shown."""

_LARGE = 10**40
"""Integers below this are shown."""

_NAME = 200
"""Characters of a name that is judged."""

_LOOKED_AT = 1000
"""Items of a container that are looked at."""

_PENDING = ("UnawaitedCall", "coroutine")
"""Types of what was not awaited."""


def hint(error: BaseException, scene: Scene) -> str | None:
    """The next step for whoever wrote the program; None where the exception says it all.

    Args:
        error: what ended the program.
        scene: what is known of the program's world.
    """
    try:
        if type(error) is ExceptionGroup:
            error = error.exceptions[0]
        row = _ROWS.get(type(error))
        if row is None:
            return None
        place = place_of(error, scene)
        return None if place is None else row(error, place, scene)
    except Exception:  # noqa: BLE001 - the program's fault must be told, with advice or without
        return None


def _text(error: BaseException) -> str:
    """The text an exception was made with, without asking the exception."""
    args = _args(error)
    return args[0] if args and type(args[0]) is str else ""


def _field(error: BaseException, kind: type[BaseException], name: str) -> Any:
    """A field of an exception that the program cannot have put something else in front of."""
    return vars(kind)[name].__get__(error)


def _args(error: BaseException) -> tuple[Any, ...]:
    return BaseException.args.__get__(error)  # type: ignore[attr-defined,no-any-return]


# --- names ---------------------------------------------------------------------------------------------------


def _name_error(error: BaseException, place: Place, scene: Scene) -> str | None:
    name = _field(error, NameError, "name")
    if type(name) is not str or len(name) > _NAME:
        return None
    signatures = {written.rpartition(".")[2]: (written, signature) for written, signature in scene.offered.items()}
    if name in signatures:
        written, signature = signatures[name]
        bare = signature.removeprefix("async ")
        return f"write {'await ' * (bare is not signature)}{written}(…): {signature}"
    if name in CONSTANTS:
        return f"write {CONSTANTS[name]}"
    imported = _imported(name, place, set(scene.importable()))
    if imported is not None:
        return f"import it first: {imported}"
    frame = place.frame
    known = dict.fromkeys(_public([*frame.f_locals, *frame.f_globals, *frame.f_builtins], name))
    found = near(name, known)
    if found:
        return meant(found)
    return meant([signatures[one][0] for one in near(name, signatures)]) or None


def _imported(name: str, place: Place, importable: set[str]) -> str | None:
    """The line that brings a name of the standard library."""
    if name == "datetime":
        attribute = place.path[-2] if len(place.path) > 1 else None
        if not (isinstance(attribute, ast.Attribute) and attribute.attr in OF_DATETIME):
            return "from datetime import datetime"
    if name in importable:
        return f"import {name}"
    home = next((module for module, names in HOMES.items() if name in names), None)
    return f"from {home} import {name}" if home in importable else None


def _unbound(error: BaseException, place: Place, _scene: Scene) -> str | None:
    found = re.match(r"cannot access local variable '(\w+)'", _text(error))
    if not found:
        return None
    name = found[1]
    if name in place.frame.f_globals:
        return f"{name} is assigned in {place.frame.f_code.co_name}, so it is local there: write `global {name}` first"
    return f"{name} is used before it is assigned in {place.frame.f_code.co_name}; `nonlocal {name}` names an outer one"


# --- attributes ----------------------------------------------------------------------------------------------


def _attribute_error(error: BaseException, place: Place, scene: Scene) -> str | None:
    value = _field(error, AttributeError, "obj")
    name = _field(error, AttributeError, "name")
    kind = type(value)
    if type(name) is not str or len(name) > _NAME or " has no attribute " not in _text(error):
        return None
    what = _what(place, ast.Attribute)
    if value is None:
        return f"{what} is None: check for that before use"
    if kind.__name__ in _PENDING:
        return _awaited(place, scene, tool=kind.__name__ == _PENDING[0])
    other = METHODS.get((kind, name))
    if other is not None:
        return f"write {other.format(x='x' if what == 'it' else what)}"
    if kind is dict:
        key = next(iter(near(name, (key for key in value if type(key) is str))), name)
        return f"{what} is a dict: write {'…' if what == 'it' else what}[{shown(key)}]; {_listed(value)}"
    if kind is list or kind is tuple:
        inner = next((item for item in value[:_LOOKED_AT] if type(item) in MAPPINGS), None)
        if inner is not None:
            return _one_of(what, value, f"[{name!r}]" if type(inner) is dict else f".{name}")
    if kind is Member:
        return "a member has .name and .value, and equals its value"
    if kind is ModuleType:
        return meant(near(name, _public(vars(value), name))) or None
    return meant(near(name, _public(_attributes(value), name))) or None


def _attributes(value: Any) -> Iterator[str]:
    """The names of a value's attributes, without asking the value."""
    kind = type(value)
    for base in type.__dict__["__mro__"].__get__(kind):
        own = type.__dict__["__dict__"].__get__(base)
        fields = own.get("__dict__")
        if type(fields) is GetSetDescriptorType:
            found = fields.__get__(value)
            if type(found) is dict:
                yield from (name for name in found if type(name) is str)
        yield from own


def _public(names: Iterable[object], like: str) -> Iterator[str]:
    """The names that a program may mean: private ones only where it has written a private one."""
    private = like[:1] == "_"
    for name in islice(names, 10_000):
        if type(name) is str and (name[:1] == "_") is private and name[:1] != ".":
            yield name


def _what(place: Place, kind: type[ast.Attribute]) -> str:
    return (text_of(place.node.value) if isinstance(place.node, kind) else None) or "it"


# --- keys and indices ----------------------------------------------------------------------------------------


def _key_error(error: BaseException, place: Place, _scene: Scene) -> str | None:
    args = _args(error)
    node = _container(place, ast.Subscript, "pop", "remove")
    if node is None or len(args) != 1:
        return None
    key = args[0]
    value = place.value(node, lambda value: type(value) is dict and not _has(value, key))
    if value is None:
        return None
    what = text_of(node) or "it"
    if not value:
        return f"{what} is empty"
    if type(key) is slice:
        return f"a dict has no order to slice: list({what}.items())[…]"
    twin = _twin(value, key)
    if twin is not None:
        return f"its keys are of type {type(twin).__name__}: write {twin!r}, not {key!r}"
    told = _keys(value, key)
    if "did you mean" not in told and isinstance(place.node, ast.Subscript) and type(key) is str:
        told += f"; {what}.get({shown(key)}) gives None where it is missing"
    return told


def shown(key: Any) -> str:
    """A key as it would be written; of other types than the plain ones, the type."""
    kind = type(key)
    if kind is str:
        return repr(key) if len(key) <= _KEY else f"{key[:_KEY]!r}…"
    if kind is int or kind is float or kind is bool or key is None:
        return repr(key) if kind is not int or -_LARGE < key < _LARGE else "a large int"
    return f"<{kind.__name__}>"


def _keys(value: dict[Any, Any], key: Any) -> str:
    """The keys of a dict, the near ones first."""
    question = ""
    if type(key) is str:
        question = meant(near(key, (known for known in islice(value, _LOOKED_AT) if type(known) is str)))
    return f"{question} {_listed(value)}" if question else _listed(value)


def _listed(value: dict[Any, Any]) -> str:
    return f"its keys are: {listed([*map(shown, value)])}" if value else "it is empty"


def _twin(value: dict[Any, Any], key: Any) -> object:
    """A key that reads like this one and is of another type."""
    if type(key) not in {str, int}:
        return None
    twin = str if type(key) is int else int
    return next((known for known in islice(value, _LOOKED_AT) if type(known) is twin and str(known) == str(key)), None)


def _has(value: Any, key: Any) -> bool:
    """Whether an exact dict or record has a key, without comparing it to anything that is not of its type."""
    return any(type(known) is type(key) is str and known == key for known in islice(value, _LOOKED_AT))


def _index_error(error: BaseException, place: Place, _scene: Scene) -> str | None:
    if _text(error).startswith("pop from"):
        return "check that it is not empty before: if items: …"
    node = _container(place, ast.Subscript, "pop")
    if node is None:
        return None
    value = place.value(node, lambda value: type(value) in SEQUENCES)
    if value is None:
        return None
    what, size = text_of(node) or "it", len(value)
    unit = "character" if type(value) is str else "item"
    if size == 0:
        return f"{what} is empty"
    return f"{what} has {size:,} {unit}{'s' * (size != 1)}: indices go from 0 to {size - 1}"


def _container(place: Place, kind: type[ast.Subscript], *methods: str) -> ast.expr | None:
    """The expression whose item was asked for at the place of the failure."""
    node = place.node
    if isinstance(node, kind):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods:
        return node.func.value
    return None


# --- types ---------------------------------------------------------------------------------------------------


def _type_error(error: BaseException, place: Place, scene: Scene) -> str | None:
    text = _text(error)
    node = place.node
    if "unexpected keyword argument" in text:
        return _keyword_error(node, text, place)
    if any(f"'{name}'" in text for name in _PENDING):
        return _awaited(place, scene, tool=_PENDING[0] in text)
    if isinstance(node, ast.Subscript):
        told = _subscript_error(node, text, place)
        if told:
            return told
    if isinstance(node, ast.Call) and text.endswith("object is not callable"):
        told = _call_error(node, place)
        if told:
            return told
    nothing = _none_of(node, place) if "NoneType" in text else None
    return nothing or _said(text)


def _subscript_error(node: ast.Subscript, text: str, place: Place) -> str | None:
    if "indices must be integers" not in text and "is not subscriptable" not in text:
        return None
    what = text_of(node.value) or "it"
    if "'NoneType'" in text:
        return f"{what} is None: check for that before use"
    value = place.value(node.value, lambda value: type(value) is list or type(value) is tuple)
    if value is not None and text.endswith("not str"):
        key = ast.unparse(node.slice) if isinstance(node.slice, (ast.Constant, ast.Name)) else "…"
        return _one_of(what, value, f"[{key[:_KEY]}]")
    return None


def _call_error(node: ast.Call, place: Place) -> str | None:
    if not isinstance(node.func, ast.Name):
        return None
    name = node.func.id
    value = next(place.values(node.func), None)
    if name in place.frame.f_builtins and value is not None and type(value) is not FunctionType:
        return f"the program has given the name {name} to something else; call that by another name"
    if type(value) is list or type(value) is tuple or type(value) is dict:
        return f"{name} is a {type(value).__name__}: an item is {name}[…]"
    return None


def _keyword_error(node: ast.AST | None, text: str, place: Place) -> str | None:
    """A near name for an argument of one of the program's functions, which newer interpreters give themselves."""
    found = re.search(r"argument '(\w+)'$", text)
    function = next(place.values(node.func), None) if isinstance(node, ast.Call) else None
    if not found or type(function) is not FunctionType:
        return None
    code = function.__code__
    return meant(near(found[1], code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])) or None


def _none_of(node: ast.AST | None, place: Place) -> str | None:
    """Which part of an operation was None."""
    match node:
        case ast.BinOp():
            parts: list[ast.expr] = [node.left, node.right]
        case ast.Compare():
            parts = [node.left, *node.comparators]
        case ast.Call():
            parts = [node.func, *node.args]
        case ast.expr():
            parts = [node]
        case _:
            return None
    for part in parts:
        text = text_of(part)
        if text is not None and next(place.values(part), ...) is None:
            return f"{text} is None: check for that before use, or give a default: ({text} or 0)"
    return None


def _awaited(place: Place, scene: Scene, *, tool: bool) -> str:
    waiting = [written for written, signature in scene.offered.items() if signature.startswith("async ")]
    here = [written for written in waiting if place.node is not None and f"{written}(" in ast.unparse(place.node)]
    found = (here or waiting) if tool else []
    return f"a call was not awaited: write await {f'{found[0]}(…)' if len(found) == 1 else 'before it'}"


def _one_of(what: str, value: list[Any] | tuple[Any, ...], member: str) -> str:
    kind = type(value).__name__
    if not value:
        return f"{what} is an empty {kind}"
    return f"{what} is a {kind} of {len(value):,}: take one, {what}[0]{member}, or loop over it"


# --- values, imports -----------------------------------------------------------------------------------------


def _value_error(error: BaseException, place: Place, _scene: Scene) -> str | None:
    text = _text(error)
    if "to unpack" in text:
        for node in reversed(place.path):
            if isinstance(node, (ast.For, ast.comprehension)):
                value = place.value(node.iter, lambda value: type(value) in MAPPINGS)
                if value is not None:
                    return f"looping over a dict gives its keys: write {text_of(node.iter) or 'it'}.items()"
    return _said(text)


def _import_error(error: BaseException, _place: Place, scene: Scene) -> str | None:
    name = _field(error, ImportError, "name")
    if name in {"tools", "actions"} and any(written.startswith(f"{name}.") for written in scene.offered):
        return f"`{name}` is there already, without an import: write {name}.name(…)"
    found = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", _text(error))
    if not found:
        return None
    module = scene.modules.get(found[2])
    if type(module) is not ModuleType:
        return None
    names = sorted(name for name in _public(vars(module), found[1]) if type(vars(module)[name]) is not ModuleType)
    return meant(near(found[1], names)) or f"{found[2]} has: {listed(names)}"


def _said(text: str) -> str | None:
    return next((advice for pattern, advice in SAYINGS if pattern in text), None)


def _any(error: BaseException, _place: Place, _scene: Scene) -> str | None:
    return _said(_text(error))


_Row = Callable[[BaseException, Place, Scene], "str | None"]

_ROWS: dict[type[BaseException], _Row] = {
    NameError: _name_error,
    UnboundLocalError: _unbound,
    AttributeError: _attribute_error,
    KeyError: _key_error,
    IndexError: _index_error,
    TypeError: _type_error,
    ValueError: _value_error,
    ImportError: _import_error,
    ModuleNotFoundError: _import_error,
    Missing: _import_error,
    StopIteration: lambda _error, _place, _scene: "give next() a default for when there is nothing: next(items, None)",
}
