"""An interpreter of DSPy's, whose program calls a tool and submits what it found."""

from codeact.integrations.dspy import FinalOutput, SandboxInterpreter


def add(left: int, right: int) -> int:
    """Their sum."""
    return left + right


with SandboxInterpreter({"add": add}, reads=["add"]) as interpreter:
    given = interpreter.execute("SUBMIT(add(20, right))", {"right": 22})
assert given == FinalOutput({"output": 42}), given
