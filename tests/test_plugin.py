"""The pytest plugin: fixtures for what others build on codeact, run as their tests would be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from codeact import Sandbox, tool
from codeact.testing.fakes import FakeTools, fake_tools
from wasm_runtime import cache

pytest_plugins = ["pytester"]

PLUGIN = ("-p", "codeact.testing.plugin", "-p", "no:cacheprovider")
CACHE = str(cache.directory())
"""Where the compiled guest is: the tests that are run here have another home."""


@pytest.fixture
def outcome(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Runs a test module with the plugin, and no other."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv(cache.VARIABLE, CACHE)

    def run(text: str, *arguments: str) -> pytest.RunResult:
        pytester.makepyfile(text)
        return pytester.runpytest_subprocess(*PLUGIN, *arguments)  # in this one, modules would be imported twice

    return run


@tool
def get_charges(customer_id: str, limit: int = 10) -> list[dict[str, int]]:
    """All charges of a customer."""
    raise AssertionError(customer_id, limit)


@tool
async def get_rate(currency: str) -> float:
    """The rate of a currency."""
    raise AssertionError(currency)


def test_a_sandbox_on_each_engine(outcome):
    ran = outcome(
        """
        def test_sum(sandbox):
            made = sandbox([])
            assert made.engine == sandbox.engine
            assert made.run("1 + 1").value == 2
        """,
        "-v",
    )
    ran.assert_outcomes(passed=2)
    ran.stdout.fnmatch_lines(["*test_sum?wasm? PASSED*", "*test_sum?restricted? PASSED*"])


def test_on_the_engines_of_the_option(outcome):
    ran = outcome(
        "def test_sum(sandbox): assert sandbox().run('1 + 1').value == 2\ndef test_other(): pass",
        *("-v", "--codeact-engine", "restricted", "--codeact-engine", "restricted"),
    )
    ran.assert_outcomes(passed=2)
    ran.stdout.fnmatch_lines(["*test_sum?restricted? PASSED*"])


def test_an_engine_that_is_none_is_refused(outcome):
    ran = outcome("def test_sum(sandbox): pass", "--codeact-engine=wasn")
    assert ran.ret != 0
    assert (
        "--codeact-engine=wasn: no such engine; choose one of restricted, wasm" in ran.stdout.str() + ran.stderr.str()
    )


def test_a_test_may_choose_its_engine(outcome):
    ran = outcome(
        """
        import pytest

        @pytest.mark.parametrize("codeact_engine", ["restricted"], indirect=True)
        def test_one(sandbox): assert sandbox.engine == "restricted"
        """
    )
    ran.assert_outcomes(passed=1)


def test_a_fixture_of_ones_own_comes_first(outcome):
    ran = outcome(
        """
        import pytest

        @pytest.fixture
        def sandbox(): return "mine"

        def test_mine(sandbox): assert sandbox == "mine"
        """
    )
    ran.assert_outcomes(passed=1)


def test_a_failed_assertion_lists_the_calls(outcome):
    ran = outcome(
        """
        def test_called(sandbox, fake_tools):
            tools = fake_tools(add=3)
            assert sandbox(tools).run("tools.add(1, 2)").value == 3
            tools["add"].assert_called(1, 2)
            tools["add"].assert_called(2, 1)
        """,
        "--codeact-engine=restricted",
    )
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*AssertionError: add(args=(2, 1)*) was not called; there was add(args=(1, 2)*)*"])


def test_nothing_is_imported_before_a_test_asks(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text(
        "import sys\n"
        "def test_nothing():\n"
        "    found = {name for name in sys.modules if name.partition('.')[0] in {'codeact', 'wasm_runtime', 'pydantic'}}\n"
        "    assert found <= {'codeact', 'codeact.testing', 'codeact.testing.plugin', 'codeact.testing.walls'}, found\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "codeact.testing.plugin", "-p", "codeact.testing.walls"]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_answers_are_given_and_calls_remembered(engine):
    tools = fake_tools(get_names=["a", "b"], get_total=len, get_nothing=None)
    result = Sandbox(tools, engine=engine).run(
        "[tools.get_names('c1', limit=2), tools.get_total('c12'), tools.get_nothing()]"
    )
    assert result.value == [["a", "b"], 3, None]
    assert str(tools["get_names"].calls[0]) == "get_names(args=('c1',), kwargs={'limit': 2})"
    tools["get_names"].assert_called("c1", limit=2)
    tools["get_nothing"].assert_called()
    with pytest.raises(AssertionError, match=r"get_names was called; there was get_names\(args=\('c1',\)"):
        tools.assert_not_called()


def test_an_exception_is_raised_inside(engine):
    tools = fake_tools({"get_order": LookupError("no such order")})
    error = Sandbox(tools, engine=engine).run("tools.get_order(3)").error
    assert error.kind == "tool"
    assert "LookupError: no such order" in error.message
    tools["get_order"].assert_called(3)


def test_a_fake_of_a_real_tool_has_its_signature(engine):
    tools = fake_tools(fake_tools.of(get_charges, returns=[{"amount": 3}]))
    sandbox = Sandbox(tools, engine=engine)
    assert tools["get_charges"].signature_line == get_charges.signature_line
    assert tools["get_charges"].doc == get_charges.doc
    assert sandbox.run("tools.get_charges('c1')").value == [{"amount": 3}]
    assert sandbox.run("tools.get_charges()").error.type == "TypeError"
    assert [call.arguments for call in tools["get_charges"].calls] == [{"customer_id": "c1", "limit": 10}]
    tools["get_charges"].assert_called(customer_id="c1")


def test_a_fake_of_an_async_tool_is_awaited(engine):
    async def rate(currency: str) -> float:
        return {"EUR": 0.9}[currency]

    fakes = fake_tools(later=lambda _: 1, much_later=rate)
    assert Sandbox(fakes, engine=engine).run("[tools.later('EUR'), await tools.much_later('EUR')]").value == [1, 0.9]
    for returns in (0.9, rate, fake_tools.by_argument({"EUR": 0.9})):
        sandbox = Sandbox(fake_tools(fake_tools.of(get_rate, returns=returns)), engine=engine)
        assert sandbox.run("await tools.get_rate('EUR')").value == 0.9


def test_answers_by_argument(engine):
    answers = {"c1": [{"amount": 1}], ("c2", 1): [{"amount": 2}], "c3": ConnectionError("it is down")}
    tools = fake_tools(fake_tools.of(get_charges, returns=fake_tools.by_argument(answers)))
    sandbox = Sandbox(tools, engine=engine)
    program = "[tools.get_charges('c1')[0]['amount'], tools.get_charges('c2', limit=1)[0]['amount']]"
    assert sandbox.run(program).value == [1, 2]
    assert "ConnectionError: it is down" in sandbox.run("tools.get_charges('c3')").error.message
    assert "has no answer for 'c4', 10" in sandbox.run("tools.get_charges('c4')").error.message


def test_a_typed_function_is_a_fake_of_itself():
    def get_total(customer_id: str) -> int:
        """All in all."""
        return len(customer_id)

    for tools in (fake_tools(get_total), fake_tools(get_total=get_total)):
        assert tools["get_total"].signature_line == "get_total(customer_id: str) -> int"
        assert tools["get_total"]("abc") == 3
        assert tools["get_total"].calls[0].arguments == {"customer_id": "abc"}


def test_an_answer_that_the_real_tool_cannot_give_is_refused():
    with pytest.raises(TypeError, match=r"returns\[0\]\['amount'\]: .*valid integer.*; get_charges\("):
        fake_tools.of(get_charges, returns=[{"amount": "much"}])
    late = fake_tools.of(get_charges, returns=lambda _customer, _limit: "much")
    with pytest.raises(TypeError, match=r"returns: .*valid list"):
        late("c1")


def test_what_is_no_fake_is_refused():
    with pytest.raises(ValueError, match="two fakes are named 'get_charges'"):
        fake_tools(fake_tools.of(get_charges, returns=[]), get_charges=[])
    with pytest.raises(TypeError, match="expected a fake, a typed function, or a mapping"):
        fake_tools(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a fake has its name already"):
        fake_tools(other=fake_tools.of(get_charges, returns=[]))
    assert repr(fake_tools(a=1, b=2)) == "FakeTools(a, b)"
    assert isinstance(fake_tools(), FakeTools)
