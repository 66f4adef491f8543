"""Numbers as people write them, read exactly.

A float stands for the shortest decimal that prints it: 0.2 is 1/5. Everything else is taken as written.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, wraps
from typing import Any, NoReturn, TypeAlias

from tightdp.errors import ParameterError

Number: TypeAlias = "int | Fraction | Decimal | float | str"
"""What is accepted where a rational is expected."""

Parameter: TypeAlias = Any
"""A public parameter: None, bool, int, Fraction, str, a tuple of those, or a SymPy symbol."""


class Symbolic:
    """A number that is not known yet, such as a draw of which only comparisons are decided."""

    __slots__ = ()

    def as_integer(self, name: str) -> Any:
        """The number where it is an integer whatever it is; raises an error of its own elsewhere."""
        raise NotImplementedError

    def is_whole(self) -> bool:
        """Whether its type is int, and not float; raises an error of its own where that is not known."""
        raise NotImplementedError

    def flipped(self) -> bool:
        """What a coin with this probability shows; raises an error of its own where that is not known."""
        raise NotImplementedError

    def drawn_from(self, low: int, /) -> Any:
        """An integer from `low` to this number, each with the same probability; raises an error of its own."""
        raise NotImplementedError

    def refused(self) -> Any:
        """What is asked of it is not known: raises an error of its own."""
        raise NotImplementedError

    def stop(self, error: Exception) -> NoReturn:
        """Raises an error that ends the run, whatever the program catches."""
        raise NotImplementedError


@lru_cache(256)
def refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a library to which it is refused to give numbers that are not known yet.

    Where it takes them to be no numbers, Python, which has floats there, raises nothing.
    """

    def refuse(value: Any) -> None:
        if isinstance(value, Symbolic):
            value.refused()
        inside = [*value, *value.values()] if isinstance(value, dict) else value
        for item in inside if isinstance(inside, (list, tuple, set, frozenset)) else ():
            refuse(item)

    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except (TypeError, AttributeError):
            refuse((arguments, keywords))
            raise

    return call


_EXPONENT = re.compile(r"[eE]([+-]?\d+)\s*$")
_MANTISSA = re.compile(r"\s*[+-]?(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)")
_LARGEST_EXPONENT = 4000
RATIONAL_HINT = 'write an int, "1/5", "0.2", a Fraction or a Decimal (a float is read as the decimal that prints it)'


def as_fraction(value: object) -> Fraction:
    """The rational that `value` stands for.

    Raises ParameterError for a bool, infinity, nan and anything that is not a number.
    """
    if isinstance(value, Fraction):
        return value
    fraction = None if isinstance(value, bool) else _read(value)
    if fraction is None and isinstance(value, (str, Decimal)) and _is_extreme(str(value)):
        what = f"{value!r} has an exponent beyond {_LARGEST_EXPONENT:,}"
        raise ParameterError(what, 'write a quotient of ints, as in "1/5" or Fraction(1, 10**5000)')
    if isinstance(value, Symbolic):
        value.refused()
    if fraction is None:
        raise ParameterError(f"{value!r} is not a rational number", RATIONAL_HINT)
    return fraction


def as_whole(value: object) -> int | Fraction:
    """The rational that `value` stands for, as an int when it is whole."""
    fraction = as_fraction(value)
    return fraction.numerator if fraction.denominator == 1 else fraction


def as_int(value: object, name: str) -> int:
    """The integer that `value` stands for (False is 0, True is 1); `name` says in the error what it is."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Symbolic):
        return value.as_integer(name)  # type: ignore[no-any-return]
    fraction = None if isinstance(value, str) else _read(value)
    if fraction is None or fraction.denominator != 1:
        raise ParameterError(f"{name} is {_shown(value)}, which is not an integer", "give an int")
    return fraction.numerator


def as_value(value: object) -> Parameter:
    """`value` in plain Python: exact numbers, tuples instead of lists and arrays; strings stay as they are.

    Raises ParameterError for infinities, nan, and objects that cannot be hashed.
    """
    if value is None or isinstance(value, (bool, str)) or type(value) is int:
        return value
    if isinstance(value, (numbers.Number, Decimal)):
        return as_whole(value)
    if isinstance(value, (list, tuple, range)):
        made = getattr(type(value), "_make", tuple)  # a named tuple keeps its names
        return made(as_value(item) for item in value)
    if hasattr(value, "tolist"):  # a NumPy array or bool
        return as_value(value.tolist())
    return _hashable(value)


def _read(value: object) -> Fraction | None:
    if isinstance(value, str):
        return from_text(value)
    if isinstance(value, float):
        return Fraction(float.__repr__(value)) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() and abs(value.adjusted()) <= _LARGEST_EXPONENT else None
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, numbers.Real):  # NumPy's narrow floats, SymPy's floats
        return from_text(str(value))
    return None


def from_text(text: str) -> Fraction | None:
    """Return the rational that a text is, None where it is none."""
    if _is_extreme(text):
        return None
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def _is_extreme(text: str) -> bool:
    """Whether a text is a number with an exponent so large that it is not written out."""
    exponent = _EXPONENT.search(text)
    if exponent is None or (len(exponent[1]) <= 6 and abs(int(exponent[1])) <= _LARGEST_EXPONENT):
        return False
    return _MANTISSA.fullmatch(text[: exponent.start()]) is not None


def _shown(value: object) -> str:
    return str(value) if isinstance(value, Fraction) else repr(value)


def _hashable(value: object) -> Parameter:
    try:
        hash(value)
    except TypeError:
        raise ParameterError(f"{value!r} cannot be hashed", "use ints, rationals, strings, None or tuples") from None
    return value
