"""A renaming of the parts of a program is confirmed as a symmetry only where it is one."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import module_of
from renamed_outputs import core, laws_of, only_outputs_renamed
from symmetric_programs import MODULE
from tightdp import Bit, mechanism, randint
from tightdp.core.nodes import CoreProgram, Draw, Input, reachable
from tightdp.language.program import Bound
from tightdp.symmetry.renaming import Image, Renaming, Verifier


@mechanism(record=Bit)
def voted(x):  # type: ignore[no-untyped-def]
    return x[randint(0, len(x) - 1)], x[0]


def any_renaming(rng: random.Random, program: CoreProgram) -> Renaming:
    nodes = reachable([*program.inputs, *program.components, *program.evidence])
    leaves: dict[int, Image] = {}
    for kind in (Input, Draw):
        sizes: dict[int, list[int]] = {}
        for expr in nodes:
            if isinstance(expr, kind):
                sizes.setdefault(len(expr.values), []).append(expr.serial)
        for size, serials in sizes.items():
            images = rng.sample(serials, len(serials)) if rng.random() < 0.7 else serials
            for serial, image in zip(serials, images, strict=True):
                leaves[serial] = image, some_order(rng, size)
    numbers = list(range(len(program.components)))
    same_size = all(len(c.values) == len(program.components[0].values) for c in program.components)
    images = rng.sample(numbers, len(numbers)) if same_size and rng.random() < 0.5 else numbers
    sizes_of = [len(component.values) for component in program.components]
    return Renaming(leaves, {at: (to, some_order(rng, sizes_of[at])) for at, to in zip(numbers, images, strict=True)})


def some_order(rng: random.Random, size: int) -> tuple[int, ...]:
    order = list(range(size))
    if rng.random() < 0.3:
        rng.shuffle(order)
    return tuple(order)


def moved(bound: Bound, program: CoreProgram, renaming: Renaming, x: tuple[Any, ...]) -> tuple[Any, ...]:
    by_serial = {leaf.serial: leaf for leaf in program.inputs}
    values: dict[tuple[int, int], Any] = {}
    for leaf in program.inputs:
        serial, positions = renaming.leaves[leaf.serial]
        image = by_serial[serial]
        at = leaf.index[bound.record.split(x[leaf.client])[leaf.leaf]]
        values[image.client, image.leaf] = image.values[positions[at]]
    width = len(bound.record.leaves())
    return tuple(bound.record.join([values[client, at] for at in range(width)]) for client in range(bound.n))


SMALL = [
    ("Bit", "return tuple(b ^ flip(1/3) for b in x)"),
    ("Bit", "c = flip(1/3)\nreturn tuple(b ^ c for b in x)"),
    ("Bit", "return (x[randint(0, 2)], flip(1/2))"),
    ("Bit", "return x[0] ^ x[1] ^ flip(1/2), x[2] & flip(1/2)"),
    ("Int(0, 2)", "return tuple((b + randint(0, 2)) % 3 for b in x)"),
    ("Int(0, 2)", "i = choice((0, 1, 2), (1, 1, 2))\nreturn (i, x[i])"),
    ("Bit", "return sum(b ^ flip(1/3) for b in x)"),
    ("Bit", "observe(flip((1 + x[0]) / 3) or x[1])\nreturn flip((1 + x[1] + x[2]) / 4)"),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("record", "body"), SMALL)
@settings(max_examples=max(settings.default.max_examples // 3, 1))
@given(rng=st.randoms(use_true_random=False))
def test_a_renaming_is_confirmed_only_where_it_changes_nothing(record: str, body: str, rng: random.Random) -> None:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    with module_of(f"{MODULE}@mechanism(record={record})\ndef f(x):\n{lines}") as module:
        bound = module.f.bind(n=3).bound
        program = core(bound)
        verifier = Verifier(program)
        assert verifier.confirms(Renaming())
        laws = laws_of(bound)
        for _ in range(20):
            renaming = any_renaming(rng, program)
            if verifier.confirms(renaming):
                assert only_outputs_renamed(laws, {x: moved(bound, program, renaming, x) for x in laws})


def test_renamings_that_are_none_are_not_confirmed() -> None:
    bound = voted.bind(n=3).bound
    program = core(bound)
    verifier = Verifier(program)
    one, other, _ = (leaf.serial for leaf in program.inputs)
    assert verifier.confirms(Renaming({one: (other, (0, 1)), other: (one, (0, 1))})) is False
    assert not verifier.confirms(Renaming({one: (other, (0, 1))}))
    assert not verifier.confirms(Renaming({one: (one, (0, 0))}))
