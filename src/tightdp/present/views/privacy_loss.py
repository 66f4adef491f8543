"""How a privacy loss is shown: its dominating pairs, and δ against ε."""

from __future__ import annotations

from typing import Any

from tightdp.exact.numbers import log
from tightdp.present import plot
from tightdp.present.registry import answer_of, picture_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.result import heading
from tightdp.present.words import plain, shown_number
from tightdp.queries.composition.loss import Direction
from tightdp.results.privacy_loss import PrivacyLoss


@answer_of.register
def _loss_answer(result: PrivacyLoss) -> dict[str, Any]:
    return {"directions": [_direction(each) for each in result.losses.directions]}


def _direction(direction: Direction) -> dict[str, Any]:
    return {
        "name": direction.name,
        "dominating": [{"runs": times, "outcomes": plain(pair.outcomes)} for pair, times in direction.dominating],
        "attained": _attained(direction),
    }


def _attained(direction: Direction) -> bool:
    return direction.attained or direction.dominating in direction.real


@view_of.register
def _loss_view(result: PrivacyLoss) -> View:
    rows = tuple(
        (
            direction.name,
            f"{times:,}",
            str(len(pair.outcomes)),
            shown_number(pair.outcomes[0][0] / pair.outcomes[0][1]) if not pair.certain else "inf",
            "yes" if _attained(direction) else "no",
        )
        for direction in result.losses.directions
        for pair, times in direction.dominating
    )
    grid = Grid(("direction", "runs", "outcomes", "largest e^ε", "attained by neighbours"), rows)
    return View(heading(result), (), grid)


@picture_of.register
def _loss_plot(result: PrivacyLoss, ax: Any) -> Any:
    """Draw δ against ε on a logarithmic axis."""
    axes = plot.new_axes() if ax is None else ax
    points = [(log(t), float(delta)) for t, delta in result.curve().points]
    axes.plot([x for x, _ in points], [y for _, y in points], label=str(result.subject))
    axes.set_yscale("log", nonpositive="clip")
    axes.set_xlabel("ε")
    axes.set_ylabel("δ")
    axes.set_title(str(result.subject))
    return axes
