"""The exact optimum of the one-run audit for a single (ε, δ), in closed form.

Notation of `certificate.py`; t = e^ε, q = t / (t + k - 1), b_i and T_i the probability and upper tail of
Bin(r, q). The supremum, over all (ε, δ)-DP mechanisms on k options and all guessers that answer r (or at most
r) secrets, of P(at least v right), 1 <= v <= r, is

    p = min(1, T_v + m δ T_v (1 - T_v) / (v b_v)) = min(1, (R + m δ R L / v) / (R + L)).

Proof. Upper side: with the constant T_v and the multiplier y = T_v L / v, the least solution of the dual rows
is S_i = max(0, T_max(i,v) - T_v T_i) / (i b_i). It is largest at i = v: for i >= v because T_i / (i b_i)
falls with i, for i < v because (1 - T_i) / (i b_i) rises with i, being a sum of products b_{i-j} / (i b_i)
each of which rises. And S_v = T_v (1 - T_v) / (v b_v) = y. Lower side: Bin(r, q) conditioned on at least v
right satisfies δ = v b_v / (m T_v), since only the jump of u at v exceeds the factor t; mixing it, with
probability m δ T_v / (v b_v), into Bin(r, q), which is pure ε-DP, attains p. When that weight exceeds 1 the
conditioned law alone gives p = 1. A guesser that answers fewer than r secrets loses nothing by guessing the
rest at random, so "at most r" has the same optimum for fixed v and r. For δ = 0 the optimum is the binomial
tail.
"""

from __future__ import annotations

from fractions import Fraction

from tightdp.auditing.certificate import DualCertificate, WorstMechanism
from tightdp.exact.binomial import exact_law, sides
from tightdp.exact.enclosure import BITS, Enclosure, round_up

__all__ = ["certificate", "p_value", "worst_mechanism"]

_ONE = Fraction(1)


def p_value(*, canaries: int, guesses: int, correct: int, t: Fraction, delta: Fraction, options: int = 2) -> Enclosure:
    """Return the optimal p-value of (ln t, δ)-DP: exact where the numbers are short enough, else an
    enclosure.

    It grows with t, with δ and with falling `correct`, because larger sets of mechanisms or events are
    searched.
    """
    if correct == 0:
        return Enclosure.exactly(1)
    exact = _exact(canaries, guesses, correct, t, delta, options)
    return exact or enclose(canaries, guesses, correct, t, delta, options)


def enclose(canaries: int, guesses: int, correct: int, t: Fraction, delta: Fraction, options: int = 2) -> Enclosure:
    """Enclose the optimal p-value in fixed-point arithmetic, for 1 <= correct <= guesses."""
    found = sides(guesses, correct, Enclosure.exactly(t), options)
    weight = canaries * delta / correct

    def value(right: Fraction, left: Fraction) -> Fraction:
        return min(_ONE, right * (1 + weight * left) / (right + left))

    # The value rises with R, and for fixed R it is monotone in L.
    lowest = min(value(found.right.lower, found.left.lower), value(found.right.lower, found.left.upper))
    highest = max(value(found.right.upper, found.left.lower), value(found.right.upper, found.left.upper))
    return Enclosure(lowest, highest)


def certificate(
    *, canaries: int, guesses: int, correct: int, t: Fraction, delta: Fraction, options: int = 2
) -> DualCertificate:
    """Return the dual point of the proof, rounded up to short rationals; `correct` >= 1."""
    found = sides(guesses, correct, Enclosure.exactly(t), options)
    slack = Fraction(1, 1 << (BITS // 2))
    tail = min(_ONE, round_up(found.tail.upper + slack, BITS // 2))
    multiplier = round_up(tail * found.left.upper / correct + slack, BITS // 2)
    if tail + canaries * delta * multiplier >= 1:
        tail, multiplier = _ONE, Fraction(0)
    return DualCertificate(canaries, guesses, correct, options, ((t, delta),), tail, (multiplier,))


def worst_mechanism(
    *, canaries: int, guesses: int, correct: int, t: Fraction, delta: Fraction, options: int = 2
) -> WorstMechanism | None:
    """Return a mechanism that attains the optimum exactly, None where its probabilities are too long to
    write.
    """
    law = exact_law(guesses, t, options)
    if law is None or correct == 0:
        return None
    weights, total = law
    tail = sum(weights[correct:])
    share = min(_ONE, canaries * delta * Fraction(tail, correct * weights[correct]))
    # (1 - share) w / total + [i >= v] share w / tail over a common denominator
    plain = (share.denominator - share.numerator) * tail
    conditioned = share.numerator * total
    mixed = tuple(w * (plain + conditioned if i >= correct else plain) for i, w in enumerate(weights))
    return WorstMechanism(canaries, guesses, options, mixed, share.denominator * total * tail)


def _exact(canaries: int, guesses: int, correct: int, t: Fraction, delta: Fraction, options: int) -> Enclosure | None:
    law = exact_law(guesses, t, options)
    if law is None:
        return None
    weights, total = law
    right, left, here = sum(weights[correct:]), sum(weights[:correct]), weights[correct]
    value = Fraction(right, total) * (1 + canaries * delta * Fraction(left, correct * here))
    return Enclosure.exactly(min(_ONE, value))
