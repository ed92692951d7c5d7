"""Every limit ends a run, whatever the program would rather do."""

from __future__ import annotations

import gc
import sys
import threading
import time

import pytest

from codeact import Sandbox
from codeact.engines import Fault
from codeact.engines.restricted import meter as meters
from codeact.engines.restricted.growth import Growth
from codeact.engines.restricted.meter import CHUNK, Meter, Stopped
from codeact.engines.restricted.watchdog import Watchdog
from codeact.limits import Limits
from codeact.memory import resident

STUBBORN = {
    "loop": "while True: pass",
    "bare except": "while True:\n    try:\n        while True: pass\n    except:\n        continue",
    "except BaseException": "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass",
    "finally": "try:\n    while True: pass\nfinally:\n    while True: pass",
    "continue in finally": "while True:\n    try:\n        while True: pass\n    finally:\n        continue",
    "suppress": "import contextlib\nwhile True:\n    with contextlib.suppress(BaseException):\n        while True: pass",
    "own manager": "class S:\n    def __enter__(self): pass\n    def __exit__(self, *e): return True\nwhile True:\n    with S():\n        while True: pass",
    "generator": "def g():\n    while True:\n        try: yield 1\n        except BaseException: pass\nfor x in g(): pass",
    "recursion": "def f():\n    try: f()\n    except BaseException: f()\n    finally: f()\nimport sys\ndef g(n):\n    if n: g(n - 1); g(n - 1)\ng(60)",
    "lambda": "f = lambda g: g(g) if True else 0\nh = lambda n: n and (h(n - 1), h(n - 1))\nh(60)",
    "comprehension": "[0 for a in range(10**6) for b in range(10**6) if False]",
    "sum of a range": "sum(range(10**18))",
    "membership": "0.5 in range(10**18)",
    "count": "range(10**18).count(0.5)",
    "itertools": "import itertools\nsum(itertools.repeat(1))",
    "cycle": "import itertools\nany(itertools.cycle([0]))",
    "product": "import itertools\nfor x in itertools.product(range(10), repeat=50): pass",
    "chain": "import itertools\nsum(itertools.chain.from_iterable(itertools.repeat([1])))",
    "iter": "max(iter(int, 1))",
    "yield from": "def g(): yield from filter(callable, range(10**18))\nlist(g())",
    "star": "import itertools\nprint(*itertools.count() if False else filter(None, itertools.repeat(0)))",
    "sort key": "sorted(range(10), key=lambda v: sum(range(10**18)))",
    "async": "async def f():\n    while True:\n        await 1\nawait f()",
}


def test_a_world_that_met_the_recursion_limit_where_ticks_are_fetched_goes_on():
    """There the stream of ticks ends by itself and is made anew, and everybody who ticks must go by the new one."""
    meets = (
        "def f(): f()\nk = 1\nwhile True:\n    k = k * 75 % 65537\n    [0 for _ in range(k % 1009)]\n"
        "    try: f()\n    except RecursionError: pass"
    )
    walks = (
        "rows = [[1] * 200 for _ in range(200)]\nrows == [list(row) for row in rows], len(str(rows)) > 200, rows < rows"
    )
    with Sandbox(engine="restricted", limits=Limits(timeout=60, fuel=10**9)).session() as session:
        assert session.run(meets).error.kind == "stack"
        assert session.run(walks).value == (True, True, False)
        assert session.run("import textwrap\ntextwrap.fill('a b c', 3)").ok


def test_few_items_cost_few_ticks(run):
    for program in ("sum(map(abs, [1, 2, 3]))", "max([1, 2, 3], key=abs)", "sorted([1, 2, 3], key=abs)"):
        assert run(program).outcome.fuel == 3


@pytest.mark.parametrize("name", STUBBORN)
def test_fuel_ends_it(run, name):
    fault = run(STUBBORN[name], fuel=300_000).fault
    assert fault.kind == "fuel"
    assert fault.message.startswith("the program used up its 300,000 ticks")


@pytest.mark.parametrize("name", ["loop", "bare except", "finally", "generator", "sum of a range", "iter", "suppress"])
def test_the_deadline_ends_it(run, name):
    begun = time.monotonic()
    assert run(STUBBORN[name], seconds=0.2).fault.kind == "timeout"
    assert time.monotonic() - begun < 1.5


