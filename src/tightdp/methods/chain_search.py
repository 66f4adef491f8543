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
from functools import cached_property
from itertools import chain, product
from typing import Any

from tightdp.errors import LimitError
from tightdp.exact.numbers import Exact
from tightdp.exact.weights import as_exact, quotient
from tightdp.exact.whole import Whole
from tightdp.language.domains import Record
from tightdp.language.neighbours import NeighbouringRelation, relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.methods.chain import Block, Chain, Vector
from tightdp.methods.chain_certain import largest_certainly
from tightdp.methods.chain_forms import Form, Steps, distinct, extreme, positivity, prune
from tightdp.methods.chain_lumped import lumped
from tightdp.methods.chain_published import largest_along_paths, published_levels
from tightdp.methods.chain_screen import screened
from tightdp.methods.impossible import find_difference

__all__ = ["BRIEF", "THOROUGH", "Enclosure", "Found", "Runs", "blockwise_bound", "largest_ratio"]

BRIEF = ((12, 100),)
"""How many forms are kept at one block, and how many ways in which the clients below a change may act are followed."""
THOROUGH = (*BRIEF, (400, 4_000))
"""A large ratio that a brief search finds makes the full one drop much."""
_WATCHED = 64
"""This many forms are handled between two checks of the limits."""


@dataclass(frozen=True)
class Found:
    """A dataset, a neighbour and an output code, and the ratio of their probabilities (infinity: division by 0)."""

    ratio: Exact
    x: Dataset
    x_prime: Dataset
    code: int


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
    chain = lumped(chain)
    search = (_EveryChange if relation_of(bound).every_record else _OneChange)(chain, bound, watch)
    reason: LimitError | None = None
    most: Exact = math.inf
    try:
        search.run(limits[:1])
        if search.cut_short and limits[1:]:
            most = search.screen()
            if most == math.inf and search.cut_short:
                search.run(limits[1:])
    except LimitError as error:
        reason = error
    # Probabilities sum to 1 under both neighbours, so some output is at least as likely under the first.
    lower = max(search.ratio, Fraction(1))
    upper: Exact = lower
    if reason is None and search.cut_short:
        reason = LimitError(f"the search would have to follow more than {limits[-1][0]} forms", "use fewer records")
    if reason is not None:
        upper = max(lower, min(most, blockwise_bound(chain, bound)))
    found = search.best
    if found is not None and (found.ratio < 1 or found.x == found.x_prime):
        found = None
    if upper == lower:
        return Enclosure(lower, upper, found, None, False)
    return Enclosure(lower, upper, found, reason, search.cut_short)


def blockwise_bound(chain: Chain, bound: Bound) -> Exact:
    """Return an upper bound on every likelihood ratio.

    A ratio of sums is at most the largest ratio of its terms, and one client's record changes the terms only within
    its block: so the largest ratio of two entries of a block bounds the change of one record, the product over
    blocks that of all.
    """
    relation = relation_of(bound)
    bounds: list[Exact] = [_block_bound(block, relation) for block in chain.blocks]
    if relation.every_record:
        return math.inf if math.inf in bounds else math.prod(bounds, start=Fraction(1))
    return max(bounds, default=Fraction(1))


def _block_bound(block: Block, relation: NeighbouringRelation) -> Exact:
    largest: Exact = Fraction(1)
    for bits, kinds in block.kinds.items():
        for old, new in relation.steps_of_kinds(kinds):
            others = block.into.get((new, bits), {})
            for node, entries in block.into[old, bits].items():
                weights = dict(others.get(node, ()))
                for above, weight in entries:
                    if above not in weights:
                        return math.inf
                    largest = max(largest, quotient(weight, weights[above]))
    return largest


