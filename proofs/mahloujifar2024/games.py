"""Trade-off functions, guessers and Algorithm 3 by listing. Nothing is taken from the engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb
from typing import NamedTuple

Secrets = tuple[int, ...]


Law = dict[int, Fraction]


Laws = dict[Secrets, Law]


Guess = tuple[int | None, ...]


Curve = tuple[tuple[Fraction, Fraction], ...]
"""(slope, offset) of lines; f̄(y) is the least of 1 and all slope·y + offset."""


ZERO, ONE = Fraction(0), Fraction(1)


class Game(NamedTuple):
    """m secrets of k options, at most `guesses` answered (c'), `correct` right (c)."""

    m: int
    k: int
    guesses: int
    correct: int


def one_sided(t: Fraction, delta: Fraction) -> Curve:
    """f̄(y) = t y + δ, as Proposition 3 prints it."""
    return ((Fraction(t), Fraction(delta)),)


def symmetric(t: Fraction, delta: Fraction) -> Curve:
    """The same with the mirror image: 1 - f(y) for f(y) = max(0, 1 - δ - t y, (1 - δ - y)/t)."""
    return ((Fraction(t), Fraction(delta)), (1 / Fraction(t), 1 - (1 - Fraction(delta)) / t))


def blow_up(curve: Curve, y: Fraction) -> Fraction:
    """f̄(y)."""
    return min([ONE, *(slope * y + offset for slope, offset in curve)])


def inverse(curve: Curve, value: Fraction) -> Fraction:
    """The least y >= 0 with f̄(y) >= value; beyond 1 the lines go on."""
    return max([ZERO, *((value - offset) / slope for slope, offset in curve if slope)])


def most_right(curve: Curve, k: int, x: Fraction) -> Fraction:
    """f'_k(x) = sup{α : α + f((x-α)/(k-1)) <= 1}, 0 <= α <= x: line by line α is at most (a x + (k-1) b)/(k-1+a)."""
    return min([x, ONE, *((a * x + (k - 1) * b) / (k - 1 + a) for a, b in curve)])


def least_right(curve: Curve, k: int, x: Fraction, right_side: int) -> Fraction:
    """inf{α >= 0 : (k-1) f(α) + x - α <= right_side}; the paper's f''_k(x) has the right side 1."""
    lines = ((k - 1) * (1 - b) + x - right_side for _, b in curve)
    found = (need / ((k - 1) * a + 1) for need, (a, _) in zip(lines, curve, strict=True))
    return max(ZERO, x - right_side, *found)


def tradeoff(laws: Laws, k: int) -> Curve:
    """The best f̄ of a mechanism: the concave hull of (P'(T), P(T)) over all neighbours and events T."""
    points: dict[Fraction, Fraction] = {}
    for u, law in laws.items():
        for other in neighbours(u, k):
            theirs = laws[other]
            for event in events(law):
                y = sum((theirs[out] for out in event), ZERO)
                points[y] = max(points.get(y, ZERO), sum((law[out] for out in event), ZERO))
    hull: list[tuple[Fraction, Fraction]] = []
    for point in sorted(points.items()):
        while len(hull) > 1 and _below(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    slopes = [(top - low) / (right - left) for (left, low), (right, top) in pairwise(hull)]
    return tuple((slope, low - slope * left) for slope, (left, low) in zip(slopes, hull, strict=False))


def _below(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction]) -> bool:
    """Whether b does not lie above the segment from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) <= (c[1] - a[1]) * (b[0] - a[0])


def neighbours(u: Secrets, k: int) -> Iterator[Secrets]:
    """The datasets in which one secret is replaced."""
    for at, value in enumerate(u):
        for other in range(k):
            if other != value:
                yield (*u[:at], other, *u[at + 1 :])


def events(outcomes: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """All sets of outcomes."""
    listed = list(outcomes)
    for size in range(len(listed) + 1):
        yield from combinations(listed, size)


def delta_of(laws: Laws, k: int, t: Fraction) -> Fraction:
    """The exact δ(t) of a mechanism, over all neighbours."""
    return max(
        sum((max(ZERO, p - t * laws[other].get(out, ZERO)) for out, p in law.items()), ZERO)
        for u, law in laws.items()
        for other in neighbours(u, k)
    )


def right(u: Secrets, guess: Guess) -> int:
    """How many guesses are right."""
    return sum(a == b for a, b in zip(u, guess, strict=True))


def guesses_of(m: int, k: int, most: int) -> list[Guess]:
    """All guesses that name at most so many secrets."""
    options: tuple[int | None, ...] = (None, *range(k))
    return [guess for guess in product(options, repeat=m) if m - guess.count(None) <= most]


def right_law(laws: Laws, guesser: dict[int, Guess]) -> list[Fraction]:
    """p_0..p_m for uniform secrets."""
    p = [ZERO] * (len(next(iter(laws))) + 1)
    for u, law in laws.items():
        for out, probability in law.items():
            p[right(u, guesser[out])] += probability / len(laws)
    return p


def binomial_law(trials: int, t: Fraction, k: int) -> list[Fraction]:
    """The law of Bin(trials, t / (t + k - 1))."""
    total = Fraction(t + k - 1) ** trials
    return [comb(trials, i) * t**i * (k - 1) ** (trials - i) / total for i in range(trials + 1)]


def symmetric_laws(m: int, k: int, shares: Mapping[int, Sequence[Fraction]]) -> tuple[Laws, dict[int, Guess]]:
    """The symmetric mechanism of section 6 of the specification, written out, and its guesser.

    It publishes a set of c' secrets, uniform, and a guess for each; shares[c'][i] is the probability that c' are
    published and i of them are right; given both, all outcomes are equally likely.
    """
    outcomes = [guess for guess in guesses_of(m, k, m) if m - guess.count(None) in shares]
    laws: Laws = {}
    for u in product(range(k), repeat=m):
        law = {}
        for number, guess in enumerate(outcomes):
            size, i = m - guess.count(None), right(u, guess)
            ways = comb(m, size) * comb(size, i) * (k - 1) ** (size - i)
            law[number] = Fraction(shares[size][i]) / ways
        laws[u] = law
    return laws, dict(enumerate(outcomes))


def recursion(
    curve: Curve, game: Game, start: int, alpha: Fraction, beta: Fraction, code: bool = False
) -> tuple[list[Fraction], list[Fraction]]:
    """r_{i,j} and h_{i,j} for i = 0..j, j the start: lines 4 to 7 of Algorithm 3.

    As the listing has it, or with h[i] = max(h[i+1], ...) as the code has it.
    """
    r, h = [alpha] * (start + 1), [beta] * (start + 1)
    for i in range(start - 1, -1, -1):
        h[i] = (game.k - 1) * inverse(curve, r[i + 1])
        if code:
            h[i] = max(h[i + 1], h[i])
        r[i] = r[i + 1] + Fraction(i, game.guesses - i) * (h[i] - h[i + 1])
    return r, h


def refutes(curve: Curve, game: Game, tau: Fraction, code: bool = False) -> bool:
    """Whether Algorithm 3 returns True: r[0] + h[0] >= c'/m when started from c τ/m and (c'-c) τ/m."""
    unit = tau / game.m
    r, h = recursion(curve, game, game.correct, game.correct * unit, (game.guesses - game.correct) * unit, code)
    return r[0] + h[0] >= Fraction(game.guesses, game.m)
