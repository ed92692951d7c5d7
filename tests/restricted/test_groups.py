"""`except*`: as in Python where a group is caught, and never for a stop."""

from __future__ import annotations

import pytest

GROUP = "ExceptionGroup('g', [ValueError(1), TypeError(2), ExceptionGroup('in', [ValueError(3), KeyError(4)])])"
SHOW = "\ndef show(e): return (str(e), sorted(map(show, e.exceptions), key=str)) if hasattr(e, 'exceptions') else repr(e)\n"
PROGRAMS = {
    "parts": f"log = []\ntry:\n    try: raise {GROUP}\n    except* ValueError as e: log.append(show(e))\n    except* (TypeError, OSError) as e: log.append(show(e))\n    else: log.append('else')\n    finally: log.append('finally')\nexcept ExceptionGroup as rest: log.append(show(rest))\nlog",
    "no match": f"try:\n    try: raise {GROUP}\n    except* OSError: r = 1\nexcept ExceptionGroup as e: r = show(e)\nr",
    "no error": "log = []\ntry: x = 1\nexcept* ValueError: log.append(1)\nelse: log.append('else')\nfinally: log.append('finally')\nlog",
    "raised": f"try:\n    try: raise {GROUP}\n    except* ValueError as e: raise RuntimeError('new') from e\nexcept ExceptionGroup as e: r = show(e)\nr",
    "raised alone": "try:\n    try: raise ExceptionGroup('g', [ValueError(1)])\n    except* ValueError: raise RuntimeError('new')\nexcept RuntimeError as e: r = repr(e)\nr",
    "raised twice": f"try:\n    try: raise {GROUP}\n    except* ValueError: raise OSError(1)\n    except* TypeError: raise OSError(2)\nexcept ExceptionGroup as e: r = show(e)\nr",
    "raised again": f"log = []\ntry:\n    try: raise {GROUP}\n    except* ValueError: log.append('seen'); raise\nexcept ExceptionGroup as e: log.append(show(e))\nlog",
    "name": "try: raise ExceptionGroup('g', [ValueError(1)])\nexcept* ValueError as e: n = len(e.exceptions)\ntry: e\nexcept NameError: n += 10\nn",
    "nested": f"log = []\ntry: raise {GROUP}\nexcept* ValueError as a:\n    try: raise ExceptionGroup('h', [KeyError(3)])\n    except* KeyError as b: log.append((show(a), show(b)))\nexcept* Exception as c: log.append(show(c))\nlog",
    "in a function": f"def f(fail):\n    for i in range(2):\n        try:\n            if fail: raise {GROUP}\n        except* Exception as e: last = show(e)\n        else: last = None\n    return last\n[f(1), f(0)]",
    "base exceptions": "try:\n    try: raise BaseExceptionGroup('g', [KeyboardInterrupt(), ValueError(1)])\n    except* ValueError: pass\nexcept BaseExceptionGroup as e: r = show(e)\nr",
    "another error": "try:\n    try: raise KeyError(1)\n    except* ValueError: r = 1\nexcept KeyError as e: r = repr(e)\nr",
    "own group": "class G(ExceptionGroup):\n    def derive(self, e): return G('d', e)\ntry: raise G('g', [ValueError(1), KeyError(2)])\nexcept* ValueError as e: r = type(e).__name__\nexcept* KeyError: pass\nr",
    "bad type": "try:\n    try: raise ExceptionGroup('g', [ValueError(1)])\n    except* int: pass\nexcept TypeError as e: r = str(e)\nr",
    "group as type": "try:\n    try: raise ExceptionGroup('g', [ValueError(1)])\n    except* ExceptionGroup: pass\nexcept TypeError as e: r = str(e)\nr",
}


def python(program: str) -> object:
    *body, last = program.split("\n")
    names: dict[str, object] = {}
    exec("\n".join(body), names)
    return eval(last, names)


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_means_what_python_means(run, name):
    assert run(SHOW + PROGRAMS[name]).value == python(SHOW + PROGRAMS[name])


def test_a_single_error_is_for_except(run):
    fault = run("try: 1 / 0\nexcept* ZeroDivisionError: pass").fault
    assert fault.type == "TypeError"
    assert "catch a single error with except" in fault.message


EVIL = {
    "split": "class G(ExceptionGroup):\n    def split(self, t): return 5\n    def derive(self, e): return 5\ntry: raise G('g', [ValueError(1), KeyError(2)])\nexcept* ValueError: pass",
    "type that is no tuple": "class T(tuple):\n    def __iter__(self): return iter(())\ntry: raise ExceptionGroup('g', [ValueError(1)])\nexcept* T((int,)): pass",
}


@pytest.mark.parametrize("name", EVIL)
def test_what_confuses_interpreters_is_an_error(run, name):
    assert run(EVIL[name] + "\n'DONE'").fault.type == "TypeError"


@pytest.mark.parametrize("kinds", ["BaseException", "(BaseException,)", "GeneratorExit"])
def test_a_stop_is_not_caught(run, kinds):
    program = f"while True:\n    try:\n        while True: pass\n    except* {kinds}: pass\n    finally: pass"
    assert run(program, fuel=100_000).fault.kind == "fuel"
