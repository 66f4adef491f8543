"""How accuracy, utility, output laws, likelihood ratios, failures, verdicts and samples are shown."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any

from tightdp.exact.numbers import Exact, decimal_text
from tightdp.present import plot
from tightdp.present.show import picture_of, view_of
from tightdp.present.view import MOST_ROWS, Grid, View
from tightdp.present.views.result import between, heading, unresolved_remark, witness_sentence
from tightdp.present.words import RELATIVE, brief, in_full, shown, shown_ends, shown_number
from tightdp.queries.likelihood import LikelihoodRow
from tightdp.results.answers import (
    Accuracy,
    Claim,
    Distribution,
    Failure,
    Likelihood,
    Sample,
    Unknown,
    Utility,
    Verification,
    Worst,
)
from tightdp.results.result import PairWitness


@view_of.register
def _accuracy_view(result: Accuracy) -> View:
    exact, bar = result.status == "exact", result.one_minus_beta
    if bar is None:
        at, name, label, value = ("β", shown_number(result.beta)), "α", "least α", result.alpha
    else:
        at, name, label, value = ("α", shown_number(result.alpha)), "1 - β", "tight 1 - β", bar
    facts = [(label, shown_number(value))] if exact else between(name, result.lower, result.upper)
    facts += [("tight β", shown_number(result.beta))] if exact and bar is not None else []
    grid = None
    if result.top:
        rows = tuple((shown_number(row.one_minus_beta), brief(row.x, 60), f"{row.inputs:,}") for row in result.top)
        grid = Grid(("1 - β", "dataset, for example", "datasets alike"), rows)
    sentences = [*unresolved_remark(result, "not all datasets were looked at")]
    if result.x is not None:
        sentences.append(f"The worst dataset{'' if exact else ' so far'} is x = {brief(result.x)}.")
    sentences += () if bar is None else in_full(bar)
    return View(heading(result), [*([RELATIVE] if result.relative else ()), at, *facts], grid, sentences)


@view_of.register
def _utility_view(result: Utility) -> View:
    def row(worst: Worst) -> tuple[str, ...]:
        better = worst.value if worst.better is None else worst.better
        shown_value = shown_ends(*sorted((worst.value, better))) if enclosed else (shown_number(worst.value),)
        return worst.measure, *shown_value, brief(worst.x, 60)

    enclosed = any(worst.better is not None for worst in result.measures)
    columns = ("worst value at least", "at most") if enclosed else ("worst value",)
    said = () if enclosed else in_full(*(worst.value for worst in result.measures))
    return View(heading(result), (), Grid.of(("measure", *columns, "on x"), result.measures, row), said)


@view_of.register
def _distribution_view(result: Distribution) -> View:
    ends = dict(result.upper)

    def row(entry: tuple[Any, Any]) -> tuple[str, ...]:
        output, mass = entry
        return brief(output, 60), *(shown_ends(mass, ends[output]) if ends else (shown_number(mass),))

    columns = ("probability at least", "at most") if ends else ("probability",)
    return View(heading(result), (("x", brief(result.x)),), Grid.of(("output", *columns), result.law, row))


@picture_of.register
def _distribution_plot(result: Distribution, ax: Any) -> Any:
    """Draw the law as bars."""
    outputs, masses = [brief(output, 24) for output, _ in result.law], [mass for _, mass in result.law]
    return plot.bars(ax, outputs, masses, "probability", f"{result.subject} on {brief(result.x, 40)}")


@view_of.register
def _likelihood_view(result: Likelihood) -> View:
    facts = [
        ("x", brief(result.x)),
        ("x'", brief(result.x_prime)),
        ("neighbours", "yes" if result.are_neighbours else "no"),
    ]
    listed = result.rows[:MOST_ROWS]
    enclosed = any(row.above is not None for row in listed)

    def cells(row: LikelihoodRow) -> tuple[str, ...]:
        ratio = shown_ends(row.ratio, row.ratio_above) if enclosed else (shown_number(row.ratio),)
        return brief(row.output, 40), shown_number(row.probability), shown_number(row.probability_prime), *ratio

    columns = ("P/Q at least", "at most") if enclosed else ("P/Q",)
    grid = Grid.of(("output", "P = P(output | x)", "Q = P(output | x')", *columns), result.rows, cells)
    said = () if result.are_neighbours else ("These datasets are not neighbours: the tight ε says nothing about them.",)
    if not enclosed:
        facts += [("P/Q, largest", shown_number(result.largest)), ("P/Q, smallest", shown_number(result.smallest))]
        said = (*said, *in_full(*(row.ratio for row in listed)))
    return View(heading(result), facts, grid, said)


@view_of.register
def _failure_view(result: Failure) -> View:
    facts = [("a run fails with probability", shown_number(result.probability))]
    if result.lower is not None:
        low, high = shown_ends(result.lower, result.probability)
        facts = [("a run fails with probability at least", low), ("and at most", high)]
    facts.append(("x", brief(result.x)))
    facts += [("likeliest error", result.error)] if result.error is not None else []
    facts += [("raised at", result.place)] if result.place is not None else []
    said = "No dataset has a larger probability of a failing run." if result.probability else ""
    worst = (said or "No run fails on any dataset.",) if result.worst else ()
    return View(heading(result), facts, None, (*worst, *in_full(result.probability)))


@view_of.register
def _verification_view(result: Verification) -> View:
    rows = tuple((claim.claim, shown_claimed(claim), _shown_tight(claim), claim.verdict) for claim in result.claims)
    grid = Grid(("claim", "claimed", "tight", "verdict"), rows)
    undecided = "the claim is not decided" if len(result.claims) == 1 else "not all claims are decided"
    said = unresolved_remark(result, undecided)
    return View(heading(result), (), grid, (*said, *filter(None, map(_sentence, result.claims))))


def _sentence(result: Claim) -> str:
    """Say what the witness shows; nothing without one."""
    if result.witness is None:
        return ""
    if isinstance(result.witness, PairWitness):
        attained = "The largest value so far is attained" if result.tight is None else "The tight value is attained"
        return witness_sentence(result.witness, "The claim fails" if result.holds is False else attained)
    if result.holds is False:
        return f"The claim fails on the dataset x = {brief(result.witness)}."
    return f"The worst dataset{' so far' if result.tight is None else ''} is x = {brief(result.witness)}."


@view_of.register
def _sample_view(result: Sample) -> View:
    """Return what a person sees: one output a line."""
    return View(f"{result.subject} on x = {brief(result.x)}", sentences=[shown(output) for output in result.outputs])


@view_of.register
def _unknown_view(result: Unknown) -> View:
    return View(heading(result), (), None, unresolved_remark(result, "nothing is known yet"))


def shown_claimed(claim: Claim) -> str:
    """Write what is claimed: a number, or a function of an unknown as it was given."""
    return claim.claimed if isinstance(claim.claimed, str) else shown_number(claim.claimed)


def _shown_tight(claim: Claim) -> str:
    """Write the tight value; nothing where a claim holds for all values of an unknown, each with its own."""
    value = claim.tight if claim.exponent is None else claim.exponent
    if value is None and claim.ends is not None:
        return _between(*claim.ends)
    if value is None:
        return "" if isinstance(claim.claimed, str) else "?"
    if not isinstance(value, float):
        return shown_number(value)
    return f"≈ {value!r}" if math.isfinite(value) else "inf"


def _between(lower: Exact, upper: Exact) -> str:
    """Write what a value lies between, rounded outward; infinity is no upper end, and 0 or 1 hardly a lower one."""
    low, high = (Fraction(end) if isinstance(end, float) and end != math.inf else end for end in (lower, upper))
    if high == math.inf:
        return f"at least {decimal_text(low, 6, ROUND_FLOOR)}" if low > 1 else "?"
    digits = 14 if decimal_text(low) == decimal_text(high) else 6
    return f"{decimal_text(low, digits, ROUND_FLOOR)} to {decimal_text(high, digits, ROUND_CEILING)}"
