"""The expected number of right guesses of an ideal auditor: m independent secrets, the most certain r guessed.

The secrets are uniform and each passes a channel of its own; the auditor sees all outputs and knows the channel. This
is what an audit in one run can hope for, since no secret disturbs another.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from flint import arb, ctx

from tightdp.auditing.curves import Gaussian, as_tradeoff
from tightdp.auditing.question import checked_game
from tightdp.auditing.tradeoff import Curve, Polygon, Tails
from tightdp.errors import ParameterError
from tightdp.exact.enclosure import Enclosure, ball, ends, normal_tail
from tightdp.exact.sums import Point, enclosed_integral

_BITS = 160
_LARGEST_SCORE = 40
_NEARLY_ONE = 1 - 2.0**-50


def expected_correct(
    *,
    canaries: int,
    guesses: int,
    tradeoff: object,
    options: int = 2,
    balanced: bool = False,
    width: Fraction = Fraction(1, 10_000),
) -> Enclosure:
    """Enclose the expected number of right guesses of the ideal auditor, within `width` times the number of guesses.

    Every one of `canaries` secrets is uniform, and passes through a channel whose trade-off function is exactly
    `tradeoff` ("gaussian:1", "laplace:1", "gaussian:1@1/2" for one that sees the secret with probability 1/2, or
    (exp_epsilon, delta) pairs); channels are independent. The auditor guesses the likelier value of the `guesses`
    secrets about which it is most certain; with `balanced` it guesses one value where the likelihood of that value is
    largest and the other for as many others (mahloujifar2024, Algorithm 4). With more than two `options` the secret
    chooses the coordinate that gets 1, the noise of each is Gaussian of standard deviation sqrt(2)/mu, and all secrets
    have to be guessed. Raises ParameterError for numbers that do not fit.
    """
    game = checked_game(canaries, guesses, 0, options)
    canaries, guesses, options = game.canaries, game.guesses, game.options
    curve = as_tradeoff(tradeoff)
    whole = isinstance(curve, Gaussian) and curve.rate == 1
    if options > 2 and not (whole and guesses == canaries and not balanced):
        raise ParameterError(
            f"with options = {options} the order of certainty is not known",
            "take gaussian:MU and guess all secrets (guesses = canaries)",
        )
    if balanced and (guesses % 2 or guesses > 2 * (canaries // 2)):
        raise ParameterError(f"guesses is {guesses}", "an even number, where as many are guessed of either value")
    with ctx.workprec(_BITS):
        if options > 2:
            assert isinstance(curve, Gaussian)
            right = _all_of_many(curve, options, width)
            return Enclosure(guesses * right.lower, guesses * right.upper)
        channel = _Channel(curve)
        if not balanced:
            above = _integral(canaries, guesses, channel.either, channel.certainties, width)
            return Enclosure(above.lower + Fraction(guesses, 2), above.upper + Fraction(guesses, 2))
        half = guesses // 2
        first, second = (
            _integral(canaries, half, partial(channel.one, at), channel.both_ways, width) for at in range(2)
        )
        return Enclosure(first.lower + second.lower, first.upper + second.upper)


def mean_of_least(canaries: int, guesses: int, share: arb) -> arb:
    """Enclose E min(guesses, N), with N binomial: each of the secrets counts with probability `share`."""
    if guesses == 0:
        return arb(0)
    if not share < _NEARLY_ONE:  # between the mean for r secrets alone, and r
        return (guesses * share.lower()).union(arb(guesses))
    if not share > 0:
        return arb(0).union(canaries * share.upper())
    reached = share.beta_lower(guesses, canaries - guesses + 1, 1)
    below = 1 - share.beta_lower(guesses - 1, canaries - guesses + 1, 1) if guesses > 1 else arb(0)
    return guesses * reached + canaries * share * below


class _Channel:
    """The law of the certainty of a guess on one secret: P(certainty >= c) and P(certainty > c)."""

    def __init__(self, curve: Polygon | Curve) -> None:
        self._tails = curve.tails
        levels = {t / (1 + t) for t, _ in curve.pairs} if isinstance(curve, Polygon) else set()
        self.certainties = sorted({Fraction(1, 2), Fraction(1), *levels})
        self.both_ways = sorted({Fraction(0), *self.certainties, *(1 - level for level in levels)})

    def either(self, c: Fraction) -> Tails:
        """P(c is exceeded) and P(c is reached) by the certainty of the likelier value."""
        if c >= 1:
            return arb(0), sum(self._tails(None, False), arb(0))
        t = c / (1 - c)
        exceeded = sum(self._tails(t, True), arb(0))
        return exceeded, (sum(self._tails(t, False), arb(0)) if t > 1 else arb(1))

    def one(self, at: int, c: Fraction) -> Tails:
        """The same for the certainty of one of the two values, from 0 to 1."""
        if c >= 1:
            return arb(0), self._tails(None, False)[at]
        if c <= 0:
            return 1 - self._tails(None, False)[1 - at], arb(1)
        t = c / (1 - c)
        exceeded = self._tails(t, True)[at] if t >= 1 else 1 - self._tails(1 / t, False)[1 - at]
        reached = self._tails(t, False)[at] if t > 1 else 1 - self._tails(1 / t, True)[1 - at]
        return exceeded, reached


def _integral(
    canaries: int, guesses: int, share: Callable[[Fraction], Tails], points: list[Fraction], width: Fraction
) -> Enclosure:
    """Enclose the integral, over certainties c, of the mean of min(r, N), N the secrets that reach c.

    The expected number of right guesses on the r most certain secrets is the sum of their certainties.
    """

    def at(c: Fraction) -> Point:
        exceeded, reached = share(c)
        return ball(c), mean_of_least(canaries, guesses, exceeded), mean_of_least(canaries, guesses, reached)

    return enclosed_integral(at, points, guesses * width)


def _all_of_many(curve: Gaussian, options: int, width: Fraction) -> Enclosure:
    """Enclose the probability that the coordinate of the secret is the largest."""
    shift = ball(curve.mu) / arb(2).sqrt()

    def at(x: Fraction) -> Point:
        right = normal_tail(-ball(x) - shift) ** (options - 1)
        return normal_tail(ball(x)), right, right

    found = enclosed_integral(at, [Fraction(-_LARGEST_SCORE), Fraction(0), Fraction(_LARGEST_SCORE)], width)
    outside = ends(2 * normal_tail(arb(_LARGEST_SCORE)))
    assert outside is not None
    return Enclosure(found.lower, found.upper + outside.upper)
