"""LangGraph CodeAct: what runs the programs of `create_codeact`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from codeact import prompt
from codeact.extras import extra
from codeact.integrations.conversations import Programs, checked_programs, interpreter_of
from codeact.integrations.interpreter import Interpreter
from codeact.integrations.storable import stored
from codeact.result import Result

with extra("langgraph", "codeact.integrations.langgraph"):
    from langchain_core.runnables import ensure_config

__all__ = ["LAST", "eval_fn", "eval_fn_async", "instructions"]

LAST = "last_program"
"""What the result of the last program is called in the `context` of the graph's state."""

Context = dict[str, Any]


def eval_fn(programs: Programs) -> Callable[[str, Context], tuple[str, Context]]:
    """What `create_codeact` runs a program by, for graphs that are invoked.

    The graph is told the observation. Names stay in the session, and not in the graph's state: its `context` gets the result
    of the last program alone, as data (`LAST`). Programs find what the sandbox grants, and nothing that the graph would pass.

    Args:
        programs: an interpreter, where all that comes is one conversation; or conversations, which are told apart by the
            `thread_id` of the configuration that the graph was invoked with.

    Raises:
        TypeError: `programs` is neither.
    """
    checked_programs(programs)

    def run(code: str, context: Context) -> tuple[str, Context]:
        return _told(_interpreter(programs, context).run(code))

    return run


def eval_fn_async(programs: Programs) -> Callable[[str, Context], Awaitable[tuple[str, Context]]]:
    """The same for graphs that are awaited (`ainvoke`, `astream`). Cancelling one stops its program."""
    checked_programs(programs)

    async def run(code: str, context: Context) -> tuple[str, Context]:
        return _told(await _interpreter(programs, context).run_async(code))

    return run


def instructions(programs: Programs, base: str = "") -> str:
    """The prompt for `create_codeact(…, prompt=…)`: how to write programs, the rules of the room, and what is granted.

    Args:
        programs: what the graph runs them by.
        base: the host's own, which comes first.
    """
    return prompt.system(checked_programs(programs).sandbox, has_tools=False, instructions=base)


def _interpreter(programs: Programs, context: Mapping[str, Any]) -> Interpreter:
    """The thread's interpreter."""
    sandbox = programs.sandbox
    if strange := sorted(context.keys() - {LAST} - sandbox.tools.keys() - sandbox.actions.keys()):
        msg = (
            f"the graph would pass {', '.join(strange)}, which its programs would not find: grant to the Sandbox what they"
            " are to call, and give create_codeact no tools, and its state no context"
        )
        raise ValueError(msg)
    thread = ensure_config().get("configurable", {}).get("thread_id")
    interpreter = interpreter_of(programs, thread, named='config={"configurable": {"thread_id": "…"}} to the graph')
    if LAST in context:
        interpreter.resume()
    return interpreter


def _told(result: Result) -> tuple[str, Context]:
    return result.observation(), {LAST: stored(result)}
