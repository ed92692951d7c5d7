"""A policy as text: what it says, what it becomes, and what is refused or warned of."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from codeact import Limits, Sandbox, tool
from codeact.audit import Audit, Event
from codeact.policy import Policy, PolicyError, PolicyWarning, page

HEAD = '[policy]\nname = "support agent"\nowner = "the platform team"\nreview = 2999-01-01\n'

WHOLE = (
    HEAD
    + """
[boundary]
engine = "wasm"

[workspace]
bytes = 1_000_000
files = 20
inputs = { "data/terms.txt" = "terms.txt" }

[[network.destinations]]
origin = "https://api.example.com"
methods = ["GET"]
path = "/v1/**"
account = "support"

[network]
timeout = 2
max_bytes = 1000

[credentials]
inside = "none"

[limits]
timeout = 2
fuel = 1_000_000_000
calls = 7

[results]
characters = 500
file_types = [".csv"]

[lifecycle]
idle = 60
lifetime = 3600

[audit]
file = "audit.jsonl"
bytes = 100_000
durable = true
"""
)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    # A table cannot come after the array of tables that is in it.
    head, array = WHOLE.split("[[network.destinations]]")
    rule, rest = array.split("[network]")
    settings, rest = rest.split("[credentials]")
    path = tmp_path / "policy.toml"
    path.write_text(f"{head}[network]{settings}[[network.destinations]]{rule}[credentials]{rest}")
    (tmp_path / "terms.txt").write_text("be kind")
    return path


def test_a_policy_becomes_limits(written: Path) -> None:
    policy = Policy.load(written)
    assert policy.as_limits() == Limits(
        timeout=2, fuel=1_000_000_000, calls=7, workspace=1_000_000, files=20, shown=500, file_types=(".csv",),
        session_idle=60, session_lifetime=3600,
    )  # fmt: skip


def test_a_policy_that_says_nothing_is_as_strict_as_a_sandbox() -> None:
    policy = Policy.parse(HEAD)
    assert policy.as_limits() == Limits()
    assert policy.boundary.engine == "wasm"
    assert policy.network.destinations == []
    assert list(policy.weaknesses()) == []


def test_a_sandbox_of_a_policy(written: Path) -> None:
    @tool
    def add(a: int, b: int) -> int:
        return a + b

    sandbox = Sandbox.from_policy(Policy.load(written), [add])
    assert sandbox.engine == "wasm"
    result = sandbox.run(
        "open('out.csv', 'w').write('1'); open('out.exe', 'w').write('1')\n"
        "tools.add(1, 2), open('data/terms.txt').read(), 'x' * 9999"
    )
    assert result.ok, result.observation()
    assert isinstance(result.value, tuple)
    assert result.value[:2] == (3, "be kind")
    assert len(result.observation()) < 1000
    assert [file.path for file in result.files] == ["out.csv"]
    with sandbox.session(tenant="acme") as session:
        session.run("1")
    log = [json.loads(line) for line in (written.parent / "audit.jsonl").read_text().splitlines()]
    assert [event["event"] for event in log] == [
        "sandbox_spawn", "tool_call_executed", "sandbox_exit",
        "session_open", "sandbox_spawn", "sandbox_exit", "session_close",
    ]  # fmt: skip
    assert {event["tenant"] for event in log[3:]} == {"acme"}


def test_a_full_log_ends_runs(written: Path) -> None:
    written.write_text(written.read_text().replace("bytes = 100_000", "bytes = 10_000"))
    sandbox = Sandbox.from_policy(Policy.load(written))
    results = [sandbox.run("1") for _ in range(40)]
    assert results[0].ok
    error = results[-1].error
    assert error is not None
    assert error.kind == "host"
    assert "put on record" in error.message


def test_more_sinks_and_one_audit_for_several_sandboxes(written: Path) -> None:
    class Kept(list[Event]):
        def write(self, event: Event) -> None:
            self.append(event)

    kept = Kept()
    policy = Policy.load(written)
    audit = policy.open_audit(kept)
    for _ in range(2):
        Sandbox.from_policy(policy, audit=audit).run("1")
    assert [event.seq for event in kept] == [1, 2, 3, 4]
    assert len((written.parent / "audit.jsonl").read_text().splitlines()) == 4
    other = Kept()
    Sandbox.from_policy(policy, audit=Audit([other])).run("1")
    assert len(other) == 2
    assert len(kept) == 4


def test_the_http_tool_of_a_policy(written: Path) -> None:
    with pytest.raises(ValueError, match="names the account 'support'; give what attaches its credential"):
        Policy.load(written).http_tool()
    doc = Policy.load(written).http_tool(lambda _rule: {"authorization": "x"}).doc
    assert "- GET https://api.example.com/v1/** (account='support')" in doc
    assert "- nowhere" in Policy.parse(HEAD).http_tool().doc


def bad(text: str) -> str:
    with pytest.raises(PolicyError) as caught:
        Policy.parse(text, "policy.toml")
    assert all(line.startswith("policy.toml: ") for line in str(caught.value).splitlines())
    return str(caught.value)


REFUSED = {
    "no TOML": ("[policy", "no TOML:"),
    "nothing": ("", "policy: is missing"),
    "no owner": ('[policy]\nname = "a"\nreview = 2999-01-01\n', "policy.owner: is missing"),
    "an owner without a name": (HEAD.replace("the platform team", ""), "policy.owner: "),
    "a review that is no day": (HEAD.replace("2999-01-01", '"soon"'), "policy.review: "),
    "an unknown part": (HEAD + "[limit]\ntimeout = 1\n", "limit: there is no such setting"),
    "an unknown setting": (HEAD + "[lifecycle]\nidel = 1\n", "lifecycle.idel: there is no such setting"),
    "an unknown setting at the top": ('path = "x"\n' + HEAD, "path: there is no such setting"),
    "an unknown limit": (HEAD + "[limits]\ntimeot = 1\n", "timeot: there is no such limit here; there are timeout"),
    "a limit that has its own place": (HEAD + "[limits]\nworkspace = 1\n", "workspace: there is no such limit here"),
    "a limit of zero": (HEAD + "[limits]\ntimeout = 0\n", "Limits(timeout=0): must be above zero"),
    "a limit that is text": (HEAD + '[limits]\ntimeout = "5"\n', "Limits(timeout='5'): expected a number"),
    "an unknown engine": (HEAD + '[boundary]\nengine = "docker"\n', "boundary.engine: there is no such engine here"),
    "credentials inside": (HEAD + '[credentials]\ninside = "all"\n', "credentials.inside: "),
    "an origin that is none": (
        HEAD + '[[network.destinations]]\norigin = "api.example.com"\n',
        "network.destinations.0: Allow(origin='api.example.com')",
    ),
    "a method that is none": (
        HEAD + '[[network.destinations]]\norigin = "https://a.example"\nmethods = ["FETCH"]\n',
        "Allow(methods=('FETCH',))",
    ),
    "a type that is none": (HEAD + '[results]\nfile_types = ["csv"]\n', "'csv'"),
    "text for a number": (HEAD + '[workspace]\nbytes = "5 MB"\n', "workspace.bytes: "),
    "too little memory": (HEAD + "[limits]\nmemory = 1000\n", "limits.memory=1,000: wasm needs"),
    "a workspace larger than memory": (
        HEAD + "[workspace]\nbytes = 300_000_000\n[limits]\nmemory = 200_000_000\n",
        "workspace.bytes=300,000,000: more than limits.memory",
    ),
    "a call longer than the run": (HEAD + "[limits]\ncall_timeout = 9\n", "limits.call_timeout=9: longer than"),
    "an idle time longer than a life": (
        HEAD + "[lifecycle]\nidle = 20\nlifetime = 10\n", "lifecycle.idle=20: longer than lifecycle.lifetime=10",
    ),
    "a number of thousands of digits": (HEAD + f"[limits]\ncalls = {'9' * 5000}\n", "no TOML:"),
    "lists without end": (HEAD + f"x = {'[' * 100_000}", "no TOML:"),
    "text for seconds": (HEAD + '[lifecycle]\nidle = "60"\n', "lifecycle.idle: "),
    "true for seconds": (HEAD + "[network]\ntimeout = true\n", "network.timeout: "),
    "seconds without end": (HEAD + "[network]\ntimeout = inf\n", "network.timeout: "),
    "an input that leads out": (HEAD + "[workspace.inputs]\n'../a' = 'a'\n", "workspace.inputs['../a']: it leads upwards"),
    "an input that is a directory too": (
        HEAD + "[workspace.inputs]\n'a' = 'a'\n'a/b' = 'b'\n", "workspace.inputs['a']: it cannot be a file and a directory",
    ),
    "an input from nowhere": (HEAD + "[workspace.inputs]\n'a' = ''\n", "workspace.inputs.a: "),
    "an input from no path": (HEAD + '[workspace.inputs]\n"a" = "x\\u0000y"\n', "workspace.inputs.a: "),
    "a log at no path": (HEAD + '[audit]\nfile = "x\\u0000y"\n', "audit.file: "),
    "a log of no size": (HEAD + "[audit]\nbytes = 0\n", "audit.bytes: "),
    "a day in quotes": (HEAD.replace("2999-01-01", '"2999-01-01"'), "write the day without quotes"),
    "one table for all destinations": (HEAD + "[network.destinations]\norigin = 'x'\n", "[[network.destinations]]"),
    "a name with a dot": (HEAD + "[workspace.inputs]\nterms.txt = 'terms.txt'\n", "put names with a dot into quotes"),
    "a near name": (HEAD + "[limit]\n", "did you mean 'limits'?"),
    "a near name inside": (HEAD + "[boundary]\nengin = 'wasm'\n", "did you mean 'engine'?"),
    "methods in lower case": (
        HEAD + "[[network.destinations]]\norigin = 'https://a.example'\nmethods = ['get']\n", "in upper case",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_refused_by_name(case: str) -> None:
    text, told = REFUSED[case]
    assert told in bad(text)


def test_all_that_is_wrong_is_told_at_once() -> None:
    told = bad(HEAD + "[lifecycle]\nidel = 1\n[workspace]\nbytes = 0\n")
    assert len(told.splitlines()) == 2


WEAK = {
    "no boundary": ('[boundary]\nengine = "restricted"\n', "boundary.engine='restricted' is no security boundary"),
    "more time": ("[limits]\ntimeout = 60\n", "limits.timeout=60: more than the default of 5"),
    "more of a workspace": ("[workspace]\nbytes = 64_000_000\n", "workspace.bytes=64,000,000: more than the default"),
    "longer requests": ("[network]\ntimeout = 60\n", "network.timeout=60.0: more than the default of 10.0"),
    "larger answers": ("[network]\nmax_bytes = 9_000_000\n", "network.max_bytes=9,000,000: more than the default"),
    "longer lives": ("[lifecycle]\nlifetime = 100_000\n", "lifecycle.lifetime=100,000"),
    "content on record": ("[audit]\ncontent = true\n", "audit.content=true"),
    "a private destination": (
        '[[network.destinations]]\norigin = "https://a.example"\nprivate = true\n', "may lead to private addresses",
    ),
    "a destination without encryption": (
        '[[network.destinations]]\norigin = "http://a.example"\n', "http://a.example is not encrypted",
    ),
    "a destination where something changes": (
        '[[network.destinations]]\norigin = "https://a.example"\nmethods = ["POST"]\n', "POST at https://a.example may",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WEAK)
def test_what_is_weaker_than_the_defaults_is_warned_of(case: str) -> None:
    text, told = WEAK[case]
    with pytest.warns(PolicyWarning) as seen:
        policy = Policy.parse(HEAD + text, "policy.toml")
    assert [str(warning.message) for warning in seen] == [f"policy.toml: {weak}" for weak in policy.weaknesses()]
    assert told in str(seen[0].message)
    assert told in page(policy)


def test_an_overdue_review_is_warned_of() -> None:
    with pytest.warns(PolicyWarning, match="policy.review=2020-01-01: the review is overdue"):
        Policy.parse(HEAD.replace("2999", "2020"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Policy.parse(HEAD.replace("2999-01-01", date.today().isoformat()))  # noqa: DTZ011 - as a reviewer reads it


MISSING = {
    "an input": ("[workspace.inputs]\n'a.txt' = 'nowhere.txt'\n", "workspace.inputs: 'a.txt' cannot be read from"),
    "an input that is a directory": ("[workspace.inputs]\n'a' = '.'\n", "it is no file"),
    "an input that is a directory elsewhere": ("[workspace.inputs]\n'a.txt' = '/etc'\n", "it is no file"),
    "an input without end": ("[workspace.inputs]\n'a' = '/dev/zero'\n", "it is no file"),
    "inputs that are too large": (
        "[workspace]\nbytes = 150\n[workspace.inputs]\n'a' = 'policy.toml'\n'b' = 'policy.toml'\n",
        "with it the inputs are more than workspace.bytes=150",
    ),
    "a log in no directory": ("[audit]\nfile = 'nowhere/log'\n", "audit.file='nowhere/log': cannot be opened"),
    "a log that is a directory": ("[audit]\nfile = '/'\n", "audit.file='/': cannot be opened"),
    "a log that is a link": ("[audit]\nfile = 'link'\n", "audit.file='link': cannot be opened"),
}


@pytest.mark.parametrize("use", [Policy.check, Sandbox.from_policy], ids=["check", "sandbox"])
@pytest.mark.parametrize("case", MISSING)
def test_what_a_sandbox_needs_and_is_not_there(case: str, use: Callable[[Policy], object], tmp_path: Path) -> None:
    text, told = MISSING[case]
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    path = tmp_path / "policy.toml"
    path.write_text(HEAD + text)
    with pytest.raises(PolicyError) as caught:
        use(Policy.load(path))
    assert told in str(caught.value)


def test_the_page_says_all_of_it(written: Path) -> None:
    text = page(Policy.load(written))
    for told in (
        "support agent", "the platform team", "2999-01-01", "engine wasm", "1,000,000 bytes, 20 files",
        "data/terms.txt (from terms.txt), read-only", "GET https://api.example.com/v1/** as support", "none inside",
        "timeout 2", "fuel 1,000,000,000", "calls 7", "500 characters", ".csv", "60 s idle", "3600 s in all",
        "audit.jsonl, at most 100,000 bytes, digests only, durable",
    ):  # fmt: skip
        assert told in text
    assert len(text.splitlines()) < 40
    assert "none" in page(Policy.parse(HEAD)).split("network")[1].splitlines()[0]


def test_more_fuel_than_usual_is_warned_of() -> None:
    with pytest.warns(PolicyWarning, match=r"limits\.fuel=4,000,000,000,000,000,000: more than the default of"):
        Policy.parse(HEAD + "[limits]\nfuel = 4_000_000_000_000_000_000\n")


def test_a_sandbox_is_made_of_a_policy_and_of_nothing_else() -> None:
    with pytest.raises(TypeError, match=r"policy='policy.toml': expected a codeact.Policy; Policy.load"):
        Sandbox.from_policy("policy.toml")  # type: ignore[arg-type]
