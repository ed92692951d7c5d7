"""What honest programs found to differ from the interpreter: same values, same order, same errors."""

from __future__ import annotations

import ast
import warnings
from dis import get_instructions

import pytest

from codeact.engines.restricted.policy import Policy

VALUES = {
    "frozen": "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int\np = P(2)\ntry:\n    p.x *= 2\nexcept AttributeError as e:\n    r = str(e)\n(p.x, r)",
    "class attribute": "class C:\n    n = 2\nC.n *= 3\nC.n **= 2\nC.n",
    "context": "from decimal import getcontext\ngetcontext().prec = 5\ngetcontext().prec *= 2\ngetcontext().prec",
    "property": "class C:\n    _x = 2\n    @property\n    def x(self): return self._x\n    @x.setter\n    def x(self, v): self._x = v + 1\nc = C()\nc.x *= 5\nc.x",
    "mangled": "class C:\n    def __init__(self): self.__n = 3\n    def go(self):\n        self.__n *= 2\n        return self.__n\nC().go()",
    "item order": "log = []\nclass D(dict):\n    def __getitem__(self, k):\n        log.append('get')\n        return 2\nd = D()\ndef k():\n    log.append('k')\n    return 'a'\ndef v():\n    log.append('v')\n    return 3\nd[k()] *= v()\nlog",
    "item value": "d = {'a': 2}\ndef v():\n    d['a'] = 100\n    return 3\nd['a'] *= v()\nd",
    "attribute value": "class O: pass\no = O()\no.a = 2\ndef v():\n    o.a = 100\n    return 3\no.a *= v()\no.a",
    "own join": "class S(str):\n    def join(self, xs): return super().join([f'<{x}>' for x in xs])\nS(',').join(['a', 'b'])",
    "inherited join": "class S(str): pass\nS(',').join(['a', 'b'])",
    "unbound right": "log = []\ndef f(x): log.append(x)\ntry:\n    f(1) == y\nexcept NameError:\n    log.append('name')\nlog",
    "walrus": "x = [1, 2]\n(n := len(x)) == n",
    "to_bytes": "[(5).to_bytes(4, byteorder='big'), (5).to_bytes(length=2, byteorder='little'), int.from_bytes(bytes=b'a', byteorder='big')]",
    "second name": "class V:\n    def __init__(self, n): self.n = n\n    def __add__(self, o): return V(self.n + getattr(o, 'n', o))\n    __radd__ = __add__\n    def __repr__(self): return f'V({self.n})'\n    __str__ = __repr__\nstr(sum([V(1), V(2)]))",
    "range attributes": "r = range(0, 10**7, 2)\n[r.start, r.stop, r.step, range(3).stop]",
    "range pattern": "def f(x):\n    match x:\n        case range(): return 'range'\n        case _: return 'other'\n[f(range(3)), f(range(10**7)), f([1])]",
    "range type": "[isinstance(range(3), range), isinstance(3, (int, range)), type(range(10**7)) is range, repr(range)]",
    "range subclass": "try:\n    class R(range): pass\nexcept TypeError as e:\n    r = str(e)\nr",
    "version": "import sys\n[sys.version_info.major, sys.version_info[:1], sys.version_info >= (3, 11)]",
    "min and max with a key": "try:\n    max(1, 2, key=abs, default=0)\nexcept TypeError as e:\n    r = str(e)\n(r, max([1, -3], key=abs), min(2, -1, key=lambda v: -v), max([], key=abs, default=7), max([1, 2], key=None))",
    "times that are no days": "import time\ntime.strftime('%M:%S', (0, 0, 0, 0, 5, 30, 0, 0, 0))",
    "zip and enumerate": "a = [1, 2]\n(list(zip(a, 'xy')), list(enumerate(a, 5)), list(zip(a, iter(a))), list(zip(*[iter('abcd')] * 2)), list(enumerate(zip(a, a))))",
    "growing by name": "n, s, t, f = 1, 'a', (1,), 0.5\nn += True\ns += 'b'\nt += (2,)\nf += 1\nrows = []\nrows += (c for c in 'xy')\n(n, s, t, f, rows)",
    "print sep": "try:\n    print(1, sep=5)\nexcept TypeError as e:\n    r = str(e)\nr",
}

