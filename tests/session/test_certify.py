"""Certificates: accepted by the checker where they are true, refused where they are changed into what is false."""

from __future__ import annotations

import ast
import json
import math
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from certificate_oracle import Impossible, is_true
from certificate_oracle import number as written
from conftest import FULL
from expectations import Oracle, bind, expectations, label, number
from tightdp.exact.field import exp
from tightdp.session.certify import WORK, Certificate, as_json, load_checker
from tightdp.session.instance import Instance

CHECKER = Path(__file__).parents[2] / "proofs" / "checker.py"
EXAMPLES = sorted((CHECKER.parent / "certificates").glob("*.json"))
checker = load_checker()


def checked(path: Path) -> tuple[int, str]:
    """What the checker says of a file, run as a program of its own that cannot see this package."""
    done = subprocess.run(
        [sys.executable, "-I", str(CHECKER), str(path)], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    return done.returncode, done.stdout


# the checker


def test_the_checker_imports_the_standard_library_only_and_is_short() -> None:
    text = CHECKER.read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(text)))
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert imported <= sys.stdlib_module_names
    assert len(text.splitlines()) <= 700
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert called.isdisjoint({"eval", "exec", "compile", "__import__"})


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_committed_examples_are_accepted(path: Path) -> None:
    status, said = checked(path)
    assert (status, said.partition(":")[0]) == (0, "accepted")
    content = json.loads(path.read_text(encoding="utf-8"))
    claim = content["claim"]
    few = 300 if FULL else 100
    if "program" in content and claim["n"] != "all" and len(claim["records"]) ** claim["n"] <= few:
        assert is_true(content)


def test_there_are_examples_of_every_rule() -> None:
    contents = [json.loads(path.read_text(encoding="utf-8")) for path in EXAMPLES]
    assert {content["evidence"]["rule"] for content in contents} == {"datasets", "witness", "forms", "dual", "table"}
    kinds = {content["claim"]["kind"] for content in contents}
    assert kinds == set(checker.CLAIMS)
    assert any("root" in content["claim"] for content in contents)


# what is certified

SMALL = [
    pytest.param(name, expected, id=label(name, expected))
    for name, expected in expectations()
    if expected["query"] != "distribution" and "error" not in expected and (FULL or expected["parameters"]["n"] <= 3)
]


@pytest.mark.parametrize(("name", "expected"), SMALL)
def test_answers_about_the_programs_are_certified(name: str, expected: dict[str, Any]) -> None:
    instance = Instance(bind(name, expected))
    if expected["query"] == "delta":
        if number(expected["exp_epsilon"]) < 1:
            return
        found = instance.certify(exp_epsilon=expected["exp_epsilon"], delta=expected["delta"])
        assert found.content["claim"]["kind"] == "privacy"
    elif expected["query"] == "accuracy":
        found = instance.certify(alpha=expected["alpha"], beta=1 - Fraction(expected["one_minus_beta"]))
        claim = found.content["claim"]
        assert (claim["kind"], claim["tight"]) == ("accuracy", True)
    else:
        found = instance.certify(delta=expected.get("delta", 0))
        claim = found.content["claim"]
        power = exp(Fraction(1, claim.get("root", 1)))
        tight = math.inf if claim["bound"] == "inf" else written(claim["bound"], power)
        assert tight == number(expected["exp_epsilon"])
        assert claim["kind"] == ("violation" if claim["bound"] == "inf" else "privacy")
        assert claim.get("tight") or claim["bound"] in (1, "inf")
    assert checker.check(json.loads(as_json(found)), WORK) == found.establishes


LARGE = [
    ("randomized_response", {"n": 1000, "lam": "1/5"}),
    ("randomized_response_count", {"n": 300 if FULL else 40, "lam": "1/5"}),
    (
        "above_threshold",
        {"n": 50 if FULL else 12, "k": 3, "threshold": 2, "ratio_threshold": "1/2", "ratio_query": "1/2"},
    ),
    (
        "sparse_vector",
        {
            "n": 8 if FULL else 4,
            "cutoff": 1,
            "k": 3,
            "threshold": 2,
            "ratio_threshold": "1/2",
            "margin": 1,
            "ratio_query": "1/2",
        },
    ),
]


