"""The committed report page: it says what the claims say, and what a run of them finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tightdp.claims import Correction, Paper
from tightdp.claims.blocks import unwrapped
from tightdp.claims.files import load_papers
from tightdp.claims.model import Claim
from tightdp.claims.page import html, markdown
from tightdp.claims.run import run_paper

ROOT = Path(__file__).parent.parent.parent
CLAIMS = ROOT / "proofs"
AGAIN = "make it again: tightdp claims --report proofs"


def papers() -> list[Paper]:
    return load_papers(CLAIMS)


def recorded(claim: Claim) -> list[str]:
    """What the page must hold of a claim whatever a run finds."""
    texts = claim.texts
    found = [claim.statement, texts.breaks, texts.stands, texts.readings, texts.notes, claim.reason]
    if claim.corrected is not None:
        found.append(f"**Corrected statement** ({claim.corrected.verdict}). {claim.corrected.statement}")
    if claim.brute is not None:
        found.append(claim.command)
    aside = " (aside)" if claim.extra else ""
    found.append(f"#### {claim.id} ({claim.place}): {claim.verdict}{aside}")
    return [unwrapped(text) for text in found if text]


def test_the_committed_page_says_what_is_recorded() -> None:
    page = (ROOT / "proofs" / "report.md").read_text(encoding="utf-8")
    for paper in papers():
        assert unwrapped(paper.stands) in page, AGAIN
        for item in paper.items:
            texts = recorded(item) if isinstance(item, Claim) else [item.texts.readings, item.texts.notes]
            for text in texts:
                assert unwrapped(text) in page, f"{paper.name} {item.id}: {AGAIN}"


def test_a_wrapped_minus_sign_is_no_list_item() -> None:
    assert unwrapped("k\n- 1 is printed") == "k - 1 is printed"
    assert unwrapped("Two:\n\n- one\n  and more\n- two\nand more\n\nEnd.") == (
        "Two:\n\n- one and more\n- two and more\n\nEnd."
    )


def test_no_text_of_the_page_is_taken_for_code_or_cut_off() -> None:
    page = (ROOT / "proofs" / "report.md").read_text(encoding="utf-8")
    assert "\n    " not in page
    for paper in papers():
        for item in paper.items:
            texts = item.texts
            for text in (texts.stands, texts.readings, texts.notes, texts.breaks):
                assert not text or text.rstrip()[-1] in ".)*", f"{paper.name} {item.id}: {text}"


@pytest.mark.slow
def test_the_committed_pages_are_what_a_run_makes() -> None:
    found = [(paper, list(run_paper(paper))) for paper in papers()]
    assert (ROOT / "proofs" / "report.md").read_text(encoding="utf-8") == markdown(found), AGAIN
    assert (ROOT / "proofs" / "report.html").read_text(encoding="utf-8") == html(found), AGAIN


def test_nothing_on_the_page_depends_on_the_clock() -> None:
    paper = Paper("test2026")
    paper.claim("T1", "Thm 1", "One is one.", verdict="holds-on", instances=[{"n": 1}], check=lambda n: n == 1)
    pages = {markdown([(paper, list(run_paper(paper)))]) for _ in range(2)}
    assert len(pages) == 1


def test_what_is_false_stands_at_the_top() -> None:
    paper = Paper("test2026", stands="Most of it.")
    paper.claim(
        "T1",
        "Thm 1",
        "All n are odd.",
        verdict="corrected",
        instances=[{"n": 1}, {"n": 2}],
        check=lambda n: n % 2 == 1,
        brute=lambda n: n % 2 == 1,
        at={"n": 2},
        corrected=Correction("1 is.", verdict="holds-on", instances=[{"n": 1}], check=lambda n: n % 2 == 1),
    )
    page = markdown([(paper, list(run_paper(paper)))])
    assert page.index("Most of it.") < page.index("### False as printed") < page.index("### All verdicts")
    assert "| [T1](#test2026-T1) | Thm 1 | All n are odd. | fails at n = 2 | 1 is. (holds-on) |" in page
    assert "**Counterexample** at n = 2" in page
