"""What several sections check: random games, the exact optimum, Algorithm 3 of the engine."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from tightdp.auditing import optimal
from tightdp.auditing.certificate import Game as Observation
from tightdp.claims import grid, random_dp_law

from .games import Curve, Game, Guess, Laws, delta_of, one_sided, symmetric, symmetric_laws, tradeoff
from .mechanisms import random_laws


def drawn(kind: str, seed: int, m: int, k: int, guesses: int) -> tuple[Laws, Curve, dict[int, Guess] | None]:
    """A random mechanism and an f that it satisfies; for symmetric ones their guesser.

    kind: "f-DP", any mechanism with its own f; "(ε,δ)-DP", one that is just (ln 2, 1/10)-DP; "symmetric", a mixture
    of symmetric mechanisms over the number of guesses (all at most c'), with its own δ at four e^ε.
    """
    if kind == "f-DP":
        laws = random_laws(seed, m, k, 3)
        return laws, tradeoff(laws, k), None
    if kind == "(ε,δ)-DP":
        laws = random_dp_law(seed, m, outputs=3, exp_epsilon=2, delta=Fraction(1, 10))
        return laws, one_sided(Fraction(2), Fraction(1, 10)), None
    laws, guesser = symmetric_laws(m, k, random_shares(seed, guesses))
    slopes = (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4))
    curve: Curve = ()
    for t in slopes:
        curve += symmetric(t, delta_of(laws, k, t))
    return laws, curve, guesser


def random_shares(seed: int, guesses: int) -> dict[int, list[Fraction]]:
    """Random probabilities of publishing c' and i right ones, over c' = 1..guesses."""
    random = Random(seed)
    weights = {size: [random.randint(0, 5) ** 2 for _ in range(size + 1)] for size in range(1, guesses + 1)}
    weights[guesses][-1] += 1
    total = sum(map(sum, weights.values()))
    return {size: [Fraction(weight, total) for weight in row] for size, row in weights.items()}


def optimum(game: Game, t: Fraction, delta: Fraction) -> Fraction:
    """The exact largest P(at least `correct` right) of all (ln t, δ)-DP mechanisms, by the engine."""
    observed = Observation(game.m, game.guesses, game.correct, game.k)
    found = optimal.p_value(observed, Fraction(t), Fraction(delta))
    assert found.is_exact
    return found.lower


def drawn_games(seeds: int) -> list[dict[str, object]]:
    """Random games of all three kinds, small first."""
    shapes = [("f-DP", 2, 2), ("f-DP", 3, 2), ("f-DP", 2, 3), ("(ε,δ)-DP", 2, 2), ("(ε,δ)-DP", 3, 2)]
    shapes += [("symmetric", 2, 2), ("symmetric", 3, 2), ("symmetric", 2, 3)]
    return [
        {"kind": kind, "seed": seed, "m": m, "k": k, "guesses": guesses}
        for kind, m, k in shapes
        for guesses in range(1, m + 1)
        for seed in range(seeds)
    ]


GUARANTEES = grid(t=("1", "3/2", "2", "4"), delta=("0", "1/100", "1/20", "1/4"))


AGAINST = [{"m": m, "k": k, **each} for m, k in ((1, 2), (3, 2), (6, 2), (3, 3), (5, 4)) for each in GUARANTEES]
