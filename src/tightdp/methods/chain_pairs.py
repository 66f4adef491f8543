"""Pairs of forms along a chain: every likelihood ratio, and outputs that a neighbour cannot give.

A pair of neighbours and an output give two linear forms in the weights that arrive from above, one for x and one for
x'. They are one form on two copies of the nodes, those of x' as ~node. What the clients from some block on do matters
to the ratio only through this pair, up to a common positive factor: pairs that agree in that are followed once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from tightdp.exact.numbers import Exact
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole
from tightdp.language.domains import Record
from tightdp.language.neighbours import NeighbouringRelation, relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.methods.chain import Block, Chain, Change, Vector
from tightdp.methods.chain_forms import Choices, Form, distinct

__all__ = ["Found", "TooManyForms", "both", "dot", "every_ratio", "found", "impossible", "listed", "moves_of"]

MOST_PAIRS = 50_000
"""How many pairs of forms are followed at one block in search of every ratio."""
MOST_SUPPORTS = 2_000
"""How many pairs of sets of nodes, in search of an infinite ratio."""


class TooManyForms(Exception):
    """There are more than MOST_PAIRS pairs of forms at one block."""


@dataclass(frozen=True)
class Found:
    """A dataset, a neighbour and an output code, and the ratio of their probabilities (infinity: division by 0)."""

    ratio: Exact
    x: Dataset
    x_prime: Dataset
    code: int


def found(chain: Chain, bound: Bound, head: int, tail: int, taken: Sequence[Change]) -> Found:
    """Return the witness in which the clients do `taken`, one choice a block; all others have the first record."""
    x: list[Record] = [bound.record.values[0]] * bound.n
    x_prime = list(x)
    ours = theirs = chain.tails[tail]
    for block, (old, new, bits) in zip(reversed(chain.blocks), reversed(taken), strict=True):
        x[block.client], x_prime[block.client] = old, new
        ours, theirs = block.pull((old, bits), ours), block.pull((new, bits), theirs)
    up, down = dot(chain.heads[head], ours), dot(chain.heads[head], theirs)
    code = chain.code(head, [(old, bits) for old, _, bits in taken], tail)
    return Found(quotient(up, down) if down else math.inf, tuple(x), tuple(x_prime), code)


def every_ratio(
    chain: Chain, bound: Bound, watch: Callable[[], None] = lambda: None
) -> Iterator[tuple[Exact, Dataset, Dataset, int]]:
    """Yield every likelihood ratio P(y|x)/P(y|x') over neighbours and outputs with x, x' and the code of y.

    A ratio may be 0 or infinite; 0/0 is left out. Some ratios are repeated. The relation must be built in. Raises
    TooManyForms where there are too many pairs of forms, and LimitError where `watch` does.
    """
    seen = {block.client for block in chain.blocks}
    unseen = next((client for client in range(bound.n) if client not in seen), None)
    steps = relation_of(bound).steps
    move = next(((old, new) for old, after in steps.items() for new in after if new != old), None)
    for (head, above), (tail, below) in product(chain.heads.items(), chain.tails.items()):
        moved = unseen is not None and move is not None
        for vector, choices in _pairs_of_forms(chain, bound, below, moved, watch, distinct, MOST_PAIRS):
            if any(node in above or ~node in above for node in vector):
                one = found(chain, bound, head, tail, listed(choices))
                x, x_prime = list(one.x), list(one.x_prime)
                if x == x_prime and unseen is not None and move is not None:
                    x[unseen], x_prime[unseen] = move
                yield one.ratio, tuple(x), tuple(x_prime), one.code
                if one.ratio == math.inf:  # built-in relations are symmetric
                    yield Fraction(0), tuple(x_prime), tuple(x), one.code


def impossible(chain: Chain, bound: Bound, watch: Callable[[], None]) -> tuple[int, int, list[Change]] | None:
    """Return head, tail and choices of an output that some x can give and a neighbour cannot; None proves nothing.

    Weights are not negative, so whether a probability is 0 depends only on which nodes can be reached.
    """
    for tail, below in chain.tails.items():
        try:
            forms = _pairs_of_forms(chain, bound, below, False, watch, _widest, MOST_SUPPORTS)
        except TooManyForms:
            continue
        for (head, above), (vector, choices) in product(chain.heads.items(), forms):
            if any(node in above for node in vector) and not any(~node in above for node in vector):
                return head, tail, listed(choices)
    return None


def _widest(forms: Iterable[Form]) -> list[Form]:
    """Return forms by their nodes alone, without those from which x arrives at no more, and x' at no fewer nodes."""
    nodes = {frozenset(vector): choices for vector, choices in forms if any(node >= 0 for node in vector)}
    kept: list[tuple[frozenset[int], frozenset[int]]] = []
    found: list[Form] = []
    for every in sorted(nodes, key=lambda every: sum(-1 if node >= 0 else 1 for node in every)):
        ours = frozenset(node for node in every if node >= 0)
        theirs = every - ours
        if not any(ours <= more and fewer <= theirs for more, fewer in kept):
            kept.append((ours, theirs))
            found.append((dict.fromkeys(every, 1), nodes[every]))
    return found


def _pairs_of_forms(
    chain: Chain,
    bound: Bound,
    below: Vector,
    moved_already: bool,
    watch: Callable[[], None],
    reduced: Callable[[Iterable[Form]], list[Form]],
    most: int,
) -> list[Form]:
    """Return the forms of x and x' together for neighbours and all outputs of a tail, reduced at every block."""
    relation = relation_of(bound)
    start: Form = (below | {~node: value for node, value in below.items()}, ())
    still, moved = [start], [start] if moved_already or relation.every_record else []
    for block in reversed(chain.blocks):
        watch()
        staying, changing = moves_of(block, relation)
        if relation.every_record:
            moved = reduced(both(block, moved, [*staying, *changing]))
        else:
            moved = reduced((*both(block, moved, staying), *both(block, still, changing)))
            still = reduced(both(block, still, staying))
        if len(moved) + len(still) > most:
            raise TooManyForms
    return moved


def moves_of(block: Block, relation: NeighbouringRelation) -> tuple[list[Change], list[Change]]:
    """Return how a record may stay the same, and how it may change, one way for every two records that act unlike."""
    staying: list[Change] = []
    changing: list[Change] = []
    for bits, kinds in block.kinds.items():
        first = {number: record for record, number in reversed(kinds.items())}
        staying += ((record, record, bits) for record in first.values())
        changing += ((old, new, bits) for old, new in relation.steps_of_kinds(kinds))
    if relation.every_record:
        staying = [stay for stay in staying if stay[0] in relation.steps[stay[0]]]
    return staying, changing


def both(block: Block, forms: Iterable[Form], moves: Sequence[Change]) -> Iterator[Form]:
    """Yield every form of x and x' pulled up by what the client may do."""
    places = [(block.kinds[bits].get(old), block.kinds[bits].get(new)) for old, new, bits in moves]
    for vector, choices in forms:
        ours = {node: value for node, value in vector.items() if node >= 0}
        theirs = {~node: value for node, value in vector.items() if node < 0}
        left: dict[int | None, Vector] = {number: block.pull(one, ours) for number, one in block.first.items()}
        right: dict[int | None, Vector] = {
            number: {~node: value for node, value in block.pull(one, theirs).items()}
            for number, one in block.first.items()
        }
        for move, (old, new) in zip(moves, places, strict=True):
            if mine := left.get(old, {}):
                yield mine | right.get(new, {}), (move, choices)


def listed(steps: Choices) -> list[Change]:
    """Return the choices of a form, from the top block down."""
    taken = []
    while steps:
        step, steps = steps
        taken.append(step)
    return taken


def dot(left: Vector, right: Vector) -> Whole:
    """Return the value of a form on weights."""
    return sum(weight * right[node] for node, weight in left.items() if node in right)
