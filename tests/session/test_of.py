"""`tightdp.of`: code that knows nothing of tightdp, called as it is."""

from __future__ import annotations

import pickle
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tightdp
from command_line import run
from tightdp import Int, Values
from tightdp.errors import LanguageError, ParameterError, ProgramError
from tightdp.language import interp
from tightdp.language.domains import Bit, Tuple
from tightdp.session.of import as_argument, of, read_domain

CODE = '''\
"""Randomized response as a library would ship it."""
import math
import random


class Response:
    def __init__(self, values, epsilon=1.0, rng=None):
        self.values, self.keep = list(values), math.exp(epsilon)
        self.rng = rng or random.SystemRandom()

    def privatize(self, value):
        if value not in self.values:
            raise ValueError(f"{value} is not a value")
        if self.rng.random() * (self.keep + len(self.values) - 1) < self.keep:
            return value
        return self.rng.choice([other for other in self.values if other != value])


def noisy_counts(data, rng, p=1 / 4):
    """Every bit passes a channel."""
    return [bit ^ int(rng.random() < p) for bit in data]


def seeded(data):
    return data[0] ^ random.Random(4).randint(0, 1)


def named(*, bits, flips=1):
    return (sum(bits) + random.randrange(flips + 1)) % 2
'''


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("shipped") / "shipped.py"
    found.write_text(CODE, encoding="utf-8")
    return found


def test_a_method_of_an_object_that_every_run_makes(path: Path) -> None:
    mechanism = of(
        f"{path}:Response.privatize",
        record="Values('a', 'b', 'c')",
        dataset="x[0]",
        arguments={"values": ["a", "b", "c"], "epsilon": 0.5},
        floats=True,
    )
    found = mechanism.bind(n=1).privacy()
    assert found.epsilon == pytest.approx(0.5, abs=1e-15)
    assert found.status == "exact"
    assert found.subject.mechanism == "Response.privatize"
    few = mechanism.bind(n=1, floats=5)
    for x in ("a", "b", "c"):
        assert dict(few.distribution((x,)).law) == interp.law(few.bound, (x,))
    assert mechanism(("a",)) in ("a", "b", "c")


def test_a_method_of_an_object_is_that_of_a_copy(path: Path) -> None:
    class Counter:
        def __init__(self) -> None:
            self.calls: list[int] = []
            self.rng = random.Random(3)

        def noisy(self, value: int) -> tuple[int, int]:
            self.calls.append(value)
            return value ^ (self.rng.random() < 0.25), len(self.calls)

    counter = Counter()
    found = of(counter.noisy, record=Bit, dataset="x[0]", floats=4).bind(n=1)
    assert found.privacy().exp_epsilon == 3
    assert interp.law(found.bound, (1,)) == {(1, 1): Fraction(3, 4), (0, 1): Fraction(1, 4)}
    assert counter.calls == []


def test_a_generator_is_given_and_lists_are_published_as_tuples(path: Path) -> None:
    code = f"{path}:noisy_counts"
    with_numpy = of(code, dataset="data=list(x)", source="rng").bind(n=2)
    with_python = of(code, source={"rng": random.Random}).bind(n=2)
    assert with_numpy.privacy().exp_epsilon == with_python.privacy().exp_epsilon == 3
    assert with_numpy.bound.parameters == {"p": Fraction(1, 4)}
    assert of(code, source="rng", floats=True).bind(n=1, p="1/5").privacy().epsilon == pytest.approx(np.log(4))
    given = of(code, source={"rng": np.random.RandomState()}, arguments={"p": 0.125}, floats=6).bind(n=2)
    assert given.privacy().exp_epsilon == 7
    assert dict(given.distribution((0, 1)).law) == interp.law(given.bound, (0, 1))


def test_how_it_is_called(path: Path) -> None:
    found = of(f"{path}:named", dataset="bits=np.array(x)", target=sum)
    assert found.bind(n=2, flips=2).privacy().exp_epsilon == 2
    assert [*found.program.parameters] == ["flips"]
    assert tightdp.of is of
    with pytest.raises(ParameterError, match="called so"):
        of(f"{path}:named", dataset="bits=(")


