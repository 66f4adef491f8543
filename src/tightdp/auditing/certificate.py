"""Evidence for the optimal one-run audit: a dual bound and a worst mechanism, both checked in exact
rationals.

The setting: m secrets, uniform on k options each; a guesser answers r of them. Averaging over permutations of
the indices and of the options, both published, keeps the guarantee and the number of right guesses, so a
mechanism may be taken symmetric: it is given by p_0..p_r, p_i = P(exactly i right). For neighbouring secrets,
the outcomes in which the changed secret is guessed right under the first, with i right in all, weigh a_i =
p_i i / m under the first and b_i = p_{i-1} (r-i+1) / (m (k-1)) under the second; those guessed right under
the second mirror them; all others weigh the same under both and cancel because t >= 1. So (ln t, δ)-DP says
exactly

    sum over 1 <= i <= r of  max(0, a_i - t b_i) + max(0, b_i - t a_i)  <=  δ.

With u_i = p_i / (C(r,i) (k-1)^(r-i)) the second terms vanish when u is nondecreasing, and pooling a falling
neighbour pair of u into its average raises no term of the sum and lowers no tail of p. So the second terms
may be dropped from the maximisation of P(at least v right) without changing its value.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from tightdp.auditing.tradeoff import Pair
from tightdp.exact.enclosure import BITS


@dataclass(frozen=True)
class Game:
    """The numbers of one observation: m canaries, r guesses, v right, k options."""

    canaries: int
    guesses: int
    correct: int
    options: int = 2

    @property
    def likely_t(self) -> float:
        """The odds of a right guess among those made: where e^ε is looked for first."""
        return self.correct * (self.options - 1) / (self.guesses - self.correct + 0.5)


@dataclass(frozen=True)
class DualCertificate:
    """A point of the dual program: P(at least `correct` right) <= `bound` for every mechanism with these
    pairs.

    `pairs` are (t, δ), t ascending, `multipliers` one nonnegative number for each, `constant` the multiplier
    of the total probability. `check()` verifies the point; nothing else needs to be believed.
    """

    canaries: int
    guesses: int
    correct: int
    options: int
    pairs: tuple[Pair, ...]
    constant: Fraction
    multipliers: tuple[Fraction, ...]

    @classmethod
    def of(
        cls, game: Game, pairs: tuple[Pair, ...], constant: Fraction, multipliers: tuple[Fraction, ...]
    ) -> DualCertificate:
        """Return the point for a game."""
        return cls(game.canaries, game.guesses, game.correct, game.options, pairs, constant, multipliers)

    @property
    def bound(self) -> Fraction:
        """The bound on the probability: constant + m Σ δ_j multiplier_j."""
        weighted = sum((d * y for (_, d), y in zip(self.pairs, self.multipliers, strict=True)), Fraction(0))
        return self.constant + self.canaries * weighted

    def check(self) -> bool:
        """Whether the point is feasible, in exact integers, in O(guesses · log(pairs)) operations.

        Let S_i be the total multiplier spent on the i-th row; spending it on the pairs of smallest t first
        costs the row below F(S_i), F piecewise linear and convex with slopes t. The rows ask for S_i >=
        max(0, (r-i) F(S_{i+1}) / (k-1) + [i >= v] - λ) / i, S_i <= Σ multipliers, and r F(S_1) / (k-1) <= λ.
        The smallest S, each entry rounded up, is tried; rounding up keeps the rows true.
        """
        if self.correct < 1 or min(self.multipliers) < 0 or any(t < 1 for t, _ in self.pairs):
            return False
        # Rounding the multipliers and the constant down makes the rows harder, never easier.
        spending = Spending(self.pairs, self.multipliers)
        constant = math.floor(self.constant * (1 << BITS))
        largest = largest_spending(self, spending, constant) if constant >= 0 else None
        return largest is not None and largest <= spending.total


class Spending:
    """F, the least cost of spending a total multiplier, in fixed point and rounded up."""

    def __init__(self, pairs: tuple[Pair, ...], multipliers: tuple[Fraction, ...]) -> None:
        self.slopes = [t for t, _ in pairs]
        lengths = [math.floor(y * (1 << BITS)) for y in multipliers]
        self.ends = list(accumulate(lengths))
        costs = [-(-length * t.numerator // t.denominator) for length, t in zip(lengths, self.slopes, strict=True)]
        self.costs = [0, *accumulate(costs)]

    @property
    def total(self) -> int:
        """The total that may be spent."""
        return self.ends[-1]

    def cost(self, spent: int) -> int:
        """Return F(spent) rounded up, spent > 0; beyond the total the steepest slope goes on."""
        piece = min(bisect_right(self.ends, spent - 1), len(self.ends) - 1)
        slope = self.slopes[piece]
        start = self.ends[piece - 1] if piece else 0
        return self.costs[piece] - (-(spent - start) * slope.numerator // slope.denominator)


def largest_spending(point: DualCertificate, spending: Spending, constant: int) -> int | None:
    """Return the largest S_i of the least solution for one constant (units of 2^-BITS), None if row 0 fails."""
    guesses, others, one = point.guesses, point.options - 1, 1 << BITS
    spent = largest = 0
    for i in range(guesses, 0, -1):
        cost = spending.cost(spent) if spent else 0
        need = -(-(guesses - i) * cost // others) + (one if i >= point.correct else 0) - constant
        spent = -(-need // i) if need > 0 else 0
        largest = max(largest, spent)
        if not spent and i < point.correct:
            return largest
    cost = spending.cost(spent) if spent else 0
    return largest if guesses * cost <= constant * others else None


@dataclass(frozen=True)
class WorstMechanism:
    """A symmetric mechanism and guesser: exactly i guesses are right with probability weights[i] / total.

    It publishes which secrets are answered, uniformly, and a guess for each; all outcomes with the same
    number of right guesses are equally likely.
    """

    canaries: int
    guesses: int
    options: int
    weights: tuple[int, ...]
    total: int

    @classmethod
    def from_law(cls, canaries: int, guesses: int, options: int, law: Sequence[Fraction]) -> WorstMechanism:
        """Return the mechanism with these probabilities of 0..guesses right guesses."""
        total = math.lcm(*(p.denominator for p in law))
        weights = tuple(p.numerator * (total // p.denominator) for p in law)
        return cls(canaries, guesses, options, weights, total)

    @property
    def law(self) -> tuple[Fraction, ...]:
        """The exact probabilities of 0..guesses right guesses."""
        return tuple(Fraction(weight, self.total) for weight in self.weights)

    def at_least(self, correct: int) -> Fraction:
        """Return the exact probability of at least `correct` right guesses."""
        return Fraction(sum(self.weights[correct:]), self.total)

    def delta(self, t: Fraction) -> Fraction:
        """Return the exact δ(t) of the mechanism for t >= 1, by the formula at the top of this file."""
        up, down, others, cost = t.numerator, t.denominator, self.options - 1, 0
        for i in range(1, self.guesses + 1):
            ours = self.weights[i] * i * others
            theirs = self.weights[i - 1] * (self.guesses - i + 1)
            cost += max(0, ours * down - theirs * up) + max(0, theirs * down - ours * up)
        return Fraction(cost, self.total * self.canaries * others * down)


@dataclass(frozen=True)
class Counterexample:
    """An observation and a mechanism under the guarantee that reaches it more often than the method's
    p-value.
    """

    canaries: int
    guesses: int
    correct: int
    exp_epsilon: Fraction
    delta: Fraction
    claimed: Fraction
    mechanism: WorstMechanism

    @property
    def probability(self) -> Fraction:
        """The true probability of the observation, above `claimed`."""
        return self.mechanism.at_least(self.correct)
