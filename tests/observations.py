"""Observations as tests ask about them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tightdp import auditing
from tightdp.auditing import AuditAnswer, checked


def audit(told: Any = None, **asked: Any) -> AuditAnswer:
    """Return the answer about an observation, with the arguments of `tightdp.audit`."""
    return auditing.audit(checked(**asked), told)


def outcome_probability(mechanism: auditing.WorstMechanism, right: int) -> Fraction:
    """Return the probability of one outcome, a set of answered secrets and a guess for each, `right` of them right."""
    count = math.comb(mechanism.guesses, right) * (mechanism.options - 1) ** (mechanism.guesses - right)
    return Fraction(
        mechanism.weights[right], mechanism.total * math.comb(mechanism.canaries, mechanism.guesses) * count
    )
