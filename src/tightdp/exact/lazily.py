"""Libraries that take long to load are loaded when something of them is first used."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


class _Library(ModuleType):
    """A library that is imported when an attribute of it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the library, which is kept."""
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


def lazily(name: str) -> ModuleType:
    """Return what stands for a library, and imports it when an attribute of it is asked for."""
    return _Library(name)


@contextmanager
def without_networkx() -> Iterator[None]:
    """Let `dd` be imported in the block without `networkx`, which it takes for drawings; it finds it when it draws."""
    if "networkx" in sys.modules:
        yield
        return
    stand_in = ModuleType("networkx")
    stand_in.MultiDiGraph = object  # type: ignore[attr-defined]  # `dd` names it in a signature
    sys.modules["networkx"] = stand_in
    try:
        yield
    finally:
        del sys.modules["networkx"]
        if (using := sys.modules.get("dd._utils")) is not None:
            using._nx = lazily("networkx")  # type: ignore[attr-defined]
