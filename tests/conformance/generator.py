"""Random small programs: any of the language, always short, always ending, the same on every machine.

Every program has one pool of names, each of one kind, which it reads and writes all over. What could grow in a loop is
cut, loops go over copies and count down, and what depends on the order of a set, on the rounding of a library or on
the text of a version's messages is not said at all.
"""

from __future__ import annotations

from collections.abc import Callable

POOL = {
    "i": "int", "j": "int", "k": "int", "f": "float", "s": "str", "t": "str", "b": "bool", "xs": "list", "ys": "list",
    "ws": "words", "d": "dict", "u": "set", "p": "tuple",
}  # fmt: skip
"""The names of a program and their kinds."""

PRELUDE = """\
faults = []
def cut(v):
    if isinstance(v, int):
        return v if abs(v) < 10**9 else v % 1000003
    if isinstance(v, str):
        return v[:12]
    if isinstance(v, (list, tuple)):
        return type(v)(map(cut, v[:12]))
    if isinstance(v, dict):
        return {cut(k): cut(w) for k, w in list(v.items())[:12]}
    return v
"""

TYPES = {
    "int": "int", "float": "float", "str": "str", "bool": "bool", "list": "list", "words": "list", "dict": "dict",
    "set": "set", "tuple": "tuple",
}  # fmt: skip

LITERALS: dict[str, list[str]] = {
    "int": ["0", "1", "2", "-1", "3", "7", "-4", "10", "255", "1_000", "0x1F", "10**8"],
    "float": ["0.0", "1.5", "-0.5", "2.0", "1e3", "0.1", "-3.25", "1e-3"],
    "str": ["''", "'a'", "'ab'", "'Hello World'", "' x '", "'3'", "'a,b'", "'é'", "'-7'", "'line\\nbreak'", "'AbC'"],
    "bool": ["True", "False"],
    "list": ["[]", "[1]", "[3, 1, 2]", "[0, 0, 5, -2]", "[7, 7, 1, 4, 9]"],
    "words": ["[]", "['a']", "['pear', 'fig', 'apple']", "['b', 'A', 'c', 'a']"],
    "dict": ["{}", "{'a': 1}", "{'b': 2, 'a': 0, 'c': 5}"],
    "set": ["set()", "{1}", "{3, 1, 2}", "{0, 5, 9, 2}"],
    "tuple": ["(1, 'a')", "(0, '')", "(-3, 'xyz')"],
}

