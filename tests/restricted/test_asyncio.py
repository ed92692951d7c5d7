"""asyncio as a program finds it: nothing in it leads to the host's loops, tasks, frames or context."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
import time

import pytest

from codeact import Limits, Sandbox, tool
from codeact.engines.restricted.futures import Task
from codeact.engines.restricted.loop import Loop
from tests.restricted.conftest import House

SECRET: contextvars.ContextVar[str] = contextvars.ContextVar("SECRET", default="s3cr3t")

THINGS = """
import asyncio
loop = asyncio.get_running_loop()
async def f():
    await asyncio.sleep(9)
task = asyncio.create_task(f())
future = loop.create_future()
gathered = asyncio.gather(task, future)
empty = asyncio.gather()
completed = asyncio.as_completed([future])
handle, timer = loop.call_soon(print), loop.call_later(9, print)
lock, event, semaphore, queue = asyncio.Lock(), asyncio.Event(), asyncio.Semaphore(1), asyncio.Queue()
limit, group, barrier = asyncio.timeout(9), asyncio.TaskGroup(), asyncio.Barrier(2)
shielded = asyncio.shield(task)
coroutine = asyncio.wait_for(future, 9)
runner = asyncio.Runner()
call = tools.fetch('x')
await asyncio.sleep(0)
hand = asyncio.sleep(9)
yielded = hand.send(None)
things = [loop, task, future, gathered, empty, completed, handle, timer, lock, event, semaphore, queue, limit, group,
          barrier, shielded, coroutine, runner, call, hand, yielded, asyncio.current_task(), asyncio]
