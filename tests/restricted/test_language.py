"""What the policy accepts gives what plain Python gives."""

from __future__ import annotations

import ast
import sys
from typing import Any

import pytest

PROGRAMS: dict[str, str] = {
    "item in place": "d = {'a': 1}\nd['a'] += 2\nd['b'] = [1]\nd['b'] *= 3\nd['b'][0] -= 5\nd",
    "slice in place": "xs = [1, 2, 3]\nxs[1:] *= 2\nxs[:1] += [9]\nxs",
    "attribute in place": "class A: pass\na = A()\na.n = 2\na.n *= 21\na.n **= 1\na.n += 0\na.n",
    "operators in place": "x = 7\nx <<= 2\nx %= 16\nx //= 1\nx ^= 3\nx |= 8\nx &= 15\nx",
    "text in place": "s = 'n=%d'\ns %= 3\ns *= 2\ns",
    "annotations": "x: int = 1\ny: list[int]\ndef f(a: 'str', *b: int, c: dict[str, int] | None = None) -> float: return x\nf('')",
    "nonlocal": "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n        return n\n    g()\n    return g()\nf()",
    "global": "n = 1\ndef f():\n    global n\n    n += 1\nf()\nn",
    "underscores": "_ = 3\n_x = 4\nfor _ in range(2):\n    _x += 1\n(_, _x)",
    "private method": "class A:\n    def __init__(self): self._n = 1\n    def _up(self): self._n += 1; return self\n    def go(self): return self._up()._n\nA().go()",
    "mangled": "class A:\n    def __init__(self): self.__n = 5\n    def __get(self): return self.__n\n    def go(self): return self.__get()\nA().go()",
    "private of another": "class A:\n    def __init__(self, n): self._n = n\n    def __eq__(self, other): return self._n == other._n\nA(1) == A(1), A(1) == A(2)",
    "class private": "class A:\n    _all = []\n    @classmethod\n    def new(cls):\n        a = cls()\n        cls._all.append(a)\n        return a\nA.new()\nlen(A._all)",
    "inheritance": "class A:\n    def __init__(self, x): self.x = x\n    def show(self): return f'A{self.x}'\nclass B(A):\n    def __init__(self): super().__init__(3)\n    def show(self): return 'B' + super().show()\nB().show()",
    "old super": "class A:\n    def __init__(self, x): self.x = x\nclass B(A):\n    def __init__(self):\n        A.__init__(self, 4)\nB().x",
    "property": "class A:\n    _x = 2\n    @property\n    def x(self): return self._x\n    @x.setter\n    def x(self, v): self._x = v\na = A()\na.x = 9\na.x",
    "operators of a class": "class V:\n    def __init__(self, n): self.n = n\n    def __add__(self, o): return V(self.n + o.n)\n    def __mul__(self, k): return V(self.n * k)\n    def __imul__(self, k): self.n *= k; return self\n    def __repr__(self): return f'V({self.n})'\nv = V(2) + V(3)\nv *= 2\nrepr(v * 3)",
    "container class": "class C:\n    def __init__(self): self._d = {}\n    def __getitem__(self, k): return self._d[k]\n    def __setitem__(self, k, v): self._d[k] = v\n    def __len__(self): return len(self._d)\n    def __iter__(self): return iter(self._d)\n    def __contains__(self, k): return k in self._d\nc = C()\nc['a'] = 1\nc['a'] += 1\n(len(c), list(c), 'a' in c, c['a'])",
    "context manager": "log = []\nclass M:\n    def __enter__(self): log.append('in'); return self\n    def __exit__(self, *e): log.append(type(e[1]).__name__); return True\nwith M() as m, M():\n    raise ValueError\nlog",
    "try": "def f(x):\n    try:\n        y = 1 / x\n    except (ZeroDivisionError, TypeError) as e:\n        return type(e).__name__\n    else:\n        return y\n    finally:\n        done.append(x)\ndone = []\n(f(0), f(2), f('a'), done)",
    "class name of an error": "try:\n    {}['x']\nexcept KeyError as e:\n    r = (e.__class__.__name__, str(e), e.args)\nr",
    "raise from": "try:\n    try:\n        1 / 0\n    except ZeroDivisionError as e:\n        raise ValueError('v') from e\nexcept ValueError as e:\n    r = str(e)\nr",
    "own error": "class E(Exception):\n    def __init__(self, code): super().__init__(f'code {code}'); self.code = code\ntry:\n    raise E(5)\nexcept E as e:\n    r = (str(e), e.code)\nr",
    "match": "def f(v):\n    match v:\n        case {'k': [x, *rest], **more}: return ('map', x, rest, more)\n        case [int(n), str() as s]: return ('seq', n, s)\n        case 1 | 2: return 'num'\n        case _ if v is None: return 'none'\n        case _: return 'other'\n[f({'k': [1, 2], 'z': 3}), f([1, 'a']), f(2), f(None), f('q')]",
    "match class": "class P:\n    __match_args__ = ('x', 'y')\n    def __init__(self, x, y): self.x = x; self.y = y\nmatch P(1, 2):\n    case P(1, y=z): r = z\nr",
    "generators": "def g(n):\n    for i in range(n):\n        got = yield i\n        if got: yield got\ndef h(): yield from g(3)\nit = g(2)\n[list(h()), next(it), it.send('s')]",
    "comprehensions": "xs = [(a, b) for a in range(3) if a for b in range(a)]\n[xs, {a: b for a, b in xs}, {a for a, _ in xs}, list(x for x in xs)]",
    "walrus": "[y for x in range(5) if (y := x * x) > 3]",
    "stars": "a, *b, (c, *d) = [1, 2, 3, (4, 5, 6)]\ndef f(*args, **kw): return args, kw\n(a, b, c, d, f(*b, **{'k': 1}), [*b, *d], {**{'a': 1}, 'b': 2})",
    "slices": "xs = list(range(10))\nxs[2:4] = 'ab'\ndel xs[0], xs[-1:]\n(xs[::2], xs[::-1][:2])",
    "lambda": "f = lambda x, *, k=2: x * k\n(f(3), (lambda: 0)(), sorted([3, 1], key=lambda v: -v))",
    "decorators": "import functools\ndef twice(f):\n    @functools.wraps(f)\n    def g(*a): return f(*a) * 2\n    return g\n@twice\ndef h(x):\n    'doc'\n    return x + 1\n(h(1), h.__name__, h.__doc__)",
    "f-strings": "x = 3.14159\nn = 'w'\n[f'{x:.2f}', f'{n!r:>6}', f'{x:{8}.{3}}', f'{[1, None]}', f'{n}{{}}', f'{x=:.1f}', f'{f\"{n}\"}', f'{1000000:,}']",
    "str.format": "['{} {1}'.format if 0 else '{0} {1}'.format(1, 'b'), '{a[k]:>4}|{b!r}'.format(a={'k': 1}, b='q'), '{:{}}'.format('x', 3), '{x.real}'.format(x=5), '{a}'.format_map({'a': 1})]",
    "percent": "['%s-%05.1f' % ('a', 2.25), '%d%%' % 5, '%(a)s' % {'a': [1]}, '%r' % 'q', '%*d' % (4, 7)]",
    "text methods": "['-'.join('abc'), 'a,b'.split(','), 'aa'.replace('a', 'b'), 'x'.center(5, '*'), '7'.zfill(3), 'é'.encode(), b'abc'.decode('ascii'), 'ab'.translate({97: 'x'}), 'a b c'.rsplit(' ', 1), ','.join(str(i) for i in range(3)), str.join('-', ['a', 'b']), list(map(str.upper, 'ab'))]",
    "numbers": "[2 ** 10, 7 % 3, -7 // 2, 1 << 5, pow(2, 5, 7), round(2.567, 2), round(1234, -2), divmod(7, 2), 10 ** -1, int('ff', 16), int('12'), int(3.9), (5).to_bytes(2, 'big'), int.from_bytes(b'ab', 'big')]",
    "equality": "a = [1, {'x': (1, 2)}]\nb = [1, {'x': (1, 2)}]\n(a == b, a != b, a == a, [] == (), 'a' == 'b', None == 0)",
    "assert": "try:\n    assert 1 == 2, 'no'\nexcept AssertionError as e:\n    r = str(e)\nr",
    "type": "[type(3) is int, type('').__name__, isinstance(3, (int, type)), isinstance(int, type), isinstance(range(3), range), type(range(2)) is range, issubclass(bool, int), type(type(3)) is type]",
    "dataclass": "from dataclasses import dataclass, field, asdict, replace\n@dataclass(order=True)\nclass D:\n    x: int\n    y: list = field(default_factory=list)\n    def total(self): return self.x + sum(self.y)\nd = D(1, [2])\n[repr(d), asdict(d), d == D(1, [2]), replace(d, x=5).total(), D(0) < d]",
    "frozen dataclass": "from dataclasses import dataclass\n@dataclass(frozen=True, slots=True)\nclass D:\n    x: float\n    def __post_init__(self): object.__setattr__(self, 'x', self.x * 2)\ntry:\n    D(1).x = 3\nexcept AttributeError as e:\n    r = type(e).__name__\n(D(2.0).x, r)",
    "enum": "from enum import Enum, auto\nclass C(Enum):\n    A = auto()\n    B = 'b'\n    @classmethod\n    def _missing_(cls, v): return cls.A\n[C.A.name, C('b').value, C(99).name, [c.name for c in C], C.A is C.A, str(C.B)]",
    "namedtuple": "from collections import namedtuple\nfrom typing import NamedTuple\nP = namedtuple('P', 'a b', defaults=[2])\nclass Q(NamedTuple):\n    x: int\n    y: int = 0\np = P(1)\n[p._asdict(), p._replace(a=9), P._fields, repr(p), Q(3), Q(1)._replace(y=4)]",
    "abc": "from abc import ABC, abstractmethod\nclass A(ABC):\n    @abstractmethod\n    def f(self): ...\nclass B(A):\n    def f(self): return 1\ntry:\n    A()\nexcept TypeError:\n    r = B().f()\nr",
    "getattr": "class A:\n    x = 1\na = A()\nsetattr(a, 'y', 2)\n[getattr(a, 'x'), getattr(a, 'z', 3), hasattr(a, 'y'), hasattr(a, 'q'), vars(a), getattr('abc', 'upper')()]",
    "function attributes": "def f(): f.calls += 1\nf.calls = 0\nf()\nf()\nf.calls",
    "own iterator": "class R:\n    def __init__(self, n): self.n = n\n    def __iter__(self): return self\n    def __next__(self):\n        if self.n == 0: raise StopIteration\n        self.n -= 1\n        return self.n\nlist(R(3))",
    "static and class methods": "class A:\n    n = 1\n    @staticmethod\n    def s(self): return self\n    @classmethod\n    def c(cls): return cls.n\n(A.s(4), A.c(), A().s('x'))",
    "self bound again": "class A:\n    def f(self, other):\n        self = other\n        return self.n\nclass B: pass\nb = B()\nb.n = 8\nA().f(b)",
    "closures over self": "class A:\n    def __init__(self): self._n = [1, 2]\n    def f(self): return [(lambda: self._n[i])() for i in range(len(self._n))]\nA().f()",
    "while else": "n = 3\nwhile n:\n    n -= 1\nelse:\n    n = 'done'\nn",
    "global builtins rebound": "def run(str, int=3): return str, int\nlist_ = list\nsum = 5\n(run('a'), sum)",
    "rebound str": "def str(x): return 'mine'\nstr(4)",
    "lazy builtins": "[list(map(lambda a, b: a + b, [1, 2], [3, 4])), list(filter(None, [0, 1])), list(zip('ab', range(2))), list(enumerate('a', 5)), list(reversed([1, 2])), dict(zip('a', [1])), max([1, 3]), min(3, 1), any([0, 1]), all([]), sum([[1], [2]], []), sum([0.5, 1]), sorted('ba'), sorted({3, 1}), isinstance(map(str, []), map)]",
    "iter": "it = iter([1, 2, 0, 3].pop, 1)\nlist(it)",
    "bytes": "[bytes(3), bytes([65]), bytes(bytearray(b'a') + b'b'), bytes('é', 'utf-8'), b'%d' % 3, b'a'.join([b'1', b'2'])]",
    "nested quotes": "'a' 'b' + \"c\" * 2",
    "del": "x = [1, 2]\ndel x[0]\ny = 1\ndel y\nx",
    "chained comparison": "x = 5\n1 < x == 5 <= 5 != 6",
    "future": "from __future__ import annotations\ndef f(x: Undefined) -> Nope: return 1\nf(2)",
    "main": "def main(): return 3\nif __name__ == '__main__':\n    r = main()\nr",
    "total_ordering": "from functools import total_ordering\n@total_ordering\nclass A:\n    def __init__(self, n): self.n = n\n    def __eq__(self, o): return self.n == o.n\n    def __lt__(self, o): return self.n < o.n\nA(2) >= A(1)",
    "exception group": "try:\n    raise ExceptionGroup('g', [ValueError(1)])\nexcept ExceptionGroup as g:\n    r = [str(e) for e in g.exceptions]\nr",
}


