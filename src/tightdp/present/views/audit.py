"""How the bounds from an observation are shown, and how often a rule is wrong."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any

from tightdp.auditing import Enclosure
from tightdp.auditing.ask import p_value_at
from tightdp.errors import QueryError
from tightdp.exact.numbers import as_text, decimal_text
from tightdp.present import plot
from tightdp.present.show import picture_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.words import shown_number, unresolved_remark
from tightdp.results.audit import Audit, Trial, Validity, WorstGame

_MOST_ROWS = 12


def _words(found: Trial | WorstGame) -> tuple[str, str]:
    if isinstance(found, Trial):
        return str(found.subject), found.guesser
    guesses = "any number of guesses" if found.guesses is None else f"{found.guesses} guesses"
    return f"worst case, {found.canaries} canaries", guesses


def _sentence(found: Trial | WorstGame) -> str:
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


_POINTS = 60
_LONGEST = 40


@view_of.register
def _audit_view(result: Audit) -> View:
    answer = result.answer
    game = f"{answer.correct:,} of {answer.guesses:,} guesses right, {answer.canaries:,} canaries"
    facts = [("observation", game)]
    if result.expected is not None:
        facts.append(("ideal auditor", f"{_shown(result.expected)} right in the mean"))
    if answer.options > 2:
        facts.append(("options", str(answer.options)))
    facts += [("guarantee", str(result.subject) if result.program else answer.guarantee), *_found(result)]
    facts.append(("valid", f"{_yes_no(answer.valid)}: {answer.reason}"))
    if answer.assumed:
        facts.append(("assumed", answer.assumed))
    remark = unresolved_remark(result, "larger ε may be rejected, too")
    return View(f"audit, method: {answer.method}, status: {result.status}", tuple(facts), sentences=remark)


def _found(result: Audit) -> list[tuple[str, str]]:
    answer, found = result.answer, []
    if answer.exp_epsilon_lower is not None:
        level = decimal_text(100 * (1 - answer.significance))
        found.append(("ε at least", f"{_bound(result)}, with {level} % confidence"))
    if answer.p_value is not None:
        found.append((f"p-value{_asked(result)}", _shown(answer.p_value)))
    return found


def _bound(result: Audit) -> str:
    text = decimal_text(Fraction(result.answer.epsilon_lower or 0), 6, ROUND_FLOOR)
    return f"{text} at δ = {result.answer.delta}" if _is_family(result) else text


def _is_family(result: Audit) -> bool:
    return result.answer.guarantee.endswith("family")


def _asked(result: Audit) -> str:
    asked = dict(result.subject.parameters)
    named = {"ε": "epsilon", "e^ε": "exp_epsilon"}
    return next((f" of {label} = {asked[name]}" for label, name in named.items() if name in asked), "")


@picture_of.register
def _audit_plot(result: Audit, ax: Any) -> Any:
    """Draw the p-value against ε on the axes `ax` (new ones, unless given), and return them.

    Only for an observation that (ε, δ)-DP was asked of; raises QueryError otherwise.
    """
    answer = result.answer
    if answer.exp_epsilon_lower is None or _is_family(result):
        raise QueryError("the p-value is drawn against ε for (ε, δ) only", "leave out tradeoff")
    game = f"{answer.correct} of {answer.guesses} right, {answer.canaries} canaries, δ = {answer.delta}"
    axes = plot.named_axes(ax, "ε", "p-value", game)
    end = 1.5 * (answer.epsilon_lower or 0) + 0.5
    places = [end * i / (_POINTS - 1) for i in range(_POINTS)]
    heights = [float(p_value_at(answer, Fraction(math.exp(place)))) for place in places]
    axes.plot(places, heights, label=f"p-value, {answer.method}")
    axes.axhline(float(answer.significance), color="gray", linestyle=":", label="significance")
    axes.axvline(answer.epsilon_lower, color="black", linestyle="--", label="ε at least")
    axes.set_yscale("log")
    axes.set_ylim(float(answer.significance) / 1000, 1.5)
    axes.legend()
    return axes


def _yes_no(valid: object) -> str:
    return ("yes" if valid else "no") if isinstance(valid, bool) else "unknown"


def _shown(value: Enclosure) -> str:
    if value.is_exact and len(str(value.upper)) <= _LONGEST:
        return shown_number(value.upper)
    low, high = decimal_text(value.lower, 6, ROUND_FLOOR), decimal_text(value.upper, 6, ROUND_CEILING)
    return f"at most {high}" if value.is_exact or low == high else f"between {low} and {high}"
