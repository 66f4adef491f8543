"""The table of efficacies of one-run auditing and their gaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.one_run.gaps import Leak
from tightdp.results.record import Recorded
from tightdp.results.result import Enclosed
from tightdp.results.shown import Drawn

__all__ = ["Efficacy", "Row"]


@dataclass(frozen=True)
class Row(Recorded):
    """The efficacy with a number of guesses, and what keeps it from e^ε/(1 + e^ε): E_k <= AC <= DDP <= DP.

    AC is the expected largest posterior, DDP the largest posterior over outputs, DP the largest one when all other
    bits are known. `adaptive` is the best share of right guesses when every bit is revealed once it is decided on.
    """

    json = "guesses efficacy ac ddp dp element_gap output_gap interference_gap adaptive?"
    guesses: int
    efficacy: Number
    ac: Number
    ddp: Number
    dp: Number
    adaptive: Number | None = None
    other: Row | None = field(default=None, compare=False, repr=False)
    """The row with the other ends of the same numbers, where they are enclosed: gaps are differences of both."""

    @property
    def element_gap(self) -> Number:
        """What is lost because not all elements are the worst one: AC - E_k."""
        return self._gap(self.ac, lambda row: row.efficacy)

    @property
    def output_gap(self) -> Number:
        """What is lost because not all outputs are the worst one: DDP - AC."""
        return self._gap(self.ddp, lambda row: row.ac)

    @property
    def interference_gap(self) -> Number:
        """What is lost because the other bits are not known: DP - DDP."""
        return self._gap(self.dp, lambda row: row.ddp)

    def _gap(self, more: Number, less: Callable[[Row], Number]) -> Number:
        return more - less(self) if self.other is None else max(more - less(self.other), Fraction(0))


@dataclass(frozen=True, kw_only=True, repr=False)
class Efficacy(Drawn, Enclosed):
    """The efficacy of one-run auditing for a pair vector, by number of guesses, with its gaps (keinan2025, Sec. 5).

    `exp_epsilon` is e^ε of the mechanism on the datasets that the pairs can pick; where its search was cut short it is
    an upper bound, `lower` the ratio that is attained, and DP in the rows is the upper bound too. Where the laws of a
    program are enclosed, `rows` has the upper ends of all numbers, and `least` the lower ends. Where a limit came first
    and no efficacy is known, there are no rows and no `leak`, which says where DDP is attained.
    """

    query: ClassVar[str] = "efficacy"
    number = "exp_epsilon"
    json = "rows lower_rows=least? pairs *_ends"
    rows: tuple[Row, ...]
    pairs: tuple[tuple[Any, Any], ...]
    exp_epsilon: Exact
    lower: Exact
    leak: Leak | None = None
    least: tuple[Row, ...] = ()

    def row(self, guesses: int) -> Row:
        """Return the row for a number of guesses. Raises QueryError where it is not in the table."""
        for row in self.rows:
            if row.guesses == guesses:
                return row
        raise QueryError(f"there is no row for {guesses!r} guesses", "ask for one of `rows`")
