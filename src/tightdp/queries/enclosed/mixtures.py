"""Two mixtures of products of laws as one chain: the weights of both after each part of the output.

A mixture is the joint law of centres (c_1, ..., c_T); given these the parts of the output are independent, part t with
the law K_t(c_t). The weight of a prefix y_1, ..., y_t is a sum over the centres so far of products of K. Centres after
which the rest has the same law are added up, and proportional sums are merged: what remains are a few functions of the
prefix, each a nonnegative linear function of those before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightdp.exact.field import Number
from tightdp.exact.lazily import lazily
from tightdp.exact.scaled import UNIT, Doubles, as_double, gamma

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazily("numpy")

__all__ = ["Chain", "Kernel", "Mixture", "chain_of"]

Mixture = Mapping[tuple[object, ...], Number]
Kernel = Mapping[object, Mapping[object, Number]]
_Node = frozenset[tuple[tuple[object, ...], Number]]


@dataclass(frozen=True)
class Chain:
    """Step t takes functions f of a prefix to `steps[t][y] @ f` for every value y of the next part.

    It begins with the one function 1; at the end `ours` and `theirs` are the numbers of the two mixtures. Entries have
    a relative error of at most `error`; values of parts of at most the mass `missing` in all are left out.
    """

    steps: tuple[Doubles, ...]
    ours: int
    theirs: int
    error: float
    missing: float

    @property
    def key(self) -> tuple[object, ...]:
        """A key that is equal for chains that differ only in the names of outputs."""
        rows = (sorted(map(bytes, step.reshape(len(step), -1))) for step in self.steps)
        return self.ours, self.theirs, self.missing, *(tuple(row) for row in rows)


def chain_of(ours: Mixture, theirs: Mixture, kernels: Sequence[Kernel], least: float) -> Chain:
    """Return the chain of two mixtures, without values of a part that are rarer than `least` for every centre."""
    sides: list[dict[_Node, tuple[Number, int]]] = [
        {frozenset(law.items()): (Fraction(1), 0)} for law in (ours, theirs)
    ]
    size, missing, error, steps = 1, 0.0, 0.0, []
    for kernel in kernels:
        classes: dict[frozenset[tuple[tuple[int, object], Number]], int] = {}
        sides = [_advanced(side, classes) for side in sides]
        values, lost = _common(kernel, least)
        missing += lost
        step = np.zeros((len(values), len(classes), size))
        for sums, row in classes.items():
            for (before, centre), share in sums:
                law = kernel[centre]
                step[:, row, before] += [as_double(share) * as_double(law.get(y, Fraction(0))) for y in values]
        size = len(classes)
        error += 8 * UNIT + gamma(max(map(len, classes)))
        if step.shape[1:] != (1, 1):  # one function before and after: the part reveals nothing
            steps.append(step)
    ((_, mine),), ((_, other),) = (side.values() for side in sides)
    return Chain(tuple(steps), mine, other, 1.01 * error, missing)


def _advanced(
    side: dict[_Node, tuple[Number, int]], classes: dict[frozenset[tuple[tuple[int, object], Number]], int]
) -> dict[_Node, tuple[Number, int]]:
    """Return, for every law of what follows the next centre, a factor and the number of the function it goes with."""
    sums: dict[_Node, dict[tuple[int, object], Number]] = {}
    for node, (factor, function) in side.items():
        for (centre, rest), mass in _by_centre(node).items():
            into = sums.setdefault(rest, {})
            into[function, centre] = into.get((function, centre), Fraction(0)) + factor * mass
    found = {}
    for rest, shares in sums.items():
        total = sum(shares.values(), start=Fraction(0))
        key = frozenset((at, share / total) for at, share in shares.items())
        found[rest] = total, classes.setdefault(key, len(classes))
    return found


def _by_centre(node: _Node) -> dict[tuple[object, _Node], Number]:
    """Return the probabilities of the next centre, each with the law of what follows it."""
    parts: dict[object, dict[tuple[object, ...], Number]] = {}
    for (centre, *rest), mass in node:
        parts.setdefault(centre, {})[tuple(rest)] = mass
    found: dict[tuple[object, _Node], Number] = {}
    for centre, law in parts.items():
        total = sum(law.values(), start=Fraction(0))
        found[centre, frozenset((rest, mass / total) for rest, mass in law.items())] = total
    return found


def _common(kernel: Kernel, least: float) -> tuple[list[object], float]:
    """Return the values of a part that are not too rare, and a bound on the mass of the others for any centre."""
    most: dict[object, float] = {}
    for law in kernel.values():
        for value, mass in law.items():
            most[value] = max(most.get(value, 0.0), as_double(mass))
    kept = [value for value, mass in most.items() if mass >= least]
    return kept, 1.01 * sum(mass for mass in most.values() if mass < least)