def test_the_deadline_is_seen_between_slow_ticks(run):
    begun = time.monotonic()
    assert run("xs = list(range(10**6))\nwhile True: sorted(xs)", seconds=0.3).fault.kind == "timeout"
    assert time.monotonic() - begun < 2


@pytest.mark.parametrize(
    "program",
    [
        "import time\ntime.sleep(1000)",
        "import re\nre.sub('(a|a)*$', '', 'a' * 50 + 'b')",
        "import re\nre.match('(a|aa)+$', 'a' * 60 + 'b')",
    ],
)
def test_the_deadline_ends_what_waits(run, program):
    begun = time.monotonic()
    fault = run(program, seconds=0.3, timeout=0.3)
    assert fault.outcome.fault is None or fault.fault.kind == "timeout"
    assert time.monotonic() - begun < 2


def test_fuel_is_exactly_repeatable(run):
    program = "import random\nx = [random.random() for _ in range(50000)]\nwhile sum(x[:3]) < 0: pass\nsorted(x, key=lambda v: -v)[0] < 2"
    spent = {run(program).outcome.fuel for _ in range(3)}
    assert len(spent) == 1
    assert spent.pop() > 2 * CHUNK


def test_fuel_counts_turns_and_calls(run):
    assert run("for i in range(1000): pass").outcome.fuel == 1000
    assert run("def f(): pass\nfor i in range(10): f()").outcome.fuel == 20
    assert run("[x for x in range(7)]").outcome.fuel == 7


SLOW_IN_C = {
    "map": "a = [1] * 10**6\nlist(map(a.count, a))",
    "map over a map": "a = [0] * 10**6\nany(map(any, [a] * 10**6))",
    "filter": "a = [1] * 10**6\nnext(filter(None, map(a.count, [2] * 10**6)), 0)",
    "sorted": "a = [1] * 10**6\nsorted(a, key=a.count)",
    "max": "a = [1] * 10**6\nmax(a, key=a.count)",
    "reduce": "import functools\na = [1] * 10**6\nfunctools.reduce(slice, map(a.count, a))",
    "chain": "import itertools\nsum(itertools.chain.from_iterable([[0] * 10**6] * 10**6))",
    "chain of many": "import itertools\nsum(itertools.chain(*[[0] * 10**6] * 10**5))",
    "zip of many": "import collections\ncollections.deque(zip(*[[0] * 10**5] * 10**5), 0)",
}


@pytest.mark.parametrize("name", SLOW_IN_C)
def test_builtins_that_call_each_other_can_be_stopped(run, name):
    begun = time.monotonic()
    assert run(SLOW_IN_C[name], seconds=0.3).fault.kind == "timeout"
    assert time.monotonic() - begun < 3


