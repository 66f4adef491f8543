"""The tight likelihood ratio of a chain from the probabilities of all datasets at once, as doubles.

The probabilities of one output on all datasets are an array with an axis for every client: what arrives from the head,
carried down block by block, times the values of the tail. They have a proved relative error, as nothing cancels in sums
and products of nonnegative numbers. The least of them over the neighbours of every dataset is found one client after
the other. The candidates that remain are computed exactly; where these are too many, both ends are known up to the
error of the doubles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain as chained
from itertools import product

from tightdp.exact.arrays import Doubles, np
from tightdp.exact.numbers import Exact
from tightdp.exact.scaled import as_double, gamma
from tightdp.exact.weights import as_exact, quotient
from tightdp.exact.whole import ExpInteger, Whole
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound
from tightdp.limits import pay
from tightdp.limits.calibrated import (
    DOUBLES_AT_ONCE,
    LISTED_ROWS,
    MAX_DATASETS,
    MOST_ENTRIES,
    MOST_WORK,
    TABLE_ENTRIES,
)
from tightdp.methods.chain import Chain, Change, Letter, Vector
from tightdp.methods.chain_forms import dot

Runs = Sequence[Sequence[int]]
"""Places in the chain of clients that are interchangeable given an output, in order."""

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


class _TooMuch(Exception):
    """The doubles would be too many, or too small."""


_Output = tuple[int, tuple[int, ...], int]
"""The output bits of the head, of every block, and of the tail."""


def screened(
    chain: Chain, bound: Bound, runs: Callable[[frozenset[int]], Runs], watch: Callable[[], None]
) -> Screened | None:
    """Return both ends of the largest likelihood ratio; None where that takes too long, or no ratio is above 1.

    `runs` gives the places of clients that are interchangeable, for the nodes above the tail that an output leads to.
    """
    if bound.record.size ** len(chain.blocks) > MAX_DATASETS or not chain.blocks:
        return None
    try:
        return _Screen(chain, bound, runs, watch).largest()
    except _TooMuch:
        return None


class _Screen:
    def __init__(
        self, chain: Chain, bound: Bound, runs: Callable[[frozenset[int]], Runs], watch: Callable[[], None]
    ) -> None:
        self.chain, self.watch = chain, watch
        self.runs = {tail: runs(frozenset(vector)) for tail, vector in chain.tails.items()}
        self.records = bound.record.values
        relation = relation_of(bound)
        self.every_record = relation.every_record
        place = {record: at for at, record in enumerate(self.records)}
        self.steps = [[place[new] for new in relation.steps[record]] for record in self.records]
        levels = [{above for _, _, above, _ in block.arrows()} for block in chain.blocks]
        levels.append({below for _, below, _, _ in chain.blocks[-1].arrows()})
        self.nodes = [{node: at for at, node in enumerate(sorted(level))} for level in levels]
        self.least = 1.0
        self.maps = [self._maps(at) for at in range(len(chain.blocks))]
        self.heads = self._vectors(self.nodes[0], chain.heads)
        self.tails = self._vectors(self.nodes[-1], chain.tails)
        if self.least < _LEAST:
            raise _TooMuch
        # Every number is two roundings from its exact one; then sums of as many products as there are nodes.
        self.error = 8 * gamma(sum(len(nodes) + 4 for nodes in self.nodes) + 8)
        """More than the relative error of a quotient of two probabilities."""
        self.work = 0
        self._pulled: dict[tuple[object, ...], Vector] = {}

    # the chain in doubles

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
        """Return, by output bits, an array over the nodes above, the records and the nodes below a block."""
        block, above, below = self.chain.blocks[at], self.nodes[at], self.nodes[at + 1]
        every_bits = {bits for _, bits in block.into}
        if len(every_bits) * len(self.records) * len(above) * len(below) > DOUBLES_AT_ONCE:
            raise _TooMuch
        pay(self.watch, 2 * block.size)
        doubles = self._doubles(weight for *_, weight in block.arrows())
        self.least *= min(doubles)
        found = {bits: np.zeros((len(above), len(self.records), len(below))) for bits in sorted(every_bits)}
        place = {record: at for at, record in enumerate(self.records)}
        for ((record, bits), lower, upper, _), weight in zip(block.arrows(), doubles, strict=True):
            found[bits][above[upper], place[record], below[lower]] = weight
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

    # ratios

    def _outputs(self) -> Iterator[tuple[_Output, Doubles]]:
        """Yield the outputs that exchanging clients does not take into each other, with their probabilities.

        These are up to a factor, on all datasets, with an axis for every block.
        """
        inner = {tail: {at for run in runs for at in run[1:]} for tail, runs in self.runs.items()}
        always = set.intersection(*inner.values()) if inner else set()

        def below(bits: tuple[int, ...], values: Doubles) -> Iterator[tuple[tuple[int, ...], Doubles]]:
            self.watch()
            if len(bits) == len(self.maps):
                yield bits, values
                return
            for own, table in self.maps[len(bits)].items():
                if len(bits) not in always or bits[-1] <= own:
                    after = self._below(values, table)
                    if after.any():
                        yield from below((*bits, own), after)

        for head, vector in self.heads.items():
            for bits, values in below((), vector[None, :]):
                for tail in self.tails:
                    if not any(bits[at - 1] > bits[at] for at in inner[tail] - always):
                        yield (head, bits, tail), self._on_all(values, tail)

    def _below(self, values: Doubles, table: Doubles) -> Doubles:
        """Carry weights, a row for every dataset of the clients so far, through the block of one more client."""
        if values.shape[0] * table.shape[1] * table.shape[2] > DOUBLES_AT_ONCE:
            raise _TooMuch
        pay(self.watch, values.shape[0] * table.size / 2000)  # so many products of doubles are added up in a step
        found: Doubles = (values @ table.reshape(len(table), -1)).reshape(-1, table.shape[2])
        return found

    def _on_all(self, values: Doubles, tail: int) -> Doubles:
        found: Doubles = (values @ self.tails[tail]).reshape((len(self.records),) * len(self.maps))
        return found

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
        """Return the ends of the largest ratio."""
        tops: list[tuple[float, _Output]] = []
        best, looked = 0.0, 0
        for output, probabilities in self._outputs():
            looked += max(probabilities.size, TABLE_ENTRIES)
            if looked > MOST_WORK:
                raise _TooMuch
            steps = probabilities.ndim * sum(map(len, self.steps))  # arrays compared, each of as many probabilities
            pay(self.watch, steps * (4 + probabilities.size / 1000))
            top = float(self._ratios(probabilities).max())
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
        for number, ((head, _, tail), taken) in enumerate(self._candidates(outputs, bar)):
            key = head, tail, *(tuple(sorted(repr(taken[at]) for at in run)) for run in self.runs[tail])
            if key in seen:
                continue
            seen.add(key)
            self.watch()
            if lower is not None and (self.work > MOST_ENTRIES or number > LISTED_ROWS):
                return replace(lower, upper=Fraction(best) * (1 + Fraction(self.error)))
            ours, theirs = (self._probability(head, tail, tuple((c[side], c[2]) for c in taken)) for side in (0, 1))
            ratio = quotient(ours, theirs) if theirs else math.inf
            if lower is None or ratio > lower.lower:
                lower = Screened(ratio, ratio, head, tail, taken)
            if ratio == math.inf:
                break
        return lower

    def _candidates(self, outputs: Sequence[_Output], bar: float) -> Iterator[tuple[_Output, list[Change]]]:
        """Yield the outputs and pairs of neighbours whose ratio, in doubles, is at least `bar`."""
        for output in outputs:
            head, bits, tail = output
            values = self.heads[head][None, :]
            for one, maps in zip(bits, self.maps, strict=True):
                values = self._below(values, maps[one])
            probabilities = self._on_all(values, tail)
            for x in np.argwhere(self._ratios(probabilities) >= bar).tolist():
                own = float(probabilities[tuple(x)])
                for other in self._neighbours(x):
                    theirs = float(probabilities[other])
                    if (own / theirs if theirs else math.inf) >= bar:
                        records = zip(x, other, bits, strict=True)
                        yield output, [(self.records[old], self.records[new], one) for old, new, one in records]

    def _neighbours(self, x: Sequence[int]) -> Iterator[tuple[int, ...]]:
        if self.every_record:
            return product(*(self.steps[old] for old in x))
        return chained.from_iterable(
            ((*x[:at], new, *x[at + 1 :]) for new in self.steps[x[at]]) for at in range(len(x))
        )

    # exact numbers

    def _probability(self, head: int, tail: int, letters: tuple[Letter, ...]) -> Whole:
        return dot(self.chain.heads[head], self._value(tail, letters))

    def _value(self, tail: int, letters: tuple[Letter, ...]) -> Vector:
        """Return the values above the last clients, which have these letters; the work for them is done once."""
        if not letters:
            return self.chain.tails[tail]
        key = tail, letters
        if key not in self._pulled:
            below, block = self._value(tail, letters[1:]), self.chain.blocks[-len(letters)]
            arrows = block.into.get(letters[0], {})
            self.work += sum(len(arrows.get(node, ())) for node in below) + 1
            self._pulled[key] = block.pull(letters[0], below)
        return self._pulled[key]