VALUES.update(
    {
        "cyclic list": "l = [1]\nl.append(l)\n(str(l), repr([l, l]), l == 3, f'{l}')",
        "cyclic dict": "d = {}\nd['p'] = {'c': d}\nstr(d)",
        "parents": "root = {'name': 'r', 'kids': []}\nfor i in range(30): root['kids'].append({'i': i, 'parent': root})\nlen(str(root)), len(str(root['kids'][3]))",
        "cyclic json": "import json\nd = {}\nd['p'] = [d]\ntry:\n    json.dumps(d)\nexcept ValueError as e:\n    r = str(e)\nr",
        "cyclic copy": "import copy\nd = {}\nd['p'] = [d]\nc = copy.deepcopy(d)\nc['p'][0] is c",
        "elifs": "x = 290\nif x == -1: r = 0\n" + "".join(f"elif x == {i}: r = {i}\n" for i in range(300)) + "r",
        "sum": "a = 'x'\n" + "+".join(["a"] * 400),
        "products": "a = 1\n" + "*".join(["a"] * 400),
        "chained": "'a'" + ".strip()" * 150,
        "chained and judged": "'a'" + ".replace('a', 'b')" * 150,
    }
)

CLASSES = "class S(str):\n    def __str__(self): return 'own'\n    def replace(self, *a): return a\n    def split(self, *a, **k): return a, k\nclass I(int):\n    def __str__(self): return 'seven'\ns, i, n = S('a b'), I(7), None\n"
VALUES.update(
    {
        f"conversions: {name}": CLASSES + program
        for name, program in {
            "str": "x, f, b = 'x', 0.5, b'b'\n[str(s), str(i), str(n), str(x), str(f), str(b), {str(x): 1}, str(i) == str(s)]",
            "int": "x, f, b = ' 12 ', 2.9, b'7'\n[int(x), int(f), int(b), int(i), int(True), int('9'), int('ff', 16), int(x) % 5 == int(f)]",
            "int errors": "told = []\nfor x in ('', 'x', n, [], 1j, float('inf')):\n    try: int(x)\n    except Exception as e: told.append(str(e))\ntold",
            "type": "[type(s) is S, type(i) == I, type(n) is type(None), type(1.5).__name__, type(S) is type, type(type(s)) is type, type(S('x')) is S]",
            "rebound": "def str(x): return 'mine'\ndef type(x): return 'kind'\n[str(n), type(n)]",
            "methods": "x = 'a-b-c'\n[x.split('-'), x.split('-', 1), x.split(sep='-'), x.split(*['-']), x.rsplit('-', 1), x.replace('-', '+', 1), x.rfind('b'), x.zfill(7), x.splitlines(True), x.encode()]",
            "own methods": "[s.split(' '), s.split(sep=' '), s.replace('a', 'b'), s.rjust(5), S.split('a b'), str.split('a b'), str.replace(s, 'a', 'bb')]",
            "errors of methods": "told = []\nfor call in (lambda x: x.split(1), lambda x: x.split(''), lambda x: x.rjust('a'), lambda x: x.replace(1, 2), lambda x: x.split(' ', 1.5)):\n    try: call('a b')\n    except Exception as e: told.append(type(e).__name__ + str(e))\ntold",
            "repeated": "['ab' * 3, 3 * 'ab', 'ab' * -1, ['-' * n for n in range(3)], [[0] * n for n in range(3)], (1, 2) * 2, b'x' * 3, '-' * 900 == 900 * '-']",
        }.items()
    }
)

LOOP = "for turn in range(2): pass\n"
VALUES.update(
    {
        f"names at the top: {name}": program
        for name, program in {
            "docstring": f"'doc'\nfrom __future__ import annotations\n{LOOP}x: turn = 1\n(__doc__, x)",
            "comprehension": f"n = 5\n{LOOP}a = [n for n in range(3)]\nb = [[n + z for n in a] for z in a]\n(n, a, b)",
            "generator": f"k = 1\n{LOOP}k = 2\nlist(n + k for n in range(3) if n != k)",
            "walrus": f"{LOOP}a = [last := n for n in range(4)]\n(a, last)",
            "class": f"n = 1\n{LOOP}class C:\n    n = n + 1\n    m = [n for n in range(2)]\n    def get(self): return n\n(C.n, C.m, C().get())",
            "function": f"n = 1\n{LOOP}def f(n): return n, (lambda: n)()\ndef g():\n    n = 7\n    def h():\n        nonlocal n\n        n += 1\n        return n\n    return h()\n(f(3), g(), n)",
            "global": f"n = 1\ndef f():\n    global n\n    n = 9\n    return [n for n in range(2)]\n{LOOP}(f(), n)",
            "handler": "for n in range(2):\n    try:\n        1 / n\n    except ZeroDivisionError as e:\n        r = str(e)\n(r, 'e' in globals())",
            "deleted": "for n in range(2):\n    x = n\n    del x\ntry:\n    x\nexcept NameError as e:\n    r = str(e)\nr",
            "annotated": "x: int = 0\nfor n in range(3):\n    x += n\n    y: int = x\n(x, y)",
            "match": f"{LOOP}match (1, {{'k': 2, 'z': 3}}):\n    case (a, {{'k': b, **rest}}): pass\n(a, b, rest)",
        }.items()
    }
)

