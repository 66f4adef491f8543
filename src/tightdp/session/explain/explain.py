"""The question `explain`: the draws of the worst pair, and for a claim that fails the line that is to blame."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from pathlib import Path

from tightdp.errors import LimitError, ParameterError, TightdpError
from tightdp.exact.field import Number, exp
from tightdp.exact.numbers import Exact
from tightdp.language.program import Bound, Dataset
from tightdp.results.report import DrawLoss, Explanation, Remedy
from tightdp.results.result import PairWitness
from tightdp.session.arguments import read_exponential
from tightdp.session.asked import Asked
from tightdp.session.explain.edits import Edit, edits_of, rebound
from tightdp.session.explain.smaller import Claim, fewest_records, smallest
from tightdp.session.explain.traces import largest_ratio, runs_with_places

__all__ = ["claim_of", "explain"]

_LISTED = 5
_DIGITS = 30
_QUICK = 0.5
"""Seconds up to which an instance is small enough to try changes on it; else the least n that fails is taken."""
_TRIED = 400
"""Changes of the source that are tried."""
_MOST_NODES = 200_000
"""How large the diagram of a changed mechanism may be."""


def claim_of(exp_epsilon: object, epsilon: object, delta: Number) -> Claim | None:
    """Return the claim, None without one."""
    if exp_epsilon is None and epsilon is None:
        if delta:
            raise ParameterError("a claim with delta needs an ε", "give exp_epsilon (1 for ε = 0) or epsilon")
        return None
    t, exponent = read_exponential(exp_epsilon, epsilon, least=1)
    return Claim(exp(exponent) if t is None else t, delta)


def explain(instance: Asked, claim: Claim | None) -> Explanation:
    """Return where the loss comes from, and where the claim fails which line is to blame. See `Instance.explain`."""
    privacy = instance.privacy()
    witness: PairWitness | None = privacy.witness
    holds = None
    if claim is not None:
        holds = not claim.fails(claim.loss(instance))
        if claim.delta and not holds:
            witness = instance.delta(exp_epsilon=claim.t).witness
    reason = ""
    draws: tuple[DrawLoss, ...] = ()
    if witness is not None:
        try:
            draws = _draws(instance.bound, witness.x, witness.x_prime)
        except LimitError as error:
            reason = f"the draws are left out: {error.what}"
    remedies: tuple[Remedy, ...] = ()
    least = None
    if claim is not None and holds is False:
        least = smallest(instance, claim)
        remedies = _remedies(instance, claim)
    return Explanation(
        subject=instance.subject,
        status=privacy.status,
        stats=privacy.stats,
        reason=privacy.reason or reason,
        hint=privacy.hint,
        exp_epsilon=privacy.exp_epsilon,
        witness=witness,
        draws=draws,
        claimed=None if claim is None else claim.t,
        delta=Fraction(0) if claim is None else claim.delta,
        holds=holds,
        line=remedies[0].line if remedies else None,
        remedies=remedies[:_LISTED],
        smallest=least,
        source=tuple(line.rstrip("\r\n") for line in instance.bound.program.source.file_lines),
    )


def _draws(bound: Bound, x: Dataset, x_prime: Dataset) -> tuple[DrawLoss, ...]:
    """Return every place that draws, in the order of the source."""
    ours, theirs = runs_with_places(bound, x), runs_with_places(bound, x_prime)
    places = sorted({place for run in (*ours, *theirs) for place, _, _ in run.draws})
    found = []
    for place in places:
        published = largest_ratio(
            (((run.outcomes(place), run.output), run.probability) for run in ours),
            (((run.outcomes(place), run.output), run.probability) for run in theirs),
        )
        fixed = largest_ratio(
            ((run.output, run.fixed(place)) for run in ours), ((run.output, run.fixed(place)) for run in theirs)
        )
        found.append(DrawLoss(place[0], _text(bound, place), published, fixed))
    return tuple(found)


def _text(bound: Bound, place: tuple[int, int, int]) -> str:
    line = bound.program.source.file_lines[place[0] - 1].encode()
    return line[place[1] : place[2]].decode().strip() or line.decode().strip()


def _remedies(instance: Asked, claim: Claim) -> tuple[Remedy, ...]:
    """Return the best change of each line: those after which the claim holds, then those that help most."""
    stats = instance.privacy().stats
    quick = stats.compile + stats.count + stats.search < _QUICK
    small = instance if quick else fewest_records(instance, claim)
    bound = small.bound
    found: dict[int, Remedy] = {}
    with tempfile.TemporaryDirectory() as directory:
        for place, edit in enumerate(islice(_edits(bound, claim), _TRIED)):
            path = Path(directory) / f"changed_{place}.py"
            path.write_text(edit.text, encoding="utf-8")
            remedy = _tried(instance, small, claim, edit, path)
            if remedy is not None and (edit.line not in found or _rank(remedy) < _rank(found[edit.line])):
                found[edit.line] = remedy
    before = claim.loss(small)
    useful = [remedy for remedy in found.values() if remedy.holds or remedy.loss < before]
    return tuple(sorted(useful, key=_rank))


def _edits(bound: Bound, claim: Claim) -> Iterator[Edit]:
    t = claim.t if isinstance(claim.t, Fraction) else claim.t.enclosure(_DIGITS).lower
    short = t.limit_denominator(1000)
    strength = short if short <= t else max(Fraction(1), short - Fraction(1, 500))
    yield from edits_of(bound, strength)


def _rank(remedy: Remedy) -> tuple[bool, Exact, bool, bool, bool, Fraction, int]:
    """Claims that hold first; then changes that use a parameter which was not used, then those that meet the claim
    exactly, of them first changes of what is there, then what moves the outputs least, where added noise, a larger
    change of the text, counts twice.
    """
    weighed = 2 * remedy.moved if remedy.adds_noise else remedy.moved
    loss = 0 if remedy.holds else remedy.loss
    added = remedy.exact and remedy.adds_noise
    return not remedy.holds, loss, not remedy.restores, not remedy.exact, added, weighed, remedy.line


def _tried(instance: Asked, small: Asked, claim: Claim, edit: Edit, path: Path) -> Remedy | None:
    """Return what a change does at the small instance, and whether the claim then holds at the whole one too."""
    changed = rebound(small.bound, path)
    if changed is None:
        return None
    try:
        loss = claim.loss(small.on(changed, max_nodes=_MOST_NODES))
        holds = not claim.fails(loss)
        if holds and instance.n != small.n:
            whole = rebound(instance.bound, path)
            holds = whole is not None and not claim.fails(claim.loss(small.on(whole, max_nodes=_MOST_NODES)))
        moved = _moved(small, small.on(changed), claim)
    except (TightdpError, RecursionError):
        return None
    exact = loss == (claim.delta or claim.t)
    return Remedy(edit.line, edit.before, edit.after, loss, holds, moved, edit.adds_noise, edit.restores, exact)


def _moved(before: Asked, after: Asked, claim: Claim) -> Fraction:
    """Return the larger total variation distance between the laws before and after, on the worst pair before."""
    found = before.delta(exp_epsilon=claim.t).witness if claim.delta else before.privacy().witness
    if found is None:
        return Fraction(0)
    return max(_distance(before, after, x) for x in (found.x, found.x_prime))


def _distance(before: Asked, after: Asked, x: Dataset) -> Fraction:
    first, second = dict(before.distribution(x).law), dict(after.distribution(x).law)
    none = Fraction(0)
    return sum((abs(first.get(y, none) - second.get(y, none)) for y in {**first, **second}), none) / 2
