"""Questions to the methods: each goes to the method that is estimated to take the fewest steps, until one answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from math import prod
from typing import Generic, TypeVar

from tightdp.errors import LimitError, QueryError
from tightdp.language.neighbours import relation_of
from tightdp.limits.calibrated import ALLOWED, LISTED_ROWS, LITTLE_WORK, MAX_DATASETS, MOST_WORK, NO_LIMIT
from tightdp.methods.base import (
    Comparison,
    Control,
    Exact,
    Looked,
    Ratio,
    Refusal,
    Sought,
    Tight,
    on_table,
    too_much,
)
from tightdp.methods.by_datasets import every_two_laws
from tightdp.methods.by_elimination import exchanges
from tightdp.methods.program import Candidate, Method, Program
from tightdp.methods.ranking import first_ratio, tight_ratio
from tightdp.methods.symmetry import Symmetry, both, of_symmetries, sized
from tightdp.symmetry.sets import AccuracySet, Table

T = TypeVar("T")


@dataclass
class _Asked(Generic[T]):
    """One question on its way to the methods: what it asks of one that applies."""

    program: Program
    control: Control
    ask: Callable[[Method, int], T | Refusal]
    needs: Callable[[Method], int] = lambda method: method.listing
    """The steps that an answer takes of a method which applies with fewer."""
    refusal: Refusal | None = None

    def answers(self) -> Iterator[tuple[Method, T]]:
        """Yield the answers of the methods that apply and do not refuse the question, one by one.

        The next method is always that with the least estimate, the first of these. It may take `ALLOWED` times as many
        steps; then it hands over, and waits with what it is known to need now.
        """
        forced = self.program.forced
        waiting = [(LITTLE_WORK, at) for at, one in enumerate(self.program.candidates) if forced in (None, one.name)]
        while waiting:
            needs, at = heappop(waiting)
            candidate = self.program.candidates[at]
            with self.control.plan.step(candidate.name) as step:
                found = self._asked(candidate, step, NO_LIMIT if forced or needs > MOST_WORK else ALLOWED * needs)
            if isinstance(found, Refusal):
                self._refused(found, step, final=found.needs <= needs)
                if found.needs > needs:
                    heappush(waiting, (found.needs, at))
            else:
                yield found

    def first(self) -> tuple[Method, T]:
        """Return the first answer. Raises QueryError where there is none."""
        for found in self.answers():
            return found
        raise self.error

    def _asked(self, candidate: Candidate, step: Looked, budget: int) -> tuple[Method, T] | Refusal:
        try:
            method = self.program.look(candidate, self.control, budget)
        except RecursionError:
            return Refusal(f"{candidate.name}: the program nests too deeply", "use shorter loops", decisive=True)
        except QueryError as error:
            return Refusal(error.what, error.hint, decisive=True)
        if isinstance(method, Refusal):
            return method
        if (needs := self.needs(method)) > budget:
            return too_much(method.name, needs)
        answer = self.ask(method, budget)
        if isinstance(answer, Refusal):
            return answer
        step.answers, step.estimated, step.actual = True, method.estimate, method.work
        return method, answer

    def _refused(self, refusal: Refusal, step: Looked, final: bool) -> None:
        """Record a refusal; a decisive one is kept, and what is asked again later is none yet."""
        name, _, reason = refusal.reason.partition(": ")
        step.refusal = reason if any(name == each.name for each in self.program.candidates) else refusal.reason
        if final and (self.refusal is None or not self.refusal.decisive):
            self.refusal = refusal

    @property
    def error(self) -> QueryError:
        """The error where no method answers."""
        assert self.refusal is not None
        if self.program.forced is None:
            return self.refusal.error
        reason = self.refusal.reason.removeprefix(f"{self.program.forced}: ")
        return QueryError(f"the method {self.program.forced} does not apply: {reason}", self.refusal.hint)


def first(program: Program, control: Control) -> Method:
    """Return the first method that applies, which is the first one asked for the tight ratio. Raises QueryError."""
    return _Asked(program, control, lambda method, budget: method, lambda method: 0).first()[0]


def laws(program: Program, control: Control) -> tuple[Method, Table]:
    """Return the table of the laws of whole outputs on all datasets. Raises QueryError where there is none."""
    return _Asked(program, control, lambda method, budget: method.laws(control)).first()


def tight(program: Program, control: Control) -> tuple[Method, Tight]:
    """Return the largest likelihood ratio over neighbours and outputs, or an enclosure where a limit is met.

    Raises QueryError where no method gives it.
    """
    known: tuple[Method, Tight] | None = None

    def ask(method: Method, budget: int) -> Tight | Refusal:
        try:
            found = _tight(method, control, budget, again=known is not None)
        except RecursionError:
            return Refusal(f"{method.name}: the program nests too deeply", "use fewer records or shorter loops", True)
        return found if isinstance(found, Refusal) or found.gave_up else _in_order(method, control, found)

    asked = _Asked(program, control, ask, lambda method: 0)
    for method, found in asked.answers():
        if not found.gave_up:
            return method, found
        known = method, found
        if program.datasets > LISTED_ROWS:
            break
    if known is None:
        raise asked.error
    return known


def _tight(method: Method, control: Control, budget: int, again: bool) -> Tight | Refusal:
    """Return the largest ratio by one method; `again` if another one gave up before."""
    found = method.tight(control, budget)
    if not isinstance(found, Refusal) or found.needs:
        return found
    pairs = method.largest(control)
    if isinstance(pairs, Refusal):
        return pairs
    return found if again and pairs.incomplete is not None else ranked(method.program, control, pairs, 1)[1]


def _in_order(method: Method, control: Control, found: Tight) -> Tight:
    """Replace the witness by the first in the order of datasets, where the ratio is known exactly."""
    if found.reason is not None or found.upper != found.lower:
        return found
    return replace(found, witness=first_ratio(method, control, found.lower, found.witness))


def ranked(program: Program, control: Control, pairs: Comparison, top: int) -> tuple[tuple[Ratio, ...], Tight]:
    """Return the largest distinct likelihood ratios over some pairs, and what they imply for the tight one."""
    observes = pairs.incomplete is None and (program.forced == "runs" or bool(program.core(control).evidence))
    ratios = tight_ratio(control.pairs(pairs), top, control.bounded("ε ≥"), observes)
    lower = ratios[0].exp_epsilon if ratios else Fraction(1)
    witness = ratios[0] if ratios else None
    if control.stopped is None:
        return ratios, Tight(lower, lower, witness)
    upper = max(lower, ratio_bound(program, pairs))
    return ratios, Tight(lower, upper, witness, control.stopped)


def every_pair(program: Program, control: Control) -> tuple[Method, Comparison]:
    """Return all pairs of neighbours, up to symmetry; only some where these would be too many.

    Raises QueryError where they are too many and there is no other way.
    """
    return _pairs(program, control, lambda method, budget: method.comparison(control))


def comparison(program: Program, control: Control, sought: Sought | None = None) -> tuple[Method, Comparison]:
    """Return pairs of neighbours on which all largest divergences are attained, of all that `every_pair` returns.

    With `sought`, its largest value is attained on them, where that is above the least.
    """
    return _pairs(program, control, lambda method, budget: method.telling(control, sought))


def _pairs(
    program: Program, control: Control, ask: Callable[[Method, int], Comparison | Refusal]
) -> tuple[Method, Comparison]:
    if program.bound.asks:
        return _whole(program, control)
    asked = _Asked(program, control, ask, lambda method: method.comparing)
    method, found = asked.first()
    if found.incomplete is not None and asked.refusal is not None and program.forced is None:
        return method, replace(found, incomplete=LimitError(asked.refusal.reason, asked.refusal.hint))
    return method, found


def _whole(program: Program, control: Control) -> tuple[Method, Comparison]:
    """Return pairs of neighbours with the laws of whole outputs, up to the order of clients that are treated alike.

    Other symmetries may change outputs, and then not respect in which order an analyst sees their parts.
    """
    method, table = laws(program, control)
    if program.inexact is not None:
        what = "with Gaussian noise, or noise that is cut off, only the tight ε is known for an analyst who adapts"
        raise QueryError(what, "clamp the noise, or give a strategy")
    found = exchanges(program, control)
    if found is None or found.orbits.number_of_pairs > MAX_DATASETS:
        return method, on_table(table, every_two_laws(program.bound, table, control), control)
    return method, on_table(table, found.orbits.privacy_set(), control)


def ratio_bound(program: Program, pairs: Comparison | None = None) -> Exact:
    """Return an upper bound on every likelihood ratio, as far as one is known without a search; often infinite."""
    known = [method.ratio_bound() for method in program.looked]
    return min([math.inf if pairs is None else pairs.bound, *known])


def accuracy_set(program: Program, control: Control) -> tuple[Method, Table, AccuracySet]:
    """Return the datasets on which to measure accuracy, and the laws. Raises QueryError where they are too many."""

    def ask(method: Method, budget: int) -> tuple[Table, AccuracySet] | Refusal:
        found = method.accuracy_set(control)
        if isinstance(found, Refusal):
            return found
        table = method.laws(control)
        return table if isinstance(table, Refusal) else (table, found)

    method, (table, datasets) = _Asked(program, control, ask).first()
    return method, table, datasets


def every_symmetry(program: Program, control: Control) -> tuple[Method, Symmetry]:
    """Return the method for the tight ratio, and all symmetries, even those that no question needs.

    The sizes of the sets are given where they are small.
    """
    method = first(program, control)
    every = method.every_symmetry(control)
    if every is not None:
        return method, every
    own = method.symmetry()
    if (formula := program.moderate(control)) is None:
        return method, own
    found = None if relation_of(program.bound).custom else program.symmetries(control)
    outputs = prod(map(len, formula.values))
    if found is None or found.orbits.number_of_pairs * outputs > LITTLE_WORK:
        return method, own
    sets = found.orbits.privacy_set(), found.orbits.accuracy_set()
    return method, both(own, sized(of_symmetries(found), program.table(control), *sets))
