"""What tells neighbours apart for every n, other than ε: answers between two ends, of which both are proved.

The upper end is the answer of randomized response with the e^ε that is proved for every n: no two laws within that
ratio of each other are easier to tell apart (Kairouz, Oh and Viswanath 2015), whatever is asked about them. The lower
end is that of one n. Where one record shows what is asked for every n, its answer is the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from tightdp.errors import LanguageError, LimitError, QueryError, TightdpError
from tightdp.every_n.one_record import is_told_apart_at_most_by_one
from tightdp.every_n.upper import readings
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact, as_text
from tightdp.language.domains import Bit
from tightdp.language.neighbours import relation_of
from tightdp.language.primitives import flip
from tightdp.language.program import Program
from tightdp.limits import snapshot
from tightdp.results.answers import Claim
from tightdp.results.privacy import Curve, EveryN, EveryNVerification, Privacy, Tradeoff
from tightdp.results.recorded import ForEveryN
from tightdp.results.result import Enclosed, Result
from tightdp.session.base import InstanceBase
from tightdp.session.enclosing import SIZES, WORK_FOR_FEW, Spent, contradiction, enclose, engine_of, is_above, proved
from tightdp.session.engine import Engine
from tightdp.session.search import tight_privacy
from tightdp.session.strategies import told

Ask = Callable[[Engine], Any]
_WORK = WORK_FOR_FEW // 4
"""How much work lower ends are looked for: steps on laws of all neighbours take longer than those on ratios."""


def told_apart(instance: InstanceBase, ask: Ask) -> Any:
    """Return the answer for every n to how well neighbours are told apart.

    Raises LanguageError where nothing can be proved of the program, QueryError where the answer is no number or line.
    """
    if _by_one_record(instance):
        one = ask(Engine(instance.bound, **{**instance.limits, "method": None}))
        return _for_every_n(instance, one, ForEveryN(1, True if one.status == "exact" else None, "one record"))
    upper = proved(instance)
    most = ask(responses(instance, upper.value))
    if not isinstance(most, (Enclosed, Curve, Tradeoff)):
        hint = "ask for one n, or for δ, the curve or a Rényi divergence of one run"
        raise QueryError("for every n no pair of laws is known to be the worst of this program", hint)
    best, n = _lower(instance, ask, most)
    if _size(best) > (most.upper if isinstance(most, Enclosed) else _size(most)):
        raise contradiction(n)
    found = _between(best, most)
    return _for_every_n(instance, found, ForEveryN(n, found.status == "exact" or None, "randomized response"))


def verify(
    instance: InstanceBase, exp_epsilon: Number | None, epsilon: Fraction | None, delta: Number = Fraction(0)
) -> EveryNVerification:
    """Return the verdict on the claim that (ε, δ)-DP holds for every n; either e^ε or ε is given."""
    name, claimed = ("epsilon", epsilon) if exp_epsilon is None else ("exp_epsilon", exp_epsilon)
    assert claimed is not None
    above = partial(is_above, exp_epsilon=exp_epsilon, epsilon=epsilon)

    def verdict(found: EveryN) -> EveryNVerification:
        holds = None if above(found.upper) else True
        if above(found.lower) or (found.attained is False and above(found.upper)):
            holds = False
        tight = found.upper if found.status == "exact" and exp_epsilon is not None else None
        ends = f"{as_text(found.lower)} and {as_text(found.upper)}"
        between = ends if len(ends) <= 80 else "these"
        undecided = found.reason or f"the least e^ε for every n is between {between}"
        at = f" at delta = {as_text(delta)}" if delta else ""
        return EveryNVerification(
            subject=instance.subject,
            status="unresolved" if holds is None else "exact",
            claims=(Claim(name + at, claimed, tight, holds, told(instance.bound, found.witness)),),
            found=found,
            reason=undecided if holds is None else "",
            hint=found.hint if holds is None else "",
        )

    if delta:
        return verdict(told_apart(instance, lambda engine: tight_privacy(engine, delta)))
    return verdict(enclose(instance, above, lambda found: snapshot(verdict(found))))


def _by_one_record(instance: InstanceBase) -> bool:
    with suppress(TightdpError):
        return is_told_apart_at_most_by_one(instance.bound, readings(instance.bound, by_position=False))
    return False


def _lower(instance: InstanceBase, ask: Ask, most: Result) -> tuple[Any, int]:
    """Return the answer at the n that has the largest one, of the first few that are not too much work."""
    best, n = ask(engine_of(instance, 1, None)), 1
    spent = Spent(_WORK)
    for size in SIZES:
        if spent.too_little_for(size) or _size(best) >= _size(most):
            break
        with suppress(LanguageError, LimitError, QueryError), spent.on(size) as allowance:
            found = ask(engine_of(instance, size, allowance))
            if _size(found) > _size(best):
                best, n = found, size
            continue
        break
    return best, n


def _response(x: Any, ours: Any, theirs: Any) -> Any:
    """One bit, which is true with one of two probabilities."""
    return flip(theirs if x[0] else ours)


def _one_way(x: Any) -> Any:
    return () if x[0] else ((1,),)


def responses(instance: InstanceBase, ratio: Exact) -> Engine:
    """Return what answers for two laws that are as easy to tell apart as any within that ratio of each other.

    Where only one of two neighbours is a neighbour of the other, the ratio is bounded one way.
    """
    moves = relation_of(instance.bound).moves() or ()
    both_ways = {(new, old) for old, new in moves} <= set(moves)
    share = Fraction(0) if ratio == math.inf else 1 / (ratio + both_ways)
    parts: dict[str, Any] = {"ours": 1 - share if both_ways else Fraction(1), "theirs": share}
    bound = Program(_response, Bit, neighbours="replace-one" if both_ways else _one_way).bind(1, **parts)
    return Engine(bound, **{**instance.limits, "method": None})


def _size(found: Any) -> Any:
    """Return a number that is larger where neighbours are told apart better: the lower end of one, or δ at ε = 0."""
    if isinstance(found, Curve):
        return _size(found.delta(exp_epsilon=1))
    if isinstance(found, Tradeoff):
        return max(1 - a - b for a, b in found.upper or found.vertices)
    return found.upper if found.status == "exact" else found.lower


def _between(best: Any, most: Any) -> Any:
    """Return an answer between that at one n, and one that is proved; exact where they meet."""
    ends: dict[str, Any]
    if isinstance(best, Curve):
        met = best.status == "exact" and best.points == most.points
        ends = {} if met else {"lower": best.lower or best.points, "points": most.points}
    elif isinstance(best, Tradeoff):
        met = best.status == "exact" and best.vertices == most.vertices
        ends = {} if met else {"upper": best.upper or best.vertices, "vertices": most.vertices}
    else:
        met = _size(best) == most.upper
        ends = {"lower": _size(best), best.number: most.upper}
    return replace(best, **ends, status="exact" if met else "bounded", reason="", hint="")


def _for_every_n(instance: InstanceBase, found: Any, proof: ForEveryN) -> Any:
    if isinstance(found, Privacy):
        lower = _size(found)
        about = {"delta": found.delta, "witness": found.witness, "stats": found.stats, **vars(proof)}
        return EveryN(subject=instance.subject, status=found.status, lower=lower, upper=found.upper, **about)
    return replace(found, subject=instance.subject, for_every_n=proof)
