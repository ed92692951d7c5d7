"""`eval`, `exec`, `compile`, `globals` and `locals`: as in Python, and no way around the policy."""

from __future__ import annotations

import pytest

WORKING = {
    "names around": "x = 5\ndef f(a): return eval('a + x')\n[eval('x * 2'), f(1), eval('[i for i in range(x)]'), (lambda q: eval('q'))(3)]",
    "in a comprehension": "[eval('n + 1') for n in range(3)]",
    "names given": "[eval('a + b', {'a': 1}, {'b': 2}), eval('a', {'a': 3}), eval('x', globals(), {'x': 4}), eval('max(1, 2)', {})]",
    "builtins given": "out = []\nfor b in ({}, {'abs': abs}):\n    try: out.append(eval('abs(-1)', {'__builtins__': b}))\n    except NameError as e: out.append('no')\nout",
    "statements": "exec('q = 3\\nfor i in range(3): q += i')\nns = {'data': [1]}\nexec('data.append(2)\\nn = len(data)', ns)\n[q, i, ns['n'], ns['data']]",
    "functions that live on": "ns = {}\nexec('y = 10\\ndef f(x): return x + y\\ndef fact(n): return 1 if n < 2 else n * fact(n - 1)', ns)\nns['y'] = 20\n[ns['f'](1), ns['fact'](5), sorted(k for k in ns if k != '__builtins__')]",
    "classes": "ns = {}\nexec('class A:\\n    def __init__(self): self._v = helper()\\n    def get(self): return self._v\\ndef helper(): return 42', ns)\na = ns['A']()\n[a.get(), a._v, type(a).__name__]",
    "global statements": "ns = {'n': 0}\nexec('def bump():\\n    \"doc\"\\n    global n\\n    n += 1\\n    return n', ns)\nns['bump']()\n[ns['bump'](), ns['n'], ns['bump'].__doc__]",
    "locals of a function stay": "def f():\n    x = 1\n    exec('x = 2')\n    return x\nf()",
    "errors": "out = []\nfor t in ('1 +', 'nope', '1/0', 'x = 1', '', 'import os'):\n    try: out.append(eval(t))\n    except Exception as e: out.append(type(e).__name__)\nout",
    "place of an error": "try: eval('1 +')\nexcept SyntaxError as e: r = e.filename, e.lineno, e.msg\nr",
    "compiled": "c, d = compile('a * 2', '<s>', 'eval'), compile('r = list(range(n))', '<s>', 'exec')\nns = {'n': 2}\nexec(d, ns)\n[[eval(c, {'a': i}) for i in range(3)], ns['r']]",
    "bytes": "eval(b' 1 + 1')",
    "globals": "x = 1\ndef handle_a(): return 'A'\nglobals()['made'] = 7\ng = globals()\n[made, g.get('nope', 2), 'x' in g, g['handle_a'](), [n for n in g if n.startswith('handle')], '%(x)s' % globals(), '{x}'.format(**globals()), dict(g)['x']]",
    "locals": "def f(a, b=2):\n    c = a + b\n    return sorted(locals().items()), '{a}{c}'.format(**locals()), '%(b)s' % locals()\n[f(1), [sorted(locals()) for z in [1]][0] is not None]",
    "locals in a class": "class A:\n    x = 1\n    names = sorted(n for n in locals() if n[0] != '_')\nA.names",
    "inside each other": 'eval(\'eval("1 + " + repr(eval("2")))\')',
    "a method of that name": "class V:\n    def eval(self, n): return n * 2\n[V().eval(4), eval('1 + 1')]",
    "annotations": "ns = {}\nexec('x: int = 1', ns)\nns['x']",
    "except star": "ns = {}\nexec('try: raise ExceptionGroup(\"g\", [ValueError(1)])\\nexcept* ValueError as e: r = len(e.exceptions)', ns)\nsorted(k for k in ns if k != '__builtins__')",
}


def python(program: str) -> object:
    *body, last = program.split("\n")
    names: dict[str, object] = {"__name__": "__main__"}
    exec("\n".join(body), names)
    return eval(last, names)


@pytest.mark.parametrize("name", WORKING)
def test_it_means_what_python_means(run, name):
    assert run(WORKING[name]).value == python(WORKING[name])


def test_a_program_that_returns_has_its_names_too(run):
    assert (
        run("x = 1\nif eval('x') == 1 and 'x' in locals() and 'x' in globals():\n    return eval('x + 1')").value == 2
    )


