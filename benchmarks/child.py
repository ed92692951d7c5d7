"""What a new process does: import codeact, run one program, and say how long that took.

`python -m benchmarks.child ENGINE`. The clock starts before the import, with only `time` and `sys` there.
"""

from __future__ import annotations

import sys
import time

BEGAN = time.perf_counter()


def main() -> None:
    """Print the seconds until the first result."""
    from codeact import Sandbox  # noqa: PLC0415 - the import is a part of what is measured

    result = Sandbox(engine=sys.argv[1]).run("1 + 1")
    took = time.perf_counter() - BEGAN
    if result.value != 2:
        sys.exit(result.observation())
    print(took)


if __name__ == "__main__":
    main()
