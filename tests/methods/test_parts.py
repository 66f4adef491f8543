"""Outputs in parts that share clients but no draw: products over the parts, against going through all outputs."""

from __future__ import annotations

from typing import Any

import pytest

from tightdp import Bit, Bits, Int, Mechanism, QueryError, Tuple, choice, exp, flip, geometric, mechanism, randint


@mechanism(record=Bit)
def tree(x: Any) -> Any:
    """Every node of a binary tree of counts, noisy."""
    nodes, level = [], list(x)
    while level:
        nodes.append(tuple(geometric(v, "1/2", -1, 2) for v in level))
        level = [sum(level[2 * at : 2 * at + 2]) for at in range(len(level) // 2)]
    return tuple(nodes)


@mechanism(record=Int(0, 2))
def windows(x: Any) -> Any:
    """Noisy maxima of overlapping windows, out of order."""
    return tuple(geometric(max(x[at : at + 2]), "1/3", 0, 2) for at in reversed(range(len(x))))


@mechanism(record=Bit, neighbours="add-remove")
def pairs(x: Any) -> Any:
    """Of every two clients whether they agree, and one bit that all of them share."""
    known = [0 if v is None else v for v in x]
    agree = tuple(flip("3/4" if known[i] == known[j] else "1/3") for i in range(len(x)) for j in range(i))
    return agree, choice((0, 1), [1 + sum(known), 2]), sum(v is None for v in x) * 0


@mechanism(record=Bits(2))
def often_certain(x: Any) -> Any:
    """Some parts tell a record apart for certain, others hardly."""
    shown = [a for a, _ in x if a]
    return (randint(0, len(shown)), flip("1/2") and x[0][1], tuple(b if flip("1/4") else 2 for _, b in x[1:]))


@mechanism(record=Int(0, 2), neighbours="unit-step")
def weighted(x: Any) -> Any:
    """Counts with weights of their own, and numbers with e^q."""
    return tuple(flip(exp(-sum((at + k) % 3 * v for at, v in enumerate(x)))) for k in range(3))


@mechanism(record=Bit)
def together(x: Any) -> Any:
    """Two of the components share a draw."""
    noise = geometric(0, "1/2", -1, 1)
    return noise + x[0], geometric(sum(x), "1/2", 0, 2), noise * x[-1]


@mechanism(record=Int(0, 5), neighbours="unit-step")
def coarse(x: Any) -> Any:
    """Records that no part tells apart, seen by parts of different clients, in another order."""
    return (
        geometric(max(v // 2 for v in reversed(x)), "1/2", 0, 2),
        flip("1/3") if x[-1] > 3 else flip("1/5"),
        geometric(sum(1 for v in x[1:] if v in (1, 2)), "1/3", 0, 2),
    )


MECHANISMS = [tree, windows, pairs, often_certain, weighted, together, coarse]


@mechanism(record=Int(0, 60))
def count_and_largest(x: Any) -> Any:
    """Two statistics of records of a large domain."""
    return geometric(sum(1 for v in x if v > 30), "1/2", 0, len(x)), geometric(max(x) // 6, "1/2", 0, 10)


def test_two_statistics_of_a_large_domain() -> None:
    found = {
        method: count_and_largest.bind(n=2, method=method).privacy()
        for method in ("independent outputs", "aggregate", None)
    }
    assert len({(one.exp_epsilon, one.witness) for one in found.values()}) == 1
    assert found[None].exp_epsilon == 2048
    assert count_and_largest.bind(n=8).privacy().exp_epsilon == 2048


@pytest.mark.one_in(8)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)
def test_parts_give_what_all_outputs_give(mechanism: Mechanism) -> None:
    for n in (2, 3):
        ours, plain = (mechanism.bind(n=n, method=name) for name in ("independent outputs", "runs"))
        found, wanted = ours.privacy(), plain.privacy()
        assert found.exp_epsilon == wanted.exp_epsilon
        assert found.witness == wanted.witness
        for t in ("1", "3/2", 4):
            assert ours.delta(exp_epsilon=t).delta == plain.delta(exp_epsilon=t).delta
        x = mechanism.bind(n=n).bound.record.values[-1:] * n
        assert dict(ours.distribution(x).law) == dict(plain.distribution(x).law)


def test_joint_laws_too_long_to_list_are_not_needed() -> None:
    instance = tree.bind(n=8)
    found = instance.privacy()
    assert (found.status, found.exp_epsilon, found.stats.method) == ("exact", 16, "independent outputs")
    assert instance.delta(exp_epsilon=2).status == "exact"


@pytest.mark.slow(seconds=4)
def test_sums_of_noisy_bits_are_compared_sum_by_sum() -> None:
    """There are 7**8 outputs: of two records in one place, the bits of two sums change."""

    @mechanism(record=Int(0, 7))
    def unary(x: Any) -> Any:
        sums = [0] * 8
        for v in x:
            for j in range(8):
                sums[j] += flip("3/4") if j == v else flip("1/4")
        return tuple(sums)

    assert unary.bind(n=6).privacy().exp_epsilon == 9


def test_a_chain_hands_over_to_parts_that_are_known_to_need_less() -> None:
    """Its diagram is quickly made, its search is long; the parts need more than is spent without an estimate."""

    @mechanism(record=Bit)
    def running(x: Any) -> Any:
        return tuple(geometric(sum(x[: at + 1]), "1/2", 0, len(x)) for at in range(len(x)))

    found = running.bind(n=10).privacy()
    assert (found.status, found.exp_epsilon, found.stats.method) == ("exact", 2**10, "independent outputs")


def test_failures_are_left_to_the_whole_program() -> None:
    @mechanism(record=Bit)
    def fails(x: Any) -> Any:
        first, second = geometric(sum(x), "1/2", 0, 2), flip("1/2")
        assert first < 2 or not second
        return first, second

    with pytest.raises(Exception, match="assert"):
        fails.bind(n=2).privacy()


# how many triples a ratio stands for, where a change reaches parts and leaves their laws as they are


def masked(x: Any) -> Any:
    return tuple(int(a ^ b) * flip("2/3") for a, b in x), flip("2/3")


def halves(x: Any) -> Any:
    return flip("1/3"), x[0] // 2 if flip("1/2") else 0, flip("1/5") and x[0] % 2


def ignored(x: Any) -> Any:
    return flip("1/3"), flip("1/4")


def summed(x: Any) -> Any:
    return sum(v // 2 for v in x) * flip("1/2"), flip("1/4"), max(x) // 2 if flip("1/3") else 7


@pytest.mark.one_in(3)
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize(
    ("program", "record"),
    [(masked, Tuple(Bit, Bit)), (halves, Int(0, 3)), (ignored, Int(0, 2)), (summed, Int(0, 2))],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_ratios_stand_for_as_many_triples_as_runs_show(program: Any, record: Any, n: int) -> None:
    def ranked(method: str | None) -> list[tuple[Any, int | None]]:
        found = mechanism(record=record)(program).bind(n=n, method=method).privacy(top=9)
        return [(ratio.exp_epsilon, ratio.triples) for ratio in found.top]

    wanted = ranked("runs")
    for method in (None, "exhaustive", "independent outputs", "independent clients", "elimination", "orbits"):
        try:
            found = ranked(method)
        except QueryError:
            continue
        assert [ratio for ratio, _ in found] == [ratio for ratio, _ in wanted], method
        assert all(number in (None, many) for (_, number), (_, many) in zip(found, wanted, strict=True)), method
