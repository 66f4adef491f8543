"""From a law found in floats to a mechanism that satisfies a guarantee in exact rationals."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cmp_to_key
from itertools import accumulate

from tightdp.auditing.certificate import WorstMechanism
from tightdp.auditing.linear_program import Game, Solution
from tightdp.auditing.tradeoff import Pair
from tightdp.exact.enclosure import round_up

__all__ = ["continued", "mechanism"]

_SHIFT = 1060
_TINY = 2.0**-1000
_LEAST_SHARE = Fraction(1, 1 << 60)
_SHARE_BITS = 128
_NOISE, _SPAN = 1e-9, 8


def mechanism(game: Game, pairs: Sequence[Pair], solution: Solution) -> WorstMechanism:
    """Turn the law found in floats into a mechanism that satisfies all pairs exactly.

    The law is extended to all indices, made monotone in u, and mixed with blind guessing, which adds a
    constant to u and has δ(t) = 0 for all t >= 1: a small share absorbs roundings, the least share that meets
    all pairs is taken.
    """
    weights = _extended(game, pairs, solution)
    total = sum(weights)
    if not total:  # nothing but underflows
        return WorstMechanism(game.canaries, game.guesses, game.options, *_blind(game))
    excess = _Excess(game, weights, total)
    share = max([_LEAST_SHARE, *(excess.share(pair) for pair in pairs if pair[1] > 0)])
    pure = [t for t, delta in pairs if delta == 0]
    while True:
        numbers, common = _mixed(game, weights, total, min(Fraction(1), share))
        if share >= 1 or all(_is_pure(game, numbers, t) for t in pure):
            return WorstMechanism(game.canaries, game.guesses, game.options, tuple(numbers), common)
        share *= 1 << 10


def continued(game: Game, solution: Solution) -> Solution:
    """Return the law on all indices: where it is smaller than a solver's errors, u is extrapolated."""
    trusted = [solution.first + j for j, p in enumerate(solution.law) if p > _NOISE]
    if len(trusted) <= 2 * _SPAN:
        return solution
    low, high, guesses = trusted[0], trusted[-1], game.guesses
    law = [0.0] * (guesses + 1)
    law[low : high + 1] = solution.law[low - solution.first : high + 1 - solution.first]

    def blind(i: int) -> float:
        return i * (game.options - 1) / (guesses - i + 1)

    def growth(start: int, stop: int) -> float:
        logs = sum(math.log(blind(i)) for i in range(start + 1, stop + 1))
        return math.exp((math.log(law[stop] / law[start]) + logs) / (stop - start))

    if law[low + _SPAN] > 0:
        rate = growth(low, low + _SPAN)
        for i in range(low, 0, -1):
            law[i - 1] = law[i] * blind(i) / rate
    if law[high - _SPAN] > 0:
        rate = growth(high - _SPAN, high)
        for i in range(high + 1, guesses + 1):
            law[i] = law[i - 1] * rate / blind(i)
    return replace(solution, first=0, law=tuple(law))


def _mixed(game: Game, weights: list[int], total: int, share: Fraction) -> tuple[list[int], int]:
    """Return integers proportional to (1 - share) law + share blind, and their sum."""
    blind_total = game.options**game.guesses
    ours, theirs = (share.denominator - share.numerator) * blind_total, share.numerator * total
    numbers, count = [], (game.options - 1) ** game.guesses
    for i, weight in enumerate(weights):
        numbers.append(ours * weight + theirs * count)
        count = count * (game.guesses - i) // ((i + 1) * (game.options - 1))
    return numbers, share.denominator * blind_total * total