# What a kind can be made of: a template, whose fields are other kinds. `x` and `w` are names that the template binds.
TEMPLATES: dict[str, list[str]] = {
    "int": [
        "({int} + {int})", "({int} - {int})", "({int} * {int})", "({int} // {int})", "({int} % {int})", "({int} & {int})",
        "({int} | {int})", "({int} ^ {int})", "({int} ** {small})", "(-{int})", "(~{int})", "abs({int})", "min({int}, {int})",
        "max({list})", "min({list}, default={int})", "len({list})", "len({str})", "len({dict})", "len({set})", "len({words})", "sum({list})",
        "{list}[{int}]", "{dict}[{str}]", "{dict}.get({str}, {int})", "({int} if {bool} else {int})", "int({float})", "int({str})",
        "int({str}, 16)", "ord({str}[{int}])", "{list}.count({int})", "{list}.index({int})", "{str}.find({str})", "{str}.count({str})",
        "sum(x * {small} for x in {list} if x > {int})", "sum(1 for w in {words} if {str} in w)", "{tuple}[0]",
        "divmod({int}, {int})[{small} % 2]", "int({bool})", "round({float})", "next(iter({list}), {int})", "(lambda x, y=2: x + y)({int})",
        "(lambda *a, **n: len(a) + len(n))(*{list}, **{dict})", "sum(map(len, {words}))", "({int}).bit_length()", "({int} << {small})", "({int} >> {small})",
        "len(max({words}, key=len, default=''))", "({int} and {int})", "({int} or {int})",
        "[x for x in {list}][{int}]", "dict(zip({words}, {list})).get({str}, -1)", "sorted({set})[{small}]", "pow({int}, {small}, 97)",
        "sum(x * y for x in {list} for y in {set} if x != y)", "next((x for x in {list} if x > {int}), {int})",
        "(i := {int})", "(k := {int}) + k", "cut({int})",
    ],
    "float": [
        "({float} + {float})", "({float} - {int})", "({float} * {float})", "({int} / {int})", "({float} / {float})", "({float} // {float})",
        "({float} % {float})", "float({int})", "float({str})", "abs({float})", "round({float}, {small})", "min({float}, {float})",
        "({float} if {bool} else {float})", "(-{float})", "max({int}, {float})",
    ],
    "str": [
        "({str} + {str})", "({str} * {small})", "{str}[{int}]", "{str}[{int}:{int}]", "{str}[::-1]", "{str}[{int}::2]", "{str}.upper()", "{str}.lower()",
        "{str}.strip()", "{str}.title()", "{str}.replace({str}, {str})", "{str}.replace('a', '-', 1)", "{str}.center(8, '*')", "{str}.zfill({small})",
        "{str}.ljust({small})", "'-'.join({words})", "{str}.join({words})", "str({int})", "str({float})", "str({list})", "str({tuple})", "str({dict})", "repr({str})",
        "repr({words})", "f'{{i}}|{{s!r}}|{{xs[k]}}'", "f'{{j:>5}}{{f:.2f}}{{i * {small}}}'", "f'{{t:^7}}{{k:+d}}'", "f'{{ys}}{{b}}{{p[0]:05d}}'", "f'{{s:>{{i % 9}}}}'",
        "'%d-%s' % ({int}, {str})", "'%05.1f' % {float}", "'{{}}/{{}}'.format({int}, {str})", "'{{0[0]}}{{1:x}}'.format({list}, {int})", "format({int}, '08b')", "format({float}, ',.1f')",
        "chr(97 + {int} % 26)", "{words}[{int}]", "({str} if {bool} else {str})", "{tuple}[1]", "max({words})", "min({words}, key=lambda w: (len(w), w))",
        "{str}.partition(' ')[{small}]", "({str} or {str})", "''.join(w[0] for w in {words} if w)", "''.join(sorted({str}))", "{str}.swapcase()", "{str}.removeprefix({str})",
        "ascii({str})", "hex({int})", "{str}.casefold()", "{str}.expandtabs(4)", "type({int}).__name__", "''.join(map(str, {list}))", "{str}.encode().hex()", "'{{k}}:{{v}}'.format(k={str}, v={int})",
    ],
    "bool": [
        "({int} < {int})", "({int} == {int})", "({float} >= {int})", "({str} < {str})", "({list} == {list})", "({int} <= {int} < {int})", "({bool} and {bool})",
        "({bool} or {bool})", "(not {bool})", "({int} in {list})", "({str} in {str})", "({str} not in {dict})", "({int} in {set})", "isinstance({int}, int)",
        "isinstance({float}, (int, str))", "any(x > {int} for x in {list})", "all({list})", "{str}.isdigit()", "{str}.startswith({str})", "({set} <= {set})",
        "bool({list})", "({tuple} < {tuple})", "({list} < {list})", "(s is None)", "({dict} == {dict})", "({words} != {words})", "{str}.isalpha()", "{str}.endswith(('a', {str}))",
        "{set}.isdisjoint({list})", "(len({list}) > {small} != {bool})", "callable({int})",
    ],
    "list": [
        "sorted({list})", "sorted({list}, reverse=not {bool})", "sorted({list}, key=lambda x: -x)", "list(range({small}))", "list(range({int} % 9, {small}, -1))", "[x + {int} for x in {list}]",
        "[x for x in {list} if {bool}]", "[x * y for x in {list} for y in range({small})]", "({list} + {list})", "({list} * {small})", "{list}[{int}:{int}]", "{list}[::-1]", "{list}[::{int}]", "list(reversed({list}))",
        "sorted({set})", "sorted({dict}.values())", "list(map(lambda x: x % 3, {list}))", "list(filter(lambda x: x > {int}, {list}))", "[*{list}, {int}, *range({small})]",
        "[x for x, w in enumerate({words}) if w]", "[x + y for x, y in zip({list}, {list})]", "[len(w) for w in {words}]", "({list} if {bool} else {list})", "list({list})", "{list}.copy()",
        "[x if x % 2 else -x for x in {list}]", "list({dict}.values())", "[sum({list}[:x]) for x in range({small})]", "list(divmod({int}, {int}))", "[y for x in {list} if (y := x * 2) > {int}]", "list({str}.encode())",
        "sorted({list}, key=lambda x: (x % 3, -x))", "[{int}] * {small}", "[x for x in {list} if x in {set}]", "list(dict.fromkeys({list}))", "[(lambda y: y + x)({int}) for x in {list}]",
    ],
    "words": [
        "{str}.split()", "{str}.split(',')", "sorted({words})", "sorted({words}, key=len)", "[w.upper() for w in {words}]", "list({str})", "list({dict})", "[f'{{w}}{{x}}' for x, w in enumerate({words})]",
        "({words} + [{str}])", "{words}[{int}:]", "[str(x) for x in {list}]", "sorted({words}, key=lambda w: (-len(w), w))", "[w for w in {words} if w > {str}]", "{str}.splitlines()", "sorted({words}, key=str.lower)",
        "[w[::-1] for w in {words}]", "list(map(str.title, {words}))", "{str}.rsplit('a', 1)", "[a + b for a, b in zip({words}, {words})]", "list({str}.partition({str}))", "['x'.join(w) for w in {words}]",
    ],
    "dict": [
        "{{w: len(w) for w in {words}}}", "dict(zip({words}, {list}))", "({dict} | {dict})", "{{**{dict}, {str}: {int}}}", "{{{str}: {int}, {str}: {int}}}", "{{str(x): x for x in {list}}}", "dict(sorted({dict}.items()))",
        "{{w: x + 1 for w, x in {dict}.items()}}", "dict.fromkeys({words}, {int})", "{{w: x for w, x in {dict}.items() if x > {int}}}", "dict({dict}, z={int})", "dict(sorted({dict}.items(), key=lambda e: (-e[1], e[0])))",
        "{{w: {words}.count(w) for w in {words}}}", "{dict}.copy()", "{{str(v): len(w) for w, v in {dict}.items()}}",
    ],
    "set": [
        "set({list})", "({set} | {set})", "({set} & {set})", "({set} - {set})", "({set} ^ {set})", "{{x % 5 for x in {list}}}", "{{{int}, {int}}}", "{{len(w) for w in {words}}}", "{set}.union({list})", "{{*{list}, {int}}}",
        "{set}.intersection({list})", "set({dict}.values())", "({set} if {bool} else {set})",
    ],
    "tuple": ["({int}, {str})", "(len({words}), {str})", "max([({int}, {str}), {tuple}])", "({tuple} if {bool} else ({int}, {str}))", "tuple([{int}, {str}])", "{tuple}[::1]", "({int},) + ({str},)"],
}  # fmt: skip

