"""Writes the corpus: programs of the generators of the tests, as text, so that later generators change nothing."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import strategies
import symmetric_programs
from generators.comparison import LIBRARY
from generators.mechanisms import draw_mechanism
from generators.noisy_uniform_programs import noisy_uniform_program
from generators.uniform_programs import uniform_program
from generators.writer import draw

from .sources import CORPUS
from .written import WRITTEN

PROLOGUE = f"{LIBRARY}from tightdp import *\n\n"


def entries() -> Iterator[dict[str, Any]]:
    """All entries of the corpus."""
    for seed in range(70):
        made = draw_mechanism(seed)
        yield _entry(f"drawn-mechanism-{seed}", PROLOGUE + made.source, "f", made.n)
    for seed in range(30):
        drawn = symmetric_programs.draw(random.Random(seed))
        yield _entry(f"drawn-symmetric-{seed}", PROLOGUE + drawn.source, "f", drawn.n)
    for seed in range(30):
        made = draw(seed)
        yield _entry(f"drawn-program-{seed}", PROLOGUE + made.source, "f", made.n)
    for seed in range(30):
        case = strategies.write_program(random.Random(seed))
        text = f"{PROLOGUE}{case.source}\n\nf = mechanism(record={_domain(case.record)})(f)\n"
        if case.neighbours == "replace-one":
            yield _entry(f"drawn-case-{seed}", text, "f", case.n, {k: str(v) for k, v in case.parameters.items()})
    for seed in range(15):
        yield _entry(f"drawn-uniform-{seed}", uniform_program(seed), "drawn", "all")
    for seed in range(15):
        yield _entry(f"drawn-noisy-{seed}", noisy_uniform_program(seed), "drawn", "all")
    yield from WRITTEN


def _entry(name: str, source: str, mechanism: str, n: Any, bind: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"name": name, "source": source, "mechanism": mechanism, "n": n, "bind": bind or {}}


def _domain(record: Any) -> str:
    return f"Values({', '.join(map(repr, record.values))})"


def write() -> None:
    """Write the file."""
    lines = (json.dumps(entry, ensure_ascii=False) for entry in itertools.chain(entries()))
    CORPUS.write_text("\n".join(lines) + "\n", encoding="utf-8")
