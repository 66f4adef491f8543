"""What stands for a generator, wherever it is made, kept or passed on."""

from __future__ import annotations

import random
import secrets
import sys
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

from tightdp.errors import LanguageError
from tightdp.exact.lazily import lazily
from tightdp.language.generators import Random, SystemRandom, maker, randbelow, standing

of_numpy: Any = lazily("tightdp.language.generators_numpy")
_NUMPY = ("numpy", "_pcg64", "_mt19937")
_PYTHON: dict[type, type] = {random.Random: Random, random.SystemRandom: SystemRandom}


def stand_in(value: Any) -> Any:
    """What stands for a generator, a method of one, or what makes one, and for compiled functions; else the value.

    Raises LanguageError where a generator is made from a seed.
    """
    if isinstance(plain := getattr(value, "py_func", None), FunctionType):
        return plain  # what numba compiles
    if isinstance(value, (MethodType, BuiltinMethodType)) and not isinstance(value.__self__, type):
        owner = stand_in(value.__self__)
        return value if owner is value.__self__ else method_of(owner, value.__name__)
    if type(value) in _PYTHON:
        return standing(value, _PYTHON[type(value)])
    if isinstance(value, type) and value in _PYTHON:
        return maker(_PYTHON[value])
    if value is secrets.randbelow:
        return randbelow
    home = getattr(value, "__module__", None) or type(value).__module__
    if "numpy" in sys.modules and home.partition(".")[0] in _NUMPY:
        return of_numpy.stand_in(value)
    return value


def method_of(owner: Any, name: str) -> Any:
    """Return a method of what stands for a generator. Raises LanguageError where it has none of that name."""
    found = getattr(owner, name, None)
    if found is None or name.startswith("_"):
        kind = owner.stands_for
        known = ", ".join(each for each in dir(type(owner)) if not each.startswith("_") and each != "stands_for")
        raise LanguageError(f"{name} of {kind.__module__}.{kind.__name__} is not in the language", f"there are {known}")
    return found
