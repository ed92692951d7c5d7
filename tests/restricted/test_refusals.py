"""What the policy and the guards refuse: with the line, and never by doing it."""

from __future__ import annotations

import gc
import warnings
import weakref

import pytest

from codeact.engines.restricted import engine
from codeact.limits import Limits
from tests.restricted.conftest import House

IN_THE_TEXT = {
    "code written": "def f(): pass\nf.__code__ = f.__code__",
    "globals of a function": "x = 1\nprint.__globals__",
    "class of a literal": "\n().__class__",
    "closure": "def f(): pass\nf.__closure__",
    "bases written": "class A: pass\nA.__bases__ = ()",
    "frame": "g = (x for x in [1])\ng.gi_frame",
    "frame, full width": "g = (x for x in [1])\ng.gi_\uff46rame",
    "traceback": "\ndef f(e): return e.__traceback__",
    "context": "\ndef f(e): return e.__context__",
    "getattribute": "\nobject.__getattribute__(tools, 'x')",
    "reduce": "\nobject.__reduce_ex__(1, 2)",
    "special attribute deleted": "class A: pass\ndel A.__doc__",
    "dunder in place": "class A: pass\nA.__name__ += 'x'",
    "class swapped": "class A: pass\nA().__class__ = A",
    "del hook": "class A:\n    def __del__(self): pass",
    "getattr hook that answers all": "class A:\n    def __getattr__(self, n): pass",
    "getattr hook, decorated": "class A:\n    @print\n    def __getattr__(self, n): return n",
    "getattr hook by assignment": "class A:\n    __getattr__ = print",
    "new, decorated": "class A:\n    @print\n    def __new__(cls): return cls",
    "new by assignment": "class A:\n    __new__ = print",
    "reduce hook": "class A:\n    def __reduce__(self): return A, ()",
    "getstate hook": "class A:\n    def __getstate__(self): return {}",
    "prepare": "class M(type):\n    def __prepare__(n, b): return {}",
    "mro entries": "class A:\n    def __mro_entries__(self, b): return ()",
    "getattribute hook": "class A:\n    __getattribute__ = None",
    "class_getitem hook": "class A:\n    def __class_getitem__(cls, k): pass",
    "module name in a class": "class A:\n    __module__ = 'os'",
    "match args": "class A:\n    __match_args__ = ('__class__',)",
    "match args computed": "class A:\n    __match_args__ = tuple(['__cla' 'ss__'])",
    "pattern attribute": "match 1:\n    case int(__class__=c): pass",
    "pattern method": "match 'a':\n    case str(format=f): pass",
    "eval, other letters": "\n\U0001d4eeval('1')",
    "eval as a value": "\nf = [eval][0]",
    "exec as a value": "\n[exec][0]('1')",
    "eval as a decorator": "\n@eval\ndef f(): pass",
    "compile as a value": "\nlist(map(compile, []))",
    "import function": "\n__import__('os')",
    "builtins": "\n__builtins__",
    "globals as a value": "\nf = globals",
    "leaving except star": "try: pass\nexcept* ValueError: return 1",
    "private import": "\nfrom random import _os",
    "wide format": "\nf'{1:>2000000000}'",
    "guard: assignment": "\n_getattr_ = 1",
    "guard: walrus": "\n(_getattr_ := 1)",
    "guard: for": "\nfor _getattr_ in []: pass",
    "guard: comprehension": "\n[1 for _getattr_ in []]",
    "guard: with": "\nwith tools as _getattr_: pass",
    "guard: except": "try: pass\nexcept ValueError as _getattr_: pass",
    "guard: import": "\nimport math as _getattr_",
    "guard: from": "\nfrom math import pi as _write_",
    "guard: def": "\ndef _getattr_(): pass",
    "guard: class": "\nclass _getattr_: pass",
    "guard: positional-only": "\ndef f(_getattr_, /): pass",
    "guard: parameter": "\ndef f(_getattr_): pass",
    "guard: keyword-only": "\ndef f(*, _getattr_): pass",
    "guard: varargs": "\ndef f(*_getattr_): pass",
    "guard: kwargs": "\ndef f(**_getattr_): pass",
    "guard: lambda": "\nlambda _getattr_: 1",
    "guard: match": "match 1:\n    case _getattr_: pass",
    "guard: match star": "match 1:\n    case [*_getattr_]: pass",
    "guard: match rest": "match 1:\n    case {**_getattr_}: pass",
    "guard: del": "\ndel _getattr_",
    "guard: global": "def f():\n    global _getattr_",
    "guard: full width": "\n_\uff47etattr_ = 1",
}


