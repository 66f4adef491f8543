"""The largest likelihood ratios over pairs of neighbours, and which of those that attain an answer is shown.

Rounded logarithms of probabilities tell which ratios are certainly too small; what is left is compared exactly: the
tight ε (oakley2024, Algorithm 2). Shown is the first in order: datasets as the record domain orders them, the first
record first; neighbours of a dataset as their relation lists them; outputs by value (`order_of`). So a witness does not
depend on the method that found the answer. Pairs are gone through in this order, at least one of those that exchanging
clients maps to each other, until one attains the answer. The work is counted: where it takes too much, the witness
stays that of the method.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from operator import sub
from typing import Any

from flint import arb

from tightdp.errors import LimitError, ProgramError, QueryError
from tightdp.exact.arrays import np
from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole, gcd, quick
from tightdp.language.neighbours import NeighbouringRelation, relation_of
from tightdp.language.outputs import as_output, order_of
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import FEW_VALUES, LITTLE_WORK, TABLE_ENTRIES
from tightdp.logic.count import Weights
from tightdp.methods.base import Control, Exact, Known, Pair, Ratio, Refusal
from tightdp.methods.compiled import TooLarge
from tightdp.methods.program import Method
from tightdp.symmetry.sets import Table

LONGEST = 1 << 20
"""Weights of more bits are not rounded."""
MARGIN = 2.0**-30
"""The rounded base-2 logarithm of a ratio, made of four logarithms below 2^20, errs by less than half of this."""


def tight_ratio(
    pairs: Iterable[Pair],
    top: int = 1,
    knows: Callable[[Known], None] = lambda _: None,
    every: bool = False,
    logarithms: Logarithms | None = None,
) -> tuple[Ratio, ...]:
    """Return the `top` largest distinct likelihood ratios over some pairs of neighbours, largest first.

    `knows` is passed a function that returns the rounded natural logarithm of the last of them so far.

    The first is the tight e^ε. Singleton outputs suffice (oakley2024, Thm 1-3); outputs that both datasets never give
    do not count. The result is empty where the relation has no neighbours. If one ratio is wanted and it is infinite,
    the search ends there, and triples are not counted; with `every`, all pairs are visited, as a dataset without a law
    is an error.
    """
    best, logarithms = _Best(top), logarithms or Logarithms()
    knows(lambda: best.logarithm * math.log(2) if best.logarithm > -math.inf else None)
    for pair in pairs:
        ours, theirs = pair.table.weights(pair.x), pair.table.weights(pair.x_prime)
        logarithms.make_room()
        if logarithms.apply(ours) and logarithms.apply(theirs):
            codes: Iterable[int] = logarithms.large(ours, theirs, best.logarithm - MARGIN)
        else:
            codes = ours.by_code
        _offer(best, pair, ours, theirs, codes)
        if top == 1 and best.infinite and not every:
            return tuple(_ratio(*triple, 0) for triple, _ in best.ranking())
    return tuple(_ratio(pair, code, triples) for (pair, code), triples in best.ranking())


def _ratio(pair: Pair, code: int, triples: int) -> Ratio:
    output, p, q = pair.table.named(code, pair.x, pair.x_prime)
    return Ratio(p / q if q else math.inf, pair.x, pair.x_prime, output, p, q, triples or None)


def _offer(best: _Best, pair: Pair, ours: Weights, theirs: Weights, codes: Iterable[int]) -> None:
    """Compare the probabilities of some outputs."""
    get, common = theirs.by_code.get, gcd(theirs.total, ours.total)
    shown = pair.table.codes
    number = shown.number if shown.several else lambda code: 1
    # P/P' = (a / total) / (b / total'): compare a·total' with b·total.
    left, right = theirs.total // common, ours.total // common
    scale: arb | None = None
    for code in codes:
        weight, other = ours.by_code[code], get(code, 0)
        if not isinstance(weight, int):
            scale = quick(left) / quick(right) if scale is None else scale
            if best.surely_less(weight, other, scale):
                continue
        best.offer(weight * left, other * right, (pair, code), pair.size * number(code))


def rounded(by_code: Mapping[int, Whole], total: Whole, longest: int = LONGEST) -> list[float] | None:
    """Return the rounded logarithms of the probabilities of a law; None where weights are no integers, or too long."""
    if not isinstance(total, int) or not 0 < total.bit_length() <= longest:
        return None
    whole = math.log2(total)
    found = [math.log2(weight) - whole for weight in by_code.values() if isinstance(weight, int)]
    return found if len(found) == len(by_code) else None


class Logarithms:
    """A cache of the rounded logarithms of the probabilities of laws.

    About `kept` of them are kept; weights of more than `longest` bits are not rounded.
    """

    def __init__(self, kept: int = 5_000_000, longest: int = LONGEST) -> None:
        self._most, self._longest = kept, longest
        self._known: dict[int, tuple[Weights, tuple[int, ...], Any]] = {}
        self._supports: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._kept = 0

    def make_room(self) -> None:
        """Empty the cache where it is full."""
        if self._kept > self._most:
            self._known, self._supports, self._kept = {}, {}, 0

    def apply(self, law: Weights) -> bool:
        """Whether the weights of a law are integers that can be rounded; the logarithms are then cached."""
        if id(law) in self._known:
            return True
        codes, logarithms = tuple(law.by_code), rounded(law.by_code, law.total, self._longest)
        if logarithms is None:
            return False
        self._kept += len(codes)
        # The law is kept alive, so that its id stays its own.
        listed = logarithms if len(logarithms) < FEW_VALUES else np.array(logarithms)
        self._known[id(law)] = law, self._supports.setdefault(codes, codes), listed
        return True

    def large(self, ours: Weights, theirs: Weights, least: float) -> Sequence[int]:
        """Return the outputs where the logarithm of the ratio of two laws is not certainly below `least`."""
        (_, codes, above), (_, others, below) = self._known[id(ours)], self._known[id(theirs)]
        if codes is others and not isinstance(above, list):
            return [codes[place] for place in np.flatnonzero(above - below >= least).tolist()]
        if codes is others:
            ratios = list(map(sub, above, below))
        else:
            get = dict(zip(others, below, strict=True)).get
            ratios = [mine - get(code, -math.inf) for code, mine in zip(codes, above, strict=True)]
        if max(ratios, default=-math.inf) < least:
            return ()
        return [code for code, ratio in zip(codes, ratios, strict=True) if ratio >= least]


class _Best:
    """The largest distinct ratios met so far, each with the first triple that attained it and a tally."""

    def __init__(self, top: int) -> None:
        self._top = top
        self._found: list[list[Any]] = []
        self._least_up: Whole = 0
        self._least_down: Whole = 1
        self._least: arb | None = None
        self._logarithm: float | None = None

    @property
    def logarithm(self) -> float:
        """The rounded base-2 logarithm of the ratio to be reached: infinite for an infinite one."""
        if self._logarithm is None:
            up, down = self._least_up, self._least_down
            if not up or not isinstance(up, int) or not isinstance(down, int):
                self._logarithm = -math.inf
            else:
                self._logarithm = math.log2(up) - math.log2(down) if down else math.inf
        return self._logarithm

    @property
    def infinite(self) -> bool:
        """Whether the least of the ratios is infinite."""
        return bool(self._least_up) and not self._least_down

    def surely_less(self, weight: Whole, other: Whole, scale: arb) -> bool:
        """Whether a ratio is certainly too small to be ranked, in ball arithmetic, for weights that contain e^q."""
        if not self._least_up:
            return False
        if self._least is None:
            self._least = quick(self._least_up) / quick(self._least_down)
        return bool(quick(weight) * scale < self._least * quick(other))

    def offer(self, up: Whole, down: Whole, triple: tuple[Pair, int], triples: int) -> None:
        """Rank the ratio up/down, which so many triples have (0: not known); up is positive."""
        above, below = up * self._least_down, self._least_up * down
        if above < below:
            return
        if above == below and self._top == 1 and up and (down == 0) == (self._least_down == 0):
            self._found[0][3] = _together(self._found[0][3], triples)
            return
        at = 0
        for entry in self._found:
            above, below = entry[0], entry[1]
            order = up * below - above * down
            if order == 0 and (down == 0) == (below == 0):
                entry[3] = _together(entry[3], triples)
                return
            if order > 0 or (down == 0 and below):
                break
            at += 1
        if at == self._top:
            return
        # In lowest terms: many ratios may be compared with it.
        shared = gcd(up, down)
        self._found.insert(at, [up // shared, down // shared, triple, triples])
        del self._found[self._top :]
        if len(self._found) == self._top:
            self._least_up, self._least_down = self._found[-1][:2]
            self._least = self._logarithm = None

    def ranking(self) -> list[tuple[tuple[Pair, int], int]]:
        """Return the triples, largest ratio first, with how many attain it."""
        return [(triple, tally) for _, _, triple, tally in self._found]


def _together(some: int, others: int) -> int:
    """Return how many triples there are; where the number of some is not known (0), that of all is not."""
    return some + others if some and others else 0


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
    except (LimitError, QueryError, ProgramError, RecursionError, TooLarge):
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
    named = [table.named(code, pair.x, pair.x_prime) for code in codes[:TABLE_ENTRIES]]
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
        self._left = LITTLE_WORK
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
