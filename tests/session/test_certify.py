"""Certificates: accepted by the checker where they are true, refused where they are changed into what is false."""

from __future__ import annotations

import ast
import json
import random
import re
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from certificate_oracle import Impossible, is_true
from conftest import FULL
from expectations import Oracle, bind, expectations, label, number
from tightdp.session.certify import Certificate, as_json, load_checker
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
    assert len(text.splitlines()) < 400
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert called.isdisjoint({"eval", "exec", "compile", "__import__"})


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_committed_examples_are_accepted(path: Path) -> None:
    status, said = checked(path)
    assert (status, said.partition(":")[0]) == (0, "accepted")
    content = json.loads(path.read_text(encoding="utf-8"))
    few = 300 if FULL else 100
    if content.get("clients", "all") != "all" and len(content["records"]) ** content["clients"] <= few:
        assert is_true(content)


def test_there_are_examples_of_every_rule() -> None:
    contents = [json.loads(path.read_text(encoding="utf-8")) for path in EXAMPLES]
    assert {content["evidence"]["rule"] for content in contents} == {"datasets", "witness", "forms", "dual"}
    kinds = {content["claim"]["kind"] for content in contents}
    assert kinds == {"privacy", "violation", "accuracy", "inaccuracy", "audit"}
    assert any("T" in content for content in contents)


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
        assert found.content["claim"] == {"kind": "accuracy", "beta": found.content["claim"]["beta"], "tight": True}
    else:
        found = instance.certify(delta=expected.get("delta", 0))
        claim = found.content["claim"]
        assert number(claim["bound"]) == number(expected["exp_epsilon"])
        assert claim["kind"] == ("violation" if claim["bound"] == "inf" else "privacy")
        assert claim.get("tight") or claim["bound"] in ("1", "inf")
    assert checker.check(json.loads(as_json(found))) == found.establishes


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
    assert number(found.content["claim"]["bound"]) == instance.privacy().exp_epsilon


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
    assert instance.certify().content["claim"] == {"kind": "violation", "bound": "inf"}
    assert instance.certify(epsilon=3).content["claim"]["kind"] == "violation"


# what is refused


def changed(certificate: dict[str, Any], random_: random.Random) -> dict[str, Any]:
    """A certificate with a number, operator, name, line, renaming or word of the claim changed."""
    new = json.loads(json.dumps(certificate))
    lines, evidence, claim = new["program"], new["evidence"], new["claim"]
    at = random_.randrange(len(lines))

    def other_number(found: re.Match[str]) -> str:
        return random_.choice(["0", "1", "2", "3", "1/2", "1/3", "-1", str(random_.randint(0, 9))])

    kind = random_.randrange(9)
    if kind == 0:
        numbers = list(re.finditer(r"(?<![\w/])-?\d+(/\d+)?(?![\w/])", lines[at]))
        if numbers:
            pick = random_.choice(numbers)
            lines[at] = lines[at][: pick.start()] + other_number(pick) + lines[at][pick.end() :]
    elif kind == 1:
        lines[at] = re.sub(r"= (\w+)", lambda found: f"= {random_.choice(sorted(checker.OPERATIONS))}", lines[at])
    elif kind == 2:
        names = sorted(set(re.findall(r"\b[xdv]\d+\b", " ".join(lines))))
        lines[at] = re.sub(r"\b[xdv]\d+\b", lambda found: random_.choice([found[0], found[0], *names]), lines[at])
    elif kind == 3:
        del lines[at]
    elif kind == 4:
        other = random_.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 5 and evidence.get("why"):
        rows = [row for part in evidence["why"] for row in part]
        rows += [row for cut in evidence["cuts"] for row in cut if row]
        change = random_.randrange(4)
        if change == 0 and rows:
            row = random_.choice(rows)
            row[random_.randrange(len(row))] = random_.choice([0, 1, 2, -1, 7, 10**6, row[0], [0, 1], [2, -1]])
        elif change == 1:
            part = random_.choice(evidence["why"])
            del part[: random_.randint(0, 2)]
        elif change == 2:
            del random_.choice(evidence["cuts"])[: random_.randint(1, 3)]
        else:
            evidence["cuts"] = random_.choice([[[] for _ in evidence["cuts"]], evidence["cuts"][::-1]])
            evidence["units"] = bool(random_.randrange(2))
    elif kind == 6:
        pick = random_.choice([key for key in ("bound", "delta", "alpha", "beta") if key in claim])
        claim[pick] = random_.choice(
            ["1", "2", "3", "4", "5", "7/2", "inf", "1/2", "0", "1/100", "39/10", "T", "(T+1)/(2)"]
        )
    elif kind == 7:
        for at, text in enumerate(evidence.get("witness", [])):
            evidence["witness"][at] = re.sub(r"\d+", other_number, text, count=random_.randint(0, 2))
        evidence["published"] = [
            text and random_.choice([None, "()", "(0,)", "(1,)", text]) for text in evidence.get("published", [])
        ]
    else:
        pick = random_.randrange(6)
        new["clients"] = random_.choice([1, 2, 3, 4]) if pick == 0 else new["clients"]
        new["neighbours"] = random_.choice(["replace-one", "unit-all", "unit-step"]) if pick == 1 else new["neighbours"]
        new["records"] = random_.choice([["(0,)"], ["(0,)", "(1,)", "(2,)"]]) if pick == 2 else new["records"]
        claim["kind"] = random_.choice(["privacy", "violation", "accuracy"]) if pick == 3 else claim["kind"]
        evidence["rule"] = random_.choice(["forms", "datasets", "witness"]) if pick == 3 else evidence["rule"]
        claim["tight"] = bool(random_.randrange(2)) if pick == 4 else claim.get("tight", False)
        new |= {"T": f"exp(1/{random_.randint(1, 3)})"} if pick == 5 and "T" in new else {}
    return new


