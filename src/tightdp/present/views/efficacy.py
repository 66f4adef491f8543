"""How efficacies and their gaps are shown."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import Any

from tightdp.exact.field import Number
from tightdp.exact.numbers import decimal_text
from tightdp.present import plot
from tightdp.present.show import picture_of, view_of
from tightdp.present.view import MOST_ROWS, Grid, View
from tightdp.present.views.result import heading, unresolved_remark
from tightdp.present.words import brief, shown, shown_number
from tightdp.results.efficacy import Efficacy, Row

_PARTS = (
    ("efficacy", "#0072B2"),
    ("element_gap", "#E69F00"),
    ("output_gap", "#56B4E9"),
    ("interference_gap", "#CC79A7"),
)
"""What a bar is made of, from below: the attribute of a row and its colour."""
_NUMBERS = ("efficacy", "ac", "ddp", "dp", "element_gap", "output_gap", "interference_gap", "adaptive")
"""The numbers of a row, of which the last may be missing."""


@view_of.register
def _efficacy_view(result: Efficacy) -> View:
    tight = result.lower == result.upper
    facts = [("pairs", _pairs(result))]
    if tight:
        facts.append(("e^ε on these datasets", shown_number(result.exp_epsilon)))
    else:
        facts += [("e^ε at least", shown_number(result.lower)), ("e^ε at most", shown_number(result.upper))]
    if not result.rows:
        return View(heading(result), facts, sentences=unresolved_remark(result, "no efficacy is known"))
    numbers = ((_numbers(row), row.guesses) for row in result.rows[:MOST_ROWS])
    rows = tuple((_guesses(equal), *found) for found, equal in groupby(numbers, key=itemgetter(0)))
    grid = Grid(("guesses", *_header(result)), rows, max(0, len(result.rows) - MOST_ROWS))
    open_ = "the adaptive efficacies are not known, the rest is exact"
    remark = unresolved_remark(result, open_ if tight else "DP and the interference gap are upper bounds")
    return View(heading(result), facts, grid, (_widths(result),) if result.least else (*_leak(result), *remark))


def _header(result: Efficacy) -> list[str]:
    """Return the names of the numbers; where the laws are exact and e^ε is not, two of them are upper ends."""
    above = ("dp", "interference_gap") if result.lower != result.upper and not result.least else ()
    names = _NUMBERS if any(row.adaptive is not None for row in result.rows) else _NUMBERS[:-1]
    words = {name: name.upper() if len(name) < 4 else name.replace("_", " ") for name in names}
    return [f"{word} at most" if name in above else word for name, word in words.items()]


def _widths(result: Efficacy) -> str:
    """Say how far the upper ends, which the table has, are from the lower ones."""
    width: Number = Fraction(0)
    for high, low in zip(result.rows, result.least, strict=True):
        width = max([width, *(getattr(high, name) - getattr(low, name) for name in _NUMBERS[:4])])
    tiny = decimal_text(width, 3, ROUND_CEILING)
    return f"These are upper ends. The lower ends (in JSON and `least`) are at most {tiny} below them."


def _pairs(result: Efficacy) -> str:
    if len(set(result.pairs)) == 1:
        return f"{shown(result.pairs[0])} for every client"
    return brief(result.pairs)[1:-1]


def _leak(result: Efficacy) -> tuple[str, ...]:
    leak = result.leak
    if leak is None:
        return ()
    what = f"the record of client {leak.client + 1} is {shown(result.pairs[leak.client][leak.bit])}"
    chance = shown_number(leak.confidence)
    return (f"DDP: given the output {brief(leak.output, 80)}, {what} with probability {chance}.",)


@picture_of.register
def _efficacy_plot(result: Efficacy, ax: Any) -> Any:
    """Draw the efficacy and the three gaps as stacked bars against k."""
    axes = plot.named_axes(ax, "guesses k", "expected share of right guesses", result.subject)
    places = [row.guesses for row in result.rows]
    width = 1.0 if len(places) > MOST_ROWS else 0.8
    base = [0.0] * len(places)
    for name, colour in _PARTS:
        drawn = [float(getattr(row, name)) for row in result.rows]
        axes.bar(places, drawn, bottom=base, width=width, color=colour, label=name.replace("_", " "))
        base = [low + height for low, height in zip(base, drawn, strict=True)]
    if all(row.adaptive is not None for row in result.rows):
        best = [float(row.adaptive or 0) for row in result.rows]
        axes.plot(places, best, "D", color="black", markeredgecolor="white", clip_on=False, label="adaptive, at best")
    axes.set_ylim(0.5, 1.0)
    axes.locator_params(axis="x", integer=True)
    return plot.legend_below(axes)


def _numbers(row: Row) -> tuple[str, ...]:
    """Write the numbers of a row."""
    values = (getattr(row, name) for name in _NUMBERS)
    return tuple(shown_number(value) for value in values if value is not None)


def _guesses(rows: Iterable[tuple[Any, int]]) -> str:
    """Write the numbers of guesses of rows in a row that are alike: 3, or 1-6."""
    guesses = [number for _, number in rows]
    return str(guesses[0]) if len(guesses) == 1 else f"{guesses[0]}-{guesses[-1]}"
