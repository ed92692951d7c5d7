"""Guests with packages baked in: one small package, made here, in one guest that is built once for all tests."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeact import Sandbox
from codeact.engines import EngineUnavailable, load
from codeact.engines.wasm import WasmEngine
from codeact.extras import MissingExtra
from codeact.guests import GuestNotMade, make
from wasm_runtime import cache

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("componentize_py") is None, reason="the extra build is not installed"
)

FILES = {
    "greeter/__init__.py": "from greeter.words import WORD\n\ndef greet(name):\n    return f'{WORD}, {name}'\n",
    "greeter/words.py": "import pkgutil\nWORD = pkgutil.get_data('greeter', 'data/word.txt').decode()\n",
    "greeter/late.py": "import greeter\nLOADED = True\n",
    "greeter/data/word.txt": "Hello",
    "greeter/native.so": "\x7fELF",
    "_greeter.py": "raise ImportError('only with native code')\n",
}


def wheel(directory: Path, name: str, files: dict[str, str]) -> Path:
    """A wheel with these files."""
    information = f"{name}-1.5.dist-info"
    files = {
        **files,
        f"{information}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n",
        f"{information}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{information}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{information}/RECORD"])
    path = directory / f"{name}-1.5-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, content in files.items():
            archive.writestr(file, content)
    return path


@pytest.fixture(scope="session")
def greeted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[str]]]:
    """The guest with the package, and what was said while it was made; made once for all workers."""
    shared = tmp_path_factory.getbasetemp().parent / "greeted"
    shared.mkdir(exist_ok=True)
    guest, said = shared / "guest.wasm", shared / "said.json"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            lines: list[str] = []
            os.environ["PIP_NO_INDEX"] = "1"
            make([str(wheel(shared, "greeter", FILES))], guest, lines.append)
            said.write_text(json.dumps(lines))
    return guest, json.loads(said.read_text())


def test_a_guest_has_its_packages(greeted):
    guest, said = greeted
    sandbox = Sandbox(guest=guest)
    program = (
        "import greeter, greeter.late, importlib, importlib.metadata as metadata, importlib.resources as resources\n"
        "[greeter.greet('you'), greeter.late.LOADED, metadata.version('Greeter'),\n"
        " [d.name for d in metadata.distributions()], importlib.reload(greeter) is greeter,\n"
        " (resources.files('greeter') / 'data' / 'word.txt').read_text()]"
    )
    assert sandbox.run(program).value == ["Hello, you", True, "1.5", ["greeter"], True, "Hello"]
    assert "did you mean 'greeter'?" in sandbox.run("import greter").error.message
    assert any("greeter 1.5, without its native code (1 file)" in line for line in said)
    assert re.search(r"made .*guest\.wasm: \d+\.\d MB in \d+ s; use it: Sandbox\(guest=", said[-1])


def test_a_guest_is_as_closed_as_any(greeted):
    guest, _ = greeted
    engine = load("wasm", guest)
    assert isinstance(engine, WasmEngine)
    assert engine.machine.imports == load("wasm").machine.imports
    assert engine is load("wasm", guest)
    assert engine is not load("wasm")
    assert Sandbox().run("import greeter").error.type == "ModuleNotFoundError"


def test_a_guest_is_compiled_once_on_a_machine(greeted):
    guest, _ = greeted
    engine = load("wasm", guest)
    assert isinstance(engine, WasmEngine)
    assert engine.machine.cached is not None
    assert engine.machine.cached.parent == cache.directory()


def test_the_frames_of_a_package_are_not_the_programs(greeted):
    guest, _ = greeted
    program = "import greeter, traceback\ntry:\n    greeter.greet()\nexcept TypeError:\n    traceback.print_exc()\ngreeter.greet()"
    result = Sandbox(guest=guest).run(program)
    assert "packages" not in result.stdout + result.observation()
    assert result.error.line == 6


def test_a_guest_from_the_command_line(greeted):
    guest, _ = greeted
    command = [
        sys.executable,
        "-m",
        "codeact",
        "run",
        "-c",
        "import greeter; greeter.greet('it')",
        "--guest",
        str(guest),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "'Hello, it'\n"), done.stderr


def test_a_package_that_cannot_work_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    bad = wheel(tmp_path, "bad", {"bad.py": "from bad_native import fast\n", "bad_native.so": "\x7fELF"})
    with pytest.raises(GuestNotMade) as caught:
        make([str(bad)], tmp_path / "guest.wasm", str)
    assert str(caught.value) == (
        "bad 1.5: import bad: ModuleNotFoundError: No module named 'bad_native'. "
        "bad needs its native code (bad_native.so …); a guest can run none"
    )
    assert not (tmp_path / "guest.wasm").exists()


def test_what_pip_cannot_find_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(GuestNotMade, match="pip failed with code 1:\n(.|\n)*no-such-package"):
        make(["no-such-package"], tmp_path / "guest.wasm", str)


def test_a_missing_guest_says_how_to_make_it(tmp_path):
    with pytest.raises(
        EngineUnavailable, match=r"cannot be read \(No such file.*codeact build --with PACKAGE --output"
    ):
        Sandbox(guest=tmp_path / "guest.wasm")


def test_what_is_no_guest_is_refused(tmp_path):
    (tmp_path / "guest.wasm").write_bytes(b"\0asm\r\0\1\0")
    with pytest.raises(EngineUnavailable, match="exports no function run"):
        Sandbox(guest=tmp_path / "guest.wasm")


def test_only_wasm_has_a_guest(tmp_path):
    with pytest.raises(ValueError, match="engine='restricted' has none"):
        Sandbox(engine="restricted", guest=tmp_path / "guest.wasm")
    with pytest.raises(ValueError, match="RestrictedEngine has its own"):
        Sandbox(engine=load("restricted"), guest=tmp_path / "guest.wasm")
    with pytest.raises(TypeError, match="guest=3: expected the path"):
        Sandbox(guest=3)


def test_the_extra_pins_what_guests_are_made_with():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    pins = [found for found in project["build-system"]["requires"] if found.startswith("componentize-py")]
    assert pins == [found for found in project["project"]["optional-dependencies"]["build"] if "componentize" in found]


def test_without_componentize_py_nothing_is_gathered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "componentize_py", None)
    said: list[str] = []
    with pytest.raises(MissingExtra, match=r"pip install 'codeact\[build\]'"):
        make(["pyyaml"], tmp_path / "guest.wasm", said.append)
    assert said == []
