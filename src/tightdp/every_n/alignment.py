"""Alignment: a run on x is compared with a run on x' whose noise is shifted so that both publish the same.

A cell is a state of the run on x', one of the run on x, and by how much the symbolic numbers of the latter are larger,
at least and at most. Its price is a number b such that, whatever is published from there on, the run on x has at most b
times the probability of the run on x'. Which of our paths is compared with which of theirs, and how noise is shifted,
is chosen in floats; the prices are then computed exactly, and every inequality is checked with them. The proof is in
docs/every-n.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import coo_matrix

from tightdp.every_n.options import END, Cell, Option, Part, Search, Step, targets
from tightdp.every_n.paths import Paths
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.linear_program import solve_equations
from tightdp.exact.lines import near_sample
from tightdp.limits.calibrated import DENSE_SYSTEM

_FARTHER = 4
_MOST_SHIFTS = 500
"""So much farther noise is shifted, where one path has no more shifts than these."""
_ROUNDS = 40
_OFTEN = 10
"""The prices of the last round's plans are computed once in this many rounds."""
_IMPROVED = 2
_REPEATED = 3000
_ENOUGH = 1e-12
_LARGEST = 1e15
_MARGIN = Fraction(1, 10**8)
_NEARLY = 1 - 1e-4
"""What bears at least this part of the most may bear the most, as shares are rounded."""

Group: TypeAlias = list[tuple[Fraction, Part]]
"""Shares of our paths that the same noise on one of their paths may have to bear."""
Plan: TypeAlias = tuple[tuple[tuple[Option, Fraction], ...], ...]
"""For each of our paths the shares of it that are compared with their paths; they sum to 1."""


@dataclass(frozen=True)
class Alignment:
    """Exact prices, and what they follow from: which paths are compared in each cell, and at the start."""

    prices: dict[Cell, Number]
    plans: dict[Cell, tuple[Plan, ...]]
    starts: tuple[Plan, ...]
    search: Search

    def ratio(self) -> Number:
        """Return the upper bound on e^ε for every n."""
        return max((_price(plan, self.prices) for plan in self.starts), default=Fraction(1))

    def holds(self) -> bool:
        """Check that every price is large enough for what may come next."""
        return all(
            self.prices[cell] >= _price(plan, self.prices) for cell, plans in self.plans.items() for plan in plans
        )


def align(paths: Paths, watch: Callable[[], None] = lambda: None, farther: bool = False) -> Alignment | None:
    """Return an alignment with the least ratio found; None where there is none, or the search would be too large.

    `watch` is called from time to time, and may raise to stop. With `farther` noise is shifted farther.
    """
    search = Search(paths, _FARTHER if farther else 1)
    if farther and search.shifts() > _MOST_SHIFTS:
        return None
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
    pending = list(_reached(chosen))
    while pending:
        cell = pending.pop()
        if cell in plans or cell == END:
            continue
        compared = [_compared(step, near) for step in steps[cell]]
        if any(value > _LARGEST for value, _ in compared):
            return None
        plans[cell] = tuple(plan for _, plan in compared)
        pending += _reached(plans[cell])
    prices = _exact_prices(plans, near)
    alignment = None
    if prices is not None:
        alignment = Alignment(prices, plans, tuple(_evenly(plan, prices) for plan in chosen), search)
    return alignment if alignment is not None and alignment.holds() else None


def _reached(plans: Iterable[Plan]) -> Iterator[Cell]:
    """Yield the cells that plans lead to."""
    return (part.target for plan in plans for some in plan for option, _ in some for part in option.parts)


def _near_prices(steps: dict[Cell, tuple[Step, ...]], watch: Callable[[], None]) -> dict[Cell, float]:
    """Return the least prices found, in floats; infinite where there are none.

    They are raised from below. Where that takes long, the plans of the last round are kept, and their prices computed.
    """
    prices = {END: 1.0, **dict.fromkeys(steps, 0.0)}
    plans: dict[Cell, list[Plan]] = {}
    waiting: dict[Cell, set[Cell]] = {}
    for cell, some in steps.items():
        for target in targets(some):
            waiting.setdefault(target, set()).add(cell)
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
        below = {cell: 0.0 if 0 < value < math.inf and cell != END else value for cell, value in prices.items()}
        found = _of_plans(plans, below)
        prices = {cell: min(value, found[cell]) for cell, value in prices.items()}
    return prices