@pytest.mark.parametrize("name", IN_THE_TEXT)
def test_refused_in_the_text(run, name):
    ran = run("print('ran')\n" + IN_THE_TEXT[name])
    assert (ran.fault.kind, ran.fault.frames[-1].line, ran.text) == ("denied", 3, "")


def test_a_refusal_says_what_to_do_instead(run):
    fault = run("math = __import__('math')").fault
    assert fault.message == "__import__ does not exist in this sandbox: modules come by import statements"
    assert fault.hint == "write an import statement"


AT_RUN_TIME = {
    "input": "input()",
    "breakpoint": "breakpoint()",
    "exit": "exit()",
    "memoryview": "memoryview(b'x')",
    "self of a builtin": "len.__self__",
    "self of a method of the host": "[].append.__self__",
    "function of a method of the host": "from string import capwords\nimport contextlib\ncontextlib.ExitStack().close.__func__",
    "subclasses": "int.__subclasses__()",
    "subclasses of type": "type.__subclasses__(int)",
    "mro": "int.mro()",
    "mro by type": "type.mro(int)",
    "bases": "int.__bases__",
    "base": "int.__base__",
    "code of a host function": "print.__code__",
    "defaults of a host function": "print.__defaults__",
    "wrapped by the host": "tools.get_charges.__wrapped__",
    "dunder written": "class A: pass\nA.__name__ = 'x'",
    "name of a host function written": "print.__name__ = 'x'",
    "method of a host class written": "from collections import Counter\nCounter.__len__ = len",
    "method of a host class written by name": "from collections import Counter\nsetattr(Counter, '__len__', len)",
    "cause of nothing": "tools.__cause__",
    "except star": "try: 1 / 0\nexcept* ZeroDivisionError: pass",
    "class by name": "getattr((), '__cl' + 'ass__')",
    "refused name with a default": "getattr((x for x in []), 'gi_' + 'frame', None)",
    "name of a subclass of str": "class N(str): pass\ngetattr((), N('real'))",
    "setattr of a dunder": "class A: pass\nsetattr(A(), '__class__', A)",
    "delattr of a tool": "delattr(tools, 'get_charges')",
    "private of a module": "import random\nrandom._os",
    "private of a shared class": "from collections import Counter\nCounter._keep_positive",
    "private of tools": "tools._tools",
    "private of a tool": "tools.get_charges._world",
    "private through a method": "class A:\n    def f(self): return self._os\nimport random\nA.f(random)",
    "written through a method": "class A:\n    def f(self): self.x = 1\nA.f(ToolError)",
    "private in a default": "self = tools\nclass A:\n    def f(self, x=self._tools): self._y = x",
    "private in a decorator": "self = tools\nclass A:\n    @(lambda f: f if self._tools else f)\n    def f(self): self._y = 1",
    "private in an annotation": "self = tools\nclass A:\n    def f(self, x: self._tools): self._y = 1",
    "private by another receiver": "class A:\n    def f(self):\n        def g(self): return self._os\n        self._x = 1\n        return g(tools)\nA().f()",
    "private after nonlocal": "class A:\n    def f(self):\n        def g():\n            nonlocal self\n            self = tools\n        g()\n        return self._tools\nA().f()",
    "private by super": "from collections import Counter\nsuper(Counter, Counter())._x",
    "private by super of a type": "class A: pass\nsuper(type(tools), tools)._tools",
    "private in a nested class": "class A:\n    def f(self):\n        class B:\n            def g(self): return self._x\n        return B.g(tools)\nA().f()",
    "module written": "import math\nmath.pi = 3",
    "module written by name": "import math\nsetattr(math, 'pi', 3)",
    "module written in a loop": "import math\nfor math.pi in [3]: pass",
    "module in place": "import math\nmath.pi *= 2",
    "module deleted from": "import math\ndel math.pi",
    "shared class written": "from collections import Counter\nCounter.x = 1",
    "shared error written": "ToolError.x = 1",
    "shared function written": "import statistics\nstatistics.mean.x = 1",
    "shared class passed off as own": "from collections import Counter\n@(lambda c: Counter)\nclass A: pass\nA.x = 1",
    "shared class marked": "import abc\nabc.abstractmethod(ToolError)",
    "registry of a shared class": "from collections.abc import Sized\nSized.register(int)",
    "foreign __init__ on anything": "import re, math\ntype(re.match('a', 'a')).__init__(math, 1, 2)",
    "format": "'{0.__class__}'.format(1)",
    "format by a stored method": "f = '{0.__class__}'.format\nf(1)",
    "format by the class": "str.format('{0.__class__}', 1)",
    "format by map": "list(map(str.format, ['{0.__class__}'], [1]))",
    "format by getattr": "getattr('{0.__class__}', 'format')(1)",
    "format by a subclass": "class S(str): pass\nS('{0.__class__}').format(1)",
    "format by super": "class S(str):\n    def f(self): return super().format(1)\nS('{0.__class__}').f()",
    "format by operator": "import operator\noperator.methodcaller('format', 1)('{0.__class__}')",
    "format_map": "'{a.__class__}'.format_map({'a': 1})",
    "attrgetter": "import operator\noperator.attrgetter('real.__class__')(1)",
    "reduce": "import functools\nfunctools.reduce(getattr, ['__class__'], ())",
    "object of an error": "try:\n    None.x\nexcept AttributeError as e:\n    e.obj",
    "metaclass by keyword": "class A(metaclass=lambda *a: 1): pass",
    "make_dataclass": "import dataclasses\ndataclasses.make_dataclass('A', ['x: int = print(1)'])",
    "make_dataclass with hooks": "import dataclasses\ndataclasses.make_dataclass('A', [], namespace={'__del__': print})",
    "subclass of an iterator": "class M(map): pass",
    "dataclass that uncovers a method": "from dataclasses import dataclass\n@dataclass(init=False)\nclass S(str):\n    format: object",
    "subclass of tools": "class T(type(tools)): pass",
    "subclass of tools by a false name": "__name__ = 'codeact.engines.restricted.toolbox'\nclass T(type(tools)): pass",
    "subclass of a future by a false name": "import asyncio\n__name__ = 'codeact.engines.restricted.futures'\n"
    "class F(asyncio.Future): pass",
    "loop that is none": "import asyncio\nasyncio.Future(loop=asyncio.Event())",
    "future that cannot be made": "import asyncio\nasyncio.Future(nonsense=1)",
    "unknown codec": "'x'.encode('punycode')",
    "vars of a builtin": "vars(str)",
    "module that is not there": "import subprocess",
    "submodule that is not there": "import urllib.request",
    "relative import": "from . import x",
}


