"""How answers for every n are shown."""

from __future__ import annotations

import math
from typing import Any

from tightdp.present.registry import answer_of, json_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.answers import shown_claimed
from tightdp.present.views.privacy import shown_log
from tightdp.present.views.result import heading, witness_sentence
from tightdp.present.words import in_full, plain, shown_number
from tightdp.results.every_n import EveryN, EveryNVerification

_PROOFS = {
    "independence": "the largest ratio of one client's part, as the clients are independent",
    "simulation": "a matrix that turns a run on x' into a bound on the run on x",
    "windows": "the largest ratio over windows of records around the one that changes",
    "alignment": "noise is shifted, path by path, so that the run on x' publishes the same",
    "noisy end": "the messages do not tell the state, and the end of the program hides it",
    "pairs": "the pairs of states of knowledge that x and x' lead to are finitely many",
    "growth": "there is none, as messages that repeat multiply the ratio each time",
    "witness": "there is none",
    "none": "none was found",
}


@answer_of.register
def _every_n_answer(result: EveryN) -> dict[str, Any]:
    exact = {"exp_epsilon": plain(result.upper), "epsilon": plain(result.epsilon)} if result.status == "exact" else {}
    answer = {
        **exact,
        "lower": plain(result.lower),
        "upper": plain(result.upper),
        "n": result.n,
        "attained": result.attained,
        "proof": result.proof,
    }
    if result.witness is not None:
        answer["witness"] = json_of(result.witness)
    return answer


@view_of.register
def _every_n_view(result: EveryN) -> View:
    if result.status == "exact":
        facts = [("tight e^ε", shown_number(result.upper)), ("tight ε", shown_log(result.upper))]
        facts.append(("it is", _reached(result)))
    else:
        facts = [("e^ε at least", f"{shown_number(result.lower)} (at n = {result.n})")]
        facts.append(("e^ε at most", shown_number(result.upper)))
    facts.append(("upper end by", f"{result.proof}: {_PROOFS[result.proof]}"))
    return View(heading(result), tuple(facts), None, (*_said(result), *in_full(result.lower, result.upper)))


@answer_of.register
def _verification_answer(result: EveryNVerification) -> dict[str, Any]:
    found = _every_n_answer(result.found)
    ends = {key: found[key] for key in ("lower", "upper", "n", "attained", "proof")}
    return {"holds": result.holds, "claims": [json_of(claim) for claim in result.claims], **ends}


@view_of.register
def _verification_view(result: EveryNVerification) -> View:
    found = result.found
    rows = tuple((claim.claim, shown_claimed(claim), claim.verdict) for claim in result.claims)
    facts = (
        ("e^ε at least", f"{shown_number(found.lower)} (at n = {found.n})"),
        ("e^ε at most", shown_number(found.upper)),
        ("upper end by", f"{found.proof}: {_PROOFS[found.proof]}"),
    )
    return View(heading(result), facts, Grid(("claim for every n", "claimed", "verdict"), rows), _said(found))


def _reached(result: EveryN) -> str:
    return f"attained at n = {result.n}" if result.attained else "approached as n grows"


def _said(result: EveryN) -> tuple[str, ...]:
    if result.witness is None:
        return ()
    said = [witness_sentence(result.witness, f"At n = {result.n} the lower end is reached")]
    if result.attained is False:
        how = "grow without bound" if math.isinf(result.upper) else "come arbitrarily close to the upper end"
        said.insert(0, f"The ratios {how} as n grows; at n = {result.n} e^ε is {shown_number(result.lower)}.")
    if result.status != "exact" and math.isinf(result.upper):
        said.append("No finite upper end was found; that does not prove that there is none.")
    return tuple(said)
