"""Noise with the unknown inside exp: drawn programs against the engine with numbers, and what is asked at ends."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction as F
from itertools import product
from typing import Any

import pytest

from agreement import module_of
from parametrised import value_at
from tightdp import Instance, Int, mechanism
from tightdp.core.windows import tail_nodes
from tightdp.exact.field import exp
from tightdp.session.cellwise import Cellwise

RANGE = "?[1/10,4]"


def drawn_program(seed: int) -> str:
    """Return a program with noise whose strength is the unknown: of every kind two or three."""
    draw = random.Random(seed)
    ends = draw.choice(("", ", -1, 2"))

    def noise(value: str) -> str:
        return f"geometric({value}, exp(-eps / {draw.choice((1, 2, 4))}){ends})"

    kinds = draw.choice((2, 3))
    scores = f"[sum(v == k for v in x) for k in range({kinds})]"
    body = (
        f"noisy = [{noise('s')} for s in {scores}]\n    return noisy.index(max(noisy))",
        f"line, first, second = {noise('1')}, {noise('sum(x)')}, {noise('x[0] == 2')}\n"
        "    return 0 if first >= line else 1 if second >= line else 2",
        f"return choice(range({kinds}), weights=[exp(s * eps / {draw.choice((1, 2))}) for s in {scores}])",
        f"near = {noise('sum(x)')}\n    return near > {draw.choice((0, 1))}, flip(exp(-eps) / 2)",
    )[seed % 4]
    return f"def f(x, eps):\n    {body}\n"


@contextmanager
def bound(text: str) -> Iterator[Callable[[Any], Instance]]:
    """Give what binds a program to one record and a value, or a range, of the unknown."""
    with module_of(text, "from tightdp import *\n\n\n") as module:
        program = mechanism(record=Int(0, 2), target=lambda x: 0)(module.f)
        yield lambda value: program.bind(n=1, **dict.fromkeys(program.program.parameters, value))


QUESTIONS: tuple[tuple[Callable[[Instance], Any], str], ...] = (
    (lambda one: one.privacy(), "exp_epsilon"),
    (lambda one: one.privacy(delta="1/20"), "exp_epsilon"),
    (lambda one: one.delta(exp_epsilon="6/5"), "delta"),
    (lambda one: one.accuracy(0), "one_minus_beta"),
)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(10))
def test_pieces_are_what_the_engine_finds_with_numbers_and_have_no_holes(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("the engine runs at an end at which all comparisons come out as beside it")

    ask, name = QUESTIONS[seed % 3 if seed < 8 else 3]
    with bound(drawn_program(seed)) as at:
        with monkeypatch.context() as patched:
            if ask is not QUESTIONS[-1][0]:  # errors are compared with a bound, too
                patched.setattr(Cellwise, "_at_end", never)
            pieces = ask(at(RANGE))
        assert [piece for piece in pieces.pieces if piece.start is piece.stop] == []
        for value in (F(1, 2), F(2)):
            assert value_at(pieces, value) == getattr(ask(at(value)), name)


NOISY_MAX = """
def f(x, eps):
    noisy = [geometric(sum(v == k for v in x), exp(-eps / 2)) for k in range(3)]
    return noisy.index(max(noisy))
"""


def _law_of_noisy_max(x: tuple[int, ...], q: float, reach: int = 160) -> list[float]:
    """P(k) in floats: the first score of those that are largest."""
    masses = [[(1 - q) / (1 + q) * q ** abs(z - x.count(k)) for z in range(-reach, reach)] for k in range(3)]
    sums = [[math.fsum(law[:end]) for end in range(len(law) + 1)] for law in masses]
    return [
        sum(p * math.prod(sums[j][z + (j > k)] for j in range(3) if j != k) for z, p in enumerate(masses[k]))
        for k in range(3)
    ]


def test_noisy_max_around_a_value_where_a_weight_of_a_tail_vanishes() -> None:
    """A polynomial of the compiler, not of the mechanism, has a root there; the answer was a false one at it."""
    with bound(NOISY_MAX) as at:
        found = at("?[41/100,42/100]").privacy(delta="1/100")
    assert len(found.pieces) == 1
    near = F(5, 12)
    laws = {x: _law_of_noisy_max((x,), math.exp(-near / 2)) for x in range(3)}
    best = max(
        (math.fsum(laws[x][k] for k in event) - 0.01) / math.fsum(laws[y][k] for k in event)
        for x, y in product(range(3), repeat=2)
        for event in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
    )
    assert float(value_at(found, near)) == pytest.approx(best, abs=1e-9)


VANISHING = """
def f(x, lam):
    return 1 if x[0] == 2 and flip((1 - 2 * lam * lam) ** 2) else 0
"""


def test_an_outcome_that_vanishes_at_a_root_is_left_out_there_and_nowhere_else() -> None:
    with bound(VANISHING) as at:
        for _ in range(2):  # what is kept of the first question is no answer to the second
            assert [piece.value for piece in at("?[1/2,3/4]").privacy().pieces] == [math.inf, 1, math.inf]


DIVIDED = """
def f(x, lam):
    return flip(lam * (1 / lam) / 3) ^ (x[0] == 2)
"""


def test_a_division_by_the_unknown_fails_where_it_is_0() -> None:
    with bound(DIVIDED) as at:
        (piece,) = at("?[0,1/2]").privacy().pieces
    assert (piece.value, piece.with_start, piece.with_stop) == (2, False, True)


@pytest.mark.parametrize("strength", [2, 10, pytest.param(40, marks=pytest.mark.slow(seconds=5))])
def test_points_in_place_of_a_tail_give_its_means(strength: int) -> None:
    ratio = exp(F(-1, strength))
    bases = tuple(ratio**power for power in (1, 2, 3))
    points = tail_nodes(ratio, bases)
    assert min(weight for _, weight in points) > 0
    assert sum(weight for _, weight in points) < 1
    for base in bases:
        assert sum(weight * base**z for z, weight in points) == (1 - ratio) / (1 - ratio * base)
