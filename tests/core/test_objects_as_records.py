"""Records that are members of an enumeration, objects or dates are what the module knows by its names."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import tightdp
from agreement import module_of
from command_line import run
from tightdp import ProgramError, Values, mechanism

HEAD = """
import datetime
from dataclasses import dataclass
from enum import Enum


class Color(Enum):
    RED = "r"
    BLUE = "b"

    @property
    def code(self): return ord(self.value)


class Plain:
    def __init__(self, v): self.v = v


@dataclass(frozen=True)
class Point:
    a: int
    b: int = 2


P, Q, DAY = Plain(1), Plain(2), datetime.date(2020, 1, 1)


"""
DOMAINS = {
    "color": "Color.RED, Color.BLUE",
    "mixed": "Color.RED, None, 3, (Color.BLUE, 1)",
    "plain": "P, Q",
    "point": "Point(1), Point(2)",
    "day": "DAY, datetime.date(2021, 1, 1)",
}
PROGRAMS = [
    ("color", "x[0] == Color.RED, x[1] is Color.BLUE, x[0] != x[1]"),
    ("color", "x[0] in (Color.RED, 1), x.count(Color.RED), x[0] is x[1]"),
    ("color", "{Color.RED: 1, Color.BLUE: 2}[x[0]], {Color.RED: 1}.get(x[1], 5), len({*x})"),
    ("color", "x[0].name, x[1].value, x[0].code, isinstance(x[0], Color), Color('r') is x[0]"),
    ("color", "sum(1 if v is Color.RED else 10 for v in x), [v.name for v in x].index(x[1].name)"),
    ("color", "tuple(sorted(v.name for v in x)), max(x, key=lambda v: v.value).name"),
    ("mixed", "x[0] is None, x[0] == 3, x[1] == Color.RED, x[0] == (Color.BLUE, 1), x[0] == x[1]"),
    ("mixed", "sum(v in (None, Color.RED) for v in x), isinstance(x[0], tuple) and x[0][0].name"),
    ("plain", "x[0] == P, x[0].v + x[1].v, x[0] is x[1]"),
    ("point", "x[0] == Point(1), x[0].a * x[1].b, x[0] == x[1]"),
    ("day", "x[0] == DAY, x[0] == x[1]"),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("domain", "published"), PROGRAMS)
def test_records_are_the_objects_of_the_module(domain: str, published: str) -> None:
    source = f"{HEAD}RECORDS = {DOMAINS[domain]}\n\n\ndef f(x):\n    return {published}\n"
    with module_of(source) as module:
        laws = {x: module.f(x) for x in product(module.RECORDS, repeat=2)}
        instance = mechanism(record=Values(*module.RECORDS))(module.f).bind(n=2)
        for x, output in laws.items():
            assert instance.distribution(x).law == ((output, Fraction(1)),)
        assert instance.privacy().exp_epsilon == float("inf")


def test_a_published_object_is_refused() -> None:
    source = f"{HEAD}def f(x):\n    return x[0]\n"
    with (
        module_of(source) as module,
        pytest.raises((ProgramError, tightdp.LanguageError), match=r"Color"),
    ):
        mechanism(record=Values(*module.Color))(module.f).bind(n=1).privacy()


FILE = f"""{HEAD}
from tightdp import Values, choice, flip, mechanism


@mechanism(record=Values(*Color))
def kept(x):
    return tuple(v.name if flip("3/4") else choice(["RED", "BLUE"]) for v in x)


@mechanism(record=Values(*Color))
def itself(x):
    return x[0]
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("efficacy {file}:kept n=2", "the record of client 1 is <Color.RED: 'r'>"),
        ("sweep {file}:kept n=1..2", "1.9459"),
        ("verify {file}:kept n=2 --exp-epsilon 7", "holds"),
        ("privacy {file}:itself n=1", "itself returned the Color <Color.RED: 'r'>"),
    ],
)
def test_commands_show_records_of_classes_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, printed: str
) -> None:
    file = tmp_path / "colors.py"
    file.write_text(FILE, encoding="utf-8")
    _, out, err = run(capsys, *command.format(file=file).split())
    assert printed in out + err