@pytest.mark.parametrize("name", AT_RUN_TIME)
def test_refused_at_run_time(run, name):
    fault = run(AT_RUN_TIME[name] + "\n'DONE'").fault
    assert fault.kind == "runtime"
    assert fault.frames


@pytest.mark.parametrize(
    "value",
    ["tools", "tools.get_charges", "(lambda: 1)", "print", "object()", "(x for x in [])", "[].append", "A()", "A"],
)
@pytest.mark.parametrize(
    "shown", ["repr({})", "str([{}])", "f'{{{}}}'", "f'{{{}!r}}'", "'%s' % ({},)", "'{{}}'.format({})"]
)
def test_nothing_shows_an_address(run, value, shown):
    assert "0x" not in run(f"class A: pass\n{shown.format(value)}").value


def test_id_is_a_small_number(run):
    assert run("x = object()\nid(tools) < 100, id(x) == id(x), id(x) != id(tools)").value == (True, True, True)


def test_syntax_errors_carry_their_place(run):
    fault = run("x = 1\ny = (2\n").fault
    assert (fault.kind, fault.frames[-1].line, fault.offset) == ("syntax", 2, 5)


@pytest.mark.parametrize(
    "source", ["x = " + "(" * 5000 + "1" + ")" * 5000, "x = 1" + "+1" * 50000, "lambda: " * 500 + "1"]
)
def test_text_nested_too_deeply(run, source):
    assert run(source).fault.kind in {"syntax", "denied"}


