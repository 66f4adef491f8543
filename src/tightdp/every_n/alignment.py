"""Alignment: a run on x is compared with a run on x' whose noise is shifted so that both publish the same.

A cell is a state of the run on x', one of the run on x, and a shift: by how much the symbolic integers of the latter
are larger. Its price is a number b such that, whatever is published from there on, the run on x has at most b times the
probability of the run on x'. Which of our paths is compared with which of theirs, and how noise is shifted, is chosen
in floats; the prices are then computed exactly, and every inequality is checked with them. The proof is in
docs/every-n.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from tightdp.every_n.paths import Path, Paths
from tightdp.every_n.shifts import Shift, shifts, steps_of
from tightdp.exact.field import Number

_MOST_CELLS = 3000
_MOST_OPTIONS = 200_000
_ROUNDS = 40
_OFTEN = 10
"""The prices of the last round's plans are computed once in this many rounds."""
_IMPROVED = 2
_REPEATED = 3000
_ENOUGH = 1e-12
_LARGEST = 1e15
_MARGIN = Fraction(1, 10**8)


class Cell(NamedTuple):
    """The state of the run on x', that of the run on x, and by how much the values of the latter are larger."""

    theirs: int
    ours: int
    shift: Shift


_END = Cell(-1, -1, ())
"""After all that is published."""


class Option(NamedTuple):
    """One of their paths that our path can be compared with, and the cell that both then reach.

    Our path has at most `gain` times the probability of their path with the noise that is shifted.
    """

    theirs: int
    target: Cell
    gain: Number


Step: TypeAlias = tuple[tuple[Option, ...], ...]
"""What both runs do next: for each of our paths what it can be compared with."""
Plan: TypeAlias = tuple[tuple[tuple[Option, Fraction], ...], ...]
"""For each of our paths the shares of it that are compared with their paths; they sum to 1."""


@dataclass(frozen=True)
class Alignment:
    """Exact prices, and what they follow from: which paths are compared in each cell, and at the start."""

    prices: dict[Cell, Number]
    plans: dict[Cell, tuple[Plan, ...]]
    starts: tuple[Plan, ...]

    def ratio(self) -> Number:
        """Return the upper bound on e^ε for every n."""
        return max((_price(plan, self.prices) for plan in self.starts), default=Fraction(1))

    def holds(self) -> bool:
        """Check that every price is large enough for what may come next."""
        return all(
            self.prices[cell] >= _price(plan, self.prices) for cell, plans in self.plans.items() for plan in plans
        )


def align(paths: Paths, watch: Callable[[], None] = lambda: None) -> Alignment | None:
    """Return an alignment with the least ratio found; None where there is none, or the search would be too large.

    `watch` is called from time to time, and may raise to stop.
    """
    search = _Search(paths)
    starts = list(search.starts())
    steps = search.closed(starts)
    if steps is None:
        return None
    near = _near_prices(steps, watch)
    plans: dict[Cell, tuple[Plan, ...]] = {}
    chosen = []
    for start in starts:
        value, plan = _compared(start, near)
        if value > _LARGEST:
            return None
        chosen.append(plan)
    pending = [option.target for plan in chosen for some in plan for option, _ in some]
    while pending:
        cell = pending.pop()
        if cell in plans or cell == _END:
            continue
        plans[cell] = tuple(_compared(step, near)[1] for step in steps[cell])
        pending += [option.target for plan in plans[cell] for some in plan for option, _ in some]
    alignment = Alignment(_exact_prices(plans, near), plans, tuple(chosen))
    return alignment if alignment.holds() else None


