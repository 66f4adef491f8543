"""Functions as they run, in doubles, but that `random()` is drawn from the source of randomness in place."""

from __future__ import annotations

import random
import sys
from types import CellType, FunctionType, ModuleType
from typing import Any

from tightdp.language import primitives
from tightdp.language.doubles import BITS, MOST_BITS
from tightdp.language.primitives import current_source
from tightdp.language.source import AnyFunction, remember, remembered

NOT_OURS = sys.stdlib_module_names - {"__main__"} | {"numpy", "scipy", "tightdp"}
"""Modules whose functions are as they are."""


def double() -> float:
    """k / 2^bits, each k below 2^bits with the same probability: what `random()` gives, with 53 bits."""
    bits = BITS.get() or MOST_BITS
    return current_source().draw_bits(bits) / 2.0**bits


def floating(function: AnyFunction) -> AnyFunction:
    """The same function, in which `random.random` draws from the source in place; so do the functions that it calls."""
    if not isinstance(function, FunctionType) or function.__module__ == primitives.__name__:
        return function
    known: FunctionType | None = remembered(function, "__tightdp_floating__")
    if known is not None:
        return known
    cells = tuple(_Cell(cell).found for cell in function.__closure__ or ()) or None
    names = _Names(function)
    found = FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    found.__kwdefaults__ = function.__kwdefaults__
    found.__qualname__, found.__module__, found.__doc__ = function.__qualname__, function.__module__, function.__doc__
    remember(function, "__tightdp_floating__", found)
    return found


class _Cell:
    """A variable of an enclosing function as a floating function sees it."""

    def __init__(self, cell: CellType) -> None:
        try:
            self.found = CellType(as_run(cell.cell_contents))
        except ValueError:  # it is not assigned yet
            self.found = cell


def as_run(value: Any) -> Any:
    """What a floating function sees of a value that stands outside."""
    if value is random.random:
        return double
    if isinstance(value, ModuleType):
        return _Module(value)
    if isinstance(value, FunctionType):
        return value if (value.__module__ or "").partition(".")[0] in NOT_OURS else floating(value)
    program = getattr(value, "program", None)
    return floating(program.function) if program is not None and hasattr(program, "raw") else value


class _Module:
    """A module whose members are as they run."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return as_run(getattr(self._module, name))


class _Names(dict[str, Any]):
    """The global names of a floating function."""

    def __init__(self, function: FunctionType) -> None:
        self["__builtins__"] = function.__globals__.get("__builtins__", __builtins__)
        self._names = function.__globals__

    def __missing__(self, name: str) -> Any:
        return as_run(self._names[name])