def test_warnings_about_the_text_stay_inside(run, recwarn):
    assert run("x = '\\d' is 1\nx").value is False
    assert not recwarn.list


FORGOTTEN = {
    "at once": "async def g():\n    pass\ng()\n1",
    "with its world": "async def g():\n    pass\nx = g()\n1",
    "some time later": "async def g():\n    pass\nx = [g()]\nx.append(x)\n1",
    "an evaluated one": "exec('async def g():\\n    pass\\nx = g()')\n1",
    "under another name": "async def g():\n    pass\ng.__qualname__ = 'ERROR\\n' * 9\nx = g()\n1",
}


@pytest.mark.parametrize("case", FORGOTTEN)
def test_coroutines_that_are_forgotten_are_not_the_host_s(run, case):
    kept = vars(engine).setdefault("__warningregistry__", {})
    kept.clear()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        assert run(FORGOTTEN[case]).value == 1
        gc.collect()
    assert not seen
    assert not [key for key in kept if key != "version"]


def test_coroutines_of_the_host_s_own_are(run):
    async def mine() -> None:
        pass

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        run("1")
        mine()
    assert len(seen) == 1
    assert "mine' was never awaited" in str(seen[0].message)


def test_frames_are_the_program_s_own(run):
    fault = run("def f(x):\n    return 1 / x\n\nf(0)").fault
    assert [(frame.line, frame.function) for frame in fault.frames] == [(4, "<module>"), (2, "f")]
    assert (fault.type, fault.message) == ("ZeroDivisionError", "division by zero")


def test_what_is_never_called_is_not_missed(run):
    program = "def main():\n    if input('? ') == 'q': exit()\n    breakpoint()\n[isinstance(b'', (bytes, memoryview)), callable(input)]"
    assert run(program).value == [True, True]


def test_only_names_of_guards_are_reserved(run):
    assert run("_id_ = 1\nclass A:\n    def _repr_html_(self): return 'h'\n(_id_, A()._repr_html_())").value == (1, "h")


TYPED = {
    "typing": "import typing\nx = typing.List[A], typing.Optional[A], typing.Annotated[int, A]",
    "type": "x = type[A]",
    "generic": "import typing\nT = typing.TypeVar('T')\nclass G(typing.Generic[T]):\n    pass\nx = G[A]",
    "callable": "from typing import Callable\nx = Callable[[A], A]",
}


@pytest.mark.parametrize("case", TYPED)
def test_classes_go_with_their_world(case):
    house = House(Limits(), 20.0)
    instance = house.open()
    house.run(instance, "class A:\n    data = [1]\n" + TYPED[case])
    kinds = [weakref.ref(kind) for kind in instance._world.own]
    assert kinds
    instance.close()
    del instance
    gc.collect()
    assert [kind() for kind in kinds if kind() is not None] == []
