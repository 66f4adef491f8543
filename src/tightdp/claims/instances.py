"""The instances on which a claim is checked: keyword arguments of its check, from small to large."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from tightdp.errors import ParameterError
from tightdp.exact.numbers import as_text
from tightdp.exact.parameters import as_parameter

__all__ = [
    "Instance",
    "Whole",
    "as_argument",
    "coerced",
    "grid",
    "read_argument",
    "seeds",
    "shown_instance",
    "shown_instances",
    "shown_value",
]

Instance: TypeAlias = dict[str, Any]
"""The keyword arguments of a check."""

_MOST_LISTED = 6


class Whole(int):
    """An int of an instance: its quotients and negative powers are Fractions, so that no check divides to a float."""

    def __truediv__(self, other: Any) -> Any:
        return Fraction(int(self), int(other)) if isinstance(other, int) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return Fraction(int(other), int(self)) if isinstance(other, int) else NotImplemented

    def __pow__(self, power: Any, modulo: Any = None) -> Any:
        if modulo is None and isinstance(power, int):
            return _whole(Fraction(int(self)) ** int(power) if power < 0 else int(self) ** int(power))
        return NotImplemented if modulo is None else pow(int(self), power, modulo)

    def __rpow__(self, base: Any, modulo: Any = None) -> Any:
        return Whole(base) ** int(self) if isinstance(base, int) and modulo is None else NotImplemented


def _whole(value: Any) -> Any:
    """Return an int as Whole, anything else as it is."""
    return Whole(value) if type(value) is int else value


def _keeps_whole(name: str) -> Any:
    operation = getattr(int, name)

    def apply(self: Whole, *other: Any) -> Any:
        return _whole(operation(self, *other))

    return apply


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "floordiv", "rfloordiv", "mod", "rmod", "neg", "pos", "abs"):
    setattr(Whole, f"__{_name}__", _keeps_whole(f"__{_name}__"))


def grid(**axes: Iterable[Any]) -> list[Instance]:
    """Return all combinations of the values of the axes; the first axis changes slowest.

    Texts such as "1/5" become exact rationals, and whole numbers divide to rationals, never to floats. List every
    axis from simple to complicated: the first instance on which a claim fails is its counterexample.
    """
    values = [[_exact(value) for value in axis] for axis in axes.values()]
    return [dict(zip(axes, chosen, strict=True)) for chosen in product(*values)]


def seeds(count: int, first: int = 0, **fixed: Any) -> list[Instance]:
    """Return one instance for each of `count` seeds, with the other arguments fixed."""
    return [coerced({"seed": first + at, **fixed}) for at in range(count)]


def coerced(instance: Mapping[str, Any]) -> Instance:
    """Return an instance with its texts and decimals made exact."""
    return {name: _exact(value) for name, value in instance.items()}


def _exact(value: Any) -> Any:
    if isinstance(value, (str, float, list, tuple)):
        value = as_parameter(value)
    return tuple(map(_exact, value)) if isinstance(value, tuple) else _whole(value)


def shown_value(value: Any) -> str:
    """Write a value of an instance or a number of a counterexample; no rational loses a digit."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, (int, Fraction, float)):
        return as_text(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(shown_value, value))}{',' if len(value) == 1 else ''})"
    return str(value)


def as_argument(value: Any) -> str:
    """Write a value as on a command line: a tuple becomes a JSON array, its rationals texts."""
    return json.dumps(_as_json(value)) if isinstance(value, tuple) else shown_value(value)


def _as_json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_as_json(each) for each in value]
    return value if value is None or isinstance(value, (bool, int, str)) else shown_value(value)


def read_argument(text: str) -> Any:
    """Read what `as_argument` writes. Raises ParameterError for a broken array."""
    if not text.startswith("["):
        return _exact(text)
    try:
        return _exact(json.loads(text))
    except json.JSONDecodeError as error:
        raise ParameterError(f"{text} is not an array", 'write a tuple as in x=[0,1] or x=["1/5",0]') from error


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
    whole = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
    if whole and len(values) > 2 and len(set(values)) == max(values) - min(values) + 1:
        return f"{min(values)}..{max(values)}"
    texts = [shown_value(value) for value in values]
    if len(texts) > _MOST_LISTED:
        return f"{', '.join(texts[: _MOST_LISTED - 1])}, ... ({len(texts)} values)"
    return ", ".join(texts)
