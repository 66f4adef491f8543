"""Certificates with an unknown: one file for all its values, compared with answers at single ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import pytest

from certificate_oracle import holds, is_true, number
from command_line import run
from expectations import mechanisms
from tightdp import Bit, Int, Values, choice, flip, mechanism, observe, randint
from tightdp.core.sections import written_value
from tightdp.errors import ParameterError, QueryError, TightdpError
from tightdp.session.against import compare
from tightdp.session.certify import load_checker
from tightdp.session.mechanism import Mechanism

checker = load_checker()
FAILURES = (checker.Refused, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
CASES: list[tuple[str, dict[str, Any], str, int]] = [
    ("randomized_response", {"lam": "?[0, 1/2]"}, "lam", 3),
    ("randomized_response_count", {"lam": "?[1/2, 1]"}, "lam", 3),
    ("geometric_count", {"ratio": "?"}, "ratio", 2),
    ("xor_randomized_response", {"lam": "?[1/10, 2/5]"}, "lam", 3),
    ("above_threshold", {"k": 2, "threshold": 2, "ratio_threshold": "?", "ratio_query": "1/2"}, "ratio_threshold", 2),
]


@mechanism(record=Bit)
def two_coins(x: Any, lam: Any) -> Any:
    """Answers with a coin whose probability has no fixed degree in the unknown."""
    return tuple(b ^ flip(lam * lam + Fraction(1, 10)) ^ flip(lam) for b in x)


def values(content: dict[str, Any]) -> list[tuple[Fraction, Fraction]]:
    """Some T, and the values of the unknown that they stand for."""
    _, *ends = content["claim"]["unknown"]
    low, high = map(Fraction, ends)
    return [(t, (low + high * t) / (1 + t)) for t in map(Fraction, ("1/9", "2/3", "1", "5"))]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("name", "parameters", "unknown", "n"), CASES, ids=[name for name, *_ in CASES])
def test_the_bound_is_the_tight_one_at_every_value(name: str, parameters: dict[str, Any], unknown: str, n: int) -> None:
    one = mechanisms(name)[name]
    content = dict(one.bind(n=n, **parameters).certify().content)
    assert content["claim"]["attained"]
    for t, value in values(content):
        tight = one.bind(n=n, **parameters | {unknown: value}).privacy().exp_epsilon
        assert number(content["claim"]["bound"], t) == tight
    assert is_true(content)
    assert "has the law of" in compare(content, one.bind(n=n, **parameters).bound.program)


@mechanism(record=Bit)
def now_and_then(x: Any, lam: Any) -> Any:
    """Publishes a record with some probability."""
    return x[0] if flip(lam) else 2


@mechanism(record=Int(0, 2))
def kept_or_drawn(x: Any, kept: Any) -> Any:
    """Keeps a record, or draws another one."""
    return tuple(value if flip(kept) else randint(0, 2) for value in x)


@mechanism(record=Values("red", "green", "blue"))
def likely_colours(x: Any, weight: Any) -> Any:
    """Publishes a colour, that of the record with another weight than the others."""
    colours = ("red", "green", "blue")
    return tuple(choice(colours, weights=[weight if colour == own else 1 for colour in colours]) for own in x)


@mechanism(record=Bit)
def observed_count(x: Any, lam: Any) -> Any:
    """Counts noisy answers that are not all 0."""
    noisy = [b ^ flip(lam) for b in x]
    observe(sum(noisy) > 0)
    return sum(noisy)


@mechanism(record=Bit)
def last_seen(x: Any, seen: Any) -> Any:
    """Remembers a record now and then, and publishes what it remembers with noise."""
    told, state = [], 0
    for b in x:
        if flip(seen):
            state = b
        told.append(state ^ flip("1/3"))
    return tuple(told)


FRESH: list[tuple[Mechanism, dict[str, Any], dict[str, Any]]] = [
    (kept_or_drawn, {"kept": "?[1/10, 9/10]"}, {}),
    (likely_colours, {"weight": "?[1, 4]"}, {"exp_epsilon": 1, "delta": "1/2"}),
    (observed_count, {"lam": "?[1/5, 2/5]"}, {}),
    (observed_count, {"lam": "?[1/5, 2/5]"}, {"guesses": 1}),
    (last_seen, {"seen": "?[1/4, 3/4]"}, {}),
    (two_coins, {"lam": "?[1/10, 3/10]"}, {"exp_epsilon": 6, "delta": "1/10"}),
    (now_and_then, {"lam": "?"}, {"exp_epsilon": 3}),
]


def near(given: Any) -> Iterator[Any]:
    """Numbers a little larger and smaller, and with one other coefficient."""
    if isinstance(given, dict):
        for part in given:
            yield from ({**given, part: other} for other in near(given[part]))
    elif isinstance(given, list):
        yield from ([*given[:at], c + step, *given[at + 1 :]] for at, c in enumerate(given) for step in (-1, 1))
    elif given != "inf":
        yield from (written_value(Fraction(given) * factor) for factor in (Fraction(99, 100), Fraction(101, 100)))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("program", "parameters", "claim"), FRESH)
def test_claims_that_are_edited_are_refused_or_true(
    program: Mechanism, parameters: dict[str, Any], claim: dict[str, Any]
) -> None:
    instance = program.bind(n=2, **parameters)
    content = json.loads(instance.certify(**claim).text)
    assert is_true(content)
    said = content["claim"]
    edits: list[dict[str, Any]] = [{"n": 3}, {"attained": True}, {"neighbours": "unit-all"}]
    for key in {"bound", "delta", "share"} & said.keys():
        edits += [{key: other} for other in near(said[key])]
    for edit in edits:
        forged = {**content, "claim": said | edit}
        try:
            checker.check(forged)
        except FAILURES:
            continue
        assert all(holds(forged, Fraction(10) ** power) for power in range(-9, 10, 3)), edit
    name, low, high = said["unknown"]
    for ends in ([low, written_value(Fraction(high) + 1)], [written_value(Fraction(low) / 2), high], [low, "7/9"]):
        for named in (said["parameters"], said["parameters"] | {name: f"?[{', '.join(map(str, ends))}]"}):
            forged = {**content, "claim": said | {"unknown": [name, *ends], "parameters": named}}
            if ends != [low, high]:
                with pytest.raises((TightdpError, checker.Refused)):
                    compare(forged, program.program)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "parameters", "claim"),
    [
        ("randomized_response_count", {"lam": "?[0, 1/2]"}, {"guesses": 2}),
        ("randomized_response_count", {"lam": "?[1/2, 1]"}, {"pairs": [[0, 1], [1, 0], [0, 1]]}),
        ("above_threshold", {"k": 2, "threshold": 2, "ratio_threshold": "?", "ratio_query": "1/2"}, {"guesses": 1}),
    ],
)
def test_efficacies(name: str, parameters: dict[str, Any], claim: dict[str, Any]) -> None:
    one = mechanisms(name)[name]
    content = dict(one.bind(n=3, **parameters).certify(**claim).content)
    unknown = content["claim"]["unknown"][0]
    k = content["claim"]["guesses"]
    for t, value in values(content):
        answer = one.bind(n=3, **parameters | {unknown: value}).efficacy(guesses=k, pairs=claim.get("pairs"))
        assert number(content["claim"]["share"], t) == answer.rows[0].efficacy
    assert is_true(content)
    above = {**content, "claim": content["claim"] | {"share": {"above": [3, 1], "below": [4, 4]}}}
    with pytest.raises(checker.Refused, match="another share is right"):
        checker.check(above)


def test_an_efficacy_that_is_several_functions_has_no_certificate() -> None:
    one = mechanisms("randomized_response_count")["randomized_response_count"]
    with pytest.raises(QueryError, match="a sign is not seen"):
        one.bind(n=2, lam="?[0, 1]").certify(guesses=1)
    with pytest.raises(ParameterError, match="holds one claim"):
        one.bind(n=2, lam="?[0, 1/2]").certify(guesses=1, exp_epsilon=2)


def test_many_runs() -> None:
    """The least δ is that of randomized responses at every value, by the sum over how many are right."""
    one = mechanisms("randomized_response_count")["randomized_response_count"].bind(n=2, lam="?[1/10, 1/5]")
    for runs, bound in ((2, 8), (3, 4), (2, 90)):
        content = dict(one.certify(runs=runs, exp_epsilon=bound).content)
        for t, value in values(content):
            once = (1 - value) / value
            terms = [comb(runs, i) * max(0, once**i - bound * once ** (runs - i)) for i in range(runs + 1)]
            assert number(content["claim"]["bound"], t) == once
            assert number(content["claim"]["runs"][2], t) == sum(terms) / (1 + once) ** runs
        assert is_true(content)
    assert one.certify(runs=3, exp_epsilon=4, delta="9/10").content["claim"]["runs"] == [3, 4, "9/10"]
    with pytest.raises(QueryError, match="no rule of evidence fits"):
        one.certify(runs=3, exp_epsilon=4, delta="1/2")


def test_functions_of_higher_degree() -> None:
    content = dict(two_coins.bind(n=2, lam="?[1/10, 3/10]").certify().content)
    for t, value in values(content):
        assert number(content["claim"]["bound"], t) == two_coins.bind(n=2, lam=value).privacy().exp_epsilon


def test_numbers_that_are_enough_for_all_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count = mechanisms("randomized_response_count")["randomized_response_count"].bind(n=3, lam="?[1/10, 1/8]")
    for claim in ({"exp_epsilon": 9}, {"exp_epsilon": 2, "delta": "4/5"}, {"alpha": 1, "beta": "1/4"}):
        assert is_true(dict(count.certify(**claim).content))
    with pytest.raises(QueryError, match="no rule of evidence fits") as error:
        count.certify(exp_epsilon=8)
    assert error.value.hint == "give a smaller range; solve says where a claim holds"
    file = tmp_path / "answer.json"
    status, said, _ = run(capsys, "certify", "randomized_response_count", "n=3", "lam=?[0,1/2]", "--output", str(file))
    assert status == 0
    assert 'unknown ["lam", 0, "1/2"]' in said
    assert run(capsys, "check", str(file))[0] == 0


def test_both_sides_of_an_end_are_certified() -> None:
    """Numbers that are enough up to an end, and not beyond it: for all values on either side."""
    one = mechanisms("randomized_response_count")["randomized_response_count"]
    (hold,) = one.bind(n=3, lam="?").solve(exp_epsilon=2).holds
    assert (hold.start.value, hold.stop.value) == (Fraction(1, 3), Fraction(2, 3))
    for ends, claim, question in (
        ("1/3, 2/3", {"exp_epsilon": 2}, "privacy"),
        ("0, 1/3", {"exp_epsilon": 2}, "violation"),
        ("2/3, 1", {"exp_epsilon": 2}, "violation"),
        ("1/10, 1/5", {"exp_epsilon": 2, "delta": "1/100"}, "violation"),
        ("1/10, 1/5", {"alpha": 1, "beta": "1/8"}, "accuracy"),
        ("1/10, 1/5", {"alpha": 0, "beta": "1/10"}, "inaccuracy"),
    ):
        content = dict(one.bind(n=3, lam=f"?[{ends}]").certify(**claim).content)
        assert content["claim"]["question"] == question
        assert is_true(content)


def test_no_number_is_enough_for_any_value() -> None:
    content = dict(now_and_then.bind(n=2, lam="?").certify().content)
    assert (content["claim"]["question"], content["claim"]["bound"]) == ("violation", "inf")
    assert is_true(content)


def test_one_function_and_rational_ends_are_needed() -> None:
    one = mechanisms("randomized_response_count")["randomized_response_count"]
    with pytest.raises(QueryError, match="not one function") as error:
        one.bind(n=2, lam="?").certify()
    assert error.value.hint.endswith("lam=?[0, 1/2] or lam=?[1/2, 1]")
    with pytest.raises(QueryError, match="δ is certified at an e"):
        one.bind(n=2, lam="?").certify(delta="1/10")


def test_where_delta_is_several_functions_their_ranges_are_named() -> None:
    """Each range that is named has a certificate; ends that are not rational are rounded to the inside."""
    for program, name, ends, claim in (
        (two_coins, "lam", "1/10, 1/2", {"exp_epsilon": 3, "delta": "2/5"}),
        (likely_colours, "weight", "1, 4", {"exp_epsilon": 2, "delta": "1/3"}),
    ):
        with pytest.raises(QueryError, match="δ is not one function on the range") as error:
            program.bind(n=2, **{name: f"?[{ends}]"}).certify(**claim)
        for each in error.value.hint.removeprefix("ask for one of its pieces: ").split(" or "):
            range_ = each.removeprefix(f"{name}=")
            assert is_true(dict(program.bind(n=2, **{name: range_}).certify(**claim).content))


def test_signs_that_change_are_refused() -> None:
    count = mechanisms("randomized_response_count")["randomized_response_count"].bind(n=2, lam="?[0, 1/2]")
    content = json.loads(count.certify().text)
    for change in (
        {"bound": 3},
        {"bound": {"above": [1, 1], "below": [0, 1]}},
        {"root": 1},
        {"unknown": ["lam", 1, 1]},
    ):
        with pytest.raises(checker.Refused):
            checker.check({**content, "claim": content["claim"] | change})
