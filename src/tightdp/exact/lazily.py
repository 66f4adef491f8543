"""Libraries that take long to load are loaded when something of them is first used."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType

__all__ = ["lazily", "without_networkx"]


def lazily(name: str) -> ModuleType:
    """Return a module that is loaded when an attribute of it is asked for, also for others that import it meanwhile.

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


@contextmanager
def without_networkx() -> Iterator[None]:
    """Let `dd` be imported in the block without `networkx`, which it takes for drawings; it finds it when it draws."""
    present = sys.modules.get("networkx")
    if type(present) is ModuleType:  # loaded, not put off
        yield
        return
    stand_in = ModuleType("networkx")
    stand_in.MultiDiGraph = object  # type: ignore[attr-defined]  # `dd` names it in a signature
    sys.modules["networkx"] = stand_in
    try:
        yield
    finally:
        del sys.modules["networkx"]
        if present is not None:
            sys.modules["networkx"] = present
        if (using := sys.modules.get("dd._utils")) is not None:
            using._nx = lazily("networkx")  # type: ignore[attr-defined]
