"""Mechanisms on their way to other processes: by name where they can import its module, else by value.

By value a mechanism takes along its function, as cloudpickle (which Dask brings) writes it, and the text of the files
that its module's functions stand in: that is what the compiler reads.
"""

from __future__ import annotations

import linecache
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import reduce
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec
from types import CodeType, FunctionType
from typing import Any, TypeAlias

Place: TypeAlias = tuple[str, int]
"""The qualified name of a function, and its first line."""
Program: TypeAlias = Any
"""`tightdp.language.program.Program`, which is made of `_PARTS`."""
_PARTS = ("function", "record", "target", "neighbours", "name", "documentation", "strategy", "floats", "counts")
_sending: ContextVar[tuple[int, ...]] = ContextVar("tightdp_sending", default=())


def reduced(program: Program) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return what pickle writes of a program: a function that finds or makes it again, and its arguments.

    Raises PicklingError where it is neither at the top level of a module nor cloudpickle installed.
    """
    if (again := getattr(program.function, "__tightdp_again__", None)) is not None:
        make, given = again
        return make, (*given[:-1], program.floats)
    module, name = program.function.__module__, program.function.__qualname__
    found = owner_of(program)
    if found is not None and (module != "__main__" and _importable(module)):
        return program_named, (module, name, program.floats, program.counts)
    if find_spec("cloudpickle") is not None:
        return program_sent, (_written(program), _sources(program.function), _files(program.function))
    if found is not None and module == "__main__":
        return program_named, (module, name, program.floats, program.counts)
    raise pickle.PicklingError(
        f"{name} cannot be found by other processes: define it at the top level of a module, or install cloudpickle"
    )


def owner_of(program: Program) -> Any:
    """Return the mechanism that stands in its module under the name of its function, None where another one does."""
    try:
        found = _at(program.function.__module__, program.function.__qualname__)
    except (AttributeError, KeyError):
        return None
    own = getattr(found, "program", None)
    if own is not None and own is not program and (program.floats or program.counts):  # one of its own
        same = all(getattr(own, part) == getattr(program, part) for part in _PARTS[:-2])
        return found if same else None
    return found if own is program else None


def program_named(module: str, name: str, floats: int = 0, counts: tuple[str, ...] = ()) -> Program:
    """Return the program of the mechanism that stands in a module under a name, in doubles or with counts if asked."""
    import_module(module)
    found = _at(module, name).program
    asked = {"floats": floats, "counts": counts}
    return found if (found.floats, found.counts) == (floats, counts) else replace(found, **asked)


def program_sent(written: bytes, sources: Mapping[str, list[str]], files: Mapping[Place, str]) -> Program:
    """Return a program from what was written of it, with the text of its files and the places of its functions."""
    for file, lines in sources.items():
        linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
    kind, parts = pickle.loads(written)
    for function in _functions(parts[0]):  # cloudpickle may leave out in which file a function stands
        place = _place(function)
        if place in files:
            function.__code__ = _standing_in(function.__code__, files[place])
    return kind(*parts)


def _standing_in(code: CodeType, file: str) -> CodeType:
    inner = (_standing_in(each, file) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=file, co_consts=tuple(inner))


def _at(module: str, name: str) -> Any:
    return reduce(getattr, name.split("."), sys.modules[module])


def _importable(module: str) -> bool:
    """Whether another process would find the module on the same path."""
    return PathFinder.find_spec(module.partition(".")[0]) is not None


def _written(program: Program) -> bytes:
    parts = tuple(getattr(program, name) for name in _PARTS)
    with _not_twice(program):
        found: bytes = import_module("cloudpickle").dumps((type(program), parts))
        return found


@contextmanager
def _not_twice(program: Program) -> Iterator[None]:
    if id(program) in _sending.get():
        raise pickle.PicklingError(f"{program.name} refers to itself: define it in a module that others can import")
    token = _sending.set((*_sending.get(), id(program)))
    try:
        yield
    finally:
        _sending.reset(token)


def _sources(function: FunctionType) -> dict[str, list[str]]:
    """Return the text of all files that functions of the same module stand in: cells of a notebook are several."""
    files = sorted(set(_files(function).values()))
    texts = {file: linecache.getlines(file, function.__globals__) for file in files}
    return {file: lines for file, lines in texts.items() if lines}


def _files(function: FunctionType) -> dict[Place, str]:
    return {_place(each): each.__code__.co_filename for each in _functions(function)}


def _place(function: FunctionType) -> Place:
    return function.__qualname__, function.__code__.co_firstlineno


def _functions(function: FunctionType) -> list[FunctionType]:
    """Return a function, and those of the same module that it can name."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    named = (getattr(each, "__wrapped__", each) for each in (*function.__globals__.values(), *cells))
    same = (each for each in named if isinstance(each, FunctionType) and each.__module__ == function.__module__)
    return [function, *same]


class Remembered:
    """What was stored on a function, and which function that was; it stays where it is when the function travels."""

    def __init__(self, owner: FunctionType | None = None, value: Any = None) -> None:
        self.owner, self.value = owner, value

    def __reduce__(self) -> tuple[type[Remembered], tuple[()]]:
        return Remembered, ()
