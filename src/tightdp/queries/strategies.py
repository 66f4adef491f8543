"""Interactive mechanisms: the best that an analyst who adapts can do, a game solved from its end.

An output of such a mechanism is a conversation: what the analyst was shown, which choice was drawn, each with the same
probability, and what the function returned (`Bound.asks`). For a strategy, conversations that it does not lead to have
the probability 0, and the others their probability without these draws. So the largest likelihood ratio over strategies
and conversations is that of the conversations as they are. What is a sum over conversations (δ at an e^ε, a Rényi
moment) is added up where the mechanism draws, and the largest is taken where the analyst chooses; for every e^ε at
once, where the mechanism draws the tests add up (Minkowski), and where the analyst chooses their upper hull is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole
from tightdp.language.analyst import Asked, Move, Strategy
from tightdp.language.outputs import Output, as_output, order_of
from tightdp.language.program import Bound, Dataset
from tightdp.logic.count import Weights
from tightdp.methods.base import Pair
from tightdp.queries.curves import least_of
from tightdp.queries.hull import NONE, Event, Step, steepest_first, tests, upper_hull
from tightdp.queries.privacy import Ends
from tightdp.symmetry.sets import Table

Brought: TypeAlias = Any
"""What a conversation brings: an integer, or a number that may be infinite."""
Gain: TypeAlias = Callable[[int], Brought]
"""What each conversation brings, by its code."""


def choices_of(asked: Asked) -> int:
    """Return how many choices there were."""
    choices = asked[1]
    return len(choices) if isinstance(choices, tuple) else choices


def answer_of(asked: Asked, at: int) -> Output:
    """Return the choice at a place; the place itself, where the choices are no outputs."""
    choices = asked[1]
    return choices[at] if isinstance(choices, tuple) else at


def multiplicity(view: Output) -> int:
    """Return by what the probability of a conversation is to be multiplied, so that its answers are given."""
    return prod(map(choices_of, view[1]))


def path_of(view: Output) -> Strategy:
    """Return the moves that lead to a conversation."""
    moves: tuple[Move, ...] = ()
    for asked in reversed(view[1]):
        moves = (Move(asked[0], answer_of(asked, asked[2]), moves),)
    return Strategy(moves)


@dataclass
class _Node:
    """A moment at which the mechanism goes on: it ends with one of some codes, or asks one of some questions.

    A question, with what is shown and the choices, has a node for each answer.
    """

    ends: list[int] = field(default_factory=list)
    questions: dict[tuple[Any, Any], list[_Node]] = field(default_factory=dict)


class Game:
    """All conversations of a table of laws, as a tree."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._root = _Node()
        self._times: dict[int, int] = {}
        """What the weight of a code is multiplied by."""

    def weights(self, pair: Pair) -> tuple[dict[int, Step], Whole, Whole]:
        """Return the weights of all conversations under x' and x, given their answers, and the totals of both laws."""
        theirs, ours = self._table.weights(pair.x_prime), self._table.weights(pair.x)
        found = {}
        for code in ours.by_code.keys() | theirs.by_code.keys():
            times = self._times.get(code) or self._placed(code)
            found[code] = theirs.by_code.get(code, 0) * times, ours.by_code.get(code, 0) * times
        return found, theirs.total, ours.total

    def _placed(self, code: int) -> int:
        view = self._table.codes.first(code)
        node = self._root
        for asked in view[1]:
            history, choices, at = asked
            key = as_output(history), choices
            if key not in node.questions:
                node.questions[key] = [_Node() for _ in range(choices_of(asked))]
            node = node.questions[key][at]
        node.ends.append(code)
        self._times[code] = multiplicity(view)
        return self._times[code]

    def best(self, gain: Gain) -> Brought:
        """Return the largest sum of what conversations bring over all strategies."""
        return _best(self._root, gain)

    def strategy(self, gain: Gain) -> tuple[Strategy, tuple[Output, ...]]:
        """Return a strategy that attains it, without moves that bring nothing, and the outcomes that bring something.

        Of answers that bring the same the first is taken.
        """
        events: list[Output] = []
        moves = self._moves(self._root, gain, events)
        return Strategy(moves), tuple(sorted(events, key=order_of))

    def _moves(self, node: _Node, gain: Gain, events: list[Output]) -> tuple[Move, ...]:
        events += [as_output(self._table.codes.first(code)) for code in node.ends if gain(code) > 0]
        moves = []
        for (history, choices), answers in sorted(node.questions.items(), key=lambda each: order_of(each[0][0])):
            brought = [_best(answer, gain) for answer in answers]
            at = brought.index(max(brought))
            if brought[at] > 0:
                then = self._moves(answers[at], gain, events)
                moves.append(Move(history, answer_of((history, choices, at), at), then))
        return tuple(moves)

    def tests(self, pair: Pair) -> tuple[list[Step], Whole, Whole]:
        """Return the corners of the upper hull of all tests of all strategies, as steps, and the totals of both laws.

        The steps become less steep. Together they are two laws of which the tests are those corners.
        """
        weights, theirs, ours = self.weights(pair)
        return _steps(self._root, weights), theirs, ours


