"""The scripts of tools/, which belong to no package, as modules."""

import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).parents[2] / "tools"


@cache
def load_tool(name: str) -> Any:
    """Return the module tools/NAME.py."""
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
