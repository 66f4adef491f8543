"""Every answer about a mechanism by brute force over the interpreter's laws, to compare the chosen method with."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

from agreement import datasets, meaning, module_of
from symmetric_programs import Drawn
from tightdp import Instance, ProgramError, QueryError
from tightdp.language.interp import target_value
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound
from tightdp.methods import questions

Law = dict[Any, Fraction]
Laws = dict[tuple[Any, ...], Law]
Pairs = list[tuple[tuple[Any, ...], tuple[Any, ...]]]

DELTAS = (Fraction(1, 100), Fraction(1, 7), Fraction(1, 2))


class Meant:
    """What brute force says of a mechanism, computed once for all methods that are compared with it."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.all = {x: meaning(bound, x) for x in datasets(bound)}
        self.fails = None in self.all.values()
        self.laws: Laws = {x: law for x, law in self.all.items() if law is not None}
        self.delta, self.moment = cache(self._delta), cache(self._moment)

    @cached_property
    def pairs(self) -> Pairs:
        """Every dataset with each of its neighbours."""
        return [(x, other) for x in self.laws for other in relation_of(self.bound).neighbours(x)]

    @cached_property
    def unlike(self) -> list[tuple[Law, Law]]:
        """Their pairs of laws, each once."""
        alike = {x: frozenset(law.items()) for x, law in self.laws.items()}
        found = {(alike[x], alike[other]): (self.laws[x], self.laws[other]) for x, other in self.pairs}
        return list(found.values())

    @cached_property
    def tally(self) -> dict[Fraction | float, int]:
        """How often every ratio occurs."""
        tally: dict[Fraction | float, int] = {}
        for x, other in self.pairs:
            for y, p in self.laws[x].items():
                value = ratio(p, self.laws[other].get(y, Fraction(0)))
                tally[value] = tally.get(value, 0) + 1
        return tally

    def _delta(self, t: Fraction) -> Fraction:
        """The largest δ(t)."""
        return max((delta_of(law, other, t) for law, other in self.unlike), default=Fraction(0))

    def _moment(self, order: int) -> Fraction | float:
        """The largest moment."""
        return max((moment(law, other, order) for law, other in self.unlike), default=Fraction(1))

    @cached_property
    def tradeoff(self) -> list[tuple[Fraction, Fraction]]:
        """The vertices of the trade-off function."""
        lines = [(Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))]
        for law, other in self.unlike:
            lines += tests(law, other)
        return lower_hull(lines)


def compare(drawn: Drawn, *methods: str) -> str:
    """Check all answers about a drawn mechanism; return which method gave the tight ratio ("error" where it fails).

    Other methods, by name, are checked too where they apply.
    """
    with module_of(drawn.source) as module:
        instance = module.f.bind(n=drawn.n)
        meant = Meant(instance.bound)
        for method in methods:
            check_one_method(module.f.bind(n=drawn.n, method=method), meant)
        return check(instance, "numeric" in drawn.tags, meant)


def check_one_method(instance: Instance, meant: Meant | None = None) -> bool:
    """Check the answers of one method; return whether it applies to any question about privacy."""
    meant = meant or Meant(instance.bound)
    if meant.fails:
        return False
    applied = False
    for ask in (check_ratio,) if instance.method == "chain" else (check_ratio, check_divergences):
        try:
            ask(instance, meant)
        except QueryError:
            continue
        applied = True
    return applied


def check(instance: Instance, numeric: bool = False, meant: Meant | None = None) -> str:
    """Check all answers about an instance against its interpreted laws; return the method."""
    meant = meant or Meant(instance.bound)
    if meant.fails:
        check_error(instance, meant.all)
        return "error"
    method = check_ratio(instance, meant)
    check_divergences(instance, meant)
    if numeric:
        check_accuracy(instance, meant.laws)
    return method


