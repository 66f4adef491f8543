"""Numbers as people write them, read exactly.

A float stands for the shortest decimal that prints it: 0.2 is 1/5. Everything else is taken as written.
"""

from __future__ import annotations

import math
import numbers
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.errors import ParameterError

Number: TypeAlias = "int | Fraction | Decimal | float | str"
"""What is accepted where a rational is expected."""

Parameter: TypeAlias = Any
"""A public parameter: None, bool, int, Fraction, a word, a tuple of those, or a SymPy symbol."""

_EXPONENT = re.compile(r"[eE]([+-]?\d+)\s*$")
_LARGEST_EXPONENT = 4000
_HINT = 'write an int, "1/5", "0.2", a Fraction or a Decimal (a float is read as the decimal that prints it)'


def as_fraction(value: object) -> Fraction:
    """The rational that `value` stands for.

    Raises ParameterError for a bool, infinity, nan and anything that is not a number.
    """
    if isinstance(value, Fraction):
        return value
    fraction = None if isinstance(value, bool) else _read(value)
    if fraction is None:
        raise ParameterError(f"{value!r} is not a rational number", _HINT)
    return fraction


def as_whole(value: object) -> int | Fraction:
    """The rational that `value` stands for, as an int when it is whole."""
    fraction = as_fraction(value)
    return fraction.numerator if fraction.denominator == 1 else fraction


def as_int(value: object, name: str) -> int:
    """The integer that `value` stands for (False is 0, True is 1); `name` says in the error what it is."""
    if isinstance(value, int):
        return int(value)
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
        return tuple(as_value(item) for item in value)
    if hasattr(value, "tolist"):  # a NumPy array or bool
        return as_value(value.tolist())
    return _hashable(value)


def as_parameter(value: object) -> Parameter:
    """A public parameter in plain Python; a string that is a number is that number, others stay words.

    Whole rationals become ints. Raises ParameterError for what is neither a number, word, bool, None, SymPy
    symbol nor a tuple or list of those.
    """
    if isinstance(value, str):
        return _word_or_number(value)
    if isinstance(value, (list, tuple, range)):
        return tuple(as_parameter(item) for item in value)
    plain = as_value(value)
    if plain is None or isinstance(plain, (int, Fraction, tuple)) or getattr(plain, "is_Symbol", False):
        return plain
    raise ParameterError(f"{value!r} cannot be a parameter", "give an int, a rational, a word, or a tuple of those")


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


def _word_or_number(text: str) -> Parameter:
    if re.fullmatch(r"\s*[+-]?\d+/0+\s*", text):
        raise ParameterError(f"{text!r} divides by zero", _HINT)
    fraction = _from_text(text)
    if fraction is None:
        return text
    return as_whole(fraction)


def _read(value: object) -> Fraction | None:
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, float):
        return Fraction(float.__repr__(value)) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() and abs(value.adjusted()) <= _LARGEST_EXPONENT else None
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, numbers.Real):  # NumPy's narrow floats, SymPy's floats
        return _from_text(str(value))
    return None


def _from_text(text: str) -> Fraction | None:
    exponent = _EXPONENT.search(text)
    if exponent is not None and (len(exponent[1]) > 6 or abs(int(exponent[1])) > _LARGEST_EXPONENT):
        return None
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def _shown(value: object) -> str:
    return str(value) if isinstance(value, Fraction) else repr(value)


def _hashable(value: object) -> Parameter:
    try:
        hash(value)
    except TypeError:
        raise ParameterError(f"{value!r} cannot be hashed", "use ints, rationals, strings, None or tuples") from None
    return value
