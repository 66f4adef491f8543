"""Libraries that take long to load are loaded when something of them is first used, and so are modules of packages.

A package whose `__getattr__` is that of `modules_of` gives its modules so to `from package import module`; an import of
what stands in one, as in `from package.module import function`, loads it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class _Library(ModuleType):
    """A library that is imported when an attribute of it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the library, which is kept."""
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


class _Module(ModuleType):
    """A module that is imported when something of it is first asked for: what is read or set is read or set there."""

    def __getattribute__(self, name: str) -> Any:
        own = super().__getattribute__("__name__")
        return getattr(sys.modules.get(own) or import_module(own), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(import_module(self.__name__), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(import_module(self.__name__), name)


def lazily(name: str) -> ModuleType:
    """Return what stands for a library, and imports it when an attribute of it is asked for."""
    return _Library(name)


def modules_of(package: str) -> Callable[[str], ModuleType]:
    """Return the `__getattr__` of a package, whose modules are imported when something of them is first used."""

    def module(name: str) -> ModuleType:
        if find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return _Module(f"{package}.{name}")

    return module
