"""Mechanisms of diffprivlib, the installed files as they are: compiled laws beside the library run on every draw."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import tightdp
from tightdp import Bit, Int, Values

pytestmark = pytest.mark.extra("diffprivlib")
PLACE = "diffprivlib.mechanisms:"
LETTERS = Values("a", "b", "c")
UTILITY = [["a", "b", 1], ["a", "c", 2], ["b", "c", 1]]
CODE = """
from diffprivlib.mechanisms import Exponential, PermuteAndFlip


def counts(x):
    return [sum(1 for record in x if record == value) for value in range(3)]


def exponential(x, epsilon=1):
    return Exponential(epsilon=epsilon, sensitivity=1, utility=counts(x)).randomise()


def of_candidates(x, epsilon=1):
    made = Exponential(
        epsilon=epsilon, sensitivity=1, utility=counts(x), candidates=["a", "b", "c"], measure=[1, 2, 1], monotonic=True
    )
    return made.randomise()
"""


class Outcomes:
    """A generator of the test, written without tightdp: it repeats given draws of `random()`, then draws 0."""

    def __init__(self, bits: int, past: list[int]) -> None:
        self.bits, self.past, self.made = bits, past, 0

    def random(self) -> float:
        if self.made == len(self.past):
            self.past.append(0)
        self.made += 1
        return self.past[self.made - 1] / 2.0**self.bits


def every_draw(bits: int, run: Callable[[Outcomes], Any]) -> dict[Any, Fraction]:
    """The law of what the library returns, by running it for all outcomes of all draws."""
    law: dict[Any, Fraction] = {}
    past: list[int] = []
    while True:
        source = Outcomes(bits, past)
        output = run(source)
        mass = Fraction(1, 2 ** (bits * source.made))
        law[output] = law.get(output, Fraction(0)) + mass
        while past and past[-1] + 1 == 2**bits:
            past.pop()
        if not past:
            return law
        past[-1] += 1


def library(name: str, arguments: dict[str, Any]) -> Callable[[Outcomes, Any], Any]:
    import diffprivlib.mechanisms

    def run(source: Outcomes, value: Any) -> Any:
        made = getattr(diffprivlib.mechanisms, name)(**arguments)
        made._rng = source
        try:
            return made.randomise(value)
        except OverflowError:
            return "OverflowError"

    return run


METHODS: dict[str, tuple[dict[str, Any], tightdp.language.domains.Domain]] = {
    "Binary": ({"epsilon": 1, "value0": "a", "value1": "b"}, Values("a", "b")),
    "Geometric": ({"epsilon": 1}, Int(0, 3)),
    "GeometricTruncated": ({"epsilon": 0.5, "lower": 0, "upper": 3}, Int(0, 3)),
    "GeometricFolded": ({"epsilon": 1, "lower": 0, "upper": 2.5}, Int(0, 2)),
    "ExponentialCategorical": ({"epsilon": 1, "utility_list": UTILITY}, LETTERS),
    "ExponentialHierarchical": ({"epsilon": 1, "hierarchy": [["a", "b"], ["c"]]}, LETTERS),
    "Uniform": ({"delta": 0.25, "sensitivity": 1}, Bit),
}


def made_of(name: str, **others: Any) -> Any:
    arguments, record = METHODS[name]
    place, given = f"{PLACE}{name}.randomise", {**arguments, **others}
    return tightdp.of(place, record=record, dataset="x[0]", arguments=given, catch=[OverflowError])


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", METHODS)
def test_compiled_laws_are_those_of_the_library_on_every_draw(name: str) -> None:
    arguments, record = METHODS[name]
    run = library(name, arguments)
    few = made_of(name).bind(n=1, floats=6)
    for value in record.values:
        law = every_draw(6, lambda source, value=value: run(source, value))  # type: ignore[misc]
        assert {key: mass for key, mass in few.distribution((value,)).law if mass} == law


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["exponential", "of_candidates"])
def test_utilities_that_depend_on_the_dataset(name: str, tmp_path: Any) -> None:
    path = tmp_path / "selecting.py"
    path.write_text(CODE, encoding="utf-8")
    found = tightdp.of(f"{path}:{name}", record=Int(0, 2))
    import diffprivlib.mechanisms

    options = {} if name == "exponential" else {"candidates": ["a", "b", "c"], "measure": [1, 2, 1], "monotonic": True}
    n = 2 if name == "exponential" else 1
    few = found.bind(n=n, floats=6)
    for x in itertools.product(range(3), repeat=n):
        utility = [x.count(value) for value in range(3)]

        def run(source: Outcomes, utility: list[int] = utility) -> Any:
            made = diffprivlib.mechanisms.Exponential(epsilon=1, sensitivity=1, utility=utility, **options)  # type: ignore[arg-type]
            made._rng = source
            return made.randomise()

        assert {key: mass for key, mass in few.distribution(x).law if mass} == every_draw(6, run)
    tight = found.bind(n=n, floats=True).privacy()
    assert tight.status == "exact"
    # Replacing a record raises one count and lowers another: then monotonic=True does not keep what it promises.
    assert tight.epsilon < (1.0001 if name == "exponential" else 1.27)
    assert name == "exponential" or tight.epsilon > 1.26


EXPECTED: dict[str, Callable[[float], bool]] = {
    "Binary": lambda epsilon: epsilon == 1.0000000000000007,  # above what it promises, by rounding
    "Geometric": math.isinf,  # the logarithm of 53 bits ends
    "GeometricTruncated": lambda epsilon: abs(epsilon - 1.5) < 1e-12,
    "GeometricFolded": lambda epsilon: 1 < epsilon < 2,  # what is folded in comes back nearer
    "ExponentialCategorical": lambda epsilon: abs(epsilon - 0.5) < 1e-12,  # half of what it may spend
    "ExponentialHierarchical": lambda epsilon: abs(epsilon - 0.574961314988035) < 1e-12,
    "Uniform": math.isinf,
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", EXPECTED)
def test_the_tight_epsilon_with_53_bits(name: str) -> None:
    others = {"upper": 3} if name == "GeometricFolded" else {}  # halves take minutes: folding goes through all of them
    found = made_of(name, **others).bind(n=1, floats=True).privacy()
    assert found.status == "exact"
    assert EXPECTED[name](float(found.epsilon))


@pytest.mark.slow(seconds=2)
def test_geometric_noise_of_the_library_raises_once_in_2_to_the_53() -> None:
    arguments, _ = METHODS["Geometric"]
    place = f"{PLACE}Geometric.randomise"
    with pytest.raises(tightdp.ProgramError, match="OverflowError: cannot convert float infinity to integer"):
        tightdp.of(place, record=Bit, dataset="x[0]", arguments=arguments, floats=True).bind(n=1).privacy()
    found = made_of("Geometric").bind(n=1, floats=True, neighbours="unit-step")
    assert found.probability((0,), "OverflowError") == Fraction(1, 2**53)
    assert found.privacy(delta=Fraction(1, 10**12)).epsilon < 1


class Staircase:
    """Draws of the test for `Staircase`: a sign, a place within a step and which part of it, and how many steps."""

    def __init__(self, sign: float, place: float, part: float, steps: int) -> None:
        self.draws, self.steps = [sign, place, part], steps

    def random(self) -> float:
        return self.draws.pop(0)

    def geometric(self, p: float) -> int:
        return self.steps + 1


def staircase_reaches(value: int, output: float) -> bool:
    """Whether the library returns a number for some draws: with the place, numbers only rise, or only fall."""
    import diffprivlib.mechanisms

    def run(*draws: Any) -> float:
        made = diffprivlib.mechanisms.Staircase(epsilon=1, sensitivity=1)
        made._rng = Staircase(*draws)
        return float(made.randomise(value))

    for sign, part, steps in itertools.product((0.0, 0.75), (0.0, 1 - 2.0**-53), range(math.ceil(abs(output)) + 3)):
        first, last = 0, 2**53 - 1
        rises = run(sign, last / 2.0**53, part, steps) >= run(sign, 0.0, part, steps)
        while first < last:
            middle = (first + last) // 2
            if (run(sign, middle / 2.0**53, part, steps) < output) == rises:
                first = middle + 1
            else:
                last = middle
        near = range(max(0, first - 2), min(2**53, first + 3))
        if any(run(sign, k / 2.0**53, part, steps) == output for k in near):
            return True
    return False


def test_staircase_noise_has_an_output_that_one_of_two_neighbours_reaches() -> None:
    arguments = {"epsilon": 1, "sensitivity": 1}
    place = f"{PLACE}Staircase.randomise"
    found = tightdp.of(place, record=Bit, dataset="x[0]", arguments=arguments, floats=True).bind(n=1).privacy()
    assert (found.status, found.epsilon) == ("exact", math.inf)
    witness: Any = found.witness
    assert staircase_reaches(witness.x[0], float(witness.output))
    assert not staircase_reaches(witness.x_prime[0], float(witness.output))


@pytest.mark.slow(seconds=40)
def test_permute_and_flip_is_enclosed(tmp_path: Any) -> None:
    """Its coins are loops without a bound on their rounds, and with 2^-53 it finds no candidate."""
    path = tmp_path / "flipping.py"
    path.write_text(
        "from diffprivlib.mechanisms import PermuteAndFlip\n\n\n"
        "def flipped(x):\n"
        "    return PermuteAndFlip(epsilon=1, sensitivity=1, utility=[x.count(v) for v in range(2)]).randomise()\n",
        encoding="utf-8",
    )
    found = tightdp.of(f"{path}:flipped", record=Bit, catch=[RuntimeError], floats=True).bind(n=1)
    answer = found.privacy(delta=Fraction(1, 10**12))
    expected = 2 * math.exp(0.5) - 1  # p = 1 - e^(-1/2) / 2 for the better of two, against e^(-1/2) / 2
    assert answer.status == "bounded"
    assert float(answer.exp_epsilon) == pytest.approx(expected, rel=1e-9)
