"""Accuracy: how surely a numeric output is close to its target, on the worst dataset (oakley2024, Algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightdp.core.operators import is_number
from tightdp.errors import ParameterError, QueryError
from tightdp.language.interp import target_value
from tightdp.language.program import Dataset
from tightdp.symmetry.sets import AccuracySet, Table

__all__ = ["AccuracyClass", "accuracy", "least_alpha"]


@dataclass(frozen=True)
class AccuracyClass:
    """Datasets with the same P(|M(x) - V(x)| <= alpha): one of them, the probability, and how many they are."""

    x: Dataset
    one_minus_beta: Fraction
    inputs: int


def accuracy(table: Table, accuracy_set: AccuracySet, alpha: Fraction) -> tuple[AccuracyClass, ...]:
    """Return the classes of datasets of equal accuracy at error bound alpha >= 0, worst first.

    The first gives the tight 1 - β. Raises QueryError where an output is not a number or there is no target.
    """
    if alpha < 0:
        raise ParameterError(f"alpha is {alpha}", "give an error bound of at least 0")
    classes: dict[Fraction, tuple[Dataset, int]] = {}
    for x, inputs in accuracy_set:
        weights, total = errors(table, x)
        value = Fraction(sum(weight for error, weight in weights.items() if error <= alpha), total)
        first, count = classes.get(value, (x, 0))
        classes[value] = (first, count + inputs)
    return tuple(AccuracyClass(x, value, count) for value, (x, count) in sorted(classes.items()))


def least_alpha(table: Table, accuracy_set: AccuracySet, beta: Fraction) -> tuple[Fraction, Dataset | None]:
    """Return the least alpha with P(|M(x) - V(x)| <= alpha) >= 1 - beta for all x, and a dataset that needs it.

    Over an empty set that is 0, which no dataset needs.
    """
    if not 0 <= beta < 1:
        raise ParameterError(f"beta is {beta}", "give a failure probability of at least 0 and below 1")
    worst: tuple[Fraction, Dataset | None] = (Fraction(0), None)
    for x, _ in accuracy_set:
        weights, total = errors(table, x)
        enough, reached = (1 - beta) * total, 0
        for error, weight in sorted(weights.items()):
            reached += weight
            if reached >= enough:
                if worst[1] is None or error > worst[0]:
                    worst = (Fraction(error), x)
                break
    return worst


def errors(table: Table, x: Dataset) -> tuple[dict[int | Fraction, int], int]:
    """Return the law of |M(x) - V(x)| as weights by error, and their total."""
    target = target_value(table.bound, x)
    weights = table.weights(x)
    masses: dict[int | Fraction, int] = {}
    for code, weight in weights.by_code.items():
        output = table.output(code)
        if not is_number(output):
            raise QueryError(
                f"accuracy needs a numeric output, and on the dataset {x} {table.bound.program.name} can output "
                f"{output!r}",
                "ask accuracy of a mechanism that returns a number on every run",
            )
        error = abs(output - target)
        masses[error] = masses.get(error, 0) + weight
    return masses, weights.total
