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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tightdp.auditing.certificate import WorstMechanism
from tightdp.auditing.tradeoff import Pair
from tightdp.exact.enclosure import BITS, Enclosure

__all__ = ["Counterexample", "counterexample", "error_means", "estimate", "p_value"]

_ONE = Fraction(1)
_MANTISSA = 320


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


def counterexample() -> Counterexample:
    """Return the stored counterexample: all-or-nothing on five secrets is (0, 1/20)-DP.

    It prints all secrets with probability 1/20 and otherwise nothing, so blind guesses are all right with
    probability 1/20 + 19/20 · 2^-5 = 51/640. The method gives five right out of five a p-value below
    (21/40)^5 < 1/20, so at significance 5 % it rejects a true guarantee in 8 % of the runs.
    """
    delta, blind = Fraction(1, 20), Fraction(19, 20)
    law = [blind * math.comb(5, i) / 32 for i in range(6)]
    law[5] += delta
    claimed = p_value(canaries=5, guesses=5, correct=5, pairs=((_ONE, delta),)).upper
    return Counterexample(5, 5, 5, _ONE, delta, claimed, WorstMechanism.from_law(5, 5, 2, law))


def p_value(
    *, canaries: int, guesses: int, correct: int, pairs: Sequence[Pair], variant: str = "published"
) -> Enclosure:
    """Enclose the method's p-value for the polygon of `pairs`.

    "published" is Proposition 1 at an exponent that nearly minimises it; "exact" the tail of the sum itself.
    """
    means = error_means(canaries, guesses, pairs)
    wrong = guesses - correct
    if wrong >= guesses:
        return Enclosure.exactly(1)
    if variant == "exact":
        return Enclosure(_tail([m.upper for m in means], wrong, 0), _tail([m.lower for m in means], wrong, 1))
    tilt = _tilt([float(m.lower) for m in means], wrong)
    if tilt is None:
        return Enclosure.exactly(1)
    low = _product(_factors((m.upper for m in means), tilt, 0), 0) / (tilt**wrong if wrong else 1)
    high = _product(_factors((m.lower for m in means), tilt, 1), 1) / (tilt**wrong if wrong else 1)
    return Enclosure(min(_ONE, low), min(_ONE, high))


def estimate(*, canaries: int, guesses: int, correct: int, pairs: Sequence[Pair], variant: str = "published") -> float:
    """Return the logarithm of the p-value in floats, for a search that is rechecked."""
    import numpy as np

    wrong = guesses - correct
    if not correct:
        return 0.0
    means = _float_means(canaries, guesses, _atoms(pairs))
    if variant == "exact":
        law = np.zeros(wrong + 1)
        law[0] = 1.0
        for mean in means:
            law[1:] = law[1:] * (1 - mean) + law[:-1] * mean
            law[0] *= 1 - mean
        return math.log(max(1e-300, math.fsum(law)))
    tilt = _tilt([float(mean) for mean in means], wrong)
    if tilt is None:
        return 0.0
    share = float(tilt)
    return float(np.log1p(means * (share - 1)).sum()) - (wrong * math.log(share) if wrong else 0.0)


def _float_means(canaries: int, guesses: int, atoms: list[tuple[Fraction, Fraction]]) -> Any:
    """Return the means in floats, by logarithms of the binomial terms."""
    import numpy as np

    counts = np.arange(1, guesses)
    choices = np.concatenate([[0.0], np.cumsum(np.log((canaries - counts + 1) / counts))])
    numbers = np.arange(guesses)
    means, above = np.full(guesses, float(atoms[0][1])), Fraction(0)
    for (mass, error), (_, next_error) in pairwise(atoms):
        above += mass
        chance = float(above)
        if not 0 < chance < 1:
            means = np.full(guesses, float(next_error)) if not above else means
            continue
        terms = np.exp(choices + numbers * math.log(chance) + (canaries - numbers) * math.log1p(-chance))
        means = means + float(next_error - error) * np.minimum(1.0, np.cumsum(terms))
    return means