PATTERNS = {
    "marks": r"[re.findall(r'\w+', 'नमस्ते a\u0301b'), re.findall(r'\bका', 'का काा'), re.sub(r'\W', '_', 'é\u0301 x'), re.findall(r'[\w-]+', 'a\u0301-b'), re.split(r'\s', 'a\x1cb')]",
    "fuzzy": r"[re.findall('ab{e}', 'abc ab{e}'), re.findall('a{e<=1}', 'b'), re.findall('a{2}', 'aaa'), re.findall('a{,1}b', 'aab'), re.findall('{', '{')]",
    "posix": r"[re.findall('[[:alpha:]]', 'a]:]'), re.findall('[]a]+', 'a]'), re.findall('[^]a]+', 'xa]')]",
    "names": r"[re.findall(r'\N{DIGIT ONE}{2}', '111'), re.match('(?P<n>.)(?P=n)', 'aa').groupdict(), re.findall('(?#{)a', 'a')]",
    "verbose": r"re.findall('(?x) a # [ {e}\n {2} b', 'aab')",
    "bytes": r"[re.findall(rb'\w+', b'a\xe9 b'), re.sub(b'[[]', b'x', b'a[')]",
    "keywords": r"[re.compile('a').search('aba', pos=1).start(), re.compile('a').findall('aba', 1, endpos=2), re.compile('a', re.A | re.I).flags == (re.A | re.I), int(re.compile('(?i)a').flags)]",
    "shown": r"[repr(re.compile('a', re.I | re.M)), repr(re.compile('a')), repr(re.compile(b'a', re.S))]",
    "template": r"[re.sub('(a)(b)?', r'[\2\g<1>]', 'aab'), re.match('(?P<x>.)', 'q').expand(r'\g<x>\n'), re.sub('', '-', 'ab'), re.sub('a', lambda m: m.group() * 2, 'aba')]",
    **{
        f"error {number}": f"try:\n    re.{call}\nexcept re.error as e:\n    r = str(e)\nr"
        for number, call in enumerate(
            [
                r"compile('\\h')", "compile('(?|a)')", "compile('a(')", "compile('(?<=a+)b')", r"compile('\\p{L}')",
                "compile('[b-a]')", r"sub('a', '\\q', 'a')", r"sub('a', '\\1', 'a')", "compile('*')", "compile('(?R)')",
            ]
        )
    },
}  # fmt: skip
VALUES.update({f"re {name}": "import re\n" + program for name, program in PATTERNS.items()})


def python(program: str) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _python(program)


def _python(program: str) -> object:
    tree = ast.parse(program)
    tail = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    names: dict[str, object] = {"__name__": "__main__"}
    exec(compile(tree, "<program>", "exec"), names)
    return eval(compile(tail, "<program>", "eval"), names)


@pytest.mark.parametrize("name", VALUES)
def test_values(run, name):
    assert run(VALUES[name]).value == python(VALUES[name])


def test_print_names_itself(run):
    assert run("print(1, foo=2)").fault.message == "print() got an unexpected keyword argument 'foo'"


@pytest.mark.parametrize(
    "program", ["x = 1\n__getattr__ = x", "class A:\n    __getattr__ = print", "class A:\n    for __add__ in []: pass"]
)
def test_second_names_are_for_classes(run, program):
    assert run(program).fault.kind == "denied"


def test_names_at_the_top_are_found_as_in_functions():
    """A loop there may be all that a program is."""
    program = "n: int = 0\nfor turn in range(3):\n    if turn * turn % 2: other = len(f'{n}{turn}')"
    tree = ast.parse(program)
    policy = Policy(program)
    policy.judge(tree)
    policy.declare(tree)
    code = compile(tree, "<program>", "exec")
    by_name = {step.argval for step in get_instructions(code) if step.opname in {"LOAD_NAME", "STORE_NAME"}}
    assert by_name <= {"n", "__annotations__"}
