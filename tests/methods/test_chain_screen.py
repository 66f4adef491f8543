"""The largest ratio of a chain, from the probabilities of all datasets at once, is the one found pair by pair."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from programs.above_threshold_unbounded import above_threshold_unbounded
from programs.report_noisy_max import report_noisy_max
from programs.sparse_vector import (
    sparse_vector,
    sparse_vector_exact_answers,
    sparse_vector_fresh_threshold,
    sparse_vector_no_cutoff,
)

from agreement import bind, module_of
from generators.uniform_programs import uniform_program
from strategies import write_program
from tightdp import Int, exp, flip, geometric, mechanism, randint
from tightdp.errors import TightdpError
from tightdp.language.program import Bound
from tightdp.limits.calibrated import MOST_WORK
from tightdp.methods import chain_screen
from tightdp.methods.base import Comparison, Control, Pair, Tight
from tightdp.methods.by_chain import WithoutDiagram, look_without_diagram
from tightdp.methods.by_datasets import Exhaustive
from tightdp.methods.chain import Runs
from tightdp.methods.chain_screen import Screened, screened
from tightdp.methods.choose import program_of
from tightdp.methods.ranking import tight_ratio
from tightdp.session.files import import_file
from tightdp.session.mechanism import mechanisms_of


def by_screen(bound: Bound) -> Screened | None:
    chain = program_of(bound).chain(Control(), MOST_WORK)
    return None if chain is None else screened(chain, bound, Runs(chain).of, Control())


def by_pairs(bound: Bound) -> Any:
    pairs = Exhaustive(program_of(bound)).comparison(Control())
    assert isinstance(pairs, Comparison)
    found = tight_ratio(Pair(one.x, one.x_prime, one.size, one.table) for one in pairs)
    return max([1, *(ratio.exp_epsilon for ratio in found)])


HALF = Fraction(1, 2)
RATIOS: dict[str, Any] = {"ratio_threshold": "1/2", "ratio_query": "1/2"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("neighbours", ["unit-all", "unit-step", "replace-one"])
def test_sparse_vectors(neighbours: str) -> None:
    for one, more in (
        (sparse_vector, {"cutoff": 1, **RATIOS}),
        (sparse_vector, {"cutoff": 2, **RATIOS}),
        (sparse_vector_fresh_threshold, {"cutoff": 2, **RATIOS}),
        (sparse_vector_no_cutoff, RATIOS),
        (sparse_vector_exact_answers, {"ratio_threshold": "1/3"}),
        (above_threshold_unbounded, RATIOS),
    ):
        bound = one.bind(n=3, k=2, threshold=1, neighbours=neighbours, **more).bound
        found = by_screen(bound)
        assert found is not None
        assert found.lower == found.upper == by_pairs(bound)
    bound = report_noisy_max.bind(n=3, k=2, ratio="1/2", neighbours=neighbours).bound
    found = by_screen(bound)
    assert found is not None
    assert found.lower == found.upper == by_pairs(bound)


@pytest.mark.slow(seconds=2)
def test_drawn_programs() -> None:
    screens = 0
    for seed in range(60):
        case = write_program(random.Random(31_000 + seed))
        with module_of(case.source) as module:
            try:
                bound = bind(module, case.record, case.n, neighbours=case.neighbours, **case.parameters)
                found = None if callable(case.neighbours) else by_screen(bound)
            except TightdpError:
                continue
            if found is not None:
                screens += 1
                assert found.lower == found.upper == by_pairs(bound), seed
    assert screens > 10


def test_drawn_programs_that_go_from_record_to_record(tmp_path: Path) -> None:
    screens = 0
    for seed in range(500, 516):
        place = tmp_path / f"rows_{seed}.py"
        place.write_text(uniform_program(seed), encoding="utf-8")
        bound = mechanisms_of(import_file(place))["drawn"].program.bind(3)
        found = by_screen(bound)
        if found is not None:
            screens += 1
            assert found.lower == found.upper == by_pairs(bound), seed
    assert screens > 5


@mechanism(record=Int(0, 2))
def exponentials(x: Any) -> Any:
    hidden = geometric(1, exp(-HALF), 0, 4)
    return tuple(flip(exp(-abs(v - hidden)) / 2) for v in x)


def test_numbers_with_e() -> None:
    bound = exponentials.bind(n=3).bound
    found = by_screen(bound)
    assert found is not None
    assert found.lower == found.upper == by_pairs(bound)


def test_where_exact_numbers_take_too_much_both_ends_are_close(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = sparse_vector.bind(n=4, k=3, threshold=2, cutoff=2, **RATIOS).bound
    exact = by_screen(bound)
    assert exact is not None
    monkeypatch.setattr(chain_screen, "MOST_ENTRIES", 1)
    found = by_screen(bound)
    assert found is not None
    assert found.lower <= exact.lower < found.upper < found.lower * (1 + 1e-12)
    monkeypatch.setattr(chain_screen, "MOST_WORK", 10)
    assert by_screen(bound) is None


def test_the_answer_has_its_witness() -> None:
    found = sparse_vector_no_cutoff.bind(n=6, k=3, threshold=2, **RATIOS).privacy()
    assert (found.status, found.stats.method, found.exp_epsilon) == ("exact", "chain", Fraction(18810688, 353651))
    witness = found.witness
    assert witness is not None
    assert witness.probability / witness.probability_prime == found.exp_epsilon


@mechanism(record=Int(0, 2))
def longest_run(x: Any) -> Any:
    best = length = before = 0
    for v in x:
        length = length + 1 if v >= before else 1
        before = v
        best = max(best, length)
    return best if flip("3/4") else randint(0, 9)


@pytest.mark.slow(seconds=2)
def test_where_too_many_pairs_come_close_the_search_of_forms_goes_on() -> None:
    method = look_without_diagram(program_of(longest_run.bind(n=8).bound), Control(), MOST_WORK)
    assert isinstance(method, WithoutDiagram)
    found = method.tight(Control(), MOST_WORK)
    assert isinstance(found, Tight)
    assert found.lower == found.upper == (Fraction(3, 4) + Fraction(1, 40)) / Fraction(1, 40)
