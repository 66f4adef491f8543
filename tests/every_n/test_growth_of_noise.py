"""Ratios that have no end under noise on all integers: proved for broken variants, never beside a finite end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from programs.batches import bins_batches
from programs.sparse_vector import (
    sparse_vector,
    sparse_vector_fresh_threshold,
    sparse_vector_no_cutoff,
    sparse_vector_noisy_answers,
)

from generators.noisy_uniform_programs import noisy_uniform_program
from tightdp import ALL, Int, flip, geometric, mechanism
from tightdp.every_n.alignment import align
from tightdp.every_n.growth_of_noise import grows_under_noise
from tightdp.every_n.upper import readings
from tightdp.session.files import import_file
from tightdp.session.mechanism import Mechanism, mechanisms_of

RATIOS: dict[str, Any] = {"ratio_threshold": "1/2", "ratio_query": "1/2"}
NOISE = {"k": 2, "threshold": 1, **RATIOS}


def grows(one: Mechanism, **parameters: Any) -> bool:
    return any(map(grows_under_noise, readings(one.program.bind(1, **parameters))))


@pytest.mark.slow(seconds=4)
def test_sparse_vectors_that_publish_too_much() -> None:
    assert grows(sparse_vector_no_cutoff, **NOISE)
    assert grows(sparse_vector_no_cutoff, **{**NOISE, "ratio_threshold": "9/10", "ratio_query": "1/9"})
    assert grows(sparse_vector_noisy_answers, cutoff=1, **NOISE)
    assert grows(sparse_vector_noisy_answers, cutoff=3, **{**NOISE, "k": 1})
    assert not grows(sparse_vector_no_cutoff, neighbours="unit-step", **NOISE)


@pytest.mark.slow(seconds=4)
def test_sparse_vectors_that_do_not() -> None:
    for cutoff in (1, 2):
        assert not grows(sparse_vector, cutoff=cutoff, **NOISE)
        assert not grows(sparse_vector_fresh_threshold, cutoff=cutoff, **NOISE)


@pytest.mark.slow(seconds=8)
def test_the_answer() -> None:
    found = sparse_vector_noisy_answers.bind(n=ALL, cutoff=1, **NOISE).privacy()
    assert (found.status, found.proof, found.attained) == ("exact", "growth", False)
    refuted = sparse_vector_no_cutoff.bind(n=ALL, **NOISE).verify(exp_epsilon=1000)
    assert refuted.holds is False


@mechanism(record=Int(0, 1), neighbours="unit-all")
def blind(x: Any) -> Any:
    """Messages that do not depend on the records."""
    hidden = geometric(0, "1/2")
    return tuple(1 if geometric(0, "1/2") >= hidden else 0 for v in x)


@mechanism(record=Int(0, 1), neighbours="unit-all")
def always_below(x: Any) -> Any:
    """The first message above ends the run; what comes before favours no dataset in the limit."""
    hidden = geometric(0, "1/2")
    sent = []
    for v in x:
        if v + geometric(0, "1/2") > hidden:
            sent.append("above")
            break
        sent.append("below")
    return tuple(sent)


@mechanism(record=Int(0, 1), neighbours="unit-all")
def responses(x: Any) -> Any:
    """Randomized response of every record, with noise that does not matter."""
    hidden = geometric(0, "1/2")
    return tuple((v if flip("2/3") else 1 - v) if geometric(0, "1/2") >= hidden else None for v in x)


@mechanism(record=Int(0, 1), neighbours="unit-all")
def at_two_speeds(x: Any) -> Any:
    """The answer lies between the threshold and its double, which is likeliest far out where noise is wide."""
    hidden = geometric(0, "99/100")
    sent = []
    for v in x:
        answer = v + geometric(0, "99/100")
        sent.append(1 if answer >= hidden and answer <= 2 * hidden else 0)
    return tuple(sent)


@pytest.mark.parametrize(
    ("one", "expected"), [(at_two_speeds, False), (blind, False), (always_below, False), (responses, True)]
)
def test_others(one: Mechanism, expected: bool) -> None:
    assert grows(one) == expected


@pytest.mark.slow(seconds=20)
def test_nothing_grows_that_has_an_alignment(tmp_path: Path) -> None:
    aligned = 0
    for seed in range(300, 330):
        place = tmp_path / f"growing_{seed}.py"
        place.write_text(noisy_uniform_program(seed), encoding="utf-8")
        program = mechanisms_of(import_file(place))["drawn"].program
        for paths in readings(program.bind(1)):
            if grows_under_noise(paths):
                assert align(paths) is None, seed
            else:
                aligned += 1
    assert aligned


def test_what_one_record_does_at_random_is_shared_out_among_what_the_other_run_does() -> None:
    split = bins_batches.bind(n=ALL, batches=2, ratio="1/4")
    found = split.verify(exp_epsilon=4)
    assert (found.holds, found.found.upper, found.found.proof) == (True, 4, "alignment")
