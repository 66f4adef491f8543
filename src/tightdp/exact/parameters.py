"""Parameters and arguments as people write them: rationals, words, and expressions with exp(q)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import Any

from tightdp.errors import ParameterError
from tightdp.exact.expressions import as_number, parse
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.numbers import as_text, decimal_text
from tightdp.exact.rationals import RATIONAL_HINT, Parameter, as_fraction, as_value, as_whole, from_text

__all__ = ["Range", "as_parameter", "read_count", "read_exact", "read_exponential", "read_number", "read_optional"]

_EXP = re.compile(r"\bexp\s*\(")
_ARITHMETIC = re.compile(r"(?=.*\d)(?=.*[(*/+])(?:\d[eE]|[\d\s.()*/+-])+")
"""Numbers with at least one sign besides a minus: a text such as 1-2 stays a word."""
_LOGARITHM = re.compile(r"(?:math\.)?(?:log|ln)\s*\((.*)\)")
_RANGE = re.compile(r"\?\s*\[([^,\[\]]+),([^,\[\]]+)\]")


@dataclass(frozen=True)
class Range:
    """In place of a parameter: it is unknown, between two numbers, or over its natural range where they are None."""

    low: Number | None = None
    high: Number | None = None

    def __repr__(self) -> str:
        if self.low is None or self.high is None:
            return "?"
        return f"?[{as_text(self.low)}, {as_text(self.high)}]"


def as_parameter(value: object) -> Parameter:
    """A public parameter in plain Python; a string that is a number is that number, others stay words.

    "?" and SymPy symbols stand for an unknown. Whole rationals become ints. Raises ParameterError for what is neither a
    number, word, bool, None, SymPy symbol nor a tuple or list of those.
    """
    if isinstance(value, str):
        return _word_or_number(value)
    if isinstance(value, (list, tuple, range)):
        return tuple(as_parameter(item) for item in value)
    if isinstance(value, Range) or getattr(value, "is_Symbol", False):
        return value if isinstance(value, Range) else Range()
    plain = as_value(value)
    if plain is None or isinstance(plain, (int, Fraction, ExpNumber, tuple)):
        return plain
    raise ParameterError(f"{value!r} cannot be a parameter", "give an int, a rational, a word, or a tuple of those")


def read_number(name: str, value: Any, most: int | None = None, least: int = 0) -> Fraction:
    """Return a rational argument between `least` and `most`; it may be an expression that is rational."""
    number = read_exact(name, value, most, least)
    if isinstance(number, ExpNumber):
        raise ParameterError(f"{name} is {number}, which is irrational", f"give a rational near it, {_near(number)}")
    return number


def read_exact(name: str, value: Any, most: int | None = None, least: int = 0) -> Number:
    """Return an exact argument between `least` and `most`, which may be an expression with exp(q)."""
    try:
        number = as_number(value) if is_expression(value) else as_fraction(value)
    except ParameterError as error:
        what = f": {error.what}" if is_expression(value) else f" is {value!r}, which is not a rational number"
        raise ParameterError(f"{name}{what}", error.hint) from None
    if number < least or (most is not None and number > most):
        limits = f"of at least {least}" if most is None else f"between {least} and {most}"
        raise ParameterError(f"{name} is {number}", f"give a number {limits}")
    return number


def read_exponential(exp_epsilon: Any, epsilon: Any, least: int) -> tuple[Number | None, Fraction | None]:
    """Return (e^ε, None) or (None, ε), whichever was given; e^0 is 1."""
    if (exp_epsilon is None) == (epsilon is None):
        raise ParameterError("give either exp_epsilon or epsilon", "exp_epsilon is e^ε; epsilon is ε itself")
    if exp_epsilon is not None:
        return read_exact("exp_epsilon", exp_epsilon, least=least), None
    if isinstance(epsilon, str) and (logarithm := _LOGARITHM.fullmatch(epsilon.strip())) is not None:
        raise ParameterError(f"epsilon is {epsilon}, a logarithm", f"give e^ε itself: exp_epsilon={logarithm[1]}")
    exponent = read_number("epsilon", epsilon)
    return (None, exponent) if exponent else (Fraction(1), None)


def _near(number: ExpNumber) -> str:
    return f"such as the next larger decimal {decimal_text(number, 8, ROUND_CEILING)}"


def is_expression(value: Any) -> bool:
    """Whether a value is a number with e^q, of this package or of SymPy, or a text that computes one."""
    if not isinstance(value, str):
        return isinstance(value, ExpNumber) or hasattr(value, "free_symbols")
    if _EXP.search(value):
        return True
    return _ARITHMETIC.fullmatch(value) is not None and from_text(value) is None


def read_optional(name: str, value: Any, most: int | None = None) -> Number | None:
    """Return an exact argument that may be left out."""
    return None if value is None else read_exact(name, value, most)


def read_count(name: str, value: Any, least: int = 1) -> int:
    """Return an integer argument of at least `least`."""
    number = None if isinstance(value, bool) else as_parameter(value)
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        raise ParameterError(f"{name} is {value!r}", f"give an integer of at least {least}")
    return number


def _read_range(text: str) -> Range:
    """Return the range that "?", or "?[1/10, 1/2]", stands for."""
    if text == "?":
        return Range()
    found = _RANGE.fullmatch(text)
    hint = "write lam=? for its natural range, or a range as in lam=?[1/10,1/2]"
    if found is None:
        raise ParameterError(f"{text!r} is not an unknown", hint)
    low, high = (as_number(part.strip()) for part in found.groups())
    if low >= high:
        raise ParameterError(f"the range {text[1:]} is empty", f"give its lower end first: {hint}")
    return Range(low, high)


def _word_or_number(text: str) -> Parameter:
    if text.startswith("?"):
        return _read_range(text.strip())
    if re.fullmatch(r"\s*[+-]?\d+/0+\s*", text):
        raise ParameterError(f"{text!r} divides by zero", RATIONAL_HINT)
    fraction = from_text(text)
    if fraction is None:
        found = parse(text) if is_expression(text) else text
        return as_whole(found) if isinstance(found, Fraction) else found
    return as_whole(fraction)
