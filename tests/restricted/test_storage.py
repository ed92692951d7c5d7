"""Modules and objects that work on files: wherever a program follows them, it stays in its world."""

from __future__ import annotations

import gc
import io
import sys
import time
import types
from collections.abc import Iterator
from typing import Any

import pytest

from codeact.engines.restricted.engine import RestrictedInstance
from codeact.engines.restricted.library.storage import _NAMES
from codeact.engines.restricted.names import Sort, sort
from codeact.engines.restricted.sealed import Sealed
from codeact.limits import Limits
from tests.restricted.conftest import House

PROGRAM = (
    "".join(f"import {name}\n" for name in (*_NAMES, "io"))
    + """
open('f.txt', 'w').close()
text = open('f.txt'); binary = open('f.txt', 'rb'); raw = open('f.txt', 'rb', 0); both = open('f.txt', 'r+b')
path = pathlib.Path('f.txt'); pure = pathlib.PurePath('f')
entry = list(os.scandir('.'))[0]; scan = os.scandir('.'); walk = os.walk('.'); found = path.glob('*')
made = zipfile.ZipFile('z.zip', 'w'); made.writestr('a', 'b'); made.close()
zipped = zipfile.ZipFile('z.zip'); inside = zipped.open('a'); zpath = zipfile.Path(zipped)
packed = gzip.open('g.gz', 'wb'); tar = tarfile.open('t.tar', 'w'); tar.add('f.txt')
temporary = tempfile.NamedTemporaryFile(); directory = tempfile.TemporaryDirectory(); spooled = tempfile.SpooledTemporaryFile()
wrapped = io.TextIOWrapper(io.BytesIO(b''))
try:
    open('missing')
except OSError as error:
    caught = error
None
"""
)


@pytest.fixture
def world() -> Iterator[RestrictedInstance]:
    house = House(Limits(), 20.0)
    instance = house.open()
    outcome = house.run(instance, PROGRAM)
    assert outcome.fault is None, outcome.fault
    instance._world.meter.start(lambda: None)
    yield instance
    instance._world.meter.finish()
    instance.close()


REAL = {id(module): name for name, module in sys.modules.items() if name != "__main__"}
FORBIDDEN = {
    *map(
        id,
        (
            types.FunctionType,
            types.CodeType,
            types.GenericAlias,
            types.MethodType,
            types.ModuleType,
            types.TracebackType,
        ),
    ),
    *map(id, (io.open, open, eval, exec, compile, __import__, io.FileIO, globals, locals, vars, input, breakpoint)),
}


UNOWNED = (types.ModuleType, types.FunctionType, types.MethodType, types.BuiltinFunctionType, type)
"""What no program has objects of its own kind of."""


def followed(start: dict[str, Any], sealed: dict[type, Any]) -> Iterator[tuple[str, Any]]:
    """All that public names lead to, and one private name on the way: a subclass of the program's could read that."""
    seen: set[int] = set()
    pending = list(start.items())
    keep = []
    while pending:
        where, value = pending.pop()
        if id(value) in seen or isinstance(value, (str, bytes, int, float, bool, type(None))):
            continue
        seen.add(id(value))
        keep.append(value)
        yield where, value
        if where.count(".") > 7:
            continue
        if isinstance(value, dict):
            pending += [(f"{where}[{key!r:.20}]", inner) for key, inner in value.items()]
        elif isinstance(value, (list, tuple, set, frozenset)):
            pending += [(f"{where}[]", inner) for inner in value]
        for name in dir(value):
            if sort(name) in {Sort.REFUSED, Sort.SPECIAL}:
                continue
            if name[0] == "_" and ("._" in where or isinstance(value, (Sealed, *UNOWNED)) or type(value) in sealed):
                continue
            if isinstance(value, type) and value.__module__ in {"builtins", "_io", "abc", "collections", "re"}:
                continue
            try:
                pending.append((f"{where}.{name}", getattr(value, name)))
            except BaseException:  # noqa: BLE001 - a property that cannot be asked
                continue


def test_nothing_leads_to_the_host(world: RestrictedInstance) -> None:
    start = {name: value for name, value in world._world.globals.items() if not name.startswith("_")}
    found = 0
    for where, value in followed(start, world._world.stand_ins):
        found += 1
        assert id(value) not in REAL, f"{where} is the host's module {REAL[id(value)]}"
        assert id(value) not in FORBIDDEN, f"{where} is {value!r}"
        assert not (isinstance(value, type) and issubclass(value, type)), f"{where} makes classes: {value!r}"
        assert not isinstance(value, (types.FrameType, types.CodeType, types.TracebackType)), where
    assert found > 1000


