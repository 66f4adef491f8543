"""Every view of the laws of one mechanism says the same, under every method: what codes stand for is read once."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import pytest

from thinned import thinned
from tightdp import (
    Bit,
    Int,
    Mechanism,
    QueryError,
    Values,
    flip,
    geometric,
    mechanism,
    shuffle,
)
from tightdp.core.outputs import ComponentCodes
from tightdp.language.tails import Tail
from views import METHODS, renamed, shaped, tailed

NAMED = METHODS[1:]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("seed", thinned(range(5), 3))
@pytest.mark.parametrize("method", METHODS)
def test_drawn_names(seed: int, method: str | None) -> None:
    assert renamed(seed, method) or method is not None


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", METHODS)
def test_drawn_shapes(seed: int, method: str | None) -> None:
    assert shaped(seed, method) or method is not None


@pytest.mark.one_in(12)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", METHODS)
def test_drawn_tails(seed: int, method: str | None) -> None:
    assert tailed(seed, method) or method is not None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 40))
def test_more_drawn_programs(seed: int) -> None:
    for method in METHODS:
        assert shaped(seed, method) or method is not None
        assert renamed(seed, method) or method is not None
        assert tailed(seed, method) or method is not None


@mechanism(record=Bit, target=lambda x: (1, 0))
def constants(x: Any) -> Any:
    return shuffle((1, 0))


@mechanism(record=Bit, target=lambda x: (True, False))
def coins(x: Any) -> Any:
    return shuffle([flip("1/2"), flip("1/2")])


@pytest.mark.parametrize(("program", "right"), [(constants, F(1, 2)), (coins, F(1, 4))])
def test_errors_of_a_shuffle_that_no_record_reaches(program: Mechanism, right: F) -> None:
    measures = {found.measure: found.value for found in program.bind(n=2).utility().measures}
    assert measures["right answer"] == right
    assert measures["expected absolute error, coordinate 1"] == F(1, 2)


@mechanism(record=Values(0, 1, 2))
def agreement(x: Any) -> Any:
    c = [b != 1 for b in x]
    return shuffle([c[0] == c[1], c[1] == c[2], c[2] == c[3]])


def test_the_law_of_a_forced_method_is_that_of_the_outputs() -> None:
    found = agreement.bind(n=6, method="independent groups").distribution((0, 1, 0, 0, 0, 0))
    assert found.probability((False, True, False)) == F(1, 3)
    assert len(found.law) == 3


@mechanism(record=Bit)
def both(x: Any) -> Any:
    return (tuple(x), shuffle((1, 0)), shuffle((1, 0)))


@pytest.mark.parametrize("method", [None, "independent outputs", "elimination", "chain"])
def test_an_event_has_all_outputs_of_a_shuffle(method: Any) -> None:
    witness: Any = both.bind(n=2, method=method).delta(exp_epsilon=1).witness
    assert len(witness.event) == 4


@mechanism(record=Bit)
def nothing(x: Any) -> Any:
    return ()


def test_an_output_without_components() -> None:
    assert [nothing.bind(n=2).probability((0, 0), y) for y in ((), 0, (0,))] == [1, 0, 0]
    declared = [((0, 0), (0, 1), ()), ((0, 0), (1, 1), ())][:1]
    assert nothing.bind(n=2).privacy(privacy_set=declared).exp_epsilon == 1


@mechanism(record=Bit)
def shapes(x: Any) -> Any:
    zero = int(flip("2/3"))
    if x[0] and zero ^ (zero > 0):
        return "stop"
    return (1,) if x[0] else ()


@pytest.mark.parametrize("method", [None, "elimination", "exhaustive", "chain", "runs"])
def test_a_shape_that_no_run_takes(method: Any) -> None:
    instance = shapes.bind(n=1, method=method)
    assert instance.privacy().witness is not None
    assert [instance.probability((0,), y) for y in ("stop", (1,), ())] == [0, 0, 1]
    assert [instance.probability((1,), y) for y in ("stop", (1,), ())] == [0, 1, 0]


@mechanism(record=Bit)
def ranked(x: Any) -> Any:
    return (sum(x) + flip("1/3"), flip("1/2"))


@pytest.mark.parametrize("method", METHODS)
def test_a_tally_counts_pairs_and_outputs_under_every_method(method: Any) -> None:
    try:
        rows = ranked.bind(n=2, method=method).privacy(top=3).top
    except QueryError:
        assert method in ("cells", "independent clients", "independent groups", "extreme records", "first pairs")
        return
    assert [(row.exp_epsilon, row.triples) for row in rows] == [(float("inf"), 16), (2, 8), (F(1, 2), 8)]


@mechanism(record=Int(0, 2))
def responses(x: Any) -> Any:
    return tuple(flip("1/3") ^ (v > 0) for v in x)


def test_the_largest_ratio_is_exact_where_only_the_ranking_is_cut_short() -> None:
    found = responses.bind(n=8, method="chain").privacy(top=3)
    assert found.status == "exact"
    assert found.exp_epsilon == 2
    assert found.top[0].triples is None
    assert "The ranking may miss ratios" in str(found)
    assert found.reason.startswith("the ranking may miss ratios")  # what is told beside JSON
    assert "not counted" in str(found)


# Tails of the integers.


@mechanism(record=Bit, target=sum)
def noisy(x: Any) -> Any:
    return geometric(sum(x), "1/2")


def test_an_integer_within_a_tail_has_its_own_probability() -> None:
    instance = noisy.bind(n=1)
    known = instance.distribution((0,))
    for z in range(-6, 7):
        assert instance.probability((0,), z) == known.probability(z) == F(1, 3) / 2 ** abs(z)
    assert instance.probability((0,), F(7, 2)) == known.probability(F(7, 2)) == 0


def test_declared_sets_name_integers_within_a_tail() -> None:
    instance, both_datasets = noisy.bind(n=1), [(0,), (1,)]
    points = [(x, y) for x in both_datasets for y in range(-2, 4)]
    found = instance.accuracy(2, accuracy_set=both_datasets, inference_set=points)
    assert found.one_minus_beta == F(5, 6)
    with pytest.raises(QueryError, match="misses"):
        instance.accuracy(2, accuracy_set=both_datasets, inference_set=points[1:])
    triples = [((0,), (1,), -5), ((1,), (0,), -5)]
    assert [row.exp_epsilon for row in instance.privacy(privacy_set=triples, top=2).top] == [2, F(1, 2)]


@mechanism(record=Bit, target=lambda x: (0, 0))
def two_ratios(x: Any) -> Any:
    return (geometric(0, "1/2"), geometric(x[0], "1/3"))


def test_every_tail_falls_by_its_own_ratio() -> None:
    assert Tail(1, 1, F(1, 2)) != Tail(1, 1, F(1, 3))
    assert Tail(1, 1, F(1, 2)) == ">= 1"
    assert two_ratios.bind(n=1).probability((0,), (0, 5)) == F(1, 3) * F(1, 2) / 3**5
    errors = {found.measure: found.value for found in two_ratios.bind(n=1).utility().measures}
    assert errors["expected absolute error, coordinate 1"] == F(4, 3)


@mechanism(record=Bit)
def mixed(x: Any) -> Any:
    if x[0] and flip("1/3"):
        return ("a", (x[1], flip("1/2")))
    return "b" if x[1] else (sum(x), flip("1/4"), ())


@pytest.mark.parametrize("method", ["elimination", "exhaustive"])
def test_a_code_is_found_again_from_its_output(method: Any) -> None:
    instance = mixed.bind(n=2, method=method)
    table = instance.engine.program.table(instance.engine.control())
    assert isinstance(table.codes, ComponentCodes)
    for x in ((0, 0), (0, 1), (1, 0), (1, 1)):
        for code in table.weights(x).by_code:
            assert table.codes.find(table.codes.first(code)) == (code, 1)


@mechanism(record=Int(0, 2))
def uneven(x: Any) -> Any:
    return (max(x[0], x[1] * flip("1/3")), x[2] - flip("1/4"))


@pytest.mark.parametrize("method", ["exhaustive", "chain", "independent groups", "independent outputs"])
def test_a_tally_that_is_known_in_part_is_not_counted(method: Any) -> None:
    for row, truth in zip(uneven.bind(n=3, method=method).privacy(top=3).top, (228, 42, 24), strict=True):
        assert row.triples == truth or (method == "independent outputs" and row.triples is None)


def test_a_witness_has_its_ratio_where_shapes_differ() -> None:
    """Of a condition that is never met there is no output, whichever shapes the others have."""

    @mechanism(record=Bit)
    def stops(x: Any) -> Any:
        f = int(flip("2/3"))
        if x[0] and f ^ (f > 0):
            return "stop"
        return (1,) if x[0] else ()

    for method in (None, "elimination", "chain", "exhaustive", "runs"):
        found = stops.bind(n=1, method=method).privacy()
        assert found.exp_epsilon == float("inf")
        assert found.witness is not None
        assert (found.witness.output, found.witness.probability) == ((), 1)
