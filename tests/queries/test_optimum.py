"""Optima, against linear programs that are written anew over all datasets, and certificates that are checked anew."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from itertools import product
from math import floor
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from optimum_oracle import add_remove, every_pair, recheck, replace_one, simplex, unit_all, unit_step, whole_program
from tightdp import Bit, Int, ParameterError, ProgramError, QueryError, certify_optimum, flip, geometric, mechanism
from tightdp.queries.geometric_noise import geometric_kernel, post_processing
from tightdp.queries.optimum import Design, best_kernel, bound_of, is_private, least_gain
from tightdp.results.optimum import Optimum
from tightdp.session.certify import load_checker

checker = load_checker()
PAGE = Path(__file__).parents[2] / "docs" / "optimum.md"
NEAR = {"replace-one": replace_one, "unit-all": unit_all, "unit-step": unit_step, "add-remove": add_remove}


def parity(x: Any) -> int:
    return sum(x) % 2


def first_above(x: Any, threshold: int) -> int:
    return next((i for i, v in enumerate(x) if v >= threshold), len(x))


def first_strictly_above(x: Any, threshold: int) -> int:
    return first_above(x, threshold + 1)


def largest(x: Any) -> int:
    return x.index(max(x))


def most_frequent(x: Any) -> int:
    return min(sorted(set(x)), key=lambda value: -x.count(value))


def above_until_one(x: Any, threshold: int) -> tuple[int, ...]:
    return (1,) if x[0] >= threshold else (0, int(x[1] >= threshold))


def histogram(x: Any, values: int) -> tuple[int, ...]:
    return tuple(x.count(v) for v in range(values))


def in_pairs(x: Any) -> tuple[int, ...]:
    return tuple(x[i] ^ x[i + 1] for i in range(0, len(x), 2))


def in_halves(x: Any) -> tuple[int, ...]:
    return sum(x[: len(x) // 2]), sum(x[len(x) // 2 :])


def boxed_sum(x: Any) -> tuple[int]:
    return (sum(0 if v is None else v for v in x),)


@dataclass(frozen=True)
class Row:
    """A program of `programs/` with its parameters, the target and its name, and the question."""

    program: str
    parameters: dict[str, Any]
    target: Callable[..., Any]
    words: str
    question: dict[str, Any]

    @property
    def mechanism(self) -> Any:
        file, _, name = self.program.partition(":")
        return getattr(import_module(f"programs.{file.replace('/', '.')}"), name or file)

    def ask(self) -> Optimum:
        return self.mechanism.bind(**self.parameters).optimum(target=self.target, **self.question)


RR, T4 = {"lam": "1/5"}, {"exp_epsilon": 4}
HALVES = {"threshold": 2, "ratio_threshold": "1/2", "ratio_query": "1/2"}
QUARTERS = {"threshold": 1, "ratio_threshold": "1/4", "ratio_query": "1/4"}
ERROR = {"measure": "absolute error"}
ROWS = [
    Row("randomized_response_count", {"n": 8, **RR}, sum, "sum", {"alpha": 2}),
    Row("geometric_count", {"n": 8, "ratio": "1/4"}, sum, "sum", {"alpha": 2}),
    Row("geometric_count", {"n": 30, "ratio": "1/4"}, sum, "sum", {"alpha": 2}),
    Row("geometric_count", {"n": 8, "ratio": "1/4"}, sum, "sum", ERROR),
    Row("count", {"n": 8}, sum, "sum", {**ERROR, **T4}),
    Row("count", {"n": 8}, sum, "sum", {"alpha": 1, "exp_epsilon": 2, "delta": "1/100"}),
    Row("randomized_response", {"n": 3, **RR}, tuple, "the dataset", {}),
    Row("k_ary_randomized_response", {"n": 2, "k": 3, "exp_epsilon": 4}, tuple, "the dataset", {}),
    Row(
        "bit_vector_randomized_response:bit_vector_randomized_response",
        {"n": 2, "d": 2, **RR},
        tuple,
        "the dataset",
        {},
    ),
    Row("xor_randomized_response", {"n": 4, **RR}, parity, "parity", {}),
    Row("xor_in_pairs", {"n": 4}, in_pairs, "parities of pairs", T4),
    Row("count_in_sets", {"n": 4, "s": 2}, in_halves, "sums of halves", T4),
    Row("above_threshold", {"n": 2, "k": 3, **HALVES}, first_above, "first above", {}),
    Row("above_threshold_artifact", {"n": 2, "k": 3, **HALVES}, first_strictly_above, "first above", {}),
    Row("above_threshold_unbounded", {"n": 2, "k": 1, **QUARTERS}, first_above, "first above", {}),
    Row("report_noisy_max", {"n": 3, "k": 1, "ratio": "1/4"}, largest, "place of the largest", {}),
    Row("exponential_mechanism", {"n": 4, "candidates": 2, "base": 2}, most_frequent, "most votes", {}),
    Row("name_and_shame", {"n": 3}, most_frequent, "most frequent", {"exp_epsilon": 1, "delta": "1/3"}),
    Row(
        "sparse_vector:sparse_vector",
        {"n": 2, "k": 1, "cutoff": 1, **QUARTERS},
        above_until_one,
        "above, until one is",
        {},
    ),
    Row("shuffled_histogram", {"n": 3, "values": 2, "lam": 1}, histogram, "histogram", {}),
    Row("all_or_nothing", {"n": 2, "p": "1/10"}, tuple, "the dataset", {"exp_epsilon": 1, "delta": "1/10"}),
    Row(
        "randomized_response_delta",
        {"n": 2, "delta": "1/10", "exp_epsilon": 3},
        tuple,
        "the dataset",
        {"exp_epsilon": 3, "delta": "1/10"},
    ),
    Row("idealised_dp_sgd", {"n": 2, "s": 2, "steps": 1, "rate": "1/2", "ratio": "1/4"}, boxed_sum, "(sum)", {}),
    Row("batches:poisson_batches", {"n": 2, "batches": 1, "ratio": "1/4"}, boxed_sum, "(sum)", {}),
    Row("gallery/replace_one_sum:meant", {"n": 3}, sum, "sum", ERROR),
    Row("gallery/group_size:meant", {"n": 2}, sum, "sum", {"measure": "squared error"}),
]


def said(found: Optimum) -> str:
    """What the checker says of the certificate."""
    return str(checker.check(json.loads(certify_optimum(found).text)))


def line(row: Row, found: Optimum) -> str:
    """The line of a row in the table of the page."""
    given = " ".join(f"{name}={value}" for name, value in row.parameters.items())
    measure = found.measure if found.alpha is None else f"within {found.alpha}"
    claim = f"{found.exp_epsilon}" + (f", δ = {found.delta}" if found.delta else "")
    reached = "" if found.share is None else f"{floor(1000 * found.share) / 10:.1f} %"
    value = f"{found.optimum}" if len(f"{found.optimum}") < 20 else f"{float(found.optimum):.6f}"
    own = f"{float(found.own):.4f}" if found.share is not None else "not private"
    return f"| `{row.program} {given}` | {row.words} | {measure} | {claim} | {own} | {value} | {reached} |"


def values_of(measure: str, alpha: Fraction | None, outputs: Any, targets: Any) -> list[list[Fraction]]:
    """The matrix whose means are the measure."""

    def value(y: Any, target: Any) -> Fraction:
        if measure == "right answer":
            return Fraction(y == target)
        if measure == "accuracy":
            return Fraction(abs(y - target) <= alpha)
        return Fraction(abs(y - target)) ** (2 if measure == "squared error" else 1)

    return [[value(y, target) for y in outputs] for target in targets]


def everything(row: Row, found: Optimum) -> tuple[list[list[Fraction]], list[tuple[int, int]]]:
    """The program over all datasets: values by dataset and output, and all pairs of neighbours."""
    bound = row.mechanism.bind(**row.parameters).bound
    datasets = list(product(bound.record.values, repeat=bound.n))
    named = {name: row.parameters[name] for name in ("threshold", "values") if name in row.parameters}
    taken = row.target.__code__.co_varnames[1:] if hasattr(row.target, "__code__") else ()
    targets = [row.target(x, **{name: value for name, value in named.items() if name in taken}) for x in datasets]
    near = NEAR.get(found.neighbours, lambda x, other: True)
    return values_of(found.measure, found.alpha, found.best.outputs, targets), list(every_pair(datasets, near))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.program} {row.words}")
def test_programs(row: Row) -> None:
    """Both ends follow from the JSON, the value is that of the whole program, and the page has it."""
    found = row.ask()
    assert found.status == "exact"
    assert recheck(json.loads(json.dumps(found.to_dict()))) == (found.lower, found.upper)
    assert f'most "{found.upper}"'.replace('"', "" if found.upper == int(found.upper) else '"') in said(found)
    assert line(row, found) in PAGE.read_text(encoding="utf-8")
    if row.parameters["n"] <= 4:
        values, pairs = everything(row, found)
        t, delta = float(found.exp_epsilon), float(found.delta)
        assert abs(whole_program(values, pairs, t, delta, found.least) - found.optimum) < 1e-8


def test_the_reference() -> None:
    """n = 8 bits, e^ε = 4, α = 2."""
    response, noise = (row.ask() for row in ROWS[:2])
    assert response.optimum == noise.optimum == Fraction(79, 80)
    assert (float(response.own or 0), noise.own) == (pytest.approx(0.797, abs=1e-3), Fraction(39, 40))
    assert noise.share == Fraction(39, 40) / Fraction(79, 80)
    assert noise.post_processing_of_geometric_noise


def counts(n: int, alpha: int, t: Fraction, delta: Fraction = Fraction(0)) -> Design:
    gain = tuple(tuple(Fraction(abs(y - x) <= alpha) for y in range(n + 1)) for x in range(n + 1))
    pairs = tuple((x, other) for x in range(n + 1) for other in (x - 1, x + 1) if 0 <= other <= n)
    return Design(gain, pairs, t, delta)


def drawn(rng: random.Random) -> Design:
    datasets, outputs = rng.randint(2, 5), rng.randint(2, 4)
    gain = tuple(
        tuple(Fraction(rng.choice([0, 0, 1, 2, 7]), rng.randint(1, 4)) for _ in range(outputs)) for _ in range(datasets)
    )
    pairs = tuple((i, j) for i, j in product(range(datasets), repeat=2) if i != j and rng.random() < 0.6)
    t = Fraction(rng.choice(["1", "1001/1000", "2", "7/3", "50"]))
    return Design(gain, pairs, t, Fraction(rng.choice(["0", "0", "1/10", "1"])))


def designs() -> Iterator[Design]:
    rng = random.Random(5)
    yield from (drawn(rng) for _ in range(30))
    yield counts(4, 1, Fraction(3, 2))


def test_drawn_designs() -> None:
    """Exact values are those of the simplex method on rationals; both ends are what is proved, always."""
    for design in designs():
        found = best_kernel(design)
        assert is_private(design, found.kernel)
        assert least_gain(design, found.kernel) == found.lower
        assert bound_of(design, found.dual) == found.upper
        assert found.exact
        if design.delta:
            by_floats = whole_program(design.gain, design.pairs, float(design.exp_epsilon), float(design.delta), False)
            assert abs(by_floats - found.lower) < 1e-8
        elif len(design.gain) * design.outputs <= 16:
            assert simplex(design.gain, design.pairs, design.exp_epsilon) == found.lower


@mechanism(record=Int(0, 2), neighbours="add-remove", target=lambda x: sum(v for v in x if v is not None))
def present(x, ratio):
    """The sum of the records that are there."""
    return geometric(sum(v for v in x if v is not None), ratio, 0, 4)


def test_a_face_of_best_mechanisms() -> None:
    """Where the solver ends between vertices the equations leave unknowns open, and the ends meet all the same."""
    found = present.bind(n=2, ratio="1/3").optimum(exp_epsilon=3)
    assert (found.status, found.optimum) == ("exact", Fraction(9, 19))
    assert said(found)
    path = Design(
        tuple(tuple(Fraction(i == y) for y in range(3)) for i in range(13)),
        tuple((i, j) for i in range(13) for j in range(13) if (i * j + i + j) % 3 == 1 and i != j),
        Fraction(1),
    )
    assert best_kernel(path).exact


@pytest.mark.slow(seconds=2)
def test_large_counts() -> None:
    """Probabilities down to 10^-30 are exact; where a vertex is not found, both ends are proved all the same."""
    assert best_kernel(counts(30, 1, Fraction(10))).exact
    assert best_kernel(counts(30, 2, Fraction(2), Fraction(1, 1000))).exact
    found = best_kernel(counts(20, 1, Fraction(1000)))
    assert 0 <= found.upper - found.lower < Fraction(1, 10**9)


def test_a_bound_beyond_floats() -> None:
    """Where e^ε is no float, the solver has nothing to say, and both ends are proved all the same."""
    design = counts(4, 1, Fraction(10) ** 400)
    found = best_kernel(design)
    assert is_private(design, found.kernel)
    assert least_gain(design, found.kernel) == found.lower
    assert bound_of(design, found.dual) == found.upper


def test_symmetries_fold_the_program() -> None:
    """Reflected counts share their unknowns; so do all datasets at the same distance from an output."""
    assert best_kernel(counts(8, 2, Fraction(4))).variables == 9 * 9 // 2 + 2
    found = ROWS[6].ask()
    assert found.variables == 4 + 1


def test_post_processing() -> None:
    """Geometric noise is one by the identity; what is more accurate somewhere than any cannot be one."""
    noise = geometric_kernel(5, Fraction(1, 3))
    assert all(sum(row) == 1 for row in noise)
    identity = post_processing(noise, Fraction(1, 3))
    assert identity == tuple(tuple(Fraction(i == k) for k in range(5)) for i in range(5))
    assert post_processing(identity, Fraction(1, 3)) is None
    found = ROWS[4].ask()
    table = found.post_processing
    assert table is not None
    noise = geometric_kernel(9, Fraction(1, 4))
    columns = list(zip(*table, strict=True))
    assert found.best.table == tuple(
        tuple(sum(p * q for p, q in zip(row, c, strict=True)) for c in columns) for row in noise
    )


def test_an_irrational_bound_is_enclosed() -> None:
    """Both ends are proved for rationals below and above e^ε, and the share is not known."""
    found = ROWS[1].mechanism.bind(n=5, ratio="1/2").optimum(epsilon=1, alpha=1)
    assert found.status == "bounded"
    assert found.best.lower_exp_epsilon < Fraction("2.718281828459046")
    assert found.best.upper_exp_epsilon > Fraction("2.718281828459045")
    assert recheck(json.loads(json.dumps(found.to_dict()))) == (found.lower, found.upper)
    assert 0 < found.upper - found.lower < Fraction(1, 10**12)
    assert found.holds is True
    assert found.share is None


@mechanism(record=Bit, target=sum)
def unclamped(x, ratio="1/2"):
    """A count with noise on all integers."""
    return geometric(sum(x), ratio)


def test_noise_on_all_integers() -> None:
    """Outputs beyond all targets are never better than the nearest one: the optimum is that of clamped noise."""
    clamped = ROWS[1].mechanism.bind(n=4, ratio="1/2")
    for question in ({"alpha": 1}, ERROR):
        found = unclamped.bind(n=4).optimum(**question)
        assert found.optimum == clamped.optimum(**question).optimum
    assert found.own == Fraction(4, 3)


@mechanism(record=Int(0, 1))
def untold(x):
    """Something without a target, and words among the outputs."""
    return "yes" if flip("1/3") else sum(x)


@mechanism(record=Bit, target=tuple)
def all_noisy(x):
    """Noise on all integers for every record."""
    return tuple(geometric(v, "1/2") for v in x)


def never(x: Any) -> int:
    return 1 // 0


def test_bad_questions() -> None:
    instance = untold.bind(n=2)
    with pytest.raises(QueryError, match="untold has no target"):
        instance.optimum(exp_epsilon=2)
    with pytest.raises(QueryError, match="accuracy needs numbers, and the output 'yes' is none"):
        instance.optimum(exp_epsilon=2, alpha=1, target="sum")
    with pytest.raises(QueryError, match="there is no ε for which it is private"):
        instance.optimum(target=sum)
    with pytest.raises(ProgramError, match="the target fails with ZeroDivisionError"):
        instance.optimum(exp_epsilon=2, target=never)
    with pytest.raises(QueryError, match="over all integers"):
        all_noisy.bind(n=2).optimum()
    for match, options in (
        ("there is no target 'summ'", {"target": "summ"}),
        ("the target 3 is not a function", {"target": 3}),
        ("there is no measure 'median'", {"measure": "median"}),
        ("the measure accuracy needs an alpha", {"measure": "accuracy"}),
        ("the measure right answer takes no alpha", {"measure": "right-answer", "alpha": 1}),
        ("give either exp_epsilon or epsilon", {"exp_epsilon": 2, "epsilon": 1}),
        ("delta is exp", {"delta": "exp(-1)", "exp_epsilon": 2}),
    ):
        with pytest.raises(ParameterError, match=match):
            instance.optimum(**options)
    for far in (lambda x: 10**12 * sum(x), lambda x: -(10**12) * sum(x)):
        with pytest.raises(QueryError, match="too many for an optimum"):
            unclamped.bind(n=2).optimum(target=far)


@pytest.mark.slow(seconds=12)
def test_too_many_datasets() -> None:
    with pytest.raises(QueryError, match="too many for an optimum"):
        ROWS[6].mechanism.bind(n=12, lam="1/5").optimum(target=tuple)


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["optimum", "xor", "n=3", "--target", "xor", "--exp-epsilon", "4"]
    status, out, _ = run(capsys, *words)
    assert status == 0
    assert "optimum         4/5 = 0.8\n" in out
    assert "The mechanism itself is not ε-DP" in out
    status, out, _ = run(capsys, *words, "--json")
    found = json.loads(out)
    assert recheck(found) == (Fraction(4, 5), Fraction(4, 5))
    assert found["result"]["holds"] is False
    assert found["result"]["share"] is None
