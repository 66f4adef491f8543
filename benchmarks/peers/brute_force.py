"""The definition itself: the law of every dataset by running the function once per random outcome, then the maximum.

python benchmarks/peers/brute_force.py privacy|curve FILE KEY=VALUE ... [:NAME]
python benchmarks/peers/brute_force.py accuracy FILE KEY=VALUE ... ALPHA
python benchmarks/peers/brute_force.py law FILE KEY=VALUE ... DATASET
"""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from itertools import product
from typing import Any

from tightdp.cli.answer import load
from tightdp.cli.words import read_bindings
from tightdp.language.interp import law, target_value
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound


def laws(bound: Bound) -> dict[Any, dict[Any, Fraction]]:
    """The output law of every dataset."""
    return {x: law(bound, x) for x in product(bound.record.values, repeat=bound.n)}


def privacy(bound: Bound) -> Fraction | float:
    """The tight e^ε."""
    table, neighbours = laws(bound), relation_of(bound).neighbours
    return max(
        mass / table[other][y] if y in table[other] else math.inf
        for x in table
        for other in neighbours(x)
        for y, mass in table[x].items()
    )


def first_delta(bound: Bound) -> Fraction:
    """δ at ε = 0, one point of the curve."""
    table, neighbours = laws(bound), relation_of(bound).neighbours
    return max(
        sum(max(Fraction(0), mass - table[other].get(y, 0)) for y, mass in table[x].items())
        for x in table
        for other in neighbours(x)
    )


def accuracy(bound: Bound, alpha: int) -> Fraction:
    """The tight 1 - β."""
    return min(
        sum(mass for y, mass in found.items() if abs(y - target_value(bound, x)) <= alpha)
        for x, found in laws(bound).items()
    )


def main(query: str, file: str, *rest: str) -> None:
    """Print the answer as JSON."""
    name = rest[-1] if rest[-1].startswith(":") else ""
    bindings = read_bindings([word for word in rest if "=" in word])
    extra = rest[-1]
    if query == "law":
        bindings["n"] = len(json.loads(extra))
    n = bindings.pop("n")
    bound = load(file + (name if len(name) > 1 else "")).program.bind(n, **bindings)
    if query == "law":
        answer: Any = max(law(bound, tuple(json.loads(extra))).values())
    elif query == "accuracy":
        answer = accuracy(bound, int(extra))
    else:
        answer = privacy(bound) if query == "privacy" else first_delta(bound)
    print(json.dumps({"answer": str(answer)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