def _of_plans(plans: dict[Cell, list[Plan]], prices: dict[Cell, float]) -> dict[Cell, float]:
    """Return prices of fixed plans, iterated up from lower ones; infinite where there are none, or no convergence."""
    at = {cell: number for number, cell in enumerate(prices)}
    rows: list[tuple[int, dict[int, float]]] = []
    for cell, some in plans.items():
        for plan in some:
            for group in _groups(plan):
                total: dict[int, float] = {}
                for share, part in group:
                    total[at[part.target]] = total.get(at[part.target], 0.0) + float(share) * near_sample(part.gain)
                rows.append((at[cell], total))
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
    best: list[list[tuple[float, Option]]] = []
    for options in step:
        cheapest: dict[tuple[int, ...], tuple[float, Option]] = {}
        for option in options:
            value = max((_near(part, prices) for part in option.parts), default=0.0)
            theirs = tuple(part.theirs for part in option.parts)
            if value < math.inf and (theirs not in cheapest or value < cheapest[theirs][0]):
                cheapest[theirs] = value, option
        if not cheapest:
            return math.inf, ()
        best.append(sorted(cheapest.values(), key=lambda each: each[0]))
    plan: Plan = tuple(((each[0][1], Fraction(1)),) for each in best)
    found = _burden(plan, prices)
    if found <= max(map(_least_shared, best), default=0.0) * (1 + _ENOUGH):
        return found, plan
    shares = _balanced([[[(p.theirs, _near(p, prices)) for p in option.parts] for _, option in each] for each in best])
    shared: list[tuple[tuple[Option, Fraction], ...]] = []
    for each, some in zip(best, shares, strict=True):
        exact = [Fraction(share).limit_denominator(1 << 20) for share in some]
        exact[exact.index(max(exact))] += 1 - sum(exact)
        shared.append(tuple((option, share) for (_, option), share in zip(each, exact, strict=True) if share))
    other = _burden(tuple(shared), prices)
    if other < found:
        found, plan = other, tuple(shared)
    alone = _one_each(best, found * (1 + _ENOUGH))
    return (_burden(alone, prices), alone) if alone else (found, plan)


def _one_each(best: list[list[tuple[float, Option]]], most: float) -> Plan:
    """Return a plan in which each of their paths bears one of ours, whole, and at most so much; empty where none is.

    Shares that are as good are rounded, and so may fail where a price depends on itself.
    """
    free = {ours: option for ours, some in enumerate(best) for _, option in some if not option.parts}
    rows = [ours for ours in range(len(best)) if ours not in free]
    theirs = 1 + max((part.theirs for some in best for _, option in some for part in option.parts), default=-1)
    costs, whole = np.full((len(rows), theirs), 2 * _LARGEST), {}
    for row, ours in enumerate(rows):
        for value, option in best[ours]:
            if value <= most and len(option.parts) == 1:
                at = row, option.parts[0].theirs
                costs[at], whole[at] = value, option
    pairs = zip(*map(np.ndarray.tolist, linear_sum_assignment(costs)), strict=True)
    chosen = free | {rows[at[0]]: whole[at] for at in pairs if at in whole}
    return tuple(((chosen[ours], Fraction(1)),) for ours in range(len(best))) if len(chosen) == len(best) else ()


def _least_shared(values: Sequence[tuple[float, Option]]) -> float:
    """Return the least burden of one of our paths, with shares on all that it can be compared with."""
    return 0.0 if any(not value for value, _ in values) else 1 / sum(1 / value for value, _ in values)


def _near(part: Part, prices: dict[Cell, float]) -> float:
    price = prices[part.target]
    return near_sample(part.gain) * price if price < math.inf else math.inf


def _burden(plan: Plan, prices: dict[Cell, float]) -> float:
    totals = (sum(float(share) * _near(part, prices) for share, part in group) for group in _groups(plan))
    return max(totals, default=0.0)