SIMPLE: list[str] = [
    "{name} = {same}", "{name} = {same}", "{name} = {same}", "{name}: {type} = {same}", "i += {int}", "j -= {int}", "k *= {small}", "i //= {int}", "j %= {int}", "s += {str}", "f /= {float}",
    "xs += {list}", "u |= {set}", "u -= {set}", "d |= {dict}", "xs[{int}] = {int}", "xs[{int}] += {int}", "d[{str}] = {int}", "d[{str}] += {int}", "xs[{small}:{small}] = {list}", "i, j = {int}, {int}",
    "i, j = j, i", "i, *xs = {list}", "*ys, k = {list}", "i, s = {tuple}", "(i, t), j = {tuple}, {int}", "i = j = {int}", "xs = ys = {list}", "xs.append({int})", "xs.extend({list})", "xs.insert({int}, {int})",
    "i = xs.pop()", "i = xs.pop({int})", "xs.remove({int})", "xs.sort()", "xs.sort(key=lambda x: x % 4, reverse=not {bool})", "xs.reverse()", "xs.clear()", "d.update({dict})", "i = d.setdefault({str}, {int})", "i = d.pop({str}, {int})",
    "j = d.pop({str})", "u.add({int})", "u.discard({int})", "u.remove({int})", "del xs[{int}]", "del d[{str}]", "del xs[::2]", "assert {bool}", "assert {bool}, {str}", "print({list}, {dict}, {tuple})", "print({int}, {str}, sep={str})", "print(*{list})",
    "raise ValueError({str})", "raise KeyError({int})", "ws.append({str})", "b = i is None or {bool}", "xs, ys = ys, xs", "[i, j] = {list}", "k = (lambda: {int})()", "d = {{}}", "p = {tuple}", "ys = xs[:]", "ws += [{str}]",
    "i = min({int}, {int}, key=lambda x: x % 5)", "t = f'{{i=}} {{s!r:>8}} {{f:.3e}}'", "b = not {bool}", "s = s[1:] + s[:1]", "d = {{v: len(v) for v in {words}}}", "global_read = i",
]  # fmt: skip

HANDLERS = [
    "ZeroDivisionError",
    "IndexError",
    "KeyError",
    "ValueError",
    "TypeError",
    "Exception",
    "(KeyError, IndexError)",
    "LookupError",
    "ArithmeticError",
    "AttributeError",
    "AssertionError",
]

