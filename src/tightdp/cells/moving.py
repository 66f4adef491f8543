"""Upper ends of likelihood ratios from the laws of draws, before these are summed out.

Draws that are not published may be moved: what they are on one dataset is compared with something else on the other.
If the runs of a path, moved by constants, are runs of a path on the other dataset that publish the same, no ratio of
outputs is larger than the product of the largest ratios of single draws (alignment by constants: Zhang and Kifer
2017, LightDP). A path is compared with several others in shares, and what each of these bears is added up. The
constants are vertices of a linear program, where as many as possible of two things hold: a draw is the same on both
datasets, and a condition is just met.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, islice, pairwise
from math import prod
from typing import Any

from flint import fmpq, fmpq_mat

from tightdp.cells.linear import REAL, Row, feasible, tightest
from tightdp.cells.maker import Places, Runs
from tightdp.exact.arrays import np
from tightdp.exact.enclosure import as_fmpq, as_fraction
from tightdp.exact.lazily import lazily

optimize: Any = lazily("scipy.optimize")

_MOST_MOVES = 200
"""So many ways to move the draws of a path are tried."""
_MOST_PAIRS = 400
"""So many paths are compared with each other."""
_MOST_PRODUCTS = 2_000_000
"""So many products of numbers are computed for these ways, about: the cube of the draws for each."""
_FINEST = 10_000
"""Shares have denominators up to this one, before they are divided by their sum."""


def upper_end(ours: Sequence[Runs], theirs: Sequence[Runs]) -> Any:
    """Return a number that the ratio of two laws never exceeds; infinity where none is found."""
    pairs = len(ours) * len(theirs)
    if not 0 < pairs <= _MOST_PAIRS:
        return math.inf
    every = [[_ratio(runs, other, _MOST_PRODUCTS // pairs) for other in theirs] for runs in ours]
    finite = [{at: ratio for at, ratio in enumerate(line) if ratio != math.inf} for line in every]
    if not all(finite):
        return math.inf
    best = _load(finite, _own(finite))
    if any(len(line) > 1 for line in finite):
        with suppress(TypeError):  # numbers with an unknown are not rounded
            best = min(best, _load(finite, _shares(finite, len(theirs))))
    return best


def _load(ratios: Sequence[Mapping[int, Any]], shares: Sequence[Mapping[int, Fraction]]) -> Any:
    """Return the most that a path bears which shares of paths are compared with."""
    loads: dict[int, Any] = {}
    for line, share in zip(ratios, shares, strict=True):
        for at, part in share.items():
            borne = line[at] * (as_fmpq(part) if isinstance(line[at], fmpq) else part)
            loads[at] = borne + loads[at] if at in loads else borne
    return max(loads.values())


def _own(ratios: Sequence[Mapping[int, Any]]) -> list[dict[int, Fraction]]:
    """Compare each path with one other, of its own while there are some left."""
    taken: list[int] = []
    for line in ratios:
        taken.append(min(line.keys() - set(taken) or line, key=line.__getitem__))
    return [{at: Fraction(1)} for at in taken]


def _shares(ratios: Sequence[Mapping[int, Any]], others: int) -> list[dict[int, Fraction]]:
    """Return which share of each path is compared with which other: so that no other is to bear much, about."""
    places = [(row, at) for row, line in enumerate(ratios) for at in line]
    above, below = np.zeros((others, len(places) + 1)), np.zeros((len(ratios), len(places) + 1))
    above[:, -1] = -1
    largest = max(ratio for line in ratios for ratio in line.values())
    for column, (row, at) in enumerate(places):
        above[at, column], below[row, column] = float(ratios[row][at] / largest), 1
    aim = np.eye(len(places) + 1)[-1]
    found = optimize.linprog(aim, above, np.zeros(others), below, np.ones(len(ratios)), method="highs-ds").x
    shares: list[dict[int, Fraction]] = [{} for _ in ratios]
    for (row, at), share in zip(places, np.ones(len(places)) if found is None else found, strict=False):
        shares[row][at] = max(Fraction(0), Fraction(float(share)).limit_denominator(_FINEST))
    return [{at: share / sum(line.values()) for at, share in line.items() if share} for line in shares]


def _ratio(ours: Runs, theirs: Runs, products: int) -> Any:
    """Return an upper end of the ratio of two paths with the same forms; infinity where so much work finds none."""
    if [draw.form for draw in ours.draws] != [draw.form for draw in theirs.draws] or ours.hidden != theirs.hidden:
        return math.inf
    found = [
        _moved_ratio(ours, theirs, moved)
        for moved in islice(_moves(ours, theirs, products), _MOST_MOVES)
        if all(_follows(ours, row, moved) for row in theirs.rows)
    ]
    finite = [each for each in found if each != math.inf]
    return min(finite) * (ours.weight / theirs.weight) if finite else math.inf


def _moves(ours: Runs, theirs: Runs, products: int) -> Iterator[dict[int, Any]]:
    """Yield by how much hidden draws may be larger on the other dataset: so that as many draws and rows are alike."""
    bounds, hidden = dict(ours.rows), ours.hidden
    equations = [
        (dict(draw.form), draw.constant - other.constant) for draw, other in zip(ours.draws, theirs.draws, strict=True)
    ]
    equations += [(dict(normal), bound - bounds[normal]) for normal, bound in sorted(theirs.rows) if normal in bounds]
    lines = dict.fromkeys((*(form.get(v, 0) for v in hidden), by) for form, by in equations)
    size, numbers = len(hidden), [[as_fmpq(Fraction(c)) for c in line] for line in lines if any(line[:-1])]
    for chosen in islice(combinations(numbers, size), products // max(1, size) ** 3):
        square = fmpq_mat(size, size, [c for line in chosen for c in line[:-1]])
        if square.det():
            found = square.inv() * fmpq_mat(size, 1, [line[-1] for line in chosen])
            moved = [as_fraction(found[at, 0]) for at in range(size)]
            if all(v >= REAL or by.denominator == 1 for v, by in zip(hidden, moved, strict=True)):
                yield dict(zip(hidden, moved, strict=True))


def _follows(ours: Runs, row: Row, moved: dict[int, Any]) -> bool:
    """Whether moved runs meet a condition of the other dataset."""
    normal, bound = row
    bound -= sum(c * moved.get(v, 0) for v, c in normal)
    if dict(ours.rows).get(normal, math.inf) <= bound:
        return True
    opposite = tuple((v, -c) for v, c in normal), -bound - (normal[-1][0] < REAL)
    return not feasible(tightest([*ours.rows, opposite]))


def _moved_ratio(ours: Runs, theirs: Runs, moved: dict[int, Any]) -> Any:
    ratios = []
    for draw, other in zip(ours.draws, theirs.draws, strict=True):
        by = other.constant - draw.constant + sum(c * moved.get(v, 0) for v, c in draw.form)
        ratios.append(_most(draw.pieces, other.pieces, Fraction(by), any(v >= REAL for v, _ in draw.form)))
    return math.inf if math.inf in ratios else prod(ratios, start=ours.weight / ours.weight)


@lru_cache(1 << 12)
def _most(ours: Places, theirs: Places, by: Fraction, real: bool) -> Any:
    """Return the largest f(v)/g(v + by) over all numbers v, for laws f and g by pieces."""
    theirs = tuple(sorted(theirs, key=lambda each: -math.inf if each[0] is None else each[0]))
    if any(low is None or low != before[1] + (not real) for before, (low, *_) in pairwise(theirs)):
        return math.inf
    found = []
    for low, high, base in ours:
        first, last = (-math.inf if low is None else low), (math.inf if high is None else high)
        if theirs[0][0] is not None and (low is None or low + by < theirs[0][0]):
            return math.inf
        if theirs[-1][1] is not None and (high is None or high + by > theirs[-1][1]):
            return math.inf
        for start, end, other in theirs:
            left = first if start is None else max(first, start - by)
            right = last if end is None else min(last, end - by)
            if left > right or (real and left == right):
                continue
            if base is other:
                found.append(1 / (other**by).value)
                continue
            if (right == math.inf and base.value > other.value) or (left == -math.inf and base.value < other.value):
                return math.inf
            for v in (left, right):
                if not isinstance(v, float):
                    found.append((base ** Fraction(v)).value / (other ** (Fraction(v) + by)).value)
    return max(found, default=math.inf)
