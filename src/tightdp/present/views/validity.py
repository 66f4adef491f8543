"""How often a rule is wrong: how that is shown."""

from __future__ import annotations

from typing import Any

from tightdp.exact.numbers import as_text
from tightdp.present import plot
from tightdp.present.show import picture_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.words import shown_number
from tightdp.results.validity import Trial, Validity, WorstGame

_MOST_ROWS = 12


def _words(found: Trial | WorstGame) -> tuple[str, str]:
    """Say what was tried, the mechanism or the game, and the guesser."""
    if isinstance(found, Trial):
        return str(found.subject), found.guesser
    guesses = "any number of guesses" if found.guesses is None else f"{found.guesses} guesses"
    return f"worst case, {found.canaries} canaries", guesses


def _sentence(found: Trial | WorstGame) -> str:
    """Say what happens."""
    true, chance = shown_number(found.exp_epsilon), shown_number(found.probability)
    what, guesser = _words(found)
    shown = [f"{right} of {guesses} right" for guesses, right in found.observations[:3]]
    more = len(found.observations) - len(shown)
    listed = ", ".join(shown) + (f", and {more} more" if more else "")
    if isinstance(found, Trial):
        start = f"On {what}, whose true e^ε is {true}, with the guesser “{guesser}”, more is reported"
    else:
        start = f"The worst mechanism on {found.canaries} canaries with {guesser}, e^ε = {true}, makes it report more"
    return f"{start} with probability {chance}: {listed}."


@view_of.register
def _validity_view(result: Validity) -> View:
    facts = (
        ("verdict", _verdict(result)),
        ("P(reports more than ε), largest found", shown_number(result.probability)),
        ("tried", f"{len(result.trials)} audits of programs, {len(result.games)} worst cases"),
    )

    def row(found: Trial | WorstGame) -> tuple[str, ...]:
        return *_words(found), shown_number(found.exp_epsilon), shown_number(found.probability)

    header = ("mechanism", "guesser", "true e^ε", "P(reports more)")
    grid = Grid.of(header, result.tried, row, most=_MOST_ROWS)
    worst = result.witness
    remark = (_sentence(worst),) if worst is not None and worst.probability else ()
    heading = f"{result.rule} at δ = {as_text(result.delta)}, significance {as_text(result.significance)}"
    return View(heading, facts, grid, remark)


def _verdict(result: Validity) -> str:
    if result.valid is None:
        return "undecided: the bounds on the worst case do not meet at the significance level"
    if not result.valid:
        return "invalid: wrong more often than the significance level allows"
    return "no fault found in what was tried, which is no proof"


@picture_of.register
def _validity_plot(result: Validity, ax: Any) -> Any:
    """Draw the largest probabilities as bars, with the significance level."""
    axes = plot.named_axes(ax, "P(reports more than ε)", "", f"{result.rule} at δ = {as_text(result.delta)}")
    shown = result.tried[:_MOST_ROWS][::-1]
    names = ["\n".join(_words(found)) for found in shown]
    colours = ["tab:red" if found.probability > result.significance else "tab:blue" for found in shown]
    axes.barh(range(len(shown)), [float(found.probability) for found in shown], color=colours)
    axes.set_yticks(range(len(shown)), names, fontsize="x-small")
    axes.axvline(float(result.significance), linestyle="--", color="black", label="significance")
    axes.legend(loc="lower right")
    return axes
