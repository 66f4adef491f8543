"""Which pair of neighbours and which output are shown of those that attain an answer: the first in order.

The order: datasets as the record domain orders them, the first record first; neighbours of a dataset as their relation
lists them; outputs by value (`order_of`). So a witness does not depend on the method that found the answer. Pairs are
gone through in this order, at least one of those that exchanging clients maps to each other, until one attains the
answer. The work is counted: where it takes too much, the witness stays that of the method.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product

from tightdp.errors import LimitError, ProgramError, QueryError
from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.language.neighbours import NeighbouringRelation, relation_of
from tightdp.language.program import Bound, Dataset, as_output, order_of
from tightdp.logic.count import Weights
from tightdp.methods.base import Exact, Pair, Refusal
from tightdp.methods.control import Control
from tightdp.methods.program import Method
from tightdp.methods.ratios import Ratio
from tightdp.symmetry.sets import Table

__all__ = [
    "alike_pairs",
    "first_alike",
    "first_pair",
    "first_ratio",
    "neighbours_in_order",
    "position_of",
]

MOST_WORK = 1 << 17
"""At most this many probabilities, nodes and rows of elimination are visited in search of the first pair."""
MOST_OUTPUTS = 4_096
"""If more outputs attain a ratio, the one with the least code is taken."""

Attains = Callable[[Weights, Weights], bool]


def first_pair(method: Method, control: Control, attains: Attains) -> Pair | None:
    """Return the first pair of neighbours that attains something; None where finding it takes too much work."""
    try:
        pairs = method.in_order(control)
        if isinstance(pairs, Refusal):
            return None
        work = _Work()
        for pair in pairs:
            control()
            if not work.affords(pair):
                return None
            if attains(pair.table.weights(pair.x), pair.table.weights(pair.x_prime)):
                return pair
    except (LimitError, QueryError, ProgramError, RecursionError):
        pass  # the answer is known without it
    return None


def first_alike(method: Method, control: Control, pair: Pair) -> Pair:
    """Return the first pair that has the same probabilities as `pair`, up to the names of outputs.

    Where `pair` has an output of infinite ratio: the first pair with such an output.
    """

    def profile(ours: Weights, theirs: Weights) -> Counter[tuple[Number, Number]]:
        get = theirs.by_code.get
        return Counter(
            (quotient(ours.by_code.get(code, 0), ours.total), quotient(get(code, 0), theirs.total))
            for code in ours.by_code.keys() | theirs.by_code.keys()
        )

    ours, theirs = pair.table.weights(pair.x), pair.table.weights(pair.x_prime)
    if _attaining(ours, theirs, math.inf):
        return first_pair(method, control, lambda ours, theirs: bool(_attaining(ours, theirs, math.inf))) or pair
    wanted = profile(ours, theirs)
    return first_pair(method, control, lambda *laws: profile(*laws) == wanted) or pair


def first_ratio(method: Method, control: Control, ratio: Exact, found: Ratio | None) -> Ratio | None:
    """Return the first triple with the largest likelihood ratio, or `found` where the search would take too long."""
    pair = first_pair(method, control, lambda ours, theirs: bool(_attaining(ours, theirs, ratio)))
    if pair is None:
        return found
    table = pair.table
    codes = _attaining(table.weights(pair.x), table.weights(pair.x_prime), ratio)
    named = [table.named(code, pair.x, pair.x_prime) for code in codes[:MOST_OUTPUTS]]
    output, p, q = min(named, key=lambda one: order_of(one[0]))
    return Ratio(ratio, pair.x, pair.x_prime, as_output(output), p, q, None if found is None else found.triples)


def _attaining(ours: Weights, theirs: Weights, ratio: Exact) -> list[int]:
    """Return the codes of the outputs with this likelihood ratio, in order."""
    get = theirs.by_code.get
    if isinstance(ratio, float):
        return sorted(code for code in ours.by_code if not get(code, 0))
    above, below = ratio.as_integer_ratio()
    left, right = theirs.total * below, ours.total * above
    return sorted(code for code, weight in ours.by_code.items() if weight * left == get(code, 0) * right)


class _Work:
    """Counts what is looked at."""

    def __init__(self) -> None:
        self._left = MOST_WORK
        self._seen: set[tuple[int, Dataset]] = set()

    def affords(self, pair: Pair) -> bool:
        """Whether a pair can be looked at, which is counted."""
        table = pair.table
        for x in (pair.x, pair.x_prime):
            if (id(table), x) not in self._seen:
                self._seen.add((id(table), x))
                if not table.knows(x):
                    self._left -= table.nodes
                if self._left < 0 or not table.reaches(x, self._left):
                    return False
                before = table.work
                self._left -= table.length(x)
                self._left -= table.work - before
        self._left -= table.length(pair.x)
        return self._left >= 0


def alike_pairs(bound: Bound, table: Table, groups: Sequence[Sequence[int]] = ()) -> Iterator[Pair]:
    """Yield pairs of neighbours in order: the first of those that exchanging clients of a group maps to each other.

    Every client is in one group at most.
    """
    for x, other in neighbours_in_order(bound, groups):
        yield Pair(x, other, 0, table)


def neighbours_in_order(bound: Bound, groups: Sequence[Sequence[int]] = ()) -> Iterator[tuple[Dataset, Dataset]]:
    """Yield the neighbours of `alike_pairs` by themselves."""
    before = {client: group[at - 1] for group in groups for at, client in enumerate(group) if at}
    relation = relation_of(bound)
    for x in _datasets(bound, before):
        for other in relation.neighbours(x) if not relation.one_record else _of_one_record(relation, x, before):
            yield x, other


def _datasets(bound: Bound, before: dict[int, int]) -> Iterator[Dataset]:
    """Yield datasets in which no client has an earlier record than the one before it in its group, in order."""
    values, n = bound.record.values, bound.n
    if not before:
        yield from product(values, repeat=n)
        return
    places = [0] * n
    while True:
        yield tuple(values[place] for place in places)
        at = next((at for at in range(n - 1, -1, -1) if places[at] + 1 < len(values)), None)
        if at is None:
            return
        places[at] += 1
        for after in range(at + 1, n):
            places[after] = places[before[after]] if after in before else 0


def _of_one_record(relation: NeighbouringRelation, x: Dataset, before: dict[int, int]) -> Iterator[Dataset]:
    for at, record in enumerate(x):
        if at not in before or x[before[at]] != record:
            for new in relation.steps[record]:
                if new != record:
                    yield (*x[:at], new, *x[at + 1 :])


def position_of(bound: Bound, pair: Pair) -> tuple[tuple[int, ...], int, int]:
    """Return where a pair of neighbours that differ in one record stands in the order."""
    index = {record: at for at, record in enumerate(bound.record.values)}
    at = next(at for at, (old, new) in enumerate(zip(pair.x, pair.x_prime, strict=True)) if old != new)
    return tuple(index[record] for record in pair.x), at, index[pair.x_prime[at]]
