"""Coordinates for published real numbers: the space that linear forms of real draws reach.

A number that integer draws are added to is published as a multiple of a step and what is left, which says the same. So
are its real draws: of each piece of a law, both are independent where what is left is between two of the piece's ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, floor, gcd
from typing import Any, TypeAlias

from flint import fmpq_mat

from tightdp.cells.linear import REAL, Normal, Row, feasible, row, tightest
from tightdp.cells.noise import Noisy, Path, noisy
from tightdp.exact.enclosure import as_fmpq, as_fraction
from tightdp.language.laws import Exponentials

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


def step_of(values: Iterable[tuple[Path, Noisy]]) -> Fraction:
    """Return what all integers that some real numbers have in them, or meet in conditions, come in multiples of.

    That is 0 where there are none.
    """
    found = Fraction(0)
    for path, value in values:
        for v, c in value.coefficients.items():
            found = _common(found, Fraction(c)) if v < REAL else found
        for normal, _ in path.rows:
            share = _share(normal, value.coefficients)
            for v, c in normal if share else ():
                found = _common(found, c / share) if v < REAL else found
    return found


def _share(normal: Normal, form: Mapping[int, Any]) -> Fraction:
    """Return what multiple of the real draws of a form there is in a condition, or of one of them; 0 for others."""
    reals = {v: Fraction(c) / form[v] for v, c in normal if v >= REAL and v in form}
    alike = len(set(reals.values())) == 1 and len(reals) == sum(v >= REAL for v, _ in normal)
    return next(iter(reals.values())) if alike and len(reals) in (1, sum(v >= REAL for v in form)) else Fraction(0)


def in_steps(
    path: Path, values: Mapping[int, Noisy], steps: Mapping[int, Fraction]
) -> Iterator[tuple[Path, dict[int, tuple[Any, Noisy]]]]:
    """Yield the parts of a path, with multiples of steps and what is left of the real numbers that it publishes.

    Conditions on integers and one of these numbers, or one draw, change where what is left of it is at one place: they
    are conditions on integers on both sides of that.
    """
    widths: dict[int, Fraction] = {}
    for at, value in values.items():
        for v, c in value.coefficients.items():
            each = abs(steps[at] / c)
            widths |= {v: each * widths.get(v, each) / _common(each, widths.get(v, each))} if v >= REAL else {}
    whole = {v: path.integers + at for at, v in enumerate(widths)}
    alone = {(normal, bound) for normal, bound in path.rows if len(normal) == 1 and normal[0][0] in widths}
    moved = {line: _in_steps(line, widths, whole) for line in path.rows - alone}
    ends = {v: [(c, bound) for ((w, c),), bound in alone if w == v] for v in widths}
    single = {v: _meeting(moved.values(), {v: 1}, width) for v, width in widths.items()}
    for chosen in product(*(_parted(path.laws[v], ends[v], width, single[v]) for v, width in widths.items())):
        laws = path.laws | {whole[v]: times for v, (times, _) in zip(widths, chosen, strict=True)}
        laws |= {v: left for v, (_, left) in zip(widths, chosen, strict=True)}
        rows = set(moved.values())
        for v, (_, left) in zip(widths, chosen, strict=True):
            rows = _settled(rows, single[v], 0, *left.pieces[0][:2])
        for cut in product(*(_shifts(value, laws, steps[at], rows) for at, value in values.items())):
            found, within = {}, rows
            for (at, value), (shift, low, high) in zip(values.items(), cut, strict=True):
                rest = Noisy(value.run, _reals(value), value.constant - shift)
                times = {whole.get(v, v): c * widths.get(v, 1) for v, c in value.coefficients.items()}
                within = _settled(within, _meeting(rows, rest.coefficients, steps[at]), rest.constant, low, high)
                within |= {(low - rest).at_most(), (rest - high).at_most()}
                found[at] = noisy(value.run, times, shift), rest
            if feasible(tightest(within)):
                yield replace(path, laws=laws, rows=tightest(within)), found


def _meeting(rows: Iterable[Row], form: Mapping[int, Any], step: Fraction) -> dict[Row, Fraction]:
    """Return the conditions on integers and a multiple of a real form, where integers move it by steps; with that."""
    found = {}
    for normal, bound in rows:
        share = _share(normal, form) if len(normal) > 1 else Fraction(0)
        integers = [c for v, c in normal if v < REAL]
        if (
            share
            and integers
            and len(normal) == len(integers) + len(form)
            and not any(c / share % step for c in integers)
        ):
            found[normal, bound] = share
    return found


def _settled(rows: set[Row], meeting: Mapping[Row, Fraction], constant: Any, low: Any, high: Any) -> set[Row]:
    """Return conditions without a real form, which is between two ends when a constant is added to it."""
    found = rows - meeting.keys()
    for (normal, bound), share in meeting.items():
        integers = {v: c for v, c in normal if v < REAL}
        found.add(row(integers, bound - share * ((high if share > 0 else low) - constant)))
    return found


def _reals(value: Noisy) -> dict[int, Any]:
    return {v: c for v, c in value.coefficients.items() if v >= REAL}


def _parted(
    law: Exponentials, ends: Sequence[tuple[int, int | Fraction]], width: Fraction, meeting: Mapping[Row, Fraction]
) -> Iterator[tuple[Exponentials, Exponentials]]:
    """Yield the laws of how often a real draw between some ends holds a width, and of what is left."""
    places = {Fraction(0), width, *(bound / share % width for (_, bound), share in meeting.items())}
    for low, high, base in law.pieces:
        lows = [Fraction(bound) / c for c, bound in ends if c < 0] + ([] if low is None else [low])
        highs = [Fraction(bound) / c for c, bound in ends if c > 0] + ([] if high is None else [high])
        for a, b in pairwise(sorted({*places, *(end % width for end in (*lows, *highs))})):
            first = Fraction(ceil((max(lows) - a) / width)) if lows else None
            last = Fraction(floor((min(highs) - b) / width)) if highs else None
            if first is None or last is None or first <= last:
                power: Any = base if base == 1 else base**width
                times = Exponentials(0, Fraction(1), ((first, last, power),), real=False)
                yield times, Exponentials(0, law.weight, ((a, b, base),))


def _shifts(
    value: Noisy, laws: Mapping[int, Exponentials], step: Fraction, rows: Iterable[Row]
) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    """Yield the multiples of a step below what is left of all real draws in a number, and between what that is then."""
    low = high = Fraction(value.constant)
    for v, c in value.coefficients.items():
        a, b, _ = laws[v].pieces[0]
        if v >= REAL and a is not None and b is not None:
            low, high = low + min(c * a, c * b), high + max(c * a, c * b)
    places = {
        (bound / share + value.constant) % step for (_, bound), share in _meeting(rows, _reals(value), step).items()
    }
    for times in range(floor(low / step), ceil(high / step)):
        yield from ((step * times, *ends) for ends in pairwise(sorted({Fraction(0), step, *places})))


def _in_steps(line: Row, widths: Mapping[int, Fraction], whole: Mapping[int, int]) -> Row:
    normal, bound = line
    return row(dict(normal) | {whole[v]: c * widths[v] for v, c in normal if v in widths}, bound)


def _common(one: Fraction, other: Fraction) -> Fraction:
    """Return the largest number that two are multiples of."""
    below = one.denominator * other.denominator
    return Fraction(gcd(int(one * below), int(other * below)), below)


def _matrix(rows: Sequence[Sequence[int | Fraction]], width: int) -> fmpq_mat:
    entries = [as_fmpq(c) for line in rows for c in line]
    return fmpq_mat(len(rows), width, entries)


def _pivots(echelon: fmpq_mat, rank: int) -> tuple[int, ...]:
    return tuple(next(c for c in range(echelon.ncols()) if echelon[r, c]) for r in range(rank))
