"""Reading the numbers that queries are asked with; every error names the argument."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tightdp.errors import ParameterError
from tightdp.exact.rationals import as_fraction, as_parameter

__all__ = ["read_count", "read_exponential", "read_number", "read_optional", "read_seconds"]


def read_number(name: str, value: Any, most: int | None = None, least: int = 0) -> Fraction:
    """Return a rational argument between `least` and `most`."""
    try:
        number = as_fraction(value)
    except ParameterError as error:
        raise ParameterError(f"{name} is {value!r}, which is not a rational number", error.hint) from None
    if number < least or (most is not None and number > most):
        limits = f"of at least {least}" if most is None else f"between {least} and {most}"
        raise ParameterError(f"{name} is {number}", f"give a rational {limits}")
    return number


def read_optional(name: str, value: Any, most: int | None = None) -> Fraction | None:
    """Return a rational argument that may be left out."""
    return None if value is None else read_number(name, value, most)


def read_count(name: str, value: Any, least: int = 1) -> int:
    """Return an integer argument of at least `least`."""
    number = None if isinstance(value, bool) else as_parameter(value)
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        raise ParameterError(f"{name} is {value!r}", f"give an integer of at least {least}")
    return number


def read_seconds(name: str, value: Any) -> float | None:
    """Return a number of seconds, None for no limit."""
    return None if value is None else float(read_number(name, value))


def read_exponential(exp_epsilon: Any, epsilon: Any, least: int) -> tuple[Fraction | None, Fraction | None]:
    """Return (e^ε, None) or (None, ε), whichever was given; e^0 is 1."""
    if (exp_epsilon is None) == (epsilon is None):
        raise ParameterError(
            "give either exp_epsilon or epsilon", "exp_epsilon is e^ε, a rational; epsilon is ε itself"
        )
    if exp_epsilon is not None:
        return read_number("exp_epsilon", exp_epsilon, least=least), None
    exponent = read_number("epsilon", epsilon)
    return (None, exponent) if exponent else (Fraction(1), None)
