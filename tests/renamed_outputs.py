"""Core programs and laws of small mechanisms, and whether two families of laws are the same up to names of outputs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from agreement import datasets, meaning
from tightdp.core.lowering import lower
from tightdp.core.nodes import CoreProgram
from tightdp.core.passes import expand_shuffles
from tightdp.language.program import Bound
from tightdp.logic.encode import prober

Laws = dict[tuple[Any, ...], dict[Any, Fraction]]


def core(bound: Bound) -> CoreProgram:
    return expand_shuffles(lower(bound, None, prober()))


def laws_of(bound: Bound) -> Laws:
    found = {x: meaning(bound, x) for x in datasets(bound)}
    return {x: law for x, law in found.items() if law is not None}


def only_outputs_renamed(laws: Laws, images: dict[tuple[Any, ...], tuple[Any, ...]]) -> bool:
    """Whether some renaming of outputs takes the law on every dataset to that on its image."""
    columns = [
        Counter(tuple(laws[of(x)].get(y, Fraction(0)) for x in laws) for y in {y for law in laws.values() for y in law})
        for of in (lambda x: x, lambda x: images[x])
    ]
    return columns[0] == columns[1]
