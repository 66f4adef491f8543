"""Numbers that noise makes by quotients and as the end of a draw: asked for nothing but what coins decide."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

from tightdp.errors import LanguageError
from tightdp.exact.rationals import Symbolic
from tightdp.language.primitives import flip, stop


class Outside(LanguageError):
    """A program that is not in the class of the algebra."""

    def __init__(self, what: str) -> None:
        super().__init__(f"noise on all integers {what}", "clamp it first, as in max(lo, min(value, hi))")
        self.reason = what


def refuse(what: str) -> NoReturn:
    """Raise Outside, whatever the program catches."""
    stop(Outside(what))


class Refusing(Symbolic):
    """A number of which few things are known: what a class does not say about its numbers is refused.

    A class that defines `__eq__` says `__hash__`, too, as Python takes that away.
    """

    __slots__ = ()
    refusal: ClassVar[str]
    stop = staticmethod(stop)

    def refused(self, *_: Any) -> Any:
        """Raise an error: no more is known of it than its class says."""
        refuse(self.refusal)

    def as_integer(self, name: str) -> Any:
        """Raise an error: it is not known."""
        refuse(self.refusal)

    flipped = drawn_from = refused
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = refused
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __pow__ = __rpow__ = refused
    __neg__ = __pos__ = __abs__ = __floor__ = __ceil__ = __round__ = __trunc__ = __invert__ = refused
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = refused
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = refused
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __bool__ = __hash__ = refused
    __index__ = __int__ = __float__ = __str__ = __repr__ = __format__ = refused


class Quotient(Refusing):
    """A number divided by a noisy one: nothing but the probability of a coin."""

    __slots__ = ("above", "below")
    refusal = "divides a number"

    def __init__(self, above: Fraction, below: Any) -> None:
        self.above, self.below = above, below

    def flipped(self) -> bool:
        """Return what a coin shows that has this probability."""
        return bool(self.below.run.flip(self.above, self.below))

    def is_whole(self) -> bool:
        """Return False: it is a fraction."""
        return False

    @property
    def numerator(self) -> Term:
        """Its numerator in lowest terms."""
        return Term(self, above=True)

    @property
    def denominator(self) -> Term:
        """Its denominator in lowest terms."""
        return Term(self, above=False)

    def as_integer(self, name: str) -> Any:
        """Raise an error: it need not be an integer."""
        refuse(f"divides a number, and the quotient is {name}")


class Term(Refusing):
    """The numerator or denominator of a quotient, plus a number: which of both is larger by how much is known."""

    __slots__ = ("above", "added", "of")
    refusal = "is divided, and a term of the quotient is more than the end of a draw"

    def __init__(self, of: Quotient, above: bool, added: int = 0) -> None:
        self.of, self.above, self.added = of, above, added

    def __add__(self, other: Any) -> Term:
        return Term(self.of, self.above, self.added + other) if type(other) is int else self.refused()

    def __sub__(self, other: int) -> Term:
        return self + -other

    __radd__ = __add__

    def is_whole(self) -> bool:
        """Return True."""
        return True

    def drawn_from(self, low: int) -> Drawn:
        """Return an integer that is drawn from `low` to this number."""
        return Drawn([low, self])


class Drawn(Refusing):
    """An integer between two ends, one of them noisy, plus a number: asked for nothing but how it compares with others.

    What a comparison tells is where it lies from then on.
    """

    __slots__ = ("added", "ends")
    refusal = "is the end of a draw that is more than compared with numbers"

    def __init__(self, ends: list[Any], added: int = 0) -> None:
        self.ends, self.added = ends, added

    def _at_most(self, number: Any) -> bool:
        """Return whether it is at most that: by a coin where it lies on both sides of it."""
        if isinstance(number, Term) and number.above and number.added == self.added - 1:
            match self.ends:
                case [0, Term(of=of, above=False, added=-1)] if of is number.of:
                    self.ends[:] = self, self  # it is not asked about again
                    return bool(of.above > of.below or of.flipped())
        if not isinstance(number, (int, Fraction)) or isinstance(self.ends[1], (Term, Drawn)):
            refuse("is the end of a draw that is compared with other than rational numbers")
        last, (low, high) = math.floor(number - self.added), self.ends
        if last < low or high < last:
            return bool(last >= low)
        many: Any = high - low + 1
        shown: bool = flip(Fraction(last - low + 1) / many)
        self.ends[:] = (low, last) if shown else (last + 1, high)
        return shown

    def __add__(self, other: Any) -> Drawn:
        return Drawn(self.ends, self.added + other) if type(other) is int else self.refused()

    def __mul__(self, other: Any) -> Drawn:
        return self if type(other) is int and other == 1 else self.refused()

    def __sub__(self, other: int) -> Drawn:
        return self + -other

    __radd__, __rmul__ = __add__, __mul__

    def __le__(self, other: Any) -> bool:
        return self._at_most(other)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __lt__(self, other: Any) -> bool:
        return self._at_most(-math.floor(-other) - 1 if isinstance(other, (int, Fraction)) else other - 1)

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __eq__(self, other: object) -> bool:
        return self <= other and self >= other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = Refusing.__hash__

    def __bool__(self) -> bool:
        return self != 0

    def is_whole(self) -> bool:
        """Return True."""
        return True

    def as_integer(self, name: str) -> Any:
        """Raise an error: it is not known."""
        refuse(f"is the end of a draw, which is {name}")
