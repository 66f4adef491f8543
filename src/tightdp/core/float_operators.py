"""Operations of doubles: of Python, of `math` and of numpy, as the machine computes them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

from tightdp.exact.field import exp
from tightdp.exact.lazily import lazily
from tightdp.exact.weights import as_exact

np: Any = lazily("numpy")
Value: TypeAlias = Any

IN_DOUBLES: dict[str, Callable[..., Value]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "exp": math.exp,
}  # fmt: skip
"""Arithmetic that is another one on doubles, or gives one."""


@lru_cache(4096)
def of_doubles(name: str) -> Callable[..., Value]:
    """Return a function of doubles: of Python (float), of `math`, or of numpy, on elements of some types."""
    library, function, *kinds = name.split()
    if library == "float":
        return _defined(IN_DOUBLES[function])
    if library == "rounded":
        return lambda value: float(exp(as_exact(value)))
    if library == "math":
        return _defined(getattr(math, function))
    if library == "line":
        return _defined(lambda *line: getattr(np, function)(np.array(line, dtype=float)).item())
    assert library == "numpy"
    ufunc, types = getattr(np, function), [None if kind in "BIF" else np.dtype(kind).type for kind in kinds[0]]

    def computed(*values: Value) -> Value:
        if "div" in function and isinstance(values[1], float) and not values[1]:
            raise ZeroDivisionError("division by zero, whose sign is not known")
        with np.errstate(all="ignore"):
            given = [value if kind is None else kind(value) for value, kind in zip(values, types, strict=True)]
            return ufunc(*given).item()

    return _defined(computed)


def _defined(function: Callable[..., Value]) -> Callable[..., Value]:
    """Return a function that refuses to give what is no number."""

    def defined(*values: Value) -> Value:
        value = function(*values)
        if value != value or isinstance(value, complex):
            raise ValueError("the result is not a number (nan)")
        return value

    return defined
