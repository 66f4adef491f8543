"""How accuracy, utility, output laws, likelihood ratios, failures, verdicts, samples and tables are shown."""

from __future__ import annotations

import csv
import io
import math
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact, as_text, brief, decimal_text, log
from tightdp.exact.parameters import pretty
from tightdp.language.tails import Interval, Tail, parts_of
from tightdp.present import plot
from tightdp.present.show import file_of, picture_of, view_of
from tightdp.present.text import MOST_ROWS, Grid, View
from tightdp.present.views.optimum import frontier
from tightdp.present.words import (
    RELATIVE,
    between,
    heading,
    in_full,
    shown,
    shown_ends,
    shown_number,
    unresolved_remark,
    witness_sentence,
)
from tightdp.results import answers
from tightdp.results.optimum import Optimum
from tightdp.results.recorded import plain
from tightdp.results.result import PairWitness, Result
from tightdp.results.table import ends_of

if TYPE_CHECKING:
    from tightdp.queries.curves import LikelihoodRow


@view_of.register
def _accuracy_view(result: answers.Accuracy) -> View:
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


@picture_of.register
def _accuracy_plot(result: answers.Accuracy, ax: Any) -> Any:
    """Draw 1 - β of the ranked datasets, worst first."""
    if not result.top:
        raise QueryError("no datasets are ranked, so there is nothing to draw", "ask with an α: accuracy(alpha=1)")
    rows = [
        (f"x = {brief(row.x, 30)}{f', {row.inputs:,} alike' if row.inputs > 1 else ''}", [_bar(row.one_minus_beta)])
        for row in result.top
    ]
    label = f"probability 1 - β of an error of at most α = {as_text(result.alpha)}"
    return plot.rows_of_bars(ax, rows, ("1 - β",), label, str(result.subject))


def _bar(value: Number) -> tuple[Number, str]:
    """Return a probability and what stands beside its bar."""
    return value, decimal_text(value, 4)


@view_of.register
def _utility_view(result: answers.Utility) -> View:
    def row(worst: answers.Worst) -> tuple[str, ...]:
        better = worst.value if worst.better is None else worst.better
        shown_value = shown_ends(*sorted((worst.value, better))) if enclosed else (shown_number(worst.value),)
        return worst.measure, *shown_value, brief(worst.x, 60)

    enclosed = any(worst.better is not None for worst in result.measures)
    columns = ("worst value at least", "at most") if enclosed else ("worst value",)
    said = () if enclosed else in_full(*(worst.value for worst in result.measures))
    return View(heading(result), (), Grid.of(("measure", *columns, "on x"), result.measures, row), said)


@view_of.register
def _distribution_view(result: answers.Distribution) -> View:
    ends = dict(result.upper)
    forms = {} if ends else {output: form for output, mass in result.law if (form := _closed_form(output, mass))}

    def row(entry: tuple[Any, Any]) -> tuple[str, ...]:
        output, mass = entry
        shown_mass = shown_ends(mass, ends[output]) if ends else (shown_number(mass),)
        return brief(output, 60), *shown_mass, *([forms.get(output, "")] if forms else ())

    columns = ("probability at least", "at most") if ends else ("probability", *(["closed form"] if forms else ()))
    law, said = result.law, list[str]()
    if len(law) > MOST_ROWS:
        least = sorted((float(mass) for _, mass in law), reverse=True)[MOST_ROWS - 1]
        likely = [entry for entry in law if float(entry[1]) >= least]
        law = (*likely, *(entry for entry in law if float(entry[1]) < least))
        said.append("The likeliest outputs are shown.")
    return View(heading(result), (("x", brief(result.x)),), Grid.of(("output", *columns), law, row), said)


