"""Drawn programs mean what the interpreter says, on every dataset; and the generator finds a known bug put back.

By hand, for longer: `python -m tests.generators --seed 1000 --count 100000 --minutes 30`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

import pytest

from conftest import FULL
from generators.comparison import AGREES, DIFFERS, FAILS, LARGE, REFUSED, SLOW, Verdict, judge, keeps
from generators.reducer import reduced
from generators.statements import STYLES
from generators.writer import draw
from tightdp.core.lowering.loops import Unrolled
from tightdp.core.lowering.machine import End

PART = 30
PARTS = 100 if FULL else 1


@pytest.mark.parametrize("part", range(PARTS))
def test_drawn_programs_mean_what_the_interpreter_says(part: int) -> None:
    slow = []
    for seed in range(part * PART, (part + 1) * PART):
        drawn = draw(seed)
        verdict = judge(drawn.source, drawn.n, seconds=3)
        if verdict.kind == SLOW:
            slow.append(seed)
        elif verdict.wrong:
            small = reduced(drawn.source, keeps(verdict.kind, drawn.n), 30)
            pytest.fail(f"program {seed}, n={drawn.n}: {verdict.kind}: {verdict.detail}\n{small}")
    assert len(slow) <= PART // 10, f"slow programs: {slow}"


def revived(self: Unrolled, orelse: Sequence[ast.stmt]) -> None:
    """The end of a loop with a known bug: runs that its `else` sends to an outer loop are alive again."""
    m, kept = self.m, self.m.stayed(self.mark, self.normal, self.breaks)
    if self.normal:
        m.meet(self.level, self.base, self.mark, self.normal)
    m.block(orelse)
    if self.breaks and kept:
        rest = [] if m.alive is m.builder.false else [End(m.alive, m.store.changes(self.level))]
        m.join(self.level, self.base, [*self.breaks, *rest], self.base)
        m.arrived(self.mark, self.breaks)
    elif self.breaks:
        m.meet(self.level, self.base, self.mark, self.breaks)
    m.store.keep(self.level)


@pytest.mark.slow(seconds=9)
def test_a_wrong_end_of_loops_is_found_and_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Unrolled, "finish", revived)
    for seed in range(400):
        drawn = draw(seed, style="control")
        if judge(drawn.source, drawn.n).kind == DIFFERS:
            break
    else:
        pytest.fail("not found")
    small = reduced(drawn.source, keeps(DIFFERS, drawn.n), 10)
    assert judge(small, drawn.n).kind == DIFFERS
    assert len(small) < len(drawn.source) / 2
    monkeypatch.undo()
    assert judge(small, drawn.n).kind in (AGREES, FAILS)


def test_the_same_number_draws_the_same_program() -> None:
    assert [draw(seed) for seed in range(20)] == [draw(seed) for seed in range(20)]
    assert len({draw(seed).source for seed in range(200)}) == 200


@pytest.fixture(scope="module")
def verdicts() -> list[Verdict]:
    return [judge(drawn.source, drawn.n) for drawn in map(draw, range(5000, 5030))]


@pytest.mark.slow(seconds=5)
def test_most_drawn_programs_are_compared(verdicts: list[Verdict]) -> None:
    kinds = Counter(verdict.kind for verdict in verdicts)
    assert kinds[AGREES] > 0.85 * len(verdicts)
    assert kinds[REFUSED] + kinds[LARGE] + kinds[FAILS] < 0.1 * len(verdicts)
    assert sum(verdict.outputs > 2 for verdict in verdicts) > 0.3 * len(verdicts)


@pytest.mark.parametrize("style", STYLES)
def test_drawn_programs_are_of_many_kinds(style: str) -> None:
    bodies = [source[source.index("@mechanism") :] for source in (draw(s, style=style).source for s in range(150))]
    words = {
        "control": ["break", "continue", "else:", "while ", "for ", "return ", "flip(", "observe("],
        "lists": ["push(", ".pop(", ".append(", ".insert(", "m[", "u = v", "+=", "nonlocal", "lambda"],
        "everything": ["def g", "nonlocal", ":=", "*v", " and ", " or ", "shuffle(", "geometric(", "binomial(", "q if"],
        "containers": [".get(", "del ", ".update(", "match ", "shelf", "[:] =", "lazy", "view", ".items()", "sorted("],
    }[style]
    shares = {word: sum(word in body for body in bodies) / len(bodies) for word in words}
    assert min(shares.values()) > 0.1, shares
