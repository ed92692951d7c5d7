"""The example of the same name, which has a model that plays a script."""

import runpy
from pathlib import Path

import codeact.integrations.openai_agents  # noqa: F401 - codeact is to say first that the extra is missing

runpy.run_path(str(Path(__file__).parents[2] / "examples" / "with_openai_agents.py"), run_name="__main__")
