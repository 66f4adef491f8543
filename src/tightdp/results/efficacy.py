"""The table of efficacies of one-run auditing and their gaps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

from tightdp.exact.numbers import Exact
from tightdp.one_run.gaps import Leak
from tightdp.present import plot
from tightdp.present.view import Grid, View
from tightdp.present.words import plain, shortened, shown, shown_number
from tightdp.results.result import Result, enclosure, unresolved_remark

__all__ = ["Efficacy", "Row"]

_MOST_ROWS = 40

_PARTS = (
    ("efficacy", "#0072B2", "efficacy"),
    ("element gap", "#E69F00", "element_gap"),
    ("output gap", "#56B4E9", "output_gap"),
    ("interference gap", "#CC79A7", "interference_gap"),
)
"""What a bar is made of, from below: its name, its colour, and the attribute of a row."""


@dataclass(frozen=True)
class Row:
    """The efficacy with so many guesses, and what keeps it from e^ε/(1 + e^ε): E_k <= AC <= DDP <= DP.

    AC is the expected largest posterior, DDP the largest posterior over outputs, DP the largest one when all other
    bits are known. `adaptive` is the best share of right guesses when bits are revealed once they were decided on.
    """

    guesses: int
    efficacy: Fraction
    ac: Fraction
    ddp: Fraction
    dp: Fraction
    adaptive: Fraction | None = None

    @property
    def element_gap(self) -> Fraction:
        """What is lost because not all elements are the worst one: AC - E_k."""
        return self.ac - self.efficacy

    @property
    def output_gap(self) -> Fraction:
        """What is lost because not all outputs are the worst one: DDP - AC."""
        return self.ddp - self.ac

    @property
    def interference_gap(self) -> Fraction:
        """What is lost because the other bits are not known: DP - DDP."""
        return self.dp - self.ddp

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON has it."""
        found = {
            "guesses": self.guesses,
            "efficacy": plain(self.efficacy),
            "ac": plain(self.ac),
            "ddp": plain(self.ddp),
            "dp": plain(self.dp),
            "element_gap": plain(self.element_gap),
            "output_gap": plain(self.output_gap),
            "interference_gap": plain(self.interference_gap),
        }
        return found if self.adaptive is None else {**found, "adaptive": plain(self.adaptive)}


@dataclass(frozen=True, kw_only=True, repr=False)
class Efficacy(Result):
    """The efficacy of one-run auditing for a pair vector, by number of guesses, with its gaps (keinan2025, Sec. 5).

    `exp_epsilon` is e^ε of the mechanism on the datasets that the pairs can pick; where its search was cut short it is
    an upper bound, `lower` the ratio that is attained, and DP in the rows is the upper bound too.
    """

    query: ClassVar[str] = "efficacy"
    rows: tuple[Row, ...]
    pairs: tuple[tuple[Any, Any], ...]
    exp_epsilon: Exact
    lower: Exact
    leak: Leak

    @property
    def upper(self) -> Exact:
        """The upper end of what is known of e^ε."""
        return self.exp_epsilon

    def row(self, guesses: int) -> Row:
        """Return the row for a number of guesses."""
        return next(row for row in self.rows if row.guesses == guesses)

    def _answer(self) -> dict[str, Any]:
        return {
            "rows": [row.to_dict() for row in self.rows],
            "pairs": plain(self.pairs),
            **enclosure(self.status, self.lower, self.upper),
        }

    def view(self) -> View:
        """Return what a person sees."""
        header = ["guesses", "efficacy", "AC", "DDP", "DP", "element gap", "output gap", "interference gap"]
        adaptive = any(row.adaptive is not None for row in self.rows)
        if self.status != "exact":
            header = [f"{name} at most" if name in ("DP", "interference gap") else name for name in header]
        shown_rows = self.rows[:_MOST_ROWS]
        rows = [
            (_guesses(equal), *numbers)
            for numbers, equal in groupby(((_numbers(row), row.guesses) for row in shown_rows), key=itemgetter(0))
        ]
        left_out = len(self.rows) - len(shown_rows)
        grid = Grid((*header, "adaptive") if adaptive else tuple(header), tuple(rows), left_out)
        facts = [("pairs", self._pairs())]
        if self.status == "exact":
            facts.append(("e^ε on these datasets", shown_number(self.exp_epsilon)))
        else:
            facts += [("e^ε at least", shown_number(self.lower)), ("e^ε at most", shown_number(self.upper))]
        remark = unresolved_remark(self, "DP and the interference gap are upper bounds")
        return View(self._heading, tuple(facts), grid, (self._leak(), *remark))

    def _pairs(self) -> str:
        if len(set(self.pairs)) == 1:
            return f"{shown(self.pairs[0])} for every client"
        return shortened(", ".join(map(shown, self.pairs)))

    def _leak(self) -> str:
        leak = self.leak
        record = self.pairs[leak.client][leak.bit]
        chance = shown_number(leak.confidence)
        where = f"the output {shortened(shown(leak.output), 80)}"
        what = f"the record of client {leak.client + 1} is {shown(record)}"
        return f"DDP: given {where}, {what} with probability {chance}."

    def plot(self, ax: Any = None) -> Any:
        """Draw the efficacy and the three gaps as stacked bars against k on `ax` (new ones, unless given)."""
        axes = plot.new_axes() if ax is None else ax
        places = [row.guesses for row in self.rows]
        width = 1.0 if len(places) > _MOST_ROWS else 0.8
        base = [0.0] * len(places)
        for label, colour, attribute in _PARTS:
            drawn = [float(getattr(row, attribute)) for row in self.rows]
            axes.bar(places, drawn, bottom=base, width=width, color=colour, label=label)
            base = [low + height for low, height in zip(base, drawn, strict=True)]
        if all(row.adaptive is not None for row in self.rows):
            best = [float(row.adaptive or 0) for row in self.rows]
            axes.plot(
                places, best, "D", color="black", markeredgecolor="white", clip_on=False, label="adaptive, at best"
            )
        axes.set_ylim(0.5, 1.0)
        axes.locator_params(axis="x", integer=True)
        axes.set_xlabel("guesses k")
        axes.set_ylabel("expected share of right guesses")
        axes.set_title(str(self.subject))
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False)
        if ax is None:
            axes.figure.set_layout_engine("constrained")  # leaves room for the legend
        return axes


def _numbers(row: Row) -> tuple[str, ...]:
    """Write the numbers of a row."""
    values = [row.efficacy, row.ac, row.ddp, row.dp, row.element_gap, row.output_gap, row.interference_gap]
    return tuple(map(shown_number, values if row.adaptive is None else [*values, row.adaptive]))


def _guesses(rows: Iterable[tuple[Any, int]]) -> str:
    """Write the numbers of guesses of rows in a row that are alike: 3, or 1-6."""
    guesses = [number for _, number in rows]
    return str(guesses[0]) if len(guesses) == 1 else f"{guesses[0]}-{guesses[-1]}"
