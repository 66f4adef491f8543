"""The checker that is extracted from the proofs says the same as the portable one.

It is built with Debian's Coq, by `make -C proofs/coq`; without Coq these tests are skipped.
"""

from __future__ import annotations

import copy
import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tightdp
from certificate_bombs import BOMBS, MEASURE, by_forms, sealed
from certificate_changes import (
    bases,
    changed,
    changed_audit,
    changed_composition,
    changed_every,
    changed_optimum,
    optima,
)
from conftest import FULL
from expectations import bind, expectations, mechanisms
from forged_evidence import FORGED
from forgeries import COIN, EXAMPLES, REFUSED, SOME, guessed
from tightdp.errors import TightdpError
from tightdp.session.certify import load_checker
from tightdp.session.certify_alone import certify_audit
from tightdp.session.files import import_file
from tightdp.session.instance import Instance

checker = load_checker()
PROOFS = EXAMPLES.parent / "coq"
pytestmark = [
    pytest.mark.slow(seconds=120),
    pytest.mark.skipif(not (shutil.which("coqc") and shutil.which("ocamlfind")), reason="Coq or OCaml is not there"),
]


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extracted checker, built from the proofs, which assume nothing."""
    place = tmp_path_factory.mktemp("coq")
    for file in (*PROOFS.glob("*.v"), PROOFS / "check.ml", PROOFS / "work.ml", PROOFS / "Makefile"):
        shutil.copy(file, place)
    done = subprocess.run(["make", "-C", str(place)], capture_output=True, text=True, check=True)
    assert done.stdout.count("Closed under the global context") == 32
    assert "Axioms" not in done.stdout
    return place / "check"


def ask(proved: Path, text: str, place: Path) -> tuple[int, str]:
    """What it says of a file."""
    path = place / "certificate.json"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([str(proved), str(path), "1000"], capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout.count("\n") == 1
    return done.returncode, done.stdout.removesuffix("\n")


def portable(text: str) -> str | None:
    """What the portable checker says, None where it refuses."""
    try:
        return f"accepted: {load_checker().check(json.loads(text), 1000)}"
    except (checker.Refused, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None


def agree(proved: Path, content: dict[str, Any], place: Path) -> str:
    """Compare both, and return what happened."""
    text = json.dumps(content)
    status, said = ask(proved, text, place)
    other = portable(text)
    assert (said if status == 0 else None) == other, (said, other, text)
    return "accepted" if status == 0 else "refused"


def test_examples(proved: Path, tmp_path: Path) -> None:
    found = Counter(agree(proved, json.loads(each.read_text()), tmp_path) for each in EXAMPLES.glob("*.json"))
    assert found == {"accepted": len(list(EXAMPLES.glob("*.json")))}


def test_answers_about_the_programs(proved: Path, tmp_path: Path) -> None:
    found: Counter[str] = Counter()
    for name, expected in expectations():
        if expected["query"] in ("privacy", "epsilon") and "error" not in expected and expected["parameters"]["n"] <= 3:
            try:
                made = Instance(bind(name, expected)).certify(delta=expected.get("delta", 0))
            except TightdpError:
                continue
            found[agree(proved, json.loads(made.text), tmp_path)] += 1
        elif expected["query"] == "accuracy" and expected["parameters"]["n"] <= 3:
            least = 1 - Fraction(expected["one_minus_beta"])
            made = Instance(bind(name, expected)).certify(alpha=expected["alpha"], beta=(least + 1) / 2)
            found[agree(proved, json.loads(made.text), tmp_path)] += 1
    for path in sorted((EXAMPLES.parents[1] / "programs" / "gallery").glob("*.py")):
        file = import_file(path)
        for version in ("meant", "shipped", "mended"):
            made = getattr(file, version).bind(**file.PARAMETERS).certify(**file.CLAIM)
            found[agree(proved, json.loads(made.text), tmp_path)] += 1
    assert found["refused"] == 0
    assert found["accepted"] > 120


def test_forgeries(proved: Path, tmp_path: Path) -> None:
    forged = [sealed(copy.deepcopy(each)) for each in REFUSED.values()]
    for name, change in FORGED.values():
        given = json.loads((EXAMPLES / f"{name}.json").read_text())
        change(given)
        forged.append(given)
    cut: dict[str, Any] = {"states": [[]], "before": [], "after": []}
    for each in list(forged):
        if each.get("evidence") == {"rule": "datasets"} and each["claim"].get("question") == "privacy":
            evidence = by_forms([cut], [[[]], [[0], [1]] if "x0" in json.dumps(each["program"]) else [[]]])
            forged.append({**each, "evidence": evidence})
    found = Counter(agree(proved, each, tmp_path) for each in forged)
    assert found["accepted"] == 0
    assert found["refused"] > 100


def test_guesses_where_nothing_is_published(proved: Path, tmp_path: Path) -> None:
    for lines in (COIN, SOME):
        blind = guessed("1/2", lines)
        blind["program"]["parts"][0]["publishes"] = []
        assert agree(proved, sealed(blind), tmp_path) == "accepted"
        assert "; nothing is published; " in (portable(json.dumps(blind)) or "")


def test_alignment_is_not_proved_yet(proved: Path, tmp_path: Path) -> None:
    made = mechanisms("geometric_count")["geometric_count"].bind(n=tightdp.ALL, ratio="1/2").certify()
    assert "which Coq has not checked yet" in (portable(made.text) or "")
    assert ask(proved, made.text, tmp_path)[0] == 1


def test_changed_certificates(proved: Path, tmp_path: Path) -> None:
    random_ = random.Random(11)
    some = [each.content for each in bases()]
    every = json.loads((EXAMPLES / "xor_randomized_response_every_n.json").read_text())
    asked = {"canaries": 6, "guesses": 6, "correct": 2, "exp_epsilon": 1, "delta": "1/50"}
    audit = certify_audit(tightdp.audit(**asked)).content
    runs = tightdp.certify_composition([(2, "1/100", 2), ("3/2", 0, 3)], 4).content
    best = list(optima())
    found: Counter[str] = Counter()
    for at in range(10_000 if FULL else 1_000):
        if at % 10 == 1:
            new = changed_audit(audit, random_)
        elif at % 10 == 2:
            new = changed_composition(runs, random_)
        elif at % 10 == 3:
            new = copy.deepcopy(random_.choice(best))
            changed_optimum(new, random_)
        else:
            new = changed_every(every, random_) if at % 5 == 0 else changed(dict(random_.choice(some)), random_)
        found[agree(proved, new, tmp_path)] += 1
    assert min(found["refused"], found["accepted"]) > 20


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_end_soon_and_in_little_memory(proved: Path, name: str, tmp_path: Path) -> None:
    """Some are true, and within what it may use; both checkers count work, but not in the same unit."""
    path = tmp_path / "bomb.json"
    path.write_text(BOMBS[name](), encoding="utf-8")
    words = [sys.executable, "-I", "-c", MEASURE, str(proved), str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    said, status, seconds, kilobytes = done.stdout.rsplit(maxsplit=3)
    assert said.startswith(("accepted: ", "refused: ")[int(status)])
    assert float(seconds) < 4
    assert int(kilobytes) < 200_000
