"""Random programs with noise of all kinds: what is proved for every n is no less than the tight ε of two records."""

from __future__ import annotations

import importlib.util
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tightdp import TightdpError
from tightdp.every_n.upper import least_upper, readings

_KINDS = (
    "laplace({c}, {s})",
    "exponential({c}, {s})",
    "uniform({c}, {c} + {s})",
    "geometric({c}, '1/2')",
    "one_sided_geometric({c}, '1/3')",
)
_COMPARED = ("z >= t", "z > t + 1", "z - t >= v", "z < 2", "t - z > 1", "z + t > 1")
_TOLD = (
    "out.append(True); break",
    "out.append(z); break",
    "out.append(z - t); break",
    "out.append(1)",
    "t = z",
    "b = z",
)
_ELSE = ("out.append(False)", "pass", "t = {noise}", "b = t")
_RETURNED = ("tuple(out)", "(tuple(out), b is None or b > t)", "t > 1", "{noise}", "laplace(len(out), 1)")


def drawn(chance: random.Random) -> str:
    """The source of a program that compares, keeps and publishes noise."""

    def noise(centre: str) -> str:
        return chance.choice(_KINDS).format(c=centre, s=chance.choice((1, 2, 3)))

    relation = chance.choice(("unit-all", "replace-one"))
    return "\n".join(
        (
            "from tightdp import *",
            f"@mechanism(record=Bit, neighbours={relation!r})",
            "def program(x):",
            f"    t, out = {noise('0') if chance.random() < 0.7 else '1'}, []",
            f"    b = {chance.choice(('0', 't', 'None', 'laplace(0, 2)'))}",
            "    for v in x:",
            f"        z = {noise(chance.choice(('v', 'v + 1', '2*v', '0')))}",
            f"        if {chance.choice(_COMPARED)}:",
            f"            {chance.choice(_TOLD)}",
            "        else:",
            f"            {chance.choice(_ELSE).format(noise=noise('0'))}",
            f"    return {chance.choice(_RETURNED).format(noise=noise('sum(x)'))}",
        )
    )


def made(source: str, path: Path) -> Any:
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


@pytest.mark.parametrize(
    ("seed", "programs", "least"), [(1, 14, 1), pytest.param(2, 400, 50, marks=pytest.mark.slow(seconds=60))]
)
def test_upper_ends_are_no_less_than_tight_answers(seed: int, programs: int, least: int, tmp_path: Path) -> None:
    chance, compared = random.Random(seed), 0
    for number in range(programs):
        source = drawn(chance)
        program = made(source, tmp_path / f"drawn_{seed}_{number}.py")
        try:
            upper = least_upper(readings(program.bind(n=1).bound), Fraction(1)).value
            tight = program.bind(n=2).privacy() if upper != math.inf else None
        except TightdpError:
            continue
        if tight is not None:
            assert tight.lower <= upper, source
            compared += tight.status == "exact"
    assert compared >= least
