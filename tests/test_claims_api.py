"""The claims API: verdicts come from evidence, counterexamples are confirmed without the engine, reals are
certified.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy

from tightdp.claims import (
    ClaimsDifferError,
    Correction,
    Fails,
    Outcome,
    Paper,
    ProofError,
    UndecidedError,
    brute,
    certain,
    check_file,
    exhaustive,
    exp,
    grid,
    identity,
    limit,
    log,
    positive,
    program,
    random_dp_law,
    random_law,
    real,
    run_claims,
    seeds,
    sqrt,
)
from tightdp.claims.files import claim_files
from tightdp.claims.independence import SharedCodeError, without_engine
from tightdp.claims.page import html, markdown
from tightdp.claims.run import run_paper
from tightdp.cli import main
from tightdp.errors import ParameterError

ROOT = Path(__file__).parent.parent
OAKLEY = ROOT / "proofs" / "oakley2024"
X = sympy.Symbol("x")

rr = program(str(ROOT / "programs" / "randomized_response.py"))


def outcome(**arguments: Any) -> Outcome:
    """The outcome of a single claim."""
    paper = Paper("test2026")
    paper.claim("T1", "Thm 1", "A statement.", **arguments)
    return next(iter(run_paper(paper)))


def below(bar: int) -> Callable[..., bool | Fails]:
    """A check that holds below a bar."""
    return lambda n: n < bar or Fails(f"{n} is not below {bar}", found=n)


def by_words() -> None:
    """Squares are not negative."""
    positive(X**2 + 1, X, None, None, "x² + 1 > 0")


def wrong_step() -> None:
    """It is not so."""
    identity(X, X + 1, "x = x + 1")


def without_steps() -> None:
    """Nothing is checked."""


def without_words() -> None:
    identity(X, X, "x = x")


# verdicts


def test_instances_alone_are_never_a_proof() -> None:
    found = outcome(verdict="holds-on", instances=grid(n=range(5)), check=below(9))
    assert (found.verdict, found.evidence.checked, found.differs) == ("holds-on", 5, "")


def test_a_proof_is_a_proof() -> None:
    found = outcome(verdict="proved", proof=by_words)
    assert (found.verdict, found.differs) == ("proved", "")
    assert found.evidence.argument == "Squares are not negative."
    assert [step.what for step in found.evidence.steps] == ["x² + 1 > 0"]


@pytest.mark.parametrize("proof", [wrong_step, without_steps, without_words])
def test_a_broken_proof_proves_nothing(proof: Callable[[], None]) -> None:
    found = outcome(verdict="proved", proof=proof)
    assert found.verdict == "open"
    assert "ProofError" in found.differs


def test_a_failing_instance_outweighs_a_proof() -> None:
    found = outcome(verdict="proved", proof=by_words, instances=grid(n=range(5)), check=below(3))
    assert found.verdict == "refuted"
    assert "it fails at n = 3" in found.differs


def test_the_first_instance_that_fails_is_the_counterexample() -> None:
    found = outcome(verdict="refuted", instances=grid(n=range(9)), check=below(4), brute=below(4), at={"n": 4})
    assert (found.verdict, found.differs) == ("refuted", "")
    example = found.evidence.counterexample
    assert example is not None
    assert (example.instance, example.numbers, example.confirmed) == ({"n": 4}, {"found": 4}, True)


def test_another_counterexample_than_the_recorded_one_differs() -> None:
    found = outcome(verdict="refuted", instances=grid(n=(7, 4)), check=below(4), brute=below(4), at={"n": 4})
    assert "the counterexample is n = 7" in found.differs


def test_counterexamples_are_simplified() -> None:
    found = outcome(
        verdict="refuted",
        instances=grid(n=(9,)),
        check=below(4),
        brute=below(4),
        simplify=lambda n: [{"n": n - 1}],
        at={"n": 4},
    )
    assert found.differs == ""


@pytest.mark.parametrize(
    ("again", "says"),
    [
        (lambda n: True, "does not confirm"),
        (lambda n: Fails(found=n + 1), "brute force finds found = 1"),
        (lambda n: rr.bind(n=1, lam="1/5").privacy().exp_epsilon == 0, "SharedCodeError"),
        (None, "without `brute`"),
    ],
)
def test_a_refutation_needs_brute_force(again: Any, says: str) -> None:
    found = outcome(verdict="refuted", instances=grid(n=(0,)), check=lambda n: Fails(found=n), brute=again, at={"n": 0})
    assert says in found.differs


def test_corrections_have_their_own_verdict() -> None:
    right = Correction("It is below 9.", verdict="holds-on", instances=grid(n=range(9)), check=below(9))
    arguments = {"instances": grid(n=(4,)), "check": below(4), "brute": below(4), "at": {"n": 4}}
    assert outcome(verdict="corrected", corrected=right, **arguments).differs == ""
    wrong = Correction("It is below 2.", verdict="holds-on", instances=grid(n=range(9)), check=below(2))
    found = outcome(verdict="corrected", corrected=wrong, **arguments)
    assert found.verdict == "refuted"
    assert "its correction is refuted" in found.differs


def test_a_disproof_refutes_a_statement_about_limits() -> None:
    found = outcome(verdict="refuted", disproof=by_words, brute=below(1), at={"n": 2})
    assert (found.verdict, found.differs) == ("refuted", "")


def test_open_needs_nothing() -> None:
    assert outcome(verdict="open", reason="too hard").differs == ""


@pytest.mark.parametrize("answer", [None, 1, "yes"])
def test_a_check_has_to_answer(answer: Any) -> None:
    assert "return True" in outcome(verdict="holds-on", instances=grid(n=(1,)), check=lambda n: answer).differs


def test_instances_without_check_and_check_without_instances() -> None:
    assert "no check" in outcome(verdict="holds-on", instances=grid(n=(1,))).differs
    assert "no instances" in outcome(verdict="holds-on", check=below(1)).differs


def test_rows_combine_their_parts() -> None:
    paper = Paper("test2026")
    paper.claim("R1a", "", "a", verdict="proved", proof=by_words)
    paper.claim("R1b", "", "b", verdict="holds-on", instances=grid(n=(1,)), check=below(9))
    paper.claim("R1c", "", "c", verdict="refuted", disproof=by_words, brute=below(0), at={"n": 1}, extra=True)
    paper.row("R1", "Thm 1", "abc", parts=("R1a", "R1b", "R1c"))
    (found,) = run_paper(paper)
    assert (found.id, found.verdict, [part.id for part in found.parts]) == (
        "R1",
        "holds-on",
        ["R1a", "R1b", "R1c"],
    )
    (only,) = run_paper(paper, ids=["R1b"])
    assert only.id == "R1b"


def test_ids_and_verdicts_are_checked() -> None:
    paper = Paper("test2026")
    paper.claim("T1", "", "s", verdict="open")
    with pytest.raises(ParameterError, match="twice"):
        paper.claim("T1", "", "s", verdict="open")
    with pytest.raises(ParameterError, match="is not a verdict"):
        paper.claim("T2", "", "s", verdict="true")
    with pytest.raises(ParameterError, match="has no claim T9"):
        paper.find("T9")


def test_the_guard_lets_the_interpreter_pass_and_stops_the_engine() -> None:
    with without_engine():
        assert brute.exp_epsilon(rr, 2, lam="1/5") == 4
    with pytest.raises(SharedCodeError), without_engine():
        rr.bind(n=1, lam="1/5").privacy()
    assert sys.getprofile() is None


# steps of proofs


def test_identities() -> None:
    n, k = sympy.symbols("n k", positive=True, integer=True)
    identity((X + 1) ** 2, X**2 + 2 * X + 1, "square")
    identity(sympy.binomial(n, k) * k, n * sympy.binomial(n - 1, k - 1), "absorption")
    identity(Fraction(1, 3) + X, X + sympy.Rational(1, 3), "a fraction")
    with pytest.raises(ProofError):
        identity(X, X + sympy.Rational(1, 10**40), "almost")
    with pytest.raises(ProofError):
        identity(X, 0.5, "a float")


def test_signs() -> None:
    positive(X * (1 - X), X, 0, 1, "inside")
    positive((X - 1) ** 2, X, None, None, "a square", strict=False)
    positive(X * (1 - X), X, 0, 1, "with the ends", strict=False, closed=True)
    positive(1 / (1 + X), X, 0, None, "a quotient")
    positive((2 * X - 1) ** 2, X, 0, 1, "a square, 0 in the middle", strict=False)
    positive(X**3 - 3 * X + 2, X, 0, None, "a double root", strict=False)
    for wrong in (
        lambda: positive(X * (1 - X), X, 0, 1, "the ends are roots", closed=True),
        lambda: positive((X - sympy.Rational(1, 2)) ** 2, X, 0, 1, "a double root"),
        lambda: positive(X - sympy.Rational(1, 10**30), X, 0, 1, "a root near the end"),
        lambda: positive(1 / (X - sympy.Rational(1, 3)), X, 0, 1, "a pole", strict=False),
        lambda: positive(-X, X, 0, 1, "negative"),
        lambda: positive(-((2 * X - 1) ** 2), X, 0, 1, "negative but for one point", strict=False),
        lambda: positive(X * 0, X, 0, 1, "zero"),
    ):
        with pytest.raises(ProofError):
            wrong()


def test_limits_cases_and_comparisons() -> None:
    limit((1 + 1 / X) ** X, X, sympy.oo, sympy.E, "e")
    exhaustive(((1, 2), (3, 4)), lambda a, b: a < b, "increasing")
    certain(exp(1) < 3, "e < 3")
    for wrong in (
        lambda: limit(1 / X, X, sympy.oo, 1, "no"),
        lambda: exhaustive((1, 2), lambda n: n < 2, "no"),
        lambda: exhaustive((), lambda n: True, "no case"),
        lambda: certain(X > 0, "undecided"),
        lambda: certain(1, "not a truth value"),
    ):
        with pytest.raises(ProofError):
            wrong()


# certified reals


def test_reals_are_decided_at_the_precision_that_it_takes() -> None:
    near = Fraction(1, 10**50)
    assert exp(near) > 1 + near
    assert exp(near) < 1 + near + near * near
    assert sqrt(2) * sqrt(2) < 2 + near
    assert log(exp(Fraction(3, 7))) + near > Fraction(3, 7)
    assert exp(-40) > 0
    assert abs(log(Fraction(1, 2))) < Fraction(7, 10)
    assert 1 / exp(2) < Fraction(14, 100) < exp(-1) ** 2 + Fraction(1, 100)
    assert real(2) ** Fraction(1, 2) > 2 ** (real(1) / 2) - near
    assert real(3) <= 3
    assert real(0) >= 0


def test_equal_reals_are_never_decided() -> None:
    with pytest.raises(UndecidedError):
        _ = sqrt(2) * sqrt(3) < sqrt(6)
    with pytest.raises(TypeError):
        _ = exp(1) == exp(1)
    with pytest.raises(TypeError):
        real(0.5)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        (1 / real(0)).enclosure()


@pytest.mark.parametrize("value", [Fraction(-7, 3), Fraction(1, 9), Fraction(5), Fraction(123456, 7)])
def test_enclosures_hold_the_value(value: Fraction) -> None:
    low, high = exp(value if value < 100 else value / 1000).enclosure(10)
    assert low < high < low * (1 + Fraction(1, 10**8))
    assert float(low) == pytest.approx(math.exp(value if value < 100 else value / 1000))
    low, high = sqrt(value * value).enclosure(12)
    assert low <= abs(value) <= high


# instances and draws


def test_grids_are_exact_and_ordered() -> None:
    assert grid(n=(1, 2), lam=("1/5", "0.5"))[:2] == [
        {"n": 1, "lam": Fraction(1, 5)},
        {"n": 1, "lam": Fraction(1, 2)},
    ]
    assert seeds(2, n=3) == [{"seed": 0, "n": 3}, {"seed": 1, "n": 3}]


def test_draws_repeat_and_keep_their_promise() -> None:
    assert random_law(3, "ab", 4) == random_law(3, "ab", 4) != random_law(4, "ab", 4)
    for seed in range(5):
        laws = random_dp_law(seed, 2, outputs=4, exp_epsilon=Fraction(3, 2), delta=Fraction(1, 20))
        assert all(sum(law.values()) == 1 for law in laws.values())
        worst = max(
            sum((max(Fraction(0), p - Fraction(3, 2) * laws[b][y]) for y, p in laws[a].items()), Fraction(0))
            for a in laws
            for b in laws
            if sum(i != j for i, j in zip(a, b, strict=True)) == 1
        )
        assert 0 < worst <= Fraction(1, 20)


# files, the command, the page

EXAMPLE = """
from fractions import Fraction
from tightdp import Bit, flip, mechanism
from tightdp.claims import Paper, grid