DEFINITIONS: list[str] = [
    # Functions: closures, defaults, generators, recursion, decorators.
    "def g(a, b={int}, *c, e={small}, **n):\n    {body}\n    return cut(a) if {bool} else {int}",
    "def counter():\n    n = {int}\n    def step(by=1):\n        nonlocal n\n        n += by\n        return n\n    return step\nstep = counter()\ni = step() + step({int})",
    "def gen(n):\n    for x in range(n):\n        if x == {small}:\n            return\n        yield x * {int}\nxs = list(gen({small}))",
    "def both():\n    yield from {list}\n    got = yield {int}\n    yield got\nys = list(both())",
    "def rec(n):\n    if n <= 0:\n        return {int}\n    return cut(n + rec(n - 1))\nj = rec({small})",
    "def deco(fn):\n    def inner(*a):\n        return cut(fn(*a)) + {int}\n    return inner\n@deco\ndef dressed(x):\n    return x * {small}\nk = dressed({int})",
    "def g(a, /, b, *, c):\n    return [a, b, c]\nxs = g({int}, b={int}, c={int})",
    "def g():\n    {body}\n    return i\ng()",
    "def g():\n    global i, s\n    {body}\ng()",
    "def tri(x):\n    try:\n        return x // {small}\n    except ZeroDivisionError:\n        return {int}\n    finally:\n        xs.append(x)\ni = tri({int})",
    "fs = [lambda x, y=y: x + y for y in {list}]\nxs = [fn({int}) for fn in fs]",
    # Classes: operators, properties, inheritance, dataclasses.
    "class P:\n    def __init__(self, v): self.v = v\n    def __add__(self, o): return P(self.v + o.v)\n    def __eq__(self, o): return isinstance(o, P) and self.v == o.v\n    def __lt__(self, o): return self.v < o.v\n    def __hash__(self): return hash(self.v)\n    def __repr__(self): return f'P({{self.v!r}})'\ni = (P({int}) + P({int})).v\nb = P({int}) == P({int})\ns = repr(sorted([P({int}), P({int}), P({int})]))\nj = len({{P({int}), P({int})}})",
    "class A:\n    n = {int}\n    def who(self): return 'A' + {str}\n    def call(self): return self.who()\nclass B(A):\n    n = A.n + {int}\n    def who(self): return 'B' + super().who()\ns = cut(B().call())\ni = B.n\nb = isinstance(A(), B)",
    "class T:\n    def __init__(self): self._x = {int}\n    @property\n    def x(self): return self._x\n    @x.setter\n    def x(self, v):\n        if v < 0: raise ValueError(v)\n        self._x = v\no = T()\no.x = {int}\no.x += {int}\ni = o.x",
    "class L:\n    def __init__(self, xs): self.xs = xs\n    def __len__(self): return len(self.xs)\n    def __getitem__(self, at): return self.xs[at]\n    def __iter__(self): return iter(self.xs)\n    def __contains__(self, x): return x in self.xs\no = L({list})\nxs = [*o][:5]\nb = {int} in o\ni = o[{int}]\nj = len(o)",
    "from dataclasses import dataclass, field\n@dataclass(order=True)\nclass D:\n    a: int\n    b: str = 'x'\n    c: list = field(default_factory=list, compare=False)\no = D({int}, {str})\no.c.append({int})\ns = repr(o)\nb = o < D({int}, {str})\nxs = o.c",
    "class E(Exception):\n    def __init__(self, code): self.code = code\ntry:\n    if {bool}: raise E({int})\n    i = {int}\nexcept E as e:\n    j = e.code",
    "class M:\n    def __enter__(self): xs.append({int}); return self\n    def __exit__(self, kind, error, trace): return kind is {handler}\nwith M() as m:\n    {body}",
    "from enum import Enum\nclass C(Enum):\n    R = {small}\n    G = 'g'\ns = C.R.name + C('g').name\nb = C.R is C(C.R.value)",
    "from collections import Counter, defaultdict\ncs = Counter({words})\nd = dict(cs.most_common({small}))\ndd = defaultdict(list)\nfor w in {words}:\n    dd[len(w)].append(w)\nxs = sorted(dd)",
    "class W:\n    def __getattr__(self, name): return len(name) if name != 'no' else {list}[{int}]\n    def __len__(self): return {small}\no = W()\ni = o.size + o.no\nb = bool(o)\nj = getattr(o, 'x', {int})\nk = hasattr(o, 'no')",
    "def g(x):\n    return eval('x + {small}') + eval('i')\nj = g({int})",
    "exec('t = ' + repr({str}))\nspace = {{}}\nexec('y = x * 2', {{'x': {int}}}, space)\ni = space['y']",
    "from typing import NamedTuple\nclass R(NamedTuple):\n    a: int\n    b: str = {str}\n    def both(self): return f'{{self.a}}{{self.b}}'\nr = R({int})\ns = cut(r._replace(b={str}).both())\nb = r == ({int}, {str})",
    "from contextlib import contextmanager\n@contextmanager\ndef guard(n):\n    xs.append(n)\n    try:\n        yield n + {int}\n    except {handler}:\n        ys.append(n)\n    finally:\n        xs.append(-n)\nwith guard({int}) as k:\n    {body}",
    "from functools import reduce, partial, lru_cache\n@lru_cache(maxsize=None)\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\ni = fib({small}) + reduce(lambda a, c: cut(a * 2 + c), {list}, {int})\nj = partial(max, {int})({int})",
    "class It:\n    def __init__(self, n): self.n = n\n    def __iter__(self): return self\n    def __next__(self):\n        if self.n <= 0: raise StopIteration\n        self.n -= 1\n        return self.n\nxs = [*It({small})]\ni = sum(It({small}), {int})\na, *ys = It({small})",
    "class K(type):\n    def __new__(m, name, bases, ns):\n        c = super().__new__(m, name, bases, ns)\n        c.size = len(name) + {int}\n        return c\n    def __len__(cls): return {small}\nclass Kid(metaclass=K):\n    v = {int}\ni = Kid.size + Kid.v + len(Kid)",
    "import re\nxs = [int(m) for m in re.findall(r'\\d+', {str})]\nt = cut(re.sub('[aeiou]', lambda m: m.group().upper(), {str}))\nb = re.match(r'[a-z]+$', {str}) is not None",
    "import json\ns = cut(json.dumps({dict}))\nd = json.loads(json.dumps({dict}))\nxs = json.loads(json.dumps({list}))",
    "class S(str):\n    def twice(self): return S(self + self)\n    def __getitem__(self, at): return S(str.__getitem__(self, at))\no = S({str})\ns = cut(o.twice().upper())\nt = str(o[{int}:])\ni = len(o.twice())",
    "class Lst(list):\n    def append(self, x): super().append(x * 2)\no = Lst({list})\no.append({int})\nxs = cut(list(o))\ni = o.pop()",
    "from itertools import groupby, accumulate, chain\nxs = cut(list(accumulate({list})))\nys = [len(list(v)) for _, v in groupby(sorted({list}), key=lambda x: x % 2)]\nws = cut(list(chain({words}, {words})))",
]

