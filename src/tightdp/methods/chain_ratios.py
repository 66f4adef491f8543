"""Every likelihood ratio of a chain of client blocks, each once, without enumerating datasets.

A pair of neighbours and an output give two linear forms in the weights that arrive from above, one for x and one for
x'. What the clients from some block on do matters to the ratio only through this pair of forms, up to a common positive
factor: pairs that agree in that are followed once. Runs of interchangeable clients change at their last client only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import inf

from tightdp.exact.numbers import Exact
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole, gcd
from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.methods.chain import Block, Chain, Vector
from tightdp.methods.chain_forms import Steps
from tightdp.methods.chain_search import Runs

__all__ = ["MAX_PAIRS", "TooManyForms", "every_ratio"]

MAX_PAIRS = 50_000
"""How many pairs of forms are followed at one block."""


class TooManyForms(Exception):
    """There are more than MAX_PAIRS pairs of forms at one block."""


@dataclass(frozen=True)
class _Pair:
    """The forms of x and x', whether the two differ in the clients from here down, and what these clients do."""

    ours: Vector
    theirs: Vector
    moved: bool
    steps: Steps


def every_ratio(
    chain: Chain, bound: Bound, watch: Callable[[], None] = lambda: None
) -> Iterator[tuple[Exact, Dataset, Dataset, int]]:
    """Yield every likelihood ratio P(y|x)/P(y|x') over neighbours and outputs with x, x' and the code of y.

    A ratio may be 0 or infinite; 0/0 is left out. Some ratios are repeated. The relation must be built in. Raises
    TooManyForms where there are too many pairs of forms, and LimitError where `watch` does.
    """
    ratios = _Ratios(chain, bound, watch)
    for head, above in chain.heads.items():
        for tail, below in chain.tails.items():
            for pair in ratios.pairs(below):
                up, down = _dot(above, pair.ours), _dot(above, pair.theirs)
                if up or down:
                    x, x_prime, code = ratios.triple(head, tail, pair)
                    yield quotient(up, down) if down else inf, x, x_prime, code


class _Ratios:
    def __init__(self, chain: Chain, bound: Bound, watch: Callable[[], None]) -> None:
        self.chain, self.bound, self.watch = chain, bound, watch
        self.steps = relation_of(bound).steps
        self.runs = Runs(chain)
        seen = {block.client for block in chain.blocks}
        self.unseen = next((client for client in range(bound.n) if client not in seen), None)
        self.move = next(((old, new) for old, others in self.steps.items() for new in others if new != old), None)

    def pairs(self, below: Vector) -> list[_Pair]:
        """Return the pairs of forms at the top of the chain, for neighbours and all outputs with one tail."""
        together = relation_of(self.bound).every_record
        ends = {run[-1] for run in self.runs.of(frozenset(below))}
        pairs = [_Pair(below, below, False, ())]
        if self.unseen is not None and self.move is not None:
            pairs.append(_Pair(below, below, True, ()))
        for at in range(len(self.chain.blocks) - 1, -1, -1):
            block = self.chain.blocks[at]
            pairs = self._distinct(self._pulled(block, pairs, together, together or at in ends))
        return [pair for pair in pairs if pair.moved]

    def _pulled(self, block: Block, pairs: Iterable[_Pair], together: bool, may_move: bool) -> Iterator[_Pair]:
        records = {bits: [record for record, other in block.into if other == bits] for _, bits in block.into}
        for pair in pairs:
            for bits, given in records.items():
                ours = {record: block.pull((record, bits), pair.ours) for record in given}
                theirs = {record: block.pull((record, bits), pair.theirs) for record in given}
                for old, others in self.steps.items():
                    for new in (*others, *(() if old in others else (old,))):
                        still = old == new
                        if still or (may_move and (together or not pair.moved)):
                            left, right = ours.get(old, {}), theirs.get(new, {})
                            if left or right:
                                yield _Pair(left, right, pair.moved or not still, ((old, new, bits), pair.steps))

    def _distinct(self, pairs: Iterable[_Pair]) -> list[_Pair]:
        found: dict[object, _Pair] = {}
        for number, pair in enumerate(pairs):
            if number % 256 == 0:
                self.watch()
            shared = gcd(*pair.ours.values(), *pair.theirs.values())
            ours = {node: value // shared for node, value in pair.ours.items()}
            theirs = {node: value // shared for node, value in pair.theirs.items()}
            key = (pair.moved, frozenset(ours.items()), frozenset(theirs.items()))
            found.setdefault(key, _Pair(ours, theirs, pair.moved, pair.steps))
            if len(found) > MAX_PAIRS:
                raise TooManyForms
        return list(found.values())

    def triple(self, head: int, tail: int, pair: _Pair) -> tuple[Dataset, Dataset, int]:
        """Return the neighbours and the output code that a pair of forms stands for."""
        x: list[Record] = [self.bound.record.values[0]] * self.bound.n
        x_prime = list(x)
        letters = []
        steps = pair.steps
        for block in self.chain.blocks:
            (old, new, bits), steps = steps
            x[block.client], x_prime[block.client] = old, new
            letters.append((old, bits))
        if x == x_prime and self.unseen is not None and self.move is not None:
            x[self.unseen], x_prime[self.unseen] = self.move
        return tuple(x), tuple(x_prime), self.chain.code(head, letters, tail)


def _dot(left: Vector, right: Vector) -> Whole:
    return sum(weight * right[node] for node, weight in left.items() if node in right)
