"""How the likelihood ratios of one pair of datasets are shown."""

from __future__ import annotations

from typing import Any

from tightdp.present.registry import answer_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.result import heading
from tightdp.present.words import brief, in_full, plain, shown_ends, shown_number
from tightdp.results.likelihood import Likelihood

_MOST_ROWS = 40


@answer_of.register
def _likelihood_answer(result: Likelihood) -> dict[str, Any]:
    rows = [
        [plain(row.output), plain(row.probability), plain(row.probability_prime), plain(row.ratio)]
        for row in result.rows
    ]
    upper = [
        [plain(row.output), *map(plain, row.above), plain(row.ratio_above)]
        for row in result.rows
        if row.above is not None
    ]
    return {
        "x": plain(result.x),
        "x_prime": plain(result.x_prime),
        "are_neighbours": result.are_neighbours,
        "rows": rows,
        **({"upper": upper} if upper else {}),
    }


@view_of.register
def _likelihood_view(result: Likelihood) -> View:
    facts = (
        ("x", brief(result.x)),
        ("x'", brief(result.x_prime)),
        ("neighbours", "yes" if result.are_neighbours else "no"),
        ("P/Q, largest", shown_number(result.largest)),
        ("P/Q, smallest", shown_number(result.smallest)),
    )
    listed = result.rows[:_MOST_ROWS]
    if any(row.above is not None for row in listed):
        return _enclosed_view(result, facts[:3])
    rows = tuple(
        (brief(row.output, 40), *map(shown_number, (row.probability, row.probability_prime, row.ratio)))
        for row in listed
    )
    grid = Grid(("output", "P = P(output | x)", "Q = P(output | x')", "P/Q"), rows, len(result.rows) - len(rows))
    said = () if result.are_neighbours else ("These datasets are not neighbours: the tight ε says nothing about them.",)
    return View(heading(result), facts, grid, (*said, *in_full(*(row.ratio for row in listed))))


def _enclosed_view(result: Likelihood, facts: tuple[tuple[str, str], ...]) -> View:
    """Return what is seen of ratios that are enclosed: their ends, and the probabilities rounded."""
    rows = tuple(
        (
            brief(row.output, 40),
            shown_number(row.probability),
            shown_number(row.probability_prime),
            *shown_ends(row.ratio, row.ratio_above),
        )
        for row in result.rows[:_MOST_ROWS]
    )
    header = ("output", "P = P(output | x)", "Q = P(output | x')", "P/Q at least", "at most")
    said = () if result.are_neighbours else ("These datasets are not neighbours: the tight ε says nothing about them.",)
    return View(heading(result), facts, Grid(header, rows, len(result.rows) - len(rows)), said)
