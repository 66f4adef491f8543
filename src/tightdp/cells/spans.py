"""Coordinates for published real numbers: the space that linear forms of real draws reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from flint import fmpq_mat

from tightdp.exact.enclosure import as_fmpq, as_fraction

Form: TypeAlias = tuple[Mapping[int, "int | Fraction"], "int | Fraction"]
"""Σ coefficient·variable + constant."""


@dataclass(frozen=True)
class Span:
    """Numbers are base + lines·u; the coordinates u are the numbers at the `pivots`, the first independent ones."""

    lines: tuple[tuple[Fraction, ...], ...]
    base: tuple[Fraction, ...]
    pivots: tuple[int, ...]


@dataclass(frozen=True)
class Solved:
    """Draws as forms of the coordinates u and of further draws, and by how much volumes shrink."""

    draws: dict[int, tuple[dict[int, Fraction], Fraction]]
    shrink: Fraction


def span_of(forms: Sequence[Form]) -> Span:
    """Return the space of some forms of draws."""
    draws = sorted({v for form, _ in forms for v in form})
    columns, rank = _matrix([[form.get(v, 0) for form, _ in forms] for v in draws], len(forms)).rref()
    pivots = _pivots(columns, rank)
    lines = tuple(tuple(as_fraction(columns[r, k]) for r in range(rank)) for k in range(len(forms)))
    base = tuple(
        Fraction(constant) - sum(c * Fraction(forms[p][1]) for c, p in zip(line, pivots, strict=True))
        for line, (_, constant) in zip(lines, forms, strict=True)
    )
    return Span(lines, base, pivots)


def solved(forms: Sequence[Form], span: Span) -> Solved:
    """Return the draws that some forms see; coordinate u_i is numbered -1 - i."""
    chosen = [forms[p] for p in span.pivots]
    draws = sorted({v for form, _ in forms for v in form})
    rank = len(chosen)
    pivots = _pivots(*_matrix([[form.get(v, 0) for v in draws] for form, _ in chosen], len(draws)).rref())
    own = [draws[c] for c in pivots]
    hidden = [v for v in draws if v not in own]
    square = _matrix([[form.get(v, 0) for v in own] for form, _ in chosen], rank)
    inverse = square.inv() if rank else square
    found: dict[int, tuple[dict[int, Fraction], Fraction]] = {}
    for i, v in enumerate(own):
        form: dict[int, Fraction] = {}
        constant = Fraction(0)
        for j, (coefficients, shift) in enumerate(chosen):
            c = as_fraction(inverse[i, j])
            form[-1 - j] = c
            constant -= c * shift
            for w in hidden:
                form[w] = form.get(w, Fraction(0)) - c * coefficients.get(w, 0)
        found[v] = {w: c for w, c in form.items() if c}, constant
    return Solved(found, 1 / abs(as_fraction(square.det())) if rank else Fraction(1))


def by_draws(forms: Sequence[Sequence[Form]], span: Span) -> tuple[Span, list[Solved]] | None:
    """Return the draws themselves as coordinates, where all paths publish the same forms of as many as are needed."""
    found: list[Solved] = []
    matrices = set()
    for lines in forms:
        draws = sorted({v for form, _ in lines for v in form})
        matrices.add(tuple(tuple(Fraction(form.get(v, 0)) for v in draws) for form, _ in lines))
        if len(matrices) > 1 or len(draws) != len(span.pivots):
            return None
        (matrix,) = matrices
        square = _matrix([matrix[p] for p in span.pivots], len(draws))
        moved = square.inv() * _matrix([[lines[p][1]] for p in span.pivots], 1) if draws else square
        found.append(
            Solved({v: ({-1 - j: Fraction(1)}, -as_fraction(moved[j, 0])) for j, v in enumerate(draws)}, Fraction(1))
        )
    return Span(matrices.pop(), span.base, span.pivots), found


def _matrix(rows: Sequence[Sequence[int | Fraction]], width: int) -> fmpq_mat:
    entries = [as_fmpq(c) for line in rows for c in line]
    return fmpq_mat(len(rows), width, entries)


def _pivots(echelon: fmpq_mat, rank: int) -> tuple[int, ...]:
    return tuple(next(c for c in range(echelon.ncols()) if echelon[r, c]) for r in range(rank))