TOO_LARGE = {
    "power": "9 ** 9 ** 9",
    "pow": "pow(3, 10 ** 9)",
    "power in place": "x = 3\nx **= 10 ** 9",
    "shift": "1 << 10 ** 11",
    "shift in place": "x = 1\nx <<= 10 ** 11",
    "squares": "x = 3\nwhile True: x = x * x",
    "repeat": "'a' * 10 ** 10",
    "repeat from the left": "10 ** 10 * 'a'",
    "repeat a list": "[0] * 10 ** 10",
    "repeat a tuple": "(0,) * 10 ** 9",
    "repeat in place": "x = [0]\nx *= 10 ** 10",
    "repeat an item in place": "d = {1: [0]}\nd[1] *= 10 ** 10",
    "repeat an attribute in place": "class A: pass\na = A()\na.x = 'x'\na.x *= 10 ** 10",
    "repeat by operator": "import operator\noperator.mul('a', 10 ** 10)",
    "doubling": "x = [0] * 10 ** 6\nwhile True: x = x + x",
    "doubling in place": "x = 'a' * 10 ** 6\nwhile True: x += x",
    "center": "'a'.center(10 ** 10)",
    "center by getattr": "getattr('a', 'center')(10 ** 10)",
    "zfill": "'1'.zfill(10 ** 10)",
    "expandtabs": "'\\t'.expandtabs(10 ** 10)",
    "join": "('x' * 10 ** 5).join([''] * 10 ** 5)",
    "replace": "('a' * 10 ** 5).replace('a', 'b' * 10 ** 5)",
    "replace nothing": "('a' * 10 ** 5).replace('', 'b' * 10 ** 5)",
    "translate": "('a' * 10 ** 5).translate({97: 'b' * 10 ** 5})",
    "split": "('a ' * 10 ** 7).split()",
    "search": "('a' * 10 ** 6).rfind('ab' + 'a' * 10 ** 5)",
    "percent": "'%2000000000d' % 1",
    "percent star": "'%*d' % (2000000000, 1)",
    "format": "'{:>2000000000}'.format(1)",
    "format nested": "'{:>{}}'.format(1, 2000000000)",
    "format builtin": "format(1, '2000000000')",
    "f-string": "w = 2000000000\nf'{1:>{w}}'",
    "to_bytes": "(1).to_bytes(5 * 10 ** 9, 'big')",
    "bytes": "bytes(10 ** 10)",
    "bytearray": "bytearray(10 ** 10)",
    "factorial": "import math\nmath.factorial(10 ** 8)",
    "comb": "import math\nmath.comb(10 ** 8, 5 * 10 ** 7)",
    "prod": "import math\nmath.prod([2 ** 100000] * 100)",
    "int": "int('f' * 10 ** 8, 16)",
    "decimal": "from decimal import Decimal\nDecimal('1e999999999')",
    "fraction": "from fractions import Fraction\nFraction('1e99999999')",
    "modular power": "pow(3, 1 << 10 ** 6, (1 << 10 ** 6) + 1)",
    "sum of lists": "row = [0] * 10 ** 5\nsum([row] * 10 ** 4, [])",
    "repr of a shared structure": "x = [1]\nfor i in range(40): x = [x, x]\nrepr(x)",
    "f-string of a shared structure": "x = [1]\nfor i in range(40): x = [x, x]\nf'{x}'",
    "json of a shared structure": "import json\nx = [1]\nfor i in range(40): x = [x, x]\njson.dumps(x)",
    "equality of shared structures": "a = b = [1]\nfor i in range(40):\n    a = [a, a]\n    b = [b, b]\na == b",
    "hash of a shared structure": "t = (1,)\nfor i in range(60): t = (t, t)\nhash(t)",
    **{
        f"a shared structure as a key: {form}": f"t = (1,)\nfor i in range(60): t = (t, t)\n{form}"
        for form in ("{t}", "{t: 1}", "{x for x in [t]}", "{x: 1 for x in [t]}", "set([t])", "frozenset((t,))")
    },
    "repr of shared text": "x = 'a' * 10 ** 6\nrepr([x] * 10 ** 4)",
    "seek": "import io\nio.BytesIO().seek(10 ** 10)",
    "growth": "xs = []\nwhile True: xs.append('x' * 10 ** 6)",
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_one_operation_takes_no_more_than_memory(run, name):
    begun = time.monotonic()
    fault = run(TOO_LARGE[name], memory=32 * 1024 * 1024).fault
    assert fault.kind == "memory"
    assert "limit memory=33,554,432 bytes" in fault.message or "memory limit for one integer" in fault.message
    assert time.monotonic() - begun < 5


def test_a_size_that_was_refused_can_be_handled(run):
    assert run("try:\n    x = 'a' * 10 ** 12\nexcept MemoryError as e:\n    x = str(e)\nx").value.startswith(
        "no more memory (limit memory="
    )


@pytest.mark.parametrize(
    "program",
    [
        "def f(): f()\nf()",
        "class A:\n    def __repr__(self): return repr(self)\nrepr(A())",
        "it = []\nfor i in range(100000): it = map(abs, it)\nlist(it)",
        "it = []\nfor i in range(100000): it = filter(None, it)\nlist(it)",
        "import itertools\nit = []\nfor i in range(100000): it = itertools.chain(it, [])\nlist(it)",
        "class A:\n    def __init__(self, it): self.it = it\n    def __iter__(self): return self.it\n"
        "it = []\nfor i in range(1000): it = map(abs, A(iter(it)))\nlist(it)",
        "import itertools\nit = []\nfor i in range(1000): it = map(abs, itertools.cycle(it))\nnext(it)",
        "it = []\nfor i in range(1000): it = enumerate(iterable=it)\nlist(it)",
        "t = list\nfor i in range(100000): t = list[t]\nhash(t)",
        "def f():\n    try: f()\n    except: f()\nf()",
    ],
)
def test_recursion_ends(run, program):
    assert run(program).fault.kind == "stack"


@pytest.mark.parametrize(
    "program",
    [
        "import itertools\nL = []\nit = itertools.chain.from_iterable(L)\nL.append(it)\nnext(it)",
        "L = []\nit = map(list, L)\nL.extend([it] * 10**6)\nnext(it)",
        "import itertools\nL = []\nit = itertools.starmap(print, L)\nL.extend([it] * 10**6)\nnext(it)",
        "import itertools\nL = []\nit = itertools.groupby(L, key=tuple)\nL.extend([it] * 10**6)\nnext(it)",
    ],
)
def test_an_iterator_cannot_run_through_itself_in_c(run, program):
    assert run(program).fault.kind in {"stack", "runtime"}


def test_output_ends(run):
    ran = run("while True: print('x' * 100)", output=1000)
    assert ran.fault.kind == "output"
    assert len(ran.text) <= 1000


def test_calls_end(run):
    ran = run("while True:\n    try: tools.search_kb('q')\n    except BaseException: pass", calls=5)
    assert ran.fault.kind == "calls"
    assert len(ran.house.calls) == 6


def test_values_that_cannot_cross(run):
    fault = run("{'rows': [1, print]}").fault
    assert (fault.kind, fault.message.startswith("value['rows'][1]: ")) == ("value", True)
    assert run("x = 1\nfor i in range(1000): x = [x]\nx").fault.kind == "value"
    assert run("'x' * 1000", value_bytes=100).fault.kind == "value"


def test_nothing_runs_after_the_run(run):
    ran = run("def g():\n    try: yield 1\n    finally: tools.search_kb('after')\nkeep = g()\nnext(keep)")
    gc.collect()
    assert ran.value == 1
    assert ran.house.calls == []


def test_a_stop_wins_over_what_the_program_gives(run):
    ran = run("import contextlib\nwith contextlib.suppress(BaseException):\n    while True: pass\n'fine'", fuel=1000)
    assert ran.fault.kind == "fuel"
    assert ran.outcome.value is None


def test_worlds_share_nothing(run):
    run("import string, collections\nx = 1\nclass A(collections.Counter): pass\nA.mark = 1")
    assert run("import string\nhasattr(string, 'mark')").value is False
    assert run("x").fault.type == "NameError"


def test_runs_side_by_side(run):
    found = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(run(f"sum(i for i in range(20000)) + {n}").value))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [199990000 + n for n in range(4)]


