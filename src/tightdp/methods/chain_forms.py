"""Linear forms in the weights above a block of a chain, and pairs of them: which are redundant given the others.

A pair of neighbours and an output give two linear forms in the weights that arrive from above, one for x and one for
x'. They are one form on two copies of the nodes, those of x' as ~node. What the clients from some block on do matters
to the ratio only through this pair, up to a common positive factor: pairs that agree in that are followed once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb

from tightdp.exact.arrays import np
from tightdp.exact.enclosure import balls
from tightdp.exact.numbers import Exact
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole, ball_of, gcd
from tightdp.language.domains import Record
from tightdp.language.neighbours import NeighbouringRelation
from tightdp.language.program import Bound, Dataset
from tightdp.limits import pay
from tightdp.limits.calibrated import FEW_VALUES
from tightdp.methods.chain import Block, Chain, Change, Vector

Choices = tuple[Any, ...]
"""Linked list of what the clients from here down do: ((record under x, record under x', output bits), rest)."""

Form = tuple[Vector, Choices]
"""A linear form in the weights from above, in lowest terms, and what the clients below do to get it."""


_NO_MATTER, _NEVER = -1e30, -1e15
_ERROR = 1e-6
"""A tolerance: rounded logarithms of a dominating form may violate the comparison by this much."""


def distinct(forms: Iterable[Form]) -> list[Form]:
    """Return the forms in lowest terms, one of those that are positive multiples of each other, without zero forms."""
    found: dict[object, Form] = {}
    for vector, steps in forms:
        reduced = {node: value for node, value in vector.items() if value}
        if reduced:
            shared = gcd(*reduced.values())
            if shared != 1:
                reduced = {node: value // shared for node, value in reduced.items()}
            found.setdefault(frozenset(reduced.items()), (reduced, steps))
    return list(found.values())


def extreme(forms: list[Form]) -> list[Form]:
    """Return the forms that span the extreme rays of their cone, if they are on at most three nodes, else all forms.

    What is decided about a suffix is linear in it, so only the extreme ones matter.
    """
    nodes = sorted({node for vector, _ in forms for node in vector})
    if len(nodes) > 3 or len(forms) < 3:
        return forms
    triples = [
        (tuple([vector.get(node, 0) for node in nodes] + [0] * (3 - len(nodes))), form)
        for form in forms
        for vector in (form[0],)
    ]
    triples.sort(key=lambda entry: (quotient(entry[0][0], sum(entry[0])), quotient(entry[0][1], sum(entry[0]))))
    lower, upper = _half_hull(triples), _half_hull(triples[::-1])
    kept = {id(form): form for _, form in (*lower, *upper)}
    return list(kept.values())


def _half_hull(ordered: Sequence[tuple[tuple[Whole, ...], Form]]) -> list[tuple[tuple[Whole, ...], Form]]:
    hull: list[tuple[tuple[Whole, ...], Form]] = []
    for entry in ordered:
        while len(hull) >= 2 and _orientation(hull[-2][0], hull[-1][0], entry[0]) <= 0:
            hull.pop()
        hull.append(entry)
    return hull


def _orientation(a: Sequence[Whole], b: Sequence[Whole], c: Sequence[Whole]) -> Whole:
    """Return a number with the sign of the turn from a over b to c, seen in the plane of sum 1."""
    first = a[0] * (b[1] * sum(c) - sum(b) * c[1])
    second = a[1] * (b[0] * sum(c) - sum(b) * c[0])
    return first - second + sum(a) * (b[0] * c[1] - b[1] * c[0])


def prune(forms: Iterable[Form], watch: Callable[[], None] = lambda: None) -> list[Form]:
    """Drop forms that are nowhere positive, and those that another form beats wherever they are positive."""
    candidates = distinct(form for form in forms if any(value > 0 for value in form[0].values()))
    candidates.sort(key=lambda form: sum(value < 0 for value in form[0].values()))
    rivals = _Rivals(candidates) if len(candidates) > FEW_VALUES else None
    kept: list[int] = []
    for at, (vector, _) in enumerate(candidates):
        pay(watch, len(kept))
        above = kept if rivals is None else rivals.above(kept, at)
        if any(_dominates(candidates[other][0], vector) for other in above):
            continue
        below = kept if rivals is None else rivals.below(at, kept)
        beaten = {other for other in below if _dominates(vector, candidates[other][0])}
        kept = [*(other for other in kept if other not in beaten), at]
    return [candidates[at] for at in kept]


def positivity(form: Form) -> float:
    """Return the rounded logarithm of the positive share of a form's total absolute value."""
    up = sum(value for value in form[0].values() if value > 0)
    return logarithm(up) - logarithm(up + sum(-value for value in form[0].values() if value < 0)) if up else -math.inf


class _Rivals:
    """Finds by rounded logarithms which forms may dominate others; integers then decide.

    A row has the logarithms of a form's positive entries, then of its negative ones. For a missing entry stands a
    number so far below all logarithms that comparisons come out right: as weak form, and as strong one.
    """

    def __init__(self, forms: Sequence[Form]) -> None:
        place = {node: at for at, node in enumerate(dict.fromkeys(node for vector, _ in forms for node in vector))}
        known = np.full((2, len(forms), len(place)), np.nan)
        for row, (vector, _) in enumerate(forms):
            for node, value in vector.items():
                known[0 if value > 0 else 1, row, place[node]] = logarithm(value)
        missing = np.array([_NO_MATTER, _NEVER])[:, None, None]
        self._weak = np.where(np.isnan(known), missing, known)
        self._strong = np.where(np.isnan(known), missing[::-1], known)

    def above(self, strong: Sequence[int], weak: int) -> Sequence[int]:
        """Return those of some forms that may dominate one."""
        return self._perhaps(strong, [weak], strong)

    def below(self, strong: int, weak: Sequence[int]) -> Sequence[int]:
        """Return those of some forms that one may dominate."""
        return self._perhaps([strong], weak, weak)

    def _perhaps(self, strong: Sequence[int], weak: Sequence[int], several: Sequence[int]) -> Sequence[int]:
        differences = self._weak[:, weak] - self._strong[:, strong]
        least, most = differences[0].max(axis=1), differences[1].min(axis=1)
        possible = (least <= most + _ERROR) & (least < -_NEVER / 2)
        return [several[at] for at in np.flatnonzero(possible).tolist()]


def logarithm(value: Whole) -> float:
    """Return log2 of the absolute value of a nonzero number, with an error far below `_ERROR`."""
    if isinstance(value, int):
        return math.log2(abs(value))
    closer = balls(lambda: abs(ball_of(value)).log() / arb(2).log())
    return float(next(each for each in closer if each.rad() < _ERROR / 8).mid())


def _dominates(strong: Vector, weak: Vector) -> bool:
    """Whether some positive multiple of `strong` is at least `weak` at every node.

    The factor must be at least weak/strong where weak is positive, and at most weak/strong where both are negative.
    """
    least_up: Whole = 0
    least_down: Whole = 1
    most_up: Whole = 1
    most_down: Whole = 0
    for node, value in weak.items():
        other = strong.get(node, 0)
        if value > 0:
            if other <= 0:
                return False
            if value * least_down > least_up * other:
                least_up, least_down = value, other
        elif other < 0 and -value * most_down < -other * most_up:
            most_up, most_down = -value, -other
    if any(other < 0 and node not in weak for node, other in strong.items()):
        return False
    return least_up * most_down <= most_up * least_down


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
