"""The scalar operations of the core language on exact Python values, and numbers beyond all others.

The value of an operation is whatever Python gives for exact operands: `/` of two integers is a fraction, a power
with a negative exponent too. An operation that Python refuses (division by zero, `None + 1`) raises here as well,
and the caller turns that into an obligation.

A number beyond all others stands for the far end of noise on all integers. It is a combination of a few infinite ones,
each infinitely larger than those before it, and a finite rest. Sums, multiples and comparisons are what they are in
that ordered vector space. Everything else that Python does with a number is done with one very large integer in place
of the infinite ones: a value that the noise really can take.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import total_ordering, wraps
from typing import Any, TypeAlias

from tightdp.core.between import Between, Operand, asked
from tightdp.core.float_operators import of_doubles
from tightdp.errors import ParameterError
from tightdp.exact.field import ExpNumber, Number, exp
from tightdp.exact.weights import NUMBERS, as_exact
from tightdp.language.doubles import as_double, as_exact_output
from tightdp.language.tails import BEYOND, GaussianTail, Tail

LARGE = 1 << 60
_SURELY_LARGE = 1 << 40
"""A result that is larger came from such a number: quotients of the large integer, say."""


@total_ordering
class Far:
    """An infinite number: `parts` are (rank, coefficient), the highest rank first, and `rest` is what is added.

    An infinite number of higher rank is infinitely larger than one of lower rank.
    """

    __slots__ = ("parts", "rest")

    def __init__(self, parts: tuple[tuple[int, int | Number], ...], rest: int | Number = 0) -> None:
        self.parts, self.rest = parts, rest

    def __repr__(self) -> str:
        return str(self.stand_in())

    def __format__(self, spec: str) -> str:
        return format(self.stand_in(), spec)

    def stand_in(self) -> Operand:
        """Return a very large number that this one may stand for."""
        number = sum(coefficient * LARGE for _, coefficient in self.parts) + self.rest
        return number.numerator if isinstance(number, Fraction) and number.denominator == 1 else number

    def in_order(self) -> Operand:
        """Return a number that is to others of this kind, and to all that are not very large, as this one is."""
        return sum((coefficient * LARGE ** (rank + 1) for rank, coefficient in self.parts), start=self.rest)

    @property
    def sign(self) -> int:
        """1 or -1."""
        return 1 if self.parts[0][1] > 0 else -1

    # order

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Far) and self.parts == other.parts and self.rest == other.rest

    def __hash__(self) -> int:
        return hash((self.parts, self.rest))

    def __lt__(self, other: Operand) -> bool:
        difference = self - other
        return bool((difference.sign if isinstance(difference, Far) else difference) < 0)

    # the vector space

    def __add__(self, other: Operand) -> Operand:
        if not isinstance(other, Far):
            return Far(self.parts, self.rest + other)
        found = dict(self.parts)
        for rank, coefficient in other.parts:
            found[rank] = found.get(rank, 0) + coefficient
        parts = tuple((rank, found[rank]) for rank in sorted(found, reverse=True) if found[rank])
        return Far(parts, self.rest + other.rest) if parts else self.rest + other.rest

    __radd__ = __add__

    def __neg__(self) -> Far:
        return Far(tuple((rank, -coefficient) for rank, coefficient in self.parts), -self.rest)

    def __pos__(self) -> Far:
        return self

    def __sub__(self, other: Operand) -> Operand:
        return self + -other

    def __rsub__(self, other: Operand) -> Operand:
        return -self + other

    def __abs__(self) -> Far:
        return -self if self.sign < 0 else self

    def __mul__(self, other: Operand) -> Operand:
        if isinstance(other, Far):
            return _large(self.stand_in() * other.stand_in())
        if not other:
            return 0
        return Far(tuple((rank, coefficient * other) for rank, coefficient in self.parts), self.rest * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Operand:
        if isinstance(other, Far):
            return _large(as_exact(self.stand_in()) / other.stand_in())
        return self * (1 / as_exact(other))

    def __rtruediv__(self, other: Operand) -> Operand:
        return _large(other / as_exact(self.stand_in()))

    # the rest of Python's numbers

    def __floor__(self) -> Operand:
        return self._rounded(math.floor)

    def __ceil__(self) -> Operand:
        return self._rounded(math.ceil)

    def __trunc__(self) -> Operand:
        return self._rounded(math.floor if self.sign > 0 else math.ceil)

    def __round__(self, *digits: int) -> Operand:
        return self._rounded(lambda number: round(number, *digits), exact=not digits)

    def _rounded(self, function: Callable[[Operand], Operand], exact: bool = True) -> Operand:
        """Return what rounds this number: only the rest of it, where it is an integer otherwise."""
        if exact and not any(isinstance(c, ExpNumber) or Fraction(c).denominator > 1 for _, c in self.parts):
            return Far(self.parts, function(self.rest))
        return _large(function(self.stand_in()))


def _large(number: Operand) -> Operand:
    """Return a number, as one beyond all others where it is that large."""
    if not isinstance(number, (int, Fraction)) or -_SURELY_LARGE < number < _SURELY_LARGE:
        return number
    return Far(((0, Fraction(number, LARGE)),))


def in_place_of_far(function: Callable[..., Operand]) -> Callable[..., Operand]:
    """Make a function take a very large integer wherever it is given a number beyond all others."""

    @wraps(function)
    def on_all(*values: Operand) -> Operand:
        if any(type(value) is Far for value in values):
            return _large(function(*(value.stand_in() if isinstance(value, Far) else value for value in values)))
        return function(*values)

    return on_all


for _name in ("floordiv", "mod", "pow", "and", "or", "xor", "rshift", "lshift"):
    _operation = in_place_of_far(getattr(operator, f"__{_name}__"))
    setattr(Far, f"__{_name}__", _operation)
    setattr(Far, f"__r{_name}__", lambda self, other, _operation=_operation: _operation(other, self))


Value: TypeAlias = Any
"""A value of a node: a number, a string, None, or a tuple of those."""


class _Nothing:
    """What stands for a value that is not needed, cannot be told, or that an operation refuses to compute."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Value = _Nothing()

