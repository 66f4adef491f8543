"""A module that is imported when something of it is first used: what answers questions takes time to load."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["Later"]


class Later:
    """Stands for a module until one of its names is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
