"""Makes one core module of the many that a component is linked from.

componentize-py links CPython, libc and its own runtime as dynamic libraries: some sixty core instances around one
memory and one table, bound to each other by imported globals and tables. A runtime has to bind them again for every
instance, which took four fifths of the time to make one, and the compiler sees through none of it. All of it is known
once the snapshot is taken. So the modules become one: imports are the functions they stand for, globals that nobody
sets are constants, calls through a constant place of the table are direct, and what nobody can reach is left out.

What is made imports what the component imported, in the same types, and exports `run` and `memory-size`. The formats
are those of the WebAssembly core specification and of the component model (design/mvp/Binary.md of its repository).
The modules: `binary` reads and writes the format's atoms, `module` a core module, `component` what is around them,
`code` the instructions, `image` the memory, `linking` makes one module of all, `rehearsal` lets it run, `assembly` makes a component
around it.
"""

from __future__ import annotations

from .assembly import assembled
from .component import Component
from .linking import linked
from .rehearsal import written

__all__ = ["fused"]


def fused(component: bytes, rehearsal: str | None = None) -> bytes:
    """The component with all its core modules made one.

    Args:
        component: what componentize-py made, with a function `run`.
        rehearsal: a request that it answers without coming to a door. What it writes to then, every instance writes to
            at its first step, before it has read it. To write to what has been read, a processor must tell all others
            that run threads of the process, one page at a time, which on two cores halved what they did together.

    Raises:
        ValueError: it uses something of WebAssembly that is not known here, and that a change of componentize-py or
            of its compiler may have brought.
    """
    parsed = Component(component)
    plain = linked(parsed)
    if rehearsal is None:
        return assembled(parsed, plain)
    return assembled(parsed, linked(parsed, written(plain.binary, rehearsal)))
