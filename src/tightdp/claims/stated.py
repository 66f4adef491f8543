"""What a statement says of the numbers that its check measured: its formulas, evaluated.

Formulas stand between backticks in the statement, so that the text that is printed is the text that is decided. One
that follows "for", "if", "where" or "with" is a condition: every instance has to satisfy it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.claims.formula import Formula
from tightdp.claims.instances import Instance, shown_value
from tightdp.errors import ParameterError
from tightdp.exact.reals import Real

__all__ = ["Measured", "OutsideError", "as_measured", "formulas", "judged", "names"]

Measured: TypeAlias = tuple[dict[str, Any], ...]
"""The named quantities that a check found at an instance; several of them where the claim speaks of each."""

_FORMULA = re.compile(r"(?P<condition>\b(?:[Ff]or|[Ii]f|[Ww]here|[Ww]ith)\s+(?:all\s+|every\s+)?)?`(?P<formula>[^`]+)`")
_GREEK = {
    "alpha": "α",
    "beta": "β",
    "delta": "δ",
    "epsilon": "ε",
    "eta": "η",
    "exp_epsilon": "e^ε",
    "lam": "λ",
    "t": "e^ε",
}


class OutsideError(ParameterError):
    """An instance does not satisfy a condition of the statement."""


def formulas(statement: str) -> list[tuple[bool, str]]:
    """Return the formulas of a statement, each with whether it is a condition."""
    return [(bool(found["condition"]), found["formula"]) for found in _FORMULA.finditer(statement)]


def as_measured(answer: Any) -> Measured | None:
    """Return the quantities that a check returned, None where it returned a verdict."""
    if isinstance(answer, Mapping):
        return (dict(answer),)
    if isinstance(answer, Iterable) and not isinstance(answer, str):
        return tuple(dict(each) for each in answer)
    return None


def names(values: Mapping[str, Any], instance: Instance) -> dict[str, Any]:
    """Return what formulas may name: the quantities, and what the instance gives (lam as λ, too)."""
    given = {name: value for name, value in instance.items() if isinstance(value, (int, Fraction))}
    greek = {letter: given[name] for name, letter in _GREEK.items() if name in given}
    return {**given, **greek, **values}


def judged(statement: str, measured: Measured, instance: Instance) -> tuple[str, dict[str, Any]] | None:
    """Return why the statement does not hold, with the exact numbers; None where it does.

    Raises OutsideError where a condition does not hold, ParameterError where a statement has no formula.
    """
    found = formulas(statement)
    if all(condition for condition, _ in found):
        raise ParameterError("the check returns quantities, and the statement has no formula", "write `E = 1/2` in it")
    if not measured:
        raise ParameterError("the check measures nothing here", "return the quantities that the formulas name")
    for values in measured:
        known = names(values, instance)
        for condition, formula in found:
            failing = Formula(formula, known).failing()
            if failing is None:
                continue
            relation, left, right = failing
            sides = f"{_shown(left)} {relation} {_shown(right)} does not hold"
            if condition:
                raise OutsideError(f"the instance lies outside the claim: {formula}: {sides}", "take the instance away")
            exact = {name: side for name, side in (("left", left), ("right", right)) if isinstance(side, Fraction)}
            return f"{formula}: {sides}.", exact
    return None


def _shown(value: Any) -> str:
    return value.text(6) if isinstance(value, Real) else shown_value(value)