def test_exceptions_are_outputs_where_they_are_caught(path: Path) -> None:
    given = {"values": ["a", "b"], "epsilon": 0.0}
    place = f"{path}:Response.privatize"
    found = of(place, record="Values('a', 'c')", dataset="x[0]", arguments=given, catch=[ValueError]).bind(
        n=1, floats=3
    )
    assert interp.law(found.bound, ("c",)) == dict(found.distribution(("c",)).law) == {"ValueError": 1}
    assert found.privacy().exp_epsilon == float("inf")


def test_it_travels_to_other_processes(path: Path) -> None:
    place = f"{path}:Response.privatize"
    found = of(place, record=Values("a", "b"), dataset="x[0]", arguments={"values": "ab"}, floats=True)
    again = pickle.loads(pickle.dumps(found))
    assert again.bind(n=1).privacy().exp_epsilon == found.bind(n=1, timeout=60).privacy().exp_epsilon


WRONG: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no place": ("Response", {}, "no place of code"),
    "no module": ("no_such_module:f", {}, "cannot be imported"),
    "no name": ("random:no_such_name", {}, "there is no no_such_name"),
    "a method alone": (random.Random.choice, {}, "a method without an object"),
    "a class": (random.Random, {}, "not a function"),
    "no domain": (sum, {"record": "Int(1,"}, "not a domain"),
    "a domain that is none": (sum, {"record": "3"}, "not a domain"),
    "a mechanism": ("tightdp:flip", {"record": "Bit("}, "not a domain"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_code_is_said(name: str) -> None:
    code, options, what = WRONG[name]
    with pytest.raises(ParameterError, match=what):
        of(code, **options)


def test_a_seed_is_refused_at_its_line(path: Path) -> None:
    with pytest.raises(LanguageError, match="the same draws in every run") as caught:
        of(f"{path}:seeded").bind(n=1).privacy()
    assert caught.value.span is not None
    assert caught.value.span.line == CODE.splitlines().index("    return data[0] ^ random.Random(4).randint(0, 1)") + 1


def test_domains_and_arguments_as_they_are_written() -> None:
    assert read_domain(" Tuple(Bit, Int(0, 3)) ") == Tuple(Bit, Int(0, 3))
    read = [as_argument(text) for text in ("1", "1.0", "1/2", "'1'", "a", True, None, ["2", 3])]
    assert read == [1, 1.0, 0.5, "1", "a", True, None, [2, 3]]
    assert [type(value) for value in read[:3]] == [int, float, float]


def test_the_command(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--of", 'values=["a","b"]', "--of", "epsilon=1", "--dataset", "x[0]", "n=1", "--floats"]
    privatize = f"{path}:Response.privatize"
    status, shown, _ = run(capsys, "privacy", privatize, "--record", "Values('a', 'b')", *words)
    assert (status, "Response.privatize(n=1, floats=53)" in shown, "≈ 2.71828" in shown) == (0, True, True)
    noisy = [f"{path}:noisy_counts", "--record", "Bit", "--source", "rng"]
    assert run(capsys, "sample", *noisy, "--input", "[0,1]", "--seed", "1")[0] == 0
    others = [privatize, "--record", "Values('a', 'c')", *words]
    assert "ValueError" in run(capsys, "privacy", *others)[2]
    assert "tight ε    inf" in run(capsys, "privacy", *others, "--catch", "ValueError")[1]


@pytest.mark.slow(seconds=3)
def test_sweeps_take_it_too(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noisy = [f"{path}:noisy_counts", "--record", "Bit", "--source", "rng"]
    table = ["sweep", *noisy, "n=1", "p=1/4,1/5", "--csv"]
    status, shown, _ = run(capsys, *table)
    assert (status, [row.split(",")[:2] for row in shown.splitlines()]) == (
        0,
        [["p", "exp_epsilon"], ["1/4", "3"], ["1/5", "4"]],
    )
    csv = tmp_path / "table.csv"
    assert run(capsys, *table, str(csv), "--jobs", "2")[0] == 0
    assert csv.read_text(encoding="utf-8") == shown


@pytest.mark.extra("plot")
def test_pictures_take_it_too(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["privacy", "randomized_response", "n=1", "lam=1/5", "--curve", "--plot", str(tmp_path / "curve.svg")]
    status, shown, _ = run(capsys, *asked, "--beside", f"{path}:noisy_counts n=1 p=1/8 --record Bit --source rng")
    assert (status, "noisy_counts(n=1, p=1/8)" in shown, "ln(7)" in shown) == (0, True, True)
    for text, said in (("", "names no mechanism"), ("a.py --recod Bit", "--beside: unrecognized arguments: --recod")):
        status, _, wrong = run(capsys, *asked, "--beside", text)
        assert (status, said in wrong) == (2, True)


def test_a_dataset_in_place_of_a_record_is_guessed(path: Path) -> None:
    given = {"values": ["a", "b"]}
    found = of(f"{path}:Response.privatize", record=Values("a", "b"), arguments=given, floats=True)
    with pytest.raises(ProgramError, match="raise ValueError") as caught:
        found.bind(n=1).privacy()
    assert "--dataset 'x[0]'" in caught.value.hint
    with pytest.raises(ProgramError) as caught:
        of(f"{path}:Response.privatize", record=Values("a", "c"), dataset="x[0]", arguments=given).bind(n=1).privacy()
    assert "--dataset" not in caught.value.hint


def test_the_place_of_a_failure_is_in_the_code_that_is_called(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text("def listed(x):\n    return [[1], x]\n\n\nasync def later(x):\n    return 0\n", encoding="utf-8")
    with pytest.raises(ProgramError, match="returned the list") as caught:
        of(f"{path}:listed").bind(n=1).privacy()
    assert caught.value.span is not None
    assert caught.value.span.place == f"{path}:1:5"
    with pytest.raises(LanguageError, match="later is a coroutine"):
        of(f"{path}:later")


def test_what_a_generator_is_given_is_refused_where_it_is_called(tmp_path: Path) -> None:
    path = tmp_path / "noise.py"
    text = "import numpy as np\n\n\ndef noisy(x, p):\n    return np.random.binomial(2, p)\n"
    path.write_text(text.replace("binomial(2, p)", "laplace(x[0], 1)"), encoding="utf-8")
    with pytest.raises(LanguageError, match="real noise, which is not in the language with floats") as caught:
        of(f"{path}:noisy", floats=True).bind(n=1, p=0.5).privacy()
    assert caught.value.span is not None
    assert caught.value.span.place == f"{path}:5:12"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ProgramError, match="binomial") as failed:
        of(f"{path}:noisy").bind(n=1, p=2).privacy()
    assert failed.value.span is not None
    assert failed.value.span.place == f"{path}:5:12"


SAMPLERS = """
import random

import numpy as np


def f(x):
    rng = np.random.default_rng()
    try:
        return {}
    except ValueError:
        return "ValueError"
"""


@pytest.mark.parametrize("draw", [
    "int(rng.choice(2, p=[0.5 + x[0] / 4, 0.5]))", "sum(rng.choice(2, size=2 + x[0], replace=False))",
    "sum(rng.choice(3, size=-x[0], replace=False))", "random.sample([1, 2], 2 + x[0])[:1]",
    "random.sample([1, 2], -x[0])", "random.sample([1, 2], 1, counts=[1, 1, 1][x[0]:])",
])  # fmt: skip
def test_samplers_raise_what_they_raise(draw: str, tmp_path: Path) -> None:
    path = tmp_path / "samplers.py"
    path.write_text(SAMPLERS.replace("{}", draw))
    names: dict[str, Any] = {}
    exec(SAMPLERS.replace("{}", draw), names)
    for record in (0, 1):
        law = dict(of(f"{path}:f").bind(n=1).distribution((record,)).law)
        assert ("ValueError" in law) == (names["f"]((record,)) == "ValueError")
        assert len(law) == 1 or "ValueError" not in law


def test_items_with_probabilities_are_drawn_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "samplers.py"
    draw = "tuple(rng.choice(3, size=2, replace=False, p=[1 / 2, 1 / 4, 1 / 4]))"
    path.write_text(SAMPLERS.replace("{}", draw))
    law = dict(of(f"{path}:f").bind(n=1).distribution((0,)).law)
    weights = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    assert law == {(i, j): weights[i] * weights[j] / (1 - weights[i]) for i in range(3) for j in range(3) if i != j}
    path.write_text(SAMPLERS.replace("{}", "random.sample('ab', 1, counts=[1, 1 + x[0]])"))
    assert dict(of(f"{path}:f").bind(n=1).distribution((1,)).law) == {("a",): Fraction(1, 3), ("b",): Fraction(2, 3)}
