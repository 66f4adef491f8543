"""How a privacy loss is shown: its dominating pairs, and δ against ε."""

from __future__ import annotations

from typing import Any

from tightdp.exact.numbers import log
from tightdp.present import plot
from tightdp.present.show import picture_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.result import heading
from tightdp.present.words import shown_number
from tightdp.results.privacy_loss import PrivacyLoss, is_attained


@view_of.register
def _loss_view(result: PrivacyLoss) -> View:
    rows = tuple(
        (
            direction.name,
            f"{times:,}",
            str(len(pair.outcomes)),
            shown_number(pair.outcomes[0][0] / pair.outcomes[0][1]) if not pair.certain else "inf",
            "yes" if is_attained(direction) else "no",
        )
        for direction in result.losses.directions
        for pair, times in direction.dominating
    )
    grid = Grid(("direction", "runs", "outcomes", "largest e^ε", "attained by neighbours"), rows)
    return View(heading(result), (), grid)


@picture_of.register
def _loss_plot(result: PrivacyLoss, ax: Any) -> Any:
    """Draw δ against ε on a logarithmic axis."""
    axes = plot.lines(ax, [(log(t), delta) for t, delta in result.curve().points], "ε", "δ", str(result.subject))
    axes.set_yscale("log", nonpositive="clip")
    return axes
