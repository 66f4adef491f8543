"""The paths of a program on one dataset: what it draws, the conditions on the draws, and what it publishes then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from tightdp.cells.linear import REAL, Row, Rows, feasible, needed, tightest
from tightdp.cells.symbols import Noisy, Outside
from tightdp.errors import ProgramError
from tightdp.exact.field import Number
from tightdp.language.laws import Exponentials, Law, OnIntegers, TwoSided
from tightdp.language.primitives import Rejected
from tightdp.language.program import Bound, Dataset

__all__ = ["Path", "paths"]

_MOST_PATHS = 4_000
_MOST_STEPS = 400
"""How many decisions a path may have."""


@dataclass(frozen=True)
class Path:
    """Runs that decide everything alike. Draw v has the law `laws[v]`, whatever its centre, and meets `rows`.

    `weight` is the probability of the finite draws. A draw of `residues` is one of these modulo the other number.
    """

    weight: Number
    laws: dict[int, Exponentials]
    rows: Rows
    residues: dict[int, tuple[int, int]]
    output: Any

    @property
    def integers(self) -> int:
        """How many draws are integers."""
        return sum(not law.real for law in self.laws.values())

    def numbers(self) -> Iterator[Number]:
        """Yield the numbers that probabilities are made of."""
        yield self.weight
        for law in self.laws.values():
            yield law.weight
            yield from (base for *_, base in law.pieces)


class _Run:
    """One run: takes the decisions of the past, then the first alternative of each."""

    def __init__(self, past: list[list[int]]) -> None:
        self.past, self.at = past, 0
        self.weight: Number = Fraction(1)
        self.laws: dict[int, Exponentials] = {}
        self.rows: Rows = frozenset()
        self.residues: dict[int, tuple[int, int]] = {}

    def _taken(self, number: int) -> int:
        if self.at == len(self.past):
            if self.at >= _MOST_STEPS:
                raise Outside("is drawn in too long a run")
            self.past.append([0, number])
        taken = self.past[self.at][0]
        self.at += 1
        return taken

    def decide(self, alternatives: list[list[Row]]) -> int:
        open_ = [(at, tightest([*self.rows, *added])) for at, added in enumerate(alternatives)]
        open_ = [(at, rows) for at, rows in open_ if feasible(rows)]
        if not open_:
            raise Rejected
        if len(open_) == 1:
            return open_[0][0]
        taken, self.rows = open_[self._taken(len(open_))]
        return taken

    def residue(self, variable: int, modulus: int) -> int:
        known, period = self.residues.get(variable, (0, 1))
        common = lcm(period, modulus)
        if common != period:
            known += period * self._taken(common // period)
            self.residues[variable] = known, common
        return known % modulus

    def draw(self, law: Law) -> int:
        taken = self._taken(len(law)) if len(law) > 1 else 0
        self.weight = self.weight * law[taken][1]
        return law[taken][0]

    def draw_integer(self, law: OnIntegers) -> int:
        if not isinstance(law, TwoSided):
            raise Outside("has no geometric tails")
        return self.draw_number(two_sided(law))  # type: ignore[no-any-return]

    def draw_number(self, law: Exponentials) -> Any:
        v = sum(other.real is law.real for other in self.laws.values()) + REAL * law.real
        self.laws[v] = law
        return law.centre + Noisy(self, {v: 1}, 0)

    def floor(self, number: Noisy) -> Any:
        """Return an integer that is at most a real number, and the next one above it, as a draw of weight 1."""
        whole = self.draw_number(_COUNTED)
        self.rows = tightest([*self.rows, (whole - number).at_most(), (number - whole - 1).at_most()])
        return whole

    def observe(self, condition: bool) -> None:
        if not condition:
            raise Rejected


def two_sided(law: TwoSided) -> Exponentials:
    """Return two-sided noise by its pieces."""
    sides = (Fraction(0), None, law.ratio), (None, Fraction(-1), 1 / law.ratio)
    return Exponentials(law.centre, (1 - law.ratio) / (1 + law.ratio), sides, real=False)


_COUNTED = Exponentials(0, Fraction(1), ((None, None, Fraction(1)),), real=False)
"""Every integer, with the weight 1."""


def paths(bound: Bound, x: Dataset, watch: Callable[[], None]) -> tuple[list[Path], bool]:
    """Return the paths on a dataset, and whether some runs are rejected. Raises Outside, or ProgramError."""
    past: list[list[int]] = []
    found: list[Path] = []
    rejected = False
    while True:
        watch()
        run = _Run(past)
        try:
            output = bound.execute(x, run)
        except Rejected:
            rejected = True
        except ProgramError as error:
            raise Outside("is on a run that fails") from error
        else:
            found.append(Path(run.weight, run.laws, needed(run.rows), run.residues, output))
        if len(found) > _MOST_PATHS:
            raise Outside("decides between too many ways")
        del past[run.at :]
        while past and past[-1][0] + 1 == past[-1][1]:
            past.pop()
        if not past:
            return found, rejected
        past[-1][0] += 1
