"""The binomial bound for one run with its δ correction (Steinke, Nasr, Jagielski 2023).

With T, L = 1 - T and b the upper tail, the rest and the probability of v under X ~ Bin(r, q), the bound is T + 2mδA, A
the largest P(v-i <= X < v) / i. It is published for two options, q = t / (1 + t); for k options q is t / (t + k - 1).
The exact optimum (optimal.py) is T + mδ TL/(v b), up to 1.

Where T <= q the bound is at least the optimum; so it is wherever the bound is at most 1/k, because T is no larger and q
no smaller than that. Proof. The sum of (i - rq) b_i over i >= v is (1-q) v b. So D := E[X | X >= v] - E[X | X < v] is
(1-q) v b (1/T + 1/L), and TL/(v b) = (1-q)/D. It remains to show 1 - q <= 2AD. Let G = v - X. By the choice of A,
P(G <= i) - P(G <= 0) <= iA, so that P(G > i | X < v) >= 1 - iA/L, and D >= E[G | X < v] is at least the sum of
max(0, 1 - iA/L) over i >= 0. Convexity makes that at least L/(2A) + 1/2. So 2AD >= L + A > 1 - T >= 1 - q.

Larger p-values can be below the optimum, as for v = 1 of r = m = 2 at e^ε = 3: see `counterexample`.
"""

from __future__ import annotations

from fractions import Fraction

from tightdp.auditing.certificate import WorstMechanism
from tightdp.auditing.order_statistics import Counterexample
from tightdp.exact.binomial import sides
from tightdp.exact.enclosure import Enclosure

__all__ = ["counterexample", "p_value", "proved_up_to"]

_ONE = Fraction(1)


def proved_up_to(options: int) -> Fraction:
    """Return up to which value a bound is at least the exact optimum."""
    return Fraction(1, options)


def p_value(*, canaries: int, guesses: int, correct: int, t: Enclosure, delta: Fraction, options: int = 2) -> Enclosure:
    """Enclose the p-value of (ln t, δ)-DP after `correct` of `guesses` guesses on `canaries` secrets were right.

    With q = t / (t + options - 1) it is min(1, P(Bin(r,q) >= v) + 2mδ max over 1 <= i <= v of P(v-i <= Bin(r,q) <= v-1)
    / i).
    """
    if correct == 0:
        return Enclosure.exactly(1)
    found = sides(guesses, correct, t, options)
    weight = 2 * canaries * delta
    # tail + weight * average * b_v, and 1 / b_v = R + L
    extra_low = weight * found.best_average.lower / (found.right.upper + found.left.upper)
    extra_high = weight * found.best_average.upper / (found.right.lower + found.left.lower)
    return Enclosure(min(_ONE, found.tail.lower + extra_low), min(_ONE, found.tail.upper + extra_high))


def counterexample() -> Counterexample:
    """Return the stored counterexample: a (ln 3, 1/5)-DP mechanism on two secrets that is never wrong twice.

    It guesses both right with probability 3/5, else one. At least one is right for certain; the bound is 79/80.
    """
    mechanism = WorstMechanism(canaries=2, guesses=2, options=2, weights=(0, 2, 3), total=5)
    return Counterexample(2, 2, 1, Fraction(3), Fraction(1, 5), Fraction(79, 80), mechanism)
