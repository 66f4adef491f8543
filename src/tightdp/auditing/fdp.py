"""The recursion for f-DP in one run (mahloujifar2024, Algorithm 3; membership and reconstruction).

From a supposed probability τ of at least v right guesses out of r it derives lower bounds r_i <= Σ_{j>=i} j
p_j / m and h_i <= Σ_{j>=i} (r-j) p_j / m, from i = v down to 0, and refutes τ when r_0 + h_0 reaches r / m.
The listing sets h_i = (k-1) g(r_{i+1}), g the inverse of 1 - f; the published code sets h_i = max(h_{i+1},
(k-1) g(r_{i+1})).

Both are valid. By induction: α_i >= r_i and α_i - c β_i >= r_i - c h_i for 0 <= c <= c_{i-1}, c_j = j /
(r-j), for the true sums α, β, because α_i - c_i β_i = α_{i+1} - c_i β_{i+1}, and β_i >= (k-1) g(α_{i+1}) by
the guarantee (the pairs act on the tails of the symmetrised mechanism, see certificate.py), β_i >= β_{i+1}.
The one step outside this argument is the maximum at i = v - 1, where h_v is an upper bound. It never decides
(claim M7d of mahloujifar2024): when it acts there, r and h of the code stay put ever after, those of the listing fall,
and r_0 + h_0 <= τ r / m < r / m, so neither refutes τ < 1. Listing and code give the same answer for every τ < 1.

The bound grows with τ, so the p-value is the least τ refuted. It relaxes the optimum: only tails {j >= i} are used of
all tests, and none beyond v.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from tightdp.auditing.certificate import Game
from tightdp.auditing.tradeoff import Curve, Pair, Polygon, lower_hull
from tightdp.exact.enclosure import BITS, Enclosure

_STEPS = 36
_SMALLEST = Fraction(1, 1 << 160)


def p_value(game: Game, tradeoff: Polygon | Curve, variant: str = "listing", count: int = 192) -> Enclosure:
    """Enclose the least τ that the recursion refutes, 1 when it refutes none.

    The upper end is refuted with the tangents of the curve and roundings against refutation; the lower end is
    not refuted with its chords and roundings in favour.
    """
    if game.correct == 0:
        return Enclosure.exactly(1)
    if isinstance(tradeoff, Polygon):
        weak = strong = tradeoff.pairs
    else:
        logs = tradeoff.logs(count)
        weak, strong = tradeoff.outer(logs), tradeoff.inner(logs)
    upper = _least(partial(_refutes, game, variant, _Inverse(weak, 0)))
    if weak is strong:
        return upper
    lower = _least(partial(_refutes, game, variant, _Inverse(strong, 1)))
    return Enclosure(min(lower.lower, upper.lower), upper.upper)


def rejects(game: Game, pairs: tuple[Pair, ...], significance: Fraction, variant: str = "listing") -> bool:
    """Whether the recursion certainly refutes τ = significance, that is, rejects the guarantee at this level."""
    if game.correct == 0 or significance >= 1:
        return False
    return _refutes(game, variant, _Inverse(pairs, 0), significance)


class _Inverse:
    """g(y) = max(0, (y - δ) / t, 1 - δ - t (1 - y)) over the pairs, in units of 2^-BITS, rounded down or up."""

    def __init__(self, pairs: tuple[Pair, ...], upward: int) -> None:
        self.upward = upward
        lines = {(Fraction(0), Fraction(0))}
        for t, delta in pairs:
            lines |= {(1 / t, -delta / t), (t, 1 - delta - t)}
        highest = lower_hull((slope, -offset) for slope, offset in lines)  # the pointwise maximum, slopes ascending
        self._lines = [_integers(slope, -below) for slope, below in highest]
        self.restart()

    def restart(self) -> None:
        """Begin a pass over arguments that do not fall."""
        self._at = 0

    def __call__(self, argument: int) -> int:
        best = self._line(self._at, argument)
        while self._at + 1 < len(self._lines):
            value = self._line(self._at + 1, argument)
            if value < best:
                break
            best, self._at = value, self._at + 1
        return best

    def _line(self, which: int, argument: int) -> int:
        slope, offset, divisor = self._lines[which]
        return _divided(argument * slope + offset, divisor, self.upward)


def _integers(slope: Fraction, offset: Fraction) -> tuple[int, int, int]:
    return (
        slope.numerator * offset.denominator,
        (offset.numerator << BITS) * slope.denominator,
        slope.denominator * offset.denominator,
    )


def _divided(up: int, down: int, upward: int) -> int:
    return -(-up // down) if upward else up // down


def _refutes(game: Game, variant: str, inverse: _Inverse, tau: Fraction) -> bool:
    canaries, guesses, correct, upward = game.canaries, game.guesses, game.correct, inverse.upward
    below, above = (
        _divided((tau.numerator << BITS) * number, tau.denominator * canaries, rounded)
        for number, rounded in ((correct, upward), (guesses - correct, 1 - upward))
    )
    inverse.restart()
    for i in range(correct - 1, -1, -1):
        found = (game.options - 1) * inverse(below)
        if variant == "code":
            found = max(found, above)
        if found < above or (i == correct - 1 and found == above):
            return False  # h and r then fall or stay down to 0, and r_0 + h_0 <= τ r / m
        below += _divided(i * (found - above), guesses - i, upward)
        above = found
        if (below + above) * canaries >= guesses << BITS:
            return True  # h rose, so r rises, so h rises again, down to 0
    return False


def _least(refutes: Callable[[Fraction], bool]) -> Enclosure:
    high = Fraction(1)
    while high > _SMALLEST and refutes(high / 16):
        high /= 16
    low = high / 16
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if refutes(middle) else (middle, high)
    return Enclosure(low if high > _SMALLEST else Fraction(0), high)
