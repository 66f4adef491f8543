"""The likelihood ratios of one pair of datasets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tightdp.exact.numbers import Exact
from tightdp.queries.likelihood import LikelihoodRow
from tightdp.results.result import Result

__all__ = ["Likelihood"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Likelihood(Result):
    """Every output with its exact probabilities on x and on x', and their ratio, largest first.

    Where they are enclosed a row has lower ends, and the upper ones beside them. Published Gaussian noise beyond a
    reach is then one output; the ratios of its integers differ, and may be unbounded.

    `are_neighbours` says whether x' is a neighbour of x: the ratios of other pairs may exceed the tight e^ε.
    """

    query: ClassVar[str] = "likelihood"
    x: tuple[Any, ...]
    x_prime: tuple[Any, ...]
    rows: tuple[LikelihoodRow, ...]
    are_neighbours: bool

    @property
    def largest(self) -> Exact:
        """The largest P(y | x) / P(y | x') over outputs y, infinite where only x can give an output; a lower end
        where they are enclosed."""
        return self.rows[0].ratio

    @property
    def smallest(self) -> Exact:
        """The smallest such ratio, 0 where only x' can give an output; an upper end where they are enclosed."""
        return self.rows[-1].ratio_above