@pytest.mark.parametrize(
    "program",
    [
        "class A:\n" + " def f(self): self._x = 1\n" * 10_000,
        "".join(" " * i + f"def f{i}(self):\n" for i in range(39)) + " " * 39 + "self._x = 1;" + "a = 1;" * 30_000,
        "match 1:\n" + "".join(f" case {i}: pass\n" for i in range(2, 13_000)),
        "x = 1\nf'" + "{x}" * 60_000 + "'",
    ],
)
def test_a_slow_text_stops_nobody_else(run, program):
    outcomes = []
    slow = threading.Thread(target=lambda: outcomes.append(run(program, seconds=0.5)))
    slow.start()
    begun = time.monotonic()
    assert run("1 + 1").value == 2
    assert time.monotonic() - begun < 2
    slow.join()
    assert time.monotonic() - begun < 5
    outcome = outcomes[0].outcome
    assert outcome.fault is None or outcome.fault.kind in {"timeout", "syntax"}


LARGE = {
    "userlist mul": "from collections import UserList\nlen(UserList([0]) * (3*10**8))",
    "index mul": "class I:\n    def __index__(self): return 3*10**8\nlen([0] * I())",
    "int subclass mul": "class I(int):\n    def __int__(self): return 1\n    def __gt__(self, o): return False\nlen([0] * I(3*10**8))",
    "int subclass lshift": "class I(int):\n    def __radd__(self, o): return 0\nx = 1 << I(8*10**9)\n1",
    "int subclass pow": "class I(int):\n    def __gt__(self, o): return False\nx = 7 ** I(30000000)\n1",
    "rmul float pow": "class Y:\n    def __rmul__(self, o): return 9\n(1.5*Y()) ** 387420489\n1",
    "str subclass join": "class S(str):\n    def __len__(self): return 0\nlen(''.join([S('x'*1000000)]*2000))",
    "tee": "import itertools\nlen(itertools.tee([], 200000000))",
    "accumulate": "import itertools\nlen(list(itertools.accumulate(['a'*1000000]*70)))",
    "fstring many": 'a = \'a\'*1000000\nb = f"{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}"\na = b+b+b+b+b\nb = f"{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}"\nlen(b)',
    "fstring widths": "x=1\ny = f\"{x:1000000}\"\ny = ''.join([f\"{x:1000000}{x:1000000}{x:1000000}{x:1000000}{x:1000000}{x:1000000}{x:1000000}{x:1000000}{x:1000000}{x:1000000}\"]*2)\nlen(('%1000000d'*2000) % ((1,)*2000))",
    "format simple str": "s='x'*10000000\nlen(('{}'*200).format(*[s]*200))",
    "percent str": "s='x'*10000000\nlen(('%s'*200) % ((s,)*200))",
    "re.sub bomb": "import re\nlen(re.sub('a','x'*10**6,'a'*2000))",
    "re.findall overlap": "import re\nlen(re.findall('(?=(.*))', 'a'*50000))",
    "expand": "import re\nlen(re.match('.*','a'*10**7).expand(r'\\g<0>'*200))",
    "translate list": "len(('\\x00'*2000).translate(['x'*10**6]*3))",
    "translate defaultdict": "from collections import defaultdict\nlen(('a'*2000).translate(defaultdict(lambda:'x'*10**6)))",
    "textwrap indent": "import textwrap\nlen(textwrap.indent('a\\n'*2000,'p'*10**6))",
    "textwrap wrap": "import textwrap\nlen(textwrap.wrap('x'*1000000, 1))",
    "textwrap tab": "import textwrap\nlen(textwrap.fill('\\t'*2000, tabsize=10**6))",
    "jsonencoder bomb": "import json\na=[]\nfor _ in range(27): a=[a,a]\nlen(json.JSONEncoder().encode(a))",
    "json default bomb": "import json\na=[]\nfor _ in range(27): a=[a,a]\nclass X: pass\nlen(json.dumps(X(), default=lambda o: a))",
    "csv bomb": "import csv, io\na=[]\nfor _ in range(27): a=[a,a]\nf=io.StringIO()\ncsv.writer(f).writerow([a])",
    "valueerror bomb": "a=[]\nfor _ in range(27): a=[a,a]\nlen(str(ValueError(a)))",
    "deque bomb": "from collections import deque\na=[]\nfor _ in range(27): a=[a,a]\nlen(repr(deque([a])))",
    "dataclass bomb": "from dataclasses import dataclass\n@dataclass\nclass D:\n    x: object\na=[]\nfor _ in range(27): a=[a,a]\nlen(repr(D(a)))",
    "dictvalues bomb": "a=[]\nfor _ in range(27): a=[a,a]\nlen(repr({1:a}.values()))",
    "ljust": "class I(int):\n    def __int__(self): return 1\nlen('a'.ljust(I(10**9)))",
    "ljust index": "class I:\n    def __index__(self): return 10**9\nlen('a'.ljust(I()))",
    "bytearray": "class I(int):\n    def __gt__(self, o): return False\nlen(bytearray(I(10**9)))",
    "fraction": "from fractions import Fraction\nx=Fraction(3,2)\nfor _ in range(40):\n    x = x*x\n1",
    "own json default": "import json\na = []\nfor _ in range(27): a = [a, a]\nclass E(json.JSONEncoder):\n    def default(self, o): return a\nlen(json.dumps(object(), cls=E))",
}


