"""Random hostile programs: what is known to lead out of Python sandboxes, combined at random.

Every statement stands in a `try` of its own, so that one refusal at run time does not spare the next; what a
statement gets hold of is bound to a name, so that whoever looks at the world afterwards finds it.
"""

from __future__ import annotations

from hypothesis import strategies as st

INNER = [
    "__class__", "__bases__", "__base__", "__mro__", "__subclasses__", "__globals__", "__builtins__", "__code__",
    "__closure__", "__dict__", "__func__", "__self__", "__wrapped__", "__module__", "__init__", "__new__", "__call__",
    "__get__", "__getattribute__", "__reduce__", "__reduce_ex__", "__init_subclass__", "__set_name__", "__import__",
    "__loader__", "__spec__", "__file__", "__defaults__", "__kwdefaults__", "__annotations__", "__qualname__",
    "__doc__", "__weakref__", "__slots__", "__traceback__", "__context__", "__cause__", "__prepare__",
    "__class_getitem__", "__origin__", "__args__", "__parameters__", "__match_args__", "__format__", "__sizeof__",
    "mro", "gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "cr_code", "cr_await", "ag_frame", "ag_code",
    "ag_await", "tb_frame", "tb_next", "f_back", "f_globals", "f_locals", "f_builtins", "f_code", "co_consts",
    "co_names", "func", "args", "keywords", "obj", "name", "value", "path", "_world", "_face", "_tools", "_fields",
    "_asdict", "_source_", "modules", "os", "sys", "builtins", "open", "eval", "exec",
]  # fmt: skip
PLAIN = [
    "real", "imag", "append", "items", "keys", "values", "get", "format", "join", "split", "strip", "copy", "update",
    "pop", "sort", "upper", "name", "id",
]  # fmt: skip
BUILTINS = [
    "print", "len", "str", "int", "list", "dict", "tuple", "set", "type", "object", "super", "getattr", "setattr",
    "delattr", "hasattr", "isinstance", "iter", "next", "map", "filter", "sorted", "sum", "min", "max", "range",
    "enumerate", "zip", "repr", "format", "vars", "dir", "id", "hash", "callable", "property", "classmethod",
    "staticmethod", "open", "eval", "exec", "compile", "globals", "locals", "input", "breakpoint", "memoryview",
    "bytearray", "bytes", "help", "__import__", "__build_class__", "__builtins__", "BaseException", "Exception",
    "GeneratorExit", "StopIteration", "SystemExit",
]  # fmt: skip
MODULES = [
    "os", "sys", "builtins", "json", "re", "math", "random", "datetime", "collections", "functools", "itertools",
    "operator", "string", "types", "inspect", "gc", "ctypes", "subprocess", "importlib", "typing", "dataclasses",
    "enum", "abc", "contextlib", "copy", "pickle", "asyncio", "logging", "traceback", "warnings", "weakref", "io",
    "time", "decimal", "statistics", "textwrap", "uuid", "posix", "_io", "threading", "codecs", "linecache",
]  # fmt: skip
LOCALS = ["a", "b", "c", "d", "e", "f", "g"]

names = st.sampled_from([*LOCALS, *LOCALS, "tools", "tools.probe", "tools.fetch", *BUILTINS])
inner = st.sampled_from([*INNER, *INNER, *PLAIN])
literals = st.sampled_from(
    ["1", "1.5", "'x'", "b'x'", "None", "True", "()", "[]", "{}", "{1}", "''", "...", "1j", "'{0.__class__}'",
     "'{0.__globals__}'", "'{0[__builtins__]}'", "'%(__class__)s'", "'__class__'", "'gi_frame'", "'__globals__'",
     "'__builtins__'", "'os'", "'CODEACT_CANARY'"]
)  # fmt: skip


