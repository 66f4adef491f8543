"""The question `likelihood`: every output of one pair of datasets, beside the interpreter and the tight ε."""

from __future__ import annotations

import json
import math
from fractions import Fraction as F
from itertools import product

import pytest

from answered import LEAK, RESPONSE, one_flip, response
from command_line import GOLDEN, run
from generators.comparison import imported
from generators.mechanisms import draw_mechanism
from symmetry_oracle import meaning
from tightdp import Bit, Instance, ParameterError, flip, geometric, mechanism
from tightdp.language.neighbours import relation_of
from tightdp.queries.curves import LikelihoodRow


@mechanism(record=Bit)
def first(x):  # type: ignore[no-untyped-def]
    return x[0] ^ flip("1/5")


@pytest.mark.one_in(12)
@pytest.mark.parametrize("seed", range(25))
def test_rows_are_the_laws_of_the_interpreter(seed: int) -> None:
    drawn = draw_mechanism(seed)
    with imported(drawn.source) as module:
        compare(module.f.bind(n=drawn.n))


def compare(instance: Instance) -> None:
    """Compare the likelihood ratios of three pairs of datasets with the interpreter."""
    bound = instance.bound
    datasets = list(product(bound.record.values, repeat=bound.n))
    for x, x_prime in ((datasets[0], datasets[-1]), (datasets[-1], datasets[0]), (datasets[0], datasets[0])):
        law, law_prime = meaning(bound, x), meaning(bound, x_prime)
        if law is None or law_prime is None:
            continue
        found = instance.likelihood(x, x_prime)
        assert {row.output: row.probability for row in found.rows if row.probability} == law
        assert {row.output: row.probability_prime for row in found.rows if row.probability_prime} == law_prime
        ratios = [row.ratio for row in found.rows]
        assert ratios == sorted(ratios, reverse=True)
        assert len(found.rows) == len(law | law_prime)
        assert found.are_neighbours == (x_prime in list(relation_of(bound).neighbours(x)))
        assert x != x_prime or set(ratios) == {1}


def test_the_witness_of_the_tight_epsilon_has_the_largest_ratio() -> None:
    for instance in (RESPONSE, LEAK):
        best = instance.privacy()
        assert best.witness is not None
        found = instance.likelihood(best.witness.x, best.witness.x_prime)
        assert (found.largest, found.are_neighbours) == (best.exp_epsilon, True)


def test_outputs_of_one_dataset_only() -> None:
    found = LEAK.likelihood((0, 1), (1, 1))
    assert found.rows == (
        LikelihoodRow((0, 1), F(1, 3), F(0)),
        LikelihoodRow(None, F(2, 3), F(2, 3)),
        LikelihoodRow((1, 1), F(0), F(1, 3)),
    )
    assert (found.largest, found.smallest) == (math.inf, 0)
    assert "inf" in str(found)


def test_every_relation_says_who_is_a_neighbour() -> None:
    far = (0, 0), (1, 1)
    assert not RESPONSE.likelihood(*far).are_neighbours
    assert "not neighbours" in str(RESPONSE.likelihood(*far))
    assert response.bind(n=2, lam="1/5", neighbours="unit-all").likelihood(*far).are_neighbours
    assert not response.bind(n=2, lam="1/5", neighbours="unit-all").likelihood((0, 0), (0, 0)).are_neighbours
    assert response.bind(n=2, lam="1/5", neighbours=one_flip).likelihood((0, 0), (0, 1)).are_neighbours
    assert first.bind(n=40, neighbours="unit-all").likelihood((0,) * 40, (1,) * 40).are_neighbours


@pytest.mark.parametrize("n", [1, 3])
def test_tails_of_two_laws_begin_alike(n: int) -> None:
    @mechanism(record=Bit)
    def total(x):  # type: ignore[no-untyped-def]
        return sum(x) + geometric(0, "1/2")

    x, x_prime = (0,) * n, (1,) + (0,) * (n - 1)
    assert {row.ratio for row in total.bind(n=n).likelihood(x, x_prime).rows} == {F(1, 2), 2}
    assert total.bind(n=n).classic_guessing(2, x=x, x_prime=x_prime).exp_epsilon == 2


def test_datasets_that_are_none() -> None:
    with pytest.raises(ParameterError, match="1 record"):
        RESPONSE.likelihood((0, 0), (0,))
    with pytest.raises(ParameterError, match="needs x_prime"):
        RESPONSE.likelihood((0, 0))  # type: ignore[call-arg]


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN)
    asked = "likelihood", "mechanisms.py:response", "lam=1/5", "--x", "[0]", "--x-prime", "[1]"
    status, out, _ = run(capsys, *asked, "--json")
    answer = json.loads(out)
    assert (status, answer["query"], answer["status"]) == (0, "likelihood", "exact")
    assert answer["result"] == {
        "x": [0],
        "x_prime": [1],
        "are_neighbours": True,
        "rows": [[[0], "4/5", "1/5", "4"], [[1], "1/5", "4/5", "1/4"]],
    }
    assert "P/Q, largest" in run(capsys, *asked)[1]
    status, _, err = run(capsys, *asked[:-1], "[1")
    assert (status, "--x-prime" in err) == (2, True)