def plain(source: str) -> object:
    """The value of a program in plain Python."""
    tree = ast.parse(source)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(tree, "<plain>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<plain>", "eval"), names)


def shape(value: object) -> object:
    """A value as it crosses: a namedtuple is a tuple."""
    if isinstance(value, tuple):
        return tuple(map(shape, value))
    if isinstance(value, list):
        return list(map(shape, value))
    return value


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_means_what_python_means(run, name):
    assert run(PROGRAMS[name]).value == shape(plain(PROGRAMS[name]))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters are newer")
def test_type_parameters(run):
    assert run("type L[T] = list[T]\ndef f[T](x: T) -> T: return x\nclass A[T]:\n    pass\nf(3)").value == 3


def test_a_private_name_of_the_program_s_own_object_from_outside(run):
    assert run("class A:\n    def __init__(self): self._n = 1\nA()._n").value == 1


def test_return_at_top_level(run):
    ran = run("for i in range(5):\n    if i == 3:\n        return i\n")
    assert ran.value == 3
    assert ran.outcome.finished


def test_await_at_top_level(run):
    assert run("a = await tools.fetch('x')\nb = await 5\nc = await tools.search_kb('q')\n(a, b, c)").value == (
        "fetch:x",
        5,
        "search_kb:q",
    )


