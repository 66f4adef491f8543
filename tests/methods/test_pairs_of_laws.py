"""Pairs of neighbours by the two laws that they have: tallies and first pairs are those of going through all pairs."""

from __future__ import annotations

from typing import Any

import pytest

from tightdp import Instance, Int, Mechanism, Values, flip, geometric, mechanism
from tightdp.methods.base import Control
from tightdp.methods.by_datasets import every_two_laws
from tightdp.methods.by_elimination import look
from tightdp.methods.choose import program_of
from tightdp.symmetry.sets import every_neighbouring_pair
from work import counted


def kept(x: tuple[int, ...], k: int) -> int:
    """A sketch that keeps k counters: the first record, of those that it has lost, replaces the least."""
    keys: list[Any] = [None] * k
    counts = [0] * k
    for b in x:
        for i in range(k):
            if keys[i] == b:
                counts[i] += 1
                break
        else:
            least = 0
            for i in range(k):
                if counts[i] < counts[least]:
                    least = i
            keys[least] = b
            counts[least] += 1
    found = 0
    for i in range(k):
        if keys[i] == 0:
            found = counts[i]
    return found


@mechanism(record=Int(0, 3))
def sketch(x):  # type: ignore[no-untyped-def]
    return geometric(kept(x, 2), "1/2", 0, len(x))


@mechanism(record=Values(0, 1, None), neighbours="add-remove")
def first_present(x):  # type: ignore[no-untyped-def]
    for b in x:
        if b is not None:
            return 1 - b if flip("1/4") else b
    return None


def pairs_of(instance: Instance) -> tuple[Any, Any]:
    control = Control()
    method = look(program_of(instance.bound, method="elimination"), control, 1 << 28)
    table: Any = method.laws(control)  # type: ignore[union-attr]
    found: dict[Any, Any] = {}
    for x, other, _ in every_neighbouring_pair(instance.bound):
        laws = tuple(str(sorted(table.weights(one).by_code.items())) for one in (x, other))
        first = found.setdefault(laws, [(x, other), 0])
        first[1] += 1
    return list(every_two_laws(instance.bound, table, control)), [(*pair, size) for pair, size in found.values()]


@pytest.mark.parametrize("neighbours", ["replace-one", "unit-step", "unit-all"])
def test_the_first_pair_of_every_two_laws_and_how_many_have_them(neighbours: str) -> None:
    for n in (1, 2, 4):
        found, wanted = pairs_of(sketch.bind(n=n, neighbours=neighbours))
        if neighbours == "unit-all":
            assert len(found) >= len(wanted)
        else:
            assert found == wanted


def test_records_that_are_absent() -> None:
    found, wanted = pairs_of(first_present.bind(n=3))
    assert found == wanted


@mechanism(record=Int(0, 2))
def listed(x):  # type: ignore[no-untyped-def]
    found = []
    for v in range(3):
        if v in x:
            z = geometric(x.count(v), "1/2", 0, 6)
            if z > 1:
                found.append((v, z))
    return tuple(found)


def test_an_infinite_ratio_of_the_first_pairs_ends_the_search() -> None:
    for n in (2, 3):
        ways = [listed.bind(n=n, method=method).privacy() for method in (None, "aggregate", "exhaustive")]
        assert len({(a.exp_epsilon, a.witness.x, a.witness.x_prime, a.witness.output) for a in ways}) == 1
    assert listed.bind(n=8).privacy().stats.queries <= 4


@pytest.mark.parametrize("made", [sketch])
def test_a_sketch_of_eight_records_takes_little_work(made: Mechanism) -> None:
    with counted() as work:
        made.bind(n=8).privacy()
    assert work.calls < 4_000_000
