"""Walls around the host's files."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import codeact
from codeact.walls.attacks import CHANGING, LISTING, READING, WRITING
from codeact.walls.model import Broken
from codeact.walls.site import Site, canary, filled

ROOM = 4096
"""Bytes for one more input, and for what is written beside it."""


def canary_file(site: Site) -> str:
    """A file that anybody may read, with a text that is nowhere else."""
    text = canary("file")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "codeact_canary.txt")
        path.write_text(text)
        path.chmod(0o644)
        untold = canary("name")
        Path(directory, untold).touch()
        record = site.attack(READING, {"path": str(path)})
        record = site.attack(LISTING, {"path": directory})
    if record.holds(text):
        msg = "the text of a canary file came out"
        raise Broken(msg)
    if record.holds(untold):
        msg = "the name of a file came out of a listing of its directory"
        raise Broken(msg)
    return f"{len(READING) + len(LISTING)} ways to read {path.name}; its text never came out"


def outside(site: Site) -> str:
    """A directory that anybody may write to."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o777)
        path = Path(directory, "was_here")
        site.attack(WRITING, {"path": str(path), "directory": directory})
        found = [entry.name for entry in Path(directory).iterdir()]
    if found:
        msg = f"a program made {found[0]!r} in a directory of the host's"
        raise Broken(msg)
    return f"{len(WRITING)} ways to write to a directory of the host's; it is still empty"


def inputs(site: Site) -> str:
    """One more input, beside those that the policy names."""
    name, text = "codeact_canary_input.txt", canary("input")
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory, name)
        source.write_text(text)
        workspace = site.policy.workspace
        room = {"bytes": workspace.bytes + ROOM, "files": workspace.files + 2}  # it may be full of the policy's own
        given = workspace.model_copy(update={"inputs": {**workspace.inputs, name: str(source)}, **room})
        sandbox = site.sandbox(policy=site.policy.model_copy(update={"workspace": given}))
        for program in CHANGING:
            with sandbox.session() as session:
                first = session.run(filled(program, {"name": name}))
                if any(file.path == name for file in first.files):
                    msg = f"an input came back as changed after: {program.splitlines()[-1]}"
                    raise Broken(msg)
                session.run(f"x = open({name!r}).read()\ntools.witness(x)")
                if site.record.said[-1:] != [text]:
                    msg = f"an input was not what it was after: {program.splitlines()[-1]}"
                    raise Broken(msg)
        if source.read_text() != text:
            msg = "the file on the host that an input is made from was changed"
            raise Broken(msg)
    return f"{len(CHANGING)} ways to change an input; it is what it was, inside and on the host"


def own_files(site: Site) -> str:
    """The files that a host cannot do without, and those that hold its secrets."""
    package = Path(codeact.__file__)
    wanted = [(package, _first_line(package)), (Path(os.__file__), _first_line(Path(os.__file__)))]
    if site.policy.path is not None:
        wanted.append((site.policy.path, _first_line(site.policy.path)))
    untold = canary("home")
    home, called = _home()
    with tempfile.TemporaryDirectory(dir=home, prefix=untold) as directory:
        key = Path(directory, "id_canary")
        key.write_text(canary("key"))
        wanted.append((key, key.read_text()))
        policy = Path(directory, "policy.toml")
        policy.write_text(f"# {canary('policy')}")
        wanted.append((policy, policy.read_text()[2:]))
        for path, text in wanted:
            record = site.attack(READING, {"path": str(path)})
            if record.holds(text):
                msg = f"what is in {path.name} came out"
                raise Broken(msg)
    with tempfile.TemporaryDirectory(dir=home, prefix=untold):
        site.record.results.clear()
        record = site.attack(LISTING, {"path": str(home)})
        if record.holds(untold):
            msg = f"a listing of {called} came out"
            raise Broken(msg)
    names = ", ".join(path.name for path, _ in wanted)
    return f"{len(READING)} ways to read each of {names}, and to list {called}; nothing came out"


def _home() -> tuple[Path, str]:
    """Where a key of whoever runs this would be, and what that is called."""
    home = Path("~").expanduser()
    if os.access(home, os.W_OK) and home.is_dir():
        try:
            with tempfile.TemporaryDirectory(dir=home):
                return home, "the home directory"
        except OSError:  # it cannot be written to all the same, as on a file system that is read-only
            pass
    return Path(tempfile.gettempdir()), "a directory in place of the home directory, which cannot be written to"


def _first_line(path: Path) -> str:
    """The first line that tells a file from others."""
    return max(path.read_text(encoding="utf-8", errors="replace").splitlines()[:20], key=len, default="")
