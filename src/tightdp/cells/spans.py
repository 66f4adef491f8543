"""Coordinates for published real numbers: the space that linear forms of real draws reach.

A number that integer draws are added to is published as a multiple of a step and what is left, which says the same. So
are its real draws: of each piece of a law, both are independent where what is left is between two of the piece's ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from math import ceil, floor, gcd
from typing import Any, NamedTuple, TypeAlias

from flint import fmpq_mat

from tightdp.cells.draws import Parted, Path
from tightdp.cells.linear import REAL, Row, Rows, feasible, row, tightest
from tightdp.cells.noise import Noisy, noisy
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
        widths = _with_met(path.rows, {v: abs(1 / Fraction(c)) for v, c in _reals(value.coefficients).items()})
        for v, c in value.coefficients.items():
            found = _common(found, Fraction(c)) if v < REAL else found
        for normal, _ in path.rows:
            last, share = normal[-1]
            for v, c in normal if last in widths else ():
                found = _common(found, c / (share * widths[last])) if v < REAL else found
    return found


def _with_met(rows: Iterable[Row], widths: dict[int, Fraction]) -> dict[int, Fraction]:
    """Add the real draws that draws of some widths meet in conditions, as wide as these are there."""
    left = [_reals(dict(normal)) for normal, _ in rows]
    while new := next((each for each in left if each.keys() & widths and each.keys() - widths), None):
        wide = next(abs(c * widths[v]) for v, c in new.items() if v in widths)
        widths |= {v: wide / abs(c) for v, c in new.items() if v not in widths}
    return widths


class _Line(NamedTuple):
    """A condition on integers and what is left of real draws: that is share·form, and with the integers <= bound."""

    integers: tuple[tuple[int, Fraction], ...]
    form: tuple[tuple[int, Fraction], ...]
    share: Fraction
    bound: Fraction

    @classmethod
    def of(cls, line: Row, widths: Mapping[int, Fraction], whole: Mapping[int, int]) -> _Line:
        """Return a condition on draws, each of them with a width as so many of these and what is left."""
        normal, bound = line
        integers = tuple((whole.get(v, v), c * widths.get(v, Fraction(1))) for v, c in normal)
        form, share = _scaled(dict(normal))
        return cls(integers, form, share, Fraction(bound))

    @property
    def place(self) -> tuple[Fraction, Fraction]:
        """Where the form changes what the condition says: at one place, and all that are multiples of a period away."""
        period = reduce(_common, (c for _, c in self.integers), Fraction(0))
        return self.bound / self.share, abs(period / self.share)

    def between(self, ends: _Ends) -> Row:
        """Return what it says of integers where the form is between two places."""
        return row(dict(self.integers), self.bound - self.share * ends[self.form][self.share > 0])


def _scaled(form: Mapping[int, Any]) -> tuple[tuple[tuple[int, Fraction], ...], Fraction]:
    """Return what a form has in it of real draws as a multiple of one whose first coefficient is 1."""
    reals = sorted(_reals(form).items())
    share = Fraction(reals[0][1])
    return tuple((v, c / share) for v, c in reals), share


def in_steps(
    path: Path, values: Mapping[int, Noisy], steps: Mapping[int, Fraction]
) -> Iterator[tuple[Path, dict[int, tuple[Any, Noisy]]]]:
    """Yield the parts of a path, with multiples of steps and what is left of the real numbers that it publishes.

    So are real draws that these have in them, or meet. Conditions on both change where a form of what is left is at one
    of some places: between two of these they are conditions on integers.
    """
    widths: dict[int, Fraction] = {}
    for at, value in values.items():
        for v, c in _reals(value.coefficients).items():
            each = abs(steps[at] / c)
            widths[v] = each * widths.get(v, each) / _common(each, widths.get(v, each))
    _with_met(path.rows, widths)
    whole = {v: path.integers + at for at, v in enumerate(widths)}
    apart = [line for line in path.rows if line[0][-1][0] in widths]
    lines = [_Line.of(line, widths, whole) for line in apart]
    pieces = [[_piece(v, piece, widths, whole) for piece in path.laws[v].pieces] for v in widths]
    places: dict[Any, set[tuple[Fraction, Fraction]]] = {
        ((v, Fraction(1)),): {(Fraction(0), widths[v])} for v in widths
    }
    for line in (*lines, *(end for each in pieces for _, ends in each for end in ends)):
        places.setdefault(line.form, set()).add(line.place)
    for at, value in values.items():
        form, share = _scaled(value.coefficients)
        places.setdefault(form, set()).add((-value.constant / share, abs(steps[at] / share)))
    forms = sorted(places.items(), key=lambda each: len(each[0]))
    for rows, ends in _cut(forms, {((v, Fraction(1)),): (Fraction(0), width) for v, width in widths.items()}):
        rows = tightest([*path.rows.difference(apart), *rows, *(line.between(ends) for line in lines)])
        found = {}
        for at, value in values.items():
            form, share = _scaled(value.coefficients)
            shift = steps[at] * floor((share * sum(ends[form]) / 2 + value.constant) / steps[at])
            times = {whole.get(v, v): c * widths.get(v, 1) for v, c in value.coefficients.items()}
            rest = Noisy(value.run, _reals(value.coefficients), value.constant - shift)
            found[at] = noisy(value.run, times, shift), rest
        parted = Parted(rows, {v: (whole[v], width, path.laws[v]) for v, width in widths.items()})
        for chosen in product(*pieces):
            within = tightest([*rows, *(end.between(ends) for _, each in chosen for end in each)])
            laws = dict(path.laws)
            for (v, width), (base, _) in zip(widths.items(), chosen, strict=True):
                power: Any = base if base == 1 else base**width
                laws[whole[v]] = Exponentials(0, Fraction(1), ((None, None, power),), real=False)
                laws[v] = Exponentials(0, path.laws[v].weight, ((*ends[(v, Fraction(1)),], base),))
            if feasible(within):
                yield replace(path, laws=laws, rows=within, parted=parted), found


def _piece(
    v: int, piece: tuple[Any, Any, Any], widths: Mapping[int, Fraction], whole: Mapping[int, int]
) -> tuple[Any, list[_Line]]:
    """Return the base of a piece of a law, and the conditions that a draw is in it."""
    low, high, base = piece
    rows = [] if low is None else [row({v: -1}, -low)]
    rows += [] if high is None else [row({v: 1}, high)]
    return base, [_Line.of(each, widths, whole) for each in rows]


_Ends: TypeAlias = "dict[Any, tuple[Fraction, Fraction]]"


def _cut(
    forms: Sequence[tuple[Any, set[tuple[Fraction, Fraction]]]], ends: _Ends, rows: Rows = frozenset()
) -> Iterator[tuple[Rows, _Ends]]:
    """Yield between which of their places some forms are, with the conditions that they are there."""
    if not forms:
        yield rows, ends
        return
    (form, places), *others = forms
    sides = [[c * end for end in ends[(v, Fraction(1)),]] for v, c in form]
    low, high = sum(map(min, sides)), sum(map(max, sides))
    cuts = {low, high}
    for first, period in places:
        cuts |= {first + k * period for k in range(floor((low - first) / period) + 1, ceil((high - first) / period))}
    for a, b in pairwise(sorted(cuts)):
        within = tightest([*rows, row({v: -c for v, c in form}, -a), row(dict(form), b)])
        if feasible(within):
            yield from _cut(others, ends | {form: (a, b)}, within)


def _reals(form: Mapping[int, Any]) -> dict[int, Any]:
    return {v: c for v, c in form.items() if v >= REAL}


def _common(one: Fraction, other: Fraction) -> Fraction:
    """Return the largest number that two are multiples of."""
    below = one.denominator * other.denominator
    return Fraction(gcd(int(one * below), int(other * below)), below)


def _matrix(rows: Sequence[Sequence[int | Fraction]], width: int) -> fmpq_mat:
    entries = [as_fmpq(c) for line in rows for c in line]
    return fmpq_mat(len(rows), width, entries)


def _pivots(echelon: fmpq_mat, rank: int) -> tuple[int, ...]:
    return tuple(next(c for c in range(echelon.ncols()) if echelon[r, c]) for r in range(rank))
