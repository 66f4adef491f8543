"""How an optimum is shown: both values, the best mechanism as a table, and what is known of its form."""

from __future__ import annotations

from typing import Any

from tightdp.exact.numbers import brief, decimal_text, log
from tightdp.present import plot
from tightdp.present.show import view_of
from tightdp.present.text import Grid, View
from tightdp.present.words import between, ends_in_full, heading, in_full, shown_number, unresolved_remark
from tightdp.results.answers import Sweep
from tightdp.results.optimum import Optimum, Table

_MEANING = {
    "absolute error": "expected |output - target|",
    "squared error": "expected (output - target)²",
    "right answer": "P(output = target)",
}
_WIDEST, _LONGEST = 9, 16
"""Tables of more outputs, or datasets, are in the JSON only."""


def _meaning(result: Optimum) -> str:
    return _MEANING.get(result.measure, f"P(|output - target| <= {result.alpha})")


def frontier(result: Sweep, ax: Any) -> Any:
    """Draw the optima of a sweep, a line for each task, and the values of its mechanism, against ε.

    Between two points the line is at the value that the first one proves for every larger ε.
    """
    tasks: dict[Any, list[Optimum]] = {}
    for row in result.rows:
        if isinstance(row, Optimum):
            tasks.setdefault((row.best.datasets, row.best.targets, row.best.outputs), []).append(row)
    rows = [row for task in tasks.values() for row in task]
    axes = plot.named_axes(ax, plot.WORDS["epsilon"], f"{_meaning(rows[0])}, on the worst dataset", result.subject)
    for task in tasks.values():
        colour = plot.next_colour(axes)
        first, *others = (row.parameters for row in task)
        shared = [name for name in result.swept if all(each[name] == first[name] for each in others)]
        named = shared if len(tasks) > 1 else []
        where = "".join(f", {name}={brief(first[name], quoted=False)}" for name in named)
        best = sorted((log(row.exp_epsilon), float(row.optimum)) for row in task)
        own = sorted((log(row.exp_epsilon), float(row.own)) for row in task if row.holds and row.own is not None)
        axes.plot(
            *zip(*best, strict=True), color=colour, marker="o", drawstyle="steps-post", label=f"the best of all{where}"
        )
        if own:
            name = f"{result.subject}{where}"
            axes.plot(*zip(*own, strict=True), "s", color=colour, fillstyle="none", label=name)
    return plot.told_apart(axes)


@view_of.register
def _optimum_view(result: Optimum) -> View:
    meaning = _meaning(result)
    facts = [("measure", f"{meaning}, on the worst dataset"), *_claim(result)]
    if result.status == "exact":
        facts.append(("optimum", shown_number(result.optimum)))
    else:
        facts += between("optimum", result.lower, result.upper)
    if result.own is not None:
        facts.append(("this mechanism", shown_number(result.own)))
    if result.share is not None:
        facts.append(("share of the optimum", shown_number(result.share)))
    return View(heading(result), facts, _table(result), [*_sentences(result)])


def _claim(result: Optimum) -> list[tuple[str, str]]:
    if result.epsilon is not None:
        facts = [("ε", shown_number(result.epsilon))]
    else:
        facts = [("e^ε", shown_number(result.exp_epsilon))]
    return [*facts, ("δ", shown_number(result.delta))] if result.delta else facts


def _table(result: Optimum) -> Grid | None:
    best = result.best
    if len(best.outputs) > _WIDEST or len(best.datasets) > _LONGEST:
        return None
    rows = [
        (brief(x, 30), *(decimal_text(mass, 4) for mass in law))
        for x, law in zip(best.datasets, best.table, strict=True)
    ]
    return Grid((f"{_name(result)} on x", *(brief(output, 12) for output in best.outputs)), tuple(rows))


def _sentences(result: Optimum) -> list[str]:
    said = [*unresolved_remark(result, "both ends are proved")]
    claim = "(ε, δ)-DP" if result.delta else "ε-DP"
    if result.holds is False:
        said.append(f"The mechanism itself is not {claim}, so its value says nothing of a share.")
    elif result.holds is None:
        said.append(f"Whether the mechanism itself is {claim} is not known.")
    if result.post_processing is not None:
        after = "" if _nothing(result.post_processing) else ", followed by a post-processing"
        ratio = shown_number(1 / result.best.lower_exp_epsilon)
        said.append(f"The {_name(result)} is truncated geometric noise with the ratio {ratio}{after}.")
    elif result.staircase is not None:
        widths = " and ".join(map(str, result.staircase))
        said.append(f"The {_name(result)} is staircase noise with steps of {widths}, followed by a post-processing.")
    elif result.line:
        said.append("No post-processing of geometric noise was found that is as good.")
    number = f"{len(result.best.multipliers):,}"
    none = "none is better" if result.status == "exact" else "none is beyond the other end"
    said.append(f"That {none} is proved by {number} multipliers; --json prints them, and the table.")
    if result.status == "exact":
        return [*said, *in_full(result.optimum, *(() if result.share is None else (result.share,)))]
    return [*said, *ends_in_full(result.lower, result.upper)]


def _name(result: Optimum) -> str:
    return "best mechanism" if result.status == "exact" else "mechanism of one end"


def _nothing(table: Table) -> bool:
    """Whether a stochastic matrix is the identity."""
    return all(sum(row[at : at + 1]) == 1 for at, row in enumerate(table))
