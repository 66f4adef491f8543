"""Core programs of certificates have the laws of the mechanisms that they name, and of no others."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tightdp
from expectations import bind
from forgeries import EXAMPLES, example
from tightdp import Bit, discrete_gaussian, flip, geometric, laplace, mechanism
from tightdp.cli.main import main
from tightdp.errors import LimitError, QueryError
from tightdp.session.against import Differs, compare
from tightdp.session.certify import load_checker
from tightdp.session.instance import Instance
from tightdp.session.mechanism import Mechanism

PROGRAMS = Path(__file__).parents[2] / "programs"


def test_all_datasets_are_compared() -> None:
    for name, expected in [("randomized_response_count_n3", "all 8"), ("above_threshold_n3", "all 27")]:
        mechanism = name.removesuffix("_n3")
        program = bind(
            mechanism, {"mechanism": mechanism, "parameters": example(name)["claim"]["parameters"] | {"n": 3}}
        )
        assert compare(example(name), program.program).startswith(f"on {expected} datasets")


def test_errors_are_compared_by_value() -> None:
    parameters = {"n": 2, "lam": "1/5"}
    count = bind("randomized_response_count", {"mechanism": "randomized_response_count", "parameters": parameters})
    content = dict(Instance(count).certify(alpha=1, beta="1/5").content)
    assert compare(content, count.program).startswith("on all 4 datasets")
    content["program"]["parts"][1]["lines"][2][2] = [[0, 3], [1, 1]]
    with pytest.raises(QueryError, match="has another law"):
        compare(content, count.program)


def test_another_mechanism_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    answer = str(EXAMPLES / "randomized_response_count_n3.json")
    assert main(["check", answer, "--against", str(PROGRAMS / "randomized_response_count.py")]) == 0
    assert "on all 8 datasets" in capsys.readouterr().out
    assert (
        main(["check", answer, "--against", f"{PROGRAMS / 'xor_randomized_response.py'}:xor_randomized_response"]) == 1
    )
    assert "refused: the core program has another law" in capsys.readouterr().out


@mechanism
def guarded(x: Any, p: Any) -> Any:
    """The parity of all bits, and of that with coins."""
    parity = 0
    for bit in x:
        parity ^= bit
    return parity ^ flip(p), flip(p)


@mechanism
def quieter(x: Any, p: Any) -> Any:
    """The parity of all bits, with less noise."""
    parity = 0
    for bit in x:
        parity ^= bit
    return parity ^ flip(p * p)


def test_for_every_n_the_output_may_tell_no_more_than_messages() -> None:
    content = dict(example("xor_randomized_response_every_n"))
    parameters = {"n": 2, "lam": "1/5"}
    xor = bind("xor_randomized_response", {"mechanism": "xor_randomized_response", "parameters": parameters})
    said = "on all 14 datasets of at most 3 records no output of xor_randomized_response tells more of neighbours than"
    assert compare(content, xor.program).startswith(said)
    made = json.loads(guarded.bind(n=tightdp.ALL, p="1/5").certify().text)
    assert "no output of guarded tells more" in compare(made, guarded.program)
    made["program"]["parts"][2]["publishes"] = []
    with pytest.raises(QueryError, match="guarded tells more of"):
        compare(made, guarded.program)
    content["claim"] = {name: each for name, each in content["claim"].items() if name != "parameters"}
    content["claim"]["parameters"] = {"p": "1/5"}
    with pytest.raises(QueryError, match="quieter tells more of"):
        compare(content, quieter.program)


@mechanism
def measured(x: Any, s: Any) -> Any:
    """A sum with discrete Gaussian noise."""
    return discrete_gaussian(sum(x), s)


@mechanism
def compared(x: Any, s: Any) -> Any:
    """Whether it is above one."""
    return discrete_gaussian(sum(x), s) > 1


@pytest.mark.parametrize(
    ("program", "less"), [pytest.param(measured, False, marks=pytest.mark.slow(seconds=8)), (compared, True)]
)
def test_of_noisy_numbers_the_output_may_tell_no_more(program: Mechanism, less: bool) -> None:
    bound = program.bind(n=2, s=4).bound
    content = json.loads(Instance(bound).certify(zcdp=True).text)
    said = f"on all 4 datasets no output of {program.name} tells more of neighbours than the noisy numbers of the core"
    assert compare(content, bound.program).startswith(said)
    assert ("attained" in content["claim"]) != less
    if less:
        content["claim"]["attained"] = True
        with pytest.raises(QueryError, match="compared tells less of"):
            compare(content, bound.program)
    content["claim"]["variances"] = [40]
    with pytest.raises(QueryError, match=f"{program.name} tells more of"):
        compare(content, bound.program)


def test_the_outputs_of_a_law_are_compared_by_value() -> None:
    given = {"mechanism": "randomized_response_count", "parameters": {"n": 2, "lam": "1/5"}}
    count = bind("randomized_response_count", given)
    content = json.loads(Instance(count).certify(x=[0, 0]).text)
    assert compare(content, count.program).endswith("which the interpreter has run")
    last = next(part for part in content["program"]["parts"] if part["publishes"])
    last["lines"].append(["apply", "v99", "sub", {"value": 2}, last["publishes"][0]])
    last["publishes"] = ["v99"]
    assert "; which output is which is not compared" in compare(content, count.program)


def test_parameters_that_are_tuples_are_read() -> None:
    name, given = "pure_from_approximate", {"weights": ((2, 1), (1, 2)), "exp_epsilon": 2, "k": "7/16", "rounds": 2}
    bound = bind(name, {"mechanism": name, "parameters": given | {"n": 1}})
    assert compare(Instance(bound).certify().content, bound.program).startswith("on all 2 datasets")


@mechanism
def by_one_of(x: Any, of: Any = (Fraction(-1, 5), ("a)", None, True), "1/4")) -> Any:
    """One record, by the last of some parameters."""
    return x[0] ^ flip(of[2])


def test_parameters_that_are_tuples_with_fractions_are_read() -> None:
    certificate = by_one_of.bind(n=1).certify(exp_epsilon=3)
    assert compare(certificate.content, by_one_of.program).startswith("on all 2 datasets")


def test_the_label_names_the_parameters_that_are_bound() -> None:
    content = example("randomized_response_count_n3")
    given = {"mechanism": "randomized_response_count", "parameters": {"n": 3, "lam": "1/5"}}
    program = bind("randomized_response_count", given).program
    assert compare(content, program).endswith("which the interpreter has run")
    content["claim"]["parameters"] = {"lam": "2/10"}
    with pytest.raises(
        QueryError, match="names other parameters than randomized_response_count has: lam=2/10, not lam=1/5"
    ):
        compare(content, program)
    content["claim"] |= {"parameters": {"lam": "1/5"}, "source": "0" * 64}
    assert compare(content, program).endswith("the text of randomized_response_count is not that in the certificate")


@mechanism
def retried(x: Any, p: Any) -> Any:
    """Starts anew with probability 1/2 where exactly one answer is 1."""
    while True:
        total = sum(v ^ flip(p) for v in x)
        if total != 1 or flip("1/2"):
            return total


@mechanism
def counted(x: Any, p: Any) -> Any:
    """A sum, and how often a coin comes up."""
    z = sum(x)
    while flip(p):
        z += 1
    return z


@mechanism
def noisy(x: Any, p: Any) -> Any:
    """Noise on all integers."""
    return geometric(sum(x), p)


@pytest.mark.slow(seconds=3)
@pytest.mark.parametrize(
    ("program", "near"),
    [pytest.param(retried, "up to 0.0000", marks=pytest.mark.slow(seconds=9)), (counted, "up to ")],
)
def test_loops_without_a_bound_are_compared_up_to_the_runs_that_are_left(program: Mechanism, near: str) -> None:
    bound = program.bind(n=2, p="1/4").bound
    content = json.loads(Instance(bound).certify(exp_epsilon=2, delta="9/10").text)
    assert f"on all 4 datasets the core program has the law of {program.name} {near}" in compare(content, bound.program)
    lines = [line for part in content["program"]["parts"] for line in part["lines"] if line[0].startswith("draw")]
    law = lines[0][-1] if lines[0][0] == "draw" else lines[0][-1][0][1]
    law[0][1], law[1][1] = 5 * law[0][1] + law[1][1], 4 * law[1][1]  # of the same sum, if others have it, times five
    for other in lines[0][-1][1:] if lines[0][0] == "draw by" else ():
        other[1][:] = [[outcome, 5 * odds] for outcome, odds in other[1]]
    for row in law[2:]:
        row[1] *= 5
    with pytest.raises(QueryError, match=r"has another law|tells other datasets apart"):
        compare(content, bound.program)


@mechanism
def lied(x: Any, p: Any) -> Any:
    """The first record counts twice."""
    return geometric(sum(x) + x[0], p)


@mechanism
def above(x: Any, p: Any) -> Any:
    """Which records are above a noisy threshold, with noise on each."""
    threshold = geometric(1, p)
    return tuple(geometric(v, p) >= threshold for v in x)


@mechanism
def real(x: Any, p: Any) -> Any:
    """Noise on the reals."""
    return laplace(sum(x), 1) > p


@pytest.mark.parametrize(
    ("program", "p"), [(noisy, "1/2"), (noisy, "9/10"), pytest.param(above, "1/4", marks=pytest.mark.slow(seconds=8))]
)
def test_noise_on_all_integers_is_compared_up_to_what_is_further_out(program: Mechanism, p: str) -> None:
    bound = program.bind(n=2, p=p).bound
    content = dict(Instance(bound).certify().content)
    assert f"on all 4 datasets the core program has the law of {program.name} up to " in compare(content, bound.program)
    other = (lied if program is noisy else noisy).bind(n=2, p=p).bound
    with pytest.raises(QueryError, match="tells other datasets apart"):
        compare(content, other.program)


def test_noise_on_the_reals_is_not_compared() -> None:
    bound = real.bind(n=2, p="1/2").bound
    with pytest.raises(LimitError, match="nothing is compared: real noise has infinitely many outcomes"):
        compare(Instance(bound).certify().content, bound.program)


@mechanism(record=Bit)
def counted(x: Any) -> Any:
    """A sum of noisy bits."""
    return sum(bit ^ flip("1/3") for bit in x)


@mechanism(record=Bit)
def leaking(x: Any) -> Any:
    """The same, and once in a million the first bit."""
    return ("leak", x[0]) if flip("1/1000000") else sum(bit ^ flip("1/3") for bit in x)


def test_an_error_does_not_hide_what_else_is_published() -> None:
    made = json.loads(counted.bind(2).certify().text)
    del made["claim"]["attained"]
    made["claim"] |= {"error": "1/100000", "bound": 3}
    made["evidence"] = {"rule": "datasets"}
    assert "and publish nothing else" in load_checker().check(made)
    assert compare(made, counted.program).startswith("on all 4 datasets")
    with pytest.raises(Differs, match="publishes more than the program"):
        compare(made, leaking.program)


@mechanism(record=Bit)
def coin(x: Any) -> Any:
    """A coin that looks at nothing."""
    return flip("1/2")


@mechanism(record=Bit)
def all_ones(x: Any) -> Any:
    """The same but for one dataset."""
    return sum(x) == len(x) or flip("1/2")


@pytest.mark.slow(seconds=13)
def test_of_many_datasets_those_of_equal_records_are_compared() -> None:
    made = json.loads(coin.bind(16).certify().text)
    assert compare(made, coin.program).startswith("on 20000 of the datasets")
    with pytest.raises(Differs, match="another law than all_ones"):
        compare(made, all_ones.program)


def one_more(x: Any) -> Any:
    """All datasets with one more one."""
    return [(*x[:at], 1, *x[at + 1 :]) for at in range(len(x)) if x[at] == 0]


@mechanism(record=Bit, neighbours=one_more)
def one_way(x: Any) -> Any:
    """A sum of noisy bits."""
    return sum(bit ^ flip("1/3") for bit in x)


def test_neighbours_that_are_listed_are_those_of_the_function() -> None:
    made = json.loads(one_way.bind(2).certify().text)
    assert compare(made, one_way.program).endswith("which the interpreter has run")
    made["claim"]["neighbours"].pop()
    with pytest.raises(Differs, match="other neighbours"):
        compare(made, one_way.program)
    made = json.loads(counted.bind(2, neighbours="unit-step").certify().text)
    assert compare(made, counted.program).endswith("counted names other neighbours: replace-one")
