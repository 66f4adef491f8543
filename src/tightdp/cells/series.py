"""Sequences with a linear recurrence, such as how often a loop is in a state with a counter at k, in closed form.

Source: Massey 1969 (the shortest recurrence of a sequence); partial fractions of rational generating functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from math import comb
from typing import Any

from flint import fmpq, fmpq_mat, fmpq_poly

from tightdp.cells.generating import Generating, shortest
from tightdp.cells.noise import Outside
from tightdp.cells.sums import rational_number
from tightdp.exact.field import Number

Masses = list[dict[int, Any]]
"""Transitions of a chain: for each state the next states, and their probabilities."""


@dataclass(frozen=True)
class ClosedForm:
    """Masses on the natural numbers: the first few, then Σ coefficient·C(k - start + times, times)·base^(k - start)."""

    first: tuple[Number, ...]
    tail: tuple[tuple[Number, Any, int], ...]
    """Coefficients with bases and times."""

    @property
    def start(self) -> int:
        """Where the tail begins."""
        return len(self.first)


@dataclass
class Moves:
    """The moves of a chain with a counter: by how much it grows, in how many steps of a law, or where it begins anew.

    States that are `apart` have no counter. Numbers are those that have this `one`.
    """

    size: int
    one: Any
    apart: frozenset[int]
    _by: dict[int, Masses] = field(default_factory=dict)
    _spread: list[tuple[int, int, Callable[[int], Any], int]] = field(default_factory=list)
    _anew: list[tuple[int, int, Any, int]] = field(default_factory=list)

    def add(self, state: int, to: int, mass: Any, grown: int) -> None:
        """Add a move by which the counter grows by a number."""
        line = self._by.setdefault(grown, [{} for _ in range(self.size)])[state]
        line[to] = line.get(to, 0 * mass) + mass

    def add_spread(self, state: int, to: int, term: Callable[[int], Any], degree: int) -> None:
        """Add a move by which it grows by d with probability `term(d)`, a rational series with such a degree."""
        self._spread.append((state, to, term, degree))

    def add_anew(self, state: int, to: int, mass: Any, begun: int) -> None:
        """Add a move after which it is at a number, wherever it was."""
        self._anew.append((state, to, mass, begun))

    @property
    def still(self) -> bool:
        """Whether the counter, if any, does not grow."""
        return not self._spread and not any(begun for *_, begun in self._anew) and not any(self._by)

    @property
    def most(self) -> int | None:
        """By how much it grows at most, None where that is not bounded."""
        return None if self._spread else max(self._by, default=0)

    @property
    def order(self) -> int:
        """The order of a recurrence of how often states are met, at most."""
        degrees = [0] * self.size
        for d, masses in self._by.items():
            for state, line in enumerate(masses):
                degrees[state] = max(degrees[state], d) if line else degrees[state]
        for state, _, _, degree in self._spread:
            degrees[state] += degree
        begun = [begun + 1 for *_, begun in self._anew]
        return sum(degrees) + max(begun, default=int(bool(self._spread)))

    def at(self, d: int) -> Masses:
        """Return the moves by which the counter grows by d."""
        found = [dict(line) for line in self._by.get(d, [{}] * self.size)]
        for state, to, term, _ in self._spread:
            found[state][to] = found[state].get(to, 0 * self.one) + term(d)
        return found

    def begun(self, total: Callable[[int], Any]) -> dict[int, list[Any]]:
        """Return how often states are met with a counter that begins, by where it does; `total` of each spread move.

        What is met without a counter is met at 0.
        """
        found: dict[int, list[Any]] = {0: [self.one * (s == 0) for s in range(self.size)]}
        if not self._anew:
            return found
        every: Masses = [{} for _ in range(self.size)]
        moves = [
            (s, t, mass) for masses in self._by.values() for s, line in enumerate(masses) for t, mass in line.items()
        ]
        moves += [(s, t, mass) for s, t, mass, _ in self._anew]
        moves += [(s, t, total(at)) for at, (s, t, *_) in enumerate(self._spread)]
        for s, t, mass in moves:
            every[s][t] = every[s].get(t, 0 * mass) + mass
        times = _Still(every, self.size, self.one).visits(found[0])
        found[0] = [times[s] if s in self.apart else first for s, first in enumerate(found[0])]
        for s, t, mass, begun in self._anew:
            if t not in self.apart:
                line = found.setdefault(begun, [0 * self.one] * self.size)
                line[t] += times[s] * mass
        return found


def visits(moves: Moves, begun: Mapping[int, list[Any]]) -> Iterator[list[Any]]:
    """Yield how often a chain is in each state with its counter at 0, 1, ...

    Raises Outside where it does not get on.
    """
    by, most = [moves.at(0)], moves.most
    still = _Still(by[0], moves.size, moves.one)
    found: list[list[Any]] = []
    for k in count():
        entered = list(begun.get(k, [0 * moves.one] * moves.size))
        for d in range(1, (k if most is None else min(most, k)) + 1):
            if d == len(by):
                by.append(moves.at(d))
            for s, targets in enumerate(by[d]):
                times = found[-d][s]
                if times:
                    for t, mass in targets.items():
                        entered[t] += times * mass
        found.append(still.visits(entered))
        yield found[-1]
        if most:
            del found[:-most]


class _Still:
    """The rounds in which a counter does not grow."""

    def __init__(self, moves: Masses, size: int, one: Any) -> None:
        self._size = size
        self._inverse: list[list[Any]] | None = None
        if not any(moves):
            return
        matrix = [[one * (s == t) - moves[s].get(t, 0 * one) for t in range(size)] for s in range(size)]
        self._inverse = _inverse(matrix, one)

    def visits(self, entered: list[Any]) -> list[Any]:
        """Return how often each state is met by those that enter."""
        if self._inverse is None:
            return entered
        come = [(s, mass) for s, mass in enumerate(entered) if mass]
        return [sum((mass * self._inverse[s][t] for s, mass in come), 0 * entered[0]) for t in range(self._size)]


def _inverse(matrix: list[list[Any]], one: Any) -> list[list[Any]]:
    size = len(matrix)
    if isinstance(one, fmpq):
        try:
            solved = fmpq_mat(size, size, [entry for line in matrix for entry in line]).inv()
        except ZeroDivisionError:
            raise Outside("is drawn in a loop that can run for ever") from None
        return [[solved[s, t] for t in range(size)] for s in range(size)]
    lines = [[*line, *(one * (s == t) for t in range(size))] for s, line in enumerate(matrix)]
    for c in range(size):
        pivot = next((r for r in range(c, size) if lines[r][c]), None)
        if pivot is None:
            raise Outside("is drawn in a loop that can run for ever")
        lines[c], lines[pivot] = lines[pivot], lines[c]
        lines[c] = [entry / lines[c][c] for entry in lines[c]]
        for r in range(size):
            if r != c and lines[r][c]:
                times = lines[r][c]
                lines[r] = [ours - times * theirs for ours, theirs in zip(lines[r], lines[c], strict=True)]
    return [line[size:] for line in lines]


def closed_forms(term: Callable[[int], Any], order: int) -> list[ClosedForm]:
    """Return a sequence that has a recurrence of some order by closed forms of every term, or every second, and so on.

    What is rational and has none is the coefficients of a generating function, in place of powers. Raises Outside
    where bases are no positive numbers that are known exactly, and others are not rational.
    """
    for period in _PERIODS:
        enough = range(2 * order + 2)
        try:
            return [closed_form([term(at + period * k) for k in enough]) for at in range(period)]
        except _Signs as signs:
            refused = signs
    if isinstance(term(0), fmpq):
        return [ClosedForm((), ((Fraction(1), Generating.from_terms(term, order), 0),))]
    raise refused


_PERIODS = (1, 2, 3, 4, 6)


class _Signs(Outside):
    """Other bases than positive numbers that are known exactly; those of a part of the sequence may be."""


def closed_form(sequence: Sequence[Any]) -> ClosedForm:
    """Return a sequence of which at least twice as many terms are given as the order of some recurrence that it has."""
    last = max((k for k, term in enumerate(sequence) if term), default=-1)
    if 2 * (last + 1) <= len(sequence):  # it is 0 from there on: by the recurrence, in which these terms are all
        return ClosedForm(tuple(map(rational_number, sequence[: last + 1])), ())
    recurrence = shortest(sequence)
    order = len(recurrence)
    while recurrence and not recurrence[-1]:
        recurrence.pop()
    start = order - len(recurrence)
    first = tuple(map(rational_number, sequence[:start]))
    poles = _poles(recurrence)
    if not poles:
        return ClosedForm(first, ())
    terms = [(base, times) for base, count in poles for times in range(count)]
    matrix = [[comb(k + times, times) * base**k for base, times in terms] for k in range(len(terms))]
    values = list(sequence[start : start + len(terms)])
    solved = _inverse(matrix, matrix[0][0] * 0 + 1)
    weights = [sum((c * value for c, value in zip(line, values, strict=True)), 0 * values[0]) for line in solved]
    both = zip(weights, terms, strict=True)
    tail = ((rational_number(c), rational_number(base), times) for c, (base, times) in both if c)
    return ClosedForm(first, tuple(tail))


def _poles(recurrence: Sequence[Any]) -> list[tuple[Any, int]]:
    """Return the bases of a sequence with this recurrence, and how often each counts."""
    if not recurrence:
        return []
    if len(recurrence) == 1:
        found = [(recurrence[0], 1)]
    elif isinstance(recurrence[0], fmpq):
        polynomial = fmpq_poly([-c for c in reversed(recurrence)] + [fmpq(1)])
        _, factors = polynomial.factor()
        if any(factor.degree() > 1 for factor, _ in factors):
            raise _Signs("is drawn in a loop whose counter has no sum of rational powers as its law")
        found = [(-factor[0] / factor[1], count) for factor, count in factors]
    else:
        raise Outside("is drawn in a loop whose counter has no known powers as its law")
    if any(base < 0 for base, _ in found):
        raise _Signs("is drawn in a loop whose counter has a law with alternating signs")
    return found
