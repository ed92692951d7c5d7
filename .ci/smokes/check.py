"""A program that the type checker refuses before it runs."""

from codeact import Sandbox, tool


@tool
def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


sandbox = Sandbox([add], check=True)
result = sandbox.run("tools.add(1)")
assert not result.ok, result.observation()
assert result.calls == (), result.observation()
assert sandbox.run("tools.add(1, 2)").value == 3
