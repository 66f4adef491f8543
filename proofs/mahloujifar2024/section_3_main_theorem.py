"""Section 3: the inequalities on the numbers of right guesses (Theorem 9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from random import Random

from sympy import Symbol, symbols
from sympy import summation as symbolic_sum

from tightdp.auditing import optimal
from tightdp.auditing.certificate import Game as Observation
from tightdp.claims import certain, identity

from .audits import drawn, drawn_games, optimum
from .games import ZERO, Curve, Game, Guess, blow_up, delta_of, events, guesses_of, one_sided, right_law, symmetric_laws
from .lemmas import a, b, i
from .paper import paper


def theorem_nine(kind: str, seed: int, m: int, k: int, guesses: int) -> Iterator[dict[str, Fraction]]:
    """All sets T, for a random mechanism and a guesser with at most so many guesses."""
    laws, curve, guesser = drawn(kind, seed, m, k, guesses)
    if guesser is None:
        guesser = random_guesser(seed, m, k, guesses, range(3))
    return theorem_nine_sides(right_law(laws, guesser), curve, m, k, guesses)


def counted_twice() -> None:
    """For secret j let E_j be: j is answered, and the number of right guesses elsewhere is i - 1 for some i in T.
    It is an event of θ and of the other secrets, so Lemma 11 (M2b) gives P(E_j, j right) <= a
    P(E_j, j wrong)/(k-1) + b for every line of f̄. Average over j. An outcome with i right guesses is counted on
    the left once for each of them: Σ_{i in T} i p_i / m. An outcome with g <= c' guesses of which i - 1 are right
    is counted on the right once for each wrong one, g - (i - 1) <= c' - i + 1 times; f̄ does not fall, so counting
    c' - i + 1 times is at least as large. For exactly c' guesses it is the exact count.

    For the reader: that an outcome is counted as often as the text says, and the concavity of f̄.
    """
    j, g = symbols("j g", integer=True, positive=True)
    identity(symbolic_sum(1, (j, 1, i)), i, "i right guesses, each counted once")
    identity(symbolic_sum(1, (j, i, g)), g - (i - 1), "g - (i - 1) wrong guesses, each counted once")
    fewer = Symbol("c'-g", integer=True, nonnegative=True)
    identity((g + fewer - i + 1) - (g - i + 1), fewer, "c' - i + 1 is larger by c' - g")
    certain((a * fewer).is_nonnegative, "so the right side only grows when fewer guesses are made")
    one, two = symbols("x_1 x_2", nonnegative=True)
    identity(((a * one + b) + (a * two + b)) / 2, a * (one + two) / 2 + b, "a line commutes with averaging over j")


def subsets(most: int) -> Iterator[tuple[int, ...]]:
    """All subsets T of 1..most."""
    return events(range(1, most + 1))


def random_guesser(seed: int, m: int, k: int, most: int, outcomes: Iterable[int]) -> dict[int, Guess]:
    """A guess for every output, at most so many secrets named."""

    random, options = Random(seed), guesses_of(m, k, most)
    return {out: random.choice(options) for out in outcomes}


def theorem_nine_sides(
    p: Sequence[Fraction], curve: Curve, m: int, k: int, guesses: int
) -> Iterator[dict[str, Fraction]]:
    """Both sides of the inequality of Theorem 9 for every set T of counts."""
    for chosen in subsets(guesses):
        left = sum((each * p[each] for each in chosen), ZERO)
        right = sum(((guesses - each + 1) * p[each - 1] for each in chosen), ZERO)
        y = right / (m * (k - 1))
        yield {"left": left, "right": right, "y": y, "f̄(y)": blow_up(curve, y)}


paper.claim(
    "M5a",
    "Thm 9",
    "For every set T of counts: `left/m <= f̄(y)`, where `y = right/(m(k - 1))`, left = Σ_{i in T} i·p_i, "
    "right = Σ_{i in T} (c'-i+1)·p_{i-1}, f̄ = 1 - f, p_i the probability of exactly i right guesses, for "
    "every f-DP mechanism on [k]^m and every guesser that makes at most c' guesses.",
    verdict="argued",
    instances=drawn_games(15),
    quick=drawn_games(1),
    check=theorem_nine,
    proof=counted_twice,
    readings="The proof replaces *at most c'* by a guesser that marks exactly c' guesses, which would "
    "change the p_i. That is not needed: for exactly c' the counting is exact, for fewer the right side "
    "only grows. In the reconstruction game f must bound the replacement of one element (M2c).",
    notes="For k = 2, f(x) = 1 - δ - e^ε x and all T at once it says Σ_i max(0, i p_i - e^ε (c'-i+1) p_{i-1}) <= m δ.",
)


def program_is_exact(m: int, k: int, guesses: int, t: Fraction, delta: Fraction) -> Iterator[dict[str, Fraction]]:
    """Theorem 9 as a linear program, for every v: its dual certificate, and the mechanism that attains it."""
    for correct in range(1, guesses + 1):
        size = Observation(m, guesses, correct, k)
        dual = optimal.certificate(size, Fraction(t), Fraction(delta))
        worst = optimal.worst_mechanism(size, Fraction(t), Fraction(delta))
        assert worst is not None
        p = list(worst.law) + [Fraction(0)] * (m - guesses)
        laws, guesser = symmetric_laws(m, k, {guesses: worst.law})
        sides = theorem_nine_sides(p, one_sided(t, delta), m, k, guesses)
        if not dual.check() or right_law(laws, guesser) != p or any(s["left"] / m > s["f̄(y)"] for s in sides):
            raise AssertionError("the certificate or the mechanism is not what it should be")
        yield {
            "the optimum": optimum(Game(m, k, guesses, correct), t, delta),
            "the certified bound": dual.bound,
            "P(at least v right)": sum(p[correct:], ZERO),
            "δ of the mechanism": delta_of(laws, k, t),
        }


LINEAR_PROGRAMS = [
    {"m": m, "k": k, "guesses": guesses, "t": Fraction(t), "delta": Fraction(delta)}
    for m, k in ((1, 2), (2, 2), (3, 2), (2, 3))
    for guesses in range(1, m + 1)
    for t in ("1", "3/2", "3")
    for delta in ("0", "1/10")
]


paper.claim(
    "M5b",
    "Thm 9, beyond",
    "For (ε,δ)-DP Theorem 9 loses nothing: the largest P(at least v right) that its inequalities for all T "
    "allow is attained by an (ε,δ)-DP mechanism, for every v: `P(at least v right) = the optimum <= the "
    "certified bound <= the optimum + 2^-90`, `δ of the mechanism <= δ`.",
    verdict="holds on",
    extra=True,
    instances=LINEAR_PROGRAMS,
    quick=12,
    check=program_is_exact,
    notes="Checked by a dual point of the linear program Σ_i max(0, a_i - e^ε b_i) <= δ (which is Theorem 9 "
    "for all T), and by a symmetric mechanism written out for all datasets. So what Algorithm 3 loses "
    "(M6b) it loses after Theorem 9.",
)


paper.row(
    "M5",
    "Thm 9",
    "For every set T of counts: Σ_{i in T} (i/m) p_i <= 1 - f((1/(k-1)) Σ_{i in T} ((c'-i+1)/m) p_{i-1}), "
    "p_i the probability of exactly i right guesses by an adversary who makes at most c'.",
    parts=("M5a", "M5b"),
)
