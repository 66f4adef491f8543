"""Audit bounds from an observation: how much privacy do r guesses in one run, v of them right, rule out?"""

from __future__ import annotations

from tightdp.query.audit.answer import AuditAnswer
from tightdp.query.audit.ask import METHODS, audit
from tightdp.query.audit.certificate import DualCertificate, WorstMechanism
from tightdp.query.audit.enclosure import Enclosure
from tightdp.query.audit.order_statistics import Counterexample
from tightdp.query.audit.tradeoff import Gaussian, Laplace, Polygon, pairs_of_vertices

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
    "pairs_of_vertices",
]
