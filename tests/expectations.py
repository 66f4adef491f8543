"""Reads the answers recorded beside the programs, and finds them again by brute force.

The oracle here knows the interpreter and nothing of the compiler or of the queries: it lists every dataset,
every neighbouring pair and every output, and takes the largest or smallest value.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from tightdp import Mechanism
from tightdp.errors import LimitError
from tightdp.language import interp
from tightdp.language.program import Bound

PROGRAMS = Path(__file__).parent.parent / "programs"
KEYS = {
    "privacy": {"exp_epsilon", "witness", "claimed"},
    "delta": {"exp_epsilon", "delta", "witness"},
    "epsilon": {"delta", "exp_epsilon"},
    "accuracy": {"alpha", "one_minus_beta", "worst", "next"},
    "distribution": {"x", "law"},
}
"""The keys of each query besides mechanism, query, parameters, neighbours and error."""

REACH = 3
"""How far from its centre noise on all integers is followed: at a ratio of 1/4, 99 of 100 draws are nearer."""
Law = dict[Any, Fraction]
Dataset = tuple[Any, ...]


@cache
def program(name: str) -> Any:
    """The module of one file of programs/, imported once."""
    spec = importlib.util.spec_from_file_location(f"programs_{name}", PROGRAMS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names() -> list[str]:
    """The names of all files of programs/."""
    return sorted(path.stem for path in PROGRAMS.glob("*.py"))


def mechanisms(name: str) -> dict[str, Mechanism]:
    """The mechanisms that a file defines, by name."""
    return {key: value for key, value in vars(program(name)).items() if isinstance(value, Mechanism)}


def expectations() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every recorded answer with the name of its file; `mechanism` is filled in where there is only one."""
    for name in names():
        for expected in program(name).EXPECTED:
            yield name, {"mechanism": name, **expected}


def label(name: str, expected: dict[str, Any]) -> str:
    """A short name for one recorded answer, for the test report."""
    values = ",".join(f"{key}={value}" for key, value in expected["parameters"].items())
    return f"{expected['mechanism']}-{expected['query']}-{values}"


def number(value: Any) -> Fraction | float:
    """A recorded number, exact; "inf" is infinite."""
    return math.inf if value == "inf" else Fraction(value)


def bind(name: str, expected: dict[str, Any]) -> Bound:
    """The mechanism of a recorded answer with its parameters, for the interpreter."""
    found = mechanisms(name)[expected["mechanism"]]
    return found.program.bind(neighbours=expected.get("neighbours"), **expected["parameters"])


class Oracle:
    """Brute force over all datasets, neighbours and outputs, on laws found by the interpreter."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.datasets = list(itertools.product(bound.record.values, repeat=bound.n))
        self._laws: dict[Dataset, Law] = {}
        self._ends: dict[Dataset, tuple[Law, Fraction]] = {}

    def law(self, x: Dataset) -> Law:
        """The output law of dataset x."""
        if x not in self._laws:
            self._laws[x] = interp.law(self.bound, x)
        return self._laws[x]

    @cached_property
    def endless(self) -> bool:
        """Whether noise on all integers is drawn, so that laws are enclosed by the runs within a reach."""
        try:
            next(interp.runs(self.bound, self.datasets[0]))
        except LimitError:
            return True
        return False

    def ends(self, x: Dataset) -> tuple[Law, Fraction]:
        """The least probability of each output of dataset x, and by how much each may be larger."""
        if x not in self._ends:
            self._ends[x] = interp.law_within(self.bound, x, REACH)
        return self._ends[x]

    def exp_epsilon_ends(self) -> tuple[Fraction, Fraction | float]:
        """Between which numbers the largest likelihood ratio is, for programs with few outputs."""
        least, most = Fraction(1), Fraction(1)
        for x, x_prime in self.pairs():
            (ours, more), (theirs, beyond) = self.ends(x), self.ends(x_prime)
            for y, p in ours.items():
                least = max(least, p / (theirs.get(y, 0) + beyond))
                most = max(most, ratio(p + more, theirs.get(y, 0)))
        return least, most

    def pairs(self) -> Iterator[tuple[Dataset, Dataset]]:
        """All ordered pairs of neighbours."""
        relation = self.bound.neighbours
        for x, x_prime in itertools.permutations(self.datasets, 2):
            if are_neighbours(relation, x, x_prime):
                yield x, x_prime

    def exp_epsilon(self) -> Fraction | float:
        """The largest likelihood ratio over all neighbours and outputs, at least 1."""
        return max(
            (ratio(p, self.law(b).get(y, 0)) for a, b in self.pairs() for y, p in self.law(a).items()),
            default=Fraction(1),
        )

    def delta(self, t: Fraction) -> Fraction:
        """The largest hockey-stick divergence at t over all neighbours."""
        return max(self.divergence(a, b, t) for a, b in self.pairs())

    def divergence(self, x: Dataset, x_prime: Dataset, t: Fraction) -> Fraction:
        """The sum over outputs of the positive part of P(y|x) - t·P(y|x')."""
        other = self.law(x_prime)
        return sum((max(Fraction(0), p - t * other.get(y, 0)) for y, p in self.law(x).items()), Fraction(0))

    def least_exp_epsilon(self, delta: Fraction) -> Fraction | float:
        """The least t >= 1 with delta(t) at most delta."""
        return max((self._least(a, b, delta) for a, b in self.pairs()), default=Fraction(1))

    def _least(self, x: Dataset, x_prime: Dataset, delta: Fraction) -> Fraction | float:
        """The same for one pair: its divergence is linear in t between its likelihood ratios."""
        law, other = self.law(x), self.law(x_prime)
        ratios = {ratio(p, other.get(y, 0)) for y, p in law.items()}
        knots = sorted({Fraction(1)} | {r for r in ratios if isinstance(r, Fraction) and r > 1})
        if self.divergence(x, x_prime, knots[-1]) > delta:
            return math.inf
        left = knots[0]
        for right in knots:
            low = self.divergence(x, x_prime, right)
            if low <= delta:
                high = self.divergence(x, x_prime, left)
                return right if high == low else max(left, left + (high - delta) / (high - low) * (right - left))
            left = right
        raise AssertionError

    def accuracies(self, alpha: Fraction) -> dict[Dataset, Fraction]:
        """The probability of an output within alpha of the target, by dataset."""
        return {x: self._within(x, alpha) for x in self.datasets}

    def _within(self, x: Dataset, alpha: Fraction) -> Fraction:
        target = interp.target_value(self.bound, x)
        return sum((p for y, p in self.law(x).items() if abs(y - target) <= alpha), Fraction(0))


def ratio(p: Fraction, p_prime: Fraction | int) -> Fraction | float:
    """p/p' for p > 0, infinite when p' is 0."""
    return Fraction(1) * p / p_prime if p_prime else math.inf


def are_neighbours(relation: Any, x: Dataset, x_prime: Dataset) -> bool:
    """Whether two different datasets are neighbours, straight from the definitions of the four relations."""
    changed = [(a, b) for a, b in zip(x, x_prime, strict=True) if a != b]
    if relation == "replace-one":
        return len(changed) == 1
    if relation == "unit-step":
        return len(changed) == 1 and abs(changed[0][0] - changed[0][1]) <= 1
    if relation == "unit-all":
        return all(abs(a - b) <= 1 for a, b in changed)
    if relation == "add-remove":
        return len(changed) == 1 and (changed[0][0] is None) != (changed[0][1] is None)
    return x_prime in list(relation(x))
