"""The blame: draws compared with brute force, remedies that hold, and mutants whose changed line is found."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import mutants
from expectations import mechanisms
from tightdp import Bit, Instance, Int, Mechanism, ParameterError, choice, flip, geometric, mechanism, poisson_binomial
from tightdp.core.lowering import draws
from tightdp.language import interp
from tightdp.language.laws import OnIntegers
from tightdp.language.primitives import PRIMITIVES
from tightdp.results.report import Explanation
from tightdp.session.edits import edits_of
from tightdp.session.files import builtin_program, import_file


def gallery(name: str, version: str = "shipped") -> tuple[Instance, dict[str, str]]:
    """A version of a file of the gallery and the claim it was sold under."""
    program = builtin_program(f"gallery/{name}")
    assert program is not None
    file = import_file(program.path)
    return getattr(file, version).bind(**file.PARAMETERS), file.CLAIM


@mechanism(record=Bit)
def two_draws(x, lam="1/4"):
    first = x[0] ^ flip(lam)
    other = choice((0, 1))
    return (first, other)


def test_draws_are_told_apart() -> None:
    found = two_draws.bind(n=1).explain()
    assert [draw.text for draw in found.draws] == ["flip(lam)", "choice((0, 1))"]
    assert [(draw.published, draw.fixed) for draw in found.draws] == [(math.inf, math.inf), (3, 3)]
    assert found.claimed is None
    assert found.remedies == ()


def test_a_sample_is_told_from_the_noise() -> None:
    found = gallery("subsample_reused")[0].explain()
    assert {draw.text: (draw.published, draw.fixed) for draw in found.draws}["choice(x)"] == (16, 16)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("threshold_tail", "noisy > threshold"),
        ("subsample_reused", "choice(x)"),
        ("group_size", "'1/2'"),
    ],
)
def test_the_remedies_of_the_gallery_hold(name: str, after: str) -> None:
    instance, claim = gallery(name)
    found = instance.explain(**claim)
    assert found.holds is False
    assert found.remedies
    assert found.remedies[0].holds
    assert any(after in remedy.after for remedy in found.remedies if remedy.holds)
    assert found.line == found.remedies[0].line


@pytest.mark.slow(seconds=2)
def test_the_end_of_a_range_is_blamed() -> None:
    """The last bit stays: the loop ends one too early."""
    program = builtin_program("gallery/bit_vector_last_bit")
    assert program is not None
    found = import_file(program.path).shipped.bind(n=1, d=2).explain(exp_epsilon=9)
    assert (found.remedies[0].after, found.remedies[0].holds) == ("1 - 1", True)
    assert "range(1, d)" in found.source[found.line - 1]


def test_a_claim_that_holds_blames_nothing() -> None:
    instance, claim = gallery("threshold_tail", "mended")
    found = instance.explain(**claim)
    assert (found.holds, found.line, found.remedies, found.smallest) == (True, None, (), None)


def test_the_smallest_case_fails_and_is_small() -> None:
    instance = mechanisms("randomized_response")["randomized_response"].bind(n=2, lam="13/100")
    found = instance.explain(exp_epsilon=3).smallest
    assert found is not None
    parameters = dict(found.parameters)
    assert parameters == {"n": 1, "lam": Fraction(1, 5)}
    assert found.loss == 4
    assert len(found.witness.event) == 1


def test_the_smallest_event_breaks_the_claim() -> None:
    instance, claim = gallery("threshold_tail")
    found = instance.explain(**claim).smallest
    assert found is not None
    smaller = instance.bound.program.bind(**dict(found.parameters))
    laws = [interp.law(smaller, x) for x in (found.witness.x, found.witness.x_prime)]
    ours, theirs = (sum(law.get(y, 0) for y in found.witness.event) for law in laws)
    assert ours - Fraction(claim["exp_epsilon"]) * theirs > Fraction(claim["delta"])


@mechanism(record=Bit)
def counted(x):
    rates = ["1/10" if b else "9/10" for b in x]
    return poisson_binomial(rates)


@mechanism(record=Bit)
def by_name(x):
    return x[0] ^ coin(p="1/10")


coin = flip


@pytest.mark.parametrize(("asked", "after"), [(counted, "['1/3' for _ in rates]"), (by_name, "'1/5'")])
def test_the_strength_of_every_primitive_is_changed(asked: Mechanism, after: str) -> None:
    """Also where the primitive has another name in the file, and the argument is given by name."""
    found = asked.bind(n=1).explain(exp_epsilon=4)
    assert after in [remedy.after for remedy in found.remedies if remedy.holds]


@mechanism(record=Bit)
def noisy_bit(x, lam="1/10"):
    return x[0] ^ flip(lam)


@mechanism(record=Bit)
def noisy_count(x, lam="1/10"):
    return geometric(sum(x), lam, 0, len(x))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("asked", [noisy_bit, noisy_count])
@pytest.mark.parametrize("epsilon", ["1", "7/5"])
def test_the_strength_for_an_irrational_claim_is_that_of_solve(asked: Mechanism, epsilon: str) -> None:
    found = asked.bind(n=1).explain(epsilon=epsilon)
    safe = asked.bind(n=1, lam="?").solve(epsilon=epsilon).holds[0].safe_start
    remedy = next(each for each in found.remedies if each.before == "lam")
    assert (remedy.holds, Fraction(remedy.after.strip("'"))) == (True, safe)
    assert not asked.bind(n=1, lam=safe - Fraction(1, 10**11)).verify(epsilon=epsilon)


@mechanism(record=Int(0, 3))
def noisy_total(x, ratio="1/4"):
    return geometric(sum(x), ratio, 0, 3 * len(x))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("claim", [{"exp_epsilon": 2}, {"epsilon": "1"}, {"exp_epsilon": 27}])
def test_a_root_of_the_claim_is_rounded_as_solve_rounds_it(claim: dict[str, object]) -> None:
    """A record changes the sum by up to three: the strength is a cube root, and 1/3 where that is rational."""
    found = noisy_total.bind(n=2).explain(**claim)
    safe = noisy_total.bind(n=1, ratio="?").solve(**claim).holds[0].safe_start
    remedy = next(each for each in found.remedies if each.before == "ratio")
    assert (remedy.holds, Fraction(remedy.after.strip("'"))) == (True, safe)
    assert remedy.loss == noisy_total.bind(n=2, ratio=safe).privacy().exp_epsilon


@mechanism(record=Bit)
def doubled_count(x):
    return geometric(2 * sum(x), "1/2")


def test_how_far_tails_move_is_not_known() -> None:
    remedy = doubled_count.bind(n=1).explain(exp_epsilon=2).remedies[0]
    assert (remedy.after, remedy.loss, remedy.moved) == ("sum(x)", 2, None)


@mechanism(record=Bit)
def drawn_again(x):
    noisy = geometric(sum(x), "1/2")
    while not 0 <= noisy <= len(x):
        noisy = geometric(sum(x), "1/2")
    return noisy


def test_a_run_without_end_costs_little_before_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first outcomes of the interpreter are those with which the loop never ends."""
    drawn = 0
    draw = interp.Replay.draw_integer

    def counted(replay: interp.Replay, law: OnIntegers) -> int:
        nonlocal drawn
        drawn += 1
        return draw(replay, law)

    monkeypatch.setattr(interp.Replay, "draw_integer", counted)
    assert drawn_again.bind(n=3).privacy().exp_epsilon == Fraction(12, 5)
    assert 0 < drawn < 3_000


