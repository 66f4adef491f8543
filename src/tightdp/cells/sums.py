"""Sums over the integers: functions that are sums of polynomials times exponentials on cells, a variable summed out.

A variable is summed out of a cell by cases: which lower bound is the largest, which upper bound the smallest. Between
them the sum is geometric, or a polynomial where the bases are equal. Bases of exponentials are numbers that are known
by identity: exact numbers are slow to hash, and a law has few bases in many terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb, prod
from typing import Any, TypeAlias, TypeVar

from flint import arb, ctx, fmpq

from tightdp.cells.linear import REAL, Coefficients, Row, Rows, feasible, residues_at, row, tightest
from tightdp.cells.noise import Multiple, Outside
from tightdp.exact.enclosure import BITS, as_fmpq, as_fraction
from tightdp.exact.field import ExpNumber, Number, as_ball


class Bases:
    """All bases of some laws; `unit` is 1."""

    def __init__(self, one: Any) -> None:
        self._known: dict[Any, Base] = {}
        self.unit = self.of(one)

    def of(self, value: Any) -> Base:
        if value not in self._known:
            self._known[value] = Base(value, self)
        return self._known[value]


class Base:
    """A positive number."""

    __slots__ = ("__dict__", "_powers", "_products", "_table", "value")

    def __init__(self, value: Any, table: Bases) -> None:
        self.value, self._table = value, table
        self._products: dict[Base, Base] = {}
        self._powers: dict[int | Fraction, Base] = {}

    def __mul__(self, other: Base) -> Base:
        found = self._products.get(other)
        if found is None:
            found = self._products[other] = self._table.of(self.value * other.value)
        return found

    def __pow__(self, exponent: int | Fraction) -> Base:
        if self is self.unit:
            return self
        found = self._powers.get(exponent)
        if found is None:
            whole = isinstance(exponent, Fraction) and exponent.denominator == 1
            found = self._table.of(self.value ** (int(exponent) if whole else exponent))
            self._powers[exponent] = found
        return found

    @cached_property
    def falls(self) -> bool:
        """Whether it is below 1."""
        return bool(self.value < 1)

    @cached_property
    def rate(self) -> Fraction | None:
        """q where it is e^q, None elsewhere."""
        found = Fraction(0) if self is self.unit else self.value.exponent
        return found if isinstance(found, Fraction) else None

    @property
    def unit(self) -> Base:
        return self._table.unit

    def __repr__(self) -> str:
        return f"Base({self.value})"


Exact: TypeAlias = Any
"""A rational of FLINT, or a number with e^q."""
Key: TypeAlias = tuple[tuple[tuple[int, Base], ...], tuple[tuple[int, int], ...]]
"""The bases other than 1 of variables, and their degrees other than 0."""
Terms: TypeAlias = dict[Key, Exact]
"""Coefficients of the products base^variable · variable^degree."""
Piece: TypeAlias = tuple[Rows, Terms]
"""Terms on a cell, 0 elsewhere."""
Pieces: TypeAlias = Sequence[Piece]
"""The sum of some pieces."""

UNIT: Key = ((), ())


def exact_number(one: Exact, value: Number) -> Exact:
    """Return a number as those are that have this 1."""
    if isinstance(one, fmpq) and isinstance(value, Fraction):
        return as_fmpq(value)
    return value


def rational_number(value: Exact) -> Number:
    """Return a number of these laws as the others are."""
    return as_fraction(value) if isinstance(value, fmpq) else value


def near(value: Any) -> arb:
    """Return a number as an enclosure, at the precision in force."""
    return arb(value) if isinstance(value, (fmpq, arb)) else as_ball(value)


def plus(total: Any, more: Any) -> Any:
    """Return the sum of two numbers, enclosed where one of them is."""
    with ctx.workprec(BITS):
        return near(total) + near(more) if isinstance(total, arb) or isinstance(more, arb) else total + more


def variables(pieces: Pieces) -> set[int]:
    """Return the variables that a function depends on."""
    found: set[int] = set()
    for rows, terms in pieces:
        found.update(v for normal, _ in rows for v, _ in normal)
        found.update(v for key in terms for part in key for v, _ in part)
    return found


def power(base: Base, coefficients: Coefficients, constant: int | Fraction) -> Terms:
    """Return base^form."""
    bases = tuple((v, base ** coefficients[v]) for v in sorted(coefficients)) if base is not base.unit else ()
    return {(bases, ()): (base**constant).value}


def kept(coefficient: Exact) -> bool:
    """Whether a coefficient is not 0; a function of the unknown is kept that is 0 at some of its values only."""
    return isinstance(coefficient, ExpNumber) or bool(coefficient)


K = TypeVar("K")


def add(total: dict[K, Exact], key: K, c: Exact) -> None:
    """Add a term to others."""
    new = total[key] + c if key in total else c
    if kept(new):
        total[key] = new
    else:
        total.pop(key, None)


def added(total: dict[K, Exact], terms: Mapping[K, Exact], sign: int = 1) -> None:
    """Add terms to others, or subtract them."""
    for key, c in terms.items():
        add(total, key, c if sign > 0 else -c)


def taken(left: dict[K, Any], key: K, rest: Any, most: Callable[[K, K], Any]) -> bool:
    """Take a positive term from what is left of others, and say whether it was enough.

    `most` returns an upper end of one term divided by another, None where none is known.
    """
    for other, c in list(left.items()):
        share = most(key, other)
        if share is None:
            continue
        left[other] = c - rest * share
        if left[other] >= 0:
            return True
        del left[other]
        rest = rest - c / share
    return False


def _joined(left: Key, right: Key) -> Key:
    if not (left[0] or left[1]):
        return right
    if not (right[0] or right[1]):
        return left
    bases, degrees = dict(left[0]), dict(left[1])
    for v, base in right[0]:
        bases[v] = bases[v] * base if v in bases else base
    for v, degree in right[1]:
        degrees[v] = degrees.get(v, 0) + degree
    free = (v for v in sorted(bases) if bases[v] is not bases[v].unit)
    return tuple((v, bases[v]) for v in free), tuple(sorted(degrees.items()))


def multiplied_terms(left: Terms, right: Terms) -> Terms:
    """Return the product of two sums of terms."""
    found: Terms = {}
    for ours, c in left.items():
        for theirs, d in right.items():
            add(found, _joined(ours, theirs), c * d)
    return found


def multiplied(left: Pieces, right: Pieces) -> list[Piece]:
    """Return the product of two functions."""
    found = []
    for ours, terms in left:
        for theirs, others in right:
            rows = tightest([*ours, *theirs])
            if feasible(rows):
                found.append((rows, multiplied_terms(terms, others)))
    return found


def expanded(factors: Sequence[Pieces], one: Exact) -> list[Piece]:
    """Return a product of functions as one."""
    total: list[Piece] = [(frozenset(), {UNIT: one})]
    for pieces in sorted(factors, key=len):
        total = multiplied(total, pieces)
    return total


def value_at(pieces: Pieces, place: Sequence[int]) -> Exact:
    """Return the value of a function at a place."""
    values: list[Exact] = []  # exact numbers are slow to add, to 0 as well
    for rows, terms in pieces:
        if all(sum(c * place[v] for v, c in normal) <= bound for normal, bound in rows):
            for (bases, degrees), c in terms.items():
                value = prod(((base ** place[v]).value for v, base in bases), start=c)
                if degrees:
                    value = value * prod(place[v] ** degree for v, degree in degrees)
                values.append(value)
    return sum(values[1:], values[0]) if values else 0


def summed_out(pieces: Pieces, y: int) -> Pieces:
    """Return the sum of a function over all integer values of a variable."""
    total: dict[Rows, Terms] = {}
    for rows, terms in pieces:
        for cell, part in _sum_of_piece(rows, terms, y):
            added(total.setdefault(cell, {}), part)
    found = [(rows, terms) for rows, terms in total.items() if terms]
    return _on_a_line(found) if len(variables(found)) <= 1 else found


Bound: TypeAlias = tuple[dict[int, Any], Any]
"""A linear form and a constant."""


def _sum_of_piece(rows: Rows, terms: Terms, y: int) -> Iterable[Piece]:
    others: list[Row] = []
    lower: list[Bound] = []
    upper: list[Bound] = []
    for normal, bound in rows:
        coefficients = dict(normal)
        c = coefficients.pop(y, 0)
        if not c:
            others.append((normal, bound))
        elif y < REAL and normal[-1][0] >= REAL:
            raise Outside("is published, and compared with noise on the integers")
        elif y < REAL and abs(c) > 1:
            raise Multiple(residues_at(rows, y))
        elif y >= REAL:
            form = {v: Fraction(-a, c) for v, a in coefficients.items()}
            (upper if c > 0 else lower).append((form, Fraction(bound) / c))
        elif c > 0:
            upper.append(({v: -a for v, a in coefficients.items()}, bound))
        else:
            lower.append((coefficients, -bound))
    lower.sort(key=str)
    upper.sort(key=str)
    ends = [_antidifferences(key, c, y) for key, c in terms.items()]
    beyond = 0 if y >= REAL else 1
    for missing, sign in ((not upper, 1), (not lower, -1)):
        if missing and not all(base is not None and (base**sign).falls for _, base, _ in ends):
            raise Outside("has no sum")
    tops = [_at_end(ends, (form, constant + beyond)) for form, constant in upper]
    bottoms = [_at_end(ends, bound) for bound in lower]
    for high in range(len(upper)) if upper else [-1]:
        above = [*others, *_extreme(upper, high, True)]
        for low in range(len(lower)) if lower else [-1]:
            both = [*above, *_extreme(lower, low, False)]
            if upper and lower:
                both.append(_at_most(lower[low], upper[high]))
            cell = tightest(both)
            if not feasible(cell):
                continue
            part = dict(tops[high]) if upper else {}
            if lower:
                added(part, bottoms[low], -1)
            yield cell, part


def _at_end(ends: Sequence[tuple[Key, Base | None, Sequence[Exact]]], at: Bound) -> Terms:
    """Return the sum of some antidifferences at a place."""
    found: Terms = {}
    for rest, base, polynomial in ends:
        added(found, substituted(rest, base, polynomial, at))
    return found


def _at_most(left: Bound, right: Bound, strict: bool = False) -> Row:
    difference = dict(left[0])
    for v, c in right[0].items():
        difference[v] = difference.get(v, 0) - c
    return row(difference, right[1] - left[1], strict)


def _extreme(bounds: Sequence[Bound], best: int, least: bool) -> Iterable[Row]:
    """Yield the conditions that one of some bounds is the least (or the largest), the first one of those."""
    for at, other in enumerate(bounds if best >= 0 else ()):
        if at != best:
            pair = (bounds[best], other) if least else (other, bounds[best])
            yield _at_most(*pair, strict=at < best)


def _antidifferences(key: Key, c: Exact, y: int) -> tuple[Key, Base | None, Sequence[Exact]]:
    """Return what stands beside y, the base b, and coefficients q, such that q(y) b^y is an antidifference of the rest.

    For real y it is an antiderivative.
    """
    bases, degrees = dict(key[0]), dict(key[1])
    base, degree = bases.pop(y, None), degrees.pop(y, 0)
    value = c / c if base is None else base.value
    polynomial = antiderivative(value, degree) if y >= REAL else _antidifference(value, degree)
    return (tuple(bases.items()), tuple(degrees.items())), base, [c * q for q in polynomial]


@lru_cache(1 << 12)
def _antidifference(base: Exact, degree: int) -> tuple[Exact, ...]:
    one = base / base
    if base == 1:
        q = [0 * one] * (degree + 2)
        q[degree + 1] = one / (degree + 1)
        for k in range(degree - 1, -1, -1):
            q[k + 1] = -sum((comb(j, k) * q[j] for j in range(k + 2, degree + 2)), 0 * one) / (k + 1)
        return tuple(q)
    q = [0 * one] * (degree + 1)
    q[degree] = one / (base - 1)
    for k in range(degree - 1, -1, -1):
        q[k] = -base / (base - 1) * sum((comb(j, k) * q[j] for j in range(k + 1, degree + 1)), 0 * one)
    return tuple(q)


@lru_cache(1 << 12)
def antiderivative(base: Exact, degree: int) -> tuple[Exact, ...]:
    """Return coefficients q such that q(y)·base^y has the derivative y^degree·base^y."""
    one = base / base
    if base == 1:
        return (*[0 * one] * (degree + 1), one / (degree + 1))
    q = [one / base.logarithm]
    for k in range(degree - 1, -1, -1):
        q.append(-q[-1] * (k + 1) / base.logarithm)
    return tuple(reversed(q))


def substituted(rest: Key, base: Base | None, polynomial: Sequence[Exact], at: Bound) -> Terms:
    """Return rest · base^at · polynomial(at)."""
    form, constant = at
    values: Terms = {UNIT: polynomial[-1]}
    if len(polynomial) > 1:
        one = polynomial[-1] / polynomial[-1]
        line: Terms = {((), ((v, 1),)): exact_number(one, Fraction(c)) * one for v, c in form.items()}
        if constant:
            line[UNIT] = exact_number(one, Fraction(constant)) * one
        for q in reversed(polynomial[:-1]):
            values = multiplied_terms(values, line)
            added(values, {UNIT: q} if kept(q) else {})
    if base is not None:
        values = multiplied_terms(values, power(base, form, constant))
    return {_joined(rest, key): c for key, c in values.items()}


def _on_a_line(pieces: Pieces) -> Pieces:
    """Return a function of at most one variable as pieces that do not overlap."""
    free = variables(pieces)
    if not free:
        total: Terms = {}
        for _, terms in pieces:
            added(total, terms)
        return [(frozenset(), total)] if total else []
    (v,) = free
    step = 0 if v >= REAL else 1
    ends = [_interval(rows) for rows, _ in pieces]
    cuts = sorted({e[0] for e in ends if e[0] is not None} | {e[1] + step for e in ends if e[1] is not None})
    found: list[Piece] = []
    for low, after in zip([None, *cuts], [*cuts, None], strict=True):
        total = {}
        for (first, last), (_, terms) in zip(ends, pieces, strict=True):
            starts = first is None or (low is not None and first <= low)
            if starts and (last is None or (after is not None and after - step <= last)):
                added(total, terms)
        if total:
            rows = [(((v, -1),), -low)] if low is not None else []
            found.append((frozenset([*rows, *([(((v, 1),), after - step)] if after is not None else [])]), total))
    return found


def _interval(rows: Rows) -> tuple[Any, Any]:
    low: Any = None
    high: Any = None
    for normal, bound in rows:
        if normal[0][1] > 0:
            high = bound if high is None else min(bound, high)
        else:
            low = -bound if low is None else max(-bound, low)
    return low, high