@pytest.mark.parametrize(("name", "parameters"), LARGE, ids=[name for name, _ in LARGE])
def test_many_clients_are_certified_by_forms(name: str, parameters: dict[str, Any]) -> None:
    instance = instance_of(name, **parameters)
    found = instance.certify()
    assert found.content["evidence"]["rule"] == "forms"
    assert found.content["claim"]["tight"]
    assert written(found.content["claim"]["bound"]) == instance.privacy().exp_epsilon


def instance_of(name: str, **parameters: Any) -> Instance:
    """An instance of a mechanism of `programs/`."""
    return Instance(bind(name, {"mechanism": name, "parameters": parameters}))


def test_claims_are_certified_or_refuted(tmp_path: Path) -> None:
    count = instance_of("randomized_response_count", n=3, lam="1/5")
    oracle = Oracle(count.bound)
    delta = oracle.delta(Fraction(2))
    worst = min(oracle.accuracies(Fraction(1)).values())
    claims: list[tuple[dict[str, Any], str]] = [
        ({"epsilon": "7/5"}, "privacy"),
        ({"epsilon": "1"}, "violation"),
        ({"exp_epsilon": 3}, "violation"),
        ({"exp_epsilon": 2, "delta": delta}, "privacy"),
        ({"exp_epsilon": 2, "delta": delta / 2}, "violation"),
        ({"epsilon": "1/2", "delta": "1/100"}, "violation"),
        ({"delta": "1/10"}, "privacy"),
        ({"alpha": 1, "beta": 1 - worst}, "accuracy"),
        ({"alpha": 1, "beta": (1 - worst) / 2}, "inaccuracy"),
    ]
    for at, (claim, kind) in enumerate(claims):
        found = count.certify(**claim)
        assert found.content["claim"]["kind"] == kind
        assert is_true(dict(found.content))
        found.write(tmp_path / f"{at}.json")
        assert checked(tmp_path / f"{at}.json") == (0, f"accepted: {found.establishes}\n")


def test_infinite_epsilon_and_its_refutation_of_a_claim() -> None:
    instance = instance_of("count", n=2)
    claim = instance.certify().content["claim"]
    assert (claim["kind"], claim["bound"]) == ("violation", "inf")
    assert instance.certify(epsilon=3).content["claim"]["kind"] == "violation"


# what is refused


Place = tuple[Any, Any]


def places(node: Any, inside: Any = None, key: Any = None) -> Iterator[Place]:
    """The places of everything that stands in a certificate: where it is, and under which key."""
    if inside is not None:
        yield inside, key
    for each, below in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from places(below, node, each)


def changed(certificate: dict[str, Any], random_: random.Random) -> dict[str, Any]:
    """A certificate with a number, operator, name, line, neighbour relation, form or word of the claim changed."""
    new: dict[str, Any] = json.loads(json.dumps(certificate))
    every = list(places(new[random_.choice(["claim", "program", "evidence"])]))
    lines = [part["lines"] for part in new["program"] if part["lines"]]
    kind = random_.randrange(8)
    if kind == 0:  # a number
        numbers = [(node, key) for node, key in every if type(node[key]) is int or re.match(r"-?\d", str(node[key]))]
        if numbers:
            node, key = random_.choice(numbers)
            node[key] = random_.choice([0, 1, 2, 3, -1, 7, 10**6, "1/2", "1/3", "39/10", random_.randint(0, 9)])
    elif kind == 1:  # an operator or a name
        line = random_.choice(random_.choice(lines))
        at = random_.randrange(len(line))
        line[at] = random_.choice([*checker.OPERATIONS, "x0", "d1", "v1", "v2", "v3", None, 1])
    elif kind == 2:  # a line
        part = random_.choice(lines)
        del part[random_.randrange(len(part))]
    elif kind == 3:
        random_.shuffle(random_.choice(lines))
    elif kind == 4:  # anything is moved, doubled or taken away
        node, key = random_.choice(every)
        other, from_ = random_.choice(every)
        if random_.randrange(3):
            node[key] = json.loads(json.dumps(other[from_]))
        else:
            del node[key]
    elif kind == 5:
        claim = new["claim"]
        pick = random_.choice([key for key in ("bound", "delta", "beta") if key in claim])
        claim[pick] = random_.choice([1, 2, 3, 4, 5, "7/2", "inf", "1/2", 0, "1/100", "39/10", [0, 1], [1, 1]])
    elif kind == 6:
        claim = new["claim"]
        change: dict[str, Any] = random_.choice(
            [
                {"n": random_.choice([1, 2, 3, 4])},
                {"neighbours": random_.choice(["replace-one", "unit-all", "unit-step"])},
                {"records": random_.choice([[[0]], [[0], [1], [2]], [[1], [0]]])},
                {"kind": random_.choice(list(checker.CLAIMS))},
                {"root": random_.randint(1, 3)},
                {"tight": True},
            ]
        )
        claim |= {key: value for key, value in change.items() if key in claim or key == "tight"}
    else:
        evidence = new["evidence"]
        pick = random_.choice(list(evidence))
        if pick == "rule":
            evidence["rule"] = random_.choice(list(checker.EVIDENCE))
        elif pick == "units":
            evidence["units"] = not evidence["units"]
        else:
            random_.shuffle(evidence[pick])
    return new


