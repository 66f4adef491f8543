"""What an optimum is about: the datasets of a mechanism up to order, who neighbours whom, and the gain of every output.

Records of clients whose order makes no difference to the target may be put in any order: the average of a kernel over
orders is as private, and gains as much on the worst dataset. So one dataset stands for all orders.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from tightdp.core.lowering import lower_target
from tightdp.core.operators import is_number
from tightdp.errors import LanguageError, QueryError
from tightdp.language.interp import target_output
from tightdp.language.neighbours import relation_of
from tightdp.language.outputs import Output
from tightdp.language.program import Bound, Dataset
from tightdp.language.tails import Tail
from tightdp.limits.calibrated import DESIGN_TRIPLES, TABLE_ENTRIES
from tightdp.logic.encode import prober
from tightdp.symmetry.orbits import Orbits
from tightdp.symmetry.sets import every_dataset
from tightdp.symmetry.symmetries import classes_of_clients, exchangeable_clients, kinds_of

Watch: TypeAlias = "Callable[[], None]"
"""Raises LimitError where a limit is met."""


@dataclass(frozen=True)
class Setting:
    """Datasets, one for all orders that make no difference, their targets, and the pairs (x, x') of neighbours.

    `groups` are the clients whose order makes no difference, each in one.
    """

    datasets: tuple[Dataset, ...]
    targets: tuple[Output, ...]
    pairs: tuple[tuple[int, int], ...]
    groups: tuple[tuple[int, ...], ...]

    @cached_property
    def line(self) -> tuple[int, ...] | None:
        """The datasets in the order in which each neighbours the next and no other; None where there is none."""
        around: dict[int, set[int]] = {at: set() for at in range(len(self.datasets))}
        for one, other in self.pairs:
            around[one].add(other)
        mutual = all(one in around[other] for one, other in self.pairs)
        ends = [at for at, others in around.items() if len(others) == 1]
        if not mutual or len(ends) != 2 or any(len(others) > 2 for others in around.values()):
            return None
        found = [ends[0]]
        while following := around[found[-1]] - set(found[-2:]):
            found.append(following.pop())
        return tuple(found) if len(found) == len(self.datasets) else None


def setting_of(bound: Bound, control: Watch) -> Setting:
    """Return the setting of a mechanism. Raises QueryError where it is too large."""
    groups = tuple(map(tuple, _groups(bound, control)))
    orbits = Orbits(bound, kinds_of(groups))
    _check_size(orbits.number)
    number = {counts: at for at, counts in enumerate(orbits.every_counts())}
    datasets = tuple(map(orbits.representative, number))
    pairs: dict[tuple[int, int], None] = {}
    for at, x in enumerate(datasets):
        for other in relation_of(bound).neighbours(x):
            control()
            found = number[orbits.counts(other)]
            if found != at:
                pairs[at, found] = None
        _check_size(len(pairs))
    return Setting(datasets, tuple(target_output(bound, x) for x in datasets), tuple(pairs), groups)


def check_size(setting: Setting, outputs: int) -> None:
    """Raise QueryError where an optimum over so many outputs takes too long."""
    _check_size(outputs * max(len(setting.datasets), len(setting.pairs)))


def _check_size(triples: int) -> None:
    if triples > DESIGN_TRIPLES:
        raise QueryError(
            "the datasets, up to order, their neighbours and the outputs are too many for an optimum",
            f"use fewer records, values or outputs: at most {DESIGN_TRIPLES:,} pairs of neighbours times outputs",
        )


def _groups(bound: Bound, control: Watch) -> Sequence[Sequence[int]]:
    """Return classes of clients whose records may be exchanged: that changes neither the target nor who neighbours."""
    alone = [(client,) for client in range(bound.n)]
    if relation_of(bound).custom:
        return alone
    if bound.record.size**bound.n > TABLE_ENTRIES:
        try:
            return exchangeable_clients([lower_target(bound, prober())], bound.n)
        except LanguageError:
            return alone
    targets = {}
    for x in every_dataset(bound):
        control()
        targets[x] = target_output(bound, x)
    return classes_of_clients(bound.n, lambda one, _: all(targets[x] == targets[_swapped(x, one)] for x in targets))


def _swapped(x: Dataset, client: int) -> Dataset:
    """Return the dataset in which a client and the next have each other's records."""
    return (*x[:client], x[client + 1], x[client], *x[client + 2 :])


def whole_outputs(outputs: Iterable[Output], setting: Setting) -> list[Output]:
    """Return outputs without tails of the integers: of these the numbers up to the farthest target, and the next.

    What is farther out is never nearer to a target than that next one, so that no optimum needs it. Raises QueryError
    where they are too many.
    """
    numbers = [target for target in setting.targets if is_number(target)]
    found: dict[Output, None] = {}
    for output in outputs:
        if not isinstance(output, Tail):
            found[output] = None
            continue
        beyond = [output.direction * (target - output.first) / Fraction(output.step) for target in numbers]
        last = max(0, math.ceil(max(beyond, default=0)))
        check_size(setting, last)
        found.update((output.number(place), None) for place in range(last + 1))
    check_size(setting, len(found))
    return list(found)
