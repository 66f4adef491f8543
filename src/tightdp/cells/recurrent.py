"""Paths with draws whose masses are those of a rational generating function: one number with them is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, floor, inf
from typing import Any, NoReturn

from flint import fmpq, fmpz_mat

from tightdp.cells.draws import Path, is_generated
from tightdp.cells.generating import Generating, Ray
from tightdp.cells.linear import Lattice, extent
from tightdp.cells.noise import Outside
from tightdp.exact.enclosure import as_fmpq, as_fraction
from tightdp.exact.field import Number
from tightdp.language.laws import Exponentials

_NOTHING = Exponentials(0, Fraction(1), ((Fraction(0), Fraction(0), Fraction(1)),), real=False)
_ONE = Generating((fmpq(1),), (fmpq(1),))


@dataclass(frozen=True)
class Recurrent:
    """What a path has of a law on the integers: a weight times the masses on a ray."""

    weight: Any
    ray: Ray
    parted: None = None

    def times(self, share: Any) -> Recurrent:
        """Return a multiple."""
        return replace(self, weight=self.weight * share)

    def at(self, place: Sequence[int]) -> Any:
        """Return the value at a place."""
        return self.weight * self.ray.at(place[0])

    def from_(self, start: int, sign: int) -> Generating:
        """Return the values at start, start + sign, ..."""
        return self.ray.from_(start, sign).times(self.weight)

    @property
    def pieces(self) -> NoReturn:
        """It has none. Raises Outside."""
        _refused()

    runs = factors = pieces


def _rational(number: Number) -> fmpq:
    return as_fmpq(number) if isinstance(number, Fraction) else _refused()


def _refused() -> NoReturn:
    raise Outside("is drawn in a loop whose counter has no sum of rational powers as its law")


def without_hidden(path: Path, lattice: Lattice) -> Path:
    """Return a path with such draws that are not published as a part of its weight."""
    generated = [v for v, law in path.laws.items() if is_generated(law)]
    weight, laws, rows, residues = path.weight, dict(path.laws), path.rows, dict(path.residues)
    for v in generated:
        if not any(_shares(lattice, v)):
            weight = weight * as_fraction(_ray_of(path, v).masses.total)
            rows = frozenset(each for each in rows if v not in dict(each[0]))
            laws[v] = _NOTHING
            residues.pop(v, None)
    return replace(path, weight=weight, laws=laws, rows=rows, residues=residues) if generated else path


def _shares(lattice: Lattice, v: int) -> list[int]:
    """Return how often a draw counts in the coordinates of a lattice."""
    size = len(lattice.change)
    inverse = fmpz_mat(size, size, [entry for line in lattice.change for entry in line]).inv()
    return [int(inverse[at, v].p) for at in range(len(lattice.pivots))]


def of_path(path: Path, lattice: Lattice, own: Sequence[tuple[dict[int, int], int]]) -> Recurrent | None:
    """Return the law of a path with such draws whose coordinate is that form of the only one of the output."""
    if len(own) != 1 or set(own[0][0]) != {0}:
        _refused()
    ((form, constant),) = own
    weight, found = _rational(path.weight), Ray(0, 1, _ONE)
    for v in path.laws:
        ray = _ray_of(path, v)
        (share,) = _shares(lattice, v)
        if not share:
            weight *= ray.masses.total
            continue
        both = found.plus(ray.times(share))
        if both is None:
            _refused()
        found = both
    return Recurrent(weight, found.divided(form[0], constant)) if weight and found.masses.above else None


def _ray_of(path: Path, v: int) -> Ray:
    """Return the masses of a draw. Raises Outside where it meets conditions with others."""
    law = path.laws[v]
    if law.real or len(law.pieces) > 1 or law.pieces[0][:2] == (None, None):
        _refused()
    if any(v in dict(normal) and len(normal) > 1 for normal, _ in path.rows):
        _refused()
    ((low, high, power),) = law.pieces
    weight, given = _rational(law.weight), is_generated(law)
    base: Any = power if given else _rational(power)
    if low is not None:
        width = None if high is None else int(high - low) + 1
        masses = base if given else Generating.geometric(base, width).times(base ** int(low))
        found = Ray(int(low), 1, masses.times(weight))
    else:
        end = int(high or 0)
        found = Ray(end, -1, Generating.geometric(1 / base).times(weight * base**end))
    own = frozenset(each for each in path.rows if v in dict(each[0]))
    least, most = extent(own, v) if own else (-inf, inf)
    found = found.within(None if least == -inf else ceil(least), None if most == inf else floor(most))
    residue, modulus = path.residues.get(v, (0, 1))
    return found.divided(modulus, residue)


def _at(contribution: Any, start: int, sign: int, k: int) -> Any:
    return contribution.at((start + sign * k,))


def masses_from(contributions: Sequence[Any], start: int, sign: int, far: int) -> Generating:
    """Return the masses of a law at start, start + sign, ... where no conditions change after so many places."""
    total = Generating((), (fmpq(1),))
    for each in contributions:
        if isinstance(each, Recurrent):
            total += each.from_(start, sign)
        else:
            powers = {key for _, terms in each.pieces for key in terms}
            order = far + sum(1 + sum(d for _, d in degrees) for _, degrees in powers)
            total += Generating.from_terms(partial(_at, each, start, sign), order)
    return total
