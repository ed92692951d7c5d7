"""An arm in a process of its own: `python -m benchmarks.arms.child MODULE [NAME]`.

It reads tasks as lines of JSON and answers each with its samples, so that neither the pipe nor the process at its
other end is ever within what is timed. The module has a function `arm`, which is given the name.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module

from benchmarks.arms import CannotError, WrongAnswerError
from benchmarks.arms.tasks import Task, Worker

LONGEST = 160
"""Characters of an error that a row shows."""


def main() -> None:
    """Serve until the other end hangs up."""
    # What an arm prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(what: dict[str, object]) -> None:
        print(json.dumps(what), file=answers, flush=True)

    module, *names = sys.argv[1:]
    try:
        worker = Worker(import_module(module).arm(*names))
    except Exception as error:  # noqa: BLE001 - whatever keeps it from starting is what the row says
        answer({"cannot": _line(error)})
        return
    answer({"samples": []})
    for line in sys.stdin:
        asked = json.loads(line)
        answer(_reply(partial(worker.samples, Task(**asked["task"]), asked["rounds"], asked["warmup"])))
    worker.close()


def _reply(work: Callable[[], list[float]]) -> dict[str, object]:
    try:
        return {"samples": work()}
    except CannotError as error:
        return {"cannot": str(error)}
    except WrongAnswerError as error:
        return {"wrong": str(error)}
    except Exception as error:  # noqa: BLE001 - whatever a peer raises is a failure of its row, and of nothing else
        return {"wrong": _line(error)}


def _line(error: Exception) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"


if __name__ == "__main__":
    main()
