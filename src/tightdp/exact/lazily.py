"""Libraries that take long to load are loaded when something of them is first used."""

from __future__ import annotations

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
