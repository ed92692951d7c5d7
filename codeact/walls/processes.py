"""Walls around the host's process, and what becomes of a sandbox without them."""

from __future__ import annotations

import _thread
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

from codeact.walls.attacks import SECRETS, SPAWNING
from codeact.walls.model import Broken
from codeact.walls.site import Site, canary

VARIABLE = "CODEACT_CANARY_SECRET"

NEEDED = {"wasm": "wasmtime", "restricted": "RestrictedPython"}

_SABOTAGED = """
import sys
sys.modules[{package!r}] = None
from pathlib import Path
from codeact import EngineUnavailable, Sandbox
from codeact.audit import Audit
from codeact.policy import Policy
class Nowhere:
    def write(self, event): pass
policy = Policy.model_validate_json({policy!r}, strict=False).model_copy(update={{"path": {path}}})
try:
    sandbox = Sandbox.from_policy(policy, audit=Audit([Nowhere()]))
except EngineUnavailable:
    sys.exit(77)
sys.exit(78 if sandbox.run("1").ok else 79)
"""
REFUSED = 77

DISTINCT = 16
"""Characters of a variable that nothing else holds by chance."""

SETTLING = 1.0
"""Seconds that a thread which is just ending gets."""


def environment(site: Site) -> str:
    """A secret in the environment of the process that launches programs."""
    secret = canary("secret")
    os.environ[VARIABLE] = secret
    try:
        record = site.attack(SECRETS, {"name": VARIABLE})
    finally:
        del os.environ[VARIABLE]
    if record.holds(secret):
        msg = "the value of a canary variable came out"
        raise Broken(msg)
    launched = _launched()
    if launched and record.holds(launched):
        msg = f"the variable {launched.partition('=')[0]} of this process came out"
        raise Broken(msg)
    return f"{len(SECRETS)} ways to read the environment; the canary variable never came out"


def _launched() -> str:
    """The longest variable that this process began with, which the kernel tells whatever has become of it since."""
    try:
        found = Path("/proc/self/environ").read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
    longest = max(found.split("\0"), key=len)
    return longest if len(longest) >= DISTINCT else ""


def spawning(site: Site) -> str:
    """What runs beside a program would leave a file, a child or a thread."""
    site.sandbox().run("1")  # whatever threads the host itself needs, it has now
    before, born = _foreign(), _children()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "was_here")
        site.attack(SPAWNING, {"path": str(path)})
        if path.exists():
            msg = "a program made another process, which left a file"
            raise Broken(msg)
    left = _children() - born
    if left:
        msg = f"a program left a process behind ({min(left)})"
        raise Broken(msg)
    until = time.monotonic() + SETTLING
    while _foreign() > before:
        if time.monotonic() > until:
            msg = "a program left a thread behind"
            raise Broken(msg)
        time.sleep(0.01)
    return f"{len(SPAWNING)} ways to start a process or thread; there is none, and no trace of one"


def _children() -> set[int]:
    """The processes that this one has made and not yet waited for, which are not waited for here: they are others'.

    Where the kernel has no `/proc`, only one that is over can be seen.
    """
    found = set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it is over
            # The name comes second, in brackets, and may hold anything; then a state, and the parent.
            if int(entry.read_text(errors="replace").rpartition(")")[2].split()[1]) == os.getpid():
                found.add(int(entry.parent.name))
    if not Path("/proc/self/stat").exists():
        with suppress(ChildProcessError):
            over = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            found.update(() if over is None else (over.si_pid,))
    return found


def _foreign() -> int:
    """Threads that are not the sandbox's own, those that were made behind `threading`'s back included."""
    known = threading.enumerate()
    ours = sum(thread.name.startswith("codeact") for thread in known)
    return _thread._count() - ours  # noqa: SLF001 - nothing else counts them


def no_boundary(site: Site) -> str:
    """A process in which the engine's own package is missing."""
    engine = site.policy.boundary.engine
    package = NEEDED.get(engine, engine)
    path = None if site.policy.path is None else f"Path({str(site.policy.path)!r})"
    program = _SABOTAGED.format(package=package, policy=site.policy.model_dump_json(), path=path)
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode != REFUSED:
        msg = f"without {package} a sandbox started, or something else went wrong (exit code {done.returncode}): {done.stderr[-300:]}"
        raise Broken(msg)
    return f"without {package} no sandbox could be made, and no other engine was taken"
