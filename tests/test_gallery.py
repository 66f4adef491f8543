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
from tightdp.session.builtin import builtin_program, builtin_programs
from tightdp.session.files import import_file

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


def holds(path: Path, oracle: Oracle) -> bool:
    """Whether brute force finds the claim of a file true."""
    claim = model(path).CLAIM
    if "order" in claim:
        return moment(oracle, claim["order"]) <= number(claim["exp_moment"])
    if "delta" in claim:
        return oracle.delta(Fraction(claim["exp_epsilon"])) <= Fraction(claim["delta"])
    return oracle.exp_epsilon() <= number(claim["exp_epsilon"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_only_what_shipped_is_refuted(path: Path) -> None:
    """Brute force with the interpreter alone."""
    assert {version: holds(path, bound(path, version)) for version in ("meant", "shipped", "mended")} == {
        "meant": True,
        "shipped": False,
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
    if "exp_moment" in expected:
        order = file.CLAIM["order"]
        assert instance.renyi(order).exp_moment == moment(oracle, order) == number(expected["exp_moment"])
    elif "delta" in expected:
        t = Fraction(file.CLAIM["exp_epsilon"])
        assert instance.delta(exp_epsilon=t).delta == oracle.delta(t) == number(expected["delta"])
    else:
        assert instance.privacy().exp_epsilon == oracle.exp_epsilon() == number(expected["exp_epsilon"])


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
    assert len(names) == len(FILES) + len(list((ROOT / "programs").glob("*.py")))
    for program in builtin_programs():
        assert program.summary
        assert program.mechanisms
        assert builtin_program(program.name) == program
