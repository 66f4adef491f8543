"""Certificates of audits: a feasible point of the dual program, bounding right guesses for all private mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tightdp.core.sections import written_value
from tightdp.errors import QueryError
from tightdp.session.certify import FORMAT, WORK, Certificate, load_checker

if TYPE_CHECKING:
    from tightdp.results.audit import Audit

__all__ = ["certify_audit"]

_ONE = 1 << 128


def certify_audit(answer: Audit) -> Certificate:
    """Return a certificate of an upper bound on the p-value of an audit by the method "optimal".

    It says that at least `correct` right guesses have at most the probability `bound` against all mechanisms with the
    `guarantee`: the one asked about (`epsilon`, `exp_epsilon`, `tradeoff`), otherwise (ε, δ)-DP for the lower
    end of ε, where the bound is at most the significance. Raises QueryError for other methods, and where nothing was
    guessed right.
    """
    point, checker = answer.answer.certificate, load_checker()
    if point is None:
        raise QueryError(
            f"no rule of evidence fits: this answer of the method {answer.method} has no point of the dual program",
            'use method="optimal" with at least one right guess; for a smooth curve at most 2,000 guesses',
        )
    content: dict[str, Any] = {
        "certificate": FORMAT,
        "claim": {
            "kind": "audit",
            "canaries": point.canaries,
            "guesses": point.guesses,
            "correct": point.correct,
            "options": point.options,
            "guarantee": [[written_value(t), written_value(delta)] for t, delta in point.pairs],
            "bound": written_value(_above(point.bound)),
        },
        "evidence": {
            "rule": "dual",
            "constant": written_value(point.constant),
            "multipliers": [written_value(multiplier) for multiplier in point.multipliers],
        },
    }
    try:
        return Certificate(content, checker.check(content, WORK))
    except checker.Refused as reason:
        raise QueryError(f"no rule of evidence fits: {reason}", "ask for fewer guesses") from None


def _above(bound: Fraction) -> Fraction:
    """Return a number of few digits that is a little larger: the checker rounds what it adds up."""
    return min(Fraction(math.ceil(bound * _ONE) + 1, _ONE), Fraction(1))