@pytest.mark.parametrize("name", LARGE)
def test_what_would_be_large_is_refused(run, name):
    begun = time.monotonic()
    assert run(LARGE[name], memory=100_000_000).fault.kind == "memory"
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    "program",
    [
        "import json\njson.JSONEncoder(indent=10**8).encode([1])",
        "import pprint\npprint.pformat([[1, 2] * 100], indent=10**7)",
        "import statistics\nstatistics.quantiles([1, 2, 3], n=10**9)",
    ],
)
def test_large_settings_are_refused(run, program):
    assert run(program).fault.type == "ValueError"


def test_comparing_texts_ends_with_its_run(run):
    program = "import difflib\ndifflib.SequenceMatcher(None, 'ab' * 2236, 'ba' * 2236, autojunk=False).ratio()"
    begun = time.monotonic()
    assert run(program, seconds=0.3).fault.kind == "timeout"
    assert time.monotonic() - begun < 5


class TestMeter:
    def meter(self, fuel: int, faults: list[Fault | None] | None = None) -> Meter:
        waiting = faults or []
        made = Meter(Limits(), fuel)
        made.start(lambda: waiting[-1] if waiting else None)
        return made

    def test_it_keeps_failing_once_spent(self):
        meter = self.meter(3)
        for _ in range(3):
            assert meter.tick()
        for _ in range(3):
            with pytest.raises(Stopped):
                meter.tick()
        assert (meter.fuel, meter.fault.kind) == (3, "fuel")
        meter.finish()

    def test_it_can_be_filled_again(self):
        meter = self.meter(2)
        with pytest.raises(Stopped):
            meter.charge(5)
        meter.finish()
        with pytest.raises(Stopped):
            meter.tick()
        meter.start(lambda: None)
        assert meter.tick()
        assert meter.fuel == 1
        meter.finish()

    def test_charges_count(self):
        meter = self.meter(100_000)
        meter.charge(30_000)
        assert list(meter.charged("abc")) == ["a", "b", "c"]
        assert meter.fuel == 30_003
        meter.finish()

    def test_the_first_reason_stays(self):
        meter = self.meter(10)
        meter.end(Fault("calls", "X", "first"))
        meter.end(Fault("output", "X", "second"))
        with pytest.raises(Stopped):
            meter.tick()
        assert meter.fault.message == "first"
        meter.finish()


