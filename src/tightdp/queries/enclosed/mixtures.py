"""δ of two mixtures of products of laws: a chain of weights, and prefixes grouped by the direction of their weights.

A mixture is the joint law of centres (c_1, ..., c_T); given these the parts of the output are independent, part t with
the law K_t(c_t). The weight of a prefix y_1, ..., y_t is a sum over the centres so far of products of K. Centres after
which the rest has the same law are added up, and proportional sums are merged: what remains are a few functions f of
the prefix, each a nonnegative linear function of those before.

The weights P and Q of every whole output follow linearly from f. So what a set of prefixes adds to δ is a convex
function of f that grows in proportion to f. It is no more for the sum of several f than for each of them (from below:
prefixes of about the same direction are added up), and no less for vectors of which f is the sum, along the corners of
a grid (from above). Both are off by the square of the width of the grid. docs/large.md has the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np

from tightdp.exact.field import Number
from tightdp.exact.scaled import UNIT, Doubles, as_double, gamma
from tightdp.limits.calibrated import GRID_CELLS
from tightdp.queries.enclosed.privacy import Tests

Mixture = Mapping[tuple[object, ...], Number]
Kernel = Mapping[object, Mapping[object, Number]]
_Node = frozenset[tuple[tuple[object, ...], Number]]


@dataclass(frozen=True)
class Chain:
    """Step t takes functions f of a prefix to `steps[t][y] @ f` for every value y of the next part.

    It begins with the one function 1; at the end `ours` and `theirs` are the numbers of the two mixtures. Entries have
    a relative error of at most `error`; values of parts of at most the mass `missing` in all are left out.
    """

    steps: tuple[Doubles, ...]
    ours: int
    theirs: int
    error: float
    missing: float

    @property
    def key(self) -> tuple[object, ...]:
        """A key that is equal for chains that differ only in the names of outputs."""
        rows = (sorted(map(bytes, step.reshape(len(step), -1))) for step in self.steps)
        return self.ours, self.theirs, self.missing, *(tuple(row) for row in rows)


def chain_of(ours: Mixture, theirs: Mixture, kernels: Sequence[Kernel], least: float) -> Chain:
    """Return the chain of two mixtures, without values of a part that are rarer than `least` for every centre."""
    sides: list[dict[_Node, tuple[Number, int]]] = [
        {frozenset(law.items()): (Fraction(1), 0)} for law in (ours, theirs)
    ]
    size, missing, error, steps = 1, 0.0, 0.0, []
    for kernel in kernels:
        classes: dict[frozenset[tuple[tuple[int, object], Number]], int] = {}
        sides = [_advanced(side, classes) for side in sides]
        values, lost = _common(kernel, least)
        missing += lost
        step = np.zeros((len(values), len(classes), size))
        for sums, row in classes.items():
            for (before, centre), share in sums:
                law = kernel[centre]
                step[:, row, before] += [as_double(share) * as_double(law.get(y, Fraction(0))) for y in values]
        size = len(classes)
        error += 8 * UNIT + gamma(max(map(len, classes)))
        if step.shape[1:] != (1, 1):  # one function before and after: the part reveals nothing
            steps.append(step)
    ((_, mine),), ((_, other),) = (side.values() for side in sides)
    return Chain(tuple(steps), mine, other, 1.01 * error, missing)


def _advanced(
    side: dict[_Node, tuple[Number, int]], classes: dict[frozenset[tuple[tuple[int, object], Number]], int]
) -> dict[_Node, tuple[Number, int]]:
    """Return, for every law of what follows the next centre, a factor and the number of the function it goes with."""
    sums: dict[_Node, dict[tuple[int, object], Number]] = {}
    for node, (factor, function) in side.items():
        for (centre, rest), mass in _by_centre(node).items():
            into = sums.setdefault(rest, {})
            into[function, centre] = into.get((function, centre), Fraction(0)) + factor * mass
    found = {}
    for rest, shares in sums.items():
        total = sum(shares.values(), start=Fraction(0))
        key = frozenset((at, share / total) for at, share in shares.items())
        found[rest] = total, classes.setdefault(key, len(classes))
    return found


def _by_centre(node: _Node) -> dict[tuple[object, _Node], Number]:
    """Return the probabilities of the next centre, each with the law of what follows it."""
    parts: dict[object, dict[tuple[object, ...], Number]] = {}
    for (centre, *rest), mass in node:
        parts.setdefault(centre, {})[tuple(rest)] = mass
    found: dict[tuple[object, _Node], Number] = {}
    for centre, law in parts.items():
        total = sum(law.values(), start=Fraction(0))
        found[centre, frozenset((rest, mass / total) for rest, mass in law.items())] = total
    return found


def _common(kernel: Kernel, least: float) -> tuple[list[object], float]:
    """Return the values of a part that are not too rare, and a bound on the mass of the others for any centre."""
    most: dict[object, float] = {}
    for law in kernel.values():
        for value, mass in law.items():
            most[value] = max(most.get(value, 0.0), as_double(mass))
    kept = [value for value, mass in most.items() if mass >= least]
    return kept, 1.01 * sum(mass for mass in most.values() if mass < least)


_FEW = GRID_CELLS // 60
"""Up to this many prefixes are kept as they are."""
_WIDTH = 0.25
"""The width of the first grid, in logarithms of ratios."""
_ROWS = 1 << 18
_TINY = 1e-280
"""Products that are smaller may underflow."""

Watch = Callable[[], None]


@dataclass(frozen=True)
class _Prefixes:
    """Vectors of weights of prefixes, with a relative error, and the mass that is missing or may have underflown."""

    weights: Doubles
    error: float
    missing: float

    def split(self, ours: int, theirs: int) -> Tests:
        """Return the weights of whole outputs."""
        return Tests(self.weights[:, ours].copy(), self.weights[:, theirs].copy(), self.error, self.missing)


@dataclass(frozen=True)
class Ends:
    """Tests of a coarser and of a finer pair than the two mixtures: they bound δ from below and above."""

    lower: Tests
    upper: Tests


def enclosed(chain: Chain, relative: float, lost: float, watch: Watch) -> Iterator[Ends]:
    """Yield both ends, ever closer together; probabilities of outputs have errors of `relative` and `lost`."""
    chain = replace(chain, error=chain.error + relative, missing=chain.missing + lost)
    width = _WIDTH
    while True:
        found, exact = _ends(chain, width, watch)
        if found is None:
            return
        yield found
        if exact:
            return
        width /= 4


def _ends(chain: Chain, width: float, watch: Watch) -> tuple[Ends | None, bool]:
    """Return both ends on a grid of one width (None where it has too many cells), and whether no grid was needed."""
    start = _Prefixes(np.ones((1, 1)), chain.error, chain.missing)
    lower = upper = start
    exact = True
    for at, step in enumerate(chain.steps):
        last = at == len(chain.steps) - 1
        lower, upper = _lengthened(lower, step), _lengthened(upper, step)
        if not last and len(upper.weights) > _FEW:
            exact = False
            merged, spread = _merged(lower, width, watch), _spread(upper, width, watch)
            if merged is None or spread is None:
                return None, False
            lower, upper = merged, spread
        watch()
    return Ends(lower.split(chain.ours, chain.theirs), upper.split(chain.ours, chain.theirs)), exact


def _lengthened(prefixes: _Prefixes, step: Doubles) -> _Prefixes:
    values, after, before = step.shape
    weights = (prefixes.weights @ step.reshape(values * after, before).T).reshape(-1, after)
    weights = weights[weights.any(axis=1)]
    missing = prefixes.missing + (len(weights) + values) * (before + 2) * _TINY
    return _Prefixes(weights, prefixes.error + gamma(before + 4), missing)


def _by_pattern(weights: Doubles) -> Iterator[Doubles]:
    """Yield the places of vectors whose positive entries are the same ones."""
    codes = (weights > 0) @ (1 << np.arange(weights.shape[1]))
    for code in np.unique(codes):
        yield np.flatnonzero(codes == code)


def _merged(prefixes: _Prefixes, width: float, watch: Watch) -> _Prefixes | None:
    """Add up vectors that lie in the same cell of the grid."""
    found, roundings = [], 0
    for rows in _by_pattern(prefixes.weights):
        weights = prefixes.weights[rows]
        present = np.flatnonzero(weights[0] > 0)
        grid = _grid(weights[:, present], width)
        if grid is None:
            return None
        cells, keys = grid.size, grid.keys(grid.places)
        sums = np.zeros((cells, weights.shape[1]))
        for start in range(0, len(keys), _ROWS):
            watch()
            part = keys[start : start + _ROWS]
            for column in present:
                sums[:, column] += np.bincount(part, weights[start : start + _ROWS, column], cells)
            roundings += 1
        roundings = max(roundings, len(keys) // _ROWS + 1 + _most(keys, cells))
        found.append(sums[sums.any(axis=1)])
    return _Prefixes(np.concatenate(found), prefixes.error + gamma(roundings + 2), prefixes.missing)


def _spread(prefixes: _Prefixes, width: float, watch: Watch) -> _Prefixes | None:
    """Write every vector as a sum of vectors along the corners of its cell."""
    found, roundings = [], 0
    for rows in _by_pattern(prefixes.weights):
        weights = prefixes.weights[rows]
        present = np.flatnonzero(weights[0] > 0)
        weights = weights[:, present]
        grid = _grid(weights, width)
        if grid is None:
            return None
        cells = grid.size
        sums, most = np.zeros(cells), 0
        for start in range(0, len(weights), _ROWS):
            watch()
            part, places = weights[start : start + _ROWS], grid.places[start : start + _ROWS]
            low, high = grid.corner(places), grid.corner(places + 1)
            shares = np.clip((part / part[:, :1] - low) / (high - low), 0.0, 1.0)
            for corner in map(np.array, product((0,), *[(0, 1)] * (places.shape[1] - 1))):
                chosen = np.where(corner > 0, shares, 1.0 - shares).prod(axis=1)
                keys = grid.keys(places + corner)
                sums += np.bincount(keys, part[:, 0] * chosen, cells)
                most = max(most, _most(keys, cells))
        roundings = max(roundings, most + (len(weights) // _ROWS + 1) << grid.places.shape[1] - 1)
        kept = np.flatnonzero(sums)
        vectors = np.zeros((len(kept), prefixes.weights.shape[1]))
        vectors[:, present] = sums[kept][:, None] * grid.corner(grid.places_of(kept))
        found.append(vectors)
    return _Prefixes(np.concatenate(found), prefixes.error + gamma(roundings + 24), prefixes.missing)


@dataclass(frozen=True)
class _Grid:
    """Cells of ratios to the first weight, which is 1: powers of e^width, counted from `first` in every direction."""

    width: float
    places: Doubles
    first: Doubles
    sizes: tuple[int, ...]

    @property
    def size(self) -> int:
        return int(np.prod(self.sizes))

    def keys(self, places: Doubles) -> Doubles:
        """Return the numbers of cells."""
        return np.ravel_multi_index(tuple((places - self.first).T), self.sizes)

    def places_of(self, keys: Doubles) -> Doubles:
        """Return the cells with these numbers."""
        return np.stack(np.unravel_index(keys, self.sizes), axis=1) + self.first

    def corner(self, places: Doubles) -> Doubles:
        """Return the lower corners of cells."""
        return np.exp(places * self.width)


def _grid(weights: Doubles, width: float) -> _Grid | None:
    places = np.floor(np.log(weights / weights[:, :1]) / width).astype(np.int64)
    first = places.min(axis=0)
    sizes = (1, *(int(each) for each in (places.max(axis=0) - first)[1:] + 2))
    return None if np.prod(sizes, dtype=float) > GRID_CELLS else _Grid(width, places, first, sizes)


def _most(keys: Doubles, cells: int) -> int:
    return int(np.bincount(keys, minlength=cells).max())