def accepted(certificate: dict[str, Any]) -> bool:
    """Whether the checker accepts; every other way out than a refusal is a fault."""
    try:
        checker.check(certificate)
    except (checker.Refused, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return False
    return True


def bases() -> list[Certificate]:
    """Small certificates of every kind."""
    count = instance_of("randomized_response_count", n=3, lam="1/5")
    return [
        count.certify(),
        count.certify(exp_epsilon=2),
        count.certify(exp_epsilon=3, delta="1/10"),
        count.certify(alpha=1, beta="1/5"),
        instance_of("randomized_response", n=3, lam="1/5").certify(),
        instance_of("shuffled_randomized_response", n=2, lam="1/5").certify(),
        instance_of("above_threshold", n=2, k=2, threshold=1, ratio_threshold="1/2", ratio_query="1/2").certify(),
        instance_of(
            "sparse_vector",
            n=2,
            cutoff=1,
            k=1,
            threshold=1,
            ratio_threshold="1/2",
            margin=0,
            ratio_query="1/2",
        ).certify(),
        listed_neighbours().certify(),
        instance_of("randomized_response_count", n=2, lam="1/(1+exp(1/2))").certify(),
        instance_of("randomized_response_count", n=2, lam="1/(1+exp(1))").certify(delta="1/10"),
        instance_of("xor_randomized_response", n=2, lam="1/(1+exp(1/3))").certify(exp_epsilon="exp(1/4)"),
    ]


def listed_neighbours() -> Instance:
    """An instance whose neighbours are given by a function."""
    bound = instance_of("randomized_response", n=2, lam="1/5").bound
    return Instance(bound.program.bind(2, neighbours=lambda x: [(x[0], 1 - x[1])], lam="1/5"))


def test_changed_certificates_are_refused_or_true() -> None:
    random_, every = random.Random(7), bases()
    still = 0
    for _ in range(8_000 if FULL else 300):  # 10,000 with those of audits and of every n, in their files
        new = changed(dict(random_.choice(every).content), random_)
        if not accepted(new):
            continue
        still += 1
        try:
            assert is_true(new), json.dumps(new, indent=1)
        except Impossible:
            raise AssertionError(json.dumps(new, indent=1)) from None
    assert still > 10


def test_what_is_not_json_is_called_so(tmp_path: Path) -> None:
    for content in (b"", b"hello", b"{}]"):
        (tmp_path / "bad.json").write_bytes(content)
        assert checked(tmp_path / "bad.json")[1].startswith("refused: this is not JSON: ")


def test_endless_and_missing_files_are_refused(tmp_path: Path) -> None:
    for path in ("/dev/zero", str(tmp_path / "missing"), str(tmp_path)):
        assert checked(Path(path))[0] == 1


def test_neighbours_by_a_function_are_listed() -> None:
    found = listed_neighbours().certify()
    claim = found.content["claim"]
    assert (claim["kind"], claim["bound"], claim["tight"]) == ("privacy", 4, True)
    assert claim["neighbours"][0] == [[[0], [0]], [[0], [1]]]
    assert is_true(dict(found.content))
