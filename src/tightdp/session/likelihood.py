"""The question `likelihood`: the likelihood ratios of one pair of datasets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tightdp.language.neighbours import relation_of
from tightdp.queries.likelihood import likelihood_table
from tightdp.results.likelihood import Likelihood

if TYPE_CHECKING:
    from tightdp.session.instance import Instance

__all__ = ["likelihood"]


def likelihood(instance: Instance, x: Sequence[Any], x_prime: Sequence[Any]) -> Likelihood:
    """Return the likelihood ratios of all outputs on x and x'."""
    first, second = instance.distribution(x), instance.distribution(x_prime)
    return Likelihood(
        subject=first.subject,
        stats=first.stats + second.stats,
        x=first.x,
        x_prime=second.x,
        rows=likelihood_table(first.law, second.law),
        are_neighbours=relation_of(instance.bound).relates(first.x, second.x),
    )
