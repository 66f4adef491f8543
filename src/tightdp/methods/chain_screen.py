"""The tight likelihood ratio of a chain from the probabilities of all datasets at once, as doubles.

The probabilities of one output on all datasets are a matrix product: the weights from the head carried through the
first half of the clients, times the values of the tail carried up through the second half. They have a proved relative
error, as nothing cancels in sums and products of nonnegative numbers. The least of them over the neighbours of every
dataset is found one client after the other. The candidates that remain are computed exactly; where these are too many,
both ends are known up to the error of the doubles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain as chained
from itertools import product
from typing import TYPE_CHECKING

from tightdp.exact.lazily import lazily
from tightdp.exact.numbers import Exact
from tightdp.exact.scaled import as_double, gamma
from tightdp.exact.weights import as_exact, quotient
from tightdp.exact.whole import ExpInteger, Whole
from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.methods.chain import Chain, Change, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]
else:
    np = lazily("numpy")

__all__ = ["Screened", "screened"]

Runs = Sequence[Sequence[int]]
"""Places in the chain of clients that are interchangeable given an output, in order."""

MOST_DATASETS = 1 << 20
MOST_PROBABILITIES = 1 << 27
"""At most this many probabilities are looked at, over all outputs and datasets."""
MOST_ENTRIES = 1 << 25
"""At most this many doubles are held by the products of one half of the clients, or the maps of a block."""
MOST_WORK = 4_000_000
"""At most this many entries of maps are multiplied exactly for the candidates for the largest ratio."""
_LEAST_COUNTED = 1 << 12
"""Looking at one output takes as long as this many probabilities, however few datasets there are."""
_MOST_CANDIDATES = 20_000
_LEAST = 1e-250
"""Products that may be smaller than this are left to exact numbers."""


@dataclass(frozen=True)
class Screened:
    """The largest ratio is at least `lower`, which head, tail and changes (one a block) attain, and at most `upper`."""

    lower: Exact
    upper: Exact
    head: int
    tail: int
    taken: list[Change]

    def datasets(self, chain: Chain, bound: Bound) -> tuple[Dataset, Dataset]:
        """Return the two datasets; clients without a block have the first record of the domain."""
        x, x_prime = [bound.record.values[0]] * bound.n, [bound.record.values[0]] * bound.n
        for block, (old, new, _) in zip(chain.blocks, self.taken, strict=True):
            x[block.client], x_prime[block.client] = old, new
        return tuple(x), tuple(x_prime)


class _TooMuch(Exception):
    """The doubles would be too many, or too small."""


def screened(
    chain: Chain, bound: Bound, runs: Callable[[frozenset[int]], Runs], watch: Callable[[], None]
) -> Screened | None:
    """Return both ends of the largest likelihood ratio; None where that takes too long, or no ratio is above 1.

    `runs` gives the places of clients that are interchangeable, for the nodes above the tail that an output leads to.
    """
    if bound.record.size ** len(chain.blocks) > MOST_DATASETS or not chain.blocks:
        return None
    try:
        return _Screen(chain, bound, runs, watch).largest()
    except _TooMuch:
        return None


@dataclass(frozen=True)
class _Half:
    """The output bits of one half of the clients, and the products of their maps: (datasets of the half, nodes)."""

    bits: tuple[int, ...]
    values: Doubles

    @cached_property
    def reached(self) -> int:
        """The nodes for which some entry is not 0, as bits of a number."""
        return sum(1 << int(at) for at in np.flatnonzero(self.values.any(axis=0)))


@dataclass(frozen=True)
class _Output:
    """One output, on all datasets."""

    head: int
    tail: int
    first: _Half
    second: _Half

    @property
    def bits(self) -> tuple[int, ...]:
        return self.first.bits + self.second.bits


class _Screen:
    def __init__(
        self, chain: Chain, bound: Bound, runs: Callable[[frozenset[int]], Runs], watch: Callable[[], None]
    ) -> None:
        self.chain, self.runs, self.watch = chain, runs, watch
        self.records = bound.record.values
        relation = relation_of(bound)
        self.every_record = relation.every_record
        place = {record: at for at, record in enumerate(self.records)}
        self.steps = [[place[new] for new in relation.steps[record]] for record in self.records]
        self.nodes = self._nodes()
        self.least = 1.0
        self.maps = [self._maps(at) for at in range(len(chain.blocks))]
        self.heads = self._vectors(self.nodes[0], chain.heads)
        self.tails = self._vectors(self.nodes[-1], chain.tails)
        if self.least < _LEAST:
            raise _TooMuch
        # Every number is two roundings from its exact one; then sums of as many products as there are nodes.
        self.error = 8 * gamma(sum(len(nodes) + 4 for nodes in self.nodes) + 8)
        """More than the relative error of a quotient of two probabilities."""
        self.looked = 0
        self.exact = _Exactly(chain)

    # the chain in doubles

    def _nodes(self) -> list[dict[int, int]]:
        """Return the nodes above every block, and those above the tail, each with its place in an array."""
        found = []
        for block in self.chain.blocks:
            above = {node for arrows in block.into.values() for entries in arrows.values() for node, _ in entries}
            found.append({node: at for at, node in enumerate(sorted(above))})
        below = {node for arrows in self.chain.blocks[-1].into.values() for node in arrows}
        return [*found, {node: at for at, node in enumerate(sorted(below))}]

    def _doubles(self, weights: Iterable[Whole]) -> list[float]:
        """Return positive weights divided by the largest of them."""
        exact = list(weights)
        if any(isinstance(weight, ExpInteger) and weight.unknown for weight in exact):
            raise _TooMuch
        most = max(exact)
        found = [as_double(as_exact(quotient(weight, most))) for weight in exact]
        if min(found) < _LEAST:
            raise _TooMuch
        return found

    def _maps(self, at: int) -> dict[int, Doubles]:
        """Return, by output bits, an array over the records, the nodes above and the nodes below a block."""
        block, above, below = self.chain.blocks[at], self.nodes[at], self.nodes[at + 1]
        every_bits = {bits for _, bits in block.into}
        if len(every_bits) * len(self.records) * len(above) * len(below) > MOST_ENTRIES:
            raise _TooMuch
        entries = [entry for arrows in block.into.values() for into in arrows.values() for entry in into]
        doubles = iter(values := self._doubles(weight for _, weight in entries))
        self.least *= min(values)
        found = {bits: np.zeros((len(self.records), len(above), len(below))) for bits in sorted(every_bits)}
        place = {record: at for at, record in enumerate(self.records)}
        for (record, bits), arrows in block.into.items():
            for node, into in arrows.items():
                for upper, _ in into:
                    found[bits][place[record], above[upper], below[node]] = next(doubles)
        return found

    def _vectors(self, nodes: dict[int, int], vectors: dict[int, Vector]) -> dict[int, Doubles]:
        """Return vectors as arrays, each up to a factor: ratios have the same head and tail on both sides."""
        result, least = {}, 1.0
        for bits, vector in vectors.items():
            known = {node: weight for node, weight in vector.items() if node in nodes}
            if known:
                doubles = self._doubles(known.values())
                result[bits] = np.zeros(len(nodes))
                result[bits][[nodes[node] for node in known]] = doubles
                least = min(least, *doubles)
        self.least *= least
        return result

    # halves

    def _halves(self) -> Iterator[_Output]:
        """Yield the outputs that exchanging clients does not take into each other."""
        middle = len(self.maps) // 2
        firsts = {bits: list(self._down(vector, middle)) for bits, vector in self.heads.items()}
        for tail, vector in self.tails.items():
            together = self._together(frozenset(self.chain.tails[tail]))
            seconds = list(self._up(vector, middle, together))
            for head, halves in firsts.items():
                for first in halves:
                    if any(together[at] and first.bits[at - 1] > first.bits[at] for at in range(1, middle)):
                        continue
                    for second in seconds:
                        if first.reached & second.reached and not (
                            middle and together[middle] and first.bits[-1] > second.bits[0]
                        ):
                            yield _Output(head, tail, first, second)

    def _together(self, below: frozenset[int]) -> list[bool]:
        """Return for every block whether its client is interchangeable with the one before."""
        inner = {at for run in self.runs(below) for at in run[1:]}
        return [at in inner for at in range(len(self.maps))]

    def _down(self, vector: Doubles, middle: int) -> Iterator[_Half]:
        halves = [_Half((), vector[None, :])]
        for maps in self.maps[:middle]:
            halves = self._held(
                _Half((*half.bits, bits), np.einsum("da,rab->drb", half.values, table, optimize=True))
                for half in halves
                for bits, table in maps.items()
            )
        yield from halves

    def _up(self, vector: Doubles, middle: int, together: Sequence[bool]) -> Iterator[_Half]:
        halves = [_Half((), vector[None, :])]
        for at in range(len(self.maps) - 1, middle - 1, -1):
            inner = at + 1 < len(self.maps) and together[at + 1]
            halves = self._held(
                _Half((bits, *half.bits), np.einsum("rab,db->rda", table, half.values, optimize=True))
                for half in halves
                for bits, table in self.maps[at].items()
                if not (inner and bits > half.bits[0])
            )
        yield from halves

    def _held(self, made: Iterable[_Half]) -> list[_Half]:
        """Return the products that are not 0 everywhere, as tables of datasets and nodes."""
        kept, size = [], 0
        for half in made:
            self.watch()
            if half.values.any():
                kept.append(_Half(half.bits, half.values.reshape(-1, half.values.shape[-1])))
                size += half.values.size
                if size > MOST_ENTRIES:
                    raise _TooMuch
        return kept

    # ratios

    def _on_all(self, output: _Output) -> Doubles:
        """Return its probabilities on all datasets, an axis for every block, up to a factor."""
        self.watch()
        return (output.first.values @ output.second.values.T).reshape((len(self.records),) * len(self.maps))

    def _ratios(self, probabilities: Doubles) -> Doubles:
        """Return for every dataset the largest ratio of its probability to a neighbour's; 0 where its own is 0."""
        least, largest = probabilities, np.zeros_like(probabilities)
        with np.errstate(divide="ignore", invalid="ignore"):
            for axis in range(probabilities.ndim):
                near = self._nearest(least if self.every_record else probabilities, axis)
                if self.every_record:
                    least = near
                if not self.every_record or axis == probabilities.ndim - 1:
                    largest = np.fmax(largest, probabilities / near)
        return largest

    def _nearest(self, probabilities: Doubles, axis: int) -> Doubles:
        """Return the least probability after a change of this axis's record, infinite where it may not change."""
        result = np.full_like(probabilities, math.inf)
        before = (slice(None),) * axis
        for old, others in enumerate(self.steps):
            mine = result[(*before, slice(old, old + 1))]
            for new in others:
                np.minimum(mine, probabilities[(*before, slice(new, new + 1))], out=mine)
        return result

    def largest(self) -> Screened | None:
        tops: list[tuple[float, _Output]] = []
        best = 0.0
        for output in self._halves():
            self.looked += max(len(self.records) ** len(self.maps), _LEAST_COUNTED)
            if self.looked > MOST_PROBABILITIES:
                raise _TooMuch
            top = float(self._ratios(self._on_all(output)).max())
            if top >= best * (1 - self.error):
                tops.append((top, output))
                best = max(best, top)
        if best <= 1 + self.error:
            return None
        return self._among([output for top, output in tops if top >= best * (1 - self.error)], best)

    def _among(self, outputs: Sequence[_Output], best: float) -> Screened | None:
        """Return the ends where the largest ratio, in doubles, is one of these outputs."""
        bar = math.inf if best == math.inf else best * (1 - self.error)
        seen: set[object] = set()
        lower: Screened | None = None
        complete = True
        for number, (output, taken) in enumerate(self._candidates(outputs, bar)):
            below = frozenset(self.chain.tails[output.tail])
            key = (
                output.head,
                output.tail,
                *(tuple(sorted(map(repr, (taken[at] for at in run)))) for run in self.runs(below)),
            )
            if key in seen:
                continue
            seen.add(key)
            self.watch()
            if self.exact.work > MOST_WORK or number > _MOST_CANDIDATES:
                complete = False
                break
            ratio = self.exact.ratio(output.head, output.tail, taken)
            if lower is None or ratio > lower.lower:
                lower = Screened(ratio, ratio, output.head, output.tail, taken)
            if ratio == math.inf:
                return lower
        if lower is None or complete:
            return lower
        upper = Fraction(best) * (1 + Fraction(self.error))
        return Screened(lower.lower, upper, lower.head, lower.tail, lower.taken)

    def _candidates(self, outputs: Sequence[_Output], bar: float) -> Iterator[tuple[_Output, list[Change]]]:
        """Yield the outputs and pairs of neighbours whose ratio, in doubles, is at least `bar`."""
        for output in outputs:
            probabilities = self._on_all(output)
            for x in np.argwhere(self._ratios(probabilities) >= bar).tolist():
                own = float(probabilities[tuple(x)])
                for other in self._neighbours(x):
                    theirs = float(probabilities[other])
                    if (own / theirs if theirs else math.inf) >= bar:
                        yield (
                            output,
                            [
                                (self.records[old], self.records[new], bits)
                                for old, new, bits in zip(x, other, output.bits, strict=True)
                            ],
                        )

    def _neighbours(self, x: Sequence[int]) -> Iterator[tuple[int, ...]]:
        if self.every_record:
            return product(*(self.steps[old] for old in x))
        return chained.from_iterable(
            ((*x[:at], new, *x[at + 1 :]) for new in self.steps[x[at]]) for at in range(len(x))
        )


class _Exactly:
    """Ratios of single pairs of datasets and outputs; the work for common last clients is done once."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.work = 0
        self._known: dict[tuple[object, ...], Vector] = {}

    def ratio(self, head: int, tail: int, taken: Sequence[Change]) -> Exact:
        """Return the ratio of the probabilities of an output on two datasets."""
        ours, theirs = (
            self._probability(head, tail, [(change[side], change[2]) for change in taken]) for side in (0, 1)
        )
        return quotient(ours, theirs) if theirs else math.inf

    def _probability(self, head: int, tail: int, letters: Sequence[tuple[Record, int]]) -> Whole:
        vector = self.chain.tails[tail]
        for at in range(len(letters) - 1, -1, -1):
            key = tail, *letters[at:]
            if key not in self._known:
                block = self.chain.blocks[at]
                pulled = block.pull(letters[at], vector) if letters[at] in block.into else {}
                arrows = block.into.get(letters[at], {})
                self.work += sum(len(arrows.get(node, ())) for node in vector) + 1
                self._known[key] = pulled
            vector = self._known[key]
        return sum(weight * vector[node] for node, weight in self.chain.heads[head].items() if node in vector)
