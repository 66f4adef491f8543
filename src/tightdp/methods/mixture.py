"""Laws of aggregates over interchangeable clients, for all counts of letters, by dynamic programming.

A client with one of the *letters* of its class contributes by the law of that letter. The law of the aggregate
depends only on how many clients of each class have each letter. All such laws are computed along a tree in which
common factors are applied once. The law of one integer sum is a polynomial: an exact division takes one client out of
it, so that all n + 1 laws of n bits take O(n^2) operations; that of several sums is one in several variables. Other
laws halve the range of counts of the last two letters, for O(n^2 log n).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from flint import fmpz_mpoly, fmpz_mpoly_ctx, fmpz_poly

from tightdp.core.operators import Value
from tightdp.exact.polynomials import has_unknown, lifted
from tightdp.exact.whole import ExpInteger, Whole, polynomials
from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound
from tightdp.methods.aggregate import Contribution
from tightdp.symmetry.orbits import Group
from tightdp.symmetry.sets import Counts

COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": operator.add,
    "min": min,
    "max": max,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
}

State = tuple[Any, ...]
"""One value per aggregate, None as long as no client contributed."""
MovesOfLetters = Mapping[tuple[int, int], Sequence[tuple[Record, Record]]]
"""By the letters before and after, the ways to change a record."""


class Joins:
    """Numbered states, the first for no clients, and the states that they become with one more client.

    Joined once for each letter, however many clients there are; `work` counts it.
    """

    def __init__(self, none: State, operators: Sequence[str], values: Sequence[Sequence[State]]) -> None:
        self.states, self.number, self.work = [none], {none: 0}, 0
        self._operators, self._values = operators, values
        self._after: dict[tuple[int, int], list[int]] = {}
        self._columns: dict[tuple[int, int, Any], list[Any]] = {}

    def after(self, at: int, state: int) -> list[int]:
        """Return the numbers of the states that one state becomes, for every letter of a group."""
        found = self._after.get((at, state))
        if found is None:
            columns = [self._column(at, place, held) for place, held in enumerate(self.states[state])]
            found = self._after[at, state] = [self._numbered(joined) for joined in zip(*columns, strict=True)]
            self.work += len(found)
        return found

    def _numbered(self, state: State) -> int:
        number = self.number.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number

    def _column(self, at: int, place: int, held: object) -> list[Value]:
        """Return what one aggregate becomes for every letter of a group."""
        if (at, place, held) not in self._columns:
            name, values = self._operators[place], self._values[at]
            self._columns[at, place, held] = [join(name, held, value[place]) for value in values]
        return self._columns[at, place, held]


def join(name: str, left: Value, right: Value) -> Value:
    """Return an aggregate's value for two sets of clients together; None stands for no clients."""
    return right if left is None else left if right is None else COMBINE[name](left, right)


class Ways:
    """The ways in which a client of a group changes its record, by the laws that its letters lead to."""

    def __init__(self, bound: Bound, group: Group, ways: MovesOfLetters) -> None:
        steps = relation_of(bound).steps
        self._any = all(len(after) == len(steps) for after in steps.values())
        """Whether every record may become every other one."""
        self._group, self._ways = group, ways

    def between(self, row: Sequence[int]) -> Iterator[tuple[tuple[int, int], int, tuple[Record, Record], int]]:
        """Yield pairs of laws with a letter before, a record before and after, and in how many ways; `row` by letter.

        Pairs may be repeated.
        """
        if not self._any:
            for (old, new), ways in self._ways.items():
                yield (row[old], row[new]), old, ways[0], len(ways)
            return
        letters: dict[int, list[int]] = {}
        for at, law in enumerate(row):
            letters.setdefault(law, []).append(at)
        records = {law: [record for at in same for record in self._group.letters[at]] for law, same in letters.items()}
        for before, same in letters.items():
            for after, mine in records.items():
                ours = records[before]
                if before != after:
                    yield (before, after), same[0], (ours[0], mine[0]), len(ours) * len(mine)
                elif len(ours) > 1:
                    yield (before, after), same[0], (ours[0], ours[1]), len(ours) * (len(ours) - 1)