def check_error(instance: Instance, laws: dict[tuple[Any, ...], Law | None]) -> None:
    """A failing program is refused, with a dataset on which it fails."""
    error = None
    try:
        instance.privacy()
    except ProgramError as caught:
        error = caught
    if error is not None:
        assert error.x is None or laws[error.x] is None, f"the program does not fail on {error.x}"
        return
    # A dataset on which the condition of `observe` never holds may have no neighbour to be compared with.
    raised = [x for x, law in laws.items() if law is None]
    related = relation_of(instance.bound).neighbours
    assert not any(law is None and list(related(x)) for x, law in laws.items()), f"no complaint about {raised[0]}"


def ratio(p: Fraction, q: Fraction) -> Fraction | float:
    """P/P', infinity for division by zero."""
    return p / q if q else math.inf


def check_ratio(instance: Instance, meant: Meant) -> str:
    """The tight ratio, its witness, and the largest distinct ratios with their tallies."""
    laws, pairs, tally = meant.laws, meant.pairs, meant.tally
    found = instance.privacy()
    tight = max(tally, default=Fraction(1))
    assert found.status == "exact"
    assert found.exp_epsilon == found.lower == tight
    assert questions.ratio_bound(instance.engine.program) >= tight
    if tight > 1:
        assert found.witness is not None
    if found.witness is not None:
        check_witness(found.witness, laws, pairs, tight)
    ranked = instance.privacy(top=3)
    if ranked.reason:
        return found.stats.method  # only some pairs are compared
    assert [row.exp_epsilon for row in ranked.top] == sorted(tally, reverse=True)[:3]
    for row in ranked.top:
        assert (row.x, row.x_prime) in pairs
        p, q = (mass(laws[x], [row.output]) for x in (row.x, row.x_prime))
        assert (row.probability, row.probability_prime) == (p, q)
        assert ratio(p, q) == row.exp_epsilon
        assert row.triples in (tally[row.exp_epsilon], None)
    return found.stats.method


def check_witness(witness: Any, laws: Laws, pairs: Pairs, value: Fraction | float) -> None:
    """A witness is a pair of neighbours, and has the probabilities and the ratio that it claims."""
    assert (witness.x, witness.x_prime) in pairs
    p, q = (laws[x].get(witness.output, Fraction(0)) for x in (witness.x, witness.x_prime))
    assert (witness.probability, witness.probability_prime) == (p, q)
    assert ratio(p, q) == value


def delta_of(law: Law, other: Law, t: Fraction) -> Fraction:
    """δ(t) of one pair."""
    return sum((max(Fraction(0), p - t * other.get(y, Fraction(0))) for y, p in law.items()), Fraction(0))


def check_divergences(instance: Instance, meant: Meant) -> None:
    """δ at many t, the least e^ε at many δ, the curve, the trade-off function, Rényi divergences."""
    laws, delta = meant.laws, meant.delta
    curve = instance.curve().points
    for t, value in curve:
        assert delta(t) == value
    for (left, _), (right, _) in pairwise(curve):
        middle = (left + right) / 2
        found = instance.delta(exp_epsilon=middle)
        assert found.delta == delta(middle)
        if found.witness is not None and found.witness.event:
            event, law, other = found.witness.event, laws[found.witness.x], laws[found.witness.x_prime]
            assert len(set(event)) == len(event)
            assert mass(law, event) - middle * mass(other, event) == found.delta
    for t in (Fraction(1, 2), Fraction(9, 8), curve[-1][0] + 3):
        assert instance.delta(exp_epsilon=t).delta == delta(t)
    for bar in DELTAS:
        check_least(instance, meant, bar)
    check_tradeoff(instance, meant)
    for order in (2, 3):
        assert instance.renyi(order).exp_moment == meant.moment(order)


def mass(law: Law, event: Any) -> Fraction:
    """The probability of an event, a list of outputs in which "*" stands for anything."""
    return sum((p for y, p in law.items() if any(matches(y, pattern) for pattern in event)), Fraction(0))


def matches(output: Any, pattern: Any) -> bool:
    """Whether an output is one that a pattern describes."""
    if pattern == "*":
        return True
    if isinstance(pattern, tuple):
        return (
            isinstance(output, tuple)
            and len(output) == len(pattern)
            and all(matches(part, wanted) for part, wanted in zip(output, pattern, strict=True))
        )
    return bool(output == pattern)