def accepted(certificate: dict[str, Any]) -> bool:
    """Whether the checker accepts; every other way out than a refusal is a fault."""
    try:
        checker.check(certificate)
    except (checker.Refused, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
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


def program(*lines: str) -> dict[str, Any]:
    """A certificate of ε = 0 for some lines."""
    return {
        "claim": {"kind": "privacy", "bound": "1"},
        "clients": 1,
        "records": ["(0,)", "(1,)"],
        "neighbours": "replace-one",
        "program": list(lines),
        "evidence": {"rule": "datasets"},
    }


def remembering(at: int) -> list[str]:
    """The lines of a client that leaves all records so far behind."""
    return [f"client {at} v0", f"x{at} = input 0", "v0 = mul 2 v0", f"v0 = add v0 x{at}"]


BAD = {
    "empty": "",
    "no-json": "{",
    "a-list": "[]",
    "deep": "[" * 100_000,
    "deep-value": json.dumps(program("v1 = neg " + "(" * 1000, "output v1")),
    "itself": json.dumps(program("v1 = add v1 1", "output v1")),
    "long-polynomials": json.dumps(
        program("v0 = add 0 0", *(line for at in range(99) for line in ("then", f"d{at} = draw {{ 0 T^9999 | 1 1 }}")))
    ),
    "no-polynomial": json.dumps(program("d1 = draw { 0 T^ | 1 1 }", "output d1")),
    "no-root": json.dumps(program("d1 = draw { 0 T | 1 1 }", "output d1")),
    "later": json.dumps(program("v1 = add v2 1", "v2 = add v1 1", "output v1")),
    "else-itself": json.dumps(program("v1 = else v1 1", "output v1")),
    "huge-number": json.dumps(program(f"v1 = add 1 {'9' * 1_000_000}", "output v1")),
    "grows": json.dumps(program("v0 = add 2 0", *(f"v{at + 1} = mul v{at} v{at}" for at in range(100)), "output v100")),
    "tuples": json.dumps(
        program("v0 = tuple 1", *(f"v{at + 1} = tuple v{at} v{at}" for at in range(99)), "output v99")
    ),
    "many-runs": json.dumps(
        program(
            *(f"d{at} = draw {{ 0 1 | 1 1 }}" for at in range(40)),
            f"output {' '.join(f'd{at}' for at in range(40))}",
        )
    ),
    "many-clients": json.dumps({**program("output "), "clients": 10**9}),
    "many-states": json.dumps(
        {
            **program("v0 = add 0 0", *(line for at in range(40) for line in remembering(at)), "output v0"),
            "clients": 40,
        }
    ),
    "negative": json.dumps(program("d1 = draw { 0 -1 | 1 2 }", "output d1")),
    "not-a-law": json.dumps(program("d1 = draw { 0 1/2 | 1 1/3 }", "output d1")),
    "no-odds": json.dumps(program("d1 = draw { 0 0 | 1 0 }", "output d1")),
    "two-sums": json.dumps(program("d1 = draw { 0 1 | 1 1 }", "d2 = draw d1 { 0: 0 1 | 1: 0 2 }", "output d2")),
    "fails": json.dumps(program("client 0", "x0 = input 0", "v1 = eq x0 1", "fails v1", "output ")),
    "never": json.dumps(program("v1 = eq 0 1", "observe v1", "output ")),
    "undefined": json.dumps(program("v1 = div 1 0", "output v1")),
    "strings": json.dumps(program('v1 = mul "a" 99999999999', "output v1")),
    "no-output-of-an-error": json.dumps({**program("v1 = add 1 1"), "claim": {"kind": "accuracy", "beta": "1"}}),
    "false": json.dumps(program("client 0", "x0 = input 0", "output x0")),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_with_one_line_in_bounded_time(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(BAD[name], encoding="utf-8")
    start = time.monotonic()
    status, said = checked(path)
    assert (status, said.partition(":")[0]) == (1, "refused")
    assert len(said) < 300
    assert time.monotonic() - start < 60


def test_what_is_not_json_is_called_so(tmp_path: Path) -> None:
    for content in (b"", b"hello", b"\xff\xfe{}"):
        (tmp_path / "bad.json").write_bytes(content)
        assert checked(tmp_path / "bad.json")[1].startswith("refused: this is not JSON: ")


def test_endless_and_missing_files_are_refused(tmp_path: Path) -> None:
    for path in ("/dev/zero", str(tmp_path / "missing"), str(tmp_path)):
        assert checked(Path(path))[0] == 1


def test_neighbours_by_a_function_are_listed() -> None:
    found = listed_neighbours().certify()
    assert found.content["claim"] == {"kind": "privacy", "bound": "4", "tight": True}
    assert found.content["neighbours"][0] == "(((0,), (0,)), ((0,), (1,)))"
    assert is_true(dict(found.content))
