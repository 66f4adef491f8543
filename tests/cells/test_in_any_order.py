"""Noise that has no finite program, on records whose order makes no difference: one dataset stands for all orders."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tightdp import Bit, Int, Mechanism, discrete_laplace, flip, laplace, mechanism, one_sided_geometric
from tightdp.every_n.one_record import takes_records_in_any_order
from tightdp.methods.program import Program
from tightdp.results.result import TripleWitness


@mechanism(record=Int(0, 2))
def largest_count(x):
    counts = [sum(record == value for record in x) + one_sided_geometric(0, "1/2") for value in range(3)]
    best = 0
    for at in (1, 2):
        if counts[at] > counts[best]:
            best = at
    return best


@mechanism(record=Bit, target=sum)
def above_half(x):
    return int(sum(x) + laplace(0, 1) > len(x) / 2 + laplace(0, 2))


@mechanism(record=Bit, target=sum)
def at_least_two(x):
    return max(sum(x), 2) + one_sided_geometric(0, "1/2")


@mechanism(record=Int(0, 2))
def counts_of_what_is_there(x):
    counts = {}
    for record in x:
        counts[record] = counts.get(record, 0) + 1
    noisy = {record: counts[record] + one_sided_geometric(0, "1/2") for record in sorted(counts)}
    return {record: count for record, count in noisy.items() if count >= 3}


@mechanism(record=Int(0, 2))
def largest_with_parity(x):
    largest = parity = 0
    for record in x:
        largest = max(largest, record if flip("2/3") else 0)
        parity ^= record == 1
    return largest + one_sided_geometric(0, "1/2") > 2 * one_sided_geometric(0, "1/3"), parity


@mechanism(record=Bit)
def last_bit_told_apart(x):
    total, last = 0, 0
    for bit in x:
        total, last = total + bit, bit
    return total + one_sided_geometric(0, "1/2") > one_sided_geometric(last, "1/3")


@mechanism(record=Int(0, 2))
def sum_after_the_first_two(x):
    seen, total = False, 0
    for record in x:
        if seen:
            total += record
        seen = seen or record == 2
    return total + one_sided_geometric(0, "1/2") > one_sided_geometric(1, "1/3")


@mechanism(record=Bit, target=lambda x: x[0])
def first_counts_twice(x):
    return sum(x) + x[0] + one_sided_geometric(0, "1/2") > one_sided_geometric(0, "1/3")


@mechanism(record=Bit)
def last_one_far_out(x):
    z = discrete_laplace(0, 1)
    return x[0] if z > 10**9 else sum(x) + z > 2 * discrete_laplace(0, 1)


@mechanism(record=Bit)
def second_of_the_sorted(x):
    """At n = 1 there is none."""
    return sorted(x)[1] + one_sided_geometric(0, "1/2") > one_sided_geometric(0, "1/3")


INSTANCES = (
    (largest_count, 4),
    (above_half, 5),
    (at_least_two, 5),
    (counts_of_what_is_there, 3),
    (largest_with_parity, 4),
)
ASKED: tuple[Callable[[Any], Any], ...] = (
    lambda instance: instance.privacy(),
    lambda instance: instance.privacy(delta=Fraction(1, 10)),
    lambda instance: instance.delta(exp_epsilon=2),
)


def answers(made: Mechanism, n: int) -> list[dict[str, object]]:
    asked = [*ASKED, *([lambda instance: instance.accuracy(alpha=1)] if made.program.target else [])]
    results = [ask(made.bind(n=n)) for ask in asked]
    return [{**vars(found), "stats": None} for found in results]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("made", "n"), INSTANCES, ids=str)
def test_answers_and_witnesses_are_those_of_all_datasets(
    made: Mechanism, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert made.bind(n=n).engine.program.contents is not None
    in_any_order = answers(made, n)
    monkeypatch.setattr(Program, "contents", None)
    assert answers(made, n) == in_any_order


@pytest.mark.parametrize(
    "made", [first_counts_twice, last_one_far_out, last_bit_told_apart, sum_after_the_first_two], ids=str
)
def test_who_looks_at_one_record_is_looked_at_in_every_order(made: Mechanism) -> None:
    assert not takes_records_in_any_order(made.bind(n=3).bound)


def test_what_fails_at_another_n_only_is_asked_in_every_order():
    assert second_of_the_sorted.bind(n=4).privacy().exp_epsilon == 3


def wins(counts: list[int], best: int) -> Fraction:
    """Return how likely one count is the first of the largest with noise, but for 2^-80."""
    half, total = Fraction(1, 2), Fraction(0)
    for z in range(80):
        share = half ** (z + 1)
        for at, count in enumerate(counts):
            if at != best:
                share *= 1 - half ** max(0, z + counts[best] - count + (at > best))
        total += share
    return total


def test_many_datasets_have_few_contents() -> None:
    found = largest_count.bind(n=12).privacy()
    assert found.status == "exact"
    assert isinstance(found.witness, TripleWitness)
    ours, theirs = (
        wins([x.count(value) for value in range(3)], found.witness.output)
        for x in (found.witness.x, found.witness.x_prime)
    )
    assert abs(ours / theirs - found.exp_epsilon) < Fraction(1, 10**15)
