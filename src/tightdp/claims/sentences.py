"""Sentences with formulas between backticks: what is printed is what decides, on the numbers that a check measured.

A formula that follows "for", "if", "where" or "with" is a condition: every instance has to satisfy it, a counterexample
too. The others are what the sentence says. Between two formulas "if and only if" is checked as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import isfinite
from typing import Any, TypeAlias

from tightdp.claims.formula import failing, read
from tightdp.claims.instances import GREEK, Instance, shown_instance, shown_value
from tightdp.errors import ParameterError
from tightdp.exact.numbers import decimal_text
from tightdp.exact.reals import Real

Measured: TypeAlias = tuple[dict[str, Any], ...]
"""The named quantities that a check found at an instance; several of them where the claim speaks of each."""

_LONGEST = 400
"""A fraction whose denominator has more bits is shown as a decimal."""
_STATED = re.compile(r"(?P<condition>\b(?:[Ff]or|[Ii]f|[Ww]here|[Ww]ith)\s+(?:all\s+|every\s+)?)?`(?P<formula>[^`]+)`")

_IFF = re.compile(r"`\s+if and only if\s+`")


class OutsideError(ParameterError):
    """An instance does not satisfy a condition of the statement."""


def formulas(sentence: str) -> list[tuple[bool, str]]:
    """Return the formulas of a sentence, each with whether it is a condition."""
    joined = _IFF.sub(" <=> ", sentence)
    return [(bool(found["condition"]), found["formula"]) for found in _STATED.finditer(joined)]


def as_measured(answer: Any, instance: Instance) -> Measured:
    """Return the quantities that a check returned. Raises ParameterError where it returned anything else."""
    listed = isinstance(answer, Iterable) and not isinstance(answer, (Mapping, str))
    found = (answer,) if isinstance(answer, Mapping) else tuple(answer) if listed else ()
    if found and all(isinstance(each, Mapping) for each in found):
        for name, value in ((name, value) for each in found for name, value in each.items()):
            if isinstance(value, float) and isfinite(value):
                what = f"the check gives the float {name} = {value!r} at {shown_instance(instance)}"
                raise ParameterError(what, "measure exact numbers: ints, Fractions")
        return tuple(dict(each) for each in found)
    what = f"the check returns {answer!r} at {shown_instance(instance)}"
    raise ParameterError(what, "return the quantities that the formulas of the statement name, as a dictionary")


def names(values: Mapping[str, Any], instance: Instance) -> dict[str, Any]:
    """Return what formulas may name: the quantities, and what the instance gives (lam as λ, too)."""
    given = {name: value for name, value in instance.items() if isinstance(value, (int, Fraction))}
    greek = {letter: given[name] for name, letter in GREEK.items() if name in given}
    return {**given, **greek, **values}


def judged(sentence: str, given: str, measured: Measured, instance: Instance) -> tuple[str, dict[str, Any]] | None:
    """Return why the sentence does not hold, with the numbers; None where it does.

    `given` are further conditions, which the instances satisfy for technical reasons. Raises OutsideError where a
    condition does not hold, ParameterError where a sentence says no formula.
    """
    found = formulas(sentence)
    if all(condition for condition, _ in found):
        raise ParameterError("the statement says no formula", "write what is checked into it, as in `E = 1/2`")
    first = [(True, each) for each in given.split(";") if each] + sorted(found, key=lambda each: not each[0])
    for values in measured:
        known = names(values, instance)
        for condition, formula in first:
            wrong = failing(read(formula, frozenset(known)), known)
            if wrong is None:
                continue
            relation, left, right = wrong
            sides = f"{shown(left)} {relation} {shown(right)} does not hold"
            if relation == "<=>":
                sides = f"the {'first' if left else 'second'} holds, the other does not"
            if condition:
                raise OutsideError(f"the instance lies outside the claim: {formula}: {sides}", "take the instance away")
            return f"`{formula.replace('<=>', 'if and only if')}` fails: {sides}.", values
    return None


def shown(value: Any) -> str:
    """Write a number: a certified real by an enclosure, a fraction with very many digits as a decimal."""
    if isinstance(value, Fraction) and value.denominator.bit_length() > _LONGEST:
        return f"{decimal_text(value, 8)}..."
    return value.text(6) if isinstance(value, Real) else shown_value(value)
