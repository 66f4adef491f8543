"""Ratios that have no end: proved for broken variants, never beside a finite end, and as they grow with n."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs.batches import bins_batches
from programs.sparse_vector import (
    sparse_vector,
    sparse_vector_fresh_threshold,
    sparse_vector_no_cutoff,
    sparse_vector_noisy_answers,
)

from generators.noisy_uniform_programs import noisy_uniform_program
from tightdp import ALL, Bit, Int, exponential, flip, geometric, laplace, mechanism, one_sided_geometric
from tightdp.every_n import growth
from tightdp.every_n.alignment import align
from tightdp.every_n.intervals import ONE, Grid, Way
from tightdp.every_n.states import _taken
from tightdp.every_n.upper import readings
from tightdp.session.files import import_file
from tightdp.session.mechanism import Mechanism, mechanisms_of

RATIOS: dict[str, Any] = {"ratio_threshold": "1/2", "ratio_query": "1/2"}
NOISE = {"k": 2, "threshold": 1, **RATIOS}


def grows(one: Mechanism, **parameters: Any) -> bool:
    return any(map(growth.grows, readings(one.program.bind(1, **parameters))))


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


@pytest.mark.one_in(2)
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
            if growth.grows(paths):
                assert align(paths) is None, seed
            else:
                aligned += 1
    assert aligned


def test_what_one_record_does_at_random_is_shared_out_among_what_the_other_run_does() -> None:
    split = bins_batches.bind(n=ALL, batches=2, ratio="1/4")
    found = split.verify(exp_epsilon=4)
    assert (found.holds, found.found.upper, found.found.proof) == (True, 4, "alignment")


def above(x: Any, drawn: Any, asked: Any, again: bool = False, value: bool = False) -> Any:
    """Answers above a noisy threshold, which is drawn again after each, or of which the first is published."""
    hidden, sent = drawn(0), []
    for v in x:
        answer = asked(v)
        if answer >= hidden:
            sent.append(answer if value else True)
            if value:
                break
            if again:
                hidden = drawn(0)
        else:
            sent.append(False)
    return tuple(sent)


@mechanism(record=Int(0, 1), neighbours="unit-all")
def redrawn(x: Any) -> Any:
    return above(x, lambda v: geometric(v, "1/2"), lambda v: geometric(v, "1/2"), again=True)


@mechanism(record=Int(0, 1), neighbours="unit-all")
def redrawn_real(x: Any) -> Any:
    return above(x, lambda v: laplace(v, 2), lambda v: laplace(v, 4), again=True)


@mechanism(record=Int(0, 1), neighbours="unit-all")
def one_sided(x: Any) -> Any:
    return above(x, lambda v: one_sided_geometric(v, "1/2"), lambda v: v + one_sided_geometric(0, "1/2"))


@mechanism(record=Int(0, 1), neighbours="unit-all")
def one_sided_real(x: Any) -> Any:
    return above(x, lambda v: exponential(v, 2), lambda v: exponential(v, 4))


@mechanism(record=Int(0, 1), neighbours="unit-all")
def real_value(x: Any) -> Any:
    return above(x, lambda v: laplace(v, 2), lambda v: laplace(v, 4), value=True)


@mechanism(record=Int(0, 1), neighbours="unit-all")
def within_two(x: Any) -> Any:
    """Answers between two noisy thresholds."""
    low, high = laplace(0, 2), laplace(2, 2)
    sent = []
    for v in x:
        answer = laplace(v, 4)
        sent.append(1 if low <= answer and answer <= high else 0)
    return tuple(sent)


@mechanism(record=Int(0, 1), neighbours="unit-all")
def num_range_1(x: Any) -> Any:
    """The first answer outside of two noisy thresholds is published: an automaton of DiPAut."""
    low, high = geometric(0, "1/2"), geometric(1, "1/2")
    sent: list[Any] = []
    for v in x:
        answer = geometric(v, "1/2")
        if answer < low or answer > high:
            sent.append(answer)
            break
        sent.append("within")
    return tuple(sent)


@mechanism(record=Int(0, 1))
def running_counts(x: Any) -> Any:
    """One record changes all that follows it."""
    total, sent = 0, []
    for v in x:
        total += v
        sent.append(geometric(total, "1/2"))
    return tuple(sent)


@mechanism(record=Int(0, 1))
def last_two(x: Any) -> Any:
    """One record changes two numbers."""
    last, sent = 0, []
    for v in x:
        sent.append(geometric(last + v, "1/2"))
        last = v
    return tuple(sent)


@mechanism(record=Int(0, 1))
def one_changes(x: Any) -> Any:
    """No end, but one record changes."""
    return above(x, lambda v: laplace(v, 2), lambda v: laplace(v, 2))


@mechanism(record=Int(0, 1), neighbours="unit-all")
def stops(x: Any) -> Any:
    hidden, sent = laplace(0, 2), []
    for v in x:
        if laplace(v, 4) >= hidden:
            sent.append(True)
            break
        sent.append(False)
    return tuple(sent)


GROWING = [redrawn, one_sided, running_counts, num_range_1, redrawn_real, one_sided_real, real_value, within_two]
QUICK = 4
SLOW = pytest.mark.slow(seconds=1)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("one", [*GROWING[:QUICK], *(pytest.param(each, marks=SLOW) for each in GROWING[QUICK:])])
def test_noise_of_every_kind(one: Mechanism) -> None:
    assert grows(one)


@pytest.mark.parametrize("one", [last_two, one_changes, pytest.param(stops, marks=SLOW)])
def test_what_is_bounded_does_not_grow(one: Mechanism) -> None:
    assert not grows(one)
    (paths,) = readings(one.program.bind(1))
    assert align(paths) is not None


@mechanism(record=Int(0, 1), neighbours="unit-all")
def enlarged(x: Any) -> Any:
    return above(x, lambda v: geometric(v, "1/2"), lambda v: 1 + 10**18 * geometric(v, "1/2"), again=True)


def test_numbers_that_doubles_need_not_hold_prove_nothing() -> None:
    assert not grows(enlarged)


@pytest.mark.slow(seconds=6)
@pytest.mark.parametrize("one", GROWING)
def test_tight_values_grow_at_the_first_few_n(one: Mechanism) -> None:
    tight = [math.log(one.bind(n=n).privacy().lower) for n in (1, 2, 3)]
    assert all(later > before + 0.02 for before, later in pairwise(tight))


@mechanism(record=Int(0, 1), neighbours="unit-all")
def walk(x: Any) -> Any:
    at, sent = geometric(0, "1/2"), []
    for v in x:
        at = 1 - at + geometric(v, "1/3")
        sent.append(at > v)
    return tuple(sent)


@pytest.mark.parametrize("one", [redrawn, walk])
def test_integers_on_cells_are_between_what_happens_at_least_and_at_most(one: Mechanism) -> None:
    """With each integer in a cell of its own both ends are close to sums over the noise, but for its tails."""
    grid = Grid(6, 1)
    for path in readings(one.program.bind(1))[0].steps[1][0]:
        below, over = (Way(path, (False,), (False,), grid, (), up) for up in (False, True))
        for k in range(-3, 4):
            later = np.where(np.arange(-7, 8) == k, ONE, 0)
            least, most = below.before(later) / ONE, over.before(later) / ONE
            for t in range(-3, 4):
                exact = sum(mass for values, _, mass in _taken(path, (t,), 12) if values == (k,))
                assert least[t + 7] <= float(exact) + 1e-3
                assert float(exact) - 1e-3 <= most[t + 7] <= least[t + 7] + 0.1


@pytest.mark.slow(seconds=2)
def test_reals_on_cells_are_between_what_happens_at_least_and_at_most() -> None:
    grid = Grid(8, 4)
    ends = grid.cells(True)
    for path in readings(redrawn_real.program.bind(1))[0].steps[1][0]:
        sent = path.letter[0][1]
        least, most = (
            Way(path, (True,), (True,), grid, (), up).before(np.full(len(ends[0]), ONE)) / ONE for up in (False, True)
        )
        for at, (low, high) in enumerate(zip(*ends, strict=True)):
            for t in (max(low / 4, -9) + 1e-9, min(high / 4, 9) - 1e-9):
                tail = math.exp(-abs(t - 1) / 4) / 2
                exact = tail if (t > 1) == sent else 1 - tail
                assert least[at] - 1e-8 <= exact <= most[at] + 1e-8
            assert most[at] - least[at] <= 0.1 or not 0 < at < len(ends[0]) - 1


@mechanism(record=Bit)
def clamped_counts(x):  # type: ignore[no-untyped-def]
    total, sent = 0, []
    for bit in x:
        total += bit
        sent.append(geometric(total, "1/2", 0, 2))
    return tuple(sent)


@pytest.mark.slow(seconds=3)
def test_numbers_that_are_clamped_tell_their_paths() -> None:
    found = clamped_counts.bind(n=ALL).privacy()
    assert (found.status, found.upper, found.proof) == ("exact", math.inf, "growth")
