"""How the tight ε, for one n or every n, δ, the curve, the trade-off function, Rényi and a privacy loss are shown."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tightdp.errors import QueryError
from tightdp.exact.field import ExpNumber
from tightdp.exact.numbers import Exact, as_text, brief, exponent_of, log
from tightdp.exact.parameters import pretty
from tightdp.methods.base import Ratio
from tightdp.present import plot
from tightdp.present.curves import seen_curve
from tightdp.present.show import picture_of, view_of
from tightdp.present.text import MOST_ROWS, Grid, View
from tightdp.present.views.answers import shown_claimed
from tightdp.present.views.pieces import NOT_FOUND
from tightdp.present.words import (
    between,
    ends_in_full,
    heading,
    in_full,
    shown_number,
    shown_probability,
    unresolved_remark,
    where_reached,
    witness_sentence,
)
from tightdp.results.privacy import Curve, Delta, EveryN, EveryNVerification, Privacy, Renyi, Tradeoff, Zcdp
from tightdp.results.recorded import plain
from tightdp.results.result import PairWitness, Result, Subject, TripleWitness

_CURVE_ENDS = {"bounded": "upper end", "unresolved": "lower end"}
"""Which end of a curve its points are, where they are not exact."""
_ALIKE = "All neighbouring datasets have the same output law."


@view_of.register
def _privacy_view(result: Privacy) -> View:
    facts, long = _tight(result)
    if result.status == "exact":
        long = (f"{result.reason[0].upper()}{result.reason[1:]}.", *long) if result.reason else long
        if result.exp_epsilon == math.inf and not result.delta:
            long = ("No ε is enough with δ = 0. How much δ each ε needs: --curve, or curve() in Python.", *long)
    elif result.upper == math.inf and not result.delta and not result.reason:
        why = "where a loop, or noise, is cut off, outputs further out may be missing"
        long = (f"No upper end of ε is known with δ = 0: {why}. δ at an ε: --epsilon, or delta() in Python.", *long)
    said = _sentences(result, result.witness, _ALIKE if result.exp_epsilon == 1 and not result.delta else "")
    grid = _ranking(result.top) if len(result.top) > 1 else _strategy_grid(result.witness)
    return View(heading(result), (*facts, ("δ", shown_number(result.delta))), grid, (*said, *long))


def _tight(result: Privacy) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    if result.status != "exact":
        return between("e^ε", result.lower, result.upper), ends_in_full(result.lower, result.upper)
    facts = [("tight e^ε", shown_number(result.exp_epsilon)), ("tight ε", shown_log(result.exp_epsilon))]
    return facts, in_full(result.exp_epsilon)


@view_of.register
def _delta_view(result: Delta) -> View:
    if result.epsilon is not None:
        where = ("ε", shown_number(result.epsilon))
    else:
        assert not isinstance(result.exp_epsilon, tuple)
        where = ("e^ε", shown_number(result.exp_epsilon))
    if result.status == "exact":
        found, long = [("tight δ", shown_number(result.delta))], in_full(result.delta)
    elif result.epsilon is None:
        found, long = between("δ", result.lower, result.upper), ends_in_full(result.lower, result.upper)
    else:
        found, long = between("δ", result.lower, result.upper, 17), ()
    none = "" if result.delta else "No two neighbouring datasets have a likelihood ratio above e^ε."
    said = (*_sentences(result, result.witness, none), *long)
    return View(heading(result), (where, *found, *_proved(result)), _strategy_grid(result.witness), said)


@view_of.register
def _curve_view(result: Curve) -> View:
    rows = tuple((shown_number(t), shown_log(t), shown_number(delta)) for t, delta in result.points[:MOST_ROWS])
    grid = Grid(("e^ε", "ε", "δ"), rows, len(result.points) - len(rows))
    last = "δ is linear in e^ε between the points and constant after the last."
    if result.status == "bounded" and not result.cut_short:
        last += " The true curve lies nowhere above."
    long = in_full(*(delta for _, delta in result.points[:MOST_ROWS]))
    said = (*unresolved_remark(result, "the curve is at least this"), last, *long)
    return View(heading(result), _proved(result), grid, said)


@picture_of.register
def _privacy_plot(result: Privacy, ax: Any) -> Any:
    """Draw the probabilities on both datasets of the output, or outputs, with the largest ratios."""
    shown = result.top if len(result.top) > 1 else (result.witness,)
    rows = [
        (
            f"output {brief(each.output, 20)}\nx = {brief(each.x, 20)}\nx' = {brief(each.x_prime, 20)}",
            [(p, shown_probability(p)) for p in (each.probability, each.probability_prime)],
        )
        for each in shown
        if isinstance(each, (Ratio, TripleWitness))
    ]
    if not rows:
        raise QueryError(
            "this answer names no output, so there are no probabilities to draw",
            "ask for the curve: --curve, or curve() in Python",
        )
    return plot.rows_of_bars(ax, rows, ("on x", "on x'"), "probability of the output", str(result.subject))


@picture_of.register
def curve_plot(
    curve: Curve, ax: Any, *, x: str = "epsilon", log_delta: bool = True, subject: Subject | None = None
) -> Any:
    """Draw δ against ε (or e^ε), with its break points, on a logarithmic scale unless told otherwise."""
    seen = seen_curve(curve.points, x, log_delta)
    name = str(subject or curve.subject) + ("" if curve.status == "exact" else f", {_CURVE_ENDS[curve.status]}")
    axes = plot.named_axes(ax, plot.WORDS[x], plot.WORDS["delta"], name)
    at, delta = zip(*seen.line, strict=True)
    marked = [place for place, point in enumerate(seen.line) if point in seen.dots]
    axes.plot(at, delta, marker="o", markersize=4, markevery=marked, label=name)
    if seen.bottom:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlim(left=0 if x == "epsilon" else 1)
    return axes


@view_of.register
def _tradeoff_view(result: Tradeoff) -> View:
    grid = Grid.of(
        ("false positive rate", "false negative rate"), result.vertices, lambda rates: map(shown_number, rates)
    )
    said = unresolved_remark(result, "the trade-off function is at most this")
    if result.status == "bounded" and not result.cut_short:
        said += ("The true function lies nowhere below.",)
    return View(heading(result), _proved(result), grid, said)


@picture_of.register
def _tradeoff_plot(result: Tradeoff, ax: Any) -> Any:
    labels = "false positive rate α", "false negative rate f(α)"
    axes = plot.lines(ax, result.vertices, *labels, str(result.subject))
    axes.plot([0, 1], [1, 0], linestyle="--", color="grey", linewidth=1, label="_")
    axes.set_aspect("equal")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    return axes


@view_of.register
def _renyi_view(result: Renyi) -> View:
    facts = [("order a", str(plain(result.whole_order)))]
    power = "exp(D_a)" if result.order == math.inf else "exp((a-1)·D_a)"
    ends = {"": result.upper} if result.status == "exact" else {" at least": result.lower, " at most": result.upper}
    for which, moment in ends.items():
        divergence = result.divergence(moment)
        facts.append((f"{power}{which}", shown_number(moment)))
        exponent = exponent_of(moment) if math.isfinite(divergence) else None
        if exponent is not None:
            exponent /= result.order - 1 if isinstance(result.order, (int, Fraction)) else 1
        written = f"≈ {divergence!r}" if exponent is None else shown_number(exponent)
        facts.append((f"D_a{which}", written if math.isfinite(divergence) else "inf"))
    said = _sentences(result, result.witness, _ALIKE if result.exp_moment == 1 else "")
    return View(heading(result), facts + _proved(result), None, said)


@view_of.register
def _zcdp_view(result: Zcdp) -> View:
    exact = result.status == "exact"
    facts = [("ρ", shown_number(result.rho))] if exact else between("ρ", result.lower, result.upper, 12)
    facts += [] if result.order is None else [("order a", f"≈ {result.order:.6g}")]
    said = _sentences(result, result.witness, _ALIKE if result.rho == 0 else "")
    return View(heading(result), facts + _proved(result), None, said)


def shown_log(value: Exact) -> str:
    """Write ln(value) and its decimal."""
    if value in (1, math.inf):
        return "0" if value == 1 else "inf"
    exponent = exponent_of(value)
    if exponent is not None:
        return f"{as_text(exponent)} exactly"
    exact = pretty(value) if isinstance(value, ExpNumber) else as_text(value)
    return f"ln({exact}) ≈ {log(value)!r}" if len(exact) <= 24 else f"≈ {log(value)!r}"


def _ranking(top: tuple[Ratio, ...]) -> Grid:
    def row(ratio: Ratio) -> tuple[str, ...]:
        return (
            shown_number(ratio.exp_epsilon),
            *(brief(value, 40) for value in (ratio.x, ratio.x_prime, ratio.output)),
            f"{shown_probability(ratio.probability)} : {shown_probability(ratio.probability_prime)}",
            "not counted" if ratio.triples is None else f"{ratio.triples:,}",
        )

    return Grid.of(("e^ε", "x", "x'", "output", "probabilities", "triples"), top, row, most=len(top))


def _sentences(result: Result, witness: PairWitness | None, none: str) -> tuple[str, ...]:
    if none and result.status == "exact":
        return (none,)
    said = unresolved_remark(result, "what was compared so far gives the lower end")
    if witness is None:
        return said
    return (*said, witness_sentence(witness, where_reached(result)))


def _strategy_grid(witness: PairWitness | None) -> Grid | None:
    """Return the strategy that a witness has, a row for every answer, those that follow one indented below it."""
    strategy = getattr(witness, "strategy", None)
    if strategy is None or not strategy.moves:
        return None
    rows = [(depth, move) for first in strategy.moves for depth, move in first.with_depth()]
    shown = tuple(("  " * depth + brief(move.history, 60), brief(move.answer, 40)) for depth, move in rows[:MOST_ROWS])
    return Grid(("the analyst sees", "and answers"), shown, len(rows) - len(shown))


_PROOFS = {
    "independence": "the largest ratio of one client's part, as the clients are independent",
    "simulation": "a matrix that turns a run on x' into a bound on the run on x",
    "windows": "the largest ratio over windows of records around the one that changes",
    "alignment": "every path is matched with paths on x' that publish the same, noise with shifted noise",
    "randomized response": "no laws whose ratio is at most the proved e^ε are easier to tell apart",
    "one record": "the others are independent of the one that changes, and move what it tells alike",
    "noisy end": "the messages do not tell the state, and the end of the program hides it",
    "growth": "there is none, as messages that repeat multiply the ratio each time",
    "witness": "there is none",
}


@view_of.register
def _every_n_view(result: EveryN) -> View:
    if result.status == "exact":
        reached = f"attained at n = {result.n}" if result.attained else "approached as n grows"
        facts = [("tight e^ε", shown_number(result.upper)), ("tight ε", shown_log(result.upper)), ("it is", reached)]
        facts += _ends(result)[2:]
    else:
        facts = _ends(result)
    facts += [("δ", shown_number(result.delta))] if result.delta else []
    cut = unresolved_remark(result, "these ends are proved" if result.proof != "none" else "the lower end is proved")
    return View(heading(result), facts, None, (*cut, *_said(result), *in_full(result.lower, result.upper)))


@view_of.register
def _verification_view(result: EveryNVerification) -> View:
    found = result.found
    rows = tuple((claim.claim, shown_claimed(claim), claim.verdict) for claim in result.claims)
    said = (*unresolved_remark(found, "the claim is undecided"), *_said(found))
    return View(heading(result), _ends(found), Grid(("claim for every n", "claimed", "verdict"), rows), said)


def _proved(result: Result) -> list[tuple[str, str]]:
    """Return what an answer for every n says of its ends."""
    if (found := result.for_every_n) is None:
        return []
    at, by = ("upper", "lower") if isinstance(result, Tradeoff) else ("lower", "upper")
    named = ("it is", f"attained at n = {found.n}") if found.attained else (f"{at} end at", f"n = {found.n}")
    return [named, *_end_by(found.proof, f"{by} end by", f"{by} end")]


def _ends(result: EveryN) -> list[tuple[str, str]]:
    if result.status == "unresolved":  # no upper end was looked for
        return [("e^ε at least", f"{shown_number(result.lower)} (at n = {result.n})")]
    upper = [("e^ε at most", shown_number(result.upper))] if result.proof != "none" else []
    return [
        ("e^ε at least", f"{shown_number(result.lower)} (at n = {result.n})"),
        *upper,
        *_end_by(result.proof, "upper end by", "e^ε at most"),
    ]


def _end_by(proof: str, by: str, unproved: str) -> list[tuple[str, str]]:
    """Return `by` what an end is proved; where nothing proves it, that under the name of what is `unproved`."""
    if proof == "none":
        return [(unproved, "not known: no way to prove a bound for every n succeeded")]
    return [(by, f"{proof}: {_PROOFS[proof]}")]


def _said(result: EveryN) -> tuple[str, ...]:
    if result.witness is None:
        return ()
    said = [witness_sentence(result.witness, f"At n = {result.n} the lower end is reached")]
    if result.attained is False:
        how = "grow without bound" if math.isinf(result.upper) else "come arbitrarily close to the upper end"
        said.insert(0, f"The ratios {how} as n grows; at n = {result.n} e^ε is at least {shown_number(result.lower)}.")
    if result.status == "bounded" and math.isinf(result.upper):
        said.append(NOT_FOUND)
    return tuple(said)
