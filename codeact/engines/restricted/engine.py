"""The engine: from a program's text to its outcome, inside the host's interpreter."""

from __future__ import annotations

import ast
import decimal
import gc
import re
import sys
import typing
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from types import CodeType, CoroutineType, ModuleType
from typing import Any

from codeact.engines import Doors, Face, Fault, Frame, Outcome, Program
from codeact.engines.restricted import silence
from codeact.engines.restricted.grants import builtin_names, make_supply
from codeact.engines.restricted.imports import importable
from codeact.engines.restricted.meter import Stopped, current
from codeact.engines.restricted.policy import Policy
from codeact.engines.restricted.renaming import renamed
from codeact.engines.restricted.rewriter import Violation
from codeact.engines.restricted.sizes import Sizes
from codeact.engines.restricted.spare import LARGE, give_back
from codeact.engines.restricted.world import World
from codeact.limits import FUEL, Limits
from codeact.threads import threads
from codeact.values import Uncrossable, from_guest
from wasm_runtime.guest.faults import describe
from wasm_runtime.guest.names import written
from wasm_runtime.guest.program import FUNCTION, UNRETURNED, Compiled, compile_program, filename
from wasm_runtime.guest.scene import Scene

_UNRETURNED = ".unreturned"
"""No program can write this name."""

_AWAITS = 0x80  # inspect.CO_COROUTINE, without the weight of inspect


class RestrictedEngine:
    """Runs programs in the host's own interpreter; see the package for what that means."""

    name = "restricted"
    default_fuel = FUEL["restricted"]

    def open(self, faces: tuple[Face, ...], limits: Limits) -> RestrictedInstance:
        """Make a fresh world."""
        return RestrictedInstance(World(faces, limits, limits.fuel or self.default_fuel))