ENDLESS = {
    "type itself": "[*type]",
    "type, looked through": "1 in type",
    "steps of a dict": "class A:\n    __getitem__ = {}.get\n[*A()]",
    "steps of a class": "class A:\n    __iter__ = lambda self: self\n    __next__ = int\n[*A()]",
    "steps of a class, made by type": "A = type('A', (), {'__iter__': lambda self: self, '__next__': int})\n[*A()]",
    "steps of a class, not bound": "class A:\n    __iter__ = lambda self: self\n    __next__ = staticmethod(int)\n[*A()]",
    "steps of a metaclass": "class M(type):\n    __getitem__ = {}.get\nclass A(metaclass=M):\n    pass\nlist(A)",
    "steps of a base": "class B:\n    __getitem__ = {}.get\nclass A(B):\n    pass\nsum(A(), 0) if 0 in A() else 1",
    "steps of a partial": "import functools\nclass A:\n    __getitem__ = functools.partial({}.get)\nset(A())",
}


@pytest.mark.parametrize("case", ENDLESS)
def test_what_goes_on_for_ever_ends(run, case):
    fault = run(ENDLESS[case], seconds=0.5, fuel=100_000).fault
    assert fault.kind in {"fuel", "runtime"}, fault


GROWING = {
    "extend": "a.extend(iter(a))",
    "extend by pairs": "a.extend(enumerate(a))",
    "extend by what a library makes": "import heapq\na.extend(heapq.merge(a))",
    "extend of the class": "list.extend(a, iter(a))",
    "extend by name": "getattr(a, 'extend')(zip(a))",
    "extend of a subclass": "class L(list):\n    def grow(self): super().extend(iter(self))\nb = L(a)\nb.grow()",
    "extend of an array": "from array import array\nb = array('i', a)\nb.extend(iter(b))",
    "extend handed on": "list(map(a.extend, [iter(a)]))",
    "in place": "a += iter(a)",
    "in place in a function": "def f(b):\n    b += iter(b)\nf(a)",
    "in place in a dict": "d = {'a': a}\nd['a'] += iter(a)",
    "in place in an object": "class A: pass\nb = A()\nb.a = a\nb.a += iter(a)",
    "in place by a function": "import operator\noperator.iadd(a, iter(a))",
    "in place by its name": "a.__iadd__(iter(a))",
    "extend by a class of its own": "class C:\n    def __iter__(self): return iter(a)\na.extend(C())",
    "extend by items of its own": "class C:\n    __getitem__ = a.__getitem__\na.extend(C())",
    "in place by a class of its own": "class C:\n    def __iter__(self): return iter(a)\na += C()",
    "in place by what a number makes": "class X:\n    def __mul__(self, n): return iter(a)\na += X() * 2",
}


@pytest.mark.parametrize("case", GROWING)
def test_a_list_does_not_grow_by_itself_without_an_end(case: str) -> None:
    limits = Limits(timeout=1.0, memory=64 * 1024 * 1024)
    begun = time.monotonic()
    result = Sandbox(engine="restricted", limits=limits).run(f"a = [1]\n{GROWING[case]}")
    assert time.monotonic() - begun < 10.0
    assert result.error is not None
    assert result.error.kind in {"memory", "fuel", "timeout"}


