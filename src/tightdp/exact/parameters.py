"""Numbers as people write them, and as they are written for people: rationals, words, expressions with e^q, SymPy.

Text is parsed, never evaluated: the grammar is + - * / ** with parentheses over whole numbers, decimals taken as
written, and `exp` of a rational.
"""

from __future__ import annotations

import ast
import json
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tightdp.errors import ParameterError
from tightdp.exact.field import ExpNumber, Number, exp
from tightdp.exact.notation import FOR_PEOPLE
from tightdp.exact.numbers import as_text, decimal_text, written
from tightdp.exact.rationals import RATIONAL_HINT, Parameter, as_fraction, as_value, as_whole, from_text
from tightdp.limits.calibrated import MAX_DEGREE, MAX_EXPONENT

if TYPE_CHECKING:
    import sympy

_LONGEST = 2_000
_QUOTED = 60
_DEEPEST = 100
ARITHMETIC: Mapping[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
"""What the operators of Python's syntax do with exact numbers."""
_REMEDY = "write numbers, + - * / ** ( ) and exp of a rational, as in 1/(1 + exp(1/2))"


# writing


def pretty(value: Number) -> str:
    """Write a number for people: "1/3", "e^(1/2)", "(1 + 2e)/(2 + e)"."""
    return str(value) if isinstance(value, Fraction) else value.written(FOR_PEOPLE)


def to_sympy(value: Number) -> sympy.Expr:
    """Return a number as a SymPy expression."""
    import sympy

    return sympy.Rational(value.numerator, value.denominator) if isinstance(value, Fraction) else value.to_sympy()


# reading


def parse(expression: str, names: Mapping[str, Number] | None = None) -> Number:
    """Return the exact value of an expression such as "1/3", "0.2", "exp(-1/2)" or "1/(1 + exp(1))".

    `names` stand for their values. Raises ParameterError, which names the place, for anything outside the grammar, for
    a division by 0, for `exp` of a number that is not rational, and for results too long to write.
    """
    if len(expression) > _LONGEST:
        raise ParameterError(f"an expression of {len(expression):,} characters", f"give at most {_LONGEST:,}")
    source = expression.strip()
    try:
        tree = ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ParameterError(f"{_shown(expression)} is not an expression", _REMEDY) from None
    return Reader(source, names or {}).value(tree.body)


class Reader:
    """The expressions of one text. Where one is outside the grammar, `value` raises ParameterError."""

    def __init__(self, source: str, names: Mapping[str, Any]) -> None:
        self._source, self.names = source, names

    def value(self, node: ast.expr, depth: int = 0) -> Number:
        """Return the value of a part of the expression."""
        if depth > _DEEPEST:
            raise ParameterError("an expression is nested too deeply", f"nest at most {_DEEPEST} parts")
        match node:
            case ast.Constant() if type(node.value) in (int, float):
                return self.number(node)
            case ast.Name(id=name) if name in self.names:
                found: Number = self.names[name]
                return found
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand, depth + 1)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.value(operand, depth + 1)
            case ast.BinOp(left=left, op=operation, right=right):
                return self._combined(node, self.value(left, depth + 1), operation, self.value(right, depth + 1))
            case ast.Call(func=function, args=[argument], keywords=[]) if self.is_exp(function):
                return self._exp(node, self.value(argument, depth + 1))
        raise self._refused(node, "is not part of the grammar", _REMEDY)

    def number(self, node: ast.Constant) -> Fraction:
        return as_fraction(self._text(node).replace("_", ""))

    def _combined(self, node: ast.expr, left: Number, operation: ast.operator, right: Number) -> Number:
        if isinstance(operation, ast.Div) and not right:
            raise self._refused(node, "divides by 0", "divide by another number")
        if type(operation) in ARITHMETIC:
            return ARITHMETIC[type(operation)](left, right)
        if isinstance(operation, ast.Pow):
            return self._power(node, left, right)
        raise self._refused(node, "is not part of the grammar", _REMEDY)

    def _power(self, node: ast.expr, base: Number, power: Number) -> Number:
        if isinstance(power, ExpNumber):
            raise self._refused(node, "has a power that is not rational", "give a whole power")
        if power.denominator == 1:
            if not base and power < 0:
                raise self._refused(node, "divides by 0", "give a positive power")
            size = max(base.numerator.bit_length(), base.denominator.bit_length()) if isinstance(base, Fraction) else 1
            if abs(power) > MAX_EXPONENT or abs(power) * size > MAX_DEGREE:
                raise self._refused(node, "is out of reach", f"give a power of at most {MAX_EXPONENT:,}")
            return base ** int(power)
        if isinstance(base, Fraction):
            raise self._refused(node, "is a root", "give a whole power, or a power of exp(q)")
        return base**power

    def _exp(self, node: ast.expr, exponent: Number) -> Number:
        if isinstance(exponent, ExpNumber) and not exponent.unknown:
            raise self._refused(node, "is exp of a number that is not rational", "give exp a rational number")
        return exp(exponent)

    def is_exp(self, function: ast.expr) -> bool:
        return self._text(function) in ("exp", "math.exp")

    def _text(self, node: ast.expr) -> str:
        return (ast.get_source_segment(self._source, node) if self._source else ast.unparse(node)) or ""

    def _refused(self, node: ast.expr, what: str, remedy: str) -> ParameterError:
        place = f" at column {node.col_offset + 1}" if node.col_offset else ""
        return ParameterError(f"{_shown(self._text(node))}{place} {what}", remedy)


