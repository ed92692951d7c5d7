"""The Python in docs/models.md runs as it stands, against the loopback."""

from __future__ import annotations

import re
from pathlib import Path

from tests.models.wires import KEY, AnthropicWire, OpenAIWire, call

DOCUMENT = Path(__file__).parents[2] / "docs" / "models.md"


def test_the_python_in_the_document_runs(server, monkeypatch, capsys) -> None:
    for name in ("ANTHROPIC", "OPENAI"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
        monkeypatch.setenv(f"{name}_BASE_URL", server.url + ("/v1" if name == "OPENAI" else ""))
    claude, gpt = AnthropicWire(True), OpenAIWire(True)
    server.say(gpt.answer("", [call("a", "6 * 7")]), gpt.answer("Six times seven is 42."))
    server.say(claude.answer("Let me see.", [call("a", "6 * 7")]), claude.answer("It is 42."))
    server.say(gpt.answer("First."), gpt.answer("Second."))
    world: dict[str, object] = {"__name__": "document"}
    for block in re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, "models.md", "exec", dont_inherit=True), world)
    assert server.refused == []
    assert server.script == []
    printed = capsys.readouterr().out
    assert "Six times seven is 42." in printed
    assert "(Asked(id='a', code='6 * 7', unreadable=None),) done Tokens(read=11, written=5)" in printed
