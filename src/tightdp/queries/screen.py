"""Which pairs of neighbours cannot matter, decided in doubles with a proved error: all others are compared exactly."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from flint import ctx

from tightdp.exact.arrays import Doubles, Integers, np
from tightdp.exact.field import Number
from tightdp.exact.whole import Whole, quick
from tightdp.limits.calibrated import FEW_VALUES, LISTED_MASSES
from tightdp.logic.count import Weights
from tightdp.methods.sums import LawByCode

_BITS, _ACCURATE = 128, 60
_TINY = 1e-290
"""An upper bound on everything that is lost where doubles underflow."""
_Law: TypeAlias = tuple[Integers, Doubles]
"""The codes of a law in order, and their probabilities."""


class Screen:
    """Laws as doubles, each with a relative error of at most 2^-51 down to 1e-290, rounded once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Weights, _Law]] = {}
        self._kept = 0

    def surely_below(self, ours: Weights, theirs: Weights, t: Number, delta: Number) -> bool:
        """Whether δ(t) <= delta for a pair, where that is certain; False where doubles do not decide.

        Terms that are not clearly negative have t·P' <= 1.02·P, so that their errors are proportional to P.
        """
        if isinstance(ours.by_code, LawByCode) and isinstance(theirs.by_code, LawByCode):
            return ours.by_code.surely_below(theirs.by_code, t, delta)
        if len(ours.by_code) < FEW_VALUES:  # they are compared exactly as soon
            return False
        (codes, p), (others, q), slope = self._of(ours), self._of(theirs), float(min(t, Fraction(10**300)))
        if codes is not others and not np.array_equal(codes, others):
            at = np.minimum(np.searchsorted(others, codes), len(others) - 1)
            q = np.where(others[at] == codes, q[at], 0.0)
        above = ~(p <= 0.99 * slope * q)
        p, q = p[above], q[above]
        error = (len(codes) + 16) * 2.0**-50
        excess = float(np.maximum(p - slope * q, 0.0).sum() + error * p.sum()) + len(codes) * _TINY
        return math.isfinite(excess) and Fraction(excess) <= delta

    def _of(self, law: Weights) -> _Law:
        """Return a law as doubles."""
        if id(law) not in self._known:
            self._kept += len(law.by_code)
            if self._kept > LISTED_MASSES:
                self._known, self._kept = {}, len(law.by_code)
            codes = sorted(law.by_code)
            masses = rounded((law.by_code[code] for code in codes), law.total)
            kind = object if codes[-1] >> 63 else np.int64
            self._known[id(law)] = law, (np.array(codes, dtype=kind), np.array(masses))
        return self._known[id(law)][1]


def rounded(weights: Iterable[Whole], total: Whole) -> list[float]:
    """Return probabilities of outputs as doubles, or nan where an unknown has no value.

    They have a relative error of at most 2^-51, down to 1e-290.
    """
    with ctx.workprec(_BITS):
        ball = quick(total)

        def one(weight: Whole) -> float:
            if isinstance(weight, int) and isinstance(total, int):
                return weight / total
            value = quick(weight) / ball
            return float(value) if value.rel_accuracy_bits() >= _ACCURATE else math.nan

        return list(map(one, weights))