class _Search:
    """One search; `ratio` is the best ratio so far."""

    def _forms(self, below: Vector) -> list[Form]:
        """Return the forms at the top of the chain that decide whether the present ratio is beaten."""
        raise NotImplementedError

    def _value(self, above: Vector, form: Vector) -> Whole:
        """Return the value of a form on the weights from the head."""
        raise NotImplementedError

    def __init__(self, chain: Chain, bound: Bound, watch: Callable[[], None]) -> None:
        self.chain = chain
        self.bound = bound
        self.watch = watch
        self.relation = relation_of(bound)
        self.ratio: Exact = Fraction(0)
        self.best: Found | None = None
        self.cut_short = False
        self._most_forms = self._most_suffixes = 0

    def run(self, limits: Sequence[tuple[int, int]]) -> None:
        """Search all heads and tails under each limit on forms and suffixes in turn.

        No search is needed where outputs, or records, determine the nodes. Else an infinite ratio is looked for first:
        it ends the search.
        """
        levels = published_levels(self.chain)
        if levels is not None:
            decided, path = True, largest_along_paths(self.chain, levels, self.relation)
        else:
            decided, path = largest_certainly(self.chain, self.relation, self.watch)
        if path is not None:
            self._take(path.head, path.tail, path.taken)
        if decided:
            return
        difference = find_difference(self.chain, self.relation, self.watch)
        if difference is not None:
            self._take(*difference)
            return
        self.chain = self.chain.by_output
        for self._most_forms, self._most_suffixes in limits:
            self.cut_short = False
            self._climb()
            if self.ratio == math.inf or not self.cut_short:
                return

    def _take(self, head: int, tail: int, taken: list[tuple[Record, Record, int]]) -> None:
        """Make this the best witness found."""
        self.best = self._found(head, self.chain.heads[head], tail, self.chain.tails[tail], taken)
        self.ratio = self.best.ratio

    def screen(self) -> Exact:
        """Look at all datasets at once, in doubles; return an upper bound on every ratio, infinite where none is known.

        The search is over if the ratio found equals this bound.
        """
        found = screened(self.chain, self.bound, Runs(self.chain).of, self.watch)
        if found is None:
            return math.inf
        if found.lower > self.ratio:
            self._take(found.head, found.tail, found.taken)
        self.cut_short = found.lower < found.upper
        return found.upper

    def _climb(self) -> None:
        ends = list(product(self.chain.heads.items(), self.chain.tails.items()))
        while ends:  # those that cannot beat the present ratio cannot beat a larger one
            ends = [each for each in reversed(ends) if self.ratio < math.inf and self._improve(*each[0], *each[1])]

    def _narrow(self, forms: list[Form], most: int) -> list[Form]:
        """Return the forms, or only the most positive ones; then the search gives a lower bound only."""
        self.watch()
        if len(forms) > most:
            self.cut_short = True
            forms = sorted(forms, key=positivity, reverse=True)[:most]
        return forms

    def _watched(self, forms: Iterable[Form]) -> Iterator[Form]:
        for number, form in enumerate(forms):
            if number % _WATCHED == 0:
                self.watch()
            yield form

    def _improve(self, head: int, above: Vector, tail: int, below: Vector) -> bool:
        """Look for a witness with this head and tail that beats the present ratio."""
        improved = False
        for value, steps in self._forms(below):
            if self._value(above, value) > 0:
                found = self._found(head, above, tail, below, _listed(steps))
                if found.ratio > self.ratio:
                    self.ratio, self.best, improved = found.ratio, found, True
        return improved

    def _arranged(self, taken: list[Any], below: Vector) -> list[Any]:
        """Return the same witness with the records of interchangeable clients in order."""
        return taken

    def _found(self, head: int, above: Vector, tail: int, below: Vector, taken: list[Any]) -> Found:
        taken = self._arranged(taken, below)
        x: list[Record] = [self.bound.record.values[0]] * self.bound.n
        x_prime = list(x)
        ours, theirs = below, below
        for block, (old, new, bits) in zip(reversed(self.chain.blocks), reversed(taken), strict=True):
            x[block.client], x_prime[block.client] = old, new
            ours = block.pull((old, bits), ours)
            theirs = block.pull((new, bits), theirs) if (new, bits) in block.into else {}
        up, down = _dot(above, ours), _dot(above, theirs)
        letters = [(old, bits) for old, _, bits in taken]
        code = self.chain.code(head, letters, tail)
        return Found(quotient(up, down) if down else math.inf, tuple(x), tuple(x_prime), code)


