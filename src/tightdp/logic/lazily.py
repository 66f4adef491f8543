"""Libraries that take long to load are loaded when something of them is first used."""

from __future__ import annotations

import sys
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType

__all__ = ["lazily"]


def lazily(name: str) -> ModuleType:
    """Return a module that is loaded when an attribute of it is asked for, also by others who import it meanwhile.

    Raises ModuleNotFoundError where there is none.
    """
    if name in sys.modules:
        return sys.modules[name]
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    spec.loader = LazyLoader(spec.loader)
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