class _Search:
    """Finds which of our paths can be compared with which of theirs, from every cell that is reached."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._noise = steps_of(paths)
        self._places = {path.target: len(path.values) for path in paths.each()}
        moves = [(x, x) for x in paths.steps]
        if paths.all_at_once:
            moves = sorted({*moves, *paths.moves}, key=repr)
        self._steps = [(paths.steps[old], paths.steps[new]) for old, new in moves]

    def starts(self) -> Iterator[Step]:
        """Yield the steps in which two runs begin to differ."""
        paths = self._paths
        if paths.all_at_once:
            yield self._options(paths.before, paths.before, ())
            return
        for old, new in paths.moves:
            for state, ours in paths.steps[old].items():
                yield self._options(ours, paths.steps[new].get(state, ()), (0,) * self._places[state])

    def closed(self, starts: Sequence[Step]) -> dict[Cell, tuple[Step, ...]] | None:
        """Return the steps from all cells that are reached; None where there are too many."""
        found: dict[Cell, tuple[Step, ...]] = {}
        pending = [option.target for step in starts for some in step for option in some]
        options = 0
        while pending:
            cell = pending.pop()
            if cell in found or cell == _END:
                continue
            steps = [
                self._options(ours.get(cell.ours, ()), theirs.get(cell.theirs, ()), cell.shift)
                for ours, theirs in self._steps
            ]
            after = self._paths.after
            steps.append(self._options(after.get(cell.ours, ()), after.get(cell.theirs, ()), cell.shift, last=True))
            found[cell] = tuple(dict.fromkeys(steps))
            reached = [option.target for step in steps for some in step for option in some]
            pending += reached
            options += len(reached)
            if len(found) > _MOST_CELLS or options > _MOST_OPTIONS:
                return None
        return found

    def _options(self, ours: Sequence[Path], theirs: Sequence[Path], before: Shift, last: bool = False) -> Step:
        found = []
        for one in ours:
            options = []
            for at, other in enumerate(theirs):
                for shift, cost in shifts(one, other, before, self._noise).items():
                    target = _END if last else Cell(other.target, one.target, shift)
                    options.append(Option(at, target, cost * one.probability / other.probability))
            found.append(tuple(options))
        return tuple(found)


def _near_prices(steps: dict[Cell, tuple[Step, ...]], watch: Callable[[], None]) -> dict[Cell, float]:
    """Return the least prices found, in floats; infinite where there are none.

    They are raised from below. Where that takes long, the plans of the last round are kept, and their prices computed.
    """
    prices = {_END: 1.0, **dict.fromkeys(steps, 0.0)}
    plans: dict[Cell, list[Plan]] = {}
    waiting: dict[Cell, set[Cell]] = {}
    for cell, some in steps.items():
        for option in (option for step in some for options in step for option in options):
            waiting.setdefault(option.target, set()).add(cell)
    pending = set(steps)
    for number in range(1, _ROUNDS + 1):
        watch()
        changed = set()
        for cell in pending:
            value, plans[cell] = _cheapest(steps[cell], prices)
            if value > prices[cell] * (1 + _ENOUGH):
                prices[cell] = value
                changed.add(cell)
        pending = {cell for each in changed for cell in waiting.get(each, ())}
        if not pending:
            return prices
        if number % _OFTEN == 0:
            found = _of_plans(plans, prices)
            if number == _ROUNDS or all(found[cell] < math.inf for cell in steps if prices[cell] < math.inf):
                return _improved(steps, found)
    return prices


def _cheapest(steps: Sequence[Step], prices: dict[Cell, float]) -> tuple[float, list[Plan]]:
    """Return the least price for all steps of a cell, and how paths are compared for it."""
    some = [_compared(step, prices) for step in steps]
    value = max((price for price, _ in some), default=0.0)
    return (math.inf if value > _LARGEST else value), [plan for _, plan in some]


def _improved(steps: dict[Cell, tuple[Step, ...]], prices: dict[Cell, float]) -> dict[Cell, float]:
    """Return the prices after improving the plans at the given prices."""
    for _ in range(_IMPROVED):
        plans = {cell: _cheapest(some, prices)[1] for cell, some in steps.items() if prices[cell] < math.inf}
        below = {cell: 0.0 if 0 < value < math.inf and cell != _END else value for cell, value in prices.items()}
        found = _of_plans(plans, below)
        prices = {cell: min(value, found[cell]) for cell, value in prices.items()}
    return prices


def _of_plans(plans: dict[Cell, list[Plan]], prices: dict[Cell, float]) -> dict[Cell, float]:
    """Return prices of fixed plans, iterated up from lower ones; infinite where there are none, or no convergence."""
    at = {cell: number for number, cell in enumerate(prices)}
    rows: list[tuple[int, dict[int, float]]] = []
    for cell, some in plans.items():
        for plan in some:
            totals: dict[int, dict[int, float]] = {}
            for option, share in (each for part in plan for each in part):
                total = totals.setdefault(option.theirs, {})
                target = at[option.target]
                total[target] = total.get(target, 0.0) + float(share * option.gain)
            rows += [(at[cell], total) for total in totals.values()]
    entries = [(value, number, target) for number, (_, total) in enumerate(rows) for target, value in total.items()]
    data, row, column = (np.array([entry[part] for entry in entries]) for part in range(3))
    table = coo_matrix((data, (row.astype(int), column.astype(int))), shape=(len(rows), len(at))).tocsr()
    cells = np.array([cell for cell, _ in rows], dtype=int)
    endless = np.array([value == math.inf for value in prices.values()])
    values = np.array([0.0 if value == math.inf else value for value in prices.values()])
    last = values
    for _ in range(_REPEATED):
        last, values = values, values.copy()
        np.maximum.at(values, cells, np.minimum(table @ values, 2 * _LARGEST))
        if (values <= last * (1 + _ENOUGH)).all():
            break
    endless |= (values > _LARGEST) | (values > last * (1 + _ENOUGH))
    while True:
        more = endless.copy()
        more[cells[table @ endless.astype(float) > 0]] = True
        if (more == endless).all():
            return {cell: math.inf if endless[number] else float(values[number]) for cell, number in at.items()}
        endless = more


def _compared(step: Step, prices: dict[Cell, float]) -> tuple[float, Plan]:
    """Return the least price of a step, and how our paths are compared for it."""
    best: list[dict[int, tuple[float, Option]]] = []
    for options in step:
        cheapest: dict[int, tuple[float, Option]] = {}
        for option in options:
            price = prices[option.target]
            value = float(option.gain) * price if price < math.inf else math.inf
            if value < math.inf and (option.theirs not in cheapest or value < cheapest[option.theirs][0]):
                cheapest[option.theirs] = value, option
        if not cheapest:
            return math.inf, ()
        best.append(cheapest)
    if all(len(cheapest) == 1 for cheapest in best):
        shares = [[1.0] for _ in best]
    else:
        shares = _balanced([[(their, value) for their, (value, _) in each.items()] for each in best])
    plan: list[tuple[tuple[Option, Fraction], ...]] = []
    totals: dict[int, float] = {}
    for cheapest, some in zip(best, shares, strict=True):
        exact = [Fraction(share).limit_denominator(1 << 20) for share in some]
        exact[exact.index(max(exact))] += 1 - sum(exact)
        for (their, (value, _)), share in zip(cheapest.items(), exact, strict=True):
            totals[their] = totals.get(their, 0.0) + float(share) * value
        parts = zip(cheapest.values(), exact, strict=True)
        plan.append(tuple((option, share) for (_, option), share in parts if share))
    return max(totals.values(), default=0.0), tuple(plan)


def _balanced(values: list[list[tuple[int, float]]]) -> list[list[float]]:
    """Return shares of our paths that minimize the largest burden on any of their paths."""
    size = sum(map(len, values))
    theirs = {each: at for at, each in enumerate(sorted({their for some in values for their, _ in some}))}
    above, below = np.zeros((len(theirs), size + 1)), np.zeros((len(values), size + 1))
    above[:, size] = -1.0
    at = 0
    for number, some in enumerate(values):
        for their, value in some:
            above[theirs[their], at], below[number, at] = value, 1.0
            at += 1
    aim = np.zeros(size + 1)
    aim[size] = 1.0
    found = linprog(aim, A_ub=above, b_ub=np.zeros(len(theirs)), A_eq=below, b_eq=np.ones(len(values)), method="highs")
    flat = iter([1.0 / len(some) for some in values for _ in some] if found.x is None else found.x[:size])
    return [[min(max(float(next(flat)), 0.0), 1.0) for _ in some] for some in values]


def _exact_prices(plans: dict[Cell, tuple[Plan, ...]], near: dict[Cell, float]) -> dict[Cell, Number]:
    """Return the least exact prices; slightly larger ones where the iteration only approaches these."""
    prices: dict[Cell, Number] = {_END: Fraction(1), **dict.fromkeys(plans, Fraction(0))}
    for _ in range(len(plans) + 2):
        more = {cell: max(_price(plan, prices) for plan in some) for cell, some in plans.items() if some}
        more = {cell: value for cell, value in more.items() if value > prices[cell]}
        if not more:
            return prices
        prices.update(more)
    larger = {cell: Fraction(near[cell]).limit_denominator(10**12) * (1 + _MARGIN) for cell in plans}
    return {**larger, _END: Fraction(1)}


def _price(plan: Plan, prices: dict[Cell, Number]) -> Number:
    """Return what the most expensive of their paths has to bear."""
    totals: dict[int, Number] = {}
    for some in plan:
        for option, share in some:
            value = share * option.gain * prices[option.target]
            totals[option.theirs] = totals.get(option.theirs, Fraction(0)) + value
    return max(totals.values(), default=Fraction(0))
