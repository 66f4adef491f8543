"""What sums of exponentials exceed 0 by: integrals over simplices cut into many, in doubles with a proved error.

A term is a polynomial of one linear form times an exponential of another one. On a simplex it is as close to the linear
function with the same values at the corners as its second derivatives say, and below it where it is convex. So a sum is
between two linear functions. Where one of these tells its sign the integral is a power series of divided differences;
elsewhere it is between those of the positive parts of both. Corners are new in the middle of edges only: exponentials
there are geometric means, whose roundings are counted with all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from itertools import combinations, product
from math import comb, factorial, fsum, prod
from typing import Any, NamedTuple

from flint import arb, fmpq

from tightdp.cells.simplices import Function, Vector
from tightdp.exact.arrays import np
from tightdp.exact.scaled import gamma

_AT_ONCE = 2_000_000
"""So many at once, about."""
_SHARE = 0.9
"""Cells that have such a share of what is unsure are cut at once."""
_FARTHEST = 300
"""Exponents of a piece are below this."""
_REACH, _ORDER = 2.0, 27
"""Where exponents differ by so much, power series are taken to this order: the rest is 2^-60 of the largest value."""
_MORE = 1 + 1e-9
"""Widths and second derivatives are less than what is computed times this."""

Doubles = Any
"""An array of doubles; the first index is that of a cell, then of a corner, then of a term."""


class Piece(NamedTuple):
    """A function, and another one to integrate where it is positive, on a simplex of bounded lengths, so many times."""

    function: Function
    other: Function
    times: fmpq


@dataclass
class _Cells:
    """Simplices of a piece: their volumes, and at their corners the exponents, exponentials and forms of its terms.

    What is positive there has an integral between `low` and `high`.
    """

    piece: Doubles
    volumes: Doubles
    exponents: Doubles
    powers: Doubles
    forms: Doubles
    low: Doubles
    high: Doubles

    def at(self, chosen: Any) -> _Cells:
        return _Cells(*(getattr(self, each.name)[chosen] for each in fields(self)))

    def and_(self, other: _Cells) -> _Cells:
        pairs = ((getattr(self, each.name), getattr(other, each.name)) for each in fields(self))
        return _Cells(*(np.concatenate(pair) for pair in pairs))


def reachable(function: Function) -> bool:
    """Whether the exponents of a function on a bounded simplex are small enough."""
    return all(abs(rate) <= _FARTHEST for key in function for rate, _ in key)


class Search:
    """The integrals of the functions of some pieces where they are positive, and of the others there.

    It keeps the cells on which that is open, and sums over others; each step brings both ends of the first one closer
    together. All pieces are of equal dimension.
    """

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.work, self.depth = 0, 0
        self._terms, cells = _made(pieces)
        self._most = int(self._terms.degrees.max())
        self._sums = [[0.0] * 4]
        self._open = self._looked(cells)

    @property
    def unsure(self) -> float:
        """Up to how much the integral is known."""
        return float((self._open.high - self._open.low).sum())

    def step(self) -> None:
        """Cut the cells on which most is unsure."""
        gaps = self._open.high - self._open.low
        order = np.argsort(-gaps)
        least = int(np.searchsorted(np.cumsum(gaps[order]), _SHARE * gaps.sum())) + 1
        chosen = order[: min(least, max(1, _AT_ONCE // self._open.exponents[0].size))]
        rest = np.ones(len(gaps), dtype=bool)
        rest[chosen] = False
        self.depth += 1
        cut = self._looked(_halved(self._terms, self._open.at(chosen)))
        self._open = self._open.at(rest).and_(cut)

    def ours(self) -> arb:
        """Return the first integral, enclosed."""
        total, _, error, _ = self._summed()
        low, high = (arb(fsum(each)) for each in (self._open.low, self._open.high))
        return arb(total, error) + (low * (1 - arb(2) ** -40)).union(high * (1 + arb(2) ** -40))

    def theirs(self) -> arb:
        """Return the second integral, enclosed."""
        _, total, _, error = self._summed()
        values, _, above = self._terms.between(self._open, self._terms.theirs, self._error)
        most = fsum(self._open.volumes * np.maximum(0, values.mean(1) + above))
        return arb(total, error) + arb(0).union(arb(most) * (1 + arb(2) ** -40))

    def _summed(self) -> list[float]:
        return [fsum(each) for each in zip(*self._sums, strict=True)]

    @property
    def _error(self) -> float:
        """The relative error of terms at corners."""
        return gamma(10 * (self.depth + self._terms.ours.shape[1] + 20) + self._most * 4 * (self.depth + 5))

    def _looked(self, cells: _Cells) -> _Cells:
        """Add up the integrals on cells where the function is positive, and return those where that is not seen."""
        count = len(cells.exponents)
        self.work += cells.exponents.size
        main = np.argmax(abs(self._terms.ours[cells.piece]) * self._terms.largest(cells), axis=1)
        at = np.arange(count), slice(None), main
        exponents = cells.exponents - cells.exponents[at][:, :, None]
        powers = cells.powers / cells.powers[at][:, :, None]
        divided = replace(cells, exponents=exponents, powers=powers)
        values, below, above = self._terms.between(divided, self._terms.ours, self._error)
        sure = (values - below[:, None] > 0).all(1) & (_spread(cells.exponents) <= _REACH).all(1)
        self._add(cells.at(sure))
        left = cells.at(~sure & (values + above[:, None] > 0).any(1))
        values, below, above = self._terms.between(left, self._terms.ours, self._error)
        left.low = left.volumes * _positive_part(values - below[:, None])
        left.high = left.volumes * _positive_part(values + above[:, None])
        return left

    def _add(self, cells: _Cells) -> None:
        count, corners, terms = cells.exponents.shape
        size = max(1, _AT_ONCE // (8 * _ORDER * terms))
        reach = float(abs(cells.exponents).max()) if count else 0.0
        error = self._error + gamma(10 * (_ORDER + corners + terms) + int(8 * (self.depth + 2) * (1 + reach)))
        for first in range(0, count, size):
            part = cells.at(slice(first, first + size))
            masses = part.volumes[:, None] * part.powers[:, 0] * self._terms.integrals(part, self._most)
            wide = 9 * error * part.volumes[:, None] * self._terms.largest(part)
            both = self._terms.ours[part.piece], self._terms.theirs[part.piece]
            sums = *((masses * c).sum() for c in both), *((wide * abs(c)).sum() for c in both)
            self._sums.append([float(each) for each in sums])


@dataclass
class _Terms:
    """The terms of pieces: coefficients in both functions, and the degrees of their forms."""

    ours: Doubles
    theirs: Doubles
    degrees: Doubles

    def largest(self, cells: _Cells) -> Doubles:
        """Return upper ends of terms with coefficient 1."""
        return _largest(cells.powers) * _largest(cells.forms) ** self.degrees[cells.piece]

    def between(self, cells: _Cells, every: Doubles, error: float) -> tuple[Doubles, Doubles, Doubles]:
        """Return the values at corners of a linear function, and how far below and above it the function is at most.

        It has some coefficients, and `error` is that of terms.
        """
        coefficients, degrees = every[cells.piece], self.degrees[cells.piece]
        most, bent = _largest(cells.forms), degrees > 0
        values = (coefficients[:, None] * cells.powers * cells.forms ** degrees[:, None]).sum(2)
        sizes = abs(coefficients) * _largest(cells.powers) * most**degrees
        spread = _spread(cells.exponents) + degrees * _spread(cells.forms) / most
        bend = sizes * spread**2 * np.where(bent, 0.5, 0.125)
        rounded = error * sizes.sum(1)
        below = np.where(bent | (coefficients > 0), bend, 0).sum(1) + rounded
        above = np.where(bent | (coefficients < 0), bend, 0).sum(1) + rounded
        return values, below * _MORE, above * _MORE

    def integrals(self, cells: _Cells, most: int) -> Doubles:
        """Return the means of terms with coefficient 1, but for the exponential at the first corner.

        ∫ e^(x + s·m) is Σ_j h_j(x + s·m)/(d + j)!, h_j the complete symmetric polynomials of values at corners, whose
        coefficients at s^k are k!^-1·∫ m^k·e^x.
        """
        count, corners, terms = cells.exponents.shape
        order = _ORDER + most
        sums = np.zeros((order + 1, most + 1, count, terms))
        sums[0, 0] = 1
        for v in range(corners):
            x, m = cells.exponents[:, v] - cells.exponents[:, 0], cells.forms[:, v]
            for j in range(1, order + 1):
                sums[j] += x * sums[j - 1]
                sums[j, 1:] += m * sums[j - 1, :-1]
        weights = [factorial(corners - 1) / factorial(corners - 1 + j) for j in range(order + 1)]
        found = np.tensordot(np.array(weights), sums, 1)
        degrees = self.degrees[cells.piece]
        return sum(np.where(degrees == k, factorial(k) * found[k], 0) for k in range(most + 1))


def _made(pieces: Sequence[Piece]) -> tuple[_Terms, _Cells]:
    """Return all terms, and the simplices of all lengths."""
    lines = [list(_terms(piece)) for piece in pieces]
    terms, corners = max(map(len, lines)), len(next(iter(pieces[0].function))) + 1
    exponents, powers, forms = (np.full((len(pieces), corners, terms), value) for value in (0.0, 1.0, 1.0))
    ours, theirs, degrees = (np.zeros((len(pieces), terms)) for _ in range(3))
    for at, line in enumerate(lines):
        for k, (rates, form, degree, c, other) in enumerate(line):
            exponents[at, 1:, k] = [float(arb(rate)) for rate in rates]
            powers[at, 1:, k] = [float(arb(rate).exp()) for rate in rates]
            forms[at, :, k] = [0.0, *form] if degree else 1.0
            ours[at, k], theirs[at, k], degrees[at, k] = c, other, degree
    if not degrees.any():  # so they are not computed with
        forms, degrees = forms[:, :, :1], degrees[:, :1]
    volumes = np.array([float(arb(piece.times)) for piece in pieces]) / factorial(corners - 1)
    nothing = np.zeros(len(pieces))
    cells = _Cells(np.arange(len(pieces)), volumes, exponents, powers, forms, nothing, nothing)
    return _Terms(ours, theirs, degrees), cells


def _terms(piece: Piece) -> Iterator[tuple[Vector, Sequence[int], int, float, float]]:
    """Yield rates, a form, its degree, and the coefficients in both functions.

    A product of powers is a sum of powers of forms (polarization).
    """
    found: dict[Any, list[arb]] = {}
    for at, function in enumerate((piece.function, piece.other)):
        for key, c in function.items():
            rates, powers = zip(*key, strict=True)
            for form, share in _polarized(powers).items():
                name = rates, form, sum(powers)
                found.setdefault(name, [arb(0), arb(0)])[at] += c * share
    yield from ((*name, *(float(c.mid()) for c in both)) for name, both in found.items())


def _polarized(powers: Sequence[int]) -> Mapping[tuple[int, ...], fmpq]:
    """Return Π x_i^a_i as a sum of (Σ p_i x_i)^Σa: shares by p."""
    degree = sum(powers)
    if sum(1 for power in powers if power) <= 1:
        return {tuple(int(power > 0) for power in powers): fmpq(1)}
    shares = {
        steps: prod((comb(a, p) for a, p in zip(powers, steps, strict=True)), start=(-1) ** (degree - sum(steps)))
        for steps in product(*(range(a + 1) for a in powers))
        if any(steps)
    }
    return {steps: fmpq(share, factorial(degree)) for steps, share in shares.items()}


def _largest(values: Doubles) -> Doubles:
    """Return the largest value at a corner: there are few, and arrays are compared as a whole."""
    return reduce(np.maximum, (values[:, at] for at in range(values.shape[1])))


def _spread(values: Doubles) -> Doubles:
    """Return how far values at corners are apart."""
    return _largest(values) - reduce(np.minimum, (values[:, at] for at in range(values.shape[1])))


def _positive_part(values: Doubles) -> Doubles:
    """Return the mean over a simplex of the positive part of a linear function with such values at corners.

    That is a divided difference of max(0, v)^corners, by a recurrence of sums of numbers that are not negative.
    """
    values = np.sort(values, axis=1)
    corners = values.shape[1]
    found = [np.maximum(values[:, at], 0) for at in range(corners)]
    for wide in range(1, corners):
        for i in range(corners - wide):
            low, high = values[:, i], values[:, i + wide]
            apart = np.where((low < 0) & (high > 0), high - low, 1)
            mixed = (high * found[i + 1] - low * found[i]) / apart
            found[i] = np.where(low >= 0, values[:, i : i + wide + 1].sum(1), np.where(high <= 0, 0, mixed))
    return found[0] / corners


def _halved(terms: _Terms, cells: _Cells) -> _Cells:
    """Cut cells in two, each in the middle of the edge along which terms change most."""
    edges = np.array(list(combinations(range(cells.exponents.shape[1]), 2)))
    sizes, degrees = abs(terms.ours[cells.piece]) * terms.largest(cells), terms.degrees[cells.piece]
    most, every = _largest(cells.forms), np.arange(len(sizes))

    def change(i: int, j: int) -> Doubles:
        by_form = degrees * abs(cells.forms[:, i] - cells.forms[:, j]) / most
        return (sizes * (abs(cells.exponents[:, i] - cells.exponents[:, j]) + by_form) ** 2).sum(1)

    i, j = edges[np.argmax([change(*edge) for edge in edges], axis=0)].T
    middle = {
        "exponents": (cells.exponents[every, i] + cells.exponents[every, j]) / 2,
        "powers": np.sqrt(cells.powers[every, i]) * np.sqrt(cells.powers[every, j]),
        "forms": (cells.forms[every, i] + cells.forms[every, j]) / 2,
    }
    halves = []
    for gone in (i, j):
        half = cells.at(every)
        half.volumes = half.volumes / 2
        for name, new in middle.items():
            getattr(half, name)[every, gone] = new
        halves.append(half)
    return halves[0].and_(halves[1])
