"""The restricted engine: programs run inside the host's own interpreter, held by a policy and by guards.

It is **not a security boundary**. The program shares the host's heap, its interpreter and its process; what
stands between them is Python code, and a flaw in CPython or in a library that is granted goes straight through.
It stops accidents, quickly: endless loops, powers and repetitions that would fill the memory, wrong imports,
names that do not exist, attributes that lead into the interpreter. Use `wasm` where the program may be hostile.

What it does not stop:

* One C call that takes long cannot be interrupted. Operators and builtins that grow with the size of a number are
  judged before they run; sorting, comparing or hashing what already fits into memory is not.
* Comparing with `<`, searching in containers, and hashing keys follow nested structures without a bound: tuples that
  hold themselves twice, forty levels deep, keep the interpreter busy. Only the keys that a display, a comprehension or
  `set(…)` is given are judged; those of `d[t]`, `d.get(t)`, `s.add(t)` and the like are not.
* Builtins handed on as values (`map(str, rows)`, `[int][0](text, 16)`, `dict.__repr__(x)`) are the interpreter's own and
  are not judged by size, as their calls in the text are.
* `a + b` may allocate as much as both operands together; growth is only seen at the next tick, and in the whole
  process (see `growth.Growth`).
* Sums and quotients of fractions grow without a bound (products and powers are judged), and a display with many
  stars, a chain of `+` or a file written past its end takes a few times what its parts take.
* Structures and generators nested hundreds of thousands of levels deep need a deep C stack when they are hashed, shown or freed: run programs
  on threads with a large stack.
* The interpreter may write a warning on the host's stderr: for `bool(NotImplemented)`, for a generator that ignores
  being closed, for what asyncio itself gives to be awaited (`asyncio.sleep(1)`) when nobody does. The
  settings that would keep it silent are the whole process's.
* Recursion ends where the host's own recursion limit is.
"""
