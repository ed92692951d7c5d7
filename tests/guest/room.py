"""A bare host for the guest: the machine as it is, with doors that record what passes and nothing of codeact's."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from wasm_runtime.guest import codec
from wasm_runtime.instance import Instance
from wasm_runtime.machine import Machine

THREAD_STACK = 64 * 1024 * 1024
SEED = bytes(range(32))
NOW = 1_767_323_045_678_901_234
"""2026-01-02 03:04:05.678901234 UTC."""


class Reply:
    """What a run gave back."""

    def __init__(self, text: str) -> None:
        head, _, self.text = text.partition("\n")
        fields = json.loads(head)
        self.finished: bool = fields["finished"]
        self.bound: list[str] = fields["bound"]
        self.exit: int | None = fields["exit"]
        self.fault: dict[str, Any] | None = fields["fault"]

    @property
    def value(self) -> Any:
        assert self.fault is None, self.fault
        return codec.decode(self.text)


class Room:
    """One instance, and the host behind its doors."""

    asked = told = 100_000_000

    def __init__(self, machine: Machine, tools: dict[str, Callable[..., object]]) -> None:
        self.printed = ""
        self.calls: list[tuple[str, Any]] = []
        self.clock = 0
        self.sent = 0
        self._tools = tools
        leaflet = {name: [f"{name}(...)", tool.__doc__ or "", []] for name, tool in tools.items()}
        self._leaflet = json.dumps(leaflet)
        self._instance = Instance(machine, memory=2**29)

    def run(self, source: str, *, stack: int = 1000, seed: bytes = SEED) -> Reply:
        """Run a program on a thread with room for a deep stack. The end of the world is a `Trap`."""
        opening = {
            "tools": " ".join(self._tools),
            "awaited": " ".join(name for name in self._tools if name.startswith("async_")),
            "leaflet": self._leaflet,
            "seed": seed.hex(),
            "stack": stack,
            "depth": 100,
            "concurrency": 100,
            "room": [1 << 20, 100],
        }
        request = json.dumps({"source": source, "number": 1, "opening": opening})
        outcome: list[Any] = []

        def work() -> None:
            try:
                outcome.append(self._instance.run(request, self, 10**12))
            except BaseException as error:  # noqa: BLE001 - carried to the caller's thread
                outcome.append(error)

        before = threading.stack_size(THREAD_STACK)
        try:
            thread = threading.Thread(target=work)
            thread.start()
        finally:
            threading.stack_size(before)
        thread.join()
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        return Reply(outcome[0])

    def call(self, name: str, arguments: str, _line: int) -> str:
        args, kwargs = codec.decode(arguments)
        self.calls.append((name, (args, kwargs)))
        try:
            value = self._tools[name](*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - travels as data
            if type(error) in {TypeError, AttributeError}:
                return "-" + json.dumps([type(error).__name__, str(error)])
            return "-" + json.dumps(["ToolError", f"{type(error).__name__}: {error}"])
        return "+" + codec.encode(value, 100)

    def wait(self, sent: str, nanoseconds: int, _line: int) -> str:
        answers = []
        for entry in sent.splitlines():
            if entry[0] == "+":
                _, name, arguments = entry.split(" ", 2)
                answers.append(f"{self.sent} {self.call(name, arguments, 0)}")
                self.sent += 1
        if not answers:
            self.clock += max(nanoseconds, 0)
        return "\n".join(answers)

    def write(self, text: str, _line: int) -> None:
        self.printed += text

    def now(self) -> int:
        return NOW

    def monotonic(self) -> int:
        self.clock += 1_000_000
        return self.clock

    def stopped(self) -> bool:
        return False
