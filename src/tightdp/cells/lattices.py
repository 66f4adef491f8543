"""Coordinates for what is published: the integer points that linear forms of draws reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, prod

__all__ = ["Lattice", "lattice_of"]


@dataclass(frozen=True)
class Lattice:
    """Forms of draws are Σ columns·u, where u are integers: draw j is Σ change[j]·(u and further integers).

    `columns` is a matrix with a row for each form, lower triangular: column c begins at row `pivots[c]`.
    """

    columns: tuple[tuple[int, ...], ...]
    pivots: tuple[int, ...]
    change: tuple[tuple[int, ...], ...]

    @property
    def index(self) -> int:
        """A number that makes all vectors of integers points of the lattice, as far as its pivots tell."""
        return prod(self.columns[pivot][c] for c, pivot in enumerate(self.pivots))

    def place(self, vector: Sequence[Fraction]) -> list[Fraction]:
        """Return u with columns·u = vector at the pivots."""
        found: list[Fraction] = []
        for pivot in self.pivots:
            rest = vector[pivot] - sum(self.columns[pivot][c] * u for c, u in enumerate(found))
            found.append(Fraction(rest, self.columns[pivot][len(found)]))
        return found

    def at(self, place: Sequence[Fraction]) -> list[Fraction]:
        """Return columns·u."""
        return [sum((c * u for c, u in zip(line, place, strict=True)), Fraction(0)) for line in self.columns]

    def coset(self, vector: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return a vector that differs from this one by a point of the lattice, the same for all of them."""
        rest = list(vector)
        for c, pivot in enumerate(self.pivots):
            times = floor(rest[pivot] / self.columns[pivot][c])
            rest = [value - times * line[c] for value, line in zip(rest, self.columns, strict=True)]
        return tuple(rest)

    def same(self, other: Lattice) -> bool:
        """Whether two lattices have the same points."""
        return self.pivots == other.pivots and self._holds(other) and other._holds(self)

    def _holds(self, other: Lattice) -> bool:
        for c in range(len(other.pivots)):
            vector = [Fraction(line[c]) for line in other.columns]
            place = self.place(vector)
            if any(u.denominator > 1 for u in place) or self.at(place) != vector:
                return False
        return True


def lattice_of(forms: Sequence[Sequence[int]], draws: int) -> Lattice:
    """Return the lattice of forms, each given by the coefficients of the draws."""
    matrix = [list(form) for form in forms]
    change = [[int(i == j) for j in range(draws)] for i in range(draws)]
    pivots: list[int] = []
    for at, line in enumerate(matrix):
        first = len(pivots)
        while len(left := [c for c in range(first, draws) if line[c]]) > 1:
            best = min(left, key=lambda c: (abs(line[c]), c))
            for c in left:
                if c != best:
                    _subtract([*matrix, *change], c, best, line[c] // line[best])
        if left:
            for each in (*matrix, *change):
                each[first], each[left[0]] = each[left[0]], each[first]
            if line[first] < 0:
                for each in (*matrix, *change):
                    each[first] = -each[first]
            pivots.append(at)
    return Lattice(
        tuple(tuple(line[: len(pivots)]) for line in matrix), tuple(pivots), tuple(tuple(each) for each in change)
    )


def _subtract(lines: Sequence[list[int]], column: int, other: int, times: int) -> None:
    for line in lines:
        line[column] -= times * line[other]
