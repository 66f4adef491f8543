"""The tight likelihood ratio of a chain, exactly, without enumerating datasets.

Whether some neighbours x, x' and an output have P(y|x) > R·P(y|x') is decided for a rational R by going through the
chain from its end: a candidate is the linear form c, in the weights that arrive from above, that is positive exactly
when the candidate beats R. Letters pull a form up one block. A form is dropped when another one, scaled by some
positive number, is at least as large everywhere: whatever the clients above do, the other wins too. A positive value at
the top is a better witness, R becomes its ratio, and the search goes on until nothing beats R: then R is tight
(Dinkelbach's method for fractional programs, with the pruning of dynamic programming over vectors).

Consecutive clients whose blocks commute on everything that leads to an output are interchangeable given that output;
then it is enough that the last of them changes its record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product

from tightdp.errors import LimitError
from tightdp.exact.numbers import Exact
from tightdp.exact.weights import as_exact, quotient
from tightdp.language.neighbours import NeighbouringRelation, relation_of
from tightdp.language.program import Bound
from tightdp.limits import pay
from tightdp.limits.calibrated import FEW_VALUES
from tightdp.methods.chain import Block, Chain, Change, Runs, Vector
from tightdp.methods.chain_certain import Path, certainly
from tightdp.methods.chain_forms import (
    Form,
    Found,
    both,
    distinct,
    dot,
    extreme,
    found,
    listed,
    moves_of,
    positivity,
    prune,
)
from tightdp.methods.chain_screen import screened

BRIEF = ((12, 100),)
"""How many forms are kept at one block, and how many ways in which the clients below a change may act are followed."""
THOROUGH = (*BRIEF, (400, 4_000))
"""A large ratio that a brief search finds makes the full one drop much."""


@dataclass(frozen=True)
class Enclosure:
    """What a search knows of the tight ratio: at least `lower`, which `found` attains (None: 1), at most `upper`.

    `reason` says why the two differ, and is None where they are equal; `cut_short` that too many forms were the cause.
    """

    lower: Exact
    upper: Exact
    found: Found | None
    reason: LimitError | None
    cut_short: bool


def largest_ratio(
    chain: Chain, bound: Bound, watch: Callable[[], None] = lambda: None, limits: Sequence[tuple[int, int]] = THOROUGH
) -> Enclosure:
    """Return the largest likelihood ratio over neighbours and outputs, exactly unless a limit is met.

    The relation must be a built-in one, which treats all clients alike. `watch` is called from time to time; where it
    raises LimitError, or there are too many forms to follow, what is known so far is returned. `limits` says how many
    forms and suffixes are followed, search after search.
    """
    relation = relation_of(bound)
    search = _Search(chain, bound, watch)
    reason: LimitError | None = None
    steps = [_steepest(block, relation) for block in chain.blocks]
    most = _bound_of(steps, relation)
    try:
        pay(watch, 2 * sum(block.size for block in chain.blocks))
        known = None if relation.every_record else certainly(chain, bound.record.values, watch)
        decided, path = (False, None) if known is None else known.largest(relation.steps, watch)
        if not decided and not relation.every_record:
            steep = _along_the_steepest(chain, steps)
            decided = steep is not None and search.take(*steep) and search.ratio == most
        if path is not None:
            search.take(*path)
        if not decided and path is None:
            search.chain = chain.by_output
            search.run(*limits[0])
            if search.cut_short and search.ratio < math.inf and limits[1:]:
                most = min(most, search.screen())
                for each in limits[1:] if search.cut_short else ():
                    search.run(*each)
    except LimitError as error:
        reason = error
    # Probabilities sum to 1 under both neighbours, so some output is at least as likely under the first.
    lower = max(search.ratio, Fraction(1))
    upper: Exact = lower
    if reason is None and search.cut_short:
        reason = LimitError(f"the search would have to follow more than {limits[-1][0]} forms", "use fewer records")
    if reason is not None:
        upper = max(lower, most)
    best = search.best
    if best is not None and (best.ratio < 1 or best.x == best.x_prime):
        best = None
    if upper == lower:
        return Enclosure(lower, upper, best, None, False)
    return Enclosure(lower, upper, best, reason, search.cut_short)


def blockwise_bound(chain: Chain, bound: Bound) -> Exact:
    """Return an upper bound on every likelihood ratio.

    A ratio of sums is at most the largest ratio of its terms, and one client's record changes the terms only within
    its block: so the largest ratio of two entries of a block bounds the change of one record, the product over
    blocks that of all.
    """
    relation = relation_of(bound)
    return _bound_of([_steepest(block, relation) for block in chain.blocks], relation)


def _bound_of(steps: Sequence[_Steep], relation: NeighbouringRelation) -> Exact:
    bounds = [step.ratio for step in steps]
    if relation.every_record:
        return math.inf if math.inf in bounds else math.prod(bounds, start=Fraction(1))
    return max(bounds, default=Fraction(1))


@dataclass(frozen=True)
class _Steep:
    """The largest ratio of two entries of a block, which a change of record has from a node to another one."""

    ratio: Exact = Fraction(1)
    above: int = 0
    below: int = 0
    change: Change | None = None


def _steepest(block: Block, relation: NeighbouringRelation) -> _Steep:
    best = _Steep()
    for bits, kinds in block.kinds.items():
        for old, new in relation.steps_of_kinds(kinds):
            others = block.into.get((new, bits), {})
            for node, entries in block.into[old, bits].items():
                weights = dict(others.get(node, ()))
                for above, weight in entries:
                    ratio = quotient(weight, weights[above]) if above in weights else math.inf
                    if ratio > best.ratio:
                        best = _Steep(ratio, above, node, (old, new, bits))
                        if ratio == math.inf:
                            return best
    return best


def _along_the_steepest(chain: Chain, steps: Sequence[_Steep]) -> Path | None:
    """Return a way through the chain on which one changed record has the largest ratio of all blocks.

    Where what was given so far decides the state, as when every client's output is published, nothing else leads to
    that output, and the way attains the bound.
    """
    at, best = max(enumerate(steps), key=lambda each: each[1].ratio, default=(0, _Steep()))
    if best.change is None:
        return None
    taken, node = list[Change](), best.above
    for block in reversed(chain.blocks[:at]):
        arrows = ((letter, above) for letter, below, above, _ in block.arrows() if below == node)
        (record, bits), node = next(arrows)
        taken.insert(0, (record, record, bits))
    head = next(head for head, vector in chain.heads.items() if node in vector)
    taken.append(best.change)
    node = best.below
    for block in chain.blocks[at + 1 :]:
        onwards = ((letter, below) for letter, below, above, _ in block.arrows() if above == node)
        (record, bits), node = next(onwards)
        taken.append((record, record, bits))
    tail = next(tail for tail, vector in chain.tails.items() if node in vector)
    return head, tail, taken


class _Search:
    """One search; `ratio` is the best ratio so far."""

    def __init__(self, chain: Chain, bound: Bound, watch: Callable[[], None]) -> None:
        self.chain = chain
        self.bound = bound
        self.watch = watch
        self.relation = relation_of(bound)
        self.ratio: Exact = Fraction(0)
        self.best: Found | None = None
        self.cut_short = False
        self._most_forms = self._most_suffixes = 0

    def run(self, most_forms: int, most_suffixes: int) -> None:
        """Search all heads and tails, following so many forms and suffixes at most."""
        self._most_forms, self._most_suffixes, self.cut_short = most_forms, most_suffixes, False
        runs = Runs(self.chain)
        last = {tail: {run[-1] for run in runs.of(frozenset(below))} for tail, below in self.chain.tails.items()}
        ends = list(product(self.chain.heads, self.chain.tails))
        while ends:  # those that cannot beat the present ratio cannot beat a larger one
            ends = [
                (head, tail)
                for head, tail in reversed(ends)
                if self.ratio < math.inf and self._improve(head, tail, last[tail])
            ]

    def take(self, head: int, tail: int, taken: Sequence[Change]) -> bool:
        """Make this the best witness if its ratio is larger; return whether it is."""
        witness = found(self.chain, self.bound, head, tail, taken)
        larger = witness.ratio > self.ratio
        if larger:
            self.ratio, self.best = witness.ratio, witness
        return larger

    def screen(self) -> Exact:
        """Look at all datasets at once, in doubles; return an upper bound on every ratio, infinite where none is known.

        The search is over if the ratio found equals this bound.
        """
        screen = screened(self.chain, self.bound, Runs(self.chain).of, self.watch)
        if screen is None:
            return math.inf
        self.take(screen.head, screen.tail, screen.taken)
        self.cut_short = screen.lower < screen.upper
        return screen.upper

    def _improve(self, head: int, tail: int, last: set[int]) -> bool:
        """Look for witnesses with this head and tail that beat the present ratio."""
        above = self.chain.heads[head]
        above = above | {~node: weight for node, weight in above.items()}
        beating = [
            listed(choices) for form, choices in self._forms(self.chain.tails[tail], last) if dot(above, form) > 0
        ]
        larger = [self.take(head, tail, taken) for taken in beating]
        return any(larger)

    def _forms(self, below: Vector, last: set[int]) -> list[Form]:
        """Return the forms at the top of the chain that decide whether the present ratio is beaten.

        Where one client changes its record, one of `last` does, and a form is a difference; else it lives on two
        copies of the nodes.
        """
        if self.relation.every_record:
            up, down = as_exact(self.ratio).as_integer_ratio()
            start = {node: down * value for node, value in below.items()}
            forms: list[Form] = [(start | {~node: -up * value for node, value in below.items()}, ())]
            for block in reversed(self.chain.blocks):
                staying, changing = moves_of(block, self.relation)
                forms = self._pruned(block, both(block, forms, [*staying, *changing]))
            return forms
        forms, suffixes = [], [(below, ())]
        for at in range(len(self.chain.blocks) - 1, -1, -1):
            block = self.chain.blocks[at]
            forms = self._pruned(
                block, chain(_pulled(block, forms), self._changes(block, suffixes) if at in last else ())
            )
            if any(end < at for end in last):
                pulled = distinct(self._watched(block, _pulled(block, suffixes)))
                suffixes = self._narrow(extreme(pulled), self._most_suffixes)
        return forms

    def _changes(self, block: Block, suffixes: Sequence[Form]) -> Iterator[Form]:
        """Yield the forms in which this client changes its record."""
        up, down = as_exact(self.ratio).as_integer_ratio()
        _, changing = moves_of(block, self.relation)
        for pulled, choices in both(
            block, ((one | {~node: v for node, v in one.items()}, steps) for one, steps in suffixes), changing
        ):
            value: Vector = {}
            for node, weight in pulled.items():
                place, scaled = (node, down * weight) if node >= 0 else (~node, -up * weight)
                value[place] = value.get(place, 0) + scaled
            yield value, choices

    def _pruned(self, block: Block, forms: Iterable[Form]) -> list[Form]:
        return self._narrow(prune(self._watched(block, forms), self.watch), self._most_forms)

    def _narrow(self, forms: list[Form], most: int) -> list[Form]:
        """Return the forms, or only the most positive ones; then the search gives a lower bound only."""
        self.watch()
        if len(forms) > most:
            self.cut_short = True
            forms = sorted(forms, key=positivity, reverse=True)[:most]
        return forms

    def _watched(self, block: Block, forms: Iterable[Form]) -> Iterator[Form]:
        """Yield forms that are pulled through a block; each takes a step for every arrow of a letter."""
        steps = block.size / (len(block.into) or 1)
        for number, form in enumerate(forms):
            if steps > FEW_VALUES or number % FEW_VALUES == 0:
                pay(self.watch, steps)
            yield form


def _pulled(block: Block, forms: Sequence[Form]) -> Iterator[Form]:
    """Yield every form pulled up by every letter of a block."""
    return (
        (block.pull(letter, vector), ((letter[0], letter[0], letter[1]), steps))
        for vector, steps in forms
        for letter in block.first.values()
    )
