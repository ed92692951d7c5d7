"""Sessions: one world for many programs, what survives a fault, and how a lost world comes back."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from codeact import Limits, Sandbox, Session, tool
from codeact.engines import Doors, Engine, Face, Instance, Outcome, Program, load
from tests.conftest import MakeSandbox

STUCK = "while True:\n    pass"


@pytest.fixture
def session(sandbox: Sandbox) -> Session:
    return sandbox.session()


def test_everything_a_program_leaves_the_next_one_finds(session: Session) -> None:
    assert session.run("import math\nrate = 2\ndef area(r): return math.pi * r * rate\nclass A: pass").ok
    result = session.run("(round(area(1), 2), rate, A().__class__.__name__)")
    assert result.value == (6.28, 2, "A")
    assert session.names == ("rate", "area", "A")


def test_turns_of_every_form_share_their_names(session: Session) -> None:
    assert session.run("x = 1\nreturn x").value == 1
    assert session.run("async def later(): return x + 1\ny = await later()\ny").value == 2
    assert session.run("x + y").value == 3


def test_sessions_do_not_see_each_other(sandbox: Sandbox) -> None:
    with sandbox.session(tenant="a") as first, sandbox.session(tenant="b") as second:
        assert first.run("secret = 1").ok
        result = second.run("secret")
        assert result.error is not None
        assert result.error.type == "NameError"
        assert first.id != second.id
        assert (first.tenant, second.tenant) == ("a", "b")


def test_names_survive_an_exception_and_the_note_says_which(session: Session) -> None:
    session.run("a = 1")
    result = session.run("b = 2\n1 / 0\nc = 3")
    assert result.note == "the session goes on, with the names a, b"
    assert result.note in result.observation()
    assert session.run("(a, b)").value == (1, 2)


def test_names_survive_what_cannot_be_returned(session: Session) -> None:
    result = session.run("keep = 5\nlambda: 1")
    assert result.error is not None
    assert result.error.kind == "value"
    assert session.run("keep").value == 5


def test_a_deleted_name_is_not_said_to_survive(session: Session) -> None:
    session.run("a = b = 1")
    assert session.run("del a\n1 / 0").note == "the session goes on, with the name b"


@pytest.mark.parametrize("program", ["x +", "import subprocess as _s; _s.run('ls')"])
def test_a_program_that_never_ran_costs_nothing(session: Session, program: str) -> None:
    session.run("a = 1")
    assert not session.run(program).ok
    assert session.run("a").value == 1


def test_a_world_that_is_lost_is_said_to_be_lost(make: MakeSandbox, engine: str) -> None:
    session = make(timeout=0.5).session()
    session.run("a = 1")
    result = session.run(STUCK)
    assert result.error is not None
    assert result.error.kind == "timeout"
    if engine == "restricted":
        assert result.note == "the session goes on, with the name a"
        assert session.run("a").value == 1
        return
    assert (
        result.note
        == "the session's world is lost, with the name a; unless it is restored, the next program begins in an empty one"
    )
    assert session.names == ()
    after = session.run("a")
    assert after.error is not None
    assert after.error.type == "NameError"


def test_a_lost_world_is_restored_without_calling_a_tool(make: MakeSandbox, engine: str) -> None:
    made: list[int] = []

    @tool
    def count(step: int) -> int:
        """One more."""
        made.append(step)
        if step < 0:
            msg = "not backwards"
            raise ValueError(msg)
        return len(made)

    session = make([count], timeout=2.0).session()
    session.run("import random, time\nfirst = tools.count(1)\nchance = random.random()\nmoment = time.time()")
    failed = session.run("half = 'half'\ntools.count(-1)")
    assert failed.error is not None
    session.run("second = tools.count(step=2)")
    before = session.run("(first, chance, moment, half, second)").value
    session.run(STUCK)
    assert session.restore() == ("first", "chance", "moment", "half", "second")
    assert made == [1, -1, 2]
    assert session.run("(first, chance, moment, half, second)").value == before
    assert session.run("tools.count(3)").value == 4


TOGETHER = """
import asyncio
order = []
async def ask(n):
    order.append(await tools.ask(n))
    return order[-1]
gathered = await asyncio.gather(*map(ask, range(5)), return_exceptions=True)
failed = [n for n, r in enumerate(gathered) if not isinstance(r, int)]
try:
    await asyncio.wait_for(tools.ask(-1), 0.05)
except TimeoutError:
    late = True
