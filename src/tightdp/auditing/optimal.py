"""The p-values of a single (ε, δ) in closed form: the exact optimum, and the bound of Steinke, Nasr, Jagielski 2023.

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

With T, L = 1 - T and b the upper tail, the rest and the probability of v under X ~ Bin(r, q), the published bound is
T + 2mδA, A the largest P(v-i <= X < v) / i. It was published for two options, q = t / (1 + t); for k options q is
t / (t + k - 1). The exact optimum is T + mδ TL/(v b), up to 1.

Where T <= q the bound is at least the optimum; so it is wherever the bound is at most 1/k, because T is no larger and q
no smaller than that. Proof. The sum of (i - rq) b_i over i >= v is (1-q) v b. So D := E[X | X >= v] - E[X | X < v] is
(1-q) v b (1/T + 1/L), and TL/(v b) = (1-q)/D. It remains to show 1 - q <= 2AD. Let G = v - X. By the choice of A,
P(G <= i) - P(G <= 0) <= iA, so that P(G > i | X < v) >= 1 - iA/L, and D >= E[G | X < v] is at least the sum of
max(0, 1 - iA/L) over i >= 0. Convexity makes that at least L/(2A) + 1/2. So 2AD >= L + A > 1 - T >= 1 - q.

Larger p-values can be below the optimum, as for v = 1 of r = m = 2 at e^ε = 3: see `steinke_counterexample`.
"""

from __future__ import annotations

from fractions import Fraction

from tightdp.auditing.certificate import Counterexample, DualCertificate, Game, WorstMechanism
from tightdp.exact.enclosure import BITS, Enclosure, round_up
from tightdp.exact.sums import exact_law, sides

_ONE = Fraction(1)


def p_value(game: Game, t: Fraction, delta: Fraction) -> Enclosure:
    """Return the optimal p-value of (ln t, δ)-DP: exact where the numbers are short enough, else an enclosure.

    It grows with t, with δ and with falling `correct`, because larger sets of mechanisms or events are searched.
    """
    if game.correct == 0:
        return Enclosure.exactly(1)
    law = exact_law(game.guesses, t, game.options)
    if law is None:
        return enclose(game, t, delta)
    weights, total = law
    right, left, here = sum(weights[game.correct :]), sum(weights[: game.correct]), weights[game.correct]
    value = Fraction(right, total) * (1 + game.canaries * delta * Fraction(left, game.correct * here))
    return Enclosure.exactly(min(_ONE, value))


def enclose(game: Game, t: Fraction, delta: Fraction) -> Enclosure:
    """Enclose the optimal p-value in fixed-point arithmetic, for 1 <= correct <= guesses."""
    found = sides(game.guesses, game.correct, Enclosure.exactly(t), game.options)
    weight = game.canaries * delta / game.correct

    def value(right: Fraction, left: Fraction) -> Fraction:
        return min(_ONE, right * (1 + weight * left) / (right + left))

    # The value rises with R, and for fixed R it is monotone in L.
    return Enclosure(
        min(value(found.right.lower, left) for left in found.left),
        max(value(found.right.upper, left) for left in found.left),
    )


def certificate(game: Game, t: Fraction, delta: Fraction) -> DualCertificate:
    """Return the dual point of the proof, rounded up to short rationals; `correct` >= 1."""
    found = sides(game.guesses, game.correct, Enclosure.exactly(t), game.options)
    slack = Fraction(1, 1 << (BITS // 2))
    tail = min(_ONE, round_up(found.tail.upper + slack, BITS // 2))
    multiplier = round_up(tail * found.left.upper / game.correct + slack, BITS // 2)
    if tail + game.canaries * delta * multiplier >= 1:
        tail, multiplier = _ONE, Fraction(0)
    return DualCertificate.of(game, ((t, delta),), tail, (multiplier,))


def worst_mechanism(game: Game, t: Fraction, delta: Fraction) -> WorstMechanism | None:
    """Return a mechanism that attains the optimum exactly, None where its probabilities are too long to write."""
    law, correct = exact_law(game.guesses, t, game.options), game.correct
    if law is None or correct == 0:
        return None
    weights, total = law
    tail = sum(weights[correct:])
    share = min(_ONE, game.canaries * delta * Fraction(tail, correct * weights[correct]))
    # (1 - share) w / total + [i >= v] share w / tail over a common denominator
    plain = (share.denominator - share.numerator) * tail
    conditioned = share.numerator * total
    mixed = tuple(w * (plain + conditioned if i >= correct else plain) for i, w in enumerate(weights))
    return WorstMechanism(game.canaries, game.guesses, game.options, mixed, share.denominator * total * tail)


# the published bound


def proved_up_to(options: int) -> Fraction:
    """Return up to which value the published bound is at least the exact optimum."""
    return Fraction(1, options)


def steinke_p_value(game: Game, t: Enclosure, delta: Fraction) -> Enclosure:
    """Enclose the published p-value of (ln t, δ)-DP.

    With q = t / (t + options - 1) it is min(1, P(Bin(r,q) >= v) + 2mδ max over 1 <= i <= v of P(v-i <= Bin(r,q) <= v-1)
    / i).
    """
    if game.correct == 0:
        return Enclosure.exactly(1)
    found = sides(game.guesses, game.correct, t, game.options)
    weight = 2 * game.canaries * delta
    # tail + weight * average * b_v, and 1 / b_v = R + L
    extra_low = weight * found.best_average.lower / (found.right.upper + found.left.upper)
    extra_high = weight * found.best_average.upper / (found.right.lower + found.left.lower)
    return Enclosure(min(_ONE, found.tail.lower + extra_low), min(_ONE, found.tail.upper + extra_high))


def steinke_counterexample() -> Counterexample:
    """Return the stored counterexample: a (ln 3, 1/5)-DP mechanism on two secrets that is never wrong twice.

    It guesses both right with probability 3/5, else one. At least one is right for certain; the bound is 79/80.
    """
    mechanism = WorstMechanism(canaries=2, guesses=2, options=2, weights=(0, 2, 3), total=5)
    return Counterexample(2, 2, 1, Fraction(3), Fraction(1, 5), Fraction(79, 80), mechanism)