def test_async_language(run):
    program = """
async def numbers():
    for i in range(3):
        yield i
class Session:
    async def __aenter__(self): return self
    async def __aexit__(self, *e): return False
async def main():
    async with Session() as s:
        got = [n async for n in numbers()]
        async for n in numbers():
            got.append(n * 10)
    return got, [await tools.fetch(k) for k in 'ab']
return await main()
"""
    assert run(program).value == ([0, 1, 2, 0, 10, 20], ["fetch:a", "fetch:b"])


def test_bound_names_are_the_program_s_own(run):
    ran = run("import math\nx = 1\n_y = 2\ndef f(): pass\nfor i in range(2): z = i")
    assert ran.outcome.bound == ("x", "f", "i", "z")
    assert not ran.outcome.finished


@pytest.mark.parametrize(
    ("program", "code", "failed"),
    [
        ("import sys\nsys.exit()", 0, False),
        ("raise SystemExit(3)", 3, True),
        ("import sys\nsys.exit('why')", 1, True),
    ],
)
def test_exit(run, program, code, failed):
    outcome = run(program).outcome
    assert outcome.exit_code == code
    assert outcome.finished
    assert (outcome.fault is not None) == failed


def test_names_stay_between_runs_of_one_world(run):
    house = run("1").house
    instance = house.open()
    assert house.run(instance, "x = 1\ndef f(): return x + 1").fault is None
    second = house.run(instance, "y = f()\ny", 2)
    assert (second.value, second.bound) == (2, ("y",))
    instance.close()
    instance.close()