PLAIN_NUMBERS = (*NUMBERS, Far)
"""The types of numbers of which all is known."""
_NUMBERS = (*PLAIN_NUMBERS, Between)

REFUSED = (ArithmeticError, TypeError, ValueError)
"""What an operation raises where Python refuses its operands."""


def is_number(value: object) -> bool:
    """Whether a value takes part in arithmetic (bools are the integers 0 and 1, as in Python)."""
    return isinstance(value, _NUMBERS)


def _compared(name: str) -> Callable[[Value, Value], bool]:
    on_plain = getattr(operator, name)

    def compare(left: Value, right: Value) -> bool:
        if type(left) is Between or type(right) is Between:
            return asked(name, left, right)
        return on_plain(left, right)  # type: ignore[no-any-return]

    return compare


def _of_several(function: Callable[..., Value]) -> Callable[..., Value]:
    """Make a function that is built on order and equality refuse numbers of which only a cell is known."""

    @wraps(function)
    def on_plain(*values: Value) -> Value:
        for value in values:
            for each in value if isinstance(value, tuple) else (value,):
                if type(each) is Between:
                    raise each.uncut()
        return function(*values)

    return on_plain


def _divide(left: Value, right: Value) -> Value:
    if not (is_number(left) and is_number(right)):
        raise TypeError(f"cannot divide {left!r} by {right!r}")
    if isinstance(left, (Far, Between)) or isinstance(right, (Far, Between)):
        return left / right
    divisor = as_exact(right)
    if not divisor:  # asked also where it is a function of the unknown, which may be 0 at a point
        raise ZeroDivisionError("division by zero")
    return as_exact(left) / divisor


def _power(base: Value, exponent: Value) -> Value:
    if not (is_number(base) and is_number(exponent)):
        raise TypeError(f"cannot raise {base!r} to the power {exponent!r}")
    if isinstance(base, (Far, Between)) or isinstance(exponent, Between):
        return base**exponent
    if isinstance(base, ExpNumber) and not isinstance(exponent, ExpNumber):
        return base ** Fraction(exponent)
    if isinstance(exponent, ExpNumber) or Fraction(exponent).denominator != 1:
        raise TypeError(f"the exponent {exponent} is not a whole number, so the power is not rational")
    if exponent >= 0 and isinstance(base, int):
        return base ** int(exponent)
    return Fraction(base) ** int(exponent)


def _integer(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not an integer")
    return value


def _rational(value: object) -> int | Fraction:
    if not isinstance(value, (int, Fraction)):
        raise TypeError(f"{value!r} is not a rational number")
    return value


def _written(value: Value) -> Value:
    """Return a value whose text is the same in Python, where a fraction may be a double."""
    if isinstance(value, (Fraction, ExpNumber)):
        raise TypeError(f"the text of {value!r} is not known")
    return format(value) if isinstance(value, Between) else value  # a cell refuses


def _exponential(exponent: object) -> Number:
    if not is_number(exponent):
        raise TypeError(f"exp does not take {exponent!r}")
    try:
        return exp(float(exponent) if isinstance(exponent, Between) else exponent)  # a cell refuses
    except ParameterError as error:
        raise ValueError(f"{error.what}: {error.hint}") from error


_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**", "neg": "-",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "bitand": "&", "bitor": "|", "bitxor": "^",
    "lshift": "<<", "rshift": ">>", "invert": "~", "eq": "==", "ne": "!=", "powmod": "pow", "fraction": "Fraction",
}  # fmt: skip
"""How Python writes operations; of others the name is the word."""