BLOCKS: list[str] = [
    "if {bool}:\n    {body}", "if {bool}:\n    {body}\nelse:\n    {body}", "if {bool}:\n    {body}\nelif {bool}:\n    {body}\nelse:\n    {body}",
    "for i in range({small}):\n    {loop}", "for x in {list}[:4]:\n    {loop}", "for i, s in enumerate({words}[:4]):\n    {loop}", "for v, w in list({dict}.items())[:4]:\n    {loop}", "for i, (j, k) in enumerate(zip({list}[:4], {list})):\n    {loop}",
    "for x in {list}[:4]:\n    {loop}\nelse:\n    {body}", "{n} = {small}\nwhile {n} > 0:\n    {n} -= 1\n    {loop}", "{n} = 3\nwhile {n}:\n    {n} -= 1\n    {loop}\nelse:\n    {body}",
    "try:\n    {body}\nexcept {handler} as e:\n    s = type(e).__name__\n    {body}", "try:\n    {body}\nexcept {handler}:\n    {body}\nelse:\n    {body}\nfinally:\n    {body}", "try:\n    {body}\nfinally:\n    {body}",
    "try:\n    {body}\nexcept {handler}:\n    raise\nexcept Exception as e:\n    t = str(type(e).__name__)", "try:\n    try:\n        {body}\n    except {handler}:\n        raise RuntimeError({str})\nexcept RuntimeError as e:\n    s = str(e)",
    "match {list}:\n    case []:\n        {body}\n    case [x]:\n        i = x\n    case [x, *rest] if x > {int}:\n        xs = rest\n    case [_, y, *_]:\n        j = y", "match {int}:\n    case 0 | 1:\n        {body}\n    case int() as n if n > 5:\n        k = n % 7\n    case _:\n        {body}",
    "match {dict}:\n    case {{'a': v, **rest}}:\n        i, d = v, rest\n    case {{}} if {bool}:\n        {body}\n    case _:\n        s = 'none'", "match {tuple}:\n    case (0, _):\n        {body}\n    case (x, str(y)):\n        i, s = x, y",
    "match {str}:\n    case '' | 'a':\n        {body}\n    case str(v) if v.isdigit():\n        i = int(v)\n    case other:\n        t = other[:2]", "from contextlib import suppress\nwith suppress({handler}):\n    {body}",
]  # fmt: skip