def test_a_run_that_nobody_can_watch_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_thread: threading.Thread) -> None:
        raise RuntimeError

    watchdog = Watchdog()
    monkeypatch.setattr(meters, "watchdog", watchdog)
    monkeypatch.setattr(threading.Thread, "start", fail)
    meter, active = Meter(Limits(), 1000), Growth._active
    with pytest.raises(RuntimeError):
        meter.start(lambda: None)
    assert (Growth._active, watchdog._meters) == (active, set())
    with pytest.raises(Stopped):
        meter.tick()


def test_measuring_a_program_does_not_let_go_of_the_interpreter() -> None:
    turns = 0
    turned, over = threading.Event(), threading.Event()

    def other() -> None:
        nonlocal turns
        while not over.wait(0.0001):
            turns += 1
            turned.set()

    thread = threading.Thread(target=other)
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)  # nobody asks for the interpreter: others have it when it is let go
    try:
        assert turned.wait(10)
        turned.clear()
        assert turned.wait(10)
        begin = turns
        for _ in range(20_000):
            resident()
        assert turns == begin
    finally:
        sys.setswitchinterval(interval)
        over.set()
        thread.join()


@pytest.mark.parametrize(
    "program",
    [
        "'%1000000000d' % 1",
        "'%-+ #01000000000d' % 1",
        "'%.1000000000f' % 1.5",
        "'%s' * 100 % ((big,) * 100)",
        "'%*d' % (10**9, 1)",
        "'%(a)1000000000d' % {'a': 1}",
        "t = '%1000000000d'\nt % 1",
        "class S(str): pass\nS('%1000000000d') % 1",
        "b'%1000000000d' % 1",
    ],
)
def test_a_template_fills_no_memory(run, program):
    assert run(f"big = 'x' * 10**7\n{program}").fault.kind == "memory"


def test_a_template_with_numbers_in_its_text_is_filled(run):
    program = "['2026-%02d 99999 %s %% %5.1f' % (7, 'a', 2.25), '%999d' % 1 == ' ' * 998 + '1', '10000%%' % ()]"
    assert run(program).value == ["2026-07 99999 a %   2.2", True, "10000%"]


def test_matches_end_with_the_time(run):
    begun = time.monotonic()
    program = "import re\nfor _ in re.finditer('(a|a)*$|b', 'b' * 10 + 'a' * 50 + 'c'): pass"
    assert run(program, seconds=0.3, timeout=0.3).fault.kind == "timeout"
    assert time.monotonic() - begun < 2
    assert run("import re\nfor _ in re.finditer('', 'a' * 10**6): pass", fuel=10_000).fault.kind == "fuel"


def test_a_long_number_is_judged_whatever_its_class_says(run):
    program = "class S(str):\n    def __len__(self): return 0\nint(S('f' * 10**6), 16)"
    assert run(program).fault.kind == "memory"


@pytest.mark.parametrize(
    "program",
    [
        "s.replace('x', s)",
        "s.replace(*['x', s])",
        "s.rjust(10**10)",
        "s.center(10**10, '-')",
        "'a'.zfill(10**10)",
        "('x ' * 10**7).split()",
        "('x ' * 10**7).split(' ')",
        "('\\n' * 10**7).splitlines()",
        "'-' * 10**10",
        "10**10 * '-'",
        "n = 10**10\n'-' * n",
        "n = 10**10\nb = [s]\nn * b",
        "class S(str):\n    def __len__(self): return 0\nS('x') * 10**10",
        "class L(list):\n    def __len__(self): return 0\nL('x') * 10**10",
        "class S(str): pass\nS(s).replace('x', s)",
        "class N(int): pass\nm = N(10**10)\n'x' * m",
    ],
)
def test_what_grows_is_refused(run, program):
    assert run(f"s = 'x' * 10**6\n{program}").fault.kind == "memory"


def test_a_run_that_cannot_be_asked_does_not_keep_the_others_from_being_ended(caplog):
    class Broken:
        def overdue(self) -> bool:
            raise ArithmeticError

    class Late:
        asked = threading.Event()

        def overdue(self) -> bool:
            self.asked.set()
            return True

    watchdog, broken, late = Watchdog(), Broken(), Late()
    watchdog.watch(broken)
    while not caplog.records:
        time.sleep(0.001)
    watchdog.watch(late)
    assert late.asked.wait(5)
    watchdog.forget(broken)
    assert "could not be asked" in caplog.text
