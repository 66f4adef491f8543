"""What a run of a program has drawn, and on what conditions: its path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple

from tightdp.cells.generating import Generating
from tightdp.cells.linear import Row, Rows, feasible, needed, opposite, row, shape_of, tightest
from tightdp.cells.noise import Noisy
from tightdp.exact.field import Number
from tightdp.language.laws import Exponentials, TwoSided


class Rate(NamedTuple):
    """The probability above/(K + below) of a coin, where K is by how much `counter` has grown; what it shows."""

    counter: int
    above: Fraction
    below: int
    shown: bool


def by_pieces(law: TwoSided | Exponentials) -> Exponentials:
    """Return noise by its pieces, two-sided noise, too."""
    if isinstance(law, Exponentials):
        return law
    sides = (Fraction(0), None, law.ratio), (None, Fraction(-1), 1 / law.ratio)
    return Exponentials(law.centre, (1 - law.ratio) / (1 + law.ratio), sides, real=False)


def is_generated(law: Exponentials) -> bool:
    """Whether the masses of a draw are those of a generating function."""
    base: Any = law.pieces[0][2]
    return isinstance(base, Generating)


def supported(laws: Mapping[int, Exponentials], rows: Rows) -> Rows:
    """Return rows, and between what draws lie by their laws."""
    within: list[Row] = []
    for v, law in laws.items():
        lows = [low for low, _, _ in law.pieces if low is not None]
        highs = [high for _, high, _ in law.pieces if high is not None]
        within += [row({v: -1}, -min(lows))] if len(lows) == len(law.pieces) else []
        within += [row({v: 1}, max(highs))] if len(highs) == len(law.pieces) else []
    return tightest([*rows, *within]) if within else rows


def may_occur(laws: Mapping[int, Exponentials], rows: Rows) -> bool:
    """Whether draws may meet rows with a positive probability: where real numbers are to be equal they have none."""
    return feasible(supported(laws, rows))


@dataclass(frozen=True, eq=False)
class Parted:
    """A path before draws were told apart by the pieces of their laws: the same one for all of these parts.

    A draw of `draws` is, together with so many widths, the integer draw there, what has a law.
    """

    rows: Rows
    draws: Mapping[int, tuple[int, Fraction, Exponentials]]


@dataclass(frozen=True)
class Path:
    """Runs that decide everything alike. Draw v has the law `laws[v]`, whatever its centre, and meets `rows`.

    `weight` is the probability of the finite draws, without coins with `rates`. A draw of `residues` is one of these
    modulo the other number.
    """

    weight: Number
    laws: dict[int, Exponentials]
    rows: Rows
    residues: dict[int, tuple[int, int]]
    output: Any
    rates: tuple[Rate, ...] = ()
    parted: Parted | None = None

    @property
    def integers(self) -> int:
        """How many draws are integers."""
        return sum(not law.real for law in self.laws.values())

    def numbers(self) -> Iterator[Number]:
        """Yield the numbers that probabilities are made of."""
        yield self.weight
        for law in self.laws.values():
            yield law.weight
            yield from () if is_generated(law) else (base for *_, base in law.pieces)

    def name(self) -> Any:
        """Return all but the weight, and centres of noise: where their draws count, numbers have them in them."""
        return self.kind(), self.rows

    def kind(self) -> Any:
        """Return the same without conditions."""
        numbers: list[Any] = []
        shape = shape_of(self.output, numbers)
        values = [
            (tuple(sorted(value.coefficients.items())), value.constant) if isinstance(value, Noisy) else value
            for value in numbers
        ]
        laws = ((v, law.weight, law.pieces, law.real) for v, law in self.laws.items())
        return shape, *map(type, numbers), *values, *laws, *self.residues.items(), *self.rates


def united(paths: Iterable[Path]) -> list[Path]:
    """Return paths with two as one that are alike but for conditions, and are the two parts of their union.

    One has a condition that the other one has the opposite of, and each meets what else the other one has.
    """
    alike: dict[Any, list[Path]] = {}
    for path in paths:
        alike.setdefault((path.weight, path.kind()), []).append(path)
    found: list[Path] = []
    for first, *others in alike.values():
        systems = _united(first.laws, [each.rows for each in (first, *others)]) if others else [first.rows]
        found += [replace(first, rows=rows) for rows in systems]
    return found


def _united(laws: Mapping[int, Exponentials], todo: list[Rows]) -> list[Rows]:
    """Return systems with two as one that are the parts of their union, of draws with these laws."""

    def follow(rows: Rows, others: Iterable[Row]) -> bool:
        return not any(may_occur(laws, tightest([*rows, opposite(each)])) for each in others if each not in rows)

    left: dict[int, Rows] = {}
    having: dict[Row, list[int]] = {}
    numbers = count()
    while todo:
        one, number = todo.pop(), next(numbers)
        beside = ((cut, at) for cut in one for at in having.get(opposite(cut), ()) if at in left)
        for cut, at in beside:
            ours, theirs = one - {cut}, left[at] - {opposite(cut)}
            if follow(one, theirs) and follow(left[at], ours):
                del left[at]
                todo.append(needed(tightest([*ours, *theirs])))
                break
        else:
            left[number] = one
            for each in one:
                having.setdefault(each, []).append(number)
    return list(left.values())


COUNTED = Exponentials(0, Fraction(1), ((None, None, Fraction(1)),), real=False)
"""Every integer, with the weight 1."""
