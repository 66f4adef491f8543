"""A claim about ε for every n, with an unknown: proved by an upper end as a function of it, or refuted at one n."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from tightdp.every_n.alignment import align
from tightdp.every_n.upper import readings
from tightdp.exact.cells import Cell
from tightdp.exact.numbers import Exact
from tightdp.results.answers import Verification
from tightdp.results.result import Stats
from tightdp.session import solving
from tightdp.session.arguments import Claims
from tightdp.session.base import InstanceBase
from tightdp.session.cellwise import Cellwise, Stretch

_SIZES = (1, 2, 3, 4)
"""At which n a claim that is not proved is asked for."""


class _Upper:
    """The question for an upper end of e^ε for every n."""

    continuous = False

    def collect(self, instance: InstanceBase) -> tuple[Callable[[Cell], Sequence[Stretch]], Stats]:
        """Return it as a function of the unknown."""
        value = _upper(instance)
        return lambda cell: [Stretch(cell.low, cell.high, value, None)], Stats()

    def at(self, instance: InstanceBase) -> tuple[Any, Any]:
        """Return it at one value of the unknown."""
        return _upper(instance), None


def _upper(instance: InstanceBase) -> Exact:
    best: Exact = math.inf
    for paths in readings(instance.bound):
        alignment = align(paths)
        if alignment is not None:
            best = min(best, max(alignment.ratio(), Fraction(1)))
    return best


def verify(
    ours: Cellwise, claims: Claims, formula: solving.Formula | None, at: Callable[[int], Verification]
) -> Verification:
    """Return the verdict for every n and all values of the unknown; `at` gives that at one n, for all values."""
    held = solving.proved(ours, claims, formula, _Upper())
    if held.holds:
        return Verification(subject=ours.instance.subject, claims=(held,), stats=ours.stats)
    for n in _SIZES:
        found = at(n)
        if found.holds is False:
            return found
    return Verification(
        subject=ours.instance.subject,
        status="unresolved",
        claims=(held,),
        stats=ours.stats,
        reason=f"no proof for every n gives so small an e^ε, and the claim does not fail up to n = {_SIZES[-1]}",
        hint=f"give {ours.name} a value",
    )