def _factors(means: Iterable[Fraction], tilt: Fraction, upward: int) -> Iterable[int]:
    """Yield 1 - v (1 - tilt) in units of 2^-_MANTISSA, rounded down or up."""
    up, down = tilt.denominator - tilt.numerator, tilt.denominator
    for mean in means:
        scaled, divisor = mean.numerator * up << _MANTISSA, mean.denominator * down
        yield (1 << _MANTISSA) - (scaled // divisor if upward else -(-scaled // divisor))


def error_means(canaries: int, guesses: int, pairs: Sequence[Pair]) -> list[Enclosure]:
    """Enclose v_k, the probability that the guess with the k-th largest score is wrong, k = 1..guesses.

    Under the polygon a score is one of finitely many; scores above the a-th have total probability W_a, and
    with e_a the error at the a-th, v_k = e_1 + Σ_a (e_{a+1} - e_a) P(Bin(m, W_a) < k).
    """
    atoms = _atoms(pairs)
    lower, upper = (_mean_bounds(canaries, guesses, atoms, upward) for upward in (0, 1))
    one, half = 1 << BITS, 1 << (BITS - 1)
    return [Enclosure(Fraction(a, one), Fraction(min(half, b), one)) for a, b in zip(lower, upper, strict=True)]


def _mean_bounds(canaries: int, guesses: int, atoms: list[tuple[Fraction, Fraction]], upward: int) -> list[int]:
    """Return v_1, ..., v_guesses in units of 2^-BITS, rounded down (`upward` 0) or up (1)."""
    bounds, above = [_fixed(atoms[0][1], upward)] * guesses, Fraction(0)
    for (mass, error), (_, next_error) in pairwise(atoms):
        above += mass
        if not above:
            bounds = [_fixed(next_error, upward)] * guesses
            continue
        step = _fixed(next_error - error, upward)
        parts = _distribution(canaries, guesses, above, upward)
        bounds = [bound + (step * part >> BITS) + upward for bound, part in zip(bounds, parts, strict=True)]
    return bounds


def _atoms(pairs: Sequence[Pair]) -> list[tuple[Fraction, Fraction]]:
    """Return (probability, error) of the scores, highest score first, for the symmetric polygon."""
    lines = sorted(pairs, reverse=True)  # steepest first: they bound f near x = 0
    kept: list[Pair] = []
    starts: list[Fraction] = []
    for t, delta in lines:
        while kept:
            meeting = (delta - kept[-1][1]) / (kept[-1][0] - t)
            if meeting > starts[-1]:
                break
            kept.pop()
            starts.pop()
        starts.append(meeting if kept else Fraction(0))
        kept.append((t, delta))
    atoms = [(kept[0][1], Fraction(0))]
    for (t, delta), start, end in zip(kept, starts, [*starts[1:], _ONE], strict=True):
        end = min(end, (1 - delta) / (1 + t))  # where the line meets the diagonal
        if end > start:
            atoms.append(((end - start) * (1 + t), 1 / (1 + t)))
    rest = 1 - sum((mass for mass, _ in atoms), Fraction(0))
    if rest > 0:
        atoms.append((rest, Fraction(1, 2)))
    return atoms


def _distribution(trials: int, count: int, chance: Fraction, upward: int) -> list[int]:
    """Return P(Bin(trials, chance) < k) for k = 1..count in units of 2^-BITS, rounded down (`upward` 0) or up (1)."""
    one = 1 << BITS
    if chance >= 1:
        return [one if k > trials else 0 for k in range(1, count + 1)]
    mantissa, exponent = _power(1 - chance, trials, upward)
    odds = _fixed(chance / (1 - chance), upward)
    total, found = 0, []
    for j in range(count):
        total += _shifted(mantissa, exponent + BITS, upward)
        found.append(min(one, total))
        product = mantissa * (trials - j) * odds
        mantissa = -((-product >> BITS) // (j + 1)) if upward else (product >> BITS) // (j + 1)
        mantissa, exponent = _trimmed(mantissa, exponent, upward)
    return found


def _fixed(value: Fraction, upward: int) -> int:
    """Return a number in units of 2^-BITS, rounded down or up."""
    scaled = value.numerator << BITS
    return -(-scaled // value.denominator) if upward else scaled // value.denominator


def _power(base: Fraction, exponent: int, upward: int) -> tuple[int, int]:
    """Return (mantissa, e) with mantissa 2^e just below or above base^exponent, 0 < base < 1."""
    shift = _MANTISSA + base.denominator.bit_length() - base.numerator.bit_length()
    square = (
        -(-(base.numerator << shift) // base.denominator) if upward else (base.numerator << shift) // base.denominator
    )
    scale, result, result_scale = -shift, 1, 0
    while exponent:
        if exponent & 1:
            result, result_scale = _trimmed(result * square, result_scale + scale, upward)
        square, scale = _trimmed(square * square, 2 * scale, upward)
        exponent >>= 1
    return result, result_scale


def _trimmed(mantissa: int, exponent: int, upward: int) -> tuple[int, int]:
    excess = mantissa.bit_length() - _MANTISSA
    if excess < 0 and mantissa:
        return mantissa << -excess, exponent + excess
    if excess < 64:
        return mantissa, exponent
    return _shifted(mantissa, -excess, upward), exponent + excess


def _shifted(mantissa: int, by: int, upward: int) -> int:
    if by >= 0:
        return mantissa << by
    return -(-mantissa >> -by) if upward else mantissa >> -by


def _product(factors: Iterable[int], upward: int) -> Fraction:
    mantissa, exponent = 1, 0
    for factor in factors:
        mantissa, exponent = _trimmed(mantissa * factor, exponent - _MANTISSA, upward)
    return Fraction(mantissa) * Fraction(2) ** exponent


def _tilt(means: Sequence[float], wrong: int) -> Fraction | None:
    """Return x = e^λ < 1 near the minimum of Π (1 - v + v x) / x^wrong, None where the minimum is at x = 1."""
    if wrong >= math.fsum(means):
        return None
    if wrong == 0:
        return Fraction(0)
    low, high, at = -700.0, 0.0, -1.0
    for _ in range(60):  # Newton steps on the derivative of the exponent, kept inside a shrinking bracket
        scale = math.exp(at)
        shares = [v * scale / (1 - v + v * scale) for v in means]
        excess = math.fsum(shares) - wrong
        low, high = (at, high) if excess < 0 else (low, at)
        step = excess / math.fsum(s * (1 - s) for s in shares)
        if abs(step) < 1e-9:
            break
        at = at - step if low < at - step < high else (low + high) / 2
    return Fraction(math.exp(min(at, -1e-12)))


def _tail(means: Sequence[Fraction], wrong: int, upward: int) -> Fraction:
    """Return P(Σ V <= wrong) for independent V with these means, rounded down or up."""
    law = [1 << BITS] + [0] * wrong
    for mean in means:
        hit = (
            -(-(mean.numerator << BITS) // mean.denominator) if upward else (mean.numerator << BITS) // mean.denominator
        )
        miss = (1 << BITS) - ((mean.numerator << BITS) // mean.denominator) if upward else (1 << BITS) - hit - 1
        for j in range(wrong, 0, -1):
            law[j] = (law[j] * miss + law[j - 1] * hit >> BITS) + upward
        law[0] = (law[0] * miss >> BITS) + upward
    return min(_ONE, Fraction(sum(law), 1 << BITS))
