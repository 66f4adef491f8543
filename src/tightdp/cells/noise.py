"""Noisy numbers.

Noisy numbers are linear forms of draws on all integers that behave as Python's numbers do. What Python asks of such a
number to be decided is decided by the run that it belongs to, which tries all answers in turn. What has no linear form
is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol

from tightdp.cells.coins import Drawn, Outside, Quotient, Refusing, refuse
from tightdp.cells.linear import REAL, Row, row
from tightdp.exact.field import ExpNumber
from tightdp.exact.rationals import as_int
from tightdp.language.doubles import BITS

__all__ = ["Decider", "Multiple", "Noisy", "Outside", "noisy"]


class Multiple(Outside):
    """Noise is summed out that meets other variables as a multiple, but by so many residues of them."""

    def __init__(self, times: Mapping[int, int]) -> None:
        super().__init__("is compared as a multiple")
        self.times = times


class Decider(Protocol):
    """The run that a noisy number belongs to, and its draws of which only the residue is known."""

    hidden: set[int]

    def decide(self, alternatives: list[list[Row]]) -> int:
        """Take one of several conditions, of which exactly one holds."""
        ...

    def residue(self, variable: int, modulus: int) -> int:
        """Take a residue of a draw."""
        ...

    def floor(self, number: Noisy) -> Any:
        """Return the integer below a real number."""
        ...

    def flip(self, above: Fraction, below: Noisy) -> bool:
        """Return what a coin shows that has this quotient as its probability."""
        ...


def noisy(run: Decider, coefficients: Mapping[int, int | Fraction], constant: int | Fraction) -> Any:
    """Return a linear form as a number: an ordinary one where no draw is left in it."""
    left = {v: c for v, c in coefficients.items() if c}
    if left:
        return (Noisy if max(left) >= 0 else OfRecords)(run, left, constant)
    return constant.numerator if isinstance(constant, Fraction) and constant.denominator == 1 else constant


class Noisy(Refusing):
    """Σ coefficient·draw + constant."""

    __slots__ = ("coefficients", "constant", "run")
    refusal = "is used otherwise than in sums, comparisons and roundings"

    def __init__(self, run: Decider, coefficients: Mapping[int, int | Fraction], constant: int | Fraction) -> None:
        self.run, self.coefficients, self.constant = run, dict(coefficients), constant

    # linear operations

    def _parts(self, other: Any) -> tuple[Mapping[int, int | Fraction], int | Fraction] | None:
        if isinstance(other, Noisy):
            return other.coefficients, other.constant
        if isinstance(other, (int, Fraction)):
            return {}, Fraction(other) if isinstance(other, Fraction) else int(other)
        if isinstance(other, complex) or (isinstance(other, float) and math.isfinite(other)):
            refuse("meets a number in doubles")
        self._check(other, "is added to")
        return None

    @staticmethod
    def _check(other: Any, meets: str) -> None:
        """Raise Outside where another number is not rational."""
        if isinstance(other, ExpNumber):
            refuse(f"{meets} {other}, which is not rational; an unknown may be the scale of noise")

    @property
    def continuous(self) -> bool:
        """Whether it may be any real number."""
        return max(self.coefficients) >= REAL

    def __add__(self, other: Any) -> Any:
        parts = self._parts(other)
        if parts is None:
            return NotImplemented
        total: dict[int, Any] = dict(self.coefficients)
        for v, c in parts[0].items():
            total[v] = total.get(v, 0) + c
        return noisy(self.run, total, self.constant + parts[1])

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Any:
        return self

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if self._parts(other) is None else self + -1 * other

    def __rsub__(self, other: Any) -> Any:
        return self * -1 + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Noisy):
            refuse("is multiplied by such noise")
        self._check(other, "is multiplied by")
        if not isinstance(other, (int, Fraction)):
            return NotImplemented
        return noisy(self.run, {v: c * other for v, c in self.coefficients.items()}, self.constant * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if BITS.get():
            refuse("is divided in doubles")
        return self._over(other)

    def _over(self, other: Any) -> Any:
        if isinstance(other, Noisy):
            refuse("is divided by such noise")
        self._check(other, "is divided by")
        if not isinstance(other, (int, Fraction)):
            return NotImplemented
        if not other:
            raise ZeroDivisionError("division by zero")
        return self * (1 / Fraction(other))

    # what is decided

    def _compared(self, other: Any, strict: bool, above: bool) -> Any:
        if isinstance(other, float) and math.isinf(other):
            return (other > 0) != above
        self._check(other, "is compared with")
        if self._parts(other) is None:
            return NotImplemented
        difference = self - other
        if not isinstance(difference, Noisy):
            difference = -difference if above else difference
            return difference < 0 if strict else difference <= 0
        if above:
            difference = -difference
        holds, fails = difference.at_most(strict), (-difference).at_most(not strict)
        return self.run.decide([[holds], [fails]]) == 0

    def at_most(self, strict: bool = False) -> Row:
        """Return the condition that the number is at most 0 (below 0, if strict)."""
        return row(self.coefficients, -self.constant, strict)

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, True, False)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, False, False)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, True, True)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, False, True)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ExpNumber) or self._parts(other) is None:
            return False
        difference = self - other
        return not difference if not isinstance(difference, Noisy) else not bool(difference)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = Refusing.__hash__

    def __bool__(self) -> bool:
        if self.continuous and not self.run.hidden & self.coefficients.keys():
            return True  # it has a density
        zero = [self.at_most(), (-self).at_most()]
        return self.run.decide([zero, [self.at_most(True)], [(-self).at_most(True)]]) != 0

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def __floor__(self) -> Any:
        if self.continuous:
            return self.run.floor(self)
        rest: int | Fraction = Fraction(self.constant)
        for v, c in self.coefficients.items():
            below = Fraction(c).denominator
            rest += Fraction(c) * self.run.residue(v, below) if below > 1 else 0
        return self - (rest - math.floor(rest))

    def __ceil__(self) -> Any:
        return -math.floor(-self)

    def __trunc__(self) -> Any:
        return math.floor(self) if self >= 0 else math.ceil(self)

    def __floordiv__(self, other: Any) -> Any:
        return math.floor(self._over(other))

    def __mod__(self, other: Any) -> Any:
        return self - other * (self // other)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __round__(self, digits: int | None = None) -> Any:
        if digits is not None:
            refuse("is rounded to digits")
        if self.continuous:
            return math.floor(self + Fraction(1, 2))
        below = math.floor(self)
        rest = self - below
        if isinstance(rest, Noisy):
            refuse("is rounded")
        if rest == Fraction(1, 2):
            return below + below % 2
        return below + (rest > Fraction(1, 2))

    @property
    def _integral(self) -> bool:
        """Whether it is an integer on all runs."""
        numbers = *self.coefficients.values(), self.constant
        return not self.continuous and all(Fraction(c).denominator == 1 for c in numbers)

    def as_integer(self, name: str) -> Any:
        """Return the number where it is an integer on all runs."""
        if not self._integral:
            refuse(f"is {name}, and may be no integer")
        return self

    def is_whole(self) -> bool:
        """Raise an error but for what cannot be an integer: adding 0.0 is not seen."""
        if self._integral:
            refuse("is asked for its type")
        return False

    def __rtruediv__(self, other: Any) -> Any:
        if BITS.get():
            refuse("divides a number in doubles")
        return Quotient(Fraction(other), self) if isinstance(other, (int, Fraction)) else NotImplemented

    def flipped(self) -> bool:
        """Raise an error: it is no probability."""
        refuse("is the probability of a coin")

    @property
    def real(self) -> Any:
        """The number itself."""
        return self

    @property
    def numerator(self) -> Any:
        """The number where it is an integer on all runs."""
        return self.as_integer("divided, and the numerator of a quotient")

    @property
    def denominator(self) -> int:
        """One, of an integer."""
        self.as_integer("divided, and has the denominator of a quotient")
        return 1

    def drawn_from(self, low: int) -> Drawn:
        """Return an integer that is drawn from `low` to this number."""
        return Drawn([as_int(low, "the lower end of randint"), self.as_integer("the upper end of randint")])


class OfRecords(Noisy):
    """Σ coefficient·record + constant, of unknown integers: where noise is."""

    __slots__ = ()
    refusal = "is around records that are asked for more"

    def _parts(self, other: Any) -> tuple[Mapping[int, int | Fraction], int | Fraction] | None:
        return super()._parts(other) if isinstance(other, (Noisy, int, Fraction)) else self.refused()

    def __mul__(self, other: Any) -> Any:
        return super().__mul__(other) if isinstance(other, (int, Fraction)) else self.refused()

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return super().__truediv__(other) if isinstance(other, (int, Fraction)) and other else self.refused()

    __rtruediv__ = __floor__ = __ceil__ = __trunc__ = __abs__ = __floordiv__ = __mod__ = __divmod__ = Refusing.refused
    __round__ = is_whole = flipped = drawn_from = Refusing.refused  # type: ignore[assignment]
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __bool__ = __hash__ = Refusing.refused
    __getattr__ = __array__ = __reduce_ex__ = Refusing.refused
    real = numerator = denominator = property(Refusing.refused)