def _balanced(values: list[list[list[tuple[int, float]]]]) -> list[list[float]]:
    """Return shares of our paths that minimize the largest burden on any of their paths."""
    size = sum(map(len, values))
    every = {their for some in values for parts in some for their, _ in parts}
    theirs = {each: at for at, each in enumerate(sorted(every))}
    above, below = np.zeros((len(theirs), size + 1)), np.zeros((len(values), size + 1))
    above[:, size] = -1.0
    at = 0
    for number, some in enumerate(values):
        for parts in some:
            below[number, at] = 1.0
            for their, value in parts:
                above[theirs[their], at] = value
            at += 1
    aim = np.zeros(size + 1)
    aim[size] = 1.0
    found = linprog(aim, A_ub=above, b_ub=np.zeros(len(theirs)), A_eq=below, b_eq=np.ones(len(values)), method="highs")
    flat = iter([1.0 / len(some) for some in values for _ in some] if found.x is None else found.x[:size])
    return [[min(max(float(next(flat)), 0.0), 1.0) for _ in some] for some in values]


def _exact_prices(plans: dict[Cell, tuple[Plan, ...]], near: dict[Cell, float]) -> dict[Cell, Number] | None:
    """Return the least exact prices; slightly larger ones where the iteration only approaches these.

    None where these would be functions of an unknown.
    """
    prices: dict[Cell, Number] = {END: Fraction(1), **dict.fromkeys(plans, Fraction(0))}
    for _ in range(len(plans) + 2):
        more = {cell: max(_price(plan, prices) for plan in some) for cell, some in plans.items() if some}
        more = {cell: value for cell, value in more.items() if value > prices[cell]}
        if not more:
            return prices
        prices.update(more)
    if any(isinstance(value, ExpNumber) and value.unknown for value in prices.values()):
        return None
    larger = {cell: Fraction(near[cell]).limit_denominator(10**12) * (1 + _MARGIN) for cell in plans}
    return {**larger, END: Fraction(1)}


def _evenly(plan: Plan, prices: dict[Cell, Number]) -> Plan:
    """Return the plan with shares for which all that bear the most bear exactly the same, where that is less."""
    shares = [share for some in plan for _, share in some]
    if len(shares) == len(plan) or len(shares) >= DENSE_SYSTEM:
        return plan
    numbers = iter(range(len(shares)))
    open_: Any = tuple(tuple((option, next(numbers)) for option, _ in some) for some in plan)
    bears: list[dict[Any, Number]] = [
        {number: part.gain * prices[part.target] for number, part in group} for group in _groups(open_)
    ]
    totals = [sum(near_sample(value) * float(shares[number]) for number, value in each.items()) for each in bears]
    most = len(shares)
    equations: list[Any] = [
        ({**each, most: Fraction(-1)}, Fraction(0))
        for each, total in zip(bears, totals, strict=True)
        if total > max(totals) * _NEARLY
    ]
    equations += [({number: Fraction(1) for _, number in some}, Fraction(1)) for some in open_]
    near: Any = [*shares, Fraction(0)]
    found: Any = solve_equations(equations, near)
    if found is None or any(found.get(number, -1) < 0 for number in range(most)):
        return plan
    even: Any = tuple(tuple((option, found[number]) for option, number in some) for some in open_)
    return even if _price(even, prices) <= _price(plan, prices) else plan


def _price(plan: Plan, prices: dict[Cell, Number]) -> Number:
    """Return what the most expensive of their paths has to bear."""
    return max((_total(group, prices) for group in _groups(plan)), default=Fraction(0))


def _total(group: Group, prices: dict[Cell, Number]) -> Number:
    return sum((share * part.gain * prices[part.target] for share, part in group), Fraction(0))


def _groups(plan: Plan) -> Iterator[Group]:
    """Yield what the same noise on one of their paths may have to bear."""
    borne: dict[int, list[tuple[Option, Fraction, Part]]] = {}
    for option, share in (each for some in plan for each in some):
        for part in option.parts:
            borne.setdefault(part.theirs, []).append((option, share, part))
    for each in borne.values():
        for group in _together(each):
            yield [(share, part) for _, share, part in group]


def _together(borne: list[tuple[Option, Fraction, Part]]) -> Iterator[list[tuple[Option, Fraction, Part]]]:
    """Yield what may have to be borne at once: where two of our paths are apart, one or the other."""
    for at, (option, *_) in enumerate(borne):
        others = [each.ours in (option.apart if each.shift == option.shift else option.never) for each, *_ in borne]
        if any(others):
            yield from _together(borne[:at] + borne[at + 1 :])
            yield from _together([each for each, out in zip(borne, others, strict=True) if not out])
            return
    yield borne
