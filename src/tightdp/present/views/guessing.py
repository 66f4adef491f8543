"""How laws of guesses, reports of audits and numbers of canaries are shown."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import Any

from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact, decimal_text, log
from tightdp.present import plot
from tightdp.present.registry import answer_of, picture_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.result import heading
from tightdp.present.words import plain, shown_epsilon, shown_number
from tightdp.results.guessing import Canaries, Guessing, Reported

_MOST_ROWS = 40


@answer_of.register
def _guessing_answer(result: Guessing) -> dict[str, Any]:
    return {
        "audit": result.audit,
        "guesser": result.guesser,
        "canaries": result.canaries,
        "law": [[r, v, plain(p)] for r, v, p in result.joint.entries],
        "expected_guesses": plain(result.joint.guesses),
        "expected_right": plain(result.joint.right),
        **({"error": plain(result.error)} if result.error else {}),
    }


@view_of.register
def _guessing_view(result: Guessing) -> View:
    facts = [
        ("audit", f"{result.audit}, {result.canaries} secret bits"),
        ("guesser", result.guesser),
        ("expected guesses", shown_number(result.joint.guesses)),
        ("expected right guesses", shown_number(result.joint.right)),
    ]
    if result.error:
        facts.append(_error(result.error))
    if result.joint.share is not None:
        facts.append(("expected share right, if any", shown_number(result.joint.share)))
    rows = tuple((str(r), str(v), shown_number(p)) for r, v, p in result.joint.entries[:_MOST_ROWS])
    grid = Grid(("guesses", "right", "probability"), rows, len(result.joint.entries) - len(rows))
    return View(heading(result), tuple(facts), grid)


def _error(error: Number) -> tuple[str, str]:
    """Say how far probabilities may be from the true ones."""
    return "every probability is right within", decimal_text(error, 3, ROUND_CEILING)


@picture_of.register
def _guessing_plot(result: Guessing, ax: Any) -> Any:
    """Draw the law on `ax` (new ones, unless given): bars by right guesses, or discs where the guesses vary too."""
    axes = plot.new_axes() if ax is None else ax
    made, right, masses = zip(*((r, v, float(p)) for r, v, p in result.joint.entries), strict=True)
    if len(set(made)) == 1:
        axes.bar(right, masses)
        axes.set_ylabel("probability")
        axes.set_xlabel(f"right guesses out of {made[0]}")
    else:
        axes.axline((0, 0), slope=1, color="lightgrey", zorder=0)
        axes.scatter(made, right, s=[400 * mass / max(masses) for mass in masses])
        axes.set_ylabel("right guesses")
        axes.set_xlabel("guesses (areas are probabilities, the line is all right)")
        axes.locator_params(axis="y", integer=True)
    axes.locator_params(axis="x", integer=True)
    axes.set_title(f"{result.subject}\n{result.guesser}")
    return axes


@answer_of.register
def _reported_answer(result: Reported) -> dict[str, Any]:
    return {
        "canaries": result.canaries,
        "exp_epsilon": plain(result.exp_epsilon),
        "law": [[plain(value), plain(p)] for value, p in result.law],
        "expectation": float(result.expectation) if result.expectation != math.inf else "inf",
        "power_half": plain(result.power()),
        "wrong": plain(result.wrong),
        **({"error": plain(result.error)} if result.error else {}),
    }


@view_of.register
def _reported_view(result: Reported) -> View:
    true = shown_epsilon(result.exp_epsilon)
    most, least = ("", "") if result.status == "exact" else (", at most", ", at least")
    facts = (
        ("secret bits", str(result.canaries)),
        (f"true ε on these datasets{most}", true),
        ("expected reported ε", _about(result.expectation)),
        (f"P(at least half of ε){least}", shown_number(result.power())),
        (f"P(more than ε){least}", shown_number(result.wrong)),
        *((_error(result.error),) if result.error else ()),
    )
    rows = tuple((decimal_text(value), shown_number(p)) for value, p in result.law[:_MOST_ROWS])
    return View(heading(result), facts, Grid(("reported ε", "probability"), rows, len(result.law) - len(rows)))


@picture_of.register
def _reported_plot(result: Reported, ax: Any) -> Any:
    """Draw the law as bars at the reported ε, with the true ε as a line."""
    axes = plot.new_axes() if ax is None else ax
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
    axes.set_xlabel("reported ε")
    axes.set_ylabel("probability")
    axes.set_title(str(result.subject))
    return axes


@answer_of.register
def _canaries_answer(result: Canaries) -> dict[str, Any]:
    return {
        "canaries": result.canaries,
        "rule": result.rule,
        **({"share": plain(result.share)} if result.epsilon is None else {"epsilon": plain(result.epsilon)}),
        "power": plain(result.power),
        "at_most": result.at_most,
        "points": [[point.canaries, plain(point.power), _as_float(point.reported)] for point in result.points],
    }


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
    """Draw the ε that is reported with the wanted probability against n, on `ax` (new ones, unless given).

    The true ε and what is wanted of it are lines.
    """
    axes = plot.new_axes() if ax is None else ax
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
    axes.set_xlabel("secret bits n")
    axes.set_ylabel("ε")
    axes.set_title(f"{result.subject}, {result.rule}")
    return plot.legend_below(axes)


def _as_float(value: Exact) -> Any:
    return "inf" if value == math.inf else float(value)


def _about(value: Exact) -> str:
    """Write the decimal of a number, with ≈ where it is rounded."""
    decimal = decimal_text(value)
    return decimal if value == math.inf or Fraction(decimal) == value else f"≈ {decimal}"