def _compound(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    hidden = inner.flatmap(
        lambda name: st.integers(1, max(1, len(name) - 1)).map(lambda cut: f"{name[:cut]!r} + {name[cut:]!r}")
    )
    return st.one_of(
        st.builds("{}.{}".format, children, inner),
        st.builds("({}).{}.{}".format, children, inner, inner),
        st.builds("getattr({}, {})".format, children, hidden),
        st.builds("getattr({}, {}, {})".format, children, hidden, children),
        st.builds("{}({})".format, children, children),
        st.builds("{}({}, {})".format, children, children, children),
        st.builds("{}(*{})".format, children, children),
        st.builds("{}(**{})".format, children, children),
        st.builds("{}[{}]".format, children, children),
        st.builds("{}[-1]".format, children),
        st.builds("[{} for {} in {}]".format, children, st.sampled_from(LOCALS), children),
        st.builds("[*{}]".format, children),
        st.builds("{{**{}}}".format, children),
        st.builds("({} for {} in {})".format, children, st.sampled_from(LOCALS), children),
        st.builds("({} := {})".format, st.sampled_from(LOCALS), children),
        st.builds("(lambda {}={}: {})".format, st.sampled_from(LOCALS), children, children),
        st.builds("(lambda *a, **b: {})()".format, children),
        st.builds("f'{{{}}}'".format, names),
        st.builds("f'{{{}!r:>{{len([1])}}}}'".format, names),
        st.builds("{}.format({})".format, literals, children),
        st.builds("str.format({}, {})".format, literals, children),
        st.builds("'{{a}}'.format_map({})".format, children),
        st.builds("{} % {}".format, literals, children),
        st.builds("type({})".format, children),
        st.builds("type('X', ({},), {{}})".format, children),
        st.builds("isinstance({}, {})".format, children, children),
        st.builds("map({}, [{}])".format, children, children),
        st.builds("sorted([{}, 1], key={})".format, children, children),
        st.builds("({} if {} else {})".format, children, children, children),
        st.builds("({} and {})".format, children, children),
        st.builds("({}, {})".format, children, children),
    )


expressions = st.recursive(st.one_of(names, literals), _compound, max_leaves=6)

_CLASSES = (
    "class {n}({e}):\n    {m} = {e2}",
    "class {n}:\n    def __{k}__(self, *a, **k):\n        return {e}\n{n2} = {n}()\n{n2}.x",
    "class {n}:\n    __{k}__ = {e}\n    __iter__ = lambda self: self\n{n2} = {n}()\n{n3} = [*{n2}]",
    "class {n}({e}):\n    __{k}__ = {e2}\n{n2} = {n}()\n{n3} = {n2} + 1 if {n2} else {n2}[0]",
    "class {n}:\n    def __getattr__(self, name):\n        return {e}\n{n2} = {n}().anything",
    "class {n}:\n    def __get__(self, i, o):\n        return {e}\nclass {n2}:\n    x = {n}()\n{n3} = {n2}().x",
    "class {n}(metaclass={e}):\n    pass",
    "class {n}(type):\n    def __call__(cls, *a):\n        return {e}\nclass {n2}(metaclass={n}):\n    pass\n{n3} = {n2}()",
    "class {n}(Exception):\n    def __str__(self):\n        return str({e})\nraise {n}({e2})",
    "class {n}:\n    __slots__ = ({e},)\n    __match_args__ = ({e2},)",
    "class {n}:\n    def __enter__(self):\n        return {e}\n    def __exit__(self, *a):\n        global {n2}\n        {n2} = a\n"
    "        return True\nwith {n}() as {n3}:\n    {e2}",
    "class {n}:\n    def __init_subclass__(cls, **k):\n        cls.x = {e}\nclass {n2}({n}, k={e2}):\n    pass",
    "class {n}(dict):\n    def __missing__(self, key):\n        return {e}\n{n2} = '{{0}}'.format_map({n}())",
    "class {n}:\n    def __del__(self):\n        global {n2}\n        {n2} = {e}\n{n}()",
)
_STATEMENTS = (
    "{n} = {e}",
    "{n} = {e}",
    "{n}, *{n2} = {e}",
    "{e}.{a} = {e2}",
    "{e}[{e2}] = {n}",
    "del {n}.{a}",
    "{n}.{a} += {e}",
    "{n}: {e} = {e2}",
    "global {n}\n{n} = {e}",
    "import {m2} as {n}",
    "from {m2} import {a} as {n}",
    "from {m2} import *",
    "for {n} in {e}:\n    {n2} = {e2}\n    break",
    "for {n}.{a} in {e}:\n    break",
    "with {e} as {n}:\n    {n2} = {e2}",
    "try:\n    {e}\nexcept BaseException as error:\n    {n} = error\n    {n2} = error.{a}\n    {n3} = error.__context__",
    "try:\n    {e}\nexcept* Exception as {n}:\n    {n2} = {n}.exceptions",
    "try:\n    1 / 0\nexcept Exception as error:\n    {n} = error.__traceback__.tb_frame",
    "raise {e} from {e2}",
    "@{e}\ndef {n}(a={e2}, *, b: {e}):\n    return {e2}",
    "def {n}(a, /, b={e}):\n    yield {e2}\n{n2} = {n}(1)\n{n3} = next({n2})\n{n} = {n2}.{a}",
    "async def {n}():\n    return {e}\n{n2} = {n}()\n{n3} = {n2}.{a}\nawait {n2}",
    "async def {n}():\n    yield {e}\n{n2} = {n}()\n{n3} = {n2}.{a}",
    "match {e}:\n    case object({a}={n}):\n        {n2} = {n}",
    "match {e}:\n    case {{'x': {n}, **{n2}}}:\n        pass\n    case [{n}, *{n2}]:\n        pass\n    case str() | {n3}:\n        pass",
    "{n} = [{n2} async for {n2} in {e}]",
    "{n} = {n2} = lambda: (yield {e})",
    "print({e}, {e2}, file={n})",
    "{n} = tools.probe({e})",
    "{n} = await tools.fetch({e})",
    "assert {e}, {e2}",
    "import functools\n{n} = functools.reduce(getattr, ['{a}', '{b}'], {e})",
    "import operator\n{n} = operator.attrgetter('{a}.{b}')({e})",
    "import operator\n{n} = operator.methodcaller('{a}', {e})({e2})",
    "import string\n{n} = string.Formatter().get_field('0.{a}', ({e},), {{}})",
    "import string\n{n} = string.Formatter().vformat('{{0.{a}}}', ({e},), {{}})",
    "import types\n{n} = types.SimpleNamespace(a={e}).a.{a}",
    "import dataclasses\n{n} = dataclasses.make_dataclass('{a}', [('{b}', {e})])",
    "import collections\n{n} = collections.namedtuple('{a}', ['{b}'])({e})",
    "import typing\n{n} = typing.get_type_hints({e})",
    "import enum\n{n} = enum.Enum('{a}', {e})",
    "import copy\n{n} = copy.copy({e})",
    "import contextlib\n@contextlib.contextmanager\ndef {n}():\n    yield {e}\nwith {n}() as {n2}:\n    {n3} = {n2}",
)

_HOOKS = [
    "getattribute", "getitem", "missing", "await", "aiter", "anext", "instancecheck", "class_getitem", "mro_entries", "length_hint",
    "delete", "set", "set_name", "prepare", "init", "new", "exit", "eq", "lt", "int", "float", "bytes", "fspath", "reversed",
    "setattr", "call", "iter", "next", "add", "eq", "hash", "repr", "str", "format", "len", "bool",
    "index", "contains", "enter", "reduce", "copy",
]  # fmt: skip


@st.composite
def statements(draw: st.DrawFn) -> str:
    """One statement."""
    form = draw(st.sampled_from([*_STATEMENTS, *_STATEMENTS, *_CLASSES]))
    local = st.sampled_from(LOCALS)
    return form.format(
        n=draw(local), n2=draw(local), n3=draw(local), e=draw(expressions), e2=draw(expressions), a=draw(inner),
        b=draw(inner), m=draw(st.sampled_from([*LOCALS, *INNER])), m2=draw(st.sampled_from(MODULES)),
        k=draw(st.sampled_from(_HOOKS)),
    )  # fmt: skip


PRELUDE = """
def a(x, *y, **z):
    return x
def b(x=1):
    yield x
    yield a
class C(Exception):
    x = property(lambda self: self.args)
    def m(self):
        return super().__repr__
c, d, e = C(a, b), b(a), tools.probe
async def f(x=0):
    return await tools.fetch(x)
g = {'a': [a, c.m, C], 'b': f}
"""
"""What every session begins with: names that hold what leads somewhere elsewhere."""

programs = st.lists(statements(), min_size=1, max_size=6).map(lambda made: [PRELUDE, *made])
"""The programs of one session: the refusal of one does not spare the next, which finds what it has bound."""
