"""The passage from a world to its doors: what a call takes along is copied first, and no loop of ours is seen outside."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from codeact.engines import Answer, Doors, Fault, Frame, Refusal, Reply, Stop
from codeact.engines.restricted.meter import Meter
from codeact.limits import Limits
from codeact.values import Uncrossable, from_guest
from wasm_runtime.guest.faults import ToolError
from wasm_runtime.guest.traffic import Errand, Traffic

if TYPE_CHECKING:
    from codeact.engines.restricted.loop import Loop

_ERRORS: dict[str, type[Exception]] = {
    "ToolError": ToolError,
    "TypeError": TypeError,
    "ValueError": ValueError,
    "AttributeError": AttributeError,
}


class Sent(NamedTuple):
    """A call as it leaves.

    Attributes:
        name: the tool.
        args: positional arguments, plain values.
        named: keyword arguments, plain values.
        line: the program's line that calls.
    """

    name: str
    args: tuple[object, ...]
    named: dict[str, object]
    line: int


class Passage(Traffic[Sent, Reply]):
    """The way out of one world.

    Attributes:
        loop: the world's loop that runs, or None.
        stopped_at: the call at which the host ended the run; empty where it did not.
    """

    doors: Doors
    # Tools run in the host's own: how a program has decimals rounded is not how a tool computes.
    _host: Context

    def __init__(self, limits: Limits, meter: Meter) -> None:
        self.loop: Loop | None = None
        self.stopped_at: tuple[Frame, ...] = ()
        self._limits = limits
        self._meter = meter
        self._tickets: dict[int, int] = {}
        super().__init__(limits.concurrency)

    def start(self, doors: Doors) -> None:
        """Begin a run."""
        self.doors = doors
        self._host = copy_context()
        self.loop = None
        self.stopped_at = ()
        self._tickets.clear()
        self.reset()

    def packed(self, name: str, args: tuple[Any, ...], named: dict[str, Any], line: int) -> Sent:
        """A call with its arguments copied.

        Raises:
            TypeError: one of them cannot leave.
        """
        depth, size = self._limits.value_depth, self._limits.value_bytes
        self._meter.tick()
        place = ""
        try:
            plain_args = []
            for number, value in enumerate(args, 1):
                place = f"argument {number}"
                plain_args.append(from_guest(value, depth=depth, size=size))
            plain_named = {}
            for key, value in named.items():
                place = f"argument {key}"
                plain_named[str.__str__(key)] = from_guest(value, depth=depth, size=size)
        except Uncrossable as error:
            msg = f"{name}(): {place}{error.path}: {error.reason.replace('cannot return', 'cannot pass', 1)}"
            raise TypeError(msg) from None
        return Sent(name, tuple(plain_args), plain_named, line)

    def call(self, sent: Sent) -> object:
        """Make a call while the program stands still.

        Raises:
            Stopped: the run is over.
            ToolError: the tool failed.
            TypeError: the arguments do not fit.
        """
        if self.loop is None:
            return self.opened(self._host.run(self.doors.call, *sent))
        with self._outside():
            reply = self._host.run(self.doors.call, *sent)
        return self.opened(reply)

    def at_once(self, call: Sent) -> object:
        """See `call`."""
        return self.call(call)

    def running(self) -> Any:
        """The loop that runs, or None."""
        return self.loop

    def exchange(
        self, leaving: list[Errand[Sent]], given_up: list[int], seconds: float | None
    ) -> list[tuple[int, Reply]]:
        """Let calls leave and wait for answers."""
        numbers = self._tickets
        with self._outside():
            for ticket in [ticket for ticket, number in numbers.items() if number in given_up] if given_up else ():
                del numbers[ticket]
                self.doors.cancel(ticket)
            answers: list[tuple[int, Reply]] = []
            for errand in leaving:
                begun = self._host.run(self.doors.submit, *errand.call)
                if isinstance(begun, Stop):
                    self._stop(begun.fault, errand.call)
                assert errand.number is not None  # noqa: S101 - for the type checker: it leaves
                if isinstance(begun, int):
                    numbers[begun] = errand.number
                else:
                    answers.append((errand.number, begun))
            ended = self._host.run(self.doors.wait, 0.0 if answers else seconds)
        if isinstance(ended, Stop):
            self._stop(ended.fault, self.oldest)
        self._meter.look()
        return answers + [(numbers.pop(ticket), reply) for ticket, reply in ended if ticket in numbers]

    def opened(self, reply: Reply) -> object:
        """The value in a reply."""
        if isinstance(reply, Stop):
            self._meter.stop(reply.fault)
        self._meter.look()
        if isinstance(reply, Answer):
            return reply.value
        return _raise(reply)

    def _outside(self) -> AbstractContextManager[None]:
        if self.loop is None:
            return _NOWHERE
        from wasm_runtime.guest.tasks import aside  # noqa: PLC0415 - there is a loop, so asyncio is there

        return aside()

    def _stop(self, fault: Fault, call: Sent | None) -> NoReturn:
        if call is not None and call.line:
            self.stopped_at = (Frame(call.line, "<module>"),)
        self._meter.stop(fault)


_NOWHERE = nullcontext()


def _raise(refusal: Refusal) -> NoReturn:
    raise _ERRORS[refusal.type](refusal.message)
