"""The values that nodes take together, and the draws whose weights all follow from the same few records."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import Any

import pytest

from agreement import assert_agreement, bind, module_of
from generators.comparison import imported
from generators.mechanisms import draw_mechanism
from tightdp import Int, choice, geometric, mechanism
from tightdp.core.lowering import lower
from tightdp.core.nodes import Apply, Case, Const, CoreProgram, Draw, Expr, Input, Nary, reachable
from tightdp.core.operators import NOTHING, applied, operation
from tightdp.core.together import values_together
from tightdp.errors import LanguageError, QueryError
from tightdp.methods.choose import NAMES

MOST = 2_000


def by_all_leaves(nodes: list[Expr], leaves: list[Expr], below: list[Expr]) -> set[tuple[Any, ...]]:
    """The tuples of values of nodes over all combinations of what their leaves can be."""
    found = set()
    for outcome in product(*(leaf.values for leaf in leaves)):
        values: dict[int, Any] = {leaf.serial: value for leaf, value in zip(leaves, outcome, strict=True)}
        for expr in below:
            if expr.serial in values:
                continue
            match expr:
                case Const():
                    values[expr.serial] = expr.values[0]
                case Apply():
                    given = [values[each.serial] for each in expr.operands]
                    values[expr.serial] = applied(operation(expr.operator), given)
                case Nary():
                    values[expr.serial] = joined(expr.operator, [values[each.serial] for each in expr.operands])
                case Case():
                    at = expr.selector.index.get(values[expr.selector.serial])
                    values[expr.serial] = NOTHING if at is None else values[expr.branches[at].serial]
        found.add(tuple(values[node.serial] for node in nodes))
    return {values for values in found if all(value is not NOTHING for value in values)}


def joined(operator: str, given: list[Any]) -> Any:
    if operator in ("and", "or"):
        pick = all if operator == "and" else any
        known = [value for value in given if value is not NOTHING]
        decided = pick(known) if len(known) == len(given) else None
        if decided is None:
            return (operator == "or") if (operator == "or") in known else NOTHING
        return decided
    if NOTHING in given:
        return NOTHING
    return {"sum": sum, "xor": lambda values: sum(values) % 2 == 1, "min": min, "max": max}[operator](given)


def down_to_leaves(nodes: list[Expr]) -> tuple[list[Expr], list[Expr]]:
    """The leaves below nodes, and all that is between, what a draw depends on left out."""
    seen: dict[int, Expr] = {}
    stack = list(nodes)
    while stack:
        expr = stack.pop()
        if expr.serial not in seen:
            seen[expr.serial] = expr
            stack += [] if isinstance(expr, (Draw, Input)) else expr.children
    below = [seen[serial] for serial in sorted(seen)]
    return [expr for expr in below if isinstance(expr, (Draw, Input))], below


@pytest.mark.parametrize("seed", range(40))
def test_drawn_nodes_take_together_what_their_leaves_give(seed: int) -> None:
    drawn = draw_mechanism(seed)
    with imported(drawn.source) as module:
        try:
            program: CoreProgram = lower(module.f.bind(n=drawn.n).bound)
        except LanguageError:
            return
    rng = random.Random(seed)
    every = [expr for expr in reachable(program.roots) if not isinstance(expr, Const)]
    if not every or any(type(expr).__name__ == "Shuffled" for expr in every):
        return
    for _ in range(8):
        nodes = rng.sample(every, min(len(every), 3))
        leaves, below = down_to_leaves(nodes)
        if prod(len(leaf.values) for leaf in leaves) <= MOST:
            found = values_together(nodes, MOST)
            assert found is not None
            assert set(found) == by_all_leaves(nodes, leaves, below)


PAIRS = [(a, b) for a in range(4) for b in range(a, 4)]


@mechanism(record=Int(0, 3))
def interval(x: Any) -> Any:
    """The exponential mechanism for a short interval with half of the records."""
    scores = [-abs(sum(1 for v in x if a <= v <= b) - len(x) // 2) for a, b in PAIRS]
    return choice(PAIRS, weights=[Fraction(2) ** s / (b - a + 1) for s, (a, b) in zip(scores, PAIRS, strict=True)])


def test_weights_that_follow_from_counts_are_as_many_as_the_counts() -> None:
    for n in (3, 6):
        [draw] = [expr for expr in reachable(lower(interval.bind(n=n).bound).roots) if isinstance(expr, Draw)]
        assert len(draw.laws) <= comb(n + 3, 3)


SOURCES = {
    "interval": """
PAIRS = [(a, b) for a in range(4) for b in range(a, 4)]
def f(x):
    scores = [abs(sum(1 for v in x if a <= v <= b) - 1) for a, b in PAIRS]
    return choice(range(10), weights=[2 ** -s for s in scores])
""",
    "twice": """
def f(x):
    weights = [1 + x.count(c) for c in range(4)] * 3
    first = choice(range(12), weights=weights)
    weights = [w + first + (1 if x[0] > c else 0) for c, w in enumerate(weights)]
    return (first // 4, choice(range(12), weights=weights) // 3)
""",
    "with-noisy-records": """
def f(x):
    y = [v if flip("1/2") else 3 - v for v in x]
    counts = [y.count(c) for c in range(4)]
    return choice(range(12), weights=[1 + max(counts) - c + i for i in range(3) for c in counts])
""",
    "some-fail": """
def f(x):
    counts = [x.count(c) // 2 for c in range(1, 4)]
    return choice(range(12), weights=[c * (i + 1) for i in range(4) for c in counts])
""",
    "some-negative": """
def f(x):
    return choice(range(12), weights=[x.count(c) * 2 + i - 1 + x[0] for i in range(3) for c in range(4)])
""",
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", SOURCES)
def test_compiled_they_have_the_law_of_the_interpreter(name: str) -> None:
    with module_of(SOURCES[name] + "\n") as module:
        assert_agreement(bind(module, Int(0, 3), 2))


@pytest.mark.slow(seconds=2)
def test_every_method_that_applies_gives_the_same() -> None:
    answers = set()
    for name in NAMES:
        try:
            answers.add(interval.bind(n=1, method=name).privacy().exp_epsilon)
        except QueryError:
            continue
    assert len(answers) == 1


@mechanism(record=Int(0, 3))
def measured(x: Any) -> Any:
    """Two rounds of multiplicative weights: the query with the largest error is picked, measured, and learned from."""
    weights = [Fraction(1, 4)] * 4
    queries = ((1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 1))
    out = []
    for _ in range(2):
        truth = [sum(q[v] for v in x) for q in queries]
        total = sum(weights)
        guess = [len(x) * sum(w for w, b in zip(weights, q, strict=True) if b) / total for q in queries]
        j = choice(range(3), weights=[1 + abs(t - g) for t, g in zip(truth, guess, strict=True)])
        m = geometric(truth[j], "1/2", 0, len(x))
        weights = [w * (2 if b == (m > guess[j]) else 1) for w, b in zip(weights, queries[j], strict=True)]
        out.append((j, m))
    return tuple(out)


def test_rounds_that_depend_on_each_other_are_exact() -> None:
    assert measured.bind(n=2).privacy().exp_epsilon == Fraction(130, 11)
    assert measured.bind(n=6).privacy().exp_epsilon == 12