def _closed_form(output: Any, mass: Number) -> str:
    """Write how the probability of a tail, or of an interval, is spread; nothing where an output has no such part."""
    parts = [part for part in parts_of(output) if isinstance(part, (Tail, Interval))]
    if len(parts) != 1:  # several tails go together
        return ""
    (part,) = parts
    if isinstance(part, Interval):
        away = _difference(part.origin, part.origin == part.low)
        terms = [(factor, power, f"e^({_product(rate, away)})" if rate else "") for factor, power, rate in part.terms]
        return f"f(y) = {_sum_of(terms, away)}"
    away = _difference(part.first, part.direction > 0)
    away = away if part.step == 1 else f"({away})/{_in_product(Fraction(part.step))}"
    terms = [(mass * factor, power, f"{_in_product(base)}^({away})") for factor, power, base in part.shares]
    return f"P(y) = {_sum_of(terms, away)}"


def _sum_of(terms: list[tuple[Number, int, str]], away: str) -> str:
    joined = " + ".join(
        "·".join(
            [
                *([_factor(factor)] if factor != 1 or not (power or exponential) else ()),
                *([_grouped(away) + f"^{power}" * (power > 1)] if power else ()),
                *([exponential] if exponential else ()),
            ]
        )
        for factor, power, exponential in terms
    )
    return joined.replace(" + -", " - ")


def _factor(value: Number) -> str:
    return str(value) if isinstance(value, Fraction) and len(str(value)) <= _MOST_DIGITS else _in_product(value)


def _in_product(value: Number) -> str:
    text = pretty(value)
    return _grouped(text if len(text) <= _MOST_DIGITS else f"≈ {decimal_text(value)}")


def _grouped(text: str) -> str:
    return text if text.isalnum() else f"({text})"


def _product(rate: Number, away: str) -> str:
    if abs(rate) == 1:
        return away if rate > 0 else f"-{_grouped(away)}"
    return f"{rate}·{_grouped(away)}"


def _difference(origin: int | Fraction, above: bool) -> str:
    if above:
        return f"y - {origin}" if origin > 0 else f"y + {-origin}" if origin else "y"
    return f"{origin} - y" if origin else "-y"


@picture_of.register
def _distribution_plot(result: answers.Distribution, ax: Any) -> Any:
    """Draw the law as bars."""
    outputs, masses = [brief(output, 24) for output, _ in result.law], [mass for _, mass in result.law]
    return plot.bars(ax, outputs, masses, "probability", f"{result.subject} on {brief(result.x, 40)}")


@view_of.register
def _likelihood_view(result: answers.Likelihood) -> View:
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


@picture_of.register
def _likelihood_plot(result: answers.Likelihood, ax: Any) -> Any:
    """Draw the probabilities of the outputs on both datasets, those with the largest ratios first."""
    rows = [
        (f"output {brief(row.output, 24)}", [_bar(row.probability), _bar(row.probability_prime)])
        for row in result.rows[:_MOST_PAIRS]
    ]
    more = len(result.rows) - len(rows)
    label = "probability of the output" + (" (lower ends)" if any(row.above for row in result.rows) else "")
    title = f"{result.subject}" + (f", {more:,} more outputs left out" if more else "")
    names = f"on x = {brief(result.x, 30)}", f"on x' = {brief(result.x_prime, 30)}"
    return plot.rows_of_bars(ax, rows, names, label, title)


@view_of.register
def _failure_view(result: answers.Failure) -> View:
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
def _verification_view(result: answers.Verification) -> View:
    rows = tuple((claim.claim, shown_claimed(claim), shown_tight(claim), claim.verdict) for claim in result.claims)
    grid = Grid(("claim", "claimed", "tight", "verdict"), rows)
    undecided = "the claim is not decided" if len(result.claims) == 1 else "not all claims are decided"
    said = unresolved_remark(result, undecided)
    return View(heading(result), (), grid, (*said, *filter(None, map(_sentence, result.claims))))


def _sentence(result: answers.Claim) -> str:
    if result.witness is None:
        return ""
    if isinstance(result.witness, PairWitness):
        attained = "The largest value so far is attained" if result.tight is None else "The tight value is attained"
        return witness_sentence(result.witness, "The claim fails" if result.holds is False else attained)
    if result.holds is False:
        return f"The claim fails on the dataset x = {brief(result.witness)}."
    return f"The worst dataset{' so far' if result.tight is None else ''} is x = {brief(result.witness)}."


@view_of.register
def _sample_view(result: answers.Sample) -> View:
    """Return what a person sees: one output a line."""
    return View(f"{result.subject} on x = {brief(result.x)}", sentences=[shown(output) for output in result.outputs])


