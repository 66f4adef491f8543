"""Numbers as the machine has them: `random()` of Python and NumPy as it runs, and floats that are returned."""

from __future__ import annotations

import math
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

from tightdp.errors import ParameterError
from tightdp.exact.field import ExpNumber
from tightdp.exact.numbers import OfDouble

BITS: ContextVar[int] = ContextVar("tightdp_bits", default=0)
"""How many bits `random()` has in the run at hand; 0 where numbers mean what is written."""
MOST_BITS = 53


def as_bits(floats: Any) -> int:
    """The argument `floats`: False is 0, True 53 bits. Raises ParameterError unless it is one of these, or 1 to 53."""
    if floats is False or floats is True:
        return MOST_BITS * floats
    if not isinstance(floats, int) or not 0 <= floats <= MOST_BITS:
        raise ParameterError(f"floats is {floats!r}", f"give True, or how many bits random() has, 1 to {MOST_BITS}")
    return floats


def are_doubles(*arrays: Any) -> bool:
    """Whether numbers are doubles, and some of these arrays have such; the compiler knows."""
    return False


def by_numpy(function: Any, *arguments: Any) -> Any:
    """What a function of numpy computes in doubles, which the compiler asks for all that it may be given."""
    return function(*arguments)


def as_double(value: Any) -> Any:
    """A parameter or a record as code has it that knows no exact numbers: what is no integer is a float."""
    if isinstance(value, (Fraction, ExpNumber)):
        return float(value)
    return tuple(map(as_double, value)) if isinstance(value, tuple) else value


def as_exact_output(value: float) -> Any:
    """A float that is returned: the rational that it is; an infinity in words."""
    if math.isnan(value):
        raise TypeError("the float nan")
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return int(value) if value.is_integer() else OfDouble(value)
