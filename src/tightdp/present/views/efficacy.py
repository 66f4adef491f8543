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
from tightdp.present.registry import answer_of, json_of, picture_of, record_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.result import enclosure, heading, unresolved_remark
from tightdp.present.words import brief, plain, shown, shown_number
from tightdp.results.efficacy import Efficacy, Row

_MOST_ROWS = 40

_PARTS = (
    ("efficacy", "#0072B2", "efficacy"),
    ("element gap", "#E69F00", "element_gap"),
    ("output gap", "#56B4E9", "output_gap"),
    ("interference gap", "#CC79A7", "interference_gap"),
)
"""What a bar is made of, from below: its name, its colour, and the attribute of a row."""


@record_of.register
def _row_record(result: Row) -> dict[str, Any]:
    """Return the row as JSON has it."""
    found = {
        "guesses": result.guesses,
        "efficacy": plain(result.efficacy),
        "ac": plain(result.ac),
        "ddp": plain(result.ddp),
        "dp": plain(result.dp),
        "element_gap": plain(result.element_gap),
        "output_gap": plain(result.output_gap),
        "interference_gap": plain(result.interference_gap),
    }
    return found if result.adaptive is None else {**found, "adaptive": plain(result.adaptive)}


@answer_of.register
def _efficacy_answer(result: Efficacy) -> dict[str, Any]:
    return {
        "rows": [json_of(row) for row in result.rows],
        **({"lower_rows": [json_of(row) for row in result.least]} if result.least else {}),
        "pairs": plain(result.pairs),
        **enclosure(result.status, result.lower, result.upper),
    }


@view_of.register
def _efficacy_view(result: Efficacy) -> View:
    header = ["guesses", "efficacy", "AC", "DDP", "DP", "element gap", "output gap", "interference gap"]
    adaptive = any(row.adaptive is not None for row in result.rows)
    if result.lower != result.upper and not result.least:
        header = [f"{name} at most" if name in ("DP", "interference gap") else name for name in header]
    shown_rows = result.rows[:_MOST_ROWS]
    rows = [
        (_guesses(equal), *numbers)
        for numbers, equal in groupby(((_numbers(row), row.guesses) for row in shown_rows), key=itemgetter(0))
    ]
    left_out = len(result.rows) - len(shown_rows)
    grid = Grid((*header, "adaptive") if adaptive else tuple(header), tuple(rows), left_out)
    facts = [("pairs", _pairs(result))]
    if result.lower == result.upper:
        facts.append(("e^ε on these datasets", shown_number(result.exp_epsilon)))
    else:
        facts += [("e^ε at least", shown_number(result.lower)), ("e^ε at most", shown_number(result.upper))]
    open_ = "DP and the interference gap are upper bounds"
    if result.lower == result.upper:
        open_ = "the adaptive efficacies are not known, the rest is exact"
    if not result.rows:
        return View(heading(result), tuple(facts), sentences=unresolved_remark(result, "no efficacy is known"))
    remark = unresolved_remark(result, open_)
    if result.least:
        return View(heading(result), tuple(facts), grid, (_widths(result),))
    return View(heading(result), tuple(facts), grid, (*_leak(result), *remark))


def _widths(result: Efficacy) -> str:
    """Say how far the upper ends, which the table has, are from the lower ones."""
    width: Number = Fraction(0)
    for high, low in zip(result.rows, result.least, strict=True):
        ends = ((high.efficacy, low.efficacy), (high.ac, low.ac), (high.ddp, low.ddp), (high.dp, low.dp))
        width = max([width, *(most - least for most, least in ends)])
    return f"These are upper ends. The lower ends (in JSON and `least`) are at most {_tiny(width)} below them."


def _tiny(value: Number) -> str:
    return decimal_text(value, 3, ROUND_CEILING)


def _pairs(result: Efficacy) -> str:
    if len(set(result.pairs)) == 1:
        return f"{shown(result.pairs[0])} for every client"
    return brief(result.pairs)[1:-1]


def _leak(result: Efficacy) -> tuple[str, ...]:
    leak = result.leak
    if leak is None:
        return ()
    record = result.pairs[leak.client][leak.bit]
    chance = shown_number(leak.confidence)
    where = f"the output {brief(leak.output, 80)}"
    what = f"the record of client {leak.client + 1} is {shown(record)}"
    return (f"DDP: given {where}, {what} with probability {chance}.",)


@picture_of.register
def _efficacy_plot(result: Efficacy, ax: Any) -> Any:
    """Draw the efficacy and the three gaps as stacked bars against k."""
    axes = plot.new_axes() if ax is None else ax
    places = [row.guesses for row in result.rows]
    width = 1.0 if len(places) > _MOST_ROWS else 0.8
    base = [0.0] * len(places)
    for label, colour, attribute in _PARTS:
        drawn = [float(getattr(row, attribute)) for row in result.rows]
        axes.bar(places, drawn, bottom=base, width=width, color=colour, label=label)
        base = [low + height for low, height in zip(base, drawn, strict=True)]
    if all(row.adaptive is not None for row in result.rows):
        best = [float(row.adaptive or 0) for row in result.rows]
        axes.plot(places, best, "D", color="black", markeredgecolor="white", clip_on=False, label="adaptive, at best")
    axes.set_ylim(0.5, 1.0)
    axes.locator_params(axis="x", integer=True)
    axes.set_xlabel("guesses k")
    axes.set_ylabel("expected share of right guesses")
    axes.set_title(str(result.subject))
    return plot.legend_below(axes)


def _numbers(row: Row) -> tuple[str, ...]:
    """Write the numbers of a row."""
    values = [row.efficacy, row.ac, row.ddp, row.dp, row.element_gap, row.output_gap, row.interference_gap]
    return tuple(map(shown_number, values if row.adaptive is None else [*values, row.adaptive]))


def _guesses(rows: Iterable[tuple[Any, int]]) -> str:
    """Write the numbers of guesses of rows in a row that are alike: 3, or 1-6."""
    guesses = [number for _, number in rows]
    return str(guesses[0]) if len(guesses) == 1 else f"{guesses[0]}-{guesses[-1]}"
