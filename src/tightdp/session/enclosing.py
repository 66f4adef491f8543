"""The tight ε for every n between two ends: what some n has, and what a proof gives for all."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction

from tightdp.errors import LanguageError, LimitError, QueryError
from tightdp.every_n.alike import errs_alike
from tightdp.every_n.forms import Untraceable
from tightdp.every_n.states import explore
from tightdp.every_n.upper import least_upper, near, readings
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact, as_text, compare_log
from tightdp.results.answers import Claim
from tightdp.results.every_n import EveryN, EveryNVerification
from tightdp.results.privacy import Privacy
from tightdp.session.base import InstanceBase
from tightdp.session.engine import Engine
from tightdp.session.search import tight_privacy

__all__ = ["enclose", "verify"]

_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
_FIRST = 3
"""How many of these are asked before an upper end is looked for."""
_SECONDS = 4.0
"""How long lower ends are looked for."""


def enclose(instance: InstanceBase, enough: Callable[[Exact], bool] | None = None) -> EveryN:
    """Return the ends of e^ε for every n; the upper end is proved, the lower one has a witness.

    n is raised until the lower end is `enough`, where that is given; where the ratios have no end, at least.
    """
    programs = readings(instance.bound)
    best = _tight(instance, 1, None)
    assert best is not None
    at, upper, start = 1, None, time.monotonic()
    for place, n in enumerate(_SIZES[1:], start=1):
        if math.isinf(best.lower):
            break
        if place >= _FIRST and upper is None:
            upper, start = least_upper(programs, best.lower), time.monotonic()
        left = _SECONDS - (time.monotonic() - start)
        if left <= 0 or (upper is not None and near(best.lower, upper.value)):
            break
        if upper is not None and (enough(best.lower) if enough else upper.proof == "growth"):
            break
        found = _tight(instance, n, left)
        if found is not None and found.lower > best.lower:
            best, at = found, n
    if upper is None and not math.isinf(best.lower):
        upper = least_upper(programs, best.lower)
    value, proof = (math.inf, "witness") if upper is None else (upper.value, upper.proof)
    attained = True if value == best.lower else False if proof == "growth" else None
    return EveryN(
        subject=instance.subject,
        status="bounded" if attained is None else "exact",
        lower=best.lower,
        upper=value,
        n=at,
        attained=attained,
        proof=proof,
        witness=best.witness,
    )


def refuse_uneven(instance: InstanceBase) -> None:
    """Raise QueryError where the error of a program is not known to have one law for every n."""
    hint = "ask for one n: only the error of a sum of the records plus noise is known not to depend on n"
    if instance.bound.program.target is not sum:
        raise QueryError("accuracy for every n is known for the target `sum` only", hint)
    try:
        alike = errs_alike(explore(instance.bound, sums=True))
    except (LanguageError, Untraceable):
        alike = False
    if not alike:
        raise QueryError("accuracy has no answer for every n, as the error may depend on the records", hint)


def verify(instance: InstanceBase, exp_epsilon: Number | None, epsilon: Fraction | None) -> EveryNVerification:
    """Return the verdict on the claim that ε-DP holds for every n; either e^ε or ε is given."""
    name, claimed = ("epsilon", epsilon) if exp_epsilon is None else ("exp_epsilon", exp_epsilon)
    assert claimed is not None

    def above(value: Exact) -> bool:
        if exp_epsilon is not None:
            return value > exp_epsilon
        assert epsilon is not None
        return compare_log(value, epsilon) > 0

    found = enclose(instance, above)
    holds = False if above(found.lower) or found.proof == "growth" else None if above(found.upper) else True
    tight = found.upper if found.status == "exact" and exp_epsilon is not None else None
    ends = f"{as_text(found.lower)} and {as_text(found.upper)}"
    between = ends if len(ends) <= 80 else "these"
    return EveryNVerification(
        subject=instance.subject,
        status="unresolved" if holds is None else "exact",
        claims=(Claim(name, claimed, tight, holds, found.witness),),
        found=found,
        reason=f"the least e^ε for every n is between {between}" if holds is None else "",
    )


def _tight(instance: InstanceBase, n: int, seconds: float | None) -> Privacy | None:
    """Return the tight ε at one n, or what is known of it in that time; None where nothing is."""
    bound = instance.bound
    one = bound.program.bind(n, neighbours=bound.neighbours, **bound.parameters)
    limits = instance.backend, seconds or instance.timeout, instance.max_nodes, instance.max_memory, instance.method
    try:
        return tight_privacy(Engine(one, *limits), 1)
    except LimitError:
        if n == 1:
            raise
        return None
