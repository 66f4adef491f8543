"""The instances on which a claim is checked: keyword arguments of its check, from small to large."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from tightdp.lang.rationals import as_parameter
from tightdp.report.numbers import as_text

__all__ = ["Instance", "coerced", "grid", "seeds", "shown_instance", "shown_instances", "shown_value"]

Instance: TypeAlias = dict[str, Any]
"""The keyword arguments of a check."""

_MOST_LISTED = 6


def grid(**axes: Iterable[Any]) -> list[Instance]:
    """Return all combinations of the values of the axes; the first axis changes slowest.

    Texts such as "1/5" become exact rationals. List every axis from simple to complicated: the first instance
    on which a claim fails is its counterexample.
    """
    values = [[_exact(value) for value in axis] for axis in axes.values()]
    return [dict(zip(axes, chosen, strict=True)) for chosen in product(*values)]


def seeds(count: int, first: int = 0, **fixed: Any) -> list[Instance]:
    """Return one instance for each of so many seeds, with the other arguments fixed."""
    return [coerced({"seed": first + at, **fixed}) for at in range(count)]


def coerced(instance: Mapping[str, Any]) -> Instance:
    """Return an instance with its texts and decimals made exact."""
    return {name: _exact(value) for name, value in instance.items()}


def _exact(value: Any) -> Any:
    return as_parameter(value) if isinstance(value, (str, float, list, tuple)) else value


def shown_value(value: Any) -> str:
    """Write a value of an instance or a number of a counterexample; no rational loses a digit."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, (int, Fraction, float)):
        return as_text(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(shown_value, value))}{',' if len(value) == 1 else ''})"
    return str(value)


def shown_instance(instance: Mapping[str, Any]) -> str:
    """Write an instance, as in n = 2, lam = 1/5."""
    return ", ".join(f"{name} = {shown_value(value)}" for name, value in instance.items())


def shown_instances(instances: Iterable[Mapping[str, Any]]) -> str:
    """Say what a list of instances ranges over, as in n = 1..6; lam = 1/5, 1/3."""
    axes: dict[str, list[Any]] = {}
    for instance in instances:
        for name, value in instance.items():
            seen = axes.setdefault(name, [])
            if value not in seen:
                seen.append(value)
    return "; ".join(f"{name} = {_range(values)}" for name, values in axes.items())


def _range(values: list[Any]) -> str:
    whole = all(type(value) is int for value in values)
    if whole and len(values) > 2 and sorted(values) == list(range(min(values), max(values) + 1)):
        return f"{min(values)}..{max(values)}"
    texts = [shown_value(value) for value in values]
    if len(texts) > _MOST_LISTED:
        return f"{', '.join(texts[: _MOST_LISTED - 1])}, ... ({len(texts)} values)"
    return ", ".join(texts)
