"""How the bounds from an observation are shown."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any

from tightdp.auditing import Enclosure
from tightdp.auditing.ask import p_value_at
from tightdp.errors import QueryError
from tightdp.exact.numbers import decimal_text
from tightdp.present import plot
from tightdp.present.show import picture_of, view_of
from tightdp.present.view import View
from tightdp.present.views.result import unresolved_remark
from tightdp.present.words import shown_number
from tightdp.results.audit import Audit

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
    """Write a p-value exactly where that is short, else between its ends, rounded outward."""
    if value.is_exact and len(str(value.upper)) <= _LONGEST:
        return shown_number(value.upper)
    low, high = decimal_text(value.lower, 6, ROUND_FLOOR), decimal_text(value.upper, 6, ROUND_CEILING)
    return f"at most {high}" if value.is_exact or low == high else f"between {low} and {high}"
