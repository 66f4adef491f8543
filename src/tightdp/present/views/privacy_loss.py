"""What is seen of a privacy loss: the pairs of laws that dominate it, and its curve."""

from __future__ import annotations

from typing import Any

from tightdp.present.show import picture_of, view_of
from tightdp.present.text import Grid, View
from tightdp.present.views.privacy import curve_plot
from tightdp.present.words import heading, shown_number
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
def _loss_plot(result: PrivacyLoss, ax: Any, **options: Any) -> Any:
    """Draw its privacy curve; the options are those of a curve."""
    return curve_plot(result.curve(), ax, subject=result.subject, **options)
