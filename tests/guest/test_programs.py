from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("program", "value", "finished", "bound"),
    [
        ("1 + 1", 2, True, []),
        ("x = 1", None, False, ["x"]),
        ("x = 1\nx", 1, True, ["x"]),
        ("if True:\n    return 5", 5, True, []),
        ("if False:\n    return 5\ny = 1", None, False, ["y"]),
        ("def f():\n    return 1\nreturn f()", 1, True, ["f"]),
        ("import json\njson.dumps([1])", "[1]", True, []),
        ("None", None, True, []),
        ("", None, False, []),
        ("__name__", "__main__", True, []),
        ("sorted(globals())", ["__builtins__", "__doc__", "__file__", "__name__"], True, []),
        ("'\\udc80'", "\udc80", True, []),
        ("2 ** 200", 2**200, True, []),
    ],
)
def test_values(run, program, value, finished, bound):
    reply = run(program)
    assert (reply.value, reply.finished, reply.bound) == (value, finished, bound)


@pytest.mark.parametrize(
    ("program", "kind", "name", "frames"),
    [
        ("x = = 1", "syntax", "SyntaxError", [[1, "<module>"]]),
        ("def f():\n    x = 1\n    global x", "syntax", "SyntaxError", [[3, "<module>"]]),
        ("1/0", "runtime", "ZeroDivisionError", [[1, "<module>"]]),
        ("def f():\n    return 1/0\n\nf()", "runtime", "ZeroDivisionError", [[4, "<module>"], [2, "f"]]),
        ("if 1:\n    return 1/0", "runtime", "ZeroDivisionError", [[2, "<module>"]]),
        ("import json\njson.loads('{')", "runtime", "JSONDecodeError", [[2, "<module>"]]),
        ("exec('x = = 1')", "runtime", "SyntaxError", [[1, "<module>"]]),
        ("(x for x in [])", "value", "TypeError", []),
        ("input()", "runtime", "EOFError", [[1, "<module>"]]),
        ("import asyncio\nawait asyncio.Event().wait()", "runtime", "RuntimeError", None),
        ("[0] * 10**9", "memory", "MemoryError", None),
    ],
)
def test_faults(run, program, kind, name, frames):
    fault = run(program).fault
    assert (fault["kind"], fault["type"]) == (kind, name)
    assert frames is None or fault["frames"] == [[*frame, 1] for frame in frames]


@pytest.mark.parametrize(
    ("program", "code", "kind"),
    [
        ("import sys\nsys.exit()", 0, None),
        ("import sys\nsys.exit(3)", 3, "SystemExit"),
        ("raise SystemExit('bye')", 1, "SystemExit"),
        ("import asyncio, sys\nasync def f():\n    sys.exit(4)\nawait f()", 4, "SystemExit"),
    ],
)
def test_leaving(run, program, code, kind):
    reply = run(program)
    assert reply.finished
    assert reply.exit == code
    assert (reply.fault and reply.fault["type"]) == kind


@pytest.mark.parametrize(
    "program",
    [
        "import json\njson.loads('[' * 100_000)",
        "import json\nvalue = []\nfor _ in range(100_000):\n    value = [value]\njson.dumps(value)",
        "value = []\nfor _ in range(100_000):\n    value = [value]\nrepr(value)",
        "def f(n):\n    return f(n + 1)\nf(0)",
        "def f(n):\n    return sorted([1], key=lambda _: f(n + 1))\nf(0)",
        "import sys\nsys.setrecursionlimit(10**6)\ndef f(n):\n    return sorted([1], key=lambda _: f(n + 1))\nf(0)",
    ],
)
def test_deep_recursion_is_an_error_not_a_trap(run, program):
    assert run(program).fault["kind"] == "stack"


@pytest.mark.parametrize("program", ["a" + ".a" * 100_000, "-" * 100_000 + "1", "(" * 5000 + ")" * 5000])
def test_a_text_nested_too_deeply_is_an_error_not_a_trap(run, program):
    assert run(program).fault["kind"] == "syntax"


def test_a_world_keeps_its_globals_and_another_has_none(room):
    world = room()
    world.run("x = 1\ndef f():\n    return x")
    assert world.run("x += 1\nf()").value == 2
    assert world.run("x = 2").bound == []
    assert world.run("x = 5").bound == ["x"]
    assert room().run("x").fault["type"] == "NameError"


def test_a_spoilt_world_still_answers(room):
    world = room()
    assert world.run("import sys, builtins\nsys.stdout.close()\ndel builtins.tools").fault is None
    assert world.run("print('here')\nlen(tools)").value == 0
    assert world.printed == "here\n"


def test_classes_of_a_program_are_found(run):
    program = (
        "import dataclasses, pickle, typing\n@dataclasses.dataclass\nclass A:\n    x: int\n"
        "typing.get_type_hints(A)['x'] is int and pickle.loads(pickle.dumps(A(1))) == A(1)"
    )
    assert run(program).value is True


def test_tracebacks_inside_show_the_program(room):
    world = room()
    world.run("import traceback\ntry:\n    1/0\nexcept ZeroDivisionError:\n    traceback.print_exc()")
    assert 'File "<program>", line 3, in <module>\n    1/0' in world.printed


def test_print_and_streams_leave_in_order(room):
    world = room()
    world.run(
        "import sys, logging\nprint('a', end='')\nprint('b', file=sys.stderr)\nlogging.warning('c')\n"
        "print('é\\udc80')\nsys.stdout.write('d')\nNone"
    )
    assert world.printed == "ab\nWARNING:root:c\né\\udc80\nd"
