"""The same questions in ProbLog with SDDs (pysdd). Its probabilities are floats.

Each program is compiled once. Records are facts whose weights are then set to 0 or 1 for one dataset after another,
which spares ProbLog a compilation per dataset. For randomized response and its count only the n + 1 datasets 1...10...0
are gone through: the set that oakley2024 (Sec. 5) proves sufficient by hand.

    python benchmarks/peers/problog_peer.py law response|count|threshold DATASET
    python benchmarks/peers/problog_peer.py privacy response|count N, or privacy threshold K N
    python benchmarks/peers/problog_peer.py accuracy count N, or probability response N
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from typing import Any

from problog import get_evaluatable
from problog.logic import Constant, Term
from problog.program import PrologString

from tightdp.language.laws import geometric

sys.setrecursionlimit(1_000_000)
HALF = "1/2"


def alternatives(head: str, law: Iterable[tuple[int, Any]], body: str = "") -> str:
    """An annotated disjunction: one of the outcomes of a law."""
    options = "; ".join(f"{float(mass)!r}::{head.format(outcome)}" for outcome, mass in law)
    return f"{options} :- {body}." if body else f"{options}."


def sent(n: int) -> list[str]:
    """Clients 0..n-1 send bits(I, B), their record x(I) flipped with probability 0.2."""
    lines = []
    for i in range(n):
        lines += [f"0.5::x({i}).", f"0.2::flip({i})."]
        lines += [f"sent({i},1) :- x({i}), \\+flip({i}).", f"sent({i},1) :- \\+x({i}), flip({i})."]
        lines += [f"sent({i},0) :- x({i}), flip({i}).", f"sent({i},0) :- \\+x({i}), \\+flip({i})."]
    return lines


def match(y: Sequence[int]) -> list[str]:
    """Whether the bits sent are y."""
    steps = [f"match({i + 1}) :- match({i}), sent({i},{b})." for i, b in enumerate(y)]
    return [*sent(len(y)), "match(0).", *steps, f"query(match({len(y)}))."]


def every_output(n: int) -> list[str]:
    """The tuple of the bits sent."""
    names = [f"B{i}" for i in range(n)]
    body = ", ".join(f"sent({i},{name})" for i, name in enumerate(names))
    return [*sent(n), f"out({','.join(names)}) :- {body}.", f"query(out({','.join(names)}))."]


def count(n: int) -> list[str]:
    """The number of ones sent, as a chain of partial sums."""
    lines = [*sent(n), "count(0,0)."]
    for i in range(n):
        for total in range(i + 1):
            lines.append(f"count({i + 1},{total}) :- count({i},{total}), sent({i},0).")
            lines.append(f"count({i + 1},{total + 1}) :- count({i},{total}), sent({i},1).")
    return [*lines, *(f"query(count({n},{total}))." for total in range(n + 1))]


def threshold(k: int, n: int) -> list[str]:
    """Above-threshold; record i is the number with the bits x(i,0), x(i,1), ... from the lowest."""
    lines = [alternatives("t({})", geometric((k + 1) // 2, HALF, 0, k)), "below(0)."]
    digits = k.bit_length()
    for i in range(n):
        lines += [f"0.5::x({i},{j})." for j in range(digits)]
        for v in range(k + 1):
            bits = ", ".join(("" if v >> j & 1 else "\\+") + f"x({i},{j})" for j in range(digits))
            lines.append(f"v({i},{v}) :- {bits}.")
            lines.append(alternatives(f"noisy({i},{{}})", geometric(v, HALF, 0, k), f"v({i},{v})"))
        lines += [f"hit({i}) :- noisy({i},{z}), t({t})." for z in range(k + 1) for t in range(z + 1)]
        lines += [f"out({i}) :- below({i}), hit({i}).", f"below({i + 1}) :- below({i}), \\+hit({i})."]
    return [*lines, f"out({n}) :- below({n}).", *(f"query(out({i}))." for i in range(n + 1))]


class Compiled:
    """A compiled program, evaluated on datasets."""

    def __init__(self, lines: Sequence[str], digits: int = 0) -> None:
        self.circuit = get_evaluatable("sdd").create_from(PrologString("\n".join(lines)))
        self.digits = digits

    def law(self, x: Sequence[int]) -> dict[str, float]:
        """The probability of every query on one dataset."""
        weights = {}
        for i, value in enumerate(x):
            if self.digits:
                for j in range(self.digits):
                    weights[Term("x", Constant(i), Constant(j))] = float(value >> j & 1)
            else:
                weights[Term("x", Constant(i))] = float(value)
        return {str(query): float(mass) for query, mass in self.circuit.evaluate(weights=weights).items()}


def sorted_datasets(n: int) -> Iterator[tuple[int, ...]]:
    """The datasets 1...10...0."""
    return ((1,) * ones + (0,) * (n - ones) for ones in range(n + 1))


def largest_ratio(pairs: Iterable[tuple[dict[str, float], dict[str, float]]]) -> float:
    """The largest likelihood ratio over pairs of neighbours, in both directions."""
    return max(
        (left[y] / right[y] if right[y] else math.inf)
        for one, other in pairs
        for left, right in ((one, other), (other, one))
        for y in left
        if left[y] > 0
    )


def privacy(mechanism: str, *sizes: int) -> float:
    """The tight e^ε."""
    if mechanism == "threshold":
        k, n = sizes
        compiled = Compiled(threshold(k, n), k.bit_length())
        laws = {x: compiled.law(x) for x in product(range(k + 1), repeat=n)}
        return largest_ratio(
            (found, laws[(*x[:i], v, *x[i + 1 :])]) for x, found in laws.items() for i in range(n) for v in range(x[i])
        )
    n = sizes[0]
    compiled = Compiled(match((0,) * n) if mechanism == "response" else count(n))
    chain = [compiled.law(x) for x in sorted_datasets(n)]
    return largest_ratio(pairwise(chain))


def accuracy(n: int) -> float:
    """The tight 1 - β at α = n/4."""
    compiled = Compiled(count(n))
    names = [f"count({n},{total})" for total in range(n + 1)]
    return min(
        sum(mass for total, mass in enumerate(map(compiled.law(x).__getitem__, names)) if abs(total - sum(x)) <= n // 4)
        for x in sorted_datasets(n)
    )


def law(mechanism: str, x: Sequence[int]) -> float:
    """The largest probability of the law on one dataset."""
    n = len(x)
    if mechanism == "threshold":
        return max(Compiled(threshold(15, n), 4).law(x).values())
    return max(Compiled(every_output(n) if mechanism == "response" else count(n)).law(x).values())


def probability(n: int) -> int:
    """The size of P(y|x) for one pair, as a power of 2."""
    x = tuple(i % 2 for i in range(n))
    y = tuple(int(i % 3 == 0) for i in range(n))
    (mass,) = Compiled(match(y)).law(x).values()
    return math.frexp(mass)[1]


def main(query: str, mechanism: str, *rest: str) -> None:
    """Print the answer as JSON."""
    if query == "law":
        answer: float = law(mechanism, json.loads(rest[0]))
    elif query == "privacy":
        answer = privacy(mechanism, *map(int, rest))
    else:
        answer = accuracy(int(rest[0])) if query == "accuracy" else probability(int(rest[0]))
    print(json.dumps({"answer": answer}))


if __name__ == "__main__":
    main(*sys.argv[1:])
