"""Where a Markov chain ends: exact, one strongly connected component after the other (Kemeny and Snell 1960, III)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from flint import fmpq, fmpq_mat

from tightdp.exact.enclosure import as_fmpq, as_fraction
from tightdp.exact.field import Number
from tightdp.exact.lazily import lazily

networkx: Any = lazily("networkx")

S = TypeVar("S", bound=Hashable)
Steps = Mapping[Any, Mapping[Any, Any]]


def absorbed(start: S, steps: Mapping[S, Mapping[S, Number]]) -> dict[S, Number]:
    """Return the probability of each end of a chain that begins at `start`.

    `steps` has the law of one step from each state; what is not among its keys is an end. An end must be reachable from
    every state that can be reached.
    """
    rational = all(isinstance(mass, Fraction) for row in steps.values() for mass in row.values())
    if rational:
        quick = {
            state: {place: as_fmpq(mass) for place, mass in row.items() if isinstance(mass, Fraction)}
            for state, row in steps.items()
        }
        found = _absorbed(start, quick, fmpq(1), _solved)
        return {end: as_fraction(mass) for end, mass in found.items()}
    return _absorbed(start, steps, Fraction(1), _eliminated)


def _absorbed(start: Any, steps: Steps, whole: Any, visits_of: Any) -> dict[Any, Any]:
    """Pass on how often each state is visited on average, a component at a time, to what comes after it."""
    flow, graph = {start: whole}, networkx.DiGraph()
    graph.add_node(start)
    graph.add_edges_from((state, place) for state, row in steps.items() for place in row if place in steps)
    reached, order = {start, *networkx.descendants(graph, start)}, {state: at for at, state in enumerate(steps)}
    groups = [sorted(group, key=order.__getitem__) for group in networkx.strongly_connected_components(graph)]
    for group in reversed([group for group in groups if group[0] in reached]):  # each after all that it leads to
        entering = [flow.pop(state, 0 * whole) for state in group]
        if len(group) == 1:
            times = [entering[0] / (whole - steps[group[0]].get(group[0], 0))]
        else:
            times = visits_of(group, entering, steps)
        inside = set(group)
        for state, visits in zip(group, times, strict=True):
            for place, mass in steps[state].items():
                if place not in inside:
                    flow[place] = flow.get(place, 0) + visits * mass
    return flow


def _solved(group: Sequence[Any], entering: Sequence[fmpq], steps: Steps) -> list[fmpq]:
    """Return how often the states of a component are visited: the solution of v = entering + v Q, by p-adic lifting."""
    number, at = len(group), {state: place for place, state in enumerate(group)}
    system, right = fmpq_mat(number, number), fmpq_mat(number, 1, list(entering))
    for column, state in enumerate(group):
        for place, mass in steps[state].items():
            if place in at:
                system[at[place], column] = -mass
        system[column, column] += 1
    solution = system.solve(right)
    return [solution[row, 0] for row in range(number)]


def _eliminated(group: Sequence[Any], entering: Sequence[Number], steps: Steps) -> list[Number]:
    """Return the same in any field: states are taken out one by one, what leads to them leads to where they lead."""
    inside = set(group)
    rows = {state: {place: mass for place, mass in steps[state].items() if place in inside} for state in group}
    flow = dict(zip(group, entering, strict=True))
    taken = []
    for state in group:
        row = rows.pop(state)
        leaving = 1 - row.pop(state, Fraction(0))
        into = {other: rows[other].pop(state) for other in rows if state in rows[other]}
        taken.append((state, leaving, into))
        for place, mass in row.items():
            share = mass / leaving
            flow[place] = flow[place] + flow[state] * share
            for other, arriving in into.items():
                rows[other][place] = rows[other].get(place, Fraction(0)) + arriving * share
    times: dict[Any, Number] = {}
    for state, leaving, into in reversed(taken):
        times[state] = (flow[state] + sum(times[other] * mass for other, mass in into.items())) / leaving
    return [times[state] for state in group]


def reaching(ends: Collection[Any], steps: Mapping[Any, Iterable[Any]]) -> set[Any]:
    """Return the states from which some of `ends` can be reached."""
    before: dict[Any, list[Any]] = {}
    for state, row in steps.items():
        for place in row:
            before.setdefault(place, []).append(state)
    reached, pending = set(ends), list(ends)
    while pending:
        new = [state for state in before.get(pending.pop(), ()) if state not in reached]
        reached.update(new)
        pending += new
    return reached
