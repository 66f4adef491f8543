"""Certificates: accepted by the checker where they are true, refused where they are changed into what is false."""

from __future__ import annotations

import ast
import json
import math
import random
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from certificate_changes import bases, changed, instance_of, listed_neighbours
from certificate_oracle import Impossible, is_true
from certificate_oracle import number as written
from conftest import FULL
from efficacy_programs import conditioned, conditioned_vector
from expectations import Oracle, bind, expectations, label, number
from tightdp import Bit, Int, discrete_gaussian, flip, geometric, mechanism, observe
from tightdp.errors import ParameterError, QueryError
from tightdp.exact.field import exp
from tightdp.session.certify import WORK, load_checker
from tightdp.session.instance import Instance

CHECKER = Path(__file__).parents[2] / "proofs" / "checker.py"
EXAMPLES = sorted((CHECKER.parent / "certificates").glob("*.json"))
checker = load_checker()


def checked(path: Path, by: Path = CHECKER) -> tuple[int, str]:
    """What the checker says of a file, run as a program of its own that cannot see this package."""
    done = subprocess.run(
        [sys.executable, "-I", str(by), str(path)], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    return done.returncode, done.stdout


# the checker


LINES = {"checker": 339, "program": 162, "datasets": 352, "alignment": 400, "forms": 129, "duals": 137}
"""How many lines the files of the checker have at most."""


def test_every_file_of_the_checker_is_counted() -> None:
    assert {path.stem for path in CHECKER.parent.glob("*.py")} == {*LINES}


@pytest.mark.parametrize(("name", "lines"), LINES.items())
def test_the_checker_imports_the_standard_library_only_and_is_short(name: str, lines: int) -> None:
    text = CHECKER.with_name(f"{name}.py").read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(text)))
    imported = {alias.name.partition(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert imported <= sys.stdlib_module_names | ({"checker"} if name != "checker" else set())
    assert len(text.splitlines()) <= lines
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert called.isdisjoint({"eval", "exec", "compile", "__import__"})


def test_the_files_are_enough_elsewhere_and_one_that_is_missing_is_named(tmp_path: Path) -> None:
    for path in CHECKER.parent.glob("*.py"):
        shutil.copy(path, tmp_path)
    example, elsewhere = CHECKER.parent / "certificates" / "above_threshold_n3.json", tmp_path / "checker.py"
    assert checked(example, elsewhere) == checked(example)
    (tmp_path / "forms.py").unlink()
    assert checked(example, elsewhere) == (1, "refused: forms.py is not beside checker.py\n")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_committed_examples_are_accepted(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    claim = content["claim"]
    status, said = checked(path)
    assert (status, said.partition(":")[0]) == (0, "accepted")
    few = 300 if FULL else 100
    if "program" in content and claim["n"] != "all" and len(claim["records"]) ** claim["n"] <= few:
        assert is_true(content)


def test_there_are_examples_of_every_rule() -> None:
    contents = [json.loads(path.read_text(encoding="utf-8")) for path in EXAMPLES]
    assert {content["evidence"]["rule"] for content in contents} == {
        "datasets",
        "witness",
        "forms",
        "dual",
        "responses",
        "table",
    }
    kinds = {content["claim"]["question"] for content in contents}
    assert kinds == {*checker.CLAIMS}
    assert any("root" in content["claim"] for content in contents)


# what is certified

SMALL = [
    pytest.param(name, expected, id=label(name, expected), marks=pytest.mark.slow(seconds=1) if at % 2 else ())
    for at, (name, expected) in enumerate(expectations())
    if "error" not in expected and (FULL or expected["parameters"]["n"] <= 3)
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("name", "expected"), SMALL)
def test_answers_about_the_programs_are_certified(name: str, expected: dict[str, Any]) -> None:
    instance = Instance(bind(name, expected))
    if expected["query"] == "distribution":
        found = instance.certify(x=expected["x"])
        assert found.establishes.endswith("; by a theorem")
        assert is_true(dict(found.content)) or expected["parameters"]["n"] > 3
    elif expected["query"] == "delta":
        found = instance.certify(exp_epsilon=expected["exp_epsilon"], delta=expected["delta"])
        assert found.content["claim"]["question"] == "privacy"
    elif expected["query"] == "accuracy":
        found = instance.certify(alpha=expected["alpha"], beta=1 - Fraction(expected["one_minus_beta"]))
        claim = found.content["claim"]
        assert (claim["question"], claim["attained"]) == ("accuracy", True)
    else:
        found = instance.certify(delta=expected.get("delta", 0))
        claim = found.content["claim"]
        power = exp(Fraction(1, claim.get("root", 1)))
        tight = math.inf if claim["bound"] == "inf" else written(claim["bound"], power)
        assert tight == number(expected["exp_epsilon"])
        assert claim["question"] == ("violation" if claim["bound"] == "inf" else "privacy")
        assert claim.get("attained") or claim["bound"] in (1, "inf")
    assert checker.check(json.loads(found.text), WORK) == found.establishes


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


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("name", "parameters"), LARGE, ids=[name for name, _ in LARGE])
def test_many_clients_are_certified_by_forms(name: str, parameters: dict[str, Any]) -> None:
    instance = instance_of(name, **parameters)
    found = instance.certify()
    assert found.content["evidence"]["rule"] == "forms"
    assert found.content["claim"]["attained"]
    assert written(found.content["claim"]["bound"]) == instance.privacy().exp_epsilon


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
        assert found.content["claim"]["question"] == kind
        assert is_true(dict(found.content))
        found.write(tmp_path / f"{at}.json")
        assert checked(tmp_path / f"{at}.json") == (0, f"accepted: {found.establishes}\n")


def test_delta_at_an_epsilon_is_attained_where_it_is_tight() -> None:
    count = instance_of("randomized_response_count", n=4, lam="1/5")
    tight = count.delta(exp_epsilon=2)
    made = count.certify(exp_epsilon=2, delta=tight.delta)
    assert made.establishes.endswith(", attained; by a theorem")
    assert "attained" not in count.certify(exp_epsilon=2, delta=Fraction(tight.delta) * 2).establishes
    below = count.certify(exp_epsilon=2, delta=Fraction(tight.delta) / 2)
    assert below.establishes.startswith("violation: ")
    assert all(map(is_true, (dict(made.content), dict(below.content))))


def test_infinite_epsilon_and_its_refutation_of_a_claim() -> None:
    instance = instance_of("count", n=2)
    claim = instance.certify().content["claim"]
    assert (claim["question"], claim["bound"]) == ("violation", "inf")
    assert instance.certify(epsilon=3).content["claim"]["question"] == "violation"


def test_a_budget_that_does_not_fit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "WORK", 1)
    with pytest.raises(QueryError, match="takes more than 1,000 times the work that a checker does unasked, 1 steps"):
        instance_of("randomized_response_count", n=9, lam="1/5").certify(delta="1/10")


# what is refused


def accepted(certificate: dict[str, Any]) -> bool:
    """Whether the checker accepts; every other way out than a refusal is a fault."""
    try:
        checker.check(certificate)
    except (checker.Refused, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return False
    return True


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
    assert (claim["question"], claim["bound"], claim["attained"]) == ("privacy", 4, True)
    assert claim["neighbours"][0] == [[[0], [0]], [[0], [1]]]
    assert is_true(dict(found.content))


def test_moments_of_laws_with_powers_of_e() -> None:
    """The closed form of one answer, whose odds are e^(1/2) to 1: (T^3 + 1) / (T (T + 1)) = (1 - T + T^2) / T."""
    one = instance_of("randomized_response", n=1, lam="1/(1+exp(1/2))")
    found = one.certify(order=2)
    assert found.content["claim"]["bound"] == {"above": [1, -1, 1], "below": [0, 1]}
    assert found.establishes.endswith(", attained; by a theorem")
    for bound, question in (("1256/1000", "moment"), ("1255/1000", "larger moment"), ("exp(1/4)", "moment")):
        assert one.certify(order=2, exp_moment=bound).content["claim"]["question"] == question
    certificate = json.loads(found.text)
    with pytest.raises(checker.Refused, match="the witness does not show it"):
        checker.check(
            {**certificate, "claim": certificate["claim"] | {"bound": {"above": [1, -1, 2], "below": [0, 2]}}}
        )


def test_laws_and_moments_as_they_are_asked_for() -> None:
    count = instance_of("randomized_response_count", n=3, lam="1/5")
    tight = count.renyi(2).exp_moment
    assert count.certify(order=2).content["claim"]["bound"] == str(tight)
    assert count.certify(order=2).establishes.endswith(", attained; by a theorem")
    assert count.certify(order=2, exp_moment=tight + 1).establishes.startswith("moment: ")
    assert count.certify(order=2, exp_moment=tight - 1).establishes.startswith("larger moment: ")
    assert count.certify(curve=True).establishes.endswith(", attained; by a theorem")
    assert is_true(dict(count.certify(curve=True).content))
    points = count.certify(curve=True).content["claim"]["points"]
    assert [(Fraction(t), Fraction(delta)) for t, delta in points] == [*count.curve().points]
    law = count.certify(x=[0, 1, 1]).content["claim"]["law"]
    assert [(event[-2], Fraction(p)) for event, p in law] == [([y], p) for y, p in count.distribution([0, 1, 1]).law]
    with pytest.raises(ParameterError, match="holds one claim"):
        count.certify(order=2, x=[0, 1, 1])
    with pytest.raises(ParameterError, match="bounds the moment of an order"):
        count.certify(exp_moment=2)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "parameters", "pairs"),
    [
        ("randomized_response", {"n": 3, "lam": "1/5"}, None),
        ("randomized_response_count", {"n": 4, "lam": "1/5"}, [[1, 0], [0, 1], [0, 1], [1, 0]]),
        ("xor_randomized_response", {"n": 3, "lam": "1/(1+exp(1/3))"}, None),
        ("shuffled_randomized_response", {"n": 3, "lam": "1/5"}, None),
        ("name_and_shame", {"n": 4}, None),
        ("all_or_nothing", {"n": 3, "p": "1/3"}, None),
    ],
)
def test_efficacies(name: str, parameters: dict[str, Any], pairs: Any) -> None:
    """Those of the audit, by a checker that goes through the runs; no share beside it is accepted."""
    instance = instance_of(name, **parameters)
    for guesses in range(1, parameters["n"] + 1):
        made = json.loads(instance.certify(guesses=guesses, pairs=pairs).text)
        assert is_true(made)
        for share in ("1/2", "3/4", 1, "501/1000"):
            other = {**made, "claim": made["claim"] | {"share": share}}
            assert accepted(other) == is_true(other)


