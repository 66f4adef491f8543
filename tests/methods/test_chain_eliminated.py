"""Chains of client blocks that elimination finds, against going through all runs."""

from __future__ import annotations

from typing import Any

import pytest

from tightdp import Bit, Int, Mechanism, Tuple, choice, exp, flip, geometric, mechanism, randint
from tightdp.limits.calibrated import MOST_WORK
from tightdp.methods.base import Control
from tightdp.methods.by_chain import WithoutDiagram, look_without_diagram
from tightdp.methods.chain_search import BRIEF, largest_ratio
from tightdp.methods.choose import program_of


@mechanism(record=Bit)
def matching(x: Any) -> Any:
    """Every client takes a free place, the more likely one of its kind."""
    used: list[Any] = []
    for b in x:
        free = [k for k in range(len(x)) if k not in used]
        used.append(choice(free, [2 if k % 2 == b else 1 for k in free]))
    return tuple(used)


@mechanism(record=Int(0, 2))
def with_gap(x: Any) -> Any:
    """The first answer above a noisy threshold, with the gap."""
    threshold = geometric(1, "1/2", -1, 2)
    for at, v in enumerate(x):
        noisy = geometric(v, "2/3", -1, 3)
        if noisy >= threshold:
            return (at, noisy - threshold)
    return None


@mechanism(record=Tuple(Bit, Bit), neighbours="add-remove")
def with_memory(x: Any) -> Any:
    """What is sent depends on what was sent, and some of it is only counted; the last bit tells of the first."""
    last, count, out, first = 0, 0, [], flip("1/2")
    for record in x:
        a, b = (0, 1) if record is None else record
        last = (a ^ last) if flip("2/3") else last
        count = (count + (b if flip("3/4") else 0)) % 3
        out.append(last)
    return tuple(out), count, first, last ^ first


@mechanism(record=Bit, neighbours="unit-all")
def stopping(x: Any) -> Any:
    """A walk that may end early, after which nothing more is looked at."""
    at = 0
    for b in x:
        at += 1 if flip("2/3" if b else "1/3") else -1
        if abs(at) > 1:
            break
    return at, randint(0, 1)


@mechanism(record=Int(0, 2), neighbours="unit-step")
def with_exponentials(x: Any) -> Any:
    """Numbers with e^q; the state is what was sent last."""
    last = 0
    for v in x:
        last = choice(range(3), weights=[exp(-abs(k - v) - abs(k - last)) for k in range(3)])
    return last


MECHANISMS = [with_exponentials, matching, with_gap, with_memory, stopping]


def _by_elimination(mechanism: Mechanism, n: int) -> WithoutDiagram:
    found = look_without_diagram(program_of(mechanism.bind(n=n).bound), Control(), MOST_WORK)
    assert isinstance(found, WithoutDiagram)
    return found


@pytest.mark.one_in(4)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)
def test_eliminated_chains_give_what_all_runs_give(mechanism: Mechanism) -> None:
    for n in (2, 3):
        found = _by_elimination(mechanism, n).tight(Control(), MOST_WORK)
        wanted = mechanism.bind(n=n, method="runs").privacy()
        assert found.lower == found.upper == wanted.exp_epsilon
        if found.witness is not None:
            assert found.witness.exp_epsilon == wanted.exp_epsilon


def test_states_are_what_clients_leave_to_one_another() -> None:
    chain = _by_elimination(matching, 5).chain
    reached = [{node for arrows in block.into.values() for node in arrows} for block in chain.blocks]
    assert [len(nodes) for nodes in reached] == [5, 10, 10, 5, 1]


@pytest.mark.slow(seconds=6)
def test_sizes_whose_diagrams_are_too_large() -> None:
    found = matching.bind(n=8).privacy()
    assert (found.status, found.stats.method, found.stats.nodes) == ("exact", "chain", 0)
    assert found.witness is not None
    assert found.exp_epsilon == found.witness.probability / found.witness.probability_prime


@mechanism(record=Bit)
def fails(x: Any) -> Any:
    """Some runs fail."""
    seen = 0
    for b in x:
        seen += b and flip("1/2")
        assert seen < 2
    return seen


@mechanism(record=Bit)
def back_and_forth(x: Any) -> Any:
    """Every record is needed twice."""
    noise, more = [flip("1/3") ^ b for b in x], [flip("1/3") for _ in x]
    return tuple(noise), tuple(b if m else 0 for b, m in zip(x, more, strict=True))


@pytest.mark.parametrize("mechanism", [fails], ids=lambda mechanism: mechanism.name)
def test_what_is_left_to_other_methods(mechanism: Mechanism) -> None:
    assert not isinstance(
        look_without_diagram(program_of(mechanism.bind(n=2).bound), Control(), MOST_WORK), WithoutDiagram
    )


def test_records_that_are_needed_twice() -> None:
    found = _by_elimination(back_and_forth, 3).tight(Control(), MOST_WORK)
    assert found.lower == found.upper == back_and_forth.bind(n=3, method="runs").privacy().exp_epsilon


def test_many_records_are_not_followed_one_by_one() -> None:
    @mechanism(record=Int(0, 2_000))
    def total(x: Any) -> Any:
        return sum(x)

    assert not isinstance(look_without_diagram(program_of(total.bind(n=2).bound), Control(), MOST_WORK), WithoutDiagram)


@mechanism(record=Int(0, 9))
def first_above(x: Any) -> Any:
    """The first record above a noisy threshold, which is shared."""
    threshold = geometric(5, "1/2", 0, 10)
    for at, v in enumerate(x):
        if geometric(v, "1/2", 0, 10) >= threshold:
            return at
    return None


@pytest.mark.slow(seconds=5)
def test_outputs_that_the_last_client_decides_are_searched_one_by_one() -> None:
    chain = _by_elimination(first_above, 7).chain
    assert [block.bits for block in chain.blocks] == [0] * 6 + [3]
    bound = first_above.bind(n=7).bound
    brief = largest_ratio(chain, bound, limits=BRIEF)
    assert not brief.cut_short
    found = brief.found
    assert found is not None
    output = _by_elimination(first_above, 7)._named(found).output
    p, q = (first_above.bind(n=7).probability(x, output) for x in (found.x, found.x_prime))
    assert p / q == found.ratio == brief.lower == brief.upper
    assert (
        _by_elimination(first_above, 3).tight(Control(), MOST_WORK).lower
        == first_above.bind(n=3, method="exhaustive").privacy().exp_epsilon
    )