REFUSED: dict[str, str] = {
    "making a stream": "type(open('a', 'w'))(1)",
    "making a raw stream": "type(open('a', 'wb', 0))('/etc/passwd')",
    "making a raw stream by name": "import io\nio.FileIO('/etc/passwd')",
    "a stream over what answers to its methods": "import io\nclass A:\n    def readable(self): return True\nio.TextIOWrapper(A())",
    "a stream over a class of the program": "import io\nclass A(io.BytesIO): pass\nio.TextIOWrapper(A())",
    "a base for streams": "import io\nclass A(io.RawIOBase): pass",
    "a base for text": "import io\nclass A(io.TextIOWrapper): pass",
    "a class of streams as a base": "K = type(open('a', 'w'))\nclass A(K): pass",
    "making an entry": "import os\nos.mkdir('d')\ntype(list(os.scandir('.'))[0])(1, 2, 3)",
    "making an entry by name": "import os\nos.DirEntry(1, 2, 3)",
    "a temporary file as a base": "import tempfile\nK = type(tempfile.NamedTemporaryFile())\nclass A(K): pass",
    "private of a stream": "open('a', 'wb', 0)._calls",
    "private of a path": "import pathlib\npathlib.Path('a')._flavour",
    "private of a module": "import os\nos._exit",
    "changing a module": "import os\nos.sep = '!'",
    "changing a class": "import pathlib\npathlib.Path.exists = print",
    "changing a stream": "open('a', 'w').buffer.raw.name = 'b'",
    "what a class was made from": "import pathlib\npathlib.Path.__init__.__globals__",
    "taking streams apart in the middle": "import io, zipfile\nz = zipfile.ZipFile('z', 'w')\nz.writestr('a', 'b')\nz.close()\n"
    "io.TextIOWrapper(zipfile.ZipFile('z').open('a')).detach()",
    "the environment": "import os\nos.environ",
    "the home": "import os\nos.path.expanduser('~')",
    "a process": "import os\nos.system('ls')",
    "an error handler of others": "open('a', 'w', errors='made.up')",
    "an encoding that takes its time": "open('a', 'w', encoding='idna')",
    "a hook for pickling": "import copy\ncopy.copy(open('a', 'w'))",
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(run, case):  # type: ignore[no-untyped-def]
    assert run(REFUSED[case]).fault.type in {
        "AttributeError",
        "TypeError",
        "LookupError",
        "PolicyError",
        "UnsupportedOperation",
    }


BOUNDED: dict[str, str] = {
    "a buffer without end": "open('a', 'wb', 10 ** 12)",
    "text without end": "open('a', 'w', errors='namereplace').write('\\xe9' * 200_000_000)",
    "a packed bomb": "import zipfile\nwith zipfile.ZipFile('z', 'w', zipfile.ZIP_DEFLATED) as z:\n"
    "    with z.open('a', 'w', force_zip64=True) as f:\n        for _ in range(400): f.write(bytes(10 ** 6))\n"
    "len(zipfile.ZipFile('z').read('a'))",
    "a bomb of gzip": "import gzip, zlib\nc = zlib.compressobj(9, zlib.DEFLATED, 31)\n"
    "d = c.compress(bytes(10 ** 7)) + c.flush()\nopen('g', 'wb').write(d * 40)\nlen(gzip.open('g').read())",
    "a path without end": "import pathlib\npathlib.Path('a/' * 10 ** 7)",
    "a name without end": "import os.path\nos.path.abspath('a/' * 10 ** 7)",
    "lines without end": "f = open('a', 'w')\nf.writelines('x\\n' for _ in iter(int, 1))",
    "lines of nothing": "with open('a', 'w') as f:\n    f.write('\\n' * 20_000_000)\nlist(open('a')), open('a').readlines()",
    "a place far away": "import io\nt = io.TextIOWrapper(io.BytesIO())\nt.seek(10 ** 12)\nt.write('a')\nt.flush()",
    "random bytes": "import os\nos.urandom(10 ** 10)",
    "files without end": "n = 0\nwhile True:\n    open(str(n), 'w').close()\n    n += 1",
    "asking without end": "import os\nfrom itertools import repeat\nlist(map(os.path.exists, repeat('x')))",
    "opening without end": "kept = []\nwhile True:\n    kept.append(open('a', 'w'))",
    "globbing": "import glob\nfor n in range(40): open('a' * n + 'b', 'w').close()\nwhile True: glob.glob('*a' * 60 + 'c')",
}


@pytest.mark.parametrize("case", BOUNDED)
def test_bounded(run, case):  # type: ignore[no-untyped-def]
    begun = time.monotonic()
    fault = run(BOUNDED[case], seconds=3.0, memory=100 * 2**20).fault
    assert fault.kind in {"memory", "timeout", "fuel"} or fault.type == "OSError", fault
    assert time.monotonic() - begun < 30


def test_a_stop_inside_the_library_stops(run):  # type: ignore[no-untyped-def]
    program = (
        "import os, shutil\nfor n in range(50): os.makedirs(f'd/{n}')\n"
        "while True:\n    try:\n        for root, dirs, files in os.walk('d'): pass\n        shutil.copytree('d', 'e')\n"
        "        shutil.rmtree('e')\n    except BaseException:\n        pass"
    )
    assert run(program, seconds=0.5).fault.kind == "timeout"


def test_files_left_open_end_with_their_world(run, recwarn, capfd):  # type: ignore[no-untyped-def]
    program = (
        "import tempfile, zipfile\nkept = [open('a', 'w'), tempfile.NamedTemporaryFile(), tempfile.TemporaryDirectory(), "
        "zipfile.ZipFile('z', 'w')]\nkept[0].write('x')\nkept[3].writestr('a', 'b')\nwhile True: pass"
    )
    assert run(program, seconds=0.3).fault.kind == "timeout"
    gc.collect()
    assert capfd.readouterr().err == ""
    assert not recwarn.list
