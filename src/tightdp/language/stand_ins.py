"""What stands for a generator, wherever it is made, kept or passed on; and randomness that nothing stands for.

What a run draws, and the source of randomness in place does not see, would make runs mean nothing.
"""

from __future__ import annotations

import random
import secrets
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

from tightdp.errors import LanguageError
from tightdp.exact.lazily import lazily
from tightdp.language.generators import Random, SystemRandom, maker, randbelow, standing
from tightdp.language.primitives import stop

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
        what = f"{name} of {kind.__module__}.{kind.__name__} is not in the language"
        stop(LanguageError(what, f"there are {known}"))
    return found


_WHAT = "a run draws randomness in a way that is not known"
_HINT = "draw with the generators of random, secrets or numpy in code that is read, or with the primitives of tightdp"


def states() -> tuple[Any, ...]:
    """The states of the generators that Python and numpy have for all."""
    numpy = sys.modules.get("numpy")
    _, key, *rest = (None, None) if numpy is None else numpy.random.get_state()
    return random.getstate(), None if key is None else key.tobytes(), *rest


def refuse_changes(before: tuple[Any, ...]) -> None:
    """Raise LanguageError where one of these generators has been used since."""
    if states() != before:
        raise LanguageError(_WHAT, _HINT)


@contextmanager
def without_entropy() -> Iterator[None]:
    """Let new generators, and those of the operating system, raise LanguageError in the block, in this thread."""
    here, before = threading.get_ident(), random._urandom  # type: ignore[attr-defined]

    def urandom(size: int) -> bytes:
        if threading.get_ident() == here:
            stop(LanguageError(_WHAT, _HINT))
        found: bytes = before(size)
        return found

    random._urandom = urandom  # type: ignore[attr-defined]
    try:
        yield
    finally:
        random._urandom = before  # type: ignore[attr-defined]
