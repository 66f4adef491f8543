"""The witness does not depend on the method: of all that attain an answer, the first in order is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from generators.comparison import TooSlow, imported, meanings, time_limit
from generators.mechanisms import draw_mechanism
from tightdp import Bit, Instance, Int, LanguageError, ProgramError, QueryError, flip, geometric, mechanism, randint
from tightdp.language.interp import law
from tightdp.language.neighbours import relation_of
from tightdp.language.outputs import order_of
from tightdp.methods.choose import NAMES

QUESTIONS: dict[str, Callable[[Instance], Any]] = {
    "privacy": lambda instance: instance.privacy(),
    "largest": lambda instance: instance.privacy(top=3),
    "delta": lambda instance: instance.delta(exp_epsilon="3/2"),
    "approximate": lambda instance: instance.privacy(delta="1/20"),
    "renyi": lambda instance: instance.renyi(3),
    "zcdp": lambda instance: instance.zcdp(),
    "accuracy": lambda instance: instance.accuracy(1, top=3),
    "error": lambda instance: instance.accuracy(beta="1/3"),
}


ENDS = ("rho", "lower", "upper")
"""Both ends of ρ, which is enclosed, depend on the order in which pairs of neighbours are looked at."""


def shown(instance: Instance, question: str) -> str | None:
    """What a method answers, with its witness; None where it does not answer exactly."""
    try:
        found = QUESTIONS[question](instance)
    except (QueryError, ProgramError):
        return None
    if found.reason:
        return None
    result = found.to_dict()["result"]
    for row in result.get("top", ()):
        row.pop("triples", None)  # outputs that are told apart only by their order count once or often
    if question == "zcdp" and result["rho"] != "inf":
        result.update({end: round(float(Fraction(result[end])), 9) for end in ENDS if end in result})
    return str(result)


def compare(seed: int, names: Any = NAMES) -> Counter[str]:
    """Ask every method about a drawn mechanism; the methods that answered."""
    drawn = draw_mechanism(seed)
    applied: Counter[str] = Counter()
    with imported(drawn.source) as module, time_limit(60):
        try:
            if meanings(module.f.bind(n=drawn.n).bound, 1000) is None:
                return applied
            instances = {name: module.f.bind(n=drawn.n, method=name) for name in ("runs", *names, None)}
            for question in QUESTIONS:
                expected = shown(instances["runs"], question)
                for name in (*names, None):
                    answer = shown(instances[name], question)
                    if answer is not None:
                        assert answer == expected, f"{question} by {name} of {seed}"
                        applied[str(name)] += 1
        except (LanguageError, TooSlow):
            pass
    return applied


@pytest.mark.slow(seconds=6)
def test_every_method_shows_the_same_witness() -> None:
    applied = sum((compare(seed) for seed in range(5000, 5012)), Counter[str]())
    assert set(applied) >= {"independent clients", "aggregate", "chain", "elimination", "orbits", "exhaustive", "None"}


@pytest.mark.slow
@pytest.mark.parametrize("start", range(10_000, 10_600, 60))
def test_every_method_shows_the_same_witness_of_many(start: int) -> None:
    for seed in range(start, start + 60):
        compare(seed)


@mechanism(record=Int(0, 3))
def late(x):  # type: ignore[no-untyped-def]
    """Only the last value of the domain tells the most."""
    return tuple(1 if flip("9/10" if v == 3 else "1/2") else 0 for v in x)


@mechanism(record=Bit)
def paired(x):  # type: ignore[no-untyped-def]
    shared = randint(0, 1)
    return tuple((b + shared) % 2 if flip("1/3") else b for b in x)


@mechanism(record=Int(0, 2))
def counts_in_three_ways(x):  # type: ignore[no-untyped-def]
    noisy = [geometric(sum(v == k for v in x), "1/3", 0, len(x)) for k in range(3)]
    return tuple(noisy), tuple(v * 37 % 101 for v in noisy), tuple(v * v for v in noisy)


@mechanism(record=Int(0, 2))
def of_two_forms(x):  # type: ignore[no-untyped-def]
    noisy = geometric(max(x), "1/3", -1, 3)
    if noisy > 0:
        return tuple((noisy, noisy * i % 11, noisy * noisy) for i in range(6))
    return tuple((0, x[0] * flip("1/9"), 0) for i in range(6))


@pytest.mark.one_in(8)
@pytest.mark.parametrize("made", [late, paired, counts_in_three_ways, of_two_forms])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_witness_is_the_first_in_order(made: Any, n: int) -> None:
    bound = made.bind(n=n).bound
    datasets = [()]
    for _ in range(n):
        datasets = [(*x, record) for x in datasets for record in bound.record.values]
    laws = {x: law(bound, x) for x in datasets}

    def ratio(x: Any, other: Any, y: Any) -> Any:
        return laws[x][y] / laws[other][y] if y in laws[other] else float("inf")

    every = [
        (x, other, y)
        for x in datasets
        for other in relation_of(bound).neighbours(x)
        for y in sorted(laws[x], key=order_of)
    ]
    first = max(every, key=lambda triple: ratio(*triple))  # the first of the largest
    for name in NAMES:
        try:
            witness = made.bind(n=n, method=name).privacy().witness
        except QueryError:
            continue
        assert (witness.x, witness.x_prime, witness.output) == first, name
        assert Fraction(witness.probability) == laws[first[0]][first[2]]
