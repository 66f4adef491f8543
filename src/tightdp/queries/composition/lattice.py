"""Exact composition: likelihood ratios multiply, so those of k runs lie on the lattice that the ratios of one span.

Ratios are written as vectors of exponents of pairwise coprime integers and of irreducible polynomials in T = e^(1/d):
T is transcendental, so these factor uniquely. Their differences span a lattice with a basis of few vectors, in which
every ratio of every run has integer coordinates. The probabilities of a run are then the coefficients of a polynomial,
packed into one variable (with T below it), and those of k runs the coefficients of its k-th power.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from flint import fmpz_mat, fmpz_poly

from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.numbers import Exact
from tightdp.exact.polynomials import Key, from_key, key, lifted
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole, lcm, polynomials, whole
from tightdp.limits.calibrated import COMPOSITION_BITS, FEW_VALUES
from tightdp.queries.composition.pairs import DominatingPair, merged

Runs = tuple[tuple[DominatingPair, int], ...]
"""Pairs, and how often each is run."""

Watch = Callable[[], None]


@dataclass(frozen=True)
class _Lattice:
    """A basis of ratios, and the coordinates of every outcome's ratio over the first outcome of its pair."""

    basis: tuple[Number, ...]
    origins: tuple[Number, ...]
    coordinates: tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True)
class Composition:
    """The exact composition of pairs: `certain` is the mass under P of outcomes that have probability 0 under Q.

    `ratios` increase; `p` and `q` are the weights of the outcomes, to be divided by `scale`.
    """

    certain: Number
    scale: Whole
    ratios: tuple[Number, ...]
    p: tuple[Whole, ...]
    q: tuple[Whole, ...]

    @property
    def pair(self) -> DominatingPair:
        """The composition as a single pair."""
        both = [(quotient(p, self.scale), quotient(q, self.scale)) for p, q in zip(self.p, self.q, strict=True)]
        missing = 1 - sum((q for _, q in both), Fraction(0))
        return merged([(self.certain, Fraction(0)), *both, (Fraction(0), missing)])

    @cached_property
    def _above(self) -> tuple[list[Whole], list[Whole]]:
        p, q = ([*[*accumulate(reversed(side))][::-1], 0] for side in (self.p, self.q))
        return p, q

    def delta(self, t: Number) -> Number:
        """Return Σ max(0, P - t·Q) for t >= 0."""
        first = bisect_right(self.ratios, t)
        up, down = t.as_integer_ratio()
        above = self._above
        return self.certain + quotient(down * above[0][first] - up * above[1][first], down * self.scale)

    def least(self, delta: Number) -> Exact:
        """Return the least t >= 1 with δ(t) <= delta; infinite where there is none."""
        if delta < self.certain:
            return math.inf
        low = bisect_right(self.ratios, Fraction(1))
        at = bisect_left(self.ratios, True, lo=low, key=lambda t: self.delta(t) <= delta)
        p, q = (side[at] for side in self._above)
        if not q:
            return Fraction(1)
        up, down = (delta - self.certain).as_integer_ratio()
        return max(Fraction(1), quotient(p * down - up * self.scale, q * down))

    def breakpoints(self) -> tuple[tuple[Number, Number], ...]:
        """Return (t, δ(t)) at t = 1 and wherever the slope of δ changes beyond."""
        first = bisect_right(self.ratios, Fraction(1))
        places = [Fraction(1), *self.ratios[first:]]
        return tuple((t, self.delta(t)) for t in places)


