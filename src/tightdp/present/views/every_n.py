"""How answers for every n are shown."""

from __future__ import annotations

import math

from tightdp.present.show import view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.answers import shown_claimed
from tightdp.present.views.privacy import shown_log
from tightdp.present.views.result import heading, witness_sentence
from tightdp.present.words import in_full, shown_number
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


@view_of.register
def _every_n_view(result: EveryN) -> View:
    if result.status == "exact":
        reached = f"attained at n = {result.n}" if result.attained else "approached as n grows"
        facts = [("tight e^ε", shown_number(result.upper)), ("tight ε", shown_log(result.upper)), ("it is", reached)]
        facts += _ends(result)[2:]
    else:
        facts = _ends(result)
    return View(heading(result), facts, None, (*_said(result), *in_full(result.lower, result.upper)))


@view_of.register
def _verification_view(result: EveryNVerification) -> View:
    found = result.found
    rows = tuple((claim.claim, shown_claimed(claim), claim.verdict) for claim in result.claims)
    return View(heading(result), _ends(found), Grid(("claim for every n", "claimed", "verdict"), rows), _said(found))


def _ends(result: EveryN) -> list[tuple[str, str]]:
    return [
        ("e^ε at least", f"{shown_number(result.lower)} (at n = {result.n})"),
        ("e^ε at most", shown_number(result.upper)),
        ("upper end by", f"{result.proof}: {_PROOFS[result.proof]}"),
    ]


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
