"""Laws of integer sums: of a program that publishes one, computed when they are looked at, screened by doubles first.

Where the program publishes the sum, one output for each, its law is a polynomial. Many questions need little of it: how
many outputs there are, the mass of a window, a bound on Σ max(0, P - t P'). Only what is asked is computed, and the
laws of datasets that differ in a few records are derived from each other. In doubles with a proved error laws are quick
to compute, and enough for comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from fractions import Fraction
from functools import cached_property
from typing import Any

from tightdp.exact.field import Number
from tightdp.exact.scaled import Scaled, binomial, convolved, doubled, point, power, scaled
from tightdp.exact.whole import Whole
from tightdp.limits.calibrated import FEW_DATASETS, LISTED_MASSES, TABLE_ENTRIES
from tightdp.logic.count import Weights
from tightdp.methods.aggregate import Contribution
from tightdp.methods.mixture import SumLaw
from tightdp.symmetry.sets import Counts


class Summands:
    """The laws of what records add, and their convolution powers. Tails of mass below `least` are cut off.

    The values of each law differ by multiples of `step`.
    """

    def __init__(self, laws: Sequence[dict[int, Number]], least: float, step: int = 1) -> None:
        self.laws = tuple(laws)
        self.least, self.step = least, step
        self.scaled = tuple(scaled(law, step) for law in laws)
        self.beside = point(0)
        """What is added beside the records."""
        self._powers: dict[tuple[int, int], Scaled] = {}

    def added(self, one: Scaled, other: Scaled) -> Scaled:
        """Return the law of a sum of two."""
        return convolved(one, other, self.least)

    def power(self, letter: int, times: int) -> Scaled:
        """Return the law of the sum of `times` records with a letter."""
        if times <= 1:
            return self.scaled[letter] if times else point(0)
        found = self._powers.get((letter, times))
        if found is None:
            if len(self._powers) >= FEW_DATASETS:
                self._powers.clear()
            found = self._powers[letter, times] = self._power(letter, times)
        return found

    def _power(self, letter: int, times: int) -> Scaled:
        values = sorted(self.laws[letter].items())
        if len(values) == 1:
            return point(values[0][0] * times)
        if len(values) == 2:
            (low, p_low), (high, p_high) = values
            return binomial(times, low, p_low, high, p_high, self.least, self.step)
        exact = {value: mass for value, mass in values if isinstance(mass, Fraction)}
        if (
            times <= FEW_DATASETS
            and times * (values[-1][0] - values[0][0]) <= TABLE_ENTRIES
            and len(exact) == len(values)
        ):
            return power(exact, times, self.least, self.step)
        return doubled(lambda half: self.power(letter, half), times, self.added)

    def law(self, counts: Sequence[int]) -> Scaled:
        """Return the law of the sum of records with these counts of letters."""
        total = self.beside
        for letter, times in enumerate(counts):
            total = self.added(total, self.power(letter, times)) if times else total
        return total


_CUT_OFF = 1e-40
"""Ends of laws that hold less are left out where doubles are enough."""


class SumLaws:
    """The output laws of a program that publishes one integer sum, by how many clients have each letter.

    Every sum has a code, and no two the same; `exact` gives the law of the sum.
    """

    def __init__(
        self,
        code_of: Mapping[int, int],
        letters: Sequence[Sequence[Contribution]],
        exact: Callable[[Counts], SumLaw],
    ) -> None:
        self._code_of, self.exact = code_of, exact
        self.sum_of = {code: value for value, code in code_of.items()}
        self._letters = [letter for group in letters for letter in group]
        self._supports = [[1] for _ in self._letters]
        self._wholes: dict[Counts, dict[int, Whole]] = {}
        self._kept = 0
        self._given: dict[tuple[int, int], list[int]] = {}
        """The codes of the last set of sums: often all counts have the same."""

    def weights(self, counts: Counts) -> Weights:
        """Return the law by output code, computed lazily."""
        used = zip(self._letters, _flat(counts), strict=True)
        return Weights(LawByCode(self, counts), math.prod(letter.denominator**times for letter, times in used))

    def by_code(self, law: SumLaw) -> dict[int, Whole]:
        """Return the weights of a law by code, in the order of the codes."""
        return dict(sorted((self._code_of[value], weight) for (value,), weight in law.items()))

    def near(self, counts: Counts) -> Scaled:
        """Return the law of the sum in doubles."""
        return self._in_doubles.law(_flat(counts))

    @cached_property
    def _in_doubles(self) -> Summands:
        return Summands([letter.law for letter in self._letters], _CUT_OFF)

    def whole(self, counts: Counts) -> dict[int, Whole]:
        """Return all weights by code; recently used ones are cached."""
        found = self._wholes.get(counts)
        if found is None:
            found = self.by_code(self.exact(counts))
            self._kept += len(found)
            if self._kept > LISTED_MASSES:
                self._wholes, self._kept = {}, len(found)
            self._wholes[counts] = found
        return found

    def given(self, counts: Counts) -> list[int]:
        """Return the codes of the sums that have a weight, in order."""
        low, present = 0, 1
        for letter, supports, times in zip(self._letters, self._supports, _flat(counts), strict=True):
            values = [value for (value,), _ in letter.weights]
            while len(supports) <= times:
                supports.append(_sums(supports[-1], _bits(values)))
            low, present = low + times * values[0], _sums(present, supports[times])
        if (low, present) not in self._given:
            sums = (low + at for at in range(present.bit_length()) if present >> at & 1)
            self._given = {(low, present): sorted(map(self._code_of.__getitem__, sums))}
        return self._given[low, present]


def _flat(counts: Counts) -> list[int]:
    return [times for group in counts for times in group]


def _bits(values: Sequence[int]) -> int:
    """Return a set of integers, less its first one, as a bit mask."""
    return sum(1 << value - values[0] for value in values)


def _sums(one: int, other: int) -> int:
    """Return the sumset of two sets of nonnegative integers; all are bit masks."""
    if not one & one + 1 and not other & other + 1:  # both without a gap
        return (1 << one.bit_length() + other.bit_length() - 1) - 1
    if one.bit_count() < other.bit_count():
        one, other = other, one
    found = 0
    while other:
        last = other.bit_length() - 1
        found |= one << last
        other ^= 1 << last
    return found


class LawByCode(Mapping[int, Whole]):
    """The weights of one of these laws by output code."""

    def __init__(self, laws: SumLaws, counts: Counts) -> None:
        self._laws, self._counts = laws, counts

    @cached_property
    def _near(self) -> Scaled:
        return self._laws.near(self._counts)

    @cached_property
    def _given(self) -> Sequence[int]:
        return self._laws.given(self._counts)

    def _all(self) -> dict[int, Whole]:
        return self._laws.whole(self._counts)

    # the methods of a mapping

    def __len__(self) -> int:
        return len(self._given)

    def __iter__(self) -> Iterator[int]:
        return iter(self._given)

    def __getitem__(self, code: int) -> Whole:
        return self._all()[code]

    def get(self, code: int, default: Any = None) -> Any:
        """Return the weight of a code."""
        return self._all().get(code, default)

    def items(self) -> ItemsView[int, Whole]:
        """Return codes with their weights, in the order of the codes."""
        return self._all().items()

    def values(self) -> ValuesView[Whole]:
        """Return the weights, in the order of the codes."""
        return self._all().values()

    # what is asked without the whole law

    def mass(self, codes: Iterable[int]) -> Whole:
        """Return the weight of some codes together."""
        sum_of = self._laws.sum_of
        return self._laws.exact(self._counts).mass(sum_of[code] for code in codes)

    def surely_more(self, codes: Sequence[int], bar: Number) -> bool:
        """Whether codes of sums without a gap have a larger probability together; False where that is not seen."""
        if len(codes) < FEW_DATASETS:
            return False
        sums = [self._laws.sum_of[code] for code in codes]
        least, most = min(sums), max(sums)
        return len(sums) == most - least + 1 and bar < Fraction(self._near.mass(least, most)[0])

    def surely_below(self, other: LawByCode, t: Number, delta: Number) -> bool:
        """Whether Σ max(0, P - t P') <= delta for t >= 0, decided on enclosures; False where these do not decide."""
        return delta >= Fraction(self._near.excess_above(other._near, t))


def mass(by_code: Mapping[int, Whole], codes: Iterable[int]) -> Whole:
    """Return the weight of some codes of a law together."""
    if isinstance(by_code, LawByCode):
        return by_code.mass(codes)
    return sum(by_code.get(code, 0) for code in codes)


def surely_more(by_code: Mapping[int, Whole], codes: Sequence[int], bar: Number) -> bool:
    """Whether some codes have a larger probability together, decided on enclosures; False where these do not decide."""
    return isinstance(by_code, LawByCode) and by_code.surely_more(codes, bar)
