"""Loops that carry something that grows: answered as by the interpreter where it is bounded, else refused at once."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

from agreement import assert_agreement, bind, module_of
from thinned import thinned
from tightdp.cells.laws import cell_laws
from tightdp.core.lowering import loop_chain
from tightdp.errors import LanguageError
from tightdp.language.domains import Bit
from tightdp.language.interp import law_within
from tightdp.session.instance import Instance

CARRIED = {
    "list": ("out = []", "out.append({})", "len(out)"),
    "list anew": ("out = []", "out = out + [{}]", "len(out)"),
    "tuple": ("out = ()", "out = (*out, {})", "len(out)"),
    "string": ('out = ""', "out += str({})", "len(out)"),
    "counter": ("out = 0", "out += 1 + 0 * ({})", "out"),
}
"""How something that grows begins, how an item is added, and what its size is."""


def grown(seed: int, kind: str, most: int | None) -> str:
    """Return a loop that adds items up to a size, or without end."""
    draw = random.Random(seed)
    begin, add, size = CARRIED[kind]
    item = draw.choice(("x[0]", "int(flip(1/3))", "0", "1 - x[0]"))
    leave = draw.choice(("flip(1/2)", "flip(1/3 if x[0] else 1/4)", "flip(1/5)"))
    output = draw.choice((f"{size} % 3", f"{size} > 2", f"({size} + x[0]) % 4"))
    left = leave if most is None else f"{size} == {most} or {leave}"
    form = draw.choice(("break", "test", "return"))
    if form == "test":
        loop = f"    while not ({left}):\n        {add.format(item)}\n    return {output}"
    else:
        end = "break" if form == "break" else f"return {output}"
        loop = (
            f"    while True:\n        {add.format(item)}\n        if {left}:\n            {end}\n    return {output}"
        )
    return f"def f(x):\n    {begin}\n{loop}\n"


@pytest.mark.parametrize("kind", CARRIED)
@pytest.mark.parametrize("seed", thinned(range(2), 2))
def test_what_is_bounded_is_answered(seed: int, kind: str) -> None:
    with module_of(grown(seed, kind, 4 + seed)) as module:
        assert_agreement(bind(module, Bit, 1))


@pytest.mark.parametrize("kind", ["counter", "list"])
@pytest.mark.parametrize("seed", range(2))
def test_a_counter_without_end_is_noise_on_the_integers(seed: int, kind: str) -> None:
    """So is the length of a list of which no more is asked."""
    with module_of(grown(seed, kind, None)) as module:
        bound = bind(module, Bit, 1)
        laws = cell_laws(bound, lambda: None)
        for x in ((0,), (1,)):
            masses, beyond = law_within(bound, x, reach=9, draws=9)
            for output, mass in masses.items():
                assert mass <= laws.number(laws.probability(x, output)) <= mass + beyond


@pytest.mark.one_in(8)
@pytest.mark.parametrize("kind", sorted(set(CARRIED) - {"counter", "list"}))
@pytest.mark.parametrize("seed", range(2))
def test_what_grows_without_end_is_refused_in_one_pass(seed: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its line, and the first time that there are as many states as there may be."""
    tried: set[int] = set()
    play = loop_chain.LoopChain.outcomes

    def counted(self: Any, *arguments: Any) -> Any:
        tried.add(self.rounds.growth)
        return play(self, *arguments)

    monkeypatch.setattr(loop_chain.LoopChain, "outcomes", counted)
    monkeypatch.setattr(loop_chain, "LOOP_STATES", 300)
    with module_of(grown(seed, kind, None)) as module:
        instance = Instance(bind(module, Bit, 1))
        with pytest.raises(LanguageError, match="more than 300 states") as error:
            instance.privacy()
    assert "such as out = " in str(error.value)
    assert error.value.span is not None
    assert error.value.span.text.lstrip().startswith("while")
    assert len(tried) == 1
    assert all(len(line) < 250 for line in str(error.value).splitlines())


def test_a_long_list_is_answered_where_a_counter_is() -> None:
    laws = []
    for kind in ("list", "counter"):
        begin, add, size = CARRIED[kind]
        text = (
            f"def f(x):\n    {begin}\n    while True:\n        {add.format('x[0]')}\n"
            f"        if {size} == 150 or flip(1/3):\n            break\n    return {size} % 3\n"
        )
        with module_of(text) as module:
            laws.append(dict(Instance(bind(module, Bit, 1)).distribution((1,)).law))
    assert all(one == other for one, other in pairwise(laws))