def check_least(instance: Instance, meant: Meant, bar: Fraction) -> None:
    """The least e^ε at a δ: it suffices, and nothing smaller does."""
    laws, delta = meant.laws, meant.delta
    least = instance.privacy(delta=bar)
    assert least.status == "exact"
    t = least.exp_epsilon
    if t == math.inf:
        assert delta(Fraction(10**9)) > bar
        return
    assert delta(t) <= bar
    if t > 1:
        assert delta(t) == bar
        assert delta(t - Fraction(1, 10**9)) > bar
        assert least.witness is not None
        assert delta_of(laws[least.witness.x], laws[least.witness.x_prime], t) == bar


def check_tradeoff(instance: Instance, meant: Meant) -> None:
    """Every vertex is attained by a pair's test, and no test of any pair is better."""
    vertices = instance.tradeoff().vertices
    assert vertices[-1] == (1, 0)
    assert list(vertices) == meant.tradeoff


def tests(law: Law, other: Law) -> Iterator[tuple[Fraction, Fraction]]:
    """The error rates of the likelihood-ratio tests of a pair."""
    ordered = sorted(
        law.keys() | other.keys(), key=lambda y: -ratio(law.get(y, Fraction(0)), other.get(y, Fraction(0)))
    )
    under = under_prime = Fraction(0)
    for y in ordered:
        under += law.get(y, Fraction(0))
        under_prime += other.get(y, Fraction(0))
        yield under_prime, 1 - under


def lower_hull(points: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """The lower convex hull, without points inside its edges."""
    hull: list[tuple[Fraction, Fraction]] = []
    for point in sorted(set(points)):
        if hull and hull[-1][0] == point[0]:
            continue
        while len(hull) > 1 and cross(hull[-2], hull[-1], point) <= 0:
            hull.pop()
        hull.append(point)
    return hull


def cross(a: Any, b: Any, c: Any) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def moment(law: Law, other: Law, order: int) -> Fraction | float:
    """The moment of one pair."""
    if any(not other.get(y) for y in law):
        return math.inf
    return sum((p**order / other[y] ** (order - 1) for y, p in law.items()), Fraction(0))


def check_accuracy(instance: Instance, laws: Laws) -> None:
    """The classes of equal accuracy with their sizes, and the least α at a β."""
    bound = instance.bound
    errors = {x: dict(summed((abs(y - target_value(bound, x)), p) for y, p in law.items())) for x, law in laws.items()}
    for alpha in (Fraction(0), Fraction(1), Fraction(3, 2)):
        expected: dict[Fraction, list[Any]] = {}
        for x, law in errors.items():
            expected.setdefault(sum((p for e, p in law.items() if e <= alpha), Fraction(0)), []).append(x)
        found = instance.accuracy(alpha, top=10**6)
        assert [(row.one_minus_beta, row.inputs) for row in found.top] == [
            (value, len(xs)) for value, xs in sorted(expected.items())
        ]
        assert all(row.x in expected[row.one_minus_beta] for row in found.top)
        assert sum(row.inputs for row in found.top) == bound.record.size**bound.n
    for beta in (Fraction(0), Fraction(1, 10), Fraction(1, 2)):
        needed = {x: least_error(law, beta) for x, law in errors.items()}
        found = instance.accuracy(beta=beta)
        assert found.alpha == max(needed.values())
        assert needed[found.x] == found.alpha


def summed(entries: Iterator[tuple[Any, Fraction]]) -> Iterator[tuple[Any, Fraction]]:
    """Add up what has the same key."""
    result: Law = {}
    for key, value in entries:
        result[key] = result.get(key, Fraction(0)) + value
    yield from result.items()


def least_error(law: Law, beta: Fraction) -> Any:
    """The least error bound kept with probability 1 - beta."""
    reached = Fraction(0)
    for error, p in sorted(law.items()):
        reached += p
        if reached >= 1 - beta:
            return error
    raise AssertionError