def _best(node: _Node, gain: Gain) -> Brought:
    total = sum(map(gain, node.ends))
    for answers in node.questions.values():
        total += max(_best(answer, gain) for answer in answers)
    return total


def _steps(node: _Node, weights: dict[int, Step]) -> list[Step]:
    steps = [edge for code in node.ends if any(edge := weights.get(code, (0, 0)))]
    for answers in node.questions.values():
        steps += _hull([_steps(answer, weights) for answer in answers])
    return steepest_first(steps)


def _hull(chains: Sequence[list[Step]]) -> list[Step]:
    """Return the upper hull of several concave chains, which begin and end at the same points, as steps."""
    different = list({tuple(chain): chain for chain in chains}.values())
    if len(different) == 1:
        return different[0]
    corners = dict.fromkeys(point for chain in different for point in tests(chain))
    found = upper_hull([NONE, *(Event(*point, 1, None) for point in corners)])
    steps = ((right.x - left.x, right.y - left.y) for left, right in pairwise([NONE, *found]))
    return [step for step in steps if any(step)]


class _Hulled(Table):
    """Two laws of which the tests are the corners of the hull of all strategies for one pair of neighbours."""

    def __init__(self, bound: Bound, table: Table, pair: Pair, game: Game) -> None:
        super().__init__(bound, table.codes)
        steps, theirs, ours = game.tests(pair)
        self._prime = Weights({at: step[0] for at, step in enumerate(steps) if step[0]}, theirs)
        self._own, self._x = Weights({at: step[1] for at, step in enumerate(steps) if step[1]}, ours), pair.x

    def event(self, codes: Sequence[int], x: Dataset) -> tuple[Output, ...]:
        """Return nothing: the codes are no outputs."""
        return ()

    def weights(self, x: Dataset) -> Weights:
        return self._own if x == self._x else self._prime


class Games:
    """The games of pairs of neighbours, one for each table of laws."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound
        self._known: dict[int, tuple[Table, Game]] = {}

    def of(self, pair: Pair) -> Game:
        """Return the game that a pair belongs to."""
        if id(pair.table) not in self._known:
            self._known[id(pair.table)] = pair.table, Game(pair.table)
        return self._known[id(pair.table)][1]

    def hulled(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield pairs with the laws of which the tests are those of the best strategies."""
        for pair in pairs:
            yield Pair(pair.x, pair.x_prime, pair.size, _Hulled(self._bound, pair.table, pair, self.of(pair)))

    def excess(self, pair: Pair, t: Exact) -> tuple[Gain, Whole]:
        """Return by how much P exceeds t·P' on a conversation, at least 0, and by what that is to be divided.

        Where t is infinite, only conversations count that x' never has.
        """
        weights, theirs, ours = self.of(pair).weights(pair)
        if isinstance(t, float):
            return lambda code: 0 if weights.get(code, (1, 0))[0] else weights[code][1], ours
        up, down = t.as_integer_ratio()
        left, right = theirs * down, ours * up

        def gain(code: int) -> Brought:
            prime, own = weights.get(code, (0, 0))
            above = own * left - prime * right
            return above if above > 0 else 0

        return gain, ours * left

    def laws(self, pair: Pair) -> Adaptive:
        """Return the laws of a pair of neighbours, to be asked for what the best strategy brings."""
        return Adaptive(self, pair)


class Adaptive:
    """The laws of two neighbours whose values are the largest over all strategies of an analyst."""

    def __init__(self, games: Games, pair: Pair) -> None:
        self._games, self._pair = games, pair
        self.delta = cache(self._delta)

    def _delta(self, t: Number) -> Ends:
        gain, scale = self._games.excess(self._pair, t)
        return (quotient(self._games.of(self._pair).best(gain), scale),) * 2

    def least_ratio(self, delta: Number) -> Ends:
        (hulled,) = self._games.hulled([self._pair])
        found = least_of(hulled.table.weights(hulled.x), hulled.table.weights(hulled.x_prime), delta)
        return (max(found, Fraction(1)),) * 2

    def power_sum(self, order: Fraction) -> Ends:
        """Known for an integer order a >= 2, else QueryError."""
        if order.denominator != 1:
            what = "with an analyst who adapts, Rényi divergences are known for integer orders"
            raise QueryError(what, f"ask for the orders {math.floor(order)} and {math.ceil(order)}")
        game, whole = self._games.of(self._pair), order.numerator
        weights, theirs, ours = game.weights(self._pair)

        def gain(code: int) -> Exact:
            prime, own = weights.get(code, (0, 0))
            if not own:
                return Fraction(0)
            return quotient(own**whole, prime ** (whole - 1)) if prime else math.inf

        found: Exact = game.best(gain)
        return (found if isinstance(found, float) else found * quotient(theirs ** (whole - 1), ours**whole),) * 2

    def surely_below(self, t: Number, delta: Number) -> bool:
        return self.delta(t)[0] <= delta
