"""The committed report: it says what the claims say, and what a run of them finds."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from tightdp.claims import Correction, Paper, identity
from tightdp.claims.answers import mutated
from tightdp.claims.instances import at, short
from tightdp.claims.model import Claim
from tightdp.claims.page import markdown, pages, paper_markdown, unwrapped
from tightdp.claims.proof import numbered
from tightdp.claims.run import load_papers, run_paper
from tightdp.claims.typeset import typeset

ROOT = Path(__file__).parent.parent.parent
PROOFS = ROOT / "proofs"
AGAIN = "make it again: tightdp claims --report proofs"


def papers() -> list[Paper]:
    return load_papers(PROOFS)


def recorded(claim: Claim) -> list[str]:
    """What the page must hold of a claim whatever a run finds."""
    texts = claim.texts
    found = [claim.text, texts.breaks, texts.stands, texts.readings, texts.notes, claim.reason]
    if claim.corrected is not None:
        found.append(f"**Instead** ({claim.corrected.verdict}). {claim.corrected.text}")
    shown = [typeset(unwrapped(text)) for text in found if text]
    if claim.brute is not None:
        shown.append(claim.command)
    return [*shown, f"### {claim.id} ({claim.place}): {claim.verdict}"]


def test_the_committed_pages_say_what_is_recorded() -> None:
    summary = (PROOFS / "report.md").read_text(encoding="utf-8")
    for paper in papers():
        page = (PROOFS / "report" / f"{paper.name}.md").read_text(encoding="utf-8")
        assert typeset(unwrapped(paper.stands)) in summary, AGAIN
        for item in paper.items:
            texts = (
                recorded(item)
                if isinstance(item, Claim)
                else [typeset(unwrapped(t)) for t in (item.texts.readings, item.texts.notes)]
            )
            for text in texts:
                assert text in page, f"{paper.name} {item.id}: {AGAIN}"
        for proof in numbered(paper):
            assert page.count(typeset(unwrapped(proof.argument))) >= 1, f"{paper.name}, proof {proof.number}: {AGAIN}"


def test_what_is_printed_and_false_stands_in_the_summary() -> None:
    summary = (PROOFS / "report.md").read_text(encoding="utf-8")
    for paper in papers():
        for item in paper.items:
            if isinstance(item, Claim) and item.verdict in ("refuted", "corrected"):
                aside = item.extra or item.unclaimed
                assert (f"[{item.id}](report/{paper.name}.md" in summary) != aside, f"{item.id}: {AGAIN}"
                assert aside or typeset(unwrapped(item.texts.brief)) in summary, f"{item.id}: {AGAIN}"


def test_the_summary_is_short_and_has_the_score_of_every_label() -> None:
    summary = (PROOFS / "report.md").read_text(encoding="utf-8")
    assert len(summary.split()) < 4000
    assert "proved" not in summary
    rows = {
        label: line
        for line in summary.split("\n")
        for label in ("decided", "argued", "holds on")
        if line.startswith(f"| {label} |")
    }
    assert set(rows) == {"decided", "argued", "holds on"}
    changes, noticed = (int(cell) for cell in rows["decided"].split("|")[2:4])
    assert Fraction(noticed, changes) >= Fraction(80, 100)


def test_a_wrapped_minus_sign_is_no_list_item() -> None:
    assert unwrapped("k\n- 1 is printed") == "k - 1 is printed"
    assert unwrapped("Two:\n\n- one\n  and more\n- two\nand more\n\nEnd.") == (
        "Two:\n\n- one and more\n- two and more\n\nEnd."
    )


def test_no_text_is_taken_for_code_or_cut_off() -> None:
    for paper in papers():
        page = (PROOFS / "report" / f"{paper.name}.md").read_text(encoding="utf-8")
        assert "\n    " not in page
        for item in paper.items:
            texts = item.texts
            for text in (texts.stands, texts.readings, texts.notes, texts.breaks, texts.brief):
                assert not text or text.rstrip()[-1] in ".)*", f"{paper.name} {item.id}: {text}"


@pytest.mark.slow
def test_the_committed_pages_are_what_a_run_makes() -> None:
    found = [(paper, list(run_paper(paper))) for paper in papers()]
    changes = list(mutated([paper for paper, _ in found]))
    for name, text in pages(found, changes).items():
        assert (PROOFS / name).read_text(encoding="utf-8") == text, AGAIN


def test_nothing_on_the_pages_depends_on_the_clock() -> None:
    paper = Paper("test2026")
    paper.claim("T1", "Thm 1", "`m = 1`", verdict="holds on", instances=[{"n": 1}], check=lambda n: {"m": n})
    first, second = (pages([(paper, list(run_paper(paper)))]) for _ in range(2))
    assert first == second
    assert list(first) == ["report.md", "report/test2026.md", "report/test2026.json"]


def test_what_is_false_stands_in_the_summary_and_facts_do_not() -> None:
    paper = Paper("test2026", stands="Most of it.", words={"n": "number"})
    arguments = {
        "verdict": "corrected",
        "instances": [{"n": 1}, {"n": 2}],
        "check": lambda n: {"rest": n % 2},
        "brute": lambda n: {"rest": n - 2 * (n // 2)},
        "at": {"n": 2},
        "corrected": Correction(
            "It is for 1: `rest = 1`.", verdict="holds on", instances=[{"n": 1}], check=lambda n: {"rest": n % 2}
        ),
    }
    paper.claim("T1", "Thm 1", "Every number is odd: `rest = 1`.", **arguments)
    paper.claim("T2", "Thm 2", "Again, `rest = 1`.", brief="Two is even.", **arguments)
    paper.claim("T3", "Thm 2", "A stronger reading: `rest = 1`.", unclaimed=True, **arguments)
    outcomes = list(run_paper(paper))
    summary, page = markdown([(paper, outcomes)]), paper_markdown(paper, outcomes)
    assert "T1](report/test2026.md#test2026-T1) Thm 1: Every number is odd: $\\text{rest} = 1$. But:" in summary
    assert "T2](report/test2026.md#test2026-T2) Thm 2: Two is even. (holds on)" in summary
    assert "T3" not in summary
    assert "(the first that fails" in page
    assert page.index("### T2") < page.index("## Facts found") < page.index("### T3")
    (claim, *_) = json.loads(pages([(paper, outcomes)])["report/test2026.json"])["claims"]
    assert claim["counterexample"]["numbers"] == {"rest": 0}
    assert claim["instances"] == [{"n": 1}, {"n": 2}]


def test_what_is_left_out_or_open_is_said() -> None:
    paper = Paper("test2026", left_out={"Thm 9": "too hard."}, unsettled={"n = 3": "only some are argued."})
    page = paper_markdown(paper, [])
    assert "## What is not here, and why\n\n- Thm 9: too hard.\n\n## Open\n\n- " in page
    assert "only some are argued." in page


def lemma() -> None:
    """Equals are equal.

    For the reader: nothing.
    """
    identity(1, 1, "one")


def theorem() -> None:
    """By the lemma.

    For the reader: that the lemma applies.
    """
    lemma()
    identity(2, 2, "two")


def test_arguments_are_numbered_once_and_linked_with_what_is_left() -> None:
    paper = Paper("test2026")
    for name in ("T1", "T2"):
        paper.claim(
            name, "", "`m = 1`", verdict="argued", proof=theorem, instances=[{"n": 1}], check=lambda n: {"m": n}
        )
    assert [(each.number, each.uses, each.serves) for each in numbered(paper)] == [(1, (), ()), (2, (1,), ("T1", "T2"))]
    page = paper_markdown(paper, list(run_paper(paper)))
    assert page.count("By the lemma.") == page.count("Equals are equal.") == 1
    assert page.count("[Argument 2](#test2026-proof-2), 2 steps checked by machine.") == 2
    assert "It uses [Argument 1](#test2026-proof-1)." in page
    assert "- two (both sides are: $2$)" in page
    assert "**Left to the reader:** that the lemma applies." in page


def test_formulas_are_set_in_tex() -> None:
    assert typeset("Let `e^ε <= sqrt(2λ)/P(no error)` be.") == (
        r"Let $e^{\varepsilon} \le \sqrt{2\lambda}/P(\text{no error})$ be."
    )
    assert typeset("With p = t/(1+t), by O6 (K1-K4)") == "With $p = t/(1+t)$, by O6 (K1-K4)"
    assert typeset("e^ε' is e^ε times y_k', b ^ w") == (
        r"$e^{\varepsilon '}$ is $e^{\varepsilon}$ times $y_{k}'$, $b \oplus w$"
    )
    assert typeset("(n + 1 of 2n) with (a = 1) is (ε,δ)-DP, a lemma") == (
        r"($n + 1$ of $2n$) with $(a = 1)$ is $(\varepsilon ,\delta )$-DP, a lemma"
    )
    assert typeset("Σ_{i in T} P(E and u = v) <= C(n, k)") == (
        r"$\sum _{i\ \text{in}\ T} P(E\ \text{and}\ u = v) \le C(n, k)$"
    )
    assert typeset("`bit_vector` and all_or_nothing") == "`bit_vector` and all_or_nothing"


def test_long_fractions_become_decimals_and_variables_words() -> None:
    assert short("p = 12345678901/98765432109 <= 1/3") == "p = 0.125... <= 1/3"
    assert at({"lam": Fraction(1, 5), "many": 5, "silent": True}, {"many": "guesses", "silent": "it abstains"}) == (
        "λ = 1/5, guesses = 5, it abstains"
    )
