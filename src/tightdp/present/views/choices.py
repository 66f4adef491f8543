"""How choices are shown: a row for each, what is best, and the frontier of privacy and a measure as a picture."""

from __future__ import annotations

import math
from typing import Any

from tightdp.exact.numbers import Exact, as_text, brief
from tightdp.exact.polynomials import naming
from tightdp.present import plot
from tightdp.present.show import picture_of, view_of
from tightdp.present.text import Grid, View
from tightdp.present.views.pieces import MEASURES, drawn_pieces, shown_best, shown_end, shown_ends, shown_function
from tightdp.present.words import heading, shown_number, unresolved_remark
from tightdp.results.choices import BestChoices, Choice, Chosen, Option


@view_of.register
def _choice_view(result: Choice) -> View:
    facts = [("claim", claim) for claim in result.claims]
    if result.measure is not None:
        facts += [("measure", _measure(result.measure, result.alpha)), *_best_facts(result)]
    names = [name for name, _ in result.options[0].values]
    header, rows = (_with_unknown if result.unknown is not None else _alone)(result)
    return View(heading(result), facts, Grid((*names, *header), tuple(rows)), [*_remarks(result)])


def _measure(measure: str, alpha: Any) -> str:
    shown = MEASURES[measure] if alpha is None else f"P(|output - target| <= {as_text(alpha)})"
    return f"{shown}, on the worst dataset"


def _best_facts(result: Choice) -> list[tuple[str, str]]:
    if not result.best:
        return []
    first = result.best[0]
    facts = [("best", "; ".join(written(option.values) for option in result.best))]
    if first.best is not None:
        facts.append((f"with {result.unknown}", shown_end(first.best.at)))
    assert first.value is not None
    return [*facts, ("its value", shown_best(first.value)), *_cost(first)]


def _cost(option: Option) -> list[tuple[str, str]]:
    return [] if option.exp_epsilon is None else [("its tight e^ε", shown_number(option.exp_epsilon))]


def written(chosen: Chosen) -> str:
    """Write a choice as on the command line."""
    return " ".join(f"{name}={_word(value)}" for name, value in chosen)


def _word(value: Any) -> str:
    return brief(value, 40, quoted=False)


def _alone(result: Choice) -> tuple[list[str], list[tuple[str, ...]]]:
    header = ["holds"] * bool(result.claims) + ["tight e^ε"]
    header += [MEASURES[result.measure], "frontier"] if result.measure is not None else []
    rows = []
    for option in result.options:
        row = [_word(value) for _, value in option.values]
        row += [{True: "yes", False: "no", None: "not known"}[option.holds]] * bool(result.claims)  # type: ignore[index]
        row.append("not known" if option.exp_epsilon is None else shown_number(option.exp_epsilon))
        if option.value is not None:
            row += [shown_best(option.value), {True: "yes", False: "", None: "not known"}[option.frontier]]
        rows.append(tuple(row))
    return header, rows


def _with_unknown(result: Choice) -> tuple[list[str], list[tuple[str, ...]]]:
    name = result.unknown
    measured = result.measure is not None
    rows = []
    for option in result.options:
        values = [_word(value) for _, value in option.values]
        best = ["", ""]
        if option.best is not None and option.value is not None:
            best = [shown_end(option.best.at), shown_best(option.value)]
        assert isinstance(option.holds, tuple)
        for span in option.holds:
            rows.append((*values, *shown_ends(span), *best[: 2 * measured]))
            values, best = [""] * len(values), ["", ""]
        if not option.holds:
            rows.append((*values, "never", "", *best[: 2 * measured]))
    header = [f"{name} from", "to"]
    return header + ([f"best {name}", MEASURES[result.measure or ""]] if measured else []), rows


def _remarks(result: Choice) -> list[str]:
    said = [*unresolved_remark(result, "what is listed is known")]
    if result.measure is not None and result.claims and not result.best:
        unclear = any(option.holds is None for option in result.options)
        said.append("The claims are known to hold for no choice." if unclear else "The claims hold for no choice.")
    if len(result.best) > 1:
        alike = all(not isinstance(option.value, tuple) for option in result.best)
        said.append("Several choices are equally good." if alike else "No digit shown tells the best choices apart.")
    if any(option.best is not None and not option.best.attained for option in result.best):
        said.append(f"That is approached, but no allowed value of {result.unknown} attains it.")
    if any(option.frontier for option in result.options):
        said.append("No other choice is as private and as good as one on the frontier, and better in one of both.")
    return said


@view_of.register
def _best_choices_view(result: BestChoices) -> View:
    alpha = dict(result.at).get("alpha")
    with naming(result.unknown):
        rows = [(*shown_ends(part), written(result.chosen(part)), shown_function(part.value)) for part in result.pieces]
    columns = (f"{result.unknown.name} from", "to", "best", MEASURES[result.measure])
    return View(heading(result), [("measure", _measure(result.measure, alpha))], Grid(columns, tuple(rows)), [])


@picture_of.register
def _choice_plot(result: Choice, ax: Any) -> Any:
    label = MEASURES[result.measure] if result.measure is not None else "choice"
    axes = plot.named_axes(ax, "privacy ε", label, result.subject)
    colour = plot.next_colour(axes)
    points = [(_log(option.exp_epsilon), _float(option.value), option) for option in result.options if _seen(option)]
    axes.plot([x for x, _, _ in points], [y for _, y, _ in points], "o", color=colour, alpha=0.4, label="_")
    front = sorted((x, y, option) for x, y, option in points if option.frontier or option in result.best)
    for x, y, option in front:
        axes.annotate(written(option.values), (x, y), textcoords="offset points", xytext=(6, -10), fontsize=8)
    drawn = [(x, y) for x, y, option in front if option.frontier]
    if drawn:
        axes.plot(
            *zip(*drawn, strict=True), color=colour, marker="o", drawstyle="steps-post", label=str(result.subject)
        )
    return axes


def _seen(option: Option) -> bool:
    """Whether there is a point for an option."""
    return option.value is not None and option.exp_epsilon not in (None, math.inf)


def _log(value: Exact | None) -> float:
    assert value is not None
    return math.log(float(value))


def _float(value: Any) -> float:
    return float(value[0] if isinstance(value, tuple) else value)


@picture_of.register
def _best_choices_plot(result: BestChoices, ax: Any) -> Any:
    axes = plot.named_axes(ax, f"parameter {result.unknown.name}", MEASURES[result.measure], result.subject)
    colours: dict[str, str] = {}
    for part, drawn in drawn_pieces(result):
        name = written(result.chosen(part))
        label = "_" if name in colours else name
        axes.plot(*zip(*drawn, strict=True), color=colours.setdefault(name, f"C{len(colours)}"), label=label)
    return plot.legend_below(axes)
