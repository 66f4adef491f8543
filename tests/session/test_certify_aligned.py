"""Certificates by alignment: what is accepted is true for each small number of records, as far as noise is followed."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from aligned_oracle import is_near
from certificate_bombs import sealed
from certificate_changes import places
from conftest import FULL
from tightdp import (
    ALL,
    Bit,
    EachRecord,
    Int,
    discrete_laplace,
    exp,
    exponential,
    flip,
    geometric,
    laplace,
    mechanism,
    one_sided_geometric,
)
from tightdp.errors import LimitError, QueryError
from tightdp.every_n.upper import readings
from tightdp.session.against import compare
from tightdp.session.certify import load_checker
from tightdp.session.certify_aligned import certify_aligned
from tightdp.session.mechanism import Mechanism

checker = load_checker()


def above(x: Any, threshold: Any, fresh: Any) -> Any:
    """Which answers are above a noisy threshold, until one is."""
    t, told = threshold(0), []
    for query in x:
        if fresh(query) >= t:
            told.append(True)
            break
        told.append(False)
    return tuple(told)


@mechanism(record=Int(-1, 1), neighbours="unit-all")
def threshold(x):
    return above(x, lambda v: geometric(v, "1/2"), lambda v: geometric(v, "1/3"))


@mechanism(record=Int(-1, 1), neighbours=EachRecord(lambda query: {min(query + 1, 1)}))
def rising(x):
    return above(x, lambda v: geometric(v, "1/2"), lambda v: geometric(v, "1/3"))


@mechanism(record=Bit, neighbours="unit-all")
def largest(x):
    noisy = [geometric(query, "1/2") for query in x]
    return noisy.index(max(noisy))


@mechanism(record=Bit)
def clamped(x):
    return geometric(min(max(sum(x), 1), 3), "1/2")


@mechanism(record=Bit)
def majority(x):
    return geometric(sum(x), "1/3") * 2 > len(x)


@mechanism(record=Bit)
def kept_sometimes(x):
    return geometric(sum(bit if flip("1/4") else flip("1/2") for bit in x), "1/4")


@mechanism(record=Bit, neighbours="add-remove")
def counted(x):
    return geometric(sum(1 for bit in x if bit), "1/2")


@mechanism(record=Bit)
def with_powers(x):
    return discrete_laplace(2 * sum(x), 2), flip(1 / (1 + exp(1)))


@mechanism(record=Bit, neighbours="unit-all")
def upwards(x):
    noisy = [one_sided_geometric(query, "1/2") for query in x]
    return noisy.index(max(noisy))


WHOLE: list[tuple[Mechanism, Any]] = [
    (threshold, 18),
    (rising, 6),
    (largest, 4),
    (clamped, 2),
    (majority, 3),
    (kept_sometimes, "23/17"),
    (counted, 2),
    (with_powers, [0, 0, 1]),
    (upwards, 4),
]


@mechanism(record=Int(-1, 1), neighbours="unit-all")
def real_threshold(x):
    return above(x, lambda v: laplace(v, 2), lambda v: laplace(v, 4))


@mechanism(record=Int(-1, 1), neighbours="unit-all")
def real_largest(x):
    noisy = [laplace(query, 2) for query in x]
    return noisy.index(max(noisy))


@mechanism(record=Int(-1, 1), neighbours="unit-all")
def upwards_largest(x):
    noisy = [exponential(query, 2) for query in x]
    return noisy.index(max(noisy))


REAL = [real_threshold, real_largest, upwards_largest]


@cache
def text(program: Mechanism) -> str:
    instance = program.bind(n=ALL)
    made = certify_aligned(instance, readings(instance.bound), (None, None), None, [])
    assert made is not None
    return made.text


def certificate(program: Mechanism) -> Any:
    return json.loads(text(program))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("program", "bound"), WHOLE, ids=[each.name for each, _ in WHOLE])
def test_noise_on_all_integers(program: Mechanism, bound: Any) -> None:
    made = certificate(program)
    assert made["evidence"]["rule"] == "alignment"
    assert made["claim"]["bound"] == bound
    assert all(is_near(made, n) for n in (1, 2))
    if isinstance(bound, int):
        assert not is_near(made | {"claim": made["claim"] | {"bound": "11/10"}}, 2)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("program", REAL, ids=[each.name for each in REAL])
def test_real_noise(program: Mechanism) -> None:
    made = certificate(program)
    assert made["claim"]["bound"] == [0] * made["claim"]["root"] + [1]


def test_one_n_is_certified_by_every_n() -> None:
    """Where there is no core program with finitely many outcomes for it."""
    made = real_threshold.bind(n=3).certify(epsilon=1)
    assert made.text == text(real_threshold)
    assert made.establishes.endswith("by alignment, which Coq has not checked yet")
    for claim in ({"delta": "1/10"}, {"exp_epsilon": 2}):
        with pytest.raises(QueryError, match="no core program with finitely many outcomes"):
            real_threshold.bind(n=3).certify(**claim)
    with pytest.raises(LimitError, match="nothing is compared"):
        compare(made.content, real_threshold.program)


def test_several_runs() -> None:
    made = json.loads(clamped.bind(n=ALL).certify(runs=2, exp_epsilon=2).text)
    assert made["claim"]["runs"] == [2, 2, "2/9"]
    made["claim"]["runs"][2] = "1/5"
    with pytest.raises(checker.Refused, match="lose more together"):
        checker.check(made)
    rises = certificate(rising)
    rises["claim"]["runs"] = [1, 10, 0]
    with pytest.raises(checker.Refused, match="the other way round only"):
        checker.check(rises)


def changed(certificate: dict[str, Any], random_: random.Random) -> dict[str, Any]:
    """A certificate with a number, a part, an order or a word of the claim changed."""
    new: dict[str, Any] = json.loads(json.dumps(certificate))
    every = list(places(new[random_.choice(["claim", "program", "program", "evidence", "evidence"])]))
    kind = random_.randrange(6)
    numbers = [(node, key) for node, key in every if type(node[key]) is int]
    if kind < 3 and numbers:
        node, key = random_.choice(numbers)
        value = node[key]
        node[key] = random_.choice([0, 1, 2, 3, -1, -2, value + 1, value - 1, -value, "1/2", "1/3", None])
    elif kind == 3:
        (node, key), (other, from_) = random_.choice(every), random_.choice(every)
        if random_.randrange(3):
            node[key] = json.loads(json.dumps(other[from_]))
        else:
            del node[key]
    elif kind == 4:
        random_.shuffle(random_.choice([node[key] for node, key in every if isinstance(node[key], list)] or [[]]))
    else:
        change: list[dict[str, Any]] = [
            {"bound": random_.choice([1, 2, 3, "3/2", 4])},
            {"neighbours": random_.choice(["replace-one", "unit-all", "unit-step", "add-remove"])},
            {"records": [[0], [1], [2]]},
            {"n": 3},
            {"attained": True},
        ]
        new["claim"] |= random_.choice(change)
    return sealed(new)


@pytest.mark.slow(seconds=60)
def test_changed_certificates() -> None:
    """They are refused, or nothing within the reach of noise contradicts them."""
    random_, found = random.Random(3), Counter[str]()
    some = [certificate(program) for program, _ in WHOLE]
    for _ in range(10_000 if FULL else 600):
        base = random_.choice(some)
        new = changed(base, random_)
        try:
            checker.check(json.loads(json.dumps(new)), 30)
        except (checker.Refused, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            found["refused"] += 1
            continue
        if new != base:
            found["accepted"] += 1
            assert all(is_near(new, n) for n in (1, 2)), new
    assert min(found["accepted"], found["refused"]) > 20


@pytest.mark.slow(seconds=20)
def test_changed_evidence_about_real_noise() -> None:
    """Of e^ε, which is tight here, no lower bound is accepted, whatever the cells, shares and shifts are said to be."""
    random_, refused = random.Random(4), 0
    some = [certificate(program) for program in REAL]
    for _ in range(3_000 if FULL else 300):
        new = changed(random_.choice(some), random_)
        root = new["claim"].get("root", 0)
        new = {**new, "program": next(each["program"] for each in some if each["source"] == new.get("source"))}
        new["claim"] = {**new["claim"], "bound": [0] * (root - 1) + [1]} if type(root) is int and root > 1 else {}
        with pytest.raises((checker.Refused, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)):
            checker.check(sealed(json.loads(json.dumps(new))), 30)
        refused += 1
    assert refused


FORGED: dict[str, tuple[Mechanism, Any, str]] = {
    "a lower price": (threshold, lambda c: c["evidence"]["cells"][0].__setitem__(3, 2), "too low"),
    "a lower bound": (clamped, lambda c: c["claim"].__setitem__("bound", "3/2"), "too low"),
    "a share left out": (largest, lambda c: _share(c).__setitem__(0, "1/2"), "another sum than 1"),
    "noise not shifted": (clamped, lambda c: [_no_shift(each) for each in c["evidence"]["plans"]], "differ"),
    "runs that are dropped": (
        largest,
        lambda c: c["program"]["trees"].__setitem__(c["program"]["after"][1], None),
        "dr",
    ),
    "a smaller range": (largest, lambda c: _ranges(c, [0, 0]), "more than in a cell"),
    "noise that is none": (clamped, lambda c: _noise(c).__setitem__(1, 1), "no such noise"),
    "noise of half a step": (clamped, lambda c: _noise(c).__setitem__(2, "1/2"), "no such noise"),
    "other noise": (clamped, lambda c: _noise(c).__setitem__(1, 3), "something else"),
    "a remark": (clamped, lambda c: c["program"]["trees"][-1].append(0), "another length"),
    "one n": (clamped, lambda c: c["claim"].__setitem__("n", 3), "for every n"),
    "no neighbours": (clamped, lambda c: _neighbours(c, None), "no such neighbours"),
    "other neighbours": (clamped, lambda c: _neighbours(c, 3), "empty"),
    "records that stay": (rising, lambda c: _neighbours(c, [[[0], [0]]]), "no such pair"),
    "odds of 0": (with_powers, lambda c: _odds(c).__setitem__(0, 0), "not positive"),
}


def _trees(node: Any, kind: str) -> list[Any]:
    return [
        inside[key] for inside, key in places([node]) if isinstance(inside[key], list) and inside[key][:1] == [kind]
    ]


def _noise(certificate: dict[str, Any]) -> Any:
    return _trees(certificate["program"]["trees"], "noise")[0][1]


def _neighbours(certificate: dict[str, Any], given: Any) -> None:
    certificate["claim"] |= {"neighbours": given, "bound": 1}


def _odds(certificate: dict[str, Any]) -> Any:
    return _trees(certificate["program"]["trees"], "draw")[0][1][0]


def _share(certificate: dict[str, Any]) -> Any:
    return next(leaf[0] for plan in certificate["evidence"]["plans"] for leaf in plan if leaf)


def _no_shift(plan: Any) -> None:
    for inside, key in places(plan):
        if isinstance(inside[key], list) and len(inside[key]) == 3 and isinstance(inside[key][1], list):
            inside[key][1] = [0] * len(inside[key][1])


def _ranges(certificate: dict[str, Any], gap: Any) -> None:
    for cell in certificate["evidence"]["cells"]:
        cell[2] = [gap for _ in cell[2] or ()]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", FORGED)
def test_forged_evidence(name: str) -> None:
    program, change, reason = FORGED[name]
    made = certificate(program)
    checker.check(json.loads(json.dumps(made)))
    change(made)
    with pytest.raises(checker.Refused, match=reason):
        checker.check(sealed(made))


def test_systems_of_inequalities() -> None:
    """What is called impossible has no solution among small numbers, and over the reals; with integers rounded."""
    impossible, random_, found = checker.beside("alignment").impossible, random.Random(2), Counter[bool]()
    grid = [Fraction(each, 2) for each in range(-6, 7)]
    for _ in range(300):
        real = {name for name in "ab" if random_.randrange(2)}
        rows = [
            (
                {name: Fraction(random_.randint(-2, 2)) for name in "ab"},
                Fraction(random_.randint(-3, 3)),
                random_.random() < 0.5,
            )
            for _ in range(random_.randint(1, 5))
        ]
        points = [
            (a, b)
            for a in grid
            for b in grid
            if all(v.denominator == 1 for v, n in ((a, "a"), (b, "b")) if n not in real)
        ]
        has = any(
            all((total := f["a"] * a + f["b"] * b + c) > 0 or (total == 0 and not above) for f, c, above in rows)
            for a, b in points
        )
        said = impossible(rows, real)
        found[said] += 1
        assert not (said and has), (rows, real)
    assert min(found.values()) > 30