@mechanism(record=Bit)
def certain(x, p):
    """Observed for certain on some datasets, and with a probability that has powers of e on others."""
    shift = flip(p)
    observe(x[0] or shift)
    return sum(x) % 2 ^ shift


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mechanism_", [conditioned, conditioned_vector, certain])
def test_efficacies_where_datasets_have_weights_of_their_own(mechanism_: Any) -> None:
    given = {"p": "1/(2+exp(1/2))"} if mechanism_ is certain else {}
    for n, guesses in ((2, 1), (3, 1), (3, 2)):
        made = json.loads(mechanism_.bind(n=n, **given).certify(guesses=guesses).text)
        assert is_true(made)
        for share in ("1/2", "3/4", 1, "501/1000"):
            other = {**made, "claim": made["claim"] | {"share": share}}
            assert accepted(other) == is_true(other)


@mechanism(record=Bit)
def with_gaussian_noise(x):
    return sum(x) + discrete_gaussian(0, 1)


def test_efficacies_that_have_no_certificate() -> None:
    count = instance_of("randomized_response_count", n=3, lam="1/5")
    with pytest.raises(ParameterError, match="holds one claim"):
        count.certify(guesses=1, exp_epsilon=2)
    with pytest.raises(ParameterError, match="guesses is 4"):
        count.certify(guesses=4)
    with pytest.raises(QueryError, match="certify is not known for programs with Gaussian noise"):
        with_gaussian_noise.bind(n=2).certify(guesses=1)


