"""The method of xiang2025 for one run, implemented so that its validity can be examined.

It claims (Theorem 1) that no f-DP mechanism makes "at most w wrong among the r released of m guesses"
likelier than m independent channels with trade-off function f do, and (Theorem 3) bounds that by a sum of
independent Bernoulli variables V_k, one for each of the r largest scores, with the mean error of that order
statistic. The p-value is the exponential-moment bound of Proposition 1 on P(Σ V_k <= w), or ("exact") that
probability itself.

For pure DP the means are all 1 / (1 + t) and the bound is the binomial tail or above: valid. For δ > 0 both
theorems are false; `counterexample` is a mechanism that shows it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from flint import arb, arb_poly, ctx

from tightdp.auditing.certificate import Counterexample, Game, WorstMechanism
from tightdp.auditing.tradeoff import Pair
from tightdp.exact.arrays import Doubles, np
from tightdp.exact.enclosure import BITS, Enclosure, ball, ends
from tightdp.exact.lazily import lazily

special = lazily("scipy.special")

_ONE = Fraction(1)


def counterexample() -> Counterexample:
    """Return the stored counterexample: all-or-nothing on five secrets is (0, 1/20)-DP.

    It prints all secrets with probability 1/20 and otherwise nothing, so blind guesses are all right with
    probability 1/20 + 19/20 · 2^-5 = 51/640. The method gives five right out of five a p-value below
    (21/40)^5 < 1/20, so at significance 5 % it rejects a true guarantee in 8 % of the runs.
    """
    delta, blind = Fraction(1, 20), Fraction(19, 20)
    law = [blind * math.comb(5, i) / 32 for i in range(6)]
    law[5] += delta
    claimed = p_value(Game(5, 5, 5), ((_ONE, delta),)).upper
    return Counterexample(5, 5, 5, _ONE, delta, claimed, WorstMechanism.from_law(5, 5, 2, law))


def p_value(game: Game, pairs: Sequence[Pair], variant: str = "published") -> Enclosure:
    """Enclose the method's p-value for the `pairs` of a polygon.

    "published" is Proposition 1 at an exponent that nearly minimises it; "exact" the tail of the sum itself.
    """
    if game.correct == 0:
        return Enclosure.exactly(1)
    wrong = game.guesses - game.correct
    with ctx.workprec(2 * BITS):
        means = _means(game.canaries, game.guesses, _atoms(pairs))
        if variant == "exact":
            return _probability(sum(_law(means).coeffs()[: wrong + 1], arb(0)))
        tilt = _tilt([float(mean.mid()) for mean in means], wrong)
        if tilt is None:
            return Enclosure.exactly(1)
        value, down = arb(1), 1 - ball(tilt)
        for mean in means:
            value *= 1 - mean * down
        return _probability(value / ball(tilt) ** wrong if wrong else value)


def _probability(value: arb) -> Enclosure:
    found = ends(value)
    assert found is not None
    return Enclosure(max(Fraction(0), min(_ONE, found.lower)), min(_ONE, found.upper))


def _law(means: Sequence[arb]) -> arb_poly:
    """Return the law of the number of wrong guesses, independent ones with these means."""
    if len(means) == 1:
        return arb_poly([1 - means[0], means[0]])
    half = len(means) // 2
    return _law(means[:half]) * _law(means[half:])


def estimate(game: Game, pairs: Sequence[Pair], variant: str = "published") -> float:
    """Return the logarithm of the p-value in floats, for a search that is rechecked."""
    wrong = game.guesses - game.correct
    if not game.correct:
        return 0.0
    atoms, above = _atoms(pairs), Fraction(0)
    means = np.full(game.guesses, float(atoms[0][1]))
    for (mass, error), (_, next_error) in pairwise(atoms):
        above += mass
        means += float(next_error - error) * special.bdtr(
            np.arange(game.guesses), game.canaries, min(1.0, float(above))
        )
    if variant == "exact":
        law = np.zeros(wrong + 1)
        law[0] = 1.0
        for mean in means:
            law[1:] = law[1:] * (1 - mean) + law[:-1] * mean
            law[0] *= 1 - mean
        return math.log(max(1e-300, math.fsum(law)))
    tilt = _tilt(means, wrong)
    if tilt is None:
        return 0.0
    share = float(tilt)
    return float(np.log1p(means * (share - 1)).sum()) - (wrong * math.log(share) if wrong else 0.0)


def error_means(canaries: int, guesses: int, pairs: Sequence[Pair]) -> list[Enclosure]:
    """Enclose v_k, the probability that the guess with the k-th largest score is wrong, k = 1..guesses.

    Under the polygon a score is one of finitely many; scores above the a-th have total probability W_a, and
    with e_a the error at the a-th, v_k = e_1 + Σ_a (e_{a+1} - e_a) P(Bin(m, W_a) < k).
    """
    with ctx.workprec(2 * BITS):
        return [_probability(mean) for mean in _means(canaries, guesses, _atoms(pairs))]


def _means(canaries: int, guesses: int, atoms: list[tuple[Fraction, Fraction]]) -> list[arb]:
    means, above = [ball(atoms[0][1])] * guesses, Fraction(0)
    for (mass, error), (_, next_error) in pairwise(atoms):
        above += mass
        if above:
            step, below = ball(next_error - error), _distribution(canaries, guesses, above)
            means = [mean + step * part for mean, part in zip(means, below, strict=True)]
        else:
            means = [ball(next_error)] * guesses
    return means


def _distribution(trials: int, count: int, chance: Fraction) -> list[arb]:
    """Return P(Bin(trials, chance) < k) for k = 1..count."""
    if chance >= 1:
        return [arb(int(k > trials)) for k in range(1, count + 1)]
    term, odds, total, found = ball(1 - chance) ** trials, ball(chance / (1 - chance)), arb(0), []
    for j in range(count):
        total += term
        found.append(total)
        term *= odds * (trials - j) / (j + 1)
    return found


def _atoms(pairs: Sequence[Pair]) -> list[tuple[Fraction, Fraction]]:
    """Return (probability, error) of the scores, highest score first, for the symmetric polygon."""
    lines = pairs[::-1]  # steepest first: they bound f near x = 0
    meetings = [(less - more) / (steep - flat) for (steep, more), (flat, less) in pairwise(lines)]
    atoms = [(lines[0][1], Fraction(0))]
    for (t, delta), start, end in zip(lines, [Fraction(0), *meetings], [*meetings, _ONE], strict=True):
        end = min(end, (1 - delta) / (1 + t))  # where the line meets the diagonal
        if end > start:
            atoms.append(((end - start) * (1 + t), 1 / (1 + t)))
    rest = 1 - sum((mass for mass, _ in atoms), Fraction(0))
    if rest > 0:
        atoms.append((rest, Fraction(1, 2)))
    return atoms


def _tilt(means: Sequence[float] | Doubles, wrong: int) -> Fraction | None:
    """Return x = e^λ < 1 near the minimum of Π (1 - v + v x) / x^wrong, None where the minimum is at x = 1."""
    known = np.asarray(means)
    if wrong >= known.sum():
        return None
    if wrong == 0:
        return Fraction(0)
    low, high = -700.0, 0.0
    while high - low > 1e-12 * -low:  # the number of wrong guesses that e^λ makes likely rises with λ
        middle = (low + high) / 2
        shares = known * math.exp(middle)
        low, high = (middle, high) if (shares / (1 - known + shares)).sum() < wrong else (low, middle)
    return Fraction(math.exp(low))
