"""Symmetries found on the graph of a program: accepted ones hold, false ones are dropped, orbits are counted right."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symmetry_oracle as oracle
from agreement import datasets, module_of
from renamed_outputs import Laws, core, laws_of, only_outputs_renamed
from symmetric_programs import MODULE, Drawn, draw
from thinned import thinned
from tightdp import Bit, Instance, Int, LanguageError, QueryError, Tuple, flip, mechanism, randint
from tightdp.core.lowering import lower_target
from tightdp.language.interp import target_value
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound
from tightdp.logic.encode import prober
from tightdp.symmetry.renaming import Action
from tightdp.symmetry.symmetries import Symmetries, find_symmetries


def image_of(action: Action, x: tuple[Any, ...]) -> tuple[Any, ...]:
    image = list(x)
    for client, record in enumerate(x):
        image[action.clients[client]] = action.records[client][record]
    return tuple(image)


def actions(found: Symmetries) -> list[Action]:
    return [action for _, action in found.inside]


def check_found(bound: Bound, laws: Laws, found: Symmetries | None) -> None:
    if found is None:
        return
    for action in actions(found):
        assert only_outputs_renamed(laws, {x: image_of(action, x) for x in laws})
    for blocks, _ in found.exchanged:
        for block in blocks[1:]:
            swap = {**dict(zip(blocks[0], block, strict=True)), **dict(zip(block, blocks[0], strict=True))}
            images = {x: tuple(x[swap.get(client, client)] for client in range(bound.n)) for x in laws}
            assert only_outputs_renamed(laws, images)
    assert sum(size for _, size in found.orbits.accuracy_set()) == bound.record.size**bound.n
    if not isinstance(bound.neighbours, str):
        return
    listed = list(found.orbits.privacy_set())
    related = relation_of(bound).neighbours
    assert all(other in related(x) for x, other, _ in listed)
    assert sum(size for *_, size in listed) == sum(1 for x in datasets(bound) for _ in related(x))
    assert len(listed) <= found.orbits.number_of_pairs


@given(rng=st.randoms(use_true_random=False), relation=st.sampled_from(["replace-one", "unit-all", "add-remove"]))
def test_symmetries_of_drawn_programs_hold(rng: random.Random, relation: str) -> None:
    drawn = draw(rng, neighbours=relation)
    with module_of(drawn.source) as module:
        bound = module.f.bind(n=drawn.n).bound
        laws = laws_of(bound)
        if len(laws) == bound.record.size**bound.n:
            check_found(bound, laws, find_symmetries(bound, core(bound), None, "cudd"))


@given(rng=st.randoms(use_true_random=False))
def test_symmetries_that_keep_output_and_target_hold(rng: random.Random) -> None:
    drawn = draw(rng)
    with module_of(drawn.source) as module:
        bound = module.f.bind(n=drawn.n).bound
        laws = laws_of(bound)
        try:
            target = lower_target(bound, prober())
        except LanguageError:
            return
        if len(laws) < bound.record.size**bound.n:
            return
        found = find_symmetries(bound, core(bound), target, "cudd")
        for action in [] if found is None else actions(found):
            for x in laws:
                image = image_of(action, x)
                assert laws[x] == laws[image]
                assert target_value(bound, x) == target_value(bound, image)


# By hand: how many classes of datasets and of pairs of neighbours are left.


@mechanism(record=Bit)
def voted(x):  # type: ignore[no-untyped-def]
    return x[randint(0, len(x) - 1)], x[0]


@mechanism(record=Bit)
def shamed(x):  # type: ignore[no-untyped-def]
    i = randint(0, len(x) - 1)
    return (i, x[i] if flip("1/2") else 0)


@mechanism(record=Bit, target=lambda x: sum(x[2 * i] ^ x[2 * i + 1] for i in range(len(x) // 2)))
def couples(x, lam):  # type: ignore[no-untyped-def]
    total = 0
    for i in range(len(x) // 2):
        total += x[2 * i] ^ x[2 * i + 1] ^ flip(lam)
    return total


@mechanism(record=Bit)
def couples_but_one(x, lam):  # type: ignore[no-untyped-def]
    total = 0
    for i in range(len(x) // 2):
        total += x[2 * i] ^ x[2 * i + 1] ^ flip(lam if i else "1/4")
    return total


@mechanism(record=Int(0, 2))
def shifted(x):  # type: ignore[no-untyped-def]
    i = randint(0, len(x) - 1)
    return tuple((b + randint(0, 1)) % 3 if j == i else 0 for j, b in enumerate(x))


@mechanism(record=Tuple(Bit, Bit))
def halves(x):  # type: ignore[no-untyped-def]
    i = randint(0, len(x) - 1)
    return (x[i][0] ^ flip("1/3"), x[i][1])


@mechanism(record=Bit)
def threes(x):  # type: ignore[no-untyped-def]
    wholes = [x[3 * i] & x[3 * i + 1] & x[3 * i + 2] for i in range(len(x) // 3)]
    i = randint(0, len(wholes) - 1)
    return (i, wholes[i] ^ flip("1/4"))


BY_HAND: list[tuple[Any, int, dict[str, Any], int | None, int | None]] = [
    # the first client is output as well: the others are interchangeable, and everything can be flipped at once
    (voted, 4, {}, 8, 20),
    (shamed, 4, {}, 5, 8),
    # five blocks of two classes each; a change of either record of a block is the same
    (couples, 10, {"lam": "1/5"}, 6, 10),
    (couples_but_one, 10, {"lam": "1/5"}, 10, 26),
    # what is not chosen is shown as 0, so records cannot be renamed
    (shifted, 4, {}, 15, 60),
    (halves, 3, {}, 20, 120),
    # two blocks; their first two clients are found to be interchangeable, their third stands apart in the text
    (threes, 6, {}, 21, 84),
    (threes, 9, {}, 56, 294),
]


@pytest.mark.parametrize(("program", "n", "parameters", "classes", "pairs"), BY_HAND)
def test_how_many_classes_are_left(program: Any, n: int, parameters: dict[str, Any], classes: int, pairs: int) -> None:
    bound = program.bind(n=n, **parameters).bound
    found = find_symmetries(bound, core(bound), None, "cudd")
    assert found is not None
    assert (found.orbits.number, found.orbits.number_of_pairs) == (classes, pairs)
    if bound.record.size**n <= 256:
        check_found(bound, laws_of(bound), found)


NO_SYMMETRY = [
    "return sum((i + 1) * (b & flip(1 / (i + 2))) for i, b in enumerate(x))",
    "for i, b in enumerate(x):\n    if b and flip(1 / (i + 2)):\n        return i\nreturn None",
]


@pytest.mark.parametrize("body", NO_SYMMETRY)
def test_where_no_symmetry_is_there_none_is_found(body: str) -> None:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    with module_of(f"{MODULE}@mechanism(record=Bit)\ndef f(x):\n{lines}") as module:
        bound = module.f.bind(n=3).bound
        laws = laws_of(bound)
        for order in permutations(range(3)):
            if order != (0, 1, 2):
                assert not only_outputs_renamed(laws, {x: tuple(x[at] for at in order) for x in laws})
        found = find_symmetries(bound, core(bound), None, "cudd")
        assert found is None or all(len(blocks) == 1 for blocks, _ in found.exchanged)


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("record", "n", "body"),
    [
        ("Bit", 4, "i = randint(0, 3)\nreturn x[i] ^ flip(1/3)"),
        ("Bit", 4, "i = randint(0, 3)\nreturn (i, x[i] ^ flip(1/3))"),
        ("Bit", 4, "i = randint(0, 3)\nreturn x[i] ^ x[i - 1]"),
        ("Bit", 4, "return sum(x[2 * i] ^ x[2 * i + 1] ^ flip(1/3) for i in (0, 1))"),
        ("Bit", 4, "return sum(x[i] ^ x[i - 1] ^ flip(1/3) for i in range(4))"),
        ("Bit", 4, "c = flip(1/3)\nreturn (x[0] ^ c, x[1] ^ c, x[2] ^ c, x[3])"),
        ("Int(0, 2)", 3, "i = randint(0, 2)\nreturn (x[i] + randint(0, 2)) % 3"),
        ("Int(0, 2)", 3, "i = choice((0, 1, 2), (1, 1, 2))\nreturn x[i]"),
        ("Int(0, 2)", 3, "p, q = x[randint(0, 2)], x[randint(0, 2)]\nreturn (p > q) - (q > p)"),
        ("Tuple(Bit, Bit)", 3, "a, b = x[randint(0, 2)]\nobserve(a or flip(1/2))\nreturn (a, b ^ flip(1/3))"),
        ("Values('u', None, 'w')", 3, "b = x[randint(0, 2)]\nreturn b if flip(1/2) else None"),
    ],
)
@pytest.mark.parametrize("relation", thinned(["replace-one", "add-remove", "rotated"], 3))
def test_answers_up_to_symmetry(record: str, n: int, body: str, relation: str) -> None:
    if relation == "add-remove":
        if record == "Tuple(Bit, Bit)":
            pytest.skip("absent records have no components")
        body = f"x = [b or 0 for b in x]\n{body}" if "'u'" not in body else body
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    name = relation if relation == "rotated" else f'"{relation}"'
    if record == "Values('u', None, 'w')":
        name = '"replace-one"' if relation == "add-remove" else name
        lines = lines.replace("x = [b or 0 for b in x]\n    ", "")
    source = f"{MODULE}@mechanism(record={record}, neighbours={name}, target=len)\ndef f(x):\n{lines}"
    oracle.compare(Drawn(source, n, relation, frozenset({"numeric"} if "sum" in body else ())), "orbits")


def test_a_draw_that_only_a_check_looks_at() -> None:
    body = "c = flip(1/3)\nm = [b + c for b in x]\nassert max(m) <= sum(m)\nreturn x[randint(0, 8)]"
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    with module_of(f"{MODULE}@mechanism(record=Bit)\ndef f(x):\n{lines}") as module:
        assert module.f.bind(n=9).curve().points == ((1, Fraction(1, 9)),)


def test_orbits_and_the_chain_agree() -> None:
    tight, found = (shamed.bind(n=9, method=method).privacy() for method in ("chain", "orbits"))
    assert (tight.stats.method, found.stats.method) == ("chain", "orbits")
    assert found.exp_epsilon == tight.exp_epsilon


@mechanism(record=Bit)
def sampled(x):  # type: ignore[no-untyped-def]
    taken = [flip("1/3") for _ in x]
    return sum(taken), sum(b for b, here in zip(x, taken) if here)  # noqa: B905


def test_draws_made_before_the_records_that_they_meet_are_not_remembered() -> None:
    assert sampled.bind(n=20).show().stats.nodes < 10_000


def curve(instance: Instance) -> list[tuple[Fraction, Fraction]]:
    return list(instance.curve().points)


@pytest.mark.parametrize("n", [1, 2, 9, 40])
def test_sizes_that_no_enumeration_reaches(n: int) -> None:
    """One record out of n is shown with probability 1/2, or 0: by hand, δ is 1/(2n) for every ε."""
    found = shamed.bind(n=n).curve()
    assert (found.status, list(found.points)) == ("exact", [(1, Fraction(1, 2 * n))])


def test_a_target_written_as_a_lambda_is_used() -> None:
    """Half of the couples differ or not: the accuracy set has one dataset per number of couples that differ."""
    found = couples.bind(n=24, lam="1/5").accuracy(2, top=100)
    assert found.status == "exact"
    assert sum(row.inputs for row in found.top) == 2**24
    smaller = couples.bind(n=8, lam="1/5")
    assert oracle_accuracy(smaller) == smaller.accuracy(1).one_minus_beta


def oracle_accuracy(instance: Instance) -> Fraction:
    bound = instance.bound
    return min(
        sum((p for y, p in law.items() if abs(y - target_value(bound, x)) <= 1), Fraction(0))
        for x, law in laws_of(bound).items()
    )


@pytest.mark.slow(seconds=5)
def test_too_many_classes_are_refused() -> None:
    with pytest.raises(QueryError, match="even up to the symmetries"):
        halves.bind(n=400).curve()


@pytest.mark.parametrize("relation", ["replace-one", pytest.param("unit-all", marks=pytest.mark.slow(seconds=5))])
def test_where_pairs_are_too_many_the_answer_is_an_enclosure(relation: str) -> None:
    """Both ends hold: checked where the exact answer is known too."""
    body = "for i, b in enumerate(x):\n    if flip((1 + b) / (i + 3)):\n        return i\nreturn None"
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    source = f'{MODULE}@mechanism(record=Bit, neighbours="{relation}")\ndef f(x):\n{lines}'
    with module_of(source) as module:
        exact, enclosed = module.f.bind(n=9), module.f.bind(n=9, method="chain")
        bars = [Fraction(1, 10**k) for k in range(1, 4)]
        answers = [exact.privacy(delta=bar).exp_epsilon for bar in bars]
        steps = [Fraction(k, 4) for k in range(4, 9)]
        deltas = [exact.delta(exp_epsilon=t).delta for t in steps]
        moment = exact.renyi(2).exp_moment
        for bar, tight in zip(bars, answers, strict=True):
            found = enclosed.privacy(delta=bar)
            assert found.status in ("bounded", "exact")
            assert found.lower <= tight <= found.upper
            assert enclosed.verify(exp_epsilon=found.upper, delta=bar)
        for t, tight in zip(steps, deltas, strict=True):
            value = enclosed.delta(exp_epsilon=t)
            assert value.lower <= tight <= value.upper
        assert enclosed.renyi(2).lower <= moment <= enclosed.renyi(2).upper
        assert enclosed.curve().status == "unresolved"