def _name_tail(value: Value, reach: int, variance: Fraction) -> Value:
    """Return an output as it is, and a number beyond all others as the tail that it stands for."""
    return GaussianTail(reach, value.sign, variance, math.floor(value.rest)) if isinstance(value, Far) else value


def _merge_tail(value: Value, end: int, ratio: Number, times: Value, plus: Value, again: bool) -> Value:
    """Return times·value + plus; the numbers from `end` on, on both sides, become one tail each."""
    if not is_number(value):
        return value
    if -end < value < end:
        return _plainly(times * value + plus)
    side = 1 if value > 0 else -1
    first, step = _plainly(times * side * end + plus), _plainly(abs(times))
    return Tail(first, side if times > 0 else -side, ratio, step, again)


def _plainly(value: Value) -> Value:
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


_OPERATORS: dict[str, Callable[..., Value]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _divide,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": _power,
    "powmod": pow,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
    "bitand": operator.and_,
    "bitor": operator.or_,
    "bitxor": operator.xor,
    "neg": operator.neg,
    "pos": operator.pos,
    "invert": lambda value: -value - 1 if isinstance(value, Far) else operator.invert(value),
    "abs": abs,
    **{name: _compared(name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "in": _of_several(lambda left, right: left in right),
    "is": _of_several(lambda left, right: left is right),
    "min": _of_several(min),
    "max": _of_several(max),
    "not": operator.not_,
    "bool": bool,
    "int": lambda value: math.trunc(value) if isinstance(value, (Far, Between)) else int(value),
    "fraction": lambda value, *by: value if isinstance(value, (Far, Between)) and not by else Fraction(value, *by),
    "float": float,
    "as double": as_double,
    "is_integer": lambda value: float(value).is_integer(),
    "exactly": lambda value: as_exact_output(value) if isinstance(value, float) else value,
    "rational": lambda value: Fraction(value) if isinstance(value, int) else value,
    "floor": math.floor,
    "ceil": math.ceil,
    "comb": math.comb,
    "perm": math.perm,
    "gcd": in_place_of_far(math.gcd),
    "exp": _exponential,
    "factorial": math.factorial,
    "isqrt": in_place_of_far(math.isqrt),
    "round": round,
    "bit_count": in_place_of_far(lambda value: _integer(value).bit_count()),
    "bit_length": in_place_of_far(lambda value: _integer(value).bit_length()),
    "format": lambda value, spec: format(_written(value), spec),
    "repr": lambda value: repr(_written(value)),
    "bin": in_place_of_far(bin),
    "numerator": in_place_of_far(lambda value: _rational(value).numerator),
    "denominator": in_place_of_far(lambda value: _rational(value).denominator),
    "tuple": lambda *values: values,
    "name_tail": _name_tail,
    "merge_tail": _merge_tail,
    "leave_out_far": lambda value: BEYOND if isinstance(value, Far) else value,
}

_REFUSES = "refuses "


def symbol_of(name: str) -> str:
    """Return an operation as Python writes it."""
    return _SYMBOLS.get(name, name)


def refusal(name: str) -> str:
    """Return the name of the predicate that holds where the named operation refuses its operands."""
    return _REFUSES + name


def applied(function: Callable[..., Value], given: Sequence[Value]) -> Value:
    """Return the value of an operation; `NOTHING` where an operand is, and where Python refuses the operands."""
    for value in given:
        if value is NOTHING:
            return NOTHING
    try:
        return function(*given)
    except REFUSED:
        return NOTHING


def connected(absorbing: bool, given: Sequence[Value]) -> Value:
    """Return whether all of some truth values hold (`absorbing` is False), or any (True); `NOTHING` where untold."""
    if absorbing in given:
        return absorbing
    return NOTHING if any(value is NOTHING for value in given) else not absorbing


def operation(name: str) -> Callable[..., Value]:
    """Return the function that a name stands for."""
    if not name.startswith(_REFUSES):
        return _OPERATORS[name] if name in _OPERATORS else of_doubles(name)
    function = operation(name.removeprefix(_REFUSES))

    def refuses(*values: Value) -> bool:
        try:
            function(*values)
        except REFUSED:
            return True
        return False

    return refuses
