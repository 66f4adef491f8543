"""Parameters that are one of several values: what each choice leads to, which is best, and the frontier."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from tightdp.errors import ParameterError, QueryError
from tightdp.exact.cells import Cell
from tightdp.exact.lines import parts_in_x, quotient
from tightdp.exact.numbers import SHORT, Exact, down, up
from tightdp.exact.pieces import Piece, largest
from tightdp.exact.roots import between
from tightdp.language.program import Bound
from tightdp.queries.measures import Goal
from tightdp.results.answers import Accuracy, Utility, Verification
from tightdp.results.choices import BestChoices, Choice, Chosen, Option, Value
from tightdp.results.pieces import Solution
from tightdp.results.privacy import Privacy
from tightdp.results.result import Result, Stats, Subject
from tightdp.session.arguments import Claimed
from tightdp.session.asking import Collected, gain_of
from tightdp.session.base import InstanceBase
from tightdp.session.cellwise import Cellwise, Stretch
from tightdp.session.ends import part_of
from tightdp.session.sweep import status_of

_MOST_CHOICES = 1_000


def every_choice(holes: Mapping[str, Sequence[Any]]) -> list[Chosen]:
    """Return all ways to choose, the last parameter changing first. Raises ParameterError where they are too many."""
    size = math.prod(map(len, holes.values()))
    if size > _MOST_CHOICES:
        raise ParameterError(f"there are {size:,} ways to choose", f"leave at most {_MOST_CHOICES:,} open")
    return [tuple(zip(holes, values, strict=True)) for values in product(*holes.values())]


@dataclass(frozen=True)
class Question:
    """The claims, and what is to be best; one of them is given."""

    claimed: Claimed
    goal: Goal | None

    @property
    def claims(self) -> bool:
        return any(each is not None for each in (self.claimed.epsilon, self.claimed.exp_epsilon, self.claimed.beta))

    @property
    def best(self) -> dict[str, Any]:
        """What is to be best, as `solve` takes it."""
        if self.goal is None:
            return {}
        if self.goal.alpha is None:
            return {"best": "utility", "measure": self.goal.measure}
        return {"best": "accuracy", "alpha": self.goal.alpha}


Way = tuple[Chosen, Any]
"""A choice, and the instance in which it is made."""


def choose(subject: Subject, ways: Sequence[Way], question: Question) -> Choice | BestChoices:
    """Return what each choice leads to; with an unknown and no claims, the best one as a function of the unknown."""
    if not question.claims and question.goal is None:
        raise ParameterError("neither a claim nor what is best was given", 'give epsilon, or best="accuracy" and alpha')
    unknown = [hasattr(one, "cellwise") for _, one in ways]
    if any(unknown) and question.goal is not None and not question.claims:
        return _best_by_unknown(subject, ways, question.goal)
    found = [(_solved if of_unknown else _asked)(*way, question) for way, of_unknown in zip(ways, unknown, strict=True)]
    options = [option for option, _, _ in found]
    if question.goal is not None and not any(unknown):
        options = [replace(each, frontier=_on_frontier(each, options, question.goal.least)) for each in options]
    results = [result for _, _, some in found for result in some]
    stats = [result.stats for result in results]
    return Choice(
        subject=subject,
        status=status_of(results),
        claims=found[0][1],
        measure=None if question.goal is None else question.goal.measure,
        alpha=None if question.goal is None else question.goal.alpha,
        unknown=ways[0][1].cellwise.name if any(unknown) else None,
        options=tuple(options),
        best=_best(options, question.goal) if question.claims else (),
        stats=sum(stats[1:], stats[0]),
    )


Found = tuple[Option, tuple[str, ...], list[Result]]
"""An option, the claims in words, and the answers behind them."""


def _asked(chosen: Chosen, one: Any, question: Question) -> Found:
    """Return what a choice leads to where no parameter is unknown."""
    privacy: Privacy = one.privacy(delta=question.claimed.delta)
    answers: list[Result] = [privacy]
    holds, value = None, None
    said: tuple[str, ...] = ()
    if question.claims:
        verified: Verification = one.verify(**vars(question.claimed))
        holds, said = verified.holds, tuple(f"{each.claim} <= {each.claimed}" for each in verified.claims)
        answers.append(verified)
    if question.goal is not None:
        answer = one.utility() if question.goal.alpha is None else one.accuracy(question.goal.alpha, top=1)
        value = _value(answer, question.goal)
        answers.append(answer)
    tight = privacy.exp_epsilon if privacy.status == "exact" else None
    return Option(chosen, holds, tight, value), said, answers


def _value(answer: Accuracy | Utility, goal: Goal) -> Value:
    """Return the value of a measure, or what encloses it."""
    if isinstance(answer, Accuracy):
        if answer.status == "exact" and answer.one_minus_beta is not None:
            return answer.one_minus_beta
        return _enclosed(answer.lower, answer.upper)
    name = f"expected {goal.measure}" if goal.least else goal.measure
    answer.value(name)
    (worst,) = (each for each in answer.measures if each.measure == name)
    if worst.better is None:
        return worst.value
    return _enclosed(*sorted((worst.value, worst.better)))


def _enclosed(low: Exact, high: Exact) -> Value:
    assert not isinstance(low, float)
    assert not isinstance(high, float)
    return down(low, SHORT), up(high, SHORT)


def _solved(chosen: Chosen, one: Any, question: Question) -> Found:
    """Return what a choice leads to with an unknown."""
    solution: Solution = one.solve(**{**vars(question.claimed), **question.best})
    best = solution.best
    option = Option(chosen, solution.holds)
    if best is not None:
        option = replace(option, best=best, value=best.value, exp_epsilon=best.exp_epsilon)
    return option, solution.claims, [solution]


def _best(options: Sequence[Option], goal: Goal | None) -> tuple[Option, ...]:
    """Return the options for which the claims hold and no other one is surely better."""
    if goal is None:
        return ()
    allowed = [option for option in options if option.holds is True or isinstance(option.holds, tuple)]
    allowed = [option for option in allowed if option.value is not None]
    return tuple(each for each in allowed if not any(_better(other, each, goal.least) for other in allowed))


def _better(one: Option, other: Option, least: bool) -> bool:
    """Whether a value is surely better than another one."""
    ours, theirs = _ends(one.value), _ends(other.value)
    return bool(ours[1] < theirs[0] if least else ours[0] > theirs[1])


def _ends(value: Any) -> tuple[Any, Any]:
    return value if isinstance(value, tuple) else (value, value)


def _on_frontier(option: Option, options: Sequence[Option], least: bool) -> bool | None:
    """Whether no other option is as private and as good, and more so in one of both; None where that is not known."""
    if any(each.exp_epsilon is None or isinstance(each.value, tuple) for each in options):
        return None
    for other in options:
        as_private, as_good = _at_most(other.exp_epsilon, option.exp_epsilon), not _better(option, other, least)
        more = not _at_most(option.exp_epsilon, other.exp_epsilon) or _better(other, option, least)
        if as_private and as_good and more:
            return False
    return True


def _at_most(one: Exact | None, other: Exact | None) -> bool:
    if isinstance(one, float) or isinstance(other, float):  # infinite
        return isinstance(other, float)
    assert one is not None
    assert other is not None
    return bool(one <= other)


# the best choice as a function of an unknown


@dataclass(frozen=True)
class _BestOf:
    """The largest gain of some bound mechanisms, with the choice that has it; all are asked on the same cells."""

    ways: tuple[tuple[Chosen, Bound], ...]
    name: str
    goal: Goal
    watch: Callable[[], None]
    continuous: bool = False

    def collect(self, instance: InstanceBase) -> Collected:
        """Ask all mechanisms; see `Question` of `cellwise`."""
        found = [(chosen, *gain_of(self.goal).collect(one)) for chosen, one in self._with_value_of(instance)]
        stats: list[Stats] = [each for _, _, each in found]

        def pieces(cell: Cell) -> list[Stretch]:
            candidates = [[_piece(stretch, chosen) for stretch in of_cell(cell)] for chosen, of_cell, _ in found]
            best = largest(candidates, cell.low, cell.high, self.watch)
            return [Stretch(each.low, each.high, quotient(each.above, each.below), each.witness) for each in best]

        return pieces, sum(stats[1:], stats[0])

    def at(self, instance: InstanceBase) -> tuple[Any, Any]:
        """Ask all mechanisms for their gain at a value of the unknown."""
        best: tuple[Any, Any] | None = None
        for chosen, one in self._with_value_of(instance):
            gain, _ = gain_of(self.goal).at(one)
            if best is None or gain > best[0]:
                best = gain, chosen
        assert best is not None
        return best

    def _with_value_of(self, instance: InstanceBase) -> list[tuple[Chosen, InstanceBase]]:
        value = {self.name: instance.bound.parameters[self.name]}
        backend, nodes, method = instance.backend, instance.max_nodes, instance.method
        bounds = [(chosen, replace(bound, parameters={**bound.parameters, **value})) for chosen, bound in self.ways]
        return [(chosen, InstanceBase(bound, backend, max_nodes=nodes, method=method)) for chosen, bound in bounds]


def _piece(stretch: Stretch, chosen: Chosen) -> Piece[Chosen]:
    above, below = parts_in_x(stretch.value)
    positive = below.sign_after(between(stretch.low, stretch.high)) > 0
    return Piece(stretch.low, stretch.high, *((above, below) if positive else (-above, -below)), chosen)


def _best_by_unknown(subject: Subject, ways: Sequence[Way], goal: Goal) -> BestChoices:
    ours: Cellwise = ways[0][1].cellwise
    if any(not hasattr(one, "cellwise") or one.cellwise.name != ours.name for _, one in ways):
        raise QueryError("not every choice leaves the same parameter unknown", "ask for fewer choices")
    question = _BestOf(tuple((chosen, one.bound) for chosen, one in ways), ours.name, goal, ours.watch)
    parts = tuple(
        part_of(ours, each, -each.value if goal.least else each.value, each.witness) for each in ours.ask(question)
    )
    what = "one_minus_beta" if goal.alpha is not None else "value"
    at = () if goal.alpha is None else (("alpha", goal.alpha),)
    return BestChoices(
        subject=subject, unknown=ours.unknown, what=what, pieces=parts, at=at, measure=goal.measure, stats=ours.stats
    )