@dataclass(frozen=True)
class _Sparse:
    """A law as a dictionary; a state holds one value per aggregate, None as long as no client contributed."""

    weights: dict[tuple[Any, ...], Whole]
    denominator: Whole
    operators: tuple[str, ...]

    def add(self, contribution: Contribution, clients: int = 1) -> _Sparse:
        combine = [COMBINE[name] for name in self.operators]
        weights = self.weights
        for _ in range(clients):
            if self.operators in (("max",), ("min",)):
                weights = _extremum(weights, contribution, self.operators == ("min",))
                continue
            result: dict[tuple[Any, ...], Whole] = {}
            for values, weight in contribution.weights:
                for state, present in weights.items():
                    joined = tuple(
                        old if new is None else new if old is None else join(old, new)
                        for join, old, new in zip(combine, state, values, strict=True)
                    )
                    result[joined] = result.get(joined, 0) + present * weight
            weights = result
        return _Sparse(weights, self.denominator * contribution.denominator**clients, self.operators)

    def items(self) -> Iterator[tuple[State, Whole]]:
        return iter(self.weights.items())


def _extremum(law: dict[State, Whole], more: Contribution, least: bool) -> dict[State, Whole]:
    """Return the law of the largest (or the least) of two: up to every value, the product of the masses up to it."""
    other: dict[State, Whole] = {}
    for state, weight in more.weights:
        other[state] = other.get(state, 0) + weight
    values = sorted({value for (value,) in (*law, *other) if value is not None}, reverse=least)
    result: dict[State, Whole] = {}
    ours: Whole = 0
    theirs: Whole = 0
    before: Whole = 0
    for state in ((None,), *((value,) for value in values)):
        ours, theirs = ours + law.get(state, 0), theirs + other.get(state, 0)
        upto = ours * theirs
        if mass := upto - before:
            result[state] = mass
        before = upto
    return result


@dataclass(frozen=True)
class SumLaw:
    """The law of one integer sum: the weight of `offset + i` is the coefficient of z^i of an integer polynomial.

    Where weights are polynomials in T = e^(1/root), z stands for T^stride, beyond every power of T that occurs.
    """

    offset: int
    polynomial: fmpz_poly
    denominator: Whole
    stride: int = 1
    root: int = 1

    def add(self, contribution: Contribution, clients: int = 1) -> SumLaw:
        low, factor = _as_polynomial(contribution, self.stride, self.root)
        polynomial = self.polynomial * (factor if clients == 1 else factor**clients)
        denominator = self.denominator * contribution.denominator**clients
        return SumLaw(self.offset + low * clients, polynomial, denominator, self.stride, self.root)

    def exchange(self, old: Contribution, new: Contribution) -> SumLaw:
        """Return the law where one of the clients that contribute `old` contributes `new` instead.

        Their law is a factor of the present one, so the division is exact.
        """
        (old_low, divisor), (new_low, factor) = (_as_polynomial(each, self.stride, self.root) for each in (old, new))
        denominator = self.denominator // old.denominator * new.denominator
        polynomial = _product(self.polynomial, factor) / divisor
        return SumLaw(self.offset - old_low + new_low, polynomial, denominator, self.stride, self.root)

    @cached_property
    def _coefficients(self) -> Sequence[Any]:
        """The weights, where they are integers as flint has them."""
        return self.polynomial.coeffs() if self.stride == 1 else self.weights()

    def mass(self, sums: Iterable[int]) -> Whole:
        """Return the weight of some sums together."""
        coefficients = self._coefficients
        places = [place for value in sums if 0 <= (place := value - self.offset) < len(coefficients)]
        first, last = min(places, default=0), max(places, default=-1)
        if len(places) == last - first + 1:  # contiguous, as most windows are
            whole = sum(coefficients[first : last + 1])
        else:
            whole = sum(map(coefficients.__getitem__, places))
        return int(whole) if self.stride == 1 else whole

    def weights(self) -> list[Whole]:
        """Return the weights of `offset`, `offset + 1`, ..."""
        coefficients = self.polynomial.coeffs()
        if self.stride == 1:
            return list(map(int, coefficients))
        return [
            ExpInteger(fmpz_poly(coefficients[at : at + self.stride]), self.root)
            for at in range(0, len(coefficients), self.stride)
        ]

    def items(self) -> Iterator[tuple[State, Whole]]:
        return (((self.offset + at,), weight) for at, weight in enumerate(self.weights()) if weight)


