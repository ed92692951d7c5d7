"""`await` and asyncio inside: the same programs as on CPython, and what becomes of the calls that they make."""

from __future__ import annotations

import ast
import asyncio
import inspect
from types import SimpleNamespace
from typing import Any

import pytest

from tests.afar import TOOLS
from tests.conftest import MakeSandbox
from wasm_runtime.guest.program import compile_program

PROGRAMS: dict[str, str] = {
    "await": "await tools.double(1)",
    "await in an expression": "[await tools.double(n) for n in range(3)], {await tools.double(1): 2}",
    "await the awaitable later": "call = tools.double(4)\nawait call",
    "await a call twice": "call = tools.double(4)\nawait call\ntry:\n    await call\nexcept RuntimeError:\n    r = 'once'\nr",
    "return": "x = await tools.double(2)\nif x:\n    return x",
    "async function": "async def f(n):\n    return await tools.double(n) + 1\nawait f(3)",
    "async generator": "async def g():\n    for n in range(3):\n        yield await tools.double(n)\n[x async for x in g()]",
    "async with": (
        "class A:\n    async def __aenter__(self):\n        return await tools.double(1)\n"
        "    async def __aexit__(self, *e):\n        return True\nasync with A() as a:\n    1 / 0\na"
    ),
    "gather": "import asyncio\nawait asyncio.gather(*[tools.double(n) for n in range(5)])",
    "gather of nothing": "import asyncio\nawait asyncio.gather()",
    "gather the same twice": "import asyncio\nc = tools.double(1)\nawait asyncio.gather(c, c)",
    "gather mixed": (
        "import asyncio\nasync def f():\n    return 'f'\nt = asyncio.create_task(tools.double(1))\n"
        "await asyncio.gather(t, f(), tools.double(2), asyncio.sleep(0, 'slept'))"
    ),
    "gather in gather": (
        "import asyncio\nawait asyncio.gather(asyncio.gather(tools.double(1), tools.double(2)), tools.double(3))"
    ),
    "gather keeps exceptions": (
        "import asyncio\n[r if isinstance(r, int) else 'failed' for r in await asyncio.gather("
        "tools.double(1), tools.fail(2), tools.double(3), return_exceptions=True)]"
    ),
    "gather fails and the others go on": (
        "import asyncio\ndone, go = [], asyncio.Event()\nasync def f(n):\n    await go.wait()\n    done.append(await tools.double(n))\n"
        "ts = [asyncio.create_task(f(n)) for n in range(3)]\n"
        "try:\n    await asyncio.gather(tools.fail(1), *ts)\nexcept Exception as e:\n    done.append('caught')\ngo.set()\n"
        "await asyncio.gather(*ts)\ndone"
    ),
    "gather that is cancelled": (
        "import asyncio\ng = asyncio.gather(asyncio.sleep(9), asyncio.sleep(9))\nawait asyncio.sleep(0)\ng.cancel()\n"
        "try:\n    await g\nexcept asyncio.CancelledError:\n    r = g.cancelled() or 'cancelled'\nr"
    ),
    "sibling results survive": (
        "import asyncio\nts = [asyncio.create_task(c) for c in (tools.double(1), tools.fail(1), tools.double(2))]\n"
        "await asyncio.wait(ts)\n[t.exception() is None and t.result() for t in ts]"
    ),
    "create_task": "import asyncio\nt = asyncio.create_task(tools.double(5))\nawait t, t.done(), t.cancelled(), t.result()",
    "tasks run beside": (
        "import asyncio\nseen = []\nasync def f(name):\n    for _ in range(3):\n        seen.append(name)\n"
        "        await asyncio.sleep(0)\na, b = asyncio.create_task(f('a')), asyncio.create_task(f('b'))\n"
        "await a\nawait b\n''.join(seen)"
    ),
    "names of tasks": "import asyncio\nt = asyncio.create_task(tools.double(5), name='mine')\nawait t\nt.get_name()",
    "callbacks": (
        "import asyncio\nseen = []\nt = asyncio.create_task(tools.double(5))\n"
        "t.add_done_callback(lambda t: seen.append(t.result()))\nawait t\nawait asyncio.sleep(0)\nseen"
    ),
    "TaskGroup": (
        "import asyncio\nasync with asyncio.TaskGroup() as g:\n"
        "    ts = [g.create_task(tools.double(n)) for n in range(3)]\n[t.result() for t in ts]"
    ),
    "TaskGroup that fails": (
        "import asyncio\nends = []\nasync def f():\n    try:\n        await asyncio.sleep(9)\n"
        "    except asyncio.CancelledError:\n        ends.append('cancelled')\n        raise\n"
        "try:\n    async with asyncio.TaskGroup() as g:\n        g.create_task(f())\n        g.create_task(tools.fail(1))\n"
        "except ExceptionGroup as e:\n    ends.append(len(e.exceptions))\nends"
    ),
    "wait_for": "import asyncio\nawait asyncio.wait_for(tools.double(1), 5)",
    "wait_for that is late": (
        "import asyncio\ntry:\n    await asyncio.wait_for(tools.nap(9), 0.01)\nexcept TimeoutError:\n    r = 'late'\nr"
    ),
    "wait_for is asyncio's TimeoutError": (
        "import asyncio\ntry:\n    await asyncio.wait_for(asyncio.sleep(9), 0.01)\nexcept asyncio.TimeoutError:\n    r = 1\nr"
    ),
    "timeout": (
        "import asyncio\nasync with asyncio.timeout(5):\n    a = await tools.double(1)\n"
        "try:\n    async with asyncio.timeout(0.01):\n        await tools.nap(9)\nexcept TimeoutError:\n    a += 1\na"
    ),
    "timeout within a timeout": (
        "import asyncio\nr = []\nasync with asyncio.timeout(9):\n    try:\n        async with asyncio.timeout(0.01) as t:\n"
        "            await asyncio.sleep(5)\n    except TimeoutError:\n        r.append(t.expired())\n    r.append(await tools.double(1))\nr"
    ),
    "wait for the first": (
        "import asyncio\nts = {asyncio.create_task(tools.nap(s)) for s in (0.01, 9)}\n"
        "done, pending = await asyncio.wait(ts, return_when=asyncio.FIRST_COMPLETED)\n"
        "for t in pending:\n    t.cancel()\n[t.result() for t in done], len(pending)"
    ),
    "wait for a while": (
        "import asyncio\nt = asyncio.create_task(tools.nap(9))\ndone, pending = await asyncio.wait([t], timeout=0.01)\n"
        "len(done), len(pending)"
    ),
    "as_completed": (
        "import asyncio\nr = []\nfor c in asyncio.as_completed([tools.nap(0.2), tools.nap(0.01)]):\n    r.append(await c)\nr"
    ),
    "as_completed that is late": (
        "import asyncio\nr = []\ntry:\n    for c in asyncio.as_completed([asyncio.sleep(9), asyncio.sleep(0, 1)], timeout=0.05):\n"
        "        r.append(await c)\nexcept TimeoutError:\n    r.append('late')\nr"
    ),
    "shield": (
        "import asyncio\nt = asyncio.create_task(tools.nap(0.05))\ntry:\n    await asyncio.wait_for(asyncio.shield(t), 0.001)\n"
        "except TimeoutError:\n    pass\nt.cancelled(), await t"
    ),
    "ensure_future": "import asyncio\nf = asyncio.ensure_future(tools.double(2))\nasyncio.ensure_future(f) is f, await f",
    "future": (
        "import asyncio\nf = asyncio.get_running_loop().create_future()\nasync def g():\n    f.set_result(3)\n"
        "t = asyncio.create_task(g())\nawait f, asyncio.isfuture(f), f.done()"
    ),
    "future that fails": (
        "import asyncio\nf = asyncio.get_running_loop().create_future()\nf.set_exception(KeyError('k'))\n"
        "try:\n    await f\nexcept KeyError as e:\n    r = str(e)\nr"
    ),
    "Semaphore": (
        "import asyncio\ns, now, most = asyncio.Semaphore(2), 0, 0\nasync def f():\n    global now, most\n    async with s:\n"
        "        now += 1\n        most = max(most, now)\n        await tools.nap(0.001)\n        now -= 1\n"
        "await asyncio.gather(*[f() for _ in range(6)])\nmost"
    ),
    "Lock": (
        "import asyncio\nl, seen = asyncio.Lock(), []\nasync def f(n):\n    async with l:\n        seen.append(n)\n"
        "        await tools.double(n)\n        seen.append(n)\nawait asyncio.gather(f(1), f(2))\nseen, l.locked()"
    ),
    "Event": (
        "import asyncio\ne = asyncio.Event()\nasync def f():\n    await e.wait()\n    return e.is_set()\n"
        "t = asyncio.create_task(f())\nawait asyncio.sleep(0)\ne.set()\nawait t"
    ),
    "Condition": (
        "import asyncio\nc, seen = asyncio.Condition(), []\nasync def f():\n    async with c:\n        await c.wait()\n"
        "        seen.append(1)\nt = asyncio.create_task(f())\nawait asyncio.sleep(0)\nasync with c:\n    c.notify_all()\n"
        "await t\nseen"
    ),
    "Queue": (
        "import asyncio\nq, out = asyncio.Queue(maxsize=2), []\nasync def worker():\n    while True:\n        n = await q.get()\n"
        "        out.append(await tools.double(n))\n        q.task_done()\n"
        "ws = [asyncio.create_task(worker()) for _ in range(3)]\nfor n in range(7):\n    await q.put(n)\nawait q.join()\n"
        "for w in ws:\n    w.cancel()\nsorted(out), q.empty(), q.qsize()"
    ),
    "PriorityQueue": "import asyncio\nq = asyncio.PriorityQueue()\nfor n in (3, 1, 2):\n    q.put_nowait(n)\n[await q.get() for _ in range(3)]",
    "LifoQueue": "import asyncio\nq = asyncio.LifoQueue()\nfor n in (3, 1, 2):\n    await q.put(n)\n[q.get_nowait() for _ in range(3)]",
    "empty queue": "import asyncio\nq = asyncio.Queue()\ntry:\n    q.get_nowait()\nexcept asyncio.QueueEmpty:\n    r = 'empty'\nr",
    "run": "import asyncio\nasync def main():\n    return await asyncio.gather(tools.double(1), tools.double(2))\nasyncio.run(main())",
    "run twice": "import asyncio\nasync def main(n):\n    return await tools.double(n)\nasyncio.run(main(1)) + asyncio.run(main(2))",
    "run as a script": "import asyncio\nasync def main():\n    print(await tools.double(1))\nif __name__ == '__main__':\n    asyncio.run(main())",
    "run cancels what is left": (
        "import asyncio\nseen = []\nasync def f():\n    try:\n        await asyncio.sleep(99)\n    finally:\n        seen.append('ended')\n"
        "async def main():\n    asyncio.create_task(f())\n    await asyncio.sleep(0)\nasyncio.run(main())\nseen"
    ),
    "run closes generators": (
        "import asyncio\nseen = []\nasync def g():\n    try:\n        yield 1\n    finally:\n        seen.append('closed')\n"
        "async def main():\n    keep.append(g())\n    return await anext(keep[0])\nkeep = []\n(asyncio.run(main()), seen)"
    ),
    "an old loop": (
        "import asyncio\nasync def main():\n    return await tools.double(3)\nloop = asyncio.new_event_loop()\n"
        "r = loop.run_until_complete(main())\nloop.close()\nr, loop.is_closed()"
    ),
    "Runner": "import asyncio\nwith asyncio.Runner() as r:\n    x = r.run(tools.double(1)), r.run(asyncio.sleep(0, 2))\nx",
    "to_thread": "import asyncio\nawait asyncio.to_thread(lambda a, b=1: a + b, 2, b=3)",
    "run_in_executor": "import asyncio\nawait asyncio.get_running_loop().run_in_executor(None, max, 1, 2)",
    "cancel": (
        "import asyncio\nseen = []\nasync def f():\n    try:\n        await tools.nap(9)\n    except asyncio.CancelledError:\n"
        "        seen.append('in')\n        raise\nt = asyncio.create_task(f())\nawait asyncio.sleep(0)\nt.cancel()\n"
        "try:\n    await t\nexcept asyncio.CancelledError:\n    seen.append('out')\nseen, t.cancelled()"
    ),
    "cancel before it has begun": (
        "import asyncio\nt = asyncio.create_task(tools.double(1))\nt.cancel()\n"
        "try:\n    await t\nexcept asyncio.CancelledError:\n    r = t.cancelled()\nr"
    ),
    "a cancellation that is swallowed": (
        "import asyncio\nasync def f():\n    try:\n        await asyncio.sleep(9)\n    except asyncio.CancelledError:\n"
        "        return await tools.double(1)\nt = asyncio.create_task(f())\nawait asyncio.sleep(0)\nt.cancel('why')\nawait t"
    ),
    "uncancel": (
        "import asyncio\nasync def f():\n    asyncio.current_task().cancel()\n    try:\n        await asyncio.sleep(0)\n"
        "    except asyncio.CancelledError:\n        return asyncio.current_task().cancelling(), asyncio.current_task().uncancel()\n"
        "await asyncio.create_task(f())"
    ),
    "call_later": (
        "import asyncio\nloop, f = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()\n"
        "h = loop.call_later(0.01, f.set_result, 'never')\nh.cancel()\nloop.call_later(0.02, f.set_result, 'later')\n"
        "loop.call_soon(lambda: None)\nawait f, h.cancelled()"
    ),
    "current_task": "import asyncio\nt = asyncio.create_task(asyncio.sleep(0))\nr = t in asyncio.all_tasks(), asyncio.current_task() is not t\nawait t\nr",
    "sleep in order": (
        "import asyncio\nout = []\nasync def f(s):\n    await asyncio.sleep(s)\n    out.append(s)\n"
        "await asyncio.gather(*[f(s) for s in (0.03, 0.01, 0.02)])\nout"
    ),
    "time passes": (
        "import asyncio, time\nbegun = time.monotonic()\nawait asyncio.sleep(0.05)\n0.05 <= time.monotonic() - begun < 5"
    ),
    "a sync tool": "import asyncio\nawait asyncio.gather(tools.double(1), asyncio.sleep(0, tools.triple(1)))",
    "a hand-driven call": "def drive(c):\n    try:\n        while True:\n            c.send(None)\n    except StopIteration as e:\n        return e.value\ntype(drive).__name__",
    "iscoroutine": "import asyncio\nasync def f(): pass\nc = f()\nr = asyncio.iscoroutine(c), asyncio.iscoroutine(1)\nawait c\nr",
    "wait takes tasks only": "import asyncio\nasync def f(): pass\nc = f()\ntry:\n    await asyncio.wait([c])\nexcept TypeError:\n    r = 'tasks'\nawait c\nr",
    "results of a producer": (
        "import asyncio\nasync def produce(q):\n    for n in range(3):\n        await q.put(await tools.double(n))\n    await q.put(None)\n"
        "async def consume(q):\n    out = []\n    while (x := await q.get()) is not None:\n        out.append(x)\n    return out\n"
        "q = asyncio.Queue()\n_, got = await asyncio.gather(produce(q), consume(q))\ngot"
    ),
    "exceptions keep their place": (
        "import asyncio\nasync def f(n):\n    if n == 1:\n        raise LookupError(n)\n    return await tools.double(n)\n"
        "[type(r).__name__ for r in await asyncio.gather(*map(f, range(3)), return_exceptions=True)]"
    ),
}