@view_of.register
def _unknown_view(result: answers.Unknown) -> View:
    return View(heading(result), (), None, unresolved_remark(result, "nothing is known yet"))


def shown_claimed(claim: answers.Claim) -> str:
    """Write what is claimed: a number, or a function of an unknown as it was given."""
    return claim.claimed if isinstance(claim.claimed, str) else shown_number(claim.claimed)


def shown_tight(claim: answers.Claim) -> str:
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


_MOST_REASONS = 3
_MOST_DIGITS = 40
"""A number in a closed form that is longer is written as a decimal."""
_MOST_PAIRS = 16
"""How many outputs there is room for with two bars each."""
_MARKERS, _LINES = "os^Dv", ("-", "--", ":", "-.")
_SPREAD = 100
"""Answers that differ by more are drawn on a logarithmic scale."""


@view_of.register
def _sweep_view(result: answers.Sweep) -> View:
    def cells(row: Result) -> tuple[str, ...]:
        shown_values = (_shown_column(name, row.columns[name]) if name in row.columns else "?" for name in names)
        return *(str(plain(row.parameters[name])) for name in result.swept), *shown_values, row.status

    names = result.names
    reasons = {row.reason: None for row in result.rows if row.status != "exact" and row.reason}
    said = tuple(f"Not decided everywhere: {reason}." for reason in list(reasons)[:_MOST_REASONS])
    grid = Grid((*result.swept, *names, "status"), tuple(map(cells, result.rows)), keys=len(result.swept))
    return View(heading(result), (), grid, said)


@file_of.register
def _sweep_file(result: answers.Sweep, form: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*result.swept, *result.names, "status", "lower", "upper"])
    for row in result:
        writer.writerow(["" if value is None else str(plain(value)) for value in row.values()])
    return text.getvalue()


@picture_of.register
def _sweep_plot(result: answers.Sweep, ax: Any) -> Any:
    if any(isinstance(row, Optimum) for row in result.rows):
        return frontier(result, ax)
    columns, swept = result.names, result.swept[0]
    name = "epsilon" if "epsilon" in columns else columns[0]
    words = plot.WORDS.get(name, name.replace("_", " ")), plot.WORDS.get(swept, f"parameter {swept}")
    axes = plot.named_axes(ax, words[1], words[0], result.subject)
    groups: dict[str, list[tuple[Any, Any]]] = {}
    for row in result.rows:
        first, *others = (row.parameters[key] for key in result.swept)
        named = zip(result.swept[1:], others, strict=True)
        label = ", ".join(f"{key}={brief(value, 40, quoted=False)}" for key, value in named)
        found = row.columns.get(name)
        if found is not None and found[0] == found[1] != math.inf and isinstance(first, (int, Fraction)):
            groups.setdefault(label, []).append((first, log(found[0]) if name == "epsilon" else found[0]))
    for place, (label, points) in enumerate(groups.items()):
        style = {"marker": _MARKERS[place % len(_MARKERS)], "linestyle": _LINES[place % len(_LINES)]}
        numbers = [(float(x), float(y)) for x, y in points]
        # Open marks of different forms and sizes show series that lie on each other.
        axes.plot(
            *zip(*numbers, strict=True),
            **style,
            markersize=9 - place % 4,
            fillstyle="none",
            label=label or str(result.subject),
        )
    heights = [float(y) for points in groups.values() for _, y in points]
    if heights and min(heights) > 0 and max(heights) > _SPREAD * min(heights):
        axes.set_yscale("log")
    if all(x == int(x) for points in groups.values() for x, _ in points):
        axes.locator_params(axis="x", integer=True)
    return plot.legend_below(axes) if len(groups) > 1 else axes


def _shown_column(name: str, ends: tuple[Exact, Exact]) -> str:
    lower, upper = (str(plain(end)) if name == "epsilon" else shown_number(end) for end in ends_of(name, ends))
    if ends[0] == ends[1]:
        return lower
    return f"at least {lower}" if ends[1] == math.inf else f"{lower} to {upper}"
