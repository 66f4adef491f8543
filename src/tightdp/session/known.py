"""What is known where a limit cuts a question short: what a few pairs of neighbours show."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tightdp.errors import LimitError, TightdpError
from tightdp.language.domains import Values
from tightdp.limits import IN_A_CALL, Allowance, snapshot
from tightdp.limits.calibrated import FEW_VALUES
from tightdp.methods import by_pairs
from tightdp.one_run import pairs as audits
from tightdp.results.answers import Accuracy, Claim, Sweep, Unknown, Verification
from tightdp.results.guessing import Efficacy
from tightdp.results.privacy import Curve, Privacy
from tightdp.results.result import Enclosed, PairWitness, Result
from tightdp.session import search

if TYPE_CHECKING:
    from tightdp.session.base import InstanceBase


def partial_answers(
    instance: InstanceBase,
    query: Callable[..., Any],
    arguments: Sequence[Any],
    options: Mapping[str, Any],
    steps: int | None = None,
) -> Result | None:
    """Ask the query about more and more pairs of neighbours; return the last answer, None for none.

    In about so many steps, of lowering and elimination, where these are given.

    In a child process each is sent, for the case that it has to be abandoned.
    """
    best: Result | None = None
    most, kept = 1, by_pairs.Kept()
    allowance = None if steps is None else Allowance(steps // IN_A_CALL)
    while most <= FEW_VALUES:
        few = _about_few(instance, most, kept)
        few.engine.allowance = allowance
        try:
            found = query(few, *arguments, **options)
        except TightdpError:
            break
        if kept.coarse and getattr(found, "witness", None) is not None:  # no output was looked at by itself
            pair = PairWitness(found.witness.x, found.witness.x_prime)
            found = replace(found, witness=pair, top=()) if isinstance(found, Privacy) else replace(found, witness=pair)
        if found.status == "exact":  # an infinite ratio, or a claim that is refuted
            found = replace(found, reason="", hint="")
        if found != best:  # more pairs never say less
            best = found
            snapshot(best)
        if found.status == "exact":
            break
        most *= 2
    return best


def partial_efficacies(instance: InstanceBase, pairs: Any) -> Result | None:
    """Return what a few pairs of neighbours say of e^ε on the datasets of an audit whose clients have the same pair."""
    if pairs == "best":
        return None
    bound = instance.bound
    try:
        vector = audits.default_pairs(bound) if pairs is None else audits.read_pairs(bound, pairs)
    except TightdpError:
        return None
    if len(set(vector)) > 1:
        return None
    restricted = copy(instance)
    restricted.bound = replace(bound, record=Values(*vector[0]), neighbours="replace-one")

    def asked(few: InstanceBase) -> Efficacy:
        lower = search.tight_privacy(few.engine).lower
        return Efficacy(
            subject=instance.subject, status="unresolved", rows=(), pairs=vector, exp_epsilon=math.inf, lower=lower
        )

    return partial_answers(restricted, asked, (), {})


def _about_few(instance: InstanceBase, most: int, kept: by_pairs.Kept) -> InstanceBase:
    """Return the same instance, whose questions are all about so many pairs of neighbours."""
    found = copy(instance)
    found.forget()
    found.timeout = found.max_memory = found.precision = found.progress = None
    found.engine.program = by_pairs.program_of_few(instance.bound, instance.backend, most, kept)
    return found


def stopped_by(found: Result, error: LimitError) -> Result:
    """Return what is known with the limit that cut the question short, unless it decides the question."""
    return found if found.status == "exact" else replace(found, reason=error.what, hint=error.hint)


def with_rows(table: Sweep, *rows: Result, last: Result | None) -> Sweep:
    """Return a table with the rows that were done when it had to be ended, and what is known of the next one."""
    begun = () if last is None or any(row.subject == last.subject for row in rows) else (last,)
    return replace(table, rows=(*rows, *begun))


def joined(found: Result | None, known: Result | None) -> Result | None:
    """Return what a question found before it was cut short, with what a few pairs show where that is more."""
    if found is None or known is None:
        return known if found is None else found
    if isinstance(found, Unknown):
        return known if known.query == found.name else found
    if type(found) is not type(known) or found.status == "exact":
        return found
    if isinstance(found, Verification) and isinstance(known, Verification):
        claims = tuple(map(_better, found.claims, known.claims))
        decided = all(claim.holds is not None for claim in claims)
        return replace(found, claims=claims, status="exact" if decided else found.status)
    known = replace(known, reason=found.reason, hint=found.hint) if known.status != "exact" else known
    if isinstance(found, Accuracy) and isinstance(known, Accuracy):
        more = known.upper < found.upper or known.lower > found.lower
        return known if more else found
    if isinstance(found, Curve) and isinstance(known, Curve):
        return known if known.points[0][1] > found.points[0][1] else found
    if isinstance(found, Efficacy):  # its rows are those of the whole question
        return found
    if isinstance(found, Enclosed) and isinstance(known, Enclosed) and known.lower > found.lower:
        upper: dict[str, Any] = {found.number: found.upper}
        if found.upper == known.lower:
            return replace(known, **upper, status="exact", reason="", hint="")
        return replace(known, **upper, status=found.status if known.status != "exact" else "exact")
    return found


def _better(found: Claim, known: Claim) -> Claim:
    """Return the verdict on a claim that is there, or the one that says more."""
    if found.holds is not None or found.ends is None or known.ends is None:
        return found
    return known if known.holds is not None or known.ends[0] > found.ends[0] else found
