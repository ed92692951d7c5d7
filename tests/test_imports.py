"""What does not exist says so, in the same words on every engine."""

from __future__ import annotations

import pytest

from wasm_runtime.guest import advice

ABSENT = ["bz2", "ctypes", "multiprocessing", "numpy", "pandas", "requests", "tkinter", "yaml", "matplotlib.pyplot"]


@pytest.mark.parametrize("name", ABSENT)
def test_a_module_that_cannot_exist_says_what_to_use(sandbox, name):
    top = name.partition(".")[0]
    error = sandbox.run(f"import {name}").error
    words = (advice.MODULES | advice.PACKAGES)[top]
    assert error.type == "ModuleNotFoundError"
    assert error.message == f"No module named {top!r}: it does not exist in the sandbox; {words}"


def test_a_near_name_is_named(sandbox):
    message = sandbox.run("import colections").error.message
    assert message == "No module named 'colections': it does not exist in the sandbox; did you mean 'collections'?"


def test_a_missing_module_can_be_handled(sandbox):
    program = "try:\n    import numpy as np\nexcept ImportError as error:\n    np = error.name\nnp"
    assert sandbox.run(program).value == "numpy"