begun = asyncio.get_running_loop().time()
done, pending = await asyncio.wait([asyncio.create_task(tools.ask(n)) for n in (7, -1)], return_when=asyncio.FIRST_COMPLETED)
first = [t.result() for t in done]
gathered = [r for r in gathered if isinstance(r, int)]
"""


def test_calls_that_were_made_together_are_restored_in_the_order_of_their_answers(make: MakeSandbox) -> None:
    made: list[int] = []

    @tool
    async def ask(n: int) -> int:
        """Answer, the later the smaller."""
        made.append(n)
        if n < 0:
            await asyncio.sleep(3600)
        await asyncio.sleep(0.02 * (5 - n))
        if n == 3:
            msg = "not three"
            raise ValueError(msg)
        return n

    session = make([ask]).session()
    result = session.run(TOGETHER)
    assert result.ok, result.observation()
    assert len(made) == 8
    look = "(order, gathered, failed, late, begun, first)"
    before = session.run(look).value
    session.restore()
    assert len(made) == 8, "no tool is called"
    assert session.run(look).value == before
    assert session.run("await tools.ask(4)").value == 4


def test_a_program_that_was_stopped_while_it_waited_is_restored(make: MakeSandbox, engine: str) -> None:
    @tool
    async def ask(n: int) -> int:
        """Never answer."""
        await asyncio.sleep(3600)
        return n

    session = make([ask], timeout=1.0).session()
    for wait in (
        "await asyncio.gather(tools.ask(1), tools.ask(2))",
        "await tools.ask(1)",
        "import time\ntime.sleep(99)",
    ):
        stopped = session.run(f"import asyncio\nkept = 1\n{wait}\nlost = 1")
        assert stopped.error is not None
        assert stopped.error.kind == "timeout"
    if engine == "wasm":
        assert session.history == (), "its world was lost with it"
        return
    assert session.restore() == ("kept",)
    assert session.run("kept").value == 1


def test_a_history_makes_the_same_session_elsewhere(make: MakeSandbox) -> None:
    sandbox = make()
    first = sandbox.session()
    first.run("rows = [1, 2, 3]")
    first.close()
    second = sandbox.session(history=first.history)
    assert second.restore() == ("rows",)
    assert second.run("sum(rows)").value == 6


def test_a_history_keeps_no_more_answers_than_one_run_may_have(
    make: MakeSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codeact.tape.LARGEST", 1_000)

    def long() -> str:
        return "x" * 300

    sandbox = make([long])
    session = sandbox.session()
    for _ in range(20):
        assert session.run("len(tools.long())").value == 300
    assert sum(len(past.tape.calls) for past in session.history) == 3
    with pytest.raises(RuntimeError, match="program 4 of its history read the clocks, or was answered, more than is"):
        session.restore()
    with pytest.raises(RuntimeError, match="program 4 of its history"):
        sandbox.session(history=session.history).restore()


def test_a_history_that_does_not_fit_is_refused(make: MakeSandbox) -> None:
    @tool
    def ask() -> int:
        """Ask."""
        return 1

    session = make([ask]).session()
    session.run("x = tools.ask()")
    (turn,) = session.history
    turn.tape.calls.clear()
    with pytest.raises(RuntimeError, match="program 1 of its history ended otherwise: .* calls ask where no more"):
        session.restore()
    assert session.names == ()


def test_waiting_that_does_not_fit_is_refused(make: MakeSandbox) -> None:
    @tool
    async def ask(n: int) -> int:
        """Ask."""
        return n

    session = make([ask]).session()
    session.run("import asyncio\nx = await asyncio.gather(tools.ask(1), tools.ask(2))")
    (turn,) = session.history
    turn.tape.heard.clear()
    with pytest.raises(RuntimeError, match="it waits where an answer had come"):
        session.restore()


def test_a_traceback_through_an_earlier_program(session: Session) -> None:
    session.run("def inner(n):\n    return 1 / n\n")
    result = session.run("y = 1\n\ninner(0)")
    assert result.error is not None
    assert (result.error.line, result.error.source_line) == (3, "inner(0)")
    assert result.error.traceback.splitlines()[-2:] == [
        "  line 3: inner(0)",
        "  line 2 of program 1, in inner: return 1 / n",
    ]


def test_a_closed_session_refuses(session: Session) -> None:
    session.close()
    session.close()
    with pytest.raises(RuntimeError, match=r"closed; open another one with sandbox.session"):
        session.run("1")


def test_one_program_at_a_time(make: MakeSandbox) -> None:
    entered, leave = threading.Event(), threading.Event()

    @tool
    def wait() -> int:
        """Wait."""
        entered.set()
        leave.wait(10)
        return 1

    session = make([wait]).session()
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(session.run("tools.wait()").value))
    thread.start()
    entered.wait(10)
    with pytest.raises(RuntimeError, match="runs another program"):
        session.run("1")
    leave.set()
    thread.join(10)
    assert results == [1]
    assert session.run("2").value == 2


def test_async_turns(make: MakeSandbox) -> None:
    @tool
    async def double(x: int) -> int:
        """Twice."""
        await asyncio.sleep(0)
        return 2 * x

    async def talk() -> list[object]:
        session = make([double]).session()
        values = [(await session.run_async(code)).value for code in ("a = await tools.double(2)\na", "a + 1")]
        return [*values, await session.restore_async()]

    assert asyncio.run(talk()) == [4, 5, ("a",)]


def test_a_cancelled_turn_costs_the_world_and_nothing_else(make: MakeSandbox) -> None:
    async def talk() -> tuple[tuple[str, ...], object]:
        session = make().session()
        await session.run_async("a = 1")
        turn = asyncio.ensure_future(session.run_async(STUCK))
        await asyncio.sleep(0)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        return session.names, (await session.run_async("1")).value

    assert asyncio.run(talk()) == ((), 1)


def test_a_tenant_is_a_text(sandbox: Sandbox) -> None:
    with pytest.raises(TypeError, match="tenant=7: expected a str"):
        sandbox.session(tenant=7)  # type: ignore[arg-type]


def test_limits_are_each_run_s(make: MakeSandbox) -> None:
    session = make(output=10).session()
    assert session.run("print('x' * 8)").ok
    assert session.run("print('x' * 8)").ok


class Counted:
    """An engine that counts the worlds which are open, and may fail to open one."""

    name = "counted"

    def __init__(self, real: Engine) -> None:
        self.real, self.open_worlds, self.failing = real, 0, False

    def open(self, faces: tuple[Face, ...], limits: Limits) -> Instance:
        if self.failing:
            raise MemoryError
        self.open_worlds += 1
        return _CountedWorld(self, self.real.open(faces, limits))


class _CountedWorld:
    def __init__(self, engine: Counted, real: Instance) -> None:
        self._engine, self._real, self._closed = engine, real, False

    @property
    def alive(self) -> bool:
        return self._real.alive

    def run(self, program: Program, doors: Doors) -> Outcome:
        return self._real.run(program, doors)

    def close(self) -> None:
        self._engine.open_worlds -= not self._closed
        self._closed = True
        self._real.close()


def test_an_engine_that_cannot_open_a_world_is_data(engine: str) -> None:
    counted = Counted(load(engine))
    with Sandbox(engine=counted).session() as session:
        counted.failing = True
        result = session.run("1")
        assert result.error is not None
        assert (result.error.kind, result.error.type) == ("host", "MemoryError")
        counted.failing = False
        assert session.run("2").value == 2
    assert counted.open_worlds == 0


def test_a_run_that_is_cancelled_at_its_end_leaves_no_world(engine: str) -> None:
    counted = Counted(load(engine))
    sandbox = Sandbox(engine=counted, limits=Limits(timeout=20.0))

    async def main() -> None:
        for pause in (0.0, 0.001, 0.002, 0.003, 0.005, 0.008):
            with sandbox.session() as session:
                task = asyncio.create_task(session.run_async("x = 1"))
                await asyncio.sleep(pause)
                task.cancel()
                await asyncio.wait([task])

    asyncio.run(main())
    until = time.monotonic() + 20.0
    while counted.open_worlds and time.monotonic() < until:
        time.sleep(0.01)
    assert counted.open_worlds == 0


def test_files_of_a_session_are_there_again_when_its_world_is_lost(make):
    read = "open('a.txt').read()"
    with make(timeout=0.5).session(files={"a.txt": "here"}) as session:
        assert session.run("open('a.txt', 'a').write('!')\nx = 1").ok
        note = session.run("while True: pass").note
        lost = "world is lost" in note
        assert session.run(read).value == ("here" if lost else "here!")


def test_files_of_a_session_are_there_when_it_is_restored(make):
    with make(timeout=0.5).session(files={"a.txt": "here"}) as session:
        assert session.run("open('a.txt', 'a').write('!')").ok
        session.run("while True: pass")
        session.restore()
        assert session.run("open('a.txt').read()").value == "here!"


def test_a_session_knows_whether_its_world_is_lost(make):
    sandbox = make(timeout=0.5)
    with sandbox.session() as session:
        assert not session.lost
        session.run("a = 1")
        assert not session.lost
        note = session.run("while True: pass").note
        assert session.lost == ("world is lost" in note)
        session.restore()
        assert not session.lost
        with sandbox.session(history=session.history) as another:
            assert another.lost
            another.run("a = 2")
            assert not another.lost


def test_files_of_a_session_are_checked_at_once(sandbox):
    with pytest.raises(ValueError, match="files"):
        sandbox.session(files={"../a": "x"})