@pytest.mark.parametrize("order", ["3/2", "9/8", "5/2", "99/16"])
def test_moments_of_orders_that_are_not_whole(order: str) -> None:
    """Their least upper ends, by powers to 70 digits; and what lies below is refuted."""
    count = instance_of("randomized_response_count", n=2, lam="1/5")
    made = dict(count.certify(order=order).content)
    bound = Fraction(made["claim"]["bound"])
    assert is_true(made)
    below = json.loads(json.dumps(made))
    below["claim"]["bound"] = str(bound - Fraction(3, 10**15))
    assert not is_true(below)
    assert not accepted(below)
    refuted = count.certify(order=order, exp_moment=bound - Fraction(1, 10**12))
    assert refuted.content["claim"]["question"] == "larger moment"
    assert is_true(dict(refuted.content))


def test_orders_that_no_checker_takes_are_named() -> None:
    count = instance_of("randomized_response_count", n=2, lam="1/5")
    for order in ("101/100", "18/17", 100, math.inf):
        with pytest.raises(QueryError, match="for orders p/q with p up to 99 and q up to 16"):
            count.certify(order=order)
    with pytest.raises(QueryError, match="the moment is infinite"):
        instance_of("count", n=2).certify(order="3/2")
    with pytest.raises(QueryError, match="are for odds without powers of e\\n  give a whole order"):
        instance_of("randomized_response_count", n=2, lam="1/(1+exp(1/2))").certify(order="3/2")


@mechanism(record=Int(0, 3))
def stability(x: Any) -> Any:
    """Noisy counts of what occurs, above a threshold."""
    counts = [sum(1 for record in x if record == b) for b in range(4)]
    noisy = [count + geometric(0, "1/2") for count in counts]
    return tuple(z if count > 0 and z > 3 else None for count, z in zip(counts, noisy, strict=True))


def test_what_a_draw_is_for_is_published_before_the_next() -> None:
    """So no combination of draws is gone through: the work that is allowed unasked is enough."""
    made = stability.bind(2).certify(delta="1/8")
    assert checker.check(made.to_dict()).startswith("privacy")
    assert [bool(part["publishes"]) for part in made.content["program"]["parts"] if part["lines"]][-3:] == [True] * 3
