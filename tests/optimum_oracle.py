"""Independent code about optima: a checker of both ends from the JSON alone, and two linear programs written anew.

Nothing here is shared with the package, and `recheck` needs the standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog

Dataset = tuple[Any, ...]
Value = Callable[[Any, Any], Fraction]


def recheck(answer: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """Both ends that the table and the multipliers of an answer of `tightdp optimum --json` prove."""
    found = answer["result"]
    best, delta = found["best"], Fraction(found["delta"])
    table = [[Fraction(mass) for mass in row] for row in best["table"]]
    values = [[_value(found, output, target) for output in best["outputs"]] for target in best["targets"]]
    least, sign = found["measure"].endswith("error"), -1 if found["measure"].endswith("error") else 1
    t = Fraction(best["lower_exp_epsilon"])
    assert all(sum(row) == 1 and min(row) >= 0 for row in table)
    for x, other in best["neighbours"]:
        assert sum(max(p - t * q, 0) for p, q in zip(table[x], table[other], strict=True)) <= delta
    reached = [sum(p * v for p, v in zip(row, value, strict=True)) for row, value in zip(table, values, strict=True)]
    t = Fraction(best["upper_exp_epsilon"])
    weights = [Fraction(weight) for weight in best["weights"]]
    assert sum(weights) == 1
    assert min(weights) >= 0
    rest = [[sign * weight * value for value in row] for weight, row in zip(weights, values, strict=True)]
    pairs = {tuple(pair): Fraction(0) for pair in best["neighbours"]}
    for x, other, y, text in best["multipliers"]:
        multiplier = Fraction(text)
        assert multiplier >= 0
        rest[x][y] -= multiplier
        rest[other][y] += t * multiplier
        pairs[x, other] = max(pairs[x, other], multiplier)
    bound = sign * (sum(max(row) for row in rest) + delta * sum(pairs.values()))
    return (bound, max(reached)) if least else (min(reached), bound)


def _value(found: dict[str, Any], output: Any, target: Any) -> Fraction:
    """What the measure is the mean of."""
    if found["measure"] == "right answer":
        return Fraction(output == target)
    away = abs(Fraction(output) - Fraction(target))
    if found["measure"] == "accuracy":
        return Fraction(away <= Fraction(found["alpha"]))
    return away if found["measure"] == "absolute error" else away**2


def every_pair(datasets: Sequence[Dataset], near: Callable[[Dataset, Dataset], bool]) -> Iterator[tuple[int, int]]:
    """All pairs of neighbours."""
    for (i, x), (j, other) in product(enumerate(datasets), repeat=2):
        if i != j and near(x, other):
            yield i, j


def replace_one(x: Dataset, other: Dataset) -> bool:
    """One record differs."""
    return sum(a != b for a, b in zip(x, other, strict=True)) == 1


def unit_all(x: Dataset, other: Dataset) -> bool:
    """Every record differs by 1 at most."""
    return all(abs(a - b) <= 1 for a, b in zip(x, other, strict=True))


def unit_step(x: Dataset, other: Dataset) -> bool:
    """One record differs, by 1."""
    return replace_one(x, other) and unit_all(x, other)


def add_remove(x: Dataset, other: Dataset) -> bool:
    """One record is there in one of them only."""
    return all(a == b or None in (a, b) for a, b in zip(x, other, strict=True)) and replace_one(x, other)


def whole_program(
    values: Sequence[Sequence[Fraction]], pairs: Sequence[tuple[int, int]], t: float, delta: float, least: bool
) -> float:
    """The optimum in floats, by one program over all datasets: every unknown for itself, errors minimised as such.

    Unknowns are the masses, the worst value, then for every pair and output what exceeds e^ε times the other's mass.
    """
    datasets, outputs = len(values), len(values[0])
    masses = datasets * outputs
    worst, size = masses, masses + 1 + (len(pairs) * outputs if delta else 0)
    above, below, equal = [], [], np.zeros((datasets, size))
    for i in range(datasets):
        equal[i, i * outputs : (i + 1) * outputs] = 1
        row = np.zeros(size)
        row[i * outputs : (i + 1) * outputs] = [float(value) * (1 if least else -1) for value in values[i]]
        row[worst] = -1 if least else 1
        above.append(row)
        below.append(0.0)
    for at, (i, j) in enumerate(pairs):
        spent = np.zeros(size)
        for y in range(outputs):
            row = np.zeros(size)
            row[i * outputs + y], row[j * outputs + y] = 1, -t
            if delta:
                row[worst + 1 + at * outputs + y] = -1
                spent[worst + 1 + at * outputs + y] = 1
            above.append(row)
            below.append(0.0)
        if delta:
            above.append(spent)
            below.append(delta)
    gain = np.zeros(size)
    gain[worst] = 1 if least else -1
    found = linprog(gain, A_ub=np.array(above), b_ub=below, A_eq=equal, b_eq=np.ones(datasets), method="highs")
    assert found.status == 0
    return float(found.x[worst])


def simplex(values: Sequence[Sequence[Fraction]], pairs: Sequence[tuple[int, int]], t: Fraction) -> Fraction:
    """The exact largest worst-case mean of values over ε-DP mechanisms, by the simplex method on a table of rationals.

    The first output takes what the others leave, always the first output is a vertex to begin from, and Bland's rule
    keeps the method from going round in circles.
    """
    datasets, others = len(values), len(values[0]) - 1
    worst = datasets * others
    rows: list[tuple[dict[int, Fraction], Fraction]] = []

    def every(i: int, value: Fraction) -> dict[int, Fraction]:
        return {i * others + y: value for y in range(others)}

    for i, (first, *rest) in enumerate(values):
        rows.append((every(i, Fraction(1)), Fraction(1)))
        gains = {i * others + y: first - value for y, value in enumerate(rest)}
        rows.append(({worst: Fraction(1)} | gains, first))
    for i, j in pairs:
        rows += [({i * others + y: Fraction(1), j * others + y: -t}, Fraction(0)) for y in range(others)]
        rows.append((every(i, Fraction(-1)) | every(j, t), t - 1))
    size = worst + 1
    table = [[terms.get(column, Fraction(0)) for column in range(size)] + [right] for terms, right in rows]
    for at, row in enumerate(table):
        row[size:size] = [Fraction(at == other) for other in range(len(rows))]
    basis = list(range(size, size + len(rows)))
    gain = [Fraction(column == worst) for column in range(size + len(rows))] + [Fraction(0)]
    while (entering := next((at for at, value in enumerate(gain[:-1]) if value > 0), None)) is not None:
        ratios = [(row[-1] / row[entering], basis[at], at) for at, row in enumerate(table) if row[entering] > 0]
        leaving = min(ratios)[2]
        pivot = table[leaving][entering]
        table[leaving] = [value / pivot for value in table[leaving]]
        for row in (*(row for at, row in enumerate(table) if at != leaving), gain):
            if factor := row[entering]:
                for column, value in enumerate(table[leaving]):
                    if value:
                        row[column] -= factor * value
        basis[leaving] = entering
    return -gain[-1]