paper = Paper("mine")

@mechanism(record=Bit)
def answer(x, lam):
    return 1 - x[0] if flip(lam) else x[0]

@paper.claim("A1", "Thm 1", "e^ε = (1 - λ)/λ.", verdict=VERDICT, instances=grid(n=(1,), lam=("1/5", "1/3")))
def _(n, lam):
    return answer.bind(n=n, lam=lam).privacy().exp_epsilon == (1 - lam) / lam
"""


@pytest.fixture
def example(tmp_path: Path) -> Callable[[str], Path]:
    def write(verdict: str) -> Path:
        path = tmp_path / verdict / "claims.py"
        path.parent.mkdir()
        path.write_text(EXAMPLE.replace("VERDICT", repr(verdict)), encoding="utf-8")
        return path

    return write


def test_a_file_of_a_users_own(example: Callable[[str], Path]) -> None:
    (found,) = check_file(example("holds-on"))
    assert found.verdict == "holds-on"
    with pytest.raises(ClaimsDifferError, match="A1: it is holds-on, recorded as proved"):
        check_file(example("proved"))


def test_the_command(example: Callable[[str], Path], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = example("holds-on")
    assert main(["claims", str(path), "--report", str(tmp_path / "page")]) == 0
    assert "1 claim, all as recorded" in capsys.readouterr().out
    assert "e^ε = (1 - λ)/λ." in (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
    assert main(["claims", str(example("proved")), "--json"]) == 1
    (claim,) = json.loads(capsys.readouterr().out)["result"]["claims"]
    assert claim["verdict"] == "holds-on"
    assert claim["instances"] == {"checked": 2, "range": "n = 1; lam = 1/5, 1/3", "steps": 0}


@pytest.mark.parametrize(
    ("words", "says"), [(["/nowhere"], "does not exist"), ([str(OAKLEY), "--id", "Z9"], "no claim Z9")]
)
def test_bad_input(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", *words]) == 2
    assert says in capsys.readouterr().err


def test_json_of_a_refuted_and_of_a_split_claim(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", str(OAKLEY), "--quick", "--json", "--id", "O13", "--id", "O11"]) == 0
    claims = {claim["id"]: claim for claim in json.loads(capsys.readouterr().out)["result"]["claims"]}
    assert set(claims) == {"O11", "O11a", "O11b", "O13"}
    keys = {
        "id",
        "paper",
        "place",
        "statement",
        "verdict",
        "instances",
        "counterexample",
        "corrected",
        "seconds",
    }
    assert all(keys <= set(claim) for claim in claims.values())
    assert claims["O11"]["parts"] == ["O11a", "O11b"]
    assert claims["O13"]["counterexample"]["numbers"] == {"inputs": 4096, "printed": 1296}
    assert claims["O13"]["counterexample"]["confirmed"] is True
    assert claims["O13"]["corrected"]["verdict"] == "proved"


def test_the_line_that_a_reader_types() -> None:
    line = [sys.executable, "-m", "tightdp", "claims", "proofs/oakley2024", "--recheck", "O15c"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "brute force confirms" in done.stdout
    other = subprocess.run([*line, "n=1", "lam=1/5"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert other.returncode == 1
    assert "it holds here" in other.stdout


def test_the_page_escapes_and_links() -> None:
    paper = Paper("test2026", title="<T>")
    texts = {"breaks": "at `a < b`\n\n- **one**\n- two", "notes": "a | b"}
    paper.claim("T1", "Thm 1", "a < b & c | d", verdict="proved", proof=by_words, **texts)
    found = [(paper, list(run_paper(paper)))]
    page = html(found)
    assert "a &lt; b &amp; c | d" in page
    assert "<td class=proved><b>proved</b></td>" in page
    assert '<a href="#test2026-T1">T1</a>' in page
    assert "<ul><li><b>one</b></li><li>two</li></ul>" in page
    assert "<T>" not in page
    assert "a < b & c \\| d" in markdown(found)


def test_whole_numbers_of_an_instance_never_divide_to_floats() -> None:
    (n,) = (each["n"] for each in grid(n=(3,)))
    values = [n / 2, 2 / n, n**-2, (n + 1) / 2, (2 * n - 1) / 4, 2**n / 5, -n / 2, abs(n) / 2, n // 2 / 5, n % 2 / 3]
    assert all(isinstance(value, Fraction) for value in values)
    assert values[:5] == [Fraction(3, 2), Fraction(2, 3), Fraction(1, 9), 2, Fraction(5, 4)]
    assert values[5:] == [Fraction(8, 5), Fraction(-3, 2), Fraction(3, 2), Fraction(1, 5), Fraction(1, 3)]
    assert (n**2, pow(n, 2, 5), list(range(n)), f"{n}") == (9, 4, [0, 1, 2], "3")
    (pair,) = (each["pair"] for each in grid(pair=((1, "1/2"),)))
    assert pair == (1, Fraction(1, 2))
    assert isinstance(pair[0] / 3, Fraction)


def test_a_float_among_the_numbers_is_an_error() -> None:
    found = outcome(verdict="refuted", instances=[{"n": 1}], check=lambda n: Fails("", close=0.1 + n))
    assert "gives the float close = 1.1" in found.differs


def test_the_line_for_a_tuple(tmp_path: Path) -> None:
    path = tmp_path / "claims.py"
    path.write_text(
        "from tightdp.claims import Fails, Paper\n"
        "paper = Paper('mine')\n"
        "def short(x, words):\n"
        "    return len(x) < 2 or Fails('too long', half=x[0] / 2)\n"
        "paper.claim('A1', 'Thm 1', 'Short.', verdict='refuted', check=short, brute=short, "
        "at={'x': (0, 1), 'words': 'a'},\n"
        "            instances=[{'x': (1,), 'words': 'a'}, {'x': (1, '1/2'), 'words': 'two words'}])\n",
        encoding="utf-8",
    )
    ((_, found),) = run_claims(path)
    assert found.evidence.counterexample is not None
    command = found.evidence.counterexample.command
    assert command == """tightdp claims claims.py --recheck A1 'x=[1, "1/2"]' 'words=two words'"""
    words = [sys.executable, "-m", *shlex.split(command)]
    settings = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path, env=settings)
    assert "half = 1/2" in done.stdout, done.stderr
    words[-2] = "x=[1,"
    broken = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path, env=settings)
    assert broken.returncode == 2
    assert "is not an array" in broken.stderr


def test_a_limit_without_bound() -> None:
    limit(X**2, X, sympy.oo, sympy.oo, "x² grows")
    with pytest.raises(ProofError, match="the limit is oo"):
        limit(X**2, X, sympy.oo, 1, "x² grows")


def test_the_claims_of_oakley2024_are_as_recorded() -> None:
    check_file(OAKLEY, quick=True)


@pytest.mark.slow
@pytest.mark.parametrize("path", claim_files(OAKLEY.parent), ids=lambda path: path.stem)
def test_all_claims_in_full(path: Path) -> None:
    check_file(path)
