"""One core module of many: what is linked does the same, and what is not known is refused."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from wasmtime import Trap, wat2wasm

from wasm_runtime.build import COMPONENT as COMPONENT_FILE
from wasm_runtime.fusion import binary, fused
from wasm_runtime.fusion.assembly import assembled
from wasm_runtime.fusion.binary import Reader
from wasm_runtime.fusion.component import Component
from wasm_runtime.fusion.image import IMMORTAL, image, noted, settled
from wasm_runtime.fusion.linking import linked
from wasm_runtime.fusion.module import Module, Sort
from wasm_runtime.fusion.rehearsal import written
from wasm_runtime.guest.snapshot import mark
from wasm_runtime.instance import Instance
from wasm_runtime.machine import Machine

COMPONENT = """
(component
  (import "call" (func $call
    (param "name" string) (param "arguments" string) (param "line" u32) (result string)))
  (import "now" (func $now (result u64)))

  (core module $late
    (type $call (func (param i32 i32 i32 i32 i32 i32)))
    (table (export "$imports") 1 1 funcref)
    (func (export "0") (type $call)
      (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5)
      (call_indirect (type $call) (i32.const 0))))

  (core module $main
    (type $number (func (param i32) (result i32)))
    (table (export "table") 8 funcref)
    (memory (export "memory") 2)
    (global (export "stack") (mut i32) (i32.const 65536))
    (global (export "base") i32 (i32.const 1024))
    (global (export "slots") i32 (i32.const 3))
    (global (export "address") (mut i32) (i32.const -2048))
    (func (export "double") (type $number)
      (local.get 0) (call_indirect (type $number) (i32.const 4)))
    (func (export "doubled_and_swapped") (param i32 i32) (result i32)
      (i32.sub (local.get 1) (local.get 0)))
    (data (i32.const 1024) "\\05\\00\\00\\00"))

  (core module $library
    (type $number (func (param i32) (result i32)))
    (import "env" "memory" (memory 1))
    (import "env" "table" (table 1 funcref))
    (import "env" "slots" (global $slots i32))
    (import "env" "base" (global $base i32))
    (global $inner i32 (i32.add (global.get $base) (i32.const 0)))
    (func $unused (result i32) (i32.const 99))
    (func $double (type $number) (i32.add (local.get 0) (local.get 0)))
    (func $switch (export "switch") (param i32) (result i32)
      (block $two (block $one (block $zero (br_table $zero $one $two (local.get 0)))
        (return (i32.const 10))) (return (i32.const 11)))
      (i32.load (global.get $inner)))
    (func $forgotten LATER)
    (elem (global.get $slots) func $switch $double)
    EXTRA)

  (core module $entry
    (type $number (func (param i32) (result i32)))
    (import "env" "memory" (memory 1))
    (import "env" "stack" (global $stack (mut i32)))
    (import "GOT" "address" (global $address (mut i32)))
    (import "env" "double" (func $double (type $number)))
    (import "env" "switch" (func $switch (type $number)))
    (import "env" "sub" (func $sub (param i32 i32) (result i32)))
    (import "$root" "call" (func $call (param i32 i32 i32 i32 i32 i32)))
    (import "$root" "now" (func $now (result i64)))
    (global $heap (mut i32) (i32.const 70000))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (global.get $heap)
      (global.set $heap (i32.add (global.get $heap) (local.get 3))))
    (func (export "after") (param i32)
      (global.set $stack (i32.add (global.get $stack) (i32.const 16))))
    (func $line (result i32)
      ;; 2 * 21 + the first choice + the last + what the constant is + the clock
      (i32.add (call $double (i32.const 21)) (i32.add (call $switch (i32.const 0)) (i32.add (call $switch (i32.const 2))
        (i32.add (call $sub (i32.const 1) (i32.const 3))
          (i32.add (i32.sub (i32.const 0) (global.get $address)) (i32.wrap_i64 (call $now))))))))
    (func (export "run") (param i32 i32) (result i32)
      (global.set $stack (i32.sub (global.get $stack) (i32.const 16)))
      (call $call (local.get 0) (local.get 1) (local.get 0) (local.get 1) (call $line) (global.get $stack))
      (global.get $stack)))

  (core module $fill
    (import "" "$imports" (table 1 1 funcref))
    (import "" "0" (func (param i32 i32 i32 i32 i32 i32)))
    (elem (i32.const 0) func 0))

  (core instance $late (instantiate $late))
  (core instance $main (instantiate $main))
  (core instance $library (instantiate $library (with "env" (instance $main))))
  (alias core export $late "0" (core func $late-call))
  (core func $now (canon lower (func $now)))
  (core instance $root (export "call" (func $late-call)) (export "now" (func $now)))
  (alias core export $main "memory" (core memory $memory))
  (alias core export $main "stack" (core global $stack))
  (alias core export $main "double" (core func $double))
  (alias core export $main "doubled_and_swapped" (core func $sub))
  (alias core export $library "switch" (core func $switch))
  (core instance $env
    (export "memory" (memory $memory)) (export "stack" (global $stack)) (export "double" (func $double))
    (export "switch" (func $switch)) (export "sub" (func $sub)))
  (core instance $entry (instantiate $entry
    (with "env" (instance $env)) (with "GOT" (instance $main)) (with "$root" (instance $root))))
  (alias core export $entry "realloc" (core func $realloc))
  (core func $call (canon lower (func $call) (memory $memory) (realloc $realloc)))
  (alias core export $late "$imports" (core table $imports))
  (core instance $given (export "$imports" (table $imports)) (export "0" (func $call)))
  (core instance (instantiate $fill (with "" (instance $given))))
  (alias core export $entry "run" (core func $run))
  (alias core export $entry "after" (core func $after))
  (func $lifted (param "request" string) (result string)
    (canon lift (core func $run) (memory $memory) (realloc $realloc) (post-return $after)))
  (export "run" (func $lifted)))
