"""How often a rule is wrong: how that is shown."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from tightdp._version import __version__
from tightdp.exact.numbers import Exact, as_text
from tightdp.present import plot
from tightdp.present.registry import json_of, picture_of, record_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.words import plain, shown_number
from tightdp.results.validity import Observation, Trial, Validity, WorstGame

_MOST_ROWS = 12


@singledispatch
def _words(found: Trial | WorstGame) -> tuple[str, str]:
    """Say what was tried, and by whom."""
    raise TypeError(f"{type(found).__name__} was not tried")


@singledispatch
def _sentence(found: Trial | WorstGame) -> str:
    """Say what happens."""
    raise TypeError(f"{type(found).__name__} was not tried")


@_words.register
def _trial_words(result: Trial) -> tuple[str, str]:
    """What was tried: the mechanism, and the guesser."""
    return str(result.subject), result.guesser


@_sentence.register
def _trial_sentence(result: Trial) -> str:
    """Say what happens."""
    return (
        f"On {result.subject}, whose true e^ε is {_shown(result.exp_epsilon)}, with the guesser “{result.guesser}”, "
        f"more is reported with probability {shown_number(result.probability)}: {_listed(result.observations)}."
    )


@record_of.register
def _trial_record(result: Trial) -> dict[str, Any]:
    """Return the trial as JSON has it."""
    return {
        "mechanism": result.subject.mechanism,
        "parameters": {name: plain(value) for name, value in result.subject.parameters},
        "guesser": result.guesser,
        "exp_epsilon": plain(result.exp_epsilon),
        "probability": plain(result.probability),
        "observations": plain(result.observations),
        "guesses_vary": result.varies,
    }


@_words.register
def _game_words(result: WorstGame) -> tuple[str, str]:
    """What was tried: the game, and the guesser."""
    return f"worst case, {result.canaries} canaries", _guesses(result)


def _guesses(result: WorstGame) -> str:
    return "any number of guesses" if result.guesses is None else f"{result.guesses} guesses"


@_sentence.register
def _game_sentence(result: WorstGame) -> str:
    """Say what happens."""
    return (
        f"The worst mechanism on {result.canaries} canaries with {_guesses(result)}, e^ε = "
        f"{_shown(result.exp_epsilon)}, makes it report more with probability {shown_number(result.probability)}: "
        f"{_listed(result.observations)}."
    )


@record_of.register
def _worstgame_record(result: WorstGame) -> dict[str, Any]:
    """Return the game as JSON has it."""
    parts = [
        {"share": plain(share), "guesses": part.guesses, "right_guesses_law": [plain(p) for p in part.law]}
        for share, part in result.parts
    ]
    return {
        "canaries": result.canaries,
        "guesses": result.guesses,
        "exp_epsilon": plain(result.exp_epsilon),
        "probability": plain(result.probability),
        "upper": plain(result.upper),
        "observations": plain(result.observations),
        "mechanism": parts,
    }


@record_of.register
def _validity_record(result: Validity) -> dict[str, Any]:
    """Return everything as JSON has it."""
    return {
        "tightdp": __version__,
        "query": "validity",
        "rule": result.rule,
        "delta": plain(result.delta),
        "significance": plain(result.significance),
        "result": {
            "valid": result.valid,
            "probability": plain(result.probability),
            "witness": None if result.witness is None else json_of(result.witness),
            "trials": [json_of(trial) for trial in result.trials],
            "games": [json_of(game) for game in result.games],
        },
    }


@view_of.register
def _validity_view(result: Validity) -> View:
    facts = (
        ("verdict", _verdict(result)),
        ("P(reports more than ε), largest found", shown_number(result.probability)),
        ("tried", f"{len(result.trials)} audits of programs, {len(result.games)} worst cases"),
    )
    rows = [(*_words(found), _shown(found.exp_epsilon), shown_number(found.probability)) for found in result.tried]
    header = ("mechanism", "guesser", "true e^ε", "P(reports more)")
    grid = Grid(header, tuple(rows[:_MOST_ROWS]), max(0, len(rows) - _MOST_ROWS))
    remark = _sentence(result.witness) if result.witness is not None and result.witness.probability else ""
    heading = f"{result.rule} at δ = {as_text(result.delta)}, significance {as_text(result.significance)}"
    return View(heading, facts, grid, (remark,) if remark else ())


def _verdict(result: Validity) -> str:
    if result.valid is None:
        return "undecided: the bounds on the worst case do not meet at the significance level"
    if not result.valid:
        return "invalid: wrong more often than the significance level allows"
    return "no fault found in what was tried, which is no proof"


@picture_of.register
def _validity_plot(result: Validity, ax: Any) -> Any:
    """Draw the largest probabilities as bars, with the significance level."""
    axes = plot.new_axes() if ax is None else ax
    shown = result.tried[:_MOST_ROWS][::-1]
    names = ["\n".join(_words(found)) for found in shown]
    colours = ["tab:red" if found.probability > result.significance else "tab:blue" for found in shown]
    axes.barh(range(len(shown)), [float(found.probability) for found in shown], color=colours)
    axes.set_yticks(range(len(shown)), names, fontsize="x-small")
    axes.axvline(float(result.significance), linestyle="--", color="black", label="significance")
    axes.set_xlabel("P(reports more than ε)")
    axes.set_title(f"{result.rule} at δ = {as_text(result.delta)}")
    axes.legend(loc="lower right")
    return axes


def _shown(exp_epsilon: Exact) -> str:
    return shown_number(exp_epsilon)


def _listed(observations: tuple[Observation, ...]) -> str:
    shown = [f"{right} of {guesses} right" for guesses, right in observations[:3]]
    more = len(observations) - len(shown)
    return ", ".join(shown) + (f", and {more} more" if more else "")
