"""The question `report`: all questions about an instance, each within the limits of the instance."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tightdp.errors import TightdpError
from tightdp.exact.field import Number
from tightdp.limits import Allowance
from tightdp.results.answers import Likelihood
from tightdp.results.report import Report
from tightdp.results.result import TripleWitness
from tightdp.session.asked import Asked
from tightdp.session.draws import marked_sources

__all__ = ["report"]

R = TypeVar("R")
_STEPS = 40_000
"""How much work goes into the table of efficacies, whose cost grows fast, if the instance has no limit of its own."""


def report(instance: Asked, alpha: Number) -> Report:
    """Return the report on an instance; accuracy is measured at α = `alpha` where the mechanism has a target."""
    left_out: list[tuple[str, str]] = []

    def asked(name: str, query: Callable[[], R]) -> R | None:
        try:
            return query()
        except TightdpError as error:
            left_out.append((name, error.what))
            return None

    privacy = instance.privacy()
    limited = instance if instance.timeout is not None else _limited(instance)
    bound = instance.bound
    if bound.program.target is None:
        left_out.append(("accuracy", "the mechanism names no target"))
    return Report(
        subject=instance.subject,
        status=privacy.status,
        stats=privacy.stats,
        reason=privacy.reason,
        hint=privacy.hint,
        documentation=bound.program.documentation,
        sources=marked_sources(bound.program),
        privacy=privacy,
        likelihood=asked("the outputs of the worst pair", lambda: _likelihood(instance, privacy.witness)),
        curve=asked("the privacy curve", instance.curve),
        tradeoff=asked("the trade-off function", instance.tradeoff),
        accuracy=None if bound.program.target is None else asked("accuracy", lambda: instance.accuracy(alpha, top=12)),
        efficacy=asked("efficacy", limited.efficacy),
        structure=asked("the diagram", instance.show),
        left_out=tuple(left_out),
    )


def _limited(instance: Asked) -> Asked:
    found = instance.on(instance.bound, **{name: instance.limits[name] for name in ("backend", "max_nodes")})
    found.engine.allowance = Allowance(_STEPS)
    return found


def _likelihood(instance: Asked, witness: object) -> Likelihood | None:
    return instance.likelihood(witness.x, witness.x_prime) if isinstance(witness, TripleWitness) else None
