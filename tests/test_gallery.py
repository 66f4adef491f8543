"""The gallery: what shipped does not have what was claimed, what was meant and what was mended has it."""

from __future__ import annotations

import ast
import math
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from expectations import Oracle, number
from tightdp import Mechanism
from tightdp.language.interp import law_within
from tightdp.session.certify import REFUTED
from tightdp.session.files import builtin_program, builtin_programs, import_file
from tightdp.symmetry.sets import every_dataset

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "programs" / "gallery").glob("*.py"))
PAGE = ROOT / "docs" / "gallery.md"
FIELDS = ("Source:", "Affected:", "State:", "Sold as:", "Why:", "Parameters:")


@cache
def model(path: Path) -> ModuleType:
    return import_file(path)


def bound(path: Path, version: str) -> Oracle:
    """What brute force knows of a version, with the interpreter's laws."""
    mechanism: Mechanism = getattr(model(path), version)
    return Oracle(mechanism.program.bind(**model(path).PARAMETERS))


def moment(oracle: Oracle, order: int) -> Fraction | float:
    """The largest exp((a-1)·D_a) over neighbours, straight from its definition."""
    largest: Fraction | float = Fraction(1)
    for x, other in oracle.pairs():
        total: Fraction | float = Fraction(0)
        for y, p in oracle.law(x).items():
            q = oracle.law(other).get(y, Fraction(0))
            total = math.inf if q == 0 else total + p**order / q ** (order - 1)
        largest = max(largest, total)
    return largest


def rho(variance: float) -> float:
    """ρ of the tree of clamped counts, in doubles: parts are independent, so that their divergences add up."""

    def clamped(center: int, high: int) -> list[float]:
        mass = {k: math.exp(-((k - center) ** 2) / (2 * variance)) for k in range(center - 99, center + 100)}
        whole = math.fsum(mass.values())
        law = dict.fromkeys(range(-1, high + 1), 0.0)
        for k, weight in mass.items():
            law[max(-1, min(k, high))] += weight / whole
        return list(law.values())

    def divergence(ours: list[float], theirs: list[float], order: float) -> float:
        return math.log(math.fsum(p**order * q ** (1 - order) for p, q in zip(ours, theirs, strict=True))) / (order - 1)

    parts = [(clamped(0, high), clamped(moved, high), times) for high, moved, times in ((5, 4, 1), (2, 1, 4))]
    orders = [1 + 10 ** (step / 50) for step in range(-250, 101)]
    return max(
        sum(times * divergence(*pair, order) for *pair, times in sides) / order
        for order in orders
        for sides in (parts, [(after, before, times) for before, after, times in parts])
    )


def rho_of_sums(path: Path, version: str, oracle: Oracle) -> Fraction:
    """ρ of Gaussian noise on sums: d²/(2σ²) for the largest distance d (Canonne, Kamath and Steinke 2020)."""
    sums, variance = model(path).SUMS[version]
    pairs = ((sums(x), sums(other)) for x, other in oracle.pairs())
    return Fraction(max(sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) for pair in pairs), 2 * variance)


def ratios_of_runs(oracle: Oracle) -> tuple[Fraction, Fraction]:
    """Both ends of the largest ratio, where a loop has no bound: few draws, and what is beyond."""
    low = high = Fraction(1)
    for x, other in oracle.pairs():
        (ours, beyond), (theirs, rest) = (law_within(oracle.bound, each, 1, draws=24) for each in (x, other))
        low = max(low, *(mass / (theirs[y] + rest) for y, mass in ours.items()))
        high = max(high, *((mass + beyond) / theirs[y] for y, mass in ours.items()))
    return low, high


def probability_of_the_target(oracle: Oracle) -> Fraction:
    """The least probability, over datasets, that the output is the target."""
    target = oracle.bound.program.target
    return min(oracle.law(x).get(target(x), Fraction(0)) for x in every_dataset(oracle.bound))


