"""Every numbered item of the five papers stands in the report: in the place of a claim, or among what is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tightdp.claims.run import load_papers

PROOFS = Path(__file__).parent.parent.parent / "proofs"

ITEMS = {
    "oakley2024": "Def. 1-5, Thm 1-8, Lemma 1-3, Alg. 1-5, Table 1-3, Fig. 1-4",
    "keinan2025": (
        "Def. 2.1, 3.1, 3.2, 4.1, 4.2, A.1-A.3, A.5, A.6, B.2, B.5, B.8, C.2, C.12, D.4, E.1, E.3, E.6, Alg. 1-3, "
        "Lemma 3.3, A.4, A.7, A.10-A.12, A.16-A.18, C.3, C.6, C.7, C.9, C.14, D.1, D.5, E.4, Thm 5.1-5.3, C.1, C.5, "
        "C.10, C.11, Prop. A.8, A.9, A.13-A.15, B.1, B.3, B.6, B.9, C.4, C.8, C.13, D.2, D.6, E.2, E.5, E.7, "
        "Cor. 5.4, B.4, B.7, B.10, D.3, Fig. 1-8"
    ),
    "cheu2019": (
        "Def. 3.1, 3.4, 3.5, Alg. 1-7, Thm 2.1-2.4, 4.1, 4.11, 5.1, 5.3-5.5, 6.1, 6.2, 6.4, 6.5, 6.7, D.1, E.1-E.3, "
        "Lemma 3.2, 3.3, 3.6, 4.8, D.6, Claim 4.2-4.6, 4.9, 4.10, 5.2, 6.3, B.1, B.2, C.1, C.2, D.2-D.5, D.7-D.9, "
        "Cor. 4.7, 6.6, 6.8, B.3, B.4, C.3, Table 1"
    ),
    "mahloujifar2024": (
        "Def. 1-8, Alg. 1-4, Prop. 3, 10, 12, Remark 4, Thm 7-13, Lemma 9, 11-15, Fig. 1-11"  # of both drafts
    ),
    "xiang2025": "Def. 1-11, Alg. 1, 2, Lemma 1, 2, Thm 1-3, Prop. 1, Fig. 1-13",
}
"""As they are numbered in the papers."""

_ITEM = re.compile(
    r"(?P<kind>Def|Thm|Theorem|Lemma|Prop|Proposition|Cor|Claims?|Alg|Algorithm|Table|Fig|Remark|App|Sec)\.? "
    r"|(?P<first>[A-E]\.\d+|\d+(?:\.\d+)?)(?:-(?P<last>[A-E]\.\d+|\d+(?:\.\d+)?))?(?!\w)"
)
_SHORT = {"Theorem": "Thm", "Proposition": "Prop", "Claims": "Claim", "Algorithm": "Alg"}


def items(text: str) -> set[tuple[str, str]]:
    """The items that a text names: "Thm 1, 3-5" are four. A number after a bracket or a formula is none."""
    found, kind = set(), ""
    for match in _ITEM.finditer(text):
        if match["kind"]:
            kind = _SHORT.get(match["kind"], match["kind"])
        elif kind not in ("", "App", "Sec"):
            found |= {(kind, number) for number in _between(match["first"], match["last"] or match["first"])}
    return found


def _between(first: str, last: str) -> list[str]:
    head, dot, low = first.rpartition(".")
    high = last.removeprefix(head + dot)
    return [f"{head}{dot}{number}" for number in range(int(low), int(high) + 1)]


def test_names_of_items() -> None:
    assert items("Lemma C.9, Thm C.10") == {("Lemma", "C.9"), ("Thm", "C.10")}
    assert items("Prop. A.13-A.15; Sec. 4.3, App. C.2") == {("Prop", f"A.{k}") for k in (13, 14, 15)}
    assert items("Thm 3, (24)") == {("Thm", "3"), ("Thm", "24")}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ITEMS)
def test_every_item_is_in_the_report(name: str) -> None:
    (paper,) = load_papers(PROOFS / name)
    places = [each.place for each in paper.items]
    present = set().union(*map(items, [*places, *paper.left_out]))
    assert items(ITEMS[name]) - present == set()
