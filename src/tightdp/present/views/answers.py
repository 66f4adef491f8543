"""How accuracy, output laws, verdicts and samples are shown."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any

from tightdp.exact.numbers import Exact, decimal_text
from tightdp.language.tails import Tail
from tightdp.present import plot
from tightdp.present.registry import answer_of, answer_record, json_of, picture_of, record_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.result import enclosure, heading, unresolved_remark, witness_sentence
from tightdp.present.words import RELATIVE, brief, in_full, plain, shown, shown_ends, shown_number
from tightdp.results.answers import Accuracy, Claim, Distribution, Sample, Unknown, Verification
from tightdp.results.result import PairWitness

_MOST_ROWS = 40


@answer_of.register
def _accuracy_answer(result: Accuracy) -> dict[str, Any]:
    answer: dict[str, Any] = {"alpha": plain(result.alpha)}
    if result.one_minus_beta is not None:
        answer["one_minus_beta"] = plain(result.one_minus_beta)
    answer["beta"] = plain(result.beta)
    answer |= {"relative": True} if result.relative else {}
    answer |= enclosure(result.status, result.lower, result.upper)
    if result.x is not None:
        answer["witness"] = {"x": plain(result.x)}
    if result.top:
        answer["top"] = [
            {"x": plain(row.x), "one_minus_beta": plain(row.one_minus_beta), "inputs": row.inputs} for row in result.top
        ]
    return answer


@view_of.register
def _accuracy_view(result: Accuracy) -> View:
    grid = None
    facts = [RELATIVE] if result.relative else []
    if result.one_minus_beta is None:
        facts += [("β", shown_number(result.beta)), *_facts(result, "least α", result.alpha)]
    else:
        facts += [("α", shown_number(result.alpha)), *_facts(result, "tight 1 - β", result.one_minus_beta)]
        facts += [("tight β", shown_number(result.beta))] if result.status == "exact" else []
    if result.top:
        rows = tuple((shown_number(row.one_minus_beta), brief(row.x, 60), f"{row.inputs:,}") for row in result.top)
        grid = Grid(("1 - β", "dataset, for example", "datasets alike"), rows)
    sentences = [*unresolved_remark(result, "not all datasets were looked at")]
    if result.x is not None:
        so_far = "" if result.status == "exact" else " so far"
        sentences.append(f"The worst dataset{so_far} is x = {brief(result.x)}.")
    if result.one_minus_beta is not None:
        sentences += in_full(result.one_minus_beta)
    return View(heading(result), tuple(facts), grid, tuple(sentences))


def _facts(result: Accuracy, label: str, value: Exact) -> list[tuple[str, str]]:
    if result.status == "exact":
        return [(label, shown_number(value))]
    name = label.split(" ", 1)[1]
    low, high = shown_ends(result.lower, result.upper)
    return [(f"{name} at least", low), (f"{name} at most", high)]


@answer_of.register
def _distribution_answer(result: Distribution) -> dict[str, Any]:
    shared = {id(mass): mass for _, mass in result.law}  # long laws share few numbers
    masses = {key: plain(mass) for key, mass in shared.items()}
    answer: dict[str, Any] = {"law": [[plain(output), masses[id(mass)]] for output, mass in result.law]}
    tails = [
        {
            "from": plain(output.first),
            "direction": output.direction,
            **({} if output.step == 1 else {"step": plain(output.step)}),
            "first": plain(mass * (1 - output.ratio)),
            "ratio": plain(output.ratio),
        }
        for output, mass in result.law
        if isinstance(output, Tail)
    ]
    if result.upper:
        answer["upper"] = plain(result.upper)
    return {**answer, "tails": tails} if tails else answer


@view_of.register
def _distribution_view(result: Distribution) -> View:
    shown_law = result.law[:_MOST_ROWS]
    names: tuple[str, ...] = ("output", "probability")
    rows: tuple[tuple[str, ...], ...] = tuple((brief(output, 60), shown_number(mass)) for output, mass in shown_law)
    if result.upper:
        names = (*names[:1], "probability at least", "at most")
        both = zip(shown_law, result.upper, strict=False)
        rows = tuple((brief(output, 60), *shown_ends(low, high)) for (output, low), (_, high) in both)
    grid = Grid(names, rows, len(result.law) - len(rows))
    return View(heading(result), (("x", brief(result.x)),), grid)


@picture_of.register
def _distribution_plot(result: Distribution, ax: Any) -> Any:
    """Draw the law as bars."""
    outputs, masses = [brief(output, 24) for output, _ in result.law], [mass for _, mass in result.law]
    return plot.bars(ax, outputs, masses, "probability", f"{result.subject} on {brief(result.x, 40)}")


@record_of.register
def _claim_record(result: Claim) -> dict[str, Any]:
    """Return the verdict as JSON has it."""
    answer = {"claim": result.claim, "claimed": plain(result.claimed)}
    if result.tight is not None:
        answer["tight"] = plain(result.tight)
    if result.ends is not None:
        answer["lower"], answer["upper"] = plain(result.ends)
    answer["holds"] = result.holds
    if isinstance(result.witness, PairWitness):
        answer["witness"] = json_of(result.witness)
    elif result.witness is not None:
        answer["witness"] = {"x": plain(result.witness)}
    return answer


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


@answer_of.register
def _verification_answer(result: Verification) -> dict[str, Any]:
    return {"holds": result.holds, "claims": [json_of(claim) for claim in result.claims]}


@view_of.register
def _verification_view(result: Verification) -> View:
    rows = tuple((claim.claim, shown_claimed(claim), _shown_tight(claim), claim.verdict) for claim in result.claims)
    grid = Grid(("claim", "claimed", "tight", "verdict"), rows)
    sentences = tuple(filter(None, map(_sentence, result.claims)))
    undecided = "the claim is not decided" if len(result.claims) == 1 else "not all claims are decided"
    return View(heading(result), (), grid, (*unresolved_remark(result, undecided), *sentences))


@answer_of.register
def _sample_answer(result: Sample) -> dict[str, Any]:
    seed = {} if result.seed is None else {"seed": result.seed}
    return {"x": plain(result.x), **seed, "outputs": plain(result.outputs)}


@view_of.register
def _sample_view(result: Sample) -> View:
    """Return what a person sees: one output a line."""
    return View(
        f"{result.subject} on x = {brief(result.x)}", (), None, tuple(shown(output) for output in result.outputs)
    )


@record_of.register
def _unknown_record(result: Unknown) -> dict[str, Any]:
    """Return the answer as `--json` prints it."""
    return {**answer_record(result), "query": result.name}


@answer_of.register
def _unknown_answer(result: Unknown) -> dict[str, Any]:
    return {}


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