def plainly(program: str) -> object:
    """What CPython itself makes of a program, with the tools as functions of its own."""
    compiled = compile_program(ast.parse(program), program, "UNRETURNED", "<plain>")
    functions = SimpleNamespace(**{each.name: each.function for each in TOOLS})
    names: dict[str, Any] = {"tools": functions, "UNRETURNED": None, "__name__": "__main__", "print": lambda *_: None}

    async def whole() -> object:
        value = None
        for code in (compiled.body, compiled.tail):
            if code is not None:
                value = eval(code, names)
                if code.co_flags & inspect.CO_COROUTINE:
                    value = await value
        if compiled.function:
            value = names["__program__"]()
            value = await value if inspect.iscoroutine(value) else value
        return value

    awaits = [code.co_flags & inspect.CO_COROUTINE for code in (compiled.body, compiled.tail) if code is not None]
    if any(awaits) or compiled.function:
        return asyncio.run(whole())
    eval(compiled.body, names)
    return None if compiled.tail is None else eval(compiled.tail, names)


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_does_what_cpython_does(make: MakeSandbox, name: str) -> None:
    result = make(TOOLS).run(PROGRAMS[name])
    assert result.ok, result.observation()
    assert result.value == plainly(PROGRAMS[name])


INSIDE: dict[str, tuple[str, object]] = {
    # what CPython refuses, and what a model means all the same
    "run inside of what awaits": (
        "import asyncio\nasync def main():\n    return await tools.double(1)\nawait tools.double(0)\nasyncio.run(main())",
        2,
    ),
    "run until complete inside of what awaits": (
        "import asyncio\nawait asyncio.sleep(0)\nasyncio.get_event_loop().run_until_complete(tools.double(2))",
        4,
    ),
    "calls outside go on while a run is inside": (
        "import asyncio\nt = asyncio.create_task(tools.double(1))\nawait asyncio.sleep(0)\n"
        "async def main():\n    return await tools.double(2)\nasyncio.run(main()), await t",
        (4, 2),
    ),
    "an old loop outside": (
        "import asyncio\nasync def main():\n    return await asyncio.gather(tools.double(1), tools.double(2))\n"
        "loop = asyncio.get_event_loop()\nloop.run_until_complete(main())",
        [2, 4],
    ),
    "gather over sync tools": ("import asyncio\nawait asyncio.gather(*[tools.triple(n) for n in range(3)])", [0, 3, 6]),
    "gather over lists": ("import asyncio\nawait asyncio.gather([1], tools.double(1), [1])", [[1], 2, [1]]),
    "create_task of a sync tool": ("import asyncio\nawait asyncio.create_task(tools.triple(1))", 3),
    "TaskGroup of a sync tool": (
        "import asyncio\nasync with asyncio.TaskGroup() as g:\n    t = g.create_task(tools.triple(1))\nt.result()",
        3,
    ),
    "wait_for a sync tool": ("import asyncio\nawait asyncio.wait_for(tools.triple(1), 1)", 3),
    "await a sync tool": ("await tools.triple(1) + await tools.triple(2)", 9),
    "as_completed may be awaited too": (
        "import asyncio\n[await t async for t in asyncio.as_completed([tools.nap(0.2), tools.nap(0.01)])]",
        [0.01, 0.2],
    ),
    "a hand-driven coroutine": (
        "async def f():\n    return await tools.double(3)\ntry:\n    f().send(None)\nexcept StopIteration as e:\n    r = e.value\nr",
        6,
    ),
    "a hand-driven call": ("try:\n    tools.double(3).send(None)\nexcept StopIteration as e:\n    r = e.value\nr", 6),
    "a task that is left": (
        "import asyncio\nt = asyncio.create_task(tools.nap(99))\nawait asyncio.sleep(0)\n'done'",
        "done",
    ),
    "a failure that nobody asks for yet": (
        "import asyncio\nt = asyncio.create_task(tools.fail(1))\nawait asyncio.wait([t])\nt.done()",
        True,
    ),
}


