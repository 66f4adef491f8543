"""How the tight ε, δ, the curve, the trade-off function and Rényi divergence are shown."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tightdp.errors import QueryError
from tightdp.exact.expressions import pretty
from tightdp.exact.field import ExpNumber
from tightdp.exact.numbers import Exact, as_text, decimal_text, exponent_of, log
from tightdp.methods.ratios import Ratio
from tightdp.present import plot
from tightdp.present.registry import answer_of, json_of, picture_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.result import enclosure, heading, unresolved_remark, witness_sentence
from tightdp.present.words import brief, ends_in_full, in_full, plain, shown_ends, shown_number, shown_probability
from tightdp.results.privacy import Curve, Delta, Privacy, Renyi, Tradeoff, Zcdp
from tightdp.results.result import PairWitness, Result

_MOST_ROWS = 40
_MOST_MARKS = 200
_STEPS = 48
"""Pieces of a segment between break points, which is a curve on other scales."""


@answer_of.register
def _privacy_answer(result: Privacy) -> dict[str, Any]:
    answer = {
        "exp_epsilon": plain(result.exp_epsilon),
        "epsilon": plain(result.epsilon),
        "epsilon_exact": plain(exponent_of(result.exp_epsilon)) if result.status == "exact" else None,
        "delta": plain(result.delta),
        **enclosure(result.status, result.lower, result.upper),
    }
    if result.witness is not None:
        answer["witness"] = json_of(result.witness)
    if len(result.top) > 1:
        answer["top"] = [_ranked(ratio) for ratio in result.top]
    return answer


@view_of.register
def _privacy_view(result: Privacy) -> View:
    facts = [*_facts(result), ("δ", shown_number(result.delta))]
    grid = _ranking(result.top) if len(result.top) > 1 else None
    exact = result.status == "exact"
    long = in_full(result.exp_epsilon) if exact else ends_in_full(result.lower, result.upper)
    if exact and result.reason:
        long = (f"{result.reason[0].upper()}{result.reason[1:]}.", *long)
    none = "All neighbouring datasets have the same output law." if not result.delta else ""
    said = _sentences(result, result.witness, none if result.exp_epsilon == 1 else "")
    if result.exp_epsilon == math.inf and not result.delta and result.status == "exact":
        said = (*said, "No ε is enough with δ = 0. How much δ each ε needs: --curve, or curve() in Python.")
    return View(heading(result), tuple(facts), grid, (*said, *long))


def _facts(result: Privacy) -> list[tuple[str, str]]:
    if result.status != "exact":
        low, high = shown_ends(result.lower, result.upper)
        return [("e^ε at least", low), ("e^ε at most", high)]
    return [("tight e^ε", shown_number(result.exp_epsilon)), ("tight ε", shown_log(result.exp_epsilon))]


@answer_of.register
def _delta_answer(result: Delta) -> dict[str, Any]:
    answer = {
        "delta": plain(result.delta),
        "exp_epsilon": plain(result.exp_epsilon),
        **enclosure(result.status, result.lower, result.upper),
    }
    if result.witness is not None:
        answer["witness"] = json_of(result.witness)
    return answer


@view_of.register
def _delta_view(result: Delta) -> View:
    if result.epsilon is not None:
        where = ("ε", shown_number(result.epsilon))
    else:
        assert not isinstance(result.exp_epsilon, tuple)
        where = ("e^ε", shown_number(result.exp_epsilon))
    if result.status == "exact":
        found = [("tight δ", shown_number(result.delta))]
        long = in_full(result.delta)
    elif result.epsilon is None:
        low, high = shown_ends(result.lower, result.upper)
        found = [("δ at least", low), ("δ at most", high)]
        long = ends_in_full(result.lower, result.upper)
    else:
        found = [
            ("δ at least", decimal_text(result.lower, 17, ROUND_FLOOR)),
            ("δ at most", decimal_text(result.upper, 17, ROUND_CEILING)),
        ]
        long = ()
    none = "No two neighbouring datasets have a likelihood ratio above e^ε." if not result.delta else ""
    return View(heading(result), (where, *found), None, (*_sentences(result, result.witness, none), *long))


@answer_of.register
def _curve_answer(result: Curve) -> dict[str, Any]:
    return {"points": plain(result.points), **({"lower": plain(result.lower)} if result.lower else {})}


@view_of.register
def _curve_view(result: Curve) -> View:
    rows = tuple((shown_number(t), shown_log(t), shown_number(delta)) for t, delta in result.points[:_MOST_ROWS])
    grid = Grid(("e^ε", "ε", "δ"), rows, len(result.points) - len(rows))
    last = "δ is linear in e^ε between the points and constant after the last."
    if result.status == "bounded" and not result.cut_short:
        last += " The true curve lies nowhere above."
    said = (*unresolved_remark(result, "the curve is at least this"), last)
    return View(heading(result), (), grid, (*said, *in_full(*(delta for _, delta in result.points[:_MOST_ROWS]))))


@picture_of.register
def _curve_plot(result: Curve, ax: Any, *, x: str = "exp_epsilon", log_delta: bool = False) -> Any:
    """Draw δ against e^ε (or ε), with its break points; δ on a logarithmic scale where that is asked for."""
    if x not in ("exp_epsilon", "epsilon"):
        raise QueryError(f"x is {x!r}", 'give "exp_epsilon" or "epsilon"')
    points = [(float(t), float(delta)) for t, delta in result.points]
    bend = [*points, (max(points[-1][0] * 1.25, 2.0), points[-1][1])]
    pieces = [point for first, last in pairwise(bend) for point in _between(first, last)]
    shown = [(math.log(t) if x == "epsilon" else t, delta) for t, delta in pieces if delta > 0 or not log_delta]
    axes = plot.lines(ax, shown, "ε" if x == "epsilon" else "e^ε", "δ", str(result.subject))
    marked = [point for point in points[:_MOST_MARKS] if point[1] > 0 or not log_delta]
    places = [math.log(t) if x == "epsilon" else t for t, _ in marked]
    axes.plot(places, [delta for _, delta in marked], "o", markersize=4, color="black", label="break points")
    if log_delta:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    return axes


def _between(first: tuple[float, float], last: tuple[float, float]) -> list[tuple[float, float]]:
    """Return points on the segment between two break points, which is bent on other scales."""
    (t, delta), (end, after) = first, last
    parts = [step / _STEPS for step in range(_STEPS)]
    # The last part comes close to the end, which may be 0 and then is no point of a logarithmic scale.
    return [(t + (end - t) * part, delta + (after - delta) * part) for part in (*parts, 1 - 1e-6, 1)]


@answer_of.register
def _tradeoff_answer(result: Tradeoff) -> dict[str, Any]:
    return {"vertices": plain(result.vertices), **({"upper": plain(result.upper)} if result.upper else {})}


@view_of.register
def _tradeoff_view(result: Tradeoff) -> View:
    rows = tuple((shown_number(fpr), shown_number(fnr)) for fpr, fnr in result.vertices[:_MOST_ROWS])
    grid = Grid(("false positive rate", "false negative rate"), rows, len(result.vertices) - len(rows))
    return View(heading(result), (), grid, unresolved_remark(result, "the trade-off function is at most this"))


@picture_of.register
def _tradeoff_plot(result: Tradeoff, ax: Any) -> Any:
    """Draw the trade-off function on a square, with the diagonal of perfect privacy."""
    axes = plot.lines(ax, result.vertices, "false positive rate", "false negative rate", str(result.subject))
    axes.plot([0, 1], [1, 0], linestyle="--", color="grey", linewidth=1)
    axes.set_aspect("equal")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    return axes


@answer_of.register
def _renyi_answer(result: Renyi) -> dict[str, Any]:
    return {
        "order": result.order if isinstance(result.order, int) else plain(_order(result)),
        "exp_moment": plain(result.exp_moment),
        "epsilon": plain(result.epsilon),
        **enclosure(result.status, result.lower, result.upper),
    }


@view_of.register
def _renyi_view(result: Renyi) -> View:
    facts = [("order a", str(plain(_order(result))))]
    ends = (
        [("", result.upper)] if result.status == "exact" else [(" at least", result.lower), (" at most", result.upper)]
    )
    for which, moment in ends:
        divergence = result.divergence(moment)
        power = "exp(D_a)" if result.order == math.inf else "exp((a-1)·D_a)"
        facts.append((f"{power}{which}", shown_number(moment)))
        exponent = exponent_of(moment) if math.isfinite(divergence) else None
        if exponent is not None:
            exponent /= result.order - 1 if isinstance(result.order, (int, Fraction)) else 1
        written = f"≈ {divergence!r}" if exponent is None else shown_number(exponent)
        facts.append((f"D_a{which}", written if math.isfinite(divergence) else "inf"))
    none = "All neighbouring datasets have the same output law." if result.exp_moment == 1 else ""
    return View(heading(result), tuple(facts), None, _sentences(result, result.witness, none))


def _order(result: Renyi) -> Any:
    """Return the order as JSON has it: an int where it is whole."""
    order = result.order
    return order.numerator if isinstance(order, Fraction) and order.denominator == 1 else order


@answer_of.register
def _zcdp_answer(result: Zcdp) -> dict[str, Any]:
    answer = {"rho": plain(result.rho), **enclosure(result.status, result.lower, result.upper), "order": result.order}
    if result.witness is not None:
        answer["witness"] = json_of(result.witness)
    return answer


@view_of.register
def _zcdp_view(result: Zcdp) -> View:
    if result.status == "exact":
        facts = [("ρ", shown_number(result.rho))]
    else:
        facts = [
            ("ρ at least", decimal_text(result.lower, 12, ROUND_FLOOR)),
            ("ρ at most", decimal_text(result.upper, 12, ROUND_CEILING)),
        ]
    if result.order is not None:
        facts.append(("order a", f"≈ {result.order:.6g}"))
    none = "All neighbouring datasets have the same output law." if result.rho == 0 else ""
    return View(heading(result), tuple(facts), None, _sentences(result, result.witness, none))


def shown_log(value: Exact) -> str:
    """Write ln(value) and its decimal."""
    if value in (1, math.inf):
        return "0" if value == 1 else "inf"
    exponent = exponent_of(value)
    if exponent is not None:
        return f"{as_text(exponent)} exactly"
    exact = pretty(value) if isinstance(value, ExpNumber) else as_text(value)
    return f"ln({exact}) ≈ {log(value)!r}" if len(exact) <= 24 else f"≈ {log(value)!r}"


def _ranked(ratio: Ratio) -> dict[str, Any]:
    return {
        "exp_epsilon": plain(ratio.exp_epsilon),
        "epsilon": plain(log(ratio.exp_epsilon)),
        "x": plain(ratio.x),
        "x_prime": plain(ratio.x_prime),
        "output": plain(ratio.output),
        "probability": plain(ratio.probability),
        "probability_prime": plain(ratio.probability_prime),
        "triples": ratio.triples,
    }


def _ranking(top: tuple[Ratio, ...]) -> Grid:
    rows = tuple(
        (
            shown_number(ratio.exp_epsilon),
            brief(ratio.x, 40),
            brief(ratio.x_prime, 40),
            brief(ratio.output, 40),
            f"{shown_probability(ratio.probability)} : {shown_probability(ratio.probability_prime)}",
            "not counted" if ratio.triples is None else f"{ratio.triples:,}",
        )
        for ratio in top
    )
    return Grid(("e^ε", "x", "x'", "output", "probabilities", "triples"), rows)


def _sentences(result: Result, witness: PairWitness | None, none: str) -> tuple[str, ...]:
    """Say why a result is not exact, and what the witness shows; or `none` where exactly nothing is to be shown."""
    exact = result.status == "exact"
    said = unresolved_remark(result, "what was compared so far gives the lower end")
    if none and exact:
        return (none,)
    if witness is not None:
        return (*said, witness_sentence(witness, "It is attained" if exact else "The lower end is reached"))
    return said