def _blind(game: Game) -> tuple[tuple[int, ...], int]:
    """Return the law of blind guesses in integers, and their sum."""
    counts = [1]
    for i in range(game.guesses, 0, -1):
        counts.append(counts[-1] * i * (game.options - 1) // (game.guesses - i + 1))
    return tuple(reversed(counts)), game.options**game.guesses


def _is_pure(game: Game, numbers: list[int], t: Fraction) -> bool:
    """Whether a law in integers satisfies pure DP with e^ε = t."""
    up, down, others = t.numerator, t.denominator, game.options - 1
    for i in range(1, game.guesses + 1):
        ours, theirs = numbers[i] * i * others, numbers[i - 1] * (game.guesses - i + 1)
        if ours * down > theirs * up or theirs * down > ours * up:
            return False
    return True


def _extended(game: Game, pairs: Sequence[Pair], solution: Solution) -> list[int]:
    """Return integer weights of a law with u nondecreasing, and growing by at most t wherever δ(t) = 0.

    Beyond the window and where floats underflow, u grows by the smallest t; but where `correct` right guesses can be
    made for certain, fewer have no weight. The integers are long enough for the smallest probability, so that rounding
    does not disturb these ratios at the ends.
    """
    guesses, others, correct = game.guesses, game.options - 1, game.correct
    gentle = pairs[0][0]
    steep = min((t for t, delta in pairs if delta == 0), default=None)
    certain = steep is None and solution.value > 1 - _NOISE
    shift = _SHIFT + math.ceil(guesses * (math.log2(game.options) + math.log2(1 + gentle)))
    known = {solution.first + j: _scaled(p) << (shift - _SHIFT) for j, p in enumerate(solution.law) if p > _TINY}
    weights = [known.get(i, 0) for i in range(guesses + 1)]
    for i in range(correct + 1, guesses + 1):
        growth = Fraction(1) if i in known else gentle
        least = -(-weights[i - 1] * (guesses - i + 1) * growth.numerator // (i * others * growth.denominator))
        weights[i] = max(weights[i], least)
    for i in range(correct, 0, -1):
        most = weights[i] * i * others // (guesses - i + 1)
        if i - 1 not in known and not certain:
            weights[i - 1] = most * gentle.denominator // gentle.numerator
        weights[i - 1] = min(weights[i - 1], most)
    if steep is not None:
        for i in range(guesses, 0, -1):
            factor, divisor = i * others * steep.denominator, (guesses - i + 1) * steep.numerator
            weights[i - 1] = max(weights[i - 1], -(-weights[i] * factor // divisor))
    return weights


def _scaled(value: float) -> int:
    """Return a float above 2^-_SHIFT in units of 2^-_SHIFT, rounded down."""
    up, down = value.as_integer_ratio()
    return (up << _SHIFT) // down


def _compared(one: tuple[int, int], two: tuple[int, int]) -> int:
    """Return a number with the sign of the difference of two ratios."""
    return one[0] * two[1] - two[0] * one[1]


class _Excess:
    """The cost of a law in integers, Σ max(0, a_i - t b_i) + max(0, b_i - t a_i), for many t.

    The terms are kept in the order of a_i / b_i with their running sums: those that count at t stand at the two ends.
    """

    def __init__(self, game: Game, weights: Sequence[int], total: int) -> None:
        guesses, others = game.guesses, game.options - 1
        terms = [
            (weights[i] * i * others, weights[i - 1] * (guesses - i + 1))
            for i in range(1, guesses + 1)
            if weights[i] or weights[i - 1]
        ]
        self._terms = sorted(terms, key=cmp_to_key(_compared))
        self._ours = [0, *accumulate(ours for ours, _ in self._terms)]
        self._theirs = [0, *accumulate(theirs for _, theirs in self._terms)]
        self._scale = total * game.canaries * others

    def share(self, pair: Pair) -> Fraction:
        """Return the least share of blind guessing that brings δ(t) down to δ."""
        t, delta = pair
        cost = Fraction(self._above(t.numerator, t.denominator) + self._below(t.numerator, t.denominator))
        allowed = delta * self._scale * t.denominator
        if cost <= allowed:
            return Fraction(0)
        return min(Fraction(1), round_up(1 - allowed / cost, _SHARE_BITS))

    def _above(self, up: int, down: int) -> int:
        """Return the sum of ours · down - theirs · up over the terms where it is positive."""
        first = bisect_left(self._terms, 1, key=lambda term: term[0] * down > term[1] * up)
        return (self._ours[-1] - self._ours[first]) * down - (self._theirs[-1] - self._theirs[first]) * up

    def _below(self, up: int, down: int) -> int:
        """Return the same with ours and theirs exchanged."""
        last = bisect_left(self._terms, 1, key=lambda term: term[1] * down <= term[0] * up)
        return self._theirs[last] * down - self._ours[last] * up