def as_number(value: object) -> Number:
    """Return the exact number that a value stands for: a rational, text with exp, or a SymPy expression.

    Raises ParameterError for everything else.
    """
    if isinstance(value, ExpNumber):
        return value
    if isinstance(value, str):
        return parse(value)
    if hasattr(value, "free_symbols") and not getattr(value, "is_Float", False):
        return from_sympy(value)
    return as_fraction(value)


def _shown(written: str) -> str:
    return repr(written if len(written) <= _QUOTED else f"{written[:_QUOTED]}…")


def from_sympy(expression: sympy.Expr) -> Number:
    """Return the exact value of a SymPy expression of rationals, E and exp(q) under + - * / **.

    Raises ParameterError for any other expression.
    """
    import sympy

    def value(part: Any) -> Number:
        if isinstance(part, sympy.Rational):
            return Fraction(int(part.p), int(part.q))
        if part is sympy.E:
            return exp(1)
        if isinstance(part, sympy.exp):
            return exp(value(part.args[0]))
        if isinstance(part, sympy.Pow):
            base, power = map(value, part.args)
            if isinstance(base, ExpNumber) and isinstance(power, Fraction):
                return base**power
            if isinstance(base, Fraction) and isinstance(power, Fraction) and power.denominator == 1:
                return base**power.numerator
        if isinstance(part, (sympy.Add, sympy.Mul)):
            found: Number = Fraction(int(isinstance(part, sympy.Mul)))
            for operand in part.args:
                found = found + value(operand) if isinstance(part, sympy.Add) else found * value(operand)
            return found
        raise ParameterError(f"{part} is not a number of rationals and exp(q)", _REMEDY)

    return value(sympy.sympify(expression))


_EXP = re.compile(r"\bexp\s*\(")
_ARITHMETIC = re.compile(r"(?=.*\d)(?=.*[(*/+])(?:\d[eE]|[\d\s.()*/+-])+")
"""Numbers with at least one sign besides a minus: a text such as 1-2 stays a word."""
_LOGARITHM = re.compile(r"(?:math\.)?(?:log|ln)\s*\((.*)\)")
_CHOICES = re.compile(r"\?\{(.*)\}")
_BETWEEN = re.compile(r",(?![^\[]*\])")
"""A comma that stands in no array."""
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

    __str__ = __repr__


@dataclass(frozen=True)
class Choices:
    """In place of a parameter: it is one of these values, and which one is still to be chosen."""

    values: tuple[Parameter, ...]

    def __repr__(self) -> str:
        return f"?{{{', '.join(written(value, quoted=False) for value in self.values)}}}"

    __str__ = __repr__


def as_parameter(value: object) -> Parameter:
    """A public parameter in plain Python; a string that is a number is that number, others stay words.

    "?" and SymPy symbols stand for an unknown, "?{1, 2}" for one of several values. Whole rationals become ints. Raises
    ParameterError for what is neither a number, word, bool, None, SymPy symbol nor a tuple or list of those.
    """
    if isinstance(value, str):
        return _word_or_number(value)
    if isinstance(value, (list, tuple, range)):
        return tuple(as_parameter(item) for item in value)
    if isinstance(value, (Range, Choices)) or getattr(value, "is_Symbol", False):
        return value if isinstance(value, (Range, Choices)) else Range()
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


def read_choices(text: str) -> Choices:
    """Return what "?{first, last}" stands for. Raises ParameterError where there are not several values."""
    hint = "write the values between braces, as in order=?{first,last} or k=?{1,2,3}"
    found = _CHOICES.fullmatch(text)
    if found is None:
        raise ParameterError(f"{text!r} is not a choice", hint)
    values = tuple(dict.fromkeys(_choice(part.strip(), hint) for part in _BETWEEN.split(found[1]) if part.strip()))
    if len(values) < 2 or any(isinstance(value, (Range, Choices)) for value in values):
        raise ParameterError(f"{text!r} is not a choice between several values", hint)
    return Choices(values)


def _choice(text: str, hint: str) -> Parameter:
    """Return one of several values: a number, a word, also in quotes, true, false, null, or an array."""
    if text[0] not in '["tfn':
        return as_parameter(text)
    try:
        found = json.loads(text, parse_float=str)
    except ValueError:  # not only what is no JSON: integers of more digits than Python reads, too
        if text[0] == "[":
            raise ParameterError(f"{text!r} is not an array", hint) from None
        found = text
    return as_parameter(found)


def _word_or_number(text: str) -> Parameter:
    if text.startswith("?{"):
        return read_choices(text.strip())
    if text.startswith("?"):
        return _read_range(text.strip())
    if re.fullmatch(r"\s*[+-]?\d+/0+\s*", text):
        raise ParameterError(f"{text!r} divides by zero", RATIONAL_HINT)
    fraction = from_text(text)
    if fraction is None:
        found = parse(text) if is_expression(text) else text
        return as_whole(found) if isinstance(found, Fraction) else found
    return as_whole(fraction)
