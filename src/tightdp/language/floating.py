"""Functions as they run, in doubles, but that `random()` is drawn from the source of randomness in place."""

from __future__ import annotations

from contextlib import suppress
from types import CellType, CodeType, FunctionType
from typing import Any

from tightdp.errors import LanguageError
from tightdp.language import primitives, rounds
from tightdp.language.classes import IMPORTED, Outside, imported, once
from tightdp.language.exactness import recompiled
from tightdp.language.source import AnyFunction, is_foreign, is_ours, remember, remembered
from tightdp.language.stand_ins import stand_in


def floating(function: AnyFunction, own: CellType | None = None) -> AnyFunction:
    """The same function, in which generators draw from the source in place; so do the functions that it calls.

    Of a method, `own` holds the class.
    """
    if not isinstance(function, FunctionType) or function.__module__ == primitives.__name__:
        return function
    known: FunctionType | None = remembered(function, "__tightdp_floating__")
    if known is not None:
        return known
    free = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    cells = tuple(own if own is not None and name == "__class__" else _as_cell(cell) for name, cell in free)
    names = _Names(function)
    found = _OUTSIDE.function(function, _telling(function), names, cells or None)
    if not cells:
        remember(function, "__tightdp_floating__", found)
    return found


def _telling(function: FunctionType) -> CodeType:
    """Return the code of a function, whose loops tell of their rounds if it stands on its own."""
    if not function.__code__.co_freevars:
        with suppress(LanguageError):
            return recompiled(function, lambda node: node)
    return function.__code__


def _as_cell(cell: CellType) -> CellType:
    """A variable of an enclosing function as a floating function sees it."""
    try:
        return CellType(as_run(cell.cell_contents))
    except ValueError:  # it is not assigned yet
        return cell


def as_run(value: Any) -> Any:
    """What a floating function sees of a value that stands outside."""
    value = stand_in(value)
    if type(value).__module__ == "numpy" and hasattr(value, "flags") and getattr(value, "shape", None):
        return once(value, value.copy)
    if isinstance(value, FunctionType):
        return value if is_foreign(value) or is_ours(value) else floating(value)
    program = getattr(value, "program", None)
    if program is not None and hasattr(program, "raw"):
        return floating(program.function)
    return _OUTSIDE.seen(value)


_OUTSIDE = Outside(as_run, floating)


class _Names(dict[str, Any]):
    """The global names of a floating function."""

    def __init__(self, function: FunctionType) -> None:
        self["__builtins__"] = function.__globals__.get("__builtins__", __builtins__)
        self[IMPORTED] = lambda *given: as_run(imported(*given))
        self.update(rounds.NAMES)
        self._names = function.__globals__

    def __missing__(self, name: str) -> Any:
        return as_run(self._names[name])