"""
"""One of each, as far as a program can come by them."""

LEADING = (
    "get_coro get_stack print_stack get_context cr_frame cr_await cr_code gi_frame gi_code ag_frame f_globals "
    "__globals__ __code__ __closure__ __self__ __func__ __wrapped__ __dict__ __mro__ __subclasses__ _loop _context _coroutine _passage _tell _another _tick _clock _traffic _task "
    "_callbacks _getters _waiters _queue _steps _ledger _arrived _pending _children _handler _tasks _make _step _wake "
    "_selector _default_executor getaddrinfo getnameinfo create_connection create_server create_datagram_endpoint "
    "create_unix_connection subprocess_exec subprocess_shell connect_read_pipe connect_write_pipe add_reader add_writer "
    "add_signal_handler sock_connect sock_recv set_default_executor set_task_factory sendfile start_tls "
    "events tasks futures base_events coroutines locks queues sys subprocess open_connection start_server Server "
    "create_subprocess_exec create_subprocess_shell get_event_loop_policy set_event_loop_policy AbstractServer "
    "StreamReader BaseEventLoop _set_running_loop _get_running_loop _enter_task _register_task run_coroutine_threadsafe"
)


def test_what_would_lead_further_is_not_there(run):
    program = THINGS + (
        f"found = []\nfor name in {LEADING!r}.split():\n    for n, thing in enumerate(things):\n"
        "        try:\n            getattr(thing, name)\n        except (AttributeError, TypeError):\n            continue\n"
        "        found.append((n, name))\n"
        "task.cancel()\nhand.close()\ncoroutine.close()\nfound"
    )
    assert run(program).value == []


def test_what_they_show(run):
    shown = run(
        THINGS + "task.cancel()\nhand.close()\ncoroutine.close()\n[repr(t) for t in things] + [str(t) for t in things]"
    ).value
    assert isinstance(shown, list)
    for text in shown:
        assert "/usr" not in text, text
        assert "/lib" not in text, text
        assert " at 0x" not in text, text
        assert ".py" not in text, text


DENIED: dict[str, str] = {
    "loop derived from": "class L(type(loop)): pass",
    "loop called": "type(loop)(1)",
    "loop by its module's name": "class L(asyncio.AbstractEventLoop): pass",
    "task derived from": "class T(type(task)): pass",
    "task by its module's name": "asyncio.Task(f(), loop=loop)",
    "future derived from": "class F(asyncio.Future): pass",
    "future derived from by type": "class F(type(future)): pass",
    "gathering derived from": "class G(type(gathered)): pass",
    "gathering called": "type(gathered)(loop, [1], lenient=True)",
    "completed derived from": "class C(type(completed)): pass",
    "handle derived from": "class H(type(handle)): pass",
    "runner derived from": "class R(type(runner)): pass",
    "call derived from": "class C(type(call)): pass",
    "call made": "type(call)('x', f, 1, 2)",
    "loop copied": "import copy\ncopy.copy(loop)",
    "task copied": "import copy\ncopy.deepcopy(task)",
    "call copied into another": "import copy\nif copy.copy(call) is call: raise TypeError",
    "task written to": "task._coroutine = f()",
    "task written to by name": "setattr(task, '_name', 'x')",
    "future written to": "future.result = print",
    "loop written to": "loop.time = print",
    "module written to": "asyncio.sleep = print",
    "queue's class written to": "asyncio.Queue.put = print",
    "lock's class written to": "asyncio.Lock.acquire = print",
    "frames of a host coroutine": "coroutine.cr_frame",
    "frames of a host coroutine by name": "getattr(hand, 'cr_frame')",
    "private by getter": "import operator\noperator.attrgetter('_loop')(future)",
    "private by pattern": "match future:\n    case object(_loop=x): pass",
    "private of the loop by a queue of one's own": (
        "class Q(asyncio.Queue):\n    def f(self): return self._get_loop()\nQ().f()._passage"
    ),
    "private of the loop by a lock of one's own": (
        "class Q(asyncio.Lock):\n    def f(self):\n        getattr(self._get_loop(), '_another')\nQ().f()"
    ),
    "private of the loop by a group of one's own": (
        "class G(asyncio.TaskGroup):\n    def f(self): return vars(self._loop)\nasync with G() as g:\n    g.f()"
    ),
    "globals by a method of one's own": "class Q(asyncio.Queue):\n    def f(self): return self._get_loop.__globals__\nQ().f()",
    "set a task's result": "task.set_result(1)",
    "run what runs": "loop.run_forever()",
    "close what runs": "loop.close()",
}  # fmt: skip


@pytest.mark.parametrize("name", DENIED)
def test_denied(run, name):
    ran = run(f"{THINGS}\n{DENIED[name]}\n'DONE'")
    assert ran.fault.kind in {"runtime", "denied"}, ran.fault
    assert "nothing will ever do" not in ran.fault.message


EVIL: dict[str, str] = {
    "a lying future": (
        "class F:\n    _asyncio_future_blocking = True\n    def add_done_callback(self, fn, context=None):\n        seen.append((fn, context))\n"
        "    def get_loop(self): return loop\n    def __await__(self):\n        yield self\n"
        "try:\n    await F()\nexcept RuntimeError:\n    pass\n"
        "try:\n    await asyncio.wait([F()])\nexcept TypeError:\n    pass\n"
        "try:\n    await asyncio.shield(F())\nexcept RuntimeError:\n    pass\nseen"
    ),
    "what is yielded is not shown": (
        "class X:\n    def __repr__(self):\n        seen.append(1)\n        return ''\n    def __await__(self):\n        yield self\n"
        "try:\n    await X()\nexcept RuntimeError:\n    pass\nseen"
    ),
    "a lying coroutine": (
        "from collections.abc import Coroutine\nclass C(Coroutine):\n    def send(self, v): seen.append(v)\n    def throw(self, *a): pass\n"
        "    def close(self): pass\n    def __await__(self): yield\n"
        "try:\n    asyncio.create_task(C())\nexcept TypeError:\n    pass\nseen"
    ),
    "a context of one's own": (
        "class C:\n    def run(self, fn, *args):\n        fn(*args)\n"
        "async def g(): return 1\nt = asyncio.create_task(g(), context=C())\nawait asyncio.sleep(0.01)\n[] if t.done() else seen"
    ),
    "a delay of one's own": (
        "class D(float):\n    def __radd__(self, o):\n        return seen\n    def __lt__(self, o):\n        return False\nawait asyncio.sleep(D(0.001))\nseen"
    ),
}


@pytest.mark.parametrize("name", EVIL)
def test_what_only_seems_to_be(run, name):
    assert (
        run(f"import asyncio\nloop, seen = asyncio.get_running_loop(), []\nawait asyncio.sleep(0)\n{EVIL[name]}").value
        == []
    )


def test_delays_that_are_none(run):
    program = (
        "import asyncio\nr = []\nfor d in ('x', float('nan'), None, [], 1j):\n    try:\n"
        "        asyncio.get_running_loop().call_later(d, print)\n    except (TypeError, ValueError) as e:\n"
        "        r.append(type(e).__name__)\nawait asyncio.sleep(0)\nr"
    )
    assert run(program).value == ["TypeError", "ValueError", "TypeError", "TypeError", "TypeError"] or run(program).value == [
        "ValueError", "ValueError", "TypeError", "TypeError", "TypeError",
    ]  # fmt: skip


def test_tasks_run_in_the_context_of_the_run_and_show_it_to_nobody() -> None:
    @tool
    def tenant() -> str:
        """Whose run it is."""
        return SECRET.get()

    @tool
    async def tenant_later() -> str:
        """Whose run it is."""
        return SECRET.get()

    SECRET.set("ada")
    program = "import asyncio\nasync def f():\n    return tools.tenant(), await tools.tenant_later()\nawait asyncio.gather(f(), f())"
    assert Sandbox([tenant, tenant_later], engine="restricted").run(program).value == [("ada", "ada")] * 2


def test_the_decimal_context_is_a_tasks_own(run):
    program = (
        "import asyncio, decimal\nasync def f(n):\n    with decimal.localcontext() as c:\n        c.prec = n\n"
        "        await asyncio.sleep(0)\n        return str(decimal.Decimal(1) / 3)\n"
        "(await asyncio.gather(f(3), f(5)), decimal.getcontext().prec)"
    )
    assert run(program).value == (["0.333", "0.33333"], 28)


ENDS: dict[str, str] = {
    "finished": "await asyncio.sleep(0)",
    "failed": "await asyncio.sleep(0)\n1 / 0",
    "left tasks": "t = asyncio.create_task(f())\nawait asyncio.sleep(0)",
    "left generators": "async def g():\n    try:\n        yield 1\n    finally:\n        await asyncio.sleep(0)\nk = g()\nawait anext(k)",
    "out of time": "await asyncio.gather(f(), f())\nwhile True:\n    await asyncio.sleep(0)",
    "out of time in a task": "async def g():\n    while True:\n        pass\nawait asyncio.gather(f(), g())",
    "out of time in a run in a task": "async def g():\n    asyncio.run(f())\nawait asyncio.gather(f(), g())",
    "out of time waiting": "await f()",
    "exit": "import sys\nasync def g():\n    sys.exit(1)\nawait asyncio.gather(f(), g())",
    "exit in a run in a task": "import sys\nasync def h():\n    sys.exit(1)\nasync def g():\n    asyncio.run(h())\nawait g()",
    "an old loop": "loop = asyncio.new_event_loop()\nt = loop.create_task(asyncio.sleep(0))\nloop.run_until_complete(t)",
    "a loop that was never run": "loop = asyncio.new_event_loop()\nk = loop.create_future()\nasync def g():\n    await k\nk.cancel()",
}


@pytest.mark.parametrize("name", ENDS)
def test_the_host_s_asyncio_stays_as_it_was(name: str) -> None:
    house = House(Limits(), 0.5)
    instance = house.open()
    house.run(
        instance,
        f"import asyncio\nasync def f():\n    try:\n        await asyncio.sleep(9)\n    finally:\n        kept = 1\n{ENDS[name]}",
    )
    assert asyncio._get_running_loop() is None
    assert sys.get_asyncgen_hooks() == (None, None)
    assert not [loop for loop in _tasks_by_loop() if isinstance(loop, Loop)]
    assert house.run(instance, "await asyncio.sleep(0, 5)", 2).value == 5
    instance.close()

    async def none_of_ours() -> bool:
        return not any(isinstance(task, Task) for task in asyncio.all_tasks())

    assert asyncio.run(none_of_ours())


def _tasks_by_loop() -> list[object]:
    return list(getattr(asyncio.tasks, "_current_tasks", {}))


def test_nothing_goes_on_after_a_stop(run):
    program = (
        "import asyncio\nasync def f(n):\n    try:\n        while True:\n            await asyncio.sleep(0)\n    except BaseException:\n"
        "        print('caught', n)\n    finally:\n        print('finally', n)\n        tools.get_charges(n)\n"
        "await asyncio.gather(*map(f, range(5)), return_exceptions=True)\nprint('after')"
    )
    ran = run(program, seconds=0.3)
    assert ran.fault.kind == "timeout"
    assert ran.text == ""
    assert ran.house.calls == []


@pytest.mark.filterwarnings("ignore:coroutine 'sleep'", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_fuel_is_spent_by_turns_and_by_what_is_called(run):
    for program in (
        "while True:\n    await asyncio.sleep(0)",
        "loop = asyncio.get_running_loop()\ndef again():\n    loop.call_soon(again)\nagain()\nawait asyncio.sleep(9)",
        "async def f():\n    while True:\n        await asyncio.sleep(0)\nawait asyncio.gather(f(), f())",
        "while True:\n    asyncio.run(asyncio.sleep(0))\nawait f()",
        "await asyncio.gather(*[asyncio.sleep(0)] * 200_000)",
        "await asyncio.wait({asyncio.get_running_loop().create_future()} and [1] * 200_000)",
    ):
        fault = run(f"import asyncio\n{program}", fuel=50_000).fault
        assert fault.kind == "fuel", program


def test_runs_within_runs_end(run):
    program = "import asyncio\nasync def f():\n    asyncio.run(f())\nasyncio.run(f())"
    assert run(program).fault.kind == "stack"


def test_tasks_that_wait_in_a_long_chain(run):
    chain = (
        "import asyncio\nasync def f(t):\n    return await t if t else 1\nt = None\nfor _ in range(5000):\n"
        "    t = asyncio.create_task(f(t))\n"
    )
    assert run(f"{chain}await t").value == 1
    cancelled = "await asyncio.sleep(0)\nt.cancel()\ntry:\n    await t\nexcept BaseException as e:\n    r = 1\nr"
    ran = run(chain.replace("if t else 1", "if t else await asyncio.sleep(9)") + cancelled)
    assert ran.outcome.fault is None or ran.fault.kind == "stack"


def test_other_threads_are_not_held() -> None:
    """A program whose loop turns and turns leaves the interpreter to others."""
    sandbox = Sandbox(engine="restricted", limits=Limits(timeout=1.0))
    busy = threading.Thread(target=lambda: sandbox.run("import asyncio\nwhile True:\n    await asyncio.sleep(0)"))
    busy.start()
    began = time.monotonic()
    assert sandbox.run("import asyncio\nawait asyncio.sleep(0, 1)").value == 1
    assert time.monotonic() - began < 5
    busy.join()


def test_a_loop_serves_the_programs_of_a_session():
    session = Sandbox(engine="restricted").session()
    assert (
        session.run(
            "import asyncio\nloop = asyncio.get_event_loop()\nloop.run_until_complete(asyncio.sleep(0, 1))"
        ).value
        == 1
    )
    assert session.run("lock = asyncio.Lock()\nloop.run_until_complete(asyncio.sleep(0, 2))").value == 2
    assert session.run("async with lock:\n    r = await asyncio.sleep(0, 3)\nr").value == 3
