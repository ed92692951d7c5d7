"""Classes made by calling `type`, metaclasses, and hooks: what works, and what would lead to the host's classes."""

from __future__ import annotations

import collections
import fractions
import statistics
import typing

import pytest

from codeact.engines.restricted.kinds import positional

WORKING = {
    "singleton": (
        "class S(type):\n    _made = {}\n    def __call__(cls, *a):\n        if cls not in cls._made:\n"
        "            cls._made[cls] = super().__call__(*a)\n        return cls._made[cls]\n"
        "class C(metaclass=S):\n    def __init__(self, n): self.n = n\n(C(1) is C(2), C(3).n, type(C).__name__, isinstance(C, S))",
        (True, 1, "S", True),
    ),
    "registry": (
        "class R(type):\n    seen = []\n    def __new__(m, n, b, ns, **k):\n        cls = super().__new__(m, n, b, ns)\n"
        "        m.seen.append((n, k))\n        return cls\n    def __init__(cls, n, b, ns, **k): super().__init__(n, b, ns)\n"
        "class A(metaclass=R, x=1): pass\nclass B(A): pass\nC = R('C', (B,), {'z': 3})\nD = type('D', (A,), {})\n(R.seen, C.z, type(D) is R)",
        ([("A", {"x": 1}), ("B", {}), ("C", {}), ("D", {})], 3, True),
    ),
    "the namespace is the program's": (
        "class M(type):\n    def __new__(m, n, b, ns):\n        seen.extend(ns)\n        return type.__new__(m, n, b, ns)\n"
        "seen = []\nclass A(metaclass=M): x = 1\nM('B', (), {'y': 2})\n"
        "[name for name in seen if name not in ('__firstlineno__', '__static_attributes__')]",  # these from 3.13 on
        ["__module__", "__qualname__", "x", "y"],
    ),
    "operators of a metaclass": (
        "class M(type):\n    def __iter__(cls): return iter(cls.all)\n    def __len__(cls): return len(cls.all)\n"
        "    def __getitem__(cls, k): return cls.all[k]\n    def __repr__(cls): return 'M!'\n    def __getattr__(cls, name):\n"
        "        if name == 'extra': return 9\n        raise AttributeError(name)\n    @property\n    def first(cls): return cls.all[0]\n"
        "class A(metaclass=M): all = [1, 2]\n(list(A), len(A), A[1], repr(A), A.first, A.extra, hasattr(A, 'none'))",
        ([1, 2], 2, 2, "M!", 1, 9, False),
    ),
    "instance checks": (
        "class M(type):\n    def __instancecheck__(cls, x): return hasattr(x, 'quack')\n    def __subclasscheck__(cls, x): return hasattr(x, 'quack')\n"
        "class D(metaclass=M): pass\nclass Q: quack = 1\n(isinstance(Q(), D), isinstance(3, D), issubclass(Q, D))",
        (True, False, True),
    ),
    "abstract metaclass": (
        "from abc import ABCMeta, abstractmethod\nclass M(ABCMeta):\n    def __new__(m, n, b, ns):\n        ns['tag'] = n\n        return super().__new__(m, n, b, ns)\n"
        "class A(metaclass=M):\n    @abstractmethod\n    def f(self): ...\nclass B(A):\n    def f(self): return self.tag\n"
        "try: A()\nexcept TypeError: r = 'abstract'\n(r, B().f(), M.__mro__[1].__name__)",
        ("abstract", "B", "ABCMeta"),
    ),
    "three arguments": (
        "P = type('P', (), {'n': 1, 'twice': lambda self: self.n * 2, '__repr__': lambda self: 'P!', '__slots__': ('a',)})\n"
        "E = type('E', (ValueError,), {'code': 3})\ntry: raise E('x')\nexcept ValueError as e: r = e.code, str(e)\n"
        "p = P()\np.a = 5\n(p.twice(), repr(p), p.a, r, P.__name__, P.__module__)",
        (2, "P!", 5, (3, "x"), "P", "__main__"),
    ),
    "own from the start": (
        "class D:\n    def __set_name__(self, owner, name): owner._names = (*getattr(owner, '_names', ()), name)\n"
        "class A:\n    x = D()\n    y = D()\nfrom enum import Enum\nclass P(Enum):\n    E = (1, 2)\n"
        "    def __init__(self, a, b): self.sum = a + b\nclass C(bytes, Enum):\n    def __new__(cls, v):\n        o = bytes.__new__(cls, [v])\n"
        "        o._value_ = v\n        o.label = 'l'\n        return o\n    X = 7\n(A._names, P.E.sum, C.X.label, C(7).name)",
        (("x", "y"), 3, "l", "X"),
    ),
    "what a class shows": (
        "class A:\n    'doc'\n    x = 1\n    def f(self): pass\nclass B(A): pass\nclass C(A): pass\nclass D(B, C): pass\n"
        "([k.__name__ for k in D.__mro__], D.mro() == list(D.__mro__), D.__bases__ == (B, C), D.__base__ is B,"
        " [k.__name__ for k in A.__subclasses__()], sorted(A.__dict__), [k.__name__ for k in type('T', (dict,), {}).__mro__])",
        (
            ["D", "B", "C", "A", "object"], True, True, True, ["B", "C"], ["__doc__", "__module__", "f", "x"],
            ["T", "dict", "object"],
        ),
    ),
    "copies": (
        "import copy\nfrom dataclasses import dataclass\nfrom collections import defaultdict, deque\n@dataclass(frozen=True, slots=True)\nclass F: x: list\n"
        "class S:\n    __slots__ = ('a',)\nclass L(list): pass\nclass D(defaultdict): pass\nclass Q(deque): pass\nclass E(Exception): pass\nf, s, l = F([1]), S(), L([1])\n"
        "s.a, l.tag = [2], 't'\n(copy.deepcopy(f) == f, copy.deepcopy(f).x is f.x, copy.copy(s).a is s.a, copy.deepcopy(s).a, copy.copy(l).tag,"
        " copy.deepcopy(D(list, a=[1])), list(copy.copy(Q([1], 5))), copy.copy(E(1, 2)).args)",
        (True, False, True, [2], "t", {"a": [1]}, [1], (1, 2)),
    ),
    "what a base shows": (
        "class A: pass\nclass R:\n    def __repr__(self): return 'R!'\nclass B(A, R): pass\nclass C(A):\n"
        "    def __repr__(self): return super().__repr__() + 'C'\nclass D(C, R): pass\nf'{B()} {C()} {D()} {[A()]}', 'vars' in str(vars(A))",
        ("R! <C object>C R!C [<A object>]", False),
    ),
    "methods bound by hand": (
        "import types\nclass A: x = 4\ndef f(self, n=1): return self.x + n\na = A()\na.f = types.MethodType(f, a)\n"
        "(a.f(), f.__get__(a)(2), a.f.__self__ is a, a.f.__func__ is f, isinstance(a.f, types.MethodType), type(a.f) is types.MethodType)",
        (5, 6, True, True, True, True),
    ),
    "dataclasses by call": (
        "from dataclasses import dataclass, make_dataclass, field\nP = make_dataclass('P', [('x', int), ('y', int, 5), 'z'], kw_only=True, namespace={'sum': lambda s: s.x + s.y})\n"
        "D = dataclass(type('D', (), {'__annotations__': {'a': int}, 'a': 3}))\nL = make_dataclass('L', [('v', list, field(default_factory=list))], bases=(D,))\n"
        "(repr(P(x=1, z=2)), P(x=1, z=2).sum(), repr(D()), repr(L()), L().v is L().v)",
        ("P(x=1, y=5, z=2)", 6, "D(a=3)", "L(a=3, v=[])", False),
    ),
    "hooks of attributes": (
        "class D(dict):\n    __getattr__ = dict.get\n    __setattr__ = dict.__setitem__\n    __delattr__ = dict.__delitem__\n"
        "class P:\n    def __init__(self, t): self._t, self.asked = t, []\n    def __getattr__(self, name):\n        self.asked.append(name)\n        return getattr(self._t, name)\n"
        "import copy\nd, p = D(a=1), P([3])\nd.b = 2\ndel d.a\np.append(4)\n(d, d.b, d.none, copy.deepcopy(d), p._t, p.asked, hasattr(p, '__len__'))",
        ({"b": 2}, 2, None, {"b": 2}, [3, 4], ["append"], False),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WORKING)
def test_it_works(run, name):
    program, value = WORKING[name]
    assert run(program).value == value


_COPY = "import copy\nfrom collections import Counter\nfrom statistics import mean\n"
DENIED = {
    "metaclass that is equal to all": "class M(type):\n    def __eq__(c, o): return True\n    def __hash__(c): return hash(ToolError)\nclass X(metaclass=M): pass",
    "metaclass that hashes by a base": (
        "from collections import UserList\nclass M(UserList, type):\n    def __init__(c, *a): pass\nM('X', (), {})"
    ),
    "metaclass that is equal later": "class M(type): pass\nclass X(metaclass=M): pass\nM.__eq__ = lambda a, b: True",
    "metaclass that is equal later by name": "class M(type): pass\nsetattr(M, '__hash__', lambda c: 1)",
    "metaclass made a dataclass": "from dataclasses import dataclass\n@dataclass\nclass M(type): x: int",
    "metaclass that orders its bases": "class M(type):\n    def mro(c): return [c, ToolError, object]\nclass X(metaclass=M): pass",
    "metaclass that is a plain class": "class M:\n    def __new__(c, *a): return 1\nclass X(metaclass=M): pass",
    "metaclass of the host": "class M(type(type(tools))): pass\nM.__new__(int, 'X', (), {})",
    "hook put into a namespace": "class M(type):\n    def __new__(m, n, b, ns):\n        ns['__del__'] = print\n        return super().__new__(m, n, b, ns)\nclass X(metaclass=M): pass",
    "hook past super": "class M(type): pass\nsuper(M, M).__new__(M, 'X', (), {'__del__': print})",
    "hook by type.__new__": "class M(type): pass\ntype.__new__(M, 'X', (), {'__reduce__': print})",
    "hook by type.__call__": "class M(type): pass\ntype.__call__(M, 'X', (), {'__del__': print})",
    "hook by the base of a metaclass": "class M(type): pass\nM.__base__('X', (), {'__del__': print})",
    "hook while a metaclass is made": "class D:\n    def __set_name__(s, owner, n): owner('X', (), {'__del__': print})\nclass M(type): d = D()",
    "hook by three arguments": "type('A', (), {'__del__': print})",
    "reduce by three arguments": "type('A', (), {'__reduce_ex__': print})",
    "getattr by three arguments": "type('A', (), {'__getattr__': lambda s, name: name})",
    "new by three arguments": "type('A', (), {'__new__': lambda cls: len})",
    "class by three arguments": "type('A', (), {'__class__': property(lambda s: str)})",
    "guard by three arguments": "type('A', (), {'.mark': 1})",
    "name that is no text": "class N(str):\n    def __hash__(s): return 1\ntype('A', (), {N('__del__'): print})",
    "tools by three arguments": "type('A', (type(tools),), {})",
    "class without a constructor": "class M(type): pass\nobject.__new__(M)",
    "class passed off by slots": "class A:\n    __slots__ = ('__cla' + 'ss__',)",
    "reduce by slots": "class A:\n    __slots__ = ['__reduce_ex__']",
    "code in annotations": "from dataclasses import dataclass\ndataclass(type('A', (), {'__annotations__': {'x: int = print(1)': int}}))",
    "code in annotations of a class": "from dataclasses import dataclass\n@dataclass\nclass A:\n    y: int\n    __annotations__['x: int = print(1)'] = int",
    "host class written by type": "from collections import Counter\ntype.__setattr__(Counter, 'hole', 1)",
    "host class written by object": "from collections import Counter\nobject.__setattr__(Counter, 'hole', 1)",
    "host class deleted from": "from collections import Counter\ntype.__delattr__(Counter, 'most_common')",
    "host class passed off as made": f"{_COPY}class A:\n    __slots__ = ('hole',)\n    def __new__(cls): return Counter\nA()",
    "host class passed off by an enum": f"{_COPY}from enum import Enum\nclass E(Enum):\n    def __new__(cls, v): return Counter\n    A = 1",
    "host class passed off by a generic": f"{_COPY}from typing import Generic, TypeVar\nT = TypeVar('T')\nclass G(Generic[T]):\n    def __new__(cls): return Counter\nG[int]()",
    "host class passed off by a metaclass": f"{_COPY}class M(type):\n    def __call__(cls, *a): return Counter\nclass G(list, metaclass=M): pass\nG[int]()",
    "host function passed off by a metaclass": f"{_COPY}class M(type):\n    def __call__(cls, *a): return mean if a else super().__call__()\nclass S(set, metaclass=M): pass\ns = S()\ns.hole = 1\ncopy.copy(s)",
    "host function passed off by a mixin": f"{_COPY}class Mix:\n    def __call__(cls, *a): return mean\nclass M(Mix, type): pass\nclass S(set, metaclass=M): pass",
    "depth of an iterator": "type(map(str, [])).depth.__set__(map(str, []), -9)",
    "iterator of the host": "class X(map): pass\n[k for k in X.__mro__ if k.__name__ == 'map'][-1](str, [1])",
    "property of the host made again": "from fractions import Fraction\nproperty.__init__(Fraction.numerator, lambda s: 5)",
    "property of the host made again by a subclass": "from fractions import Fraction\nclass P(property): pass\nP.__init__(Fraction.numerator, lambda s: 5)",
    "alias of the host made again": "import typing\ntype(typing.List).__init__(typing.List, int, 99)",
    "generic of the host told of a subclass": "import typing\ntyping.Generic.__init_subclass__()",
    "host function bound by hand": "import types\ntypes.MethodType(print, 1)()",
    "class with an endless name": "type('x' * 10**6, (), {})",
    "getattr hook asked for what is special": "class A:\n    def __getattr__(self, name): return name\nA().__getattr__('__reduce__')",
}


@pytest.mark.parametrize("name", DENIED)
def test_denied(run, name):
    ran = run(DENIED[name] + "\n'DONE'")
    assert ran.fault.kind in {"runtime", "denied"}
    assert ran.text == ""
    assert not any(hasattr(thing, "hole") for thing in (collections.Counter, statistics.mean))
    assert hasattr(collections.Counter, "most_common")
    assert fractions.Fraction(3, 4).numerator == 3
    assert typing.List._nparams == 1  # noqa: UP006 - the alias itself


@pytest.mark.parametrize("name", ["__reduce_ex__", "__reduce__", "__getstate__"])
def test_an_object_s_own_dict_does_not_answer_for_its_class(run, name):
    program = (
        f"{_COPY}class A: pass\na = A()\nvars(a)['{name}'] = lambda *p: ((lambda: Counter), (), (None, {{'hole': 1}}))\n"
        "[type(copy.copy(a)).__name__, type(copy.deepcopy(a)).__name__]"
    )
    assert run(program).value == ["A", "A"]
    assert not hasattr(collections.Counter, "hole")


def test_host_code_asks_a_getattr_hook_for_plain_names_only(run):
    program = (
        "import copy\nclass A:\n    def __getattr__(self, name):\n        asked.append(name)\n        return lambda *a: 1\n"
        "asked = []\na = A()\ncopy.copy(a), copy.deepcopy(a), str(a), f'{a}', a.plain\nasked"
    )
    assert run(program).value == ["plain"]


def test_patterns_read_names_that_are_text():
    class Name(str):
        __slots__ = ()

    assert positional(["a", "split", Name("b"), "c"]) == ("a",)
    assert positional(["a", "__class__"]) == ("a",)
    assert positional(["format"]) == ()