def compose_on_lattice(
    runs: Runs, watch: Watch = lambda: None, most_bits: int = COMPOSITION_BITS
) -> Composition | None:
    """Return the exact composition of independent pairs; None where it would have more than `most_bits` bits."""
    kept = [(pair, times) for pair, times in runs if times]
    one: Number = Fraction(1)
    certain = 1 - math.prod(((1 - pair.certain) ** times for pair, times in kept), start=one)
    pairs = [pair.finite for pair, _ in kept]
    if any(not outcomes for outcomes in pairs):
        return Composition(certain, 1, (), (), ())
    ratios_of = [[p / q for p, q in outcomes] for outcomes in pairs]
    if any(1 << _rank(each[:FEW_VALUES]) > most_bits for each in ratios_of):
        return None
    lattice = _lattice(ratios_of)
    lows, spans = [], []
    for axis in range(len(lattice.basis)):
        along = [[vector[axis] for vector in vectors] for vectors in lattice.coordinates]
        ends = [(min(values), max(values)) for values in along]
        lows.append([low for low, _ in ends])
        spans.append(1 + sum((high - low) * times for (low, high), (_, times) in zip(ends, kept, strict=True)))
    below = [lcm(*(side.denominator for outcome in outcomes for side in outcome)) for outcomes in pairs]
    flat, root = polynomials(
        *(
            side.numerator * (scale // side.denominator)
            for outcomes, scale in zip(pairs, below, strict=True)
            for outcome in outcomes
            for side in outcome
        )
    )
    weights = iter(flat)
    sides = [[(next(weights), next(weights)) for _ in outcomes] for outcomes in pairs]
    degrees = [max(polynomial.degree() for outcome in one for polynomial in outcome) for one in sides]
    width = 1 + sum(degree * times for degree, (_, times) in zip(degrees, kept, strict=True))
    size = math.prod(spans) * width
    if size * sum(times * scale.bit_length() for scale, (_, times) in zip(below, kept, strict=True)) > most_bits:
        return None
    strides = [math.prod(spans[:axis]) for axis in range(len(spans))]
    products, origin = [fmpz_poly([1]), fmpz_poly([1])], one
    total: Whole = 1
    for number, (outcomes, (_, times)) in enumerate(zip(sides, kept, strict=True)):
        watch()
        places = [
            sum(stride * (vector[axis] - lows[axis][number]) for axis, stride in enumerate(strides))
            for vector in lattice.coordinates[number]
        ]
        for side in (0, 1):
            packed = (outcome[side].left_shift(place * width) for place, outcome in zip(places, outcomes, strict=True))
            products[side] *= sum(packed, fmpz_poly([])) ** times
        total *= below[number] ** times
        origin *= (
            lattice.origins[number]
            * math.prod((g ** lows[axis][number] for axis, g in enumerate(lattice.basis)), start=one)
        ) ** times
    watch()
    p, q = (_unpacked(product, width, root) for product in products)
    ratios = _ratios(list(p), spans, strides, lattice.basis, origin, watch)
    return _by_ratio(certain, total, ratios, [(weight, q[place]) for place, weight in p.items()])


def _unpacked(product: fmpz_poly, width: int, root: int) -> dict[int, Whole]:
    """Return the nonzero weights by place; each takes `width` coefficients."""
    coefficients = product.coeffs()
    if width == 1:
        return {place: int(weight) for place, weight in enumerate(coefficients) if weight}
    places = dict.fromkeys(at // width for at, weight in enumerate(coefficients) if weight)
    return {place: whole(fmpz_poly(coefficients[place * width : (place + 1) * width]), root) for place in places}


def _ratios(
    places: Sequence[int],
    spans: Sequence[int],
    strides: Sequence[int],
    basis: Sequence[Number],
    origin: Number,
    watch: Watch,
) -> list[Number]:
    one: Number = Fraction(1)
    powers = [[one] for _ in basis]
    for axis, g in enumerate(basis):
        for _ in range(spans[axis] - 1):
            powers[axis].append(powers[axis][-1] * g)
    ratios = []
    for count, place in enumerate(places):
        if count % 256 == 0:
            watch()
        digits = ((place // stride) % span for stride, span in zip(strides, spans, strict=True))
        ratios.append(origin * math.prod((powers[axis][digit] for axis, digit in enumerate(digits)), start=one))
    return ratios


def composition_of(
    certain: Number, scale: int, outcomes: Sequence[tuple[int, int]], watch: Watch = lambda: None
) -> Composition:
    """Return the composition with these weights of outcomes, P > 0 and Q > 0, to be divided by `scale`."""
    watch()
    return _by_ratio(certain, scale, [Fraction(p, q) for p, q in outcomes], outcomes)


def _by_ratio(
    certain: Number, scale: Whole, ratios: Sequence[Number], outcomes: Sequence[tuple[Whole, Whole]]
) -> Composition:
    order = sorted(range(len(ratios)), key=ratios.__getitem__)
    p, q = (tuple(outcomes[at][side] for at in order) for side in (0, 1))
    return Composition(certain, scale, tuple(ratios[at] for at in order), p, q)


@dataclass(frozen=True)
class _Factored:
    """A positive number as a rational, times powers of irreducible polynomials in T."""

    rational: Fraction
    powers: dict[Key, int]

    @classmethod
    def of(cls, number: Number, root: int) -> _Factored:
        """Factor a number, with T = e^(1/root)."""
        if isinstance(number, Fraction):
            return cls(number, {})
        contents, powers = [], dict[Key, int]()
        for part, sign in zip(number.polynomials, (1, -1), strict=True):
            content, factors = lifted(part, root // number.root).factor()
            contents.append(abs(int(content)))
            for factor, times in factors:
                powers[key(factor)] = powers.get(key(factor), 0) + sign * times
        return cls(Fraction(*contents), powers)


def _rank(ratios: Sequence[Number]) -> int:
    """Return how many vectors span the quotients of ratios: each of them doubles the size of a composition at least."""
    _, _, (vectors,) = _factored([ratios])
    return int(fmpz_mat([list(vector) for vector in vectors]).rank()) if any(vectors) else 0


def _factored(
    ratios: Sequence[Sequence[Number]],
) -> tuple[list[Number], list[Number], list[list[tuple[int, ...]]]]:
    """Return coprime factors, the first ratio of each pair, and the exponents of all ratios over it."""
    origins = [each[0] for each in ratios]
    quotients = [[ratio / origin for ratio in each] for each, origin in zip(ratios, origins, strict=True)]
    root = math.lcm(*(number.root for each in quotients for number in each if isinstance(number, ExpNumber)))
    factored = [[_Factored.of(number, root) for number in each] for each in quotients]
    base = _coprime_base({part for each in factored for one in each for part in one.rational.as_integer_ratio()})
    irreducible = sorted({factor for each in factored for one in each for factor in one.powers})
    values: list[Number] = [*map(Fraction, base)]
    for factor in irreducible:
        value = quotient(whole(from_key(factor), root), 1)
        values.append(value if value > 0 else -value)
    vectors = [
        [(*_exponents(one.rational, base), *(one.powers.get(factor, 0) for factor in irreducible)) for one in each]
        for each in factored
    ]
    return values, origins, vectors


def _lattice(ratios: Sequence[Sequence[Number]]) -> _Lattice:
    """Return a basis for the quotients of ratios within each pair, and all ratios in its coordinates."""
    values, origins, vectors = _factored(ratios)
    rows = [list(vector) for vector in dict.fromkeys(vector for each in vectors for vector in each) if any(vector)]
    if not rows:
        return _Lattice((), tuple(origins), tuple(tuple(() for _ in each) for each in vectors))
    reduced = fmpz_mat(rows).lll() if len(rows) > 1 else fmpz_mat(rows)
    basis = [row for row in ([int(value) for value in line] for line in reduced.tolist()) if any(row)]
    one: Number = Fraction(1)
    generators = [math.prod((b**e for b, e in zip(values, row, strict=True)), start=one) for row in basis]
    solved = tuple(tuple(_coordinates(vector, basis) for vector in each) for each in vectors)
    return _Lattice(tuple(generators), tuple(origins), solved)


def _coordinates(vector: Sequence[int], basis: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the integer coordinates of a lattice vector: the normal equations of the basis, solved exactly."""
    matrix = fmpz_mat([list(row) for row in basis])
    solution = (matrix * matrix.transpose()).solve(matrix * fmpz_mat([[value] for value in vector]))
    return tuple(int(value.p) // int(value.q) for (value,) in solution.tolist())


def _coprime_base(numbers: Iterable[int]) -> list[int]:
    """Return pairwise coprime integers above 1 of which all the numbers are products of powers."""
    base: list[int] = []
    pending = [number for number in numbers if number > 1]
    while pending:
        number = pending.pop()
        for at, other in enumerate(base):
            shared = math.gcd(number, other)
            if shared > 1:
                del base[at]
                pending += [part for part in (shared, number // shared, other // shared) if part > 1]
                break
        else:
            base.append(number)
    return sorted(base)


def _exponents(ratio: Fraction, base: Sequence[int]) -> tuple[int, ...]:
    up, down = ratio.as_integer_ratio()
    return tuple(_valuation(up, factor) - _valuation(down, factor) for factor in base)


def _valuation(number: int, factor: int) -> int:
    count = 0
    while number % factor == 0:
        number, count = number // factor, count + 1
    return count