ODD = ["[]", "undefined", "None", "'odd'", "1.5", "7", "()"]
"""What is of another kind than it ought to be; for numbers only what cannot be in a set, whose order it would change."""

STATEMENTS = 5
"""How many statements a block may have."""

DEPTH = 3
"""How deep expressions and blocks nest."""


class Writer:
    """Writes one program.

    Args:
        chance: gives a number from the first to the second, both included.
    """

    def __init__(self, chance: Callable[[int, int], int]) -> None:
        self._number = chance
        self._loops = 0

    def program(self) -> str:
        """The text."""
        start = "".join(f"{name} = {self._pick(LITERALS[kind])}\n" for name, kind in POOL.items())
        body = "\n".join(self._step() for _ in range(self._number(1, STATEMENTS + 2)))
        return f"{PRELUDE}{start}{body}\n({', '.join(POOL)}, faults)\n"

    def _step(self) -> str:
        statement = self._statement(DEPTH, loop=False)
        if self._number(0, 3) == 0:
            return statement
        tried = statement.replace("\n", "\n    ")
        return f"try:\n    {tried}\nexcept Exception as fault:\n    faults.append(type(fault).__name__)"

    def _pick(self, options: list[str]) -> str:
        return options[self._number(0, len(options) - 1)]

    def expression(self, kind: str, depth: int) -> str:
        """An expression that ought to be of a kind."""
        if kind == "small":
            return str(self._number(0, 4))
        # Now and then it is of another kind, so that programs fail in more ways.
        if self._number(0, 40) == 40:
            return self._pick(ODD if kind != "int" else ODD[:2])
        shape = self._number(0, 2 if depth > 0 else 1)
        if shape == 0:
            return self._pick(LITERALS[kind])
        if shape == 1:
            return self._pick([name for name, of in POOL.items() if of == kind])
        return self._filled(self._pick(TEMPLATES[kind]), depth - 1)

    def _filled(self, template: str, depth: int) -> str:
        return template.format_map(_Fields(lambda kind: self.expression(kind, depth)))

    def _statement(self, depth: int, *, loop: bool) -> str:
        kind = self._number(0, 5 if depth > 0 else 2)
        if loop and self._number(0, 12) == 12:
            return f"if {self.expression('bool', 1)}:\n    {self._pick(['break', 'continue'])}"
        name = self._pick(list(POOL))
        self._loops += 1
        counter = f"n{self._loops}"
        options = SIMPLE if kind <= 2 else BLOCKS if kind <= 4 else DEFINITIONS

        def field(wanted: str) -> str:
            match wanted:
                case "name":
                    return name
                case "same":
                    return field(POOL[name])
                case "type":
                    return TYPES[POOL[name]]
                case "handler":
                    return self._pick(HANDLERS)
                case "body" | "loop":
                    lines = [
                        self._statement(depth - 1, loop=wanted == "loop")
                        for _ in range(self._number(1, STATEMENTS - depth))
                    ]
                    return "\n".join(lines)
                case "n":
                    return counter
                case "small" | "bool" | "float":
                    return self.expression(wanted, max(depth - 1, 1))
                case _:
                    made = self.expression(wanted, max(depth - 1, 1))
                    return made if made in POOL or made in LITERALS[wanted] else f"cut({made})"

        return _indented(self._pick(options), field)


class _Fields(dict[str, str]):
    """Makes what a template asks for."""

    def __init__(self, make: Callable[[str], str]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, kind: str) -> str:
        return self._make(kind)


def _indented(template: str, field: Callable[[str], str]) -> str:
    """Fill a template; a block that is put in stands as deep as its place."""
    lines = []
    for line in template.split("\n"):
        space = line[: len(line) - len(line.lstrip())]
        lines.append(line.format_map(_Fields(field)).replace("\n", "\n" + space))
    return "\n".join(lines)
