"""Each wall holds on each engine, and each can be seen to fall: it is broken on purpose, in one place."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codeact import Limits, Sandbox
from codeact.audit import Audit
from codeact.egress import http_tool
from codeact.engines import Doors, Engine, Face, Instance, Outcome, Program, load
from codeact.policy import Policy
from codeact.testing.reference import UnsafeCPython
from codeact.tools import Granted
from codeact.walls import WALLS, Site, Wall, examine, processes


def verdict(policy: Policy, number: int, **settings: Any) -> Any:
    (found,) = examine(Site(policy, **settings), [WALLS[number - 1]])
    return found


@pytest.mark.parametrize("wall", WALLS, ids=lambda wall: str(wall.number))
def test_the_wall_holds(policy: Policy, wall: Wall) -> None:
    found = verdict(policy, wall.number)
    assert found.outcome == "holds", found.evidence
    assert found.evidence
    assert found.seconds > 0


@pytest.mark.parametrize("number", [5, 7])
def test_a_wall_is_not_applicable_only_where_the_policy_says_that_there_is_none(policy: Policy, number: int) -> None:
    network = policy.network.model_copy(update={"destinations": []})
    found = verdict(policy.model_copy(update={"network": network}), number)
    assert (found.outcome, found.evidence) == ("not applicable", "the policy names no destinations")


def test_a_test_that_fails_by_itself_is_no_wall_that_holds(policy: Policy) -> None:
    def unmade(_policy: Policy, _tools: Granted, _audit: Audit) -> Sandbox:
        msg = "no such thing"
        raise LookupError(msg)

    found = verdict(policy, 1, make=unmade)
    assert (found.outcome, found.evidence) == ("broken", "the test itself failed: LookupError: no such thing")


def test_a_home_that_cannot_be_written_to(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/proc")
    found = verdict(policy, 4)
    assert found.outcome == "holds", found.evidence
    assert "in place of the home directory" in found.evidence


def test_children_of_others_are_left_alone(policy: Policy) -> None:
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.exit(7)"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert verdict(policy, 11).outcome == "holds"
        assert child.wait() == 7


UNUSUAL = {
    "a workspace for one file": (3, {"workspace": {"bytes": 1, "files": 1}}),
    "more output than there is time for": (14, {"limits": {"timeout": 0.5, "output": 10**9}}),
    "files that may not leave": (15, {"results": {"file_types": [".csv"]}}),
    "one place in two spellings": (
        7,
        {
            "network": {
                "destinations": [
                    {"origin": "https://api.example.com", "methods": ["POST"]},
                    {"origin": "https://API.example.com", "methods": ["GET"]},
                ]
            }
        },
    ),
    "a place that others may not talk to": (
        6,
        {"network": {"destinations": [{"origin": "https://169.254.169.254", "private": True}]}},
    ),
}


def changed(policy: Policy, parts: dict[str, dict[str, Any]]) -> Policy:
    """A policy with some settings of its own."""
    whole = policy.model_dump()
    return Policy.model_validate({**whole, **{name: {**whole[name], **part} for name, part in parts.items()}})


@pytest.mark.parametrize("case", UNUSUAL)
def test_the_walls_of_an_unusual_policy(policy: Policy, case: str) -> None:
    number, parts = UNUSUAL[case]
    found = verdict(changed(policy, parts), number)
    assert found.outcome == "holds", found.evidence


def test_a_workspace_without_end_is_seen_where_files_may_not_leave(policy: Policy) -> None:
    number, make, evidence = MUTATIONS["the workspace has no end"]
    found = verdict(changed(policy, {"results": {"file_types": [".csv"]}}), number, make=make)
    assert (found.outcome, evidence in found.evidence) == ("broken", True), found.evidence


# --- broken walls -------------------------------------------------------------------------------------------------


class Breached:
    """An engine in whose worlds programs that hold a text run in plain CPython, with all that the process can do."""

    name = "breached"

    def __init__(self, real: Engine, text: str) -> None:
        self._real = real
        self._text = text

    def open(self, faces: tuple[Face, ...], limits: Limits) -> Instance:
        return _Two(self._real.open(faces, limits), UnsafeCPython().open(faces, limits), self._text)


class _Two:
    alive = True

    def __init__(self, real: Instance, open_: Instance, text: str) -> None:
        self._real, self._open, self._text = real, open_, text

    def run(self, program: Program, doors: Doors) -> Outcome:
        return (self._open if self._text in program.source else self._real).run(program, doors)

    def close(self) -> None:
        self._real.close()
        self._open.close()


class Careless:
    """An engine that lets programs change their inputs."""

    name = "careless"

    def __init__(self, real: Engine) -> None:
        self._real = real

    def open(self, faces: tuple[Face, ...], limits: Limits) -> Instance:
        return _Loose(self._real.open(faces, limits))


class _Loose:
    def __init__(self, real: Instance) -> None:
        self._real = real

    @property
    def alive(self) -> bool:
        return self._real.alive

    def run(self, program: Program, doors: Doors) -> Outcome:
        return self._real.run(replace(program, fixed=frozenset()), doors)

    def close(self) -> None:
        self._real.close()


class Shared:
    """An engine with one world for everybody."""

    name = "shared"

    def __init__(self, real: Engine) -> None:
        self._real = real
        self._world: Instance | None = None

    def open(self, faces: tuple[Face, ...], limits: Limits) -> Instance:
        if self._world is None or not self._world.alive:
            self._world = self._real.open(faces, limits)
        return _Kept(self._world)


class _Kept(_Loose):
    def run(self, program: Program, doors: Doors) -> Outcome:
        return self._real.run(program, doors)

    def close(self) -> None:
        """Leave it for the next."""


Make = Callable[[Policy, Granted, Audit], Sandbox]


def on(engine: Callable[[Engine], Engine]) -> Make:
    """Makes sandboxes by the policy, but for the engine, of which there is one."""
    made: list[Engine] = []

    def make(policy: Policy, tools: Granted, audit: Audit) -> Sandbox:
        if not made:
            made.append(engine(load(policy.boundary.engine)))
        return Sandbox(tools, engine=made[0], limits=policy.as_limits(), inputs=policy.read_inputs(), audit=audit)

    return make


def breached(text: str) -> Make:
    return on(lambda real: Breached(real, text))


def lax(**limits: Any) -> Make:
    """Makes sandboxes by the policy, but for some limits."""

    def make(policy: Policy, tools: Granted, audit: Audit) -> Sandbox:
        used = dataclasses.replace(policy.as_limits(), **limits)
        return Sandbox(tools, engine=policy.boundary.engine, limits=used, audit=audit)

    return make


def unheard(policy: Policy, tools: Granted, _audit: Audit) -> Sandbox:
    """Makes sandboxes that put nothing on record."""
    return Sandbox(tools, engine=policy.boundary.engine, limits=policy.as_limits())


MUTATIONS: dict[str, tuple[int, Make, str]] = {
    "a file of the host's can be read": (1, breached("linecache"), "the text of a canary file came out"),
    "a directory of the host's can be listed": (1, breached("scandir"), "the name of a file came out"),
    "a file of the host's can be made": (2, breached("write_text('was here')"), "a program made 'was_here'"),
    "an input can be changed": (3, on(Careless), "an input came back as changed"),
    "a key can be read": (4, breached("fileinput"), "came out"),
    "the home directory can be listed": (4, breached("scandir"), "a listing of the home directory came out"),
    "an allowed request is not on record": (5, unheard, "is not on record"),
    "a socket can be had": (6, breached("create_connection"), "a program reached a listener"),
    "the environment can be read": (8, breached("os.getenv"), "the value of a canary variable came out"),
    "the environment of the launch can be read": (8, breached("/proc/self/environ"), "of this process came out"),
    "the environment can be read by its address": (8, breached("ctypes"), "the value of a canary variable came out"),
    "an endless loop goes on": (9, lax(timeout=3.5, fuel=10**15), "the limit is 1 s"),
    "a bomb is not stopped": (10, lax(memory=2_000_000_000, timeout=20.0, fuel=10**12), "the host grew by"),
    "a process can be made": (11, breached("os.system"), "a program made another process"),
    "a process can be left": (11, breached("'sleep', '10'"), "a program left a process behind"),
    "a name can be looked up": (6, breached("socket.gethostbyname("), "a program looked a name up"),
    "a thread can be left": (11, breached("_thread.start_new_thread"), "a program left a thread behind"),
    "a world outlives its session": (12, on(Shared), "a text of an earlier session was found"),
    "tenants share a world": (13, on(Shared), "a text of one tenant's session was found in another's"),
    "runs have no owner": (13, unheard, "does not say whose runs these were"),
    "output is not cut": (14, lax(output=10**6), "characters came out, and the limit is 10,000"),
    "the workspace has no end": (15, lax(workspace=50_000_000, files=10_000, memory=500_000_000, timeout=20.0), "the limits are below"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("case", MUTATIONS)
def test_a_wall_that_is_broken_is_seen_to_be(policy: Policy, case: str) -> None:
    number, make, evidence = MUTATIONS[case]
    found = verdict(policy, number, make=make)
    assert found.outcome == "broken", found.evidence
    assert evidence in found.evidence


REPLACED = """
import warnings
warnings.simplefilter("ignore")
from codeact.policy import Policy
from tests.walls.test_walls import breached, verdict
verdict(Policy.parse({text!r}), 11, make=breached("execv"))
"""


def test_a_program_that_takes_the_place_of_the_tests_is_no_success(text: str) -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", REPLACED.format(text=text)],
        cwd=root, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")


def wider(self: Policy, credential: Any = None, **settings: Any) -> Any:
    """The policy's tool, with other rules than the policy's."""
    rules = [
        replace(place.rule(), methods=("GET", "POST", "PUT", "PATCH", "DELETE")) for place in self.network.destinations
    ]
    return http_tool(rules, credential=credential, **settings)


def elsewhere_too(self: Policy, credential: Any = None, **settings: Any) -> Any:
    rules = [replace(place.rule(), origin="https://canary.invalid") for place in self.network.destinations]
    return http_tool(rules, credential=credential, **settings)


def unpaid(self: Policy, credential: Any = None, **settings: Any) -> Any:
    del credential
    rules = [place.rule() for place in self.network.destinations]
    return http_tool(rules, credential=lambda _rule: {"x-other": "something"}, **settings)


def deeper(self: Policy, credential: Any = None, **settings: Any) -> Any:
    rules = [replace(place.rule(), path="/**") for place in self.network.destinations]
    return http_tool(rules, credential=credential, **settings)


NETWORKS = {
    "no destination that is allowed": (5, elsewhere_too, "is allowed and did not go out"),
    "no credential is attached": (5, unpaid, "0 went out with its credential"),
    "another destination is allowed": (6, elsewhere_too, "a request or a look-up left the host"),
    "another path is allowed": (7, deeper, "went out to api.example.com/codeact-canary-path"),
    "another operation is allowed": (7, wider, "went out to api.example.com"),
}


@pytest.mark.parametrize("case", NETWORKS)
def test_a_network_that_is_wider_than_the_policy_is_seen_to_be(
    policy: Policy, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, tool, evidence = NETWORKS[case]
    monkeypatch.setattr(Policy, "http_tool", tool)
    found = verdict(policy, number)
    assert found.outcome == "broken", found.evidence
    assert evidence in found.evidence


def test_a_sandbox_that_starts_without_its_boundary_is_seen_to(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    # As if another engine were used in place of the one that is missing: what is taken away is not what it needs.
    monkeypatch.setattr(processes, "NEEDED", dict.fromkeys(processes.NEEDED, "this_package_is_not_needed"))
    found = verdict(policy, 16)
    assert found.outcome == "broken"
    assert "a sandbox started" in found.evidence


def test_every_wall_is_broken_once() -> None:
    broken = {number for number, *_ in (*MUTATIONS.values(), *NETWORKS.values())} | {16}
    assert broken == {wall.number for wall in WALLS} == set(range(1, 17))