@dataclass(frozen=True)
class SeveralSums:
    """The law of several integer sums: states, less the offsets, are the exponents of an integer polynomial."""

    offsets: tuple[int, ...]
    polynomial: fmpz_mpoly
    denominator: Whole

    def add(self, contribution: Contribution, clients: int = 1) -> SeveralSums:
        lows, factor = _in_several_variables(contribution, self.polynomial.context())
        offsets = tuple(offset + low * clients for offset, low in zip(self.offsets, lows, strict=True))
        polynomial = self.polynomial * (factor if clients == 1 else factor**clients)
        return SeveralSums(offsets, polynomial, self.denominator * contribution.denominator**clients)

    def exchange(self, old: Contribution, new: Contribution) -> SeveralSums:
        """Return the law where one of the clients that contribute `old` contributes `new` instead."""
        context = self.polynomial.context()
        (old_lows, divisor), (new_lows, factor) = (_in_several_variables(each, context) for each in (old, new))
        offsets = tuple(at - a + b for at, a, b in zip(self.offsets, old_lows, new_lows, strict=True))
        denominator = self.denominator // old.denominator * new.denominator
        return SeveralSums(offsets, self.polynomial * factor / divisor, denominator)

    def items(self) -> Iterator[tuple[State, Whole]]:
        columns = zip(self.offsets, zip(*self.polynomial.monoms(), strict=True), strict=True)
        states = zip(*(map(offset.__add__, map(int, column)) for offset, column in columns), strict=True)
        return zip(states, map(int, self.polynomial.coeffs()), strict=True)


StateLaw: TypeAlias = _Sparse | SumLaw | SeveralSums
"""The law of the aggregates of some clients."""


def _product(long: fmpz_poly, short: fmpz_poly) -> fmpz_poly:
    """Multiply by a polynomial that may have few terms, far apart, as where z stands for a high power of T."""
    terms = [(power, c) for power, c in enumerate(short.coeffs()) if c]
    if 8 * len(terms) > len(short):
        return long * short
    return sum((long.left_shift(power) * c for power, c in terms), start=fmpz_poly())


def _in_several_variables(contribution: Contribution, context: fmpz_mpoly_ctx) -> tuple[tuple[int, ...], fmpz_mpoly]:
    """Return the least values, and the polynomial of the weights of the values from there on."""
    lows = tuple(map(min, zip(*(values for values, _ in contribution.weights), strict=True)))
    terms: dict[tuple[int, ...], Any] = {
        tuple(map(operator.sub, values, lows)): weight for values, weight in contribution.weights
    }
    return lows, context.from_dict(terms)