DENIED = {
    "what the program could not say": "eval('(x for x in []).gi_frame')",
    "hook": "exec('class A:\\n    def __del__(self): pass')",
    "import": "exec('import subprocess')",
    "import by name": "eval('__import__(\"os\")')",
    "builtins": "eval('__builtins__')",
    "builtins bound": "eval('(__builtins__ := 1)')",
    "private": "eval('tools._tools')",
    "private under another guard": "exec('r = tools._x', {'.private': lambda t, n: 'EVIL', '.special': len})",
    "private under other builtins": "eval('().__len__() or int._x', {'__builtins__': {'.private': lambda t, n: 1}})",
    "private under a guard that comes later": "ns = {}\nexec('def f(): return tools._x', ns)\nns['.private'] = lambda t, n: 1\nns['f']()",
    "private under a guard of a mapping": "class L(dict):\n    def __missing__(self, k): return lambda *a: 1\nexec('r = tools._x', {}, L())",
    "written under another guard": "exec('import math\\nmath.pi = 3', {'.writable': lambda t, n: t})",
    "guard in the names": "globals()['.private'] = lambda t, n: 1",
    "guards by update": "globals().update({'.private': 1})",
    "builtins in the names": "globals()['__builtins__'] = {}",
    "builtins of the names": "globals()['__builtins__']",
    "builtins out of the names": "del globals()['__builtins__']",
    "names behind the names": "globals()._names",
    "what is behind it as a value": "class A:\n    def eval(self): pass\ne = eval\ne.args[0]({'__builtins__': {}}, {}, '1')",
    "names made again": "g = globals()\ntype(g).__init__(g, {})",
    "printing mode": "c = compile('1', 'x', 'eval')\nexec(type(c)('40 + 2', 'single'))",
    "code made again": "c = compile('1', 'x', 'eval')\ntype(c).__init__(c, '1', 'single')",
    "code written": "c = compile('1', 'x', 'eval')\nc.text = '2'",
    "tree": "compile('1', 'x', 'exec', 1024)",
    "function in place of text": "eval(len)",
    "text that is too long": "exec('x = 1\\n' * 100000)",
    "text that is too deep": "eval('-' * 100000 + '1')",
    "text without end": "def f(n): return eval('f(n + 1)')\nf(0)",
}


@pytest.mark.parametrize("name", DENIED)
def test_denied(run, name, capfd):
    ran = run(DENIED[name] + "\n'DONE'")
    assert ran.fault.kind in {"runtime", "denied", "stack", "memory"}
    assert capfd.readouterr().out == ""


def test_no_name_of_a_guard_shows(run):
    program = (
        "def f():\n    try: raise ExceptionGroup('g', [ValueError(1)])\n    except* ValueError as e:\n"
        "        return_ = [*locals(), *eval('locals()'), *eval('globals()')]\n    return return_\n"
        "class A:\n    names = list(locals())\nns = {}\nexec('n = list(locals()) + list(globals())', ns)\n"
        "[n for n in [*f(), *A.names, *globals(), *locals(), *ns['n']] if n[0] == '.' or n == '__builtins__']"
    )
    assert run(program).value == ["__builtins__", "__builtins__"]  # as in CPython, of a dict that was executed in


def test_text_costs_fuel(run):
    assert run("for i in range(10**6): exec(f'x{i} = {i}')", fuel=100_000).fault.kind == "fuel"
    once = run("eval('1 + 1')").outcome.fuel
    again = run("for i in range(100): eval('1 + 1')").outcome.fuel
    assert again < 10 * once


def test_an_error_inside_names_the_line_that_called(run):
    fault = run("x = 1\n\neval('x / 0')").fault
    assert [(frame.line, frame.function) for frame in fault.frames] == [(3, "<module>")]


def test_warnings_about_text_stay_inside(run, recwarn):
    assert run("eval('1 is 1'), exec('x = \"\\\\d\"')").value == (True, None)
    assert not recwarn.list


MAPPED = """
class Kept(dict):
    reads = []
    def __getitem__(self, name):
        if name == "x":
            self.reads.append(name)
        return dict.__getitem__(self, name)

for text in ("x * 3", "x % 7 + 1", "x * 2 * x", "x == 2", "{x: 1}", "{x}", "str(x)", "x ** 2 * 3"):
    eval(text, {}, Kept(x=2))
for text in ("x += 1", "x *= 3", "x *= 2 + 1", "x %= 7"):
    exec(text, {}, Kept(x=2))
len(Kept.reads)
"""


def test_a_mapping_is_asked_for_a_name_as_often_as_the_text_has_it(run):
    """What it is asked for a second time may be another thing than what was judged."""
    assert run(MAPPED).value == 13
