"""Claims about a mechanism, decided exactly: the tight value is compared with what is claimed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact, as_text, compare_log, exponent_of, log, log_down, log_up
from tightdp.exact.weights import as_exact
from tightdp.queries.measures import AccuracyAt
from tightdp.results.answers import Accuracy, Claim, Verification
from tightdp.results.privacy import Privacy
from tightdp.results.result import Result, Status
from tightdp.session.arguments import AccuracyClaim, PrivacyClaim
from tightdp.session.engine import Engine
from tightdp.session.search import answer, tight_privacy
from tightdp.session.strategies import with_strategy


def verify(engine: Engine, privacy: PrivacyClaim | None, accuracy: AccuracyClaim | None) -> Verification:
    """Return the verdicts on the claims that are given."""
    decided = []
    if privacy is not None:
        decided.append(_privacy(engine, privacy))
    if accuracy is not None:
        decided.append(_accuracy(engine, accuracy))
    claims = tuple(claim for claim, _ in decided)
    results = [result for _, result in decided]
    status: Status = "unresolved" if any(claim.holds is None for claim in claims) else "exact"
    stats = results[0].stats
    for result in results[1:]:
        stats += result.stats
    cut = next((result for result in results if result.reason), results[0])
    found = Verification(subject=engine.subject, status=status, claims=claims, stats=stats)
    return replace(found, reason=cut.reason, hint=cut.hint)


def _privacy(engine: Engine, asked: PrivacyClaim) -> tuple[Claim, Result]:
    exp_epsilon, epsilon, delta = asked
    found = with_strategy(engine.bound, tight_privacy(engine, delta))
    at = f" at delta = {as_text(delta)}" if delta else ""
    if exp_epsilon is not None:
        holds = _at_most(found, _compare_plain, exp_epsilon)
        if found.status == "exact":
            return Claim(f"exp_epsilon{at}", exp_epsilon, found.exp_epsilon, holds, found.witness), found
        ends = found.lower, found.upper
        return Claim(f"exp_epsilon{at}", exp_epsilon, None, holds, found.witness, ends=ends), found
    assert epsilon is not None
    holds = _at_most(found, compare_log, epsilon)
    if found.status == "exact":
        rounded, exponent = log(found.exp_epsilon), exponent_of(found.exp_epsilon)
        return Claim(f"epsilon{at}", epsilon, rounded, holds, found.witness, exponent), found
    ends = log_down(found.lower), log_up(found.upper)
    return Claim(f"epsilon{at}", epsilon, None, holds, found.witness, ends=ends), found


def _at_most(found: Privacy, compare: Callable[[Exact, Any], int], claimed: Number) -> bool | None:
    """Say whether the tight value is at most the claimed one; None where that is not known."""
    if compare(found.lower, claimed) > 0:
        return False
    return True if compare(found.upper, claimed) <= 0 else None


def _compare_plain(value: Exact, claimed: Number) -> int:
    return (value > claimed) - (value < claimed)


def _accuracy(engine: Engine, asked: AccuracyClaim) -> tuple[Claim, Result]:
    alpha, beta = asked
    found: Accuracy = answer(engine, AccuracyAt(alpha))
    least_beta = 1 - as_exact(found.upper)
    holds = False if least_beta > beta else True if 1 - as_exact(found.lower) <= beta else None
    tight, ends = (least_beta, None) if found.status == "exact" else (None, (least_beta, 1 - as_exact(found.lower)))
    return Claim(f"beta at alpha = {as_text(alpha)}", beta, tight, holds, found.x, ends=ends), found