"""


def component(*, later: str = "", extra: str = "") -> bytes:
    """A component such as dynamic libraries are linked to, with more in one of its modules."""
    return bytes(wat2wasm(COMPONENT.replace("LATER", later).replace("EXTRA", extra)))


class Desk:
    """A host that keeps what it is asked."""

    asked = told = 1000

    def __init__(self) -> None:
        self.lines: list[int] = []

    def call(self, name: str, arguments: str, line: int) -> str:
        self.lines.append(line)
        return f"{name}|{arguments}"

    def wait(self, sent: str, nanoseconds: int, line: int) -> str:
        raise AssertionError

    def write(self, text: str, line: int) -> None:
        raise AssertionError

    def now(self) -> int:
        return 1_000_000

    def monotonic(self) -> int:
        raise AssertionError

    def stopped(self) -> bool:
        return False


def test_what_is_linked_calls_reads_and_sets_the_same_as_before(tmp_path: Path) -> None:
    path = tmp_path / "small.wasm"
    path.write_bytes(fused(component()))
    machine, desk = Machine(path), Desk()
    assert machine.imports == ("call", "now")
    instance = Instance(machine, memory=1 << 20)
    assert [instance.run(text, desk, 100_000) for text in ("a", "größer")] == ["a|a", "größer|größer"]
    assert desk.lines == [42 + 10 + 5 + 2 + 2048 + 1_000_000] * 2
    assert instance.memory == 2 * 65536
    instance.close()


def modules(binary: bytes) -> list[Module]:
    return [Module.parsed(content) for kind, content in Reader(binary, 8).sections() if kind == 1]


def test_only_what_can_be_reached_is_there_and_constants_are_none_of_its_globals() -> None:
    main, binding = modules(fused(component()))
    # realloc and what comes before it, after, line, run; switch, double; sub; the way to a late door; the size of the memory
    assert len(main.bodies) == 10
    assert len(main.globals) == 3, "the stack, the heap and the first call are set, nothing else is"
    assert [wanted.name for wanted in main.imports[Sort.FUNCTION]] == ["now"]
    assert not binding.bodies


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (
            {"later": "(drop (v128.const i32x4 0 0 0 0))", "extra": "(elem (i32.const 6) func $forgotten)"},
            r"core module 1 of those linked, function 3 \(forgotten\): .*0xfd",
        ),
        ({"extra": "(start $forgotten)"}, "core module 2 .*section of kind 8"),
        ({"extra": '(data (i32.const 0) "abc")'}, "memory of its own has data"),
        ({"extra": "(table $second 1 funcref) (elem (table $second) (i32.const 0) func $double)"}, "first table"),
        ({"extra": "(global $wide i64 (i64.mul (i64.const 2) (i64.const 3)))"}, "0x7e"),
        ({"extra": "(rec (type (struct)))"}, "no function's"),
    ],
)
def test_what_is_not_known_is_refused(part: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fused(component(**part))


def test_what_is_not_known_is_no_matter_where_nobody_reaches_it() -> None:
    assert fused(component(later="(drop (v128.const i32x4 0 0 0 0))"))


def test_a_component_without_the_entry_is_refused() -> None:
    with pytest.raises(ValueError, match="no function run"):
        fused(bytes(wat2wasm("(component)")))


def test_blocks_keep_their_types_however_many_there_are(tmp_path: Path) -> None:
    kinds = [[("i32", "i64")[number >> bit & 1] for bit in range(8)] for number in range(200)]
    blocks = [
        f"(block (result {' '.join(kind)}) {' '.join(f'({one}.const 1)' for one in kind)}) {'(drop) ' * len(kind)}"
        for kind in kinds
    ]
    path = tmp_path / "many.wasm"
    path.write_bytes(fused(component(later=" ".join(blocks), extra="(elem (i32.const 6) func $forgotten)")))
    instance = Instance(Machine(path), memory=1 << 20)
    assert instance.run("a", Desk(), 100_000) == "a|a"
    instance.close()


def memory(*counts: int) -> bytes:
    """A memory with objects of these reference counts, a list of them, and the note of that list."""
    objects = b"".join(struct.pack("<iI", count, 0xDEAD) for count in counts)
    items = struct.pack(f"<{len(counts)}I", *(8 * place for place in range(1, len(counts) + 1)))
    listed = struct.pack("<iIII", 1, 0xBEEF, len(counts), 8 + len(objects))
    return bytes(8) + objects + items + listed + MARK + struct.pack("<II", 8 + len(objects) + len(items), len(counts))


MARK = mark()


def section(*parts: tuple[int, bytes]) -> bytes:
    """A data section with these bytes at these places."""
    return binary.vector(
        b"\x00\x41" + binary.signed(place) + b"\x0b" + binary.number(len(part)) + part for place, part in parts
    )


def counts(image: bytes, number: int) -> list[int]:
    return [struct.unpack_from("<i", image, 8 * place)[0] for place in range(1, number + 1)]


def test_objects_that_last_are_immortal_and_all_else_stays() -> None:
    # The mark alone stands where it was made; the memory comes in two pieces, with a hole between them.
    raw = memory(1, 7, 5 << 28, (5 << 28) + 3)
    made = unpacked(settled(section((0, raw[:13]), (13, raw[13:]), (1000, MARK), (5000, b"end"))))
    assert counts(made, 4) == [5 << 28, 5 << 28, 5 << 28, (5 << 28) + 3]
    assert made[40:] == raw[40:] + bytes(1000 - len(raw)) + MARK + bytes(5000 - 1000 - 32) + b"end"


def test_a_memory_without_a_note_stays_as_it_is() -> None:
    assert unpacked(settled(section((3, b"abc"), (10, MARK)))) == bytes(3) + b"abc" + bytes(4) + MARK


def test_holes_are_no_part_of_the_segments() -> None:
    assert len(settled(section((0, b"a"), (1 << 20, b"b")))) < 20


def test_a_note_of_what_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="an object at 0x10, where there is none"):
        settled(section((0, memory(1, 0))))


def test_the_guest_notes_what_lasts_and_all_of_it_is_immortal() -> None:
    (data,) = (module.data for module in Component(COMPONENT_FILE.read_bytes()).modules if module.data)
    held = image(data)
    places = noted(held)
    assert len(places) > 100_000
    assert min(struct.unpack_from("<i", held, place)[0] for place in places) >= IMMORTAL


def unpacked(data: bytes) -> bytes:
    """The memory that a data section makes."""
    return bytes(image(data))


def test_an_instance_writes_first_to_what_it_is_told_and_nothing_is_different(tmp_path: Path) -> None:
    path = tmp_path / "small.wasm"
    parsed = Component(component())
    plain, writing = linked(parsed), linked(parsed, [0, 1024, 4096, 65535])
    assert len(writing.binary) > len(plain.binary)
    path.write_bytes(assembled(parsed, writing))
    desk = Desk()
    instance = Instance(Machine(path), memory=1 << 20)
    assert [instance.run(text, desk, 100_000) for text in ("a", "b")] == ["a|a", "b|b"]
    assert desk.lines == [42 + 10 + 5 + 2 + 2048 + 1_000_000] * 2
    instance.close()


WRITER = """
(module
  (import "" "now" (func $now (result i64)))
  (memory (export "memory") 2)
  (data (i32.const 9000) "abc")
  (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 8192))
  (func (export "run") (param i32 i32) (result i32)
    (i32.store (i32.const 20000) (i32.load (local.get 0)))
    (i32.store (i32.const 30000) (i32.wrap_i64 (call $now)))
    (i32.store8 (i32.const 9000) (i32.const 97))
    (drop (memory.grow (i32.const 1)))
    (i32.store (i32.const 131072) (i32.const 7))
    (i32.const 0)))
"""


def test_what_a_guest_writes_to_is_found_by_letting_it() -> None:
    # The request itself is at 8192. At 30000 and 9000 there is afterwards what was there before, and at 131072 there
    # is no memory in the beginning.
    assert written(bytes(wat2wasm(WRITER)), "hello") == [8192, 16384]


def test_a_guest_that_comes_to_a_door_cannot_be_made_ready() -> None:
    with pytest.raises(Trap):
        fused(component(), "a rehearsal that calls a tool")