class RestrictedInstance:
    """One world. Its names stay from run to run."""

    def __init__(self, world: World) -> None:
        self.alive = True
        self._world = world
        builtins = make_supply(world).made
        builtins[_UNRETURNED] = UNRETURNED
        world.globals.update(__name__=world.module, __doc__=None, __builtins__=builtins)

    def run(self, program: Program, doors: Doors) -> Outcome:
        """Run a program. Never raises for anything the program does."""
        meter = self._world.meter
        self._world.start(doors, program.number)
        meter.start(doors.interrupted)
        try:
            outcome = copy_context().run(self._run, program)
        except BaseException as error:  # noqa: BLE001 - whatever the program does is an outcome
            outcome = Outcome(fault=meter.fault or self._fault(error))
        if meter.dead():
            meter.end(Fault("stack", "RecursionError", "maximum recursion depth exceeded"))
            meter.revive()
            self._world.builtins[".stream"] = meter.stream
        meter_fault = meter.fault
        meter.finish()
        if self._world.made_files is not None:
            outcome = replace(outcome, files=self._world.made_files.changes())
        if meter_fault is not None:
            seen = outcome.fault
            place = self._world.passage.stopped_at
            if place:
                meter_fault = replace(meter_fault, frames=place, omitted=0)
            elif seen is not None and not meter_fault.frames:
                meter_fault = replace(meter_fault, frames=seen.frames, omitted=seen.omitted)
            return replace(outcome, value=None, fault=meter_fault, finished=False, exit_code=None, fuel=meter.fuel)
        return outcome if outcome.fuel == meter.fuel else replace(outcome, fuel=meter.fuel)

    def close(self) -> None:
        """Destroy the world. Harmless when called twice.

        What a program has nested without end is taken apart in C, one call inside the other: that needs a worker's
        stack, and what is left for the interpreter's collector must not be left to a thread with a small one.
        """
        self.alive = False
        threads.within(lambda: copy_context().run(self._destroy))

    def _destroy(self) -> None:
        world = self._world
        current.set(world.meter)  # a suspended generator that is closed now may still ask for it
        if "typing" in world.modules:
            for forget in getattr(typing, "_cleanups", ()):  # it remembers what it was asked to make types of
                forget()
        for names in (world.globals, world.modules, world.builtins, world.own, world.stand_ins, world.setters):
            names.clear()
        if world.meter.left_much():
            gc.collect()
        if world.meter.grown >= LARGE:
            give_back()

    def _run(self, program: Program) -> Outcome:
        world = self._world
        current.set(world.meter)
        name = filename(program.number)
        world.texts[name] = program.source
        decimal.setcontext(world.decimals)
        if program.files or world.made_files is not None:
            world.files.workspace.begin(program.files, program.fixed)
        compiled = self._compiled(program, name)
        if isinstance(compiled, Fault):
            return Outcome(fault=compiled)
        for code in (compiled.body, compiled.tail):
            if code is not None:
                world.builtins.provide(code)
        before = dict(world.globals)
        value = None
        fault = None
        exit_code = None
        finished = compiled.tail is not None or compiled.function
        try:
            value = self._execute(compiled, program.source)
            if value is UNRETURNED:
                value, finished = None, False
            value = from_guest(value, depth=world.limits.value_depth, size=world.limits.value_bytes)
        except Uncrossable as error:
            fault = Fault("value", "TypeError", str(error)[:2000])
        except SystemExit as error:
            exit_code, fault = self._exit(error)
            finished = True
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is data
            fault = self._fault(error)
        if world.made_files is not None:
            try:
                world.made_files.flush()
            except OSError as error:
                fault = fault or self._fault(error)
        if fault is not None:
            value = None
        bound = tuple(
            name
            for name, found in world.globals.items()
            if name[:1] not in "_."
            and type(found) is not ModuleType
            and (name not in before or before[name] is not found)
        )
        unbound = tuple(name for name in before if name not in world.globals and name[:1] not in "_.")
        unawaited = tuple(world.ledger.close())
        return Outcome(value, fault, finished, bound, unbound, exit_code, world.meter.fuel, unawaited=unawaited)

    def _compiled(self, program: Program, name: str) -> Compiled | Fault:
        """What a text is compiled to, from the cache where it is there.

        It depends on the text, and on the names that mean no builtins because earlier programs have bound them.
        """
        known = builtin_names()
        taken = frozenset(bound for bound in self._world.globals if type(bound) is str and bound in known)
        cache = program.cache
        if cache is None:
            return self._compile(program.source, name, taken)
        found: Compiled | None = cache.find(program.source, taken)
        if found is not None:
            return renamed(found, name)
        made = self._compile(program.source, name, taken)
        if isinstance(made, Compiled):
            cache.keep(program.source, taken, made)
        return made

    def _compile(self, source: str, name: str, taken: frozenset[str]) -> Compiled | Fault:
        """Judge and compile a text.

        Where several threads make trees at once, CPython 3.11 may take the depth that one has reached for the other's
        (python/cpython#106905), and says so with a SystemError that is nobody's: the text is then read again.
        """
        for _ in range(_ATTEMPTS):
            with suppress(SystemError):
                return self._compile_once(source, name, taken)
        return Fault("host", "SystemError", "the interpreter could not read the program; run it again")

    def _compile_once(self, source: str, name: str, taken: frozenset[str]) -> Compiled | Fault:
        try:
            _readable(source, name)
            silence.keep()
            tree = ast.parse(source, name)
            look = self._world.meter.look
            policy = Policy(source, taken, look)
            policy.judge(tree)
            if policy.violations:
                return _denied(policy.violations)
            if len(source) > _SHORT:
                look()
            policy.declare(tree)
            return compile_program(tree, source, _UNRETURNED, name)
        except SyntaxError as error:
            return self._told(describe(error) | {"kind": "syntax"})
        except (RecursionError, MemoryError):
            return Fault("syntax", "SyntaxError", "the program is nested too deeply", (Frame(1, "<module>"),))
        except ValueError as error:
            return Fault("syntax", "SyntaxError", str(error)[:500], (Frame(1, "<module>"),))

    def _execute(self, compiled: Compiled, source: str) -> object:
        names = self._world.globals
        if compiled.function:
            self._evaluate(compiled.body)
            value = names.pop(FUNCTION)()
            if isinstance(value, CoroutineType) and value.cr_code.co_name == FUNCTION:
                value = self._complete(value, source)
            return value
        if any(code is not None and code.co_flags & _AWAITS for code in (compiled.body, compiled.tail)):
            # One coroutine for both parts: what the body starts, the last expression may wait for.
            return self._complete(self._awaiting(compiled), source)
        value = self._evaluate(compiled.body)
        return value if compiled.tail is None else self._evaluate(compiled.tail)

    def _evaluate(self, code: CodeType) -> Any:
        return eval(code, self._world.globals)  # noqa: S307 - judged and rewritten by the policy

    async def _awaiting(self, compiled: Compiled) -> object:
        value = None
        for code in (compiled.body, compiled.tail):
            if code is not None:
                value = self._evaluate(code)
                if code.co_flags & _AWAITS:
                    value = await value
        return value

    def _complete(self, coroutine: Any, source: str) -> object:
        """Run a coroutine to its end. Where nobody speaks of asyncio, nothing can happen beside it."""
        if "asyncio" in self._world.modules or "asyncio" in source:
            from codeact.engines.restricted.loop import Loop, complete  # noqa: PLC0415 - see the library's `asyncio`

            return complete(Loop(self._world), coroutine)
        try:
            while True:
                coroutine.send(None)
                self._world.meter.tick()
        except StopIteration as end:
            return end.value

    def _fault(self, error: BaseException) -> Fault:
        if isinstance(error, Stopped):
            reason = self._world.meter.fault
            if reason is not None:
                told = describe(error)
                return replace(reason, frames=self._frames(told), omitted=told["omitted"])
        try:
            Sizes(_MESSAGE, self._world.meter.tick).walk(BaseException.args.__get__(error))  # type: ignore[attr-defined]
        except BaseException:  # noqa: BLE001 - too large to be shown
            told = describe(RuntimeError().with_traceback(error.__traceback__))
            told |= {"type": type(error).__name__, "message": "(its text is too large to be shown)"}
            if isinstance(error, MemoryError):
                told["kind"] = "memory"
            return self._told(told)
        self._world.builtins.whole()  # hints name the builtins that are alike
        told = describe(error, self._scene())
        if isinstance(error, MemoryError) and not told["message"]:
            told["message"] = "the interpreter found no memory for this"
        return self._told(told)

    def _told(self, told: dict[str, Any]) -> Fault:
        if told["kind"] == "stack":
            told["message"] += f" (limit stack: here the host's own, {sys.getrecursionlimit():,} frames)"
        return Fault(
            told["kind"],
            told["type"],
            told["message"],
            self._frames(told),
            told["offset"],
            told["hint"],
            told["omitted"],
            told["cause"],
        )

    def _exit(self, error: SystemExit) -> tuple[int, Fault | None]:
        args = BaseException.args.__get__(error)  # type: ignore[attr-defined]
        code = args[0] if len(args) == 1 else None
        if code is None or (type(code) in (int, bool) and code == 0):
            return 0, None
        return int(code) if type(code) in (int, bool) else 1, self._fault(error)

    def _scene(self) -> Scene:
        world = self._world
        offered = {written(face.name): face.signature for face in world.faces}
        return Scene(world.texts.get, offered, world.modules, importable)

    def _frames(self, told: dict[str, Any]) -> tuple[Frame, ...]:
        now = self._world.number
        return tuple(Frame(line, function, 0 if number == now else number) for line, function, number in told["frames"])


_ATTEMPTS = 10
_SHORT = 10_000
_MESSAGE = 50_000_000


def _denied(violations: list[Violation]) -> Fault:
    first = violations[0]
    more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
    frames = tuple(Frame(line, "<module>") for line in (first.line,))
    return Fault("denied", "PolicyError", f"{first.message}{more}", frames, None, first.hint)


def _readable(source: str, name: str) -> None:
    if source.count("{") > _FIELDS and _FORMATTED.search(source):
        msg = f"f-strings in a text with more than {_FIELDS:,} braces"
        raise SyntaxError(msg, (name, 1, 1, None))


_FIELDS = 20_000
"""Until 3.12 the parser's work grows with the square of the fields of an f-string, and nothing interrupts it."""

_FORMATTED = re.compile(r"[fF][rR]?['\"]")
