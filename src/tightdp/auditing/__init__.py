"""Audit bounds from an observation: how much privacy do r guesses in one run, v of them right, rule out?

In: numbers of canaries, guesses and right guesses, a guarantee or a significance level. Out: lower bounds on ε,
p-values, and the mechanisms that attain them. May import `exact` and the errors, nothing about programs.
"""

from __future__ import annotations

from tightdp.auditing.ask import audit
from tightdp.auditing.certificate import Counterexample, DualCertificate, WorstMechanism
from tightdp.auditing.curves import Gaussian, Laplace
from tightdp.auditing.expected import expected_correct
from tightdp.auditing.question import METHODS, AuditAnswer, checked
from tightdp.auditing.tradeoff import Polygon, pairs_of_vertices
from tightdp.exact.enclosure import Enclosure

__all__ = [
    "METHODS",
    "AuditAnswer",
    "Counterexample",
    "DualCertificate",
    "Enclosure",
    "Gaussian",
    "Laplace",
    "Polygon",
    "WorstMechanism",
    "audit",
    "checked",
    "expected_correct",
    "pairs_of_vertices",
]
