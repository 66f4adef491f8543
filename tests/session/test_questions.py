"""All questions about drawn mechanisms, with several relations of neighbours, against brute force."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

import symmetry_oracle
from conftest import FULL
from generators.mechanisms import draw_mechanism
from questions import AGREES, SLOW, ask_everything, fault, smaller
from tightdp.language.program import Bound

PART = 12
PARTS = 100 if FULL else 3


@pytest.mark.one_in(2)
@pytest.mark.parametrize("part", range(PARTS))
def test_answers_about_drawn_mechanisms_are_those_of_brute_force(part: int) -> None:
    kinds: Counter[str] = Counter()
    for seed in range(part * PART, (part + 1) * PART):
        drawn = draw_mechanism(seed)
        try:
            kinds[ask_everything(drawn)] += 1
        except Exception as error:
            error.add_note(f"mechanism {seed}, n={drawn.n}:\n{smaller(drawn, fault(drawn))}")
            raise
    assert kinds[AGREES] > 0.7 * PART
    assert kinds[SLOW] == 0


def test_a_wrong_probability_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where answers and laws differ by a thousandth of one probability on some datasets, the comparison says so."""
    meaning = symmetry_oracle.meaning

    def disturbed(bound: Bound, x: tuple[Any, ...]) -> dict[Any, Fraction] | None:
        law = meaning(bound, x)
        if law is None or len(law) < 2 or bound.record.values[0] != x[0]:
            return law
        least, most = min(law, key=repr), max(law, key=repr)
        moved = law[most] / 1000
        return {**law, most: law[most] - moved, least: law[least] + moved}

    monkeypatch.setattr(symmetry_oracle, "meaning", disturbed)
    assert sum(bool(fault(draw_mechanism(seed))) for seed in range(8)) > 2


def test_mechanisms_are_of_many_kinds() -> None:
    sources = [draw_mechanism(seed).source for seed in range(200)]
    for word in (
        "replace-one",
        "add-remove",
        "neighbours=swapped",
        "neighbours=lowered",
        "unit-all",
        "break",
        "shuffle(m",
    ):
        assert sum(word in source for source in sources) > 4, word
