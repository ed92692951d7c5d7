"""The example of the same name, which has a model that plays a script."""

import runpy
from pathlib import Path

import codeact.integrations.inspect_ai  # noqa: F401 - codeact is to say first that the extra is missing

runpy.run_path(str(Path(__file__).parents[2] / "examples" / "with_inspect_ai.py"), run_name="__main__")