@pytest.mark.parametrize("name", INSIDE)
def test_it_does_what_is_meant(make: MakeSandbox, name: str) -> None:
    program, value = INSIDE[name]
    result = make(TOOLS).run(program)
    assert result.ok, result.observation()
    assert result.value == value
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (
            "import asyncio\nasync def main():\n    asyncio.create_task(tools.fail(1))\n    await tools.nap(0.05)\nasyncio.run(main())",
            "Task exception was never retrieved",
        ),
        (
            "import asyncio\nasync def main():\n    asyncio.get_running_loop().call_soon(lambda: 1 / 0)\n"
            "    await asyncio.sleep(0)\nasyncio.run(main())",
            "Exception in callback",
        ),
    ],
)
def test_what_fails_unseen_is_printed(make: MakeSandbox, program: str, told: str) -> None:
    result = make(TOOLS).run(program)
    assert result.ok
    assert told in result.stdout
    assert "Error: " in result.stdout


FAULTS: dict[str, tuple[str, str, str, int | None]] = {
    # program, type, words, line
    "a failing call": ("x = 1\nawait tools.fail(7)", "ToolError", "fail(7) failed: ValueError: no 7", 2),
    "a failing call in gather": (
        "import asyncio\nx = 1\nawait asyncio.gather(tools.double(1), tools.fail(7))",
        "ToolError",
        "no 7",
        3,
    ),
    "a failing call in run": (
        "import asyncio\nasync def main():\n    await tools.fail(7)\n\nasyncio.run(main())",
        "ToolError",
        "no 7",
        3,
    ),
    "a misfit": ("await tools.double('x')", "TypeError", "double(): n should be a valid integer", 1),
    "a misfit in gather": (
        "import asyncio\nawait asyncio.gather(tools.double('x'))",
        "TypeError",
        "signature: async double(n: int) -> int",
        2,
    ),
    "what cannot be passed": ("x = 1\nawait tools.double(print)", "TypeError", "double(): argument 1: cannot pass", 2),
    "a deadlock": ("import asyncio\ne = asyncio.Event()\n\nawait e.wait()", "RuntimeError", "nothing will ever do", 4),
    "a deadlock in a task": (
        "import asyncio\nl = asyncio.Lock()\nasync def f():\n    async with l:\n        async with l:\n            pass\nawait asyncio.gather(f())",
        "RuntimeError",
        "nothing will ever do",
        None,
    ),
    "a deadlock in run": (
        "import asyncio\nasync def main():\n    await asyncio.Queue().get()\nasyncio.run(main())",
        "RuntimeError",
        "nothing will ever do",
        3,
    ),
    "exit in a task": (
        "import asyncio, sys\nasync def f():\n    sys.exit(3)\nawait asyncio.gather(f(), asyncio.sleep(9))",
        "SystemExit",
        "",
        None,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(make: MakeSandbox, name: str) -> None:
    program, kind, words, line = FAULTS[name]
    error = make(TOOLS).run(program).error
    assert error is not None
    assert error.type == kind, error
    assert words in error.message
    assert line is None or error.line == line


def test_tasks_that_wait_for_each_other_end(make: MakeSandbox) -> None:
    error = (
        make(TOOLS)
        .run(
            "import asyncio\nasync def f():\n    await t[1]\nasync def g():\n    await t[0]\n"
            "t = [asyncio.create_task(f()), asyncio.create_task(g())]\nawait t[0]"
        )
        .error
    )
    assert error is not None
    assert error.kind in {"runtime", "stack"}  # asyncio's own tasks cancel each other until the stack ends


def test_a_failing_group_names_all_that_failed(make: MakeSandbox) -> None:
    error = (
        make(TOOLS)
        .run(
            "import asyncio\nasync with asyncio.TaskGroup() as g:\n    for n in (1, 2):\n        g.create_task(tools.fail(n))"
        )
        .error
    )
    assert error is not None
    assert "no 1" in error.message
    assert "no 2" in error.message


FORGOTTEN = (
    "tools.double(1) + 1", "1 + tools.double(1)", "tools.double(1)['x']", "tools.double(1).real", "len(tools.double(1))",
    "[x for x in tools.double(1)]", "tools.double(1) == 2", "tools.double(1) < 2", "bool(tools.double(1))",
    "1 if tools.double(1) else 2", "2 in tools.double(1)", "int(tools.double(1))", "tools.double(1)()",
    "tools.double(1)", "{'a': [tools.double(1)]}", "tools.triple(tools.double(1))", "[1, 2][tools.double(0)]",
    "a, b = tools.double(1)", "sorted([tools.double(1), tools.double(2)])",
)  # fmt: skip


@pytest.mark.parametrize("program", FORGOTTEN)
def test_a_forgotten_await_says_so(make: MakeSandbox, program: str) -> None:
    result = make(TOOLS).run(program)
    assert result.error is not None
    assert "tools.double(...) was not awaited: write `await tools.double(...)`" in result.error.message
    assert result.calls == ()


def test_a_call_that_nobody_misses_is_noted(make: MakeSandbox) -> None:
    result = make(TOOLS).run("x = 1\ntools.double(1)\nx")
    assert result.value == 1
    assert result.note == (
        "tools.double(...) on line 2 was never awaited, so it did not happen: write `await tools.double(...)`"
    )
    assert result.calls == ()
    result = make(TOOLS).run(
        "import asyncio\nfor n in range(3):\n    asyncio.ensure_future(tools.double(n))\nawait tools.double(9)"
    )
    assert result.value == 18
    assert result.note is None


def test_a_note_comes_once_in_a_session(make: MakeSandbox) -> None:
    session = make(TOOLS).session()
    first = session.run("call = tools.double(2)\n1")
    assert first.note is not None
    second = session.run("await call")
    assert (second.value, second.note) == (4, None)