@lru_cache(maxsize=256)
def _as_polynomial(contribution: Contribution, stride: int, root: int) -> tuple[int, fmpz_poly]:
    """Return the least value and the polynomial of the weights of the values from there on."""
    low, high = contribution.weights[0][0][0], contribution.weights[-1][0][0]
    coefficients = [0] * ((high - low + 1) * stride)
    for (value,), weight in contribution.weights:
        if isinstance(weight, int):
            coefficients[(value - low) * stride] = weight
        else:
            powers = lifted(weight.polynomial, root // weight.root).coeffs()
            coefficients[(value - low) * stride : (value - low) * stride + len(powers)] = map(int, powers)
    return low, fmpz_poly(coefficients)


def one_state(operators: Sequence[str], tables: Sequence[Sequence[Contribution]], clients: int) -> StateLaw:
    """Return the law of the aggregates of no clients, to which at most `clients` will be added."""
    values = [value for table in tables for entry in table for (state, _) in entry.weights for value in state]
    if tuple(operators) == ("sum",) and all(isinstance(value, int) for value in values):
        (_, *powers), root = polynomials(1, *(w for table in tables for entry in table for _, w in entry.weights))
        if not any(map(has_unknown, powers)):
            degree = max((power.degree() for power in powers), default=0)
            return SumLaw(0, fmpz_poly([1]), 1, clients * degree + 1, root)
    weights = [weight for table in tables for entry in table for _, weight in entry.weights]
    alone = all(len(entry.weights) == 1 for table in tables for entry in table)
    if set(operators) == {"sum"} and not alone and all(type(each) is int for each in (*values, *weights)):
        names = tuple(f"s{at}" for at in range(len(operators)))
        return SeveralSums((0,) * len(names), fmpz_mpoly_ctx.get(names).constant(1), 1)
    return _Sparse({(None,) * len(operators): 1}, 1, tuple(operators))


def certain(start: StateLaw, state: State) -> StateLaw:
    """Return the law of aggregates that have the values `state` with probability 1."""
    return start.add(Contribution(((state, 1),), 1))


def law_of(start: StateLaw, letters: Sequence[Sequence[Contribution]], counts: Counts) -> StateLaw:
    """Return the law of the aggregates for given counts of letters."""
    law = start
    for table, numbers in zip(letters, counts, strict=True):
        for contribution, number in zip(table, numbers, strict=True):
            law = law.add(contribution, number) if number else law
    return law


def every_law(
    start: StateLaw, letters: Sequence[Sequence[Contribution]], clients: Sequence[int]
) -> Iterator[tuple[Counts, StateLaw]]:
    """Yield the law of the aggregates for all counts of letters; `clients[k]` is the size of class k."""

    def classes(at: int, law: StateLaw, done: Counts) -> Iterator[tuple[Counts, StateLaw]]:
        if at == len(clients):
            yield done, law
            return
        for numbers, below in _one_class(law, letters[at], clients[at]):
            yield from classes(at + 1, below, (*done, numbers))

    return classes(0, start, ())


def _one_class(
    law: StateLaw, table: Sequence[Contribution], clients: int, at: int = 0
) -> Iterator[tuple[tuple[int, ...], StateLaw]]:
    """Yield the laws for all counts of the letters from `at` on: by the first letter that some client has."""
    left = len(table) - at
    if not clients:
        yield (0,) * left, law
        return
    if left == 1:
        yield (clients,), law.add(table[at], clients)
        return
    for numbers, below in _two_letters(law, table[-2], table[-1], clients):
        yield (0,) * (left - 2) + numbers, below
    for first in range(len(table) - 3, at - 1, -1):
        present = law
        for number in range(1, clients + 1):
            present = present.add(table[first])
            for rest, below in _one_class(present, table, clients - number, first + 1):
                yield (*(0,) * (first - at), number, *rest), below


def _two_letters(
    law: StateLaw, first: Contribution, second: Contribution, clients: int
) -> Iterator[tuple[tuple[int, ...], StateLaw]]:
    """Yield the laws with 0, 1, ..., `clients` clients of the first letter: from one to the next, or by halving."""
    if isinstance(law, (SumLaw, SeveralSums)):
        law = law.add(second, clients)
        yield (0, clients), law
        for number in range(1, clients + 1):
            law = law.exchange(second, first)
            yield (number, clients - number), law
        return
    stack = [(0, clients, law)]
    while stack:
        low, high, present = stack.pop()
        if low == high:
            yield (low, clients - low), present
            continue
        middle = (low + high) // 2
        stack.append((middle + 1, high, present.add(first, middle + 1 - low)))
        stack.append((low, middle, present.add(second, high - middle)))
