"""How efficacies, laws of guesses, reports of audits, bounds from an observation and wrong rules are shown."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import Any

from tightdp.auditing import Enclosure
from tightdp.auditing.ask import p_value_at
from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact, as_text, brief, decimal_text, log
from tightdp.present import plot
from tightdp.present.show import picture_of, view_of
from tightdp.present.text import MOST_ROWS, Grid, View
from tightdp.present.words import heading, shown, shown_epsilon, shown_number, unresolved_remark
from tightdp.results.audit import Audit, Trial, Validity, WorstGame
from tightdp.results.guessing import Canaries, Efficacy, Guessing, Reported, Row

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
    above = ("dp", "interference_gap") if result.lower != result.upper and not result.least else ()
    names = _NUMBERS if any(row.adaptive is not None for row in result.rows) else _NUMBERS[:-1]
    words = {name: name.upper() if len(name) < 4 else name.replace("_", " ") for name in names}
    return [f"{word} at most" if name in above else word for name, word in words.items()]


def _widths(result: Efficacy) -> str:
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
    values = (getattr(row, name) for name in _NUMBERS)
    return tuple(shown_number(value) for value in values if value is not None)


def _guesses(rows: Iterable[tuple[Any, int]]) -> str:
    """Write the numbers of guesses of rows in a row that are alike: 3, or 1-6."""
    guesses = [number for _, number in rows]
    return str(guesses[0]) if len(guesses) == 1 else f"{guesses[0]}-{guesses[-1]}"


@view_of.register
def _guessing_view(result: Guessing) -> View:
    facts = [
        ("audit", f"{result.audit}, {result.canaries} secret bits"),
        ("guesser", result.guesser),
        ("expected guesses", shown_number(result.joint.guesses)),
        ("expected right guesses", shown_number(result.joint.right)),
    ]
    facts += _error(result)
    if result.joint.share is not None:
        facts.append(("expected share right, if any", shown_number(result.joint.share)))
    header = ("guesses", "right", "probability")
    grid = Grid.of(header, result.joint.entries, lambda row: (str(row[0]), str(row[1]), shown_number(row[2])))
    return View(heading(result), facts, grid)


def _error(result: Guessing | Reported) -> list[tuple[str, str]]:
    """Say how far probabilities may be from the true ones."""
    error = decimal_text(result.error, 3, ROUND_CEILING)
    return [("every probability is right within", error)] if result.error else []


@picture_of.register
def _guessing_plot(result: Guessing, ax: Any) -> Any:
    """Draw the law on `ax` (new ones, unless given): bars by right guesses, or discs where the guesses vary too."""
    made, right, masses = zip(*((r, v, float(p)) for r, v, p in result.joint.entries), strict=True)
    title = f"{result.subject}\n{result.guesser}"
    if len(set(made)) == 1:
        axes = plot.named_axes(ax, f"right guesses out of {made[0]}", "probability", title)
        axes.bar(right, masses)
    else:
        what = "guesses (areas are probabilities, the line is all right)"
        axes = plot.named_axes(ax, what, "right guesses", title)
        axes.axline((0, 0), slope=1, color="lightgrey", zorder=0)
        axes.scatter(made, right, s=[400 * mass / max(masses) for mass in masses])
        axes.locator_params(axis="y", integer=True)
    axes.locator_params(axis="x", integer=True)
    return axes


@view_of.register
def _reported_view(result: Reported) -> View:
    most, least = ("", "") if result.status == "exact" else (", at most", ", at least")
    facts = (
        ("secret bits", str(result.canaries)),
        (f"true ε on these datasets{most}", shown_epsilon(result.exp_epsilon)),
        ("expected reported ε", _about(result.expectation)),
        (f"P(at least half of ε){least}", shown_number(result.power())),
        (f"P(more than ε){least}", shown_number(result.wrong)),
        *_error(result),
    )
    header = ("reported ε", "probability")
    grid = Grid.of(header, result.law, lambda row: (decimal_text(row[0]), shown_number(row[1])))
    return View(heading(result), facts, grid)


@picture_of.register
def _reported_plot(result: Reported, ax: Any) -> Any:
    axes = plot.named_axes(ax, "reported ε", "probability", result.subject)
    finite = [(float(value), float(p)) for value, p in result.law if value != math.inf]
    true = math.inf if result.exp_epsilon == math.inf else log(result.exp_epsilon)
    for label, colour, bars in (
        ("", "tab:blue", [(value, p) for value, p in finite if value <= true]),
        (f"more than ε: probability {float(result.wrong):.2g}", "tab:red", [at for at in finite if at[0] > true]),
    ):
        if bars:
            axes.vlines([value for value, _ in bars], 0, [p for _, p in bars], color=colour, linewidth=2, label=label)
    if true != math.inf:
        axes.axvline(true, linestyle="--", color="black", label="true ε")
        plot.legend_below(axes)
    axes.set_ylim(bottom=0)
    return axes


@view_of.register
def _canaries_view(result: Canaries) -> View:
    target = f"{shown_number(result.share)} of ε" if result.share is not None else shown_number(result.epsilon or 0)
    wanted = f"P(reported ε >= {target}) >= {shown_number(result.power)}"
    found = f"more than {result.at_most}" if result.canaries is None else str(result.canaries)
    rows = tuple(
        (str(point.canaries), shown_number(point.power), decimal_text(point.reported)) for point in result.points
    )
    grid = Grid(("secret bits", "power", f"ε reported with probability {shown_number(result.power)}"), rows)
    facts = (("audit", result.rule), ("wanted", wanted), ("secret bits needed", found))
    given_up = (("given up", result.reason),) if result.reason else ()
    return View(heading(result), (*facts, *given_up), grid)


@picture_of.register
def _canaries_plot(result: Canaries, ax: Any) -> Any:
    axes = plot.named_axes(ax, "secret bits n", "ε", f"{result.subject}, {result.rule}")
    sizes = [point.canaries for point in result.points]
    label = f"reported with probability {float(result.power):g}"
    axes.plot(sizes, [float(point.reported) for point in result.points], marker="o", label=label)
    finite = [point for point in result.points if point.exp_epsilon != math.inf]
    places, true = [point.canaries for point in finite], [log(point.exp_epsilon) for point in finite]
    if finite:
        axes.plot(places, true, linestyle="--", color="black", label="true ε")
    if result.share is not None and finite:
        share = float(result.share)
        axes.plot(places, [share * value for value in true], linestyle=":", color="black", label=f"{share:g} of ε")
    if result.epsilon is not None:
        axes.axhline(float(result.epsilon), linestyle=":", color="black", label="wanted")
    if result.canaries is not None:
        axes.axvline(result.canaries, color="lightgrey", zorder=0, label=f"{result.canaries} secret bits needed")
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    return plot.legend_below(axes)


def _about(value: Exact) -> str:
    decimal = decimal_text(value)
    return decimal if value == math.inf or Fraction(decimal) == value else f"≈ {decimal}"


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


_VALID: dict[bool | str, str] = {True: "yes", False: "no", "unknown": "unknown"}


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
    facts.append(("valid", f"{_VALID[answer.valid]}: {answer.reason}"))
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


def _shown(value: Enclosure) -> str:
    if value.is_exact and len(str(value.upper)) <= _LONGEST:
        return shown_number(value.upper)
    low, high = decimal_text(value.lower, 6, ROUND_FLOOR), decimal_text(value.upper, 6, ROUND_CEILING)
    return f"at most {high}" if value.is_exact or low == high else f"between {low} and {high}"
