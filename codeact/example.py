"""Where the example is that `codeact demo` plays: inside an installed package, or beside it in a checkout."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

NAME = "codeact.demo"
"""The package's name in either place, so that no other package called `examples` is taken for it."""

_CHECKOUT = Path(__file__).parent.parent / "examples" / "support_ticket"


def demo(part: str = "demo") -> ModuleType:
    """A module of the example.

    Args:
        part: its name; `demo` is the one with `play`.

    Raises:
        ModuleNotFoundError: the example is not there.
    """
    if NAME not in sys.modules and not Path(__file__).with_name("demo").exists():
        start = _CHECKOUT / "__init__.py"
        spec = spec_from_file_location(NAME, start, submodule_search_locations=[str(_CHECKOUT)])
        if spec is None or spec.loader is None or not start.exists():
            msg = f"the example is neither installed nor in a checkout beside {Path(__file__).parent}"
            raise ModuleNotFoundError(msg, name=NAME)
        package = module_from_spec(spec)
        sys.modules[NAME] = package
        spec.loader.exec_module(package)
    return import_module(f"{NAME}.{part}")