def holds(path: Path, version: str) -> bool:
    """Whether brute force finds the claim of a file true."""
    claim, oracle = model(path).CLAIM, bound(path, version)
    if "alpha" in claim:
        return probability_of_the_target(oracle) >= 1 - Fraction(claim["beta"])
    if "exp_epsilon_above" in model(path).EXPECTED[version.replace("meant", "mended")]:
        low, high = ratios_of_runs(oracle)
        assert not low <= Fraction(claim["exp_epsilon"]) < high
        return high <= Fraction(claim["exp_epsilon"])
    if hasattr(model(path), "SUMS"):
        return rho_of_sums(path, version, oracle) <= Fraction(claim["rho"])
    if "rho" in claim:
        return rho(float(oracle.bound.parameters["variance"])) <= float(claim["rho"])
    if "order" in claim:
        return moment(oracle, claim["order"]) <= number(claim["exp_moment"])
    if "delta" in claim:
        return oracle.delta(Fraction(claim["exp_epsilon"])) <= Fraction(claim["delta"])
    return oracle.exp_epsilon() <= number(claim["exp_epsilon"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_only_what_shipped_is_refuted(path: Path) -> None:
    """Brute force with the interpreter alone. A formula that gives away too much is not refuted."""
    assert {version: holds(path, version) for version in ("meant", "shipped", "mended")} == {
        "meant": True,
        "shipped": hasattr(model(path), "GIVES_AWAY"),
        "mended": True,
    }


@pytest.mark.parametrize("version", ["shipped", "mended"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_recorded_answers_are_those_of_the_engine_and_of_brute_force(path: Path, version: str) -> None:
    file = model(path)
    expected: dict[str, Any] = file.EXPECTED[version]
    instance = getattr(file, version).bind(**file.PARAMETERS)
    oracle = bound(path, version)
    assert len(expected) == 1
    if "exp_epsilon_above" in expected:
        low, high = ratios_of_runs(oracle)
        found = instance.privacy()
        assert Fraction(expected["exp_epsilon_above"]) < found.lower <= high
        assert low <= found.upper <= found.lower * (1 + Fraction(1, 10**9))
    elif "one_minus_beta" in expected:
        found = instance.accuracy(alpha=0)
        assert found.one_minus_beta == probability_of_the_target(oracle) == number(expected["one_minus_beta"])
    elif hasattr(file, "SUMS"):
        assert instance.zcdp().rho == rho_of_sums(path, version, oracle) == number(expected["rho"])
    elif "rho" in expected:
        found = instance.zcdp()
        assert found.lower <= found.upper <= found.lower * (1 + Fraction(1, 10**9))
        assert float(found.lower) == pytest.approx(rho(float(instance.parameters["variance"])), rel=1e-5)
        assert float(found.lower) == pytest.approx(float(expected["rho"]), rel=1e-11)
    elif "exp_moment" in expected:
        order = file.CLAIM["order"]
        assert instance.renyi(order).exp_moment == moment(oracle, order) == number(expected["exp_moment"])
    elif "delta" in expected:
        t = Fraction(file.CLAIM["exp_epsilon"])
        assert instance.delta(exp_epsilon=t).delta == oracle.delta(t) == number(expected["delta"])
    else:
        assert instance.privacy().exp_epsilon == oracle.exp_epsilon() == number(expected["exp_epsilon"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_claim_is_certified_or_refuted_by_a_certificate(path: Path) -> None:
    file = model(path)
    for version in ("meant", "shipped", "mended"):
        made = getattr(file, version).bind(**file.PARAMETERS).certify(**file.CLAIM)
        refuted = made.content["claim"]["question"] in REFUTED.values()
        assert refuted == (version == "shipped" and not hasattr(file, "GIVES_AWAY"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_says_what_the_page_needs(path: Path) -> None:
    documented = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    assert [field for field in FIELDS if f"\n{field}" not in documented] == []
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    title = documented.partition("\n")[0]
    assert f"**{title}** ([model](../programs/gallery/{path.name}))" in page
    for field in FIELDS[:-1]:
        said = documented.partition(f"\n{field}")[2].partition("\n\n")[0]
        for other in FIELDS:
            said = said.partition(f"\n{other}")[0]
        assert " ".join(said.split()) in page, field


def test_every_program_of_the_package_is_found_by_its_name() -> None:
    names = [program.name for program in builtin_programs()]
    assert {f"gallery/{path.stem}" for path in FILES} < set(names)
    assert len(names) == len(list((ROOT / "programs").rglob("*.py")))
    for program in builtin_programs():
        assert program.summary
        assert program.mechanisms
        assert builtin_program(program.name) == program