class Runs:
    """Runs of consecutive clients that are interchangeable given an output."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._commutes: dict[tuple[int, frozenset[int]], bool] = {}

    def of(self, below: frozenset[int]) -> list[list[int]]:
        """Return the runs, as lists of places in the chain, on what leads to the given nodes above the tail."""
        supports = self.supports(below)
        runs: list[list[int]] = []
        for at in range(len(self.chain.blocks)):
            if at and self._commute(at - 1, supports[at + 1]):
                runs[-1].append(at)
            else:
                runs.append([at])
        return runs

    def supports(self, below: frozenset[int]) -> list[frozenset[int]]:
        """Return, for the place above every block (and below the last), the nodes that lead to the given ones."""
        supports = [below]
        for block in reversed(self.chain.blocks):
            here = supports[-1]
            supports.append(
                frozenset(
                    above
                    for arrows in block.into.values()
                    for node in here & arrows.keys()
                    for above, _ in arrows[node]
                )
            )
        return supports[::-1]

    def _commute(self, at: int, support: frozenset[int]) -> bool:
        key = (at, support)
        if key not in self._commutes:
            self._commutes[key] = _interchangeable(self.chain.blocks[at], self.chain.blocks[at + 1], support)
        return self._commutes[key]


class _OneChange(_Search):
    """One client changes its record."""

    @cached_property
    def _runs(self) -> Runs:
        return Runs(self.chain)

    def _value(self, above: Vector, form: Vector) -> Whole:
        return _dot(above, form)

    def _forms(self, below: Vector) -> list[Form]:
        ends = {run[-1] for run in self._runs.of(frozenset(below))}
        forms: list[Form] = []
        suffixes: list[Form] = [(below, ())]
        for at in range(len(self.chain.blocks) - 1, -1, -1):
            block = self.chain.blocks[at]
            pulled = chain(_pulled(block, forms), self._changes(block, suffixes) if at in ends else ())
            forms = self._narrow(prune(self._watched(pulled), self.watch), self._most_forms)
            if any(end < at for end in ends):
                pulled_up = distinct(self._watched(_pulled(block, suffixes)))
                suffixes = self._narrow(extreme(pulled_up), self._most_suffixes)
        return forms

    def _arranged(self, taken: list[Any], below: Vector) -> list[Any]:
        position = {record: at for at, record in enumerate(self.bound.record.values)}
        result = []
        for run in self._runs.of(frozenset(below)):
            steps = [taken[at] for at in run]
            result += sorted(steps, key=lambda step: (position[step[0]], step[0] == step[1], step[2]))
        return result

    def _changes(self, block: Block, suffixes: Sequence[Form]) -> Iterator[Form]:
        """Yield the forms in which this client changes its record."""
        moves = [(bits, *step) for bits, kinds in block.kinds.items() for step in self.relation.steps_of_kinds(kinds)]
        up, down = as_exact(self.ratio).as_integer_ratio()
        for vector, steps in suffixes:
            pulled: dict[int, Vector] = {number: block.pull(letter, vector) for number, letter in block.first.items()}
            for bits, old, new in moves:
                kinds = block.kinds[bits]
                ours, theirs = pulled[kinds[old]], pulled[kinds[new]] if new in kinds else {}
                if any(down * value > up * theirs.get(node, 0) for node, value in ours.items()):
                    value = {
                        node: down * ours.get(node, 0) - up * theirs.get(node, 0)
                        for node in ours.keys() | theirs.keys()
                    }
                    yield value, ((old, new, bits), steps)


class _EveryChange(_Search):
    """Every client may change its record; a form then lives on two copies of the nodes, those of x' negated."""

    def _value(self, above: Vector, form: Vector) -> Whole:
        return _dot(above, form) + _dot({~node: weight for node, weight in above.items()}, form)

    def _forms(self, below: Vector) -> list[Form]:
        up, down = as_exact(self.ratio).as_integer_ratio()
        start = {node: down * value for node, value in below.items()}
        start |= {~node: -up * value for node, value in below.items()}
        forms: list[Form] = [(start, ())]
        for block in reversed(self.chain.blocks):
            forms = self._narrow(prune(self._watched(self._both(block, forms)), self.watch), self._most_forms)
        return forms

    def _both(self, block: Block, forms: Sequence[Form]) -> Iterator[Form]:
        for vector, steps in forms:
            ours = {node: value for node, value in vector.items() if node >= 0}
            theirs = {~node: value for node, value in vector.items() if node < 0}
            pulled = {letter: block.pull(letter, theirs) for letter in block.into}
            for old, bits in block.into:
                left = block.pull((old, bits), ours)
                for new in self.relation.steps[old]:
                    right = pulled.get((new, bits), {})
                    yield left | {~node: value for node, value in right.items()}, ((old, new, bits), steps)


def _listed(steps: Steps) -> list[Any]:
    """Return the choices of a form, from the top block down."""
    taken = []
    while steps:
        step, steps = steps
        taken.append(step)
    return taken


def _pulled(block: Block, forms: Sequence[Form]) -> Iterator[Form]:
    """Yield every form pulled up by every letter of a block."""
    return (
        (block.pull(letter, vector), ((letter[0], letter[0], letter[1]), steps))
        for vector, steps in forms
        for letter in block.first.values()
    )


def _dot(left: Vector, right: Vector) -> Whole:
    return sum(weight * right[node] for node, weight in left.items() if node in right)


def _interchangeable(first: Block, second: Block, support: frozenset[int]) -> bool:
    """Whether two neighbouring blocks give the same, in either order of any two letters, to the nodes below them."""
    if first.into.keys() != second.into.keys() or first.bits != second.bits:
        return False
    kinds = {(first.kinds[bits][record], second.kinds[bits][record]): (record, bits) for record, bits in first.into}
    letters = list(kinds.values())
    for node in support:
        unit: Vector = {node: 1}
        halves = {letter: second.pull(letter, unit) for letter in letters}
        for at, one in enumerate(letters):
            for other in letters[:at]:
                if first.pull(one, halves[other]) != first.pull(other, halves[one]):
                    return False
    return True