@mechanism(record=Int(0, 3))
def most_frequent(x):
    scores = [x.count(value) for value in range(4)]
    return choice(range(4), weights=[Fraction(3, 2) ** score for score in scores])


@pytest.mark.slow(seconds=2)
def test_a_change_that_takes_far_more_work_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise on four scores leads to thousands of combinations of weights, each with a law of its own."""
    made = 0
    law = draws._law

    def counted(*arguments: Any) -> Any:
        nonlocal made
        made += 1
        return law(*arguments)

    monkeypatch.setattr(draws, "_law", counted)
    found = most_frequent.bind(n=1).explain(exp_epsilon="5/4")
    assert found.remedies[0].holds
    assert 0 < made < 40_000


def test_strengths_are_arguments_and_give_the_ratio() -> None:
    for function, primitive in PRIMITIVES.items():
        if (strength := primitive.strength) is not None:
            assert strength.argument in signature(function).parameters
            value = [strength.value(Fraction(4))] if strength.each else strength.value(Fraction(4))
            rest = {"v": 0, "n": 1, "lo": -3, "hi": 3}
            names = [name for name in signature(function).parameters if name in rest]
            law = primitive.law(**{name: rest[name] for name in names}, **{strength.argument: value})
            assert any(p == 4 * q for _, p in law for _, q in law)


@mechanism(record=Int(0, 2), neighbours=lambda x: [tuple((value + 1) % 3 for value in x)])
def turned(x):
    return x[0] if flip("1/2") else x[-1]


def test_neighbours_by_a_function_keep_the_records_that_they_lead_to() -> None:
    found = turned.bind(n=2).explain(exp_epsilon=2).smallest
    assert found is not None
    assert found.records == (0, 1, 2)


def test_a_changed_file_has_what_the_mechanism_uses_and_nothing_else() -> None:
    for edit in edits_of(turned.bind(n=2).bound, Fraction(2)):
        assert re.findall(r"def (\w+)", edit.text) == ["turned"]


def test_a_delta_without_an_epsilon_is_refused() -> None:
    with pytest.raises(ParameterError):
        two_draws.bind(n=1).explain(delta="1/10")


def blamed(mutant: mutants.Mutant, directory: Path) -> Explanation:
    path = directory / f"{mutant.name}.py"
    path.write_text(mutant.text, encoding="utf-8")
    changed = getattr(import_file(path), mutant.mechanism)
    return changed.bind(**mutant.parameters).explain(**mutant.claim)


@pytest.mark.slow(seconds=5)
def test_the_mutated_line_is_blamed(tmp_path: Path) -> None:
    """A few mutants here, a hundred with TIGHTDP_FULL=1."""
    drawn = list(mutants.mutants(seed=15, count=3))
    found = [blamed(mutant, tmp_path).line in mutant.lines for mutant in drawn]
    assert sum(found) >= 2


@pytest.mark.slow
def test_the_mutated_line_is_blamed_in_ninety_of_a_hundred(tmp_path: Path) -> None:
    drawn = list(mutants.mutants(seed=2026, count=100))
    found = [blamed(mutant, tmp_path).line in mutant.lines for mutant in drawn]
    assert sum(found) >= 90
