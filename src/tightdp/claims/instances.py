"""The instances on which a claim is checked: keyword arguments of its check, from small to large, and random laws.

And how numbers and instances are written: exactly, as on a command line, and as a reader meets them.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any, TypeAlias, TypeVar

from tightdp.errors import ParameterError
from tightdp.exact.numbers import as_text, decimal_text
from tightdp.exact.parameters import as_parameter

Instance: TypeAlias = dict[str, Any]
"""The keyword arguments of a check."""

X = TypeVar("X", bound=Hashable)
Law = dict[int, Fraction]

_MOST_LISTED = 6
_SHARES = 256
"""Into how many steps the way from a law that ignores its input to a random one is cut."""
_LONGEST = 13
"""A fraction of more characters is written as a decimal."""
_FRACTION = re.compile(r"(?<![\w.^/])\d+/\d+(?![\w^/])")
GREEK = {
    "alpha": "α",
    "beta": "β",
    "delta": "δ",
    "epsilon": "ε",
    "eta": "η",
    "exp_epsilon": "e^ε",
    "lam": "λ",
    "t": "e^ε",
    "tau": "τ",
}
"""Names of variables as formulas have them."""


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


def plain(value: Any) -> Any:
    """Return a value as JSON has it: rationals as texts, tuples as arrays."""
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, (bool, int, str)) else shown_value(value)


def as_argument(value: Any) -> str:
    """Write a value as on a command line: a tuple becomes a JSON array."""
    return json.dumps(plain(value)) if isinstance(value, tuple) else shown_value(value)


def instance_of(words: Iterable[str]) -> Instance:
    """Return the instance that KEY=VALUE ... name, values as `as_argument` writes them. Raises ParameterError."""
    pairs = [word.partition("=") for word in words]
    if any(not equals for _, equals, _ in pairs):
        raise ParameterError("an instance is written KEY=VALUE", "as in n=2 lam=1/5")
    return {name: _read(value) for name, _, value in pairs}


def _read(text: str) -> Any:
    if not text.startswith("["):
        return _exact(text)
    try:
        return _exact(json.loads(text))
    except json.JSONDecodeError as error:
        raise ParameterError(f"{text} is not an array", 'write a tuple as in x=[0,1] or x=["1/5",0]') from error


def many(count: int, noun: str) -> str:
    """Write a number of things."""
    return f"{count:,} {noun}{'s' if count != 1 else ''}"


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


# in words


def short(text: str) -> str:
    """Return a text with its long fractions as decimals; the JSON has them exactly."""

    def written(found: re.Match[str]) -> str:
        return found[0] if len(found[0]) <= _LONGEST else f"{decimal_text(Fraction(found[0]), 6)}..."

    return _FRACTION.sub(written, text)


def _word(name: str, words: Mapping[str, str]) -> str:
    return {**GREEK, "seed": "draw", **words}.get(name, name.replace("_", " "))


def at(instance: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """Write an instance in words, as in n = 2, λ = 1/5; what is true or false stands there if true."""
    parts = []
    for name, value in instance.items():
        word = _word(name, words)
        if isinstance(value, bool):
            parts += [word] if value else []
        elif isinstance(value, str):
            parts.append(f"{word}: {value}")
        else:
            parts.append(f"{word} = {short(shown_value(value))}")
    return ", ".join(parts)


def ranges(where: str, words: Mapping[str, str]) -> str:
    """Write what a list of instances ranges over, with words for the names of its variables."""
    parts = (axis.split(" = ", 1) for axis in where.split("; ") if " = " in axis)
    return "; ".join(f"{_word(name, words)} = {short(values)}" for name, values in parts)


# laws drawn at random with a fixed seed, as exact tables of probabilities


def random_law(seed: int, inputs: Iterable[X], outputs: int, denominator: int = 20) -> dict[X, Law]:
    """Return a law on 0..outputs-1 for every input; probabilities are multiples of 1/denominator."""
    random = Random(seed)
    return {x: _draw(random, outputs, denominator) for x in inputs}


def random_dp_law(
    seed: int,
    n: int,
    outputs: int = 3,
    exp_epsilon: Fraction | int = 2,
    delta: Fraction | int = 0,
    denominator: int = 20,
) -> dict[tuple[int, ...], Law]:
    """Return laws for all datasets of n bits, exactly (ε, δ)-DP for a change of one bit; e^ε = exp_epsilon.

    A random law is mixed with one that ignores its input; the share of the random one is the largest multiple
    of 1/256 that keeps the guarantee. (δ at a given e^ε is convex in the share and 0 at share 0, so it only
    grows.)
    """
    random = Random(seed)
    base = _draw(random, outputs, denominator, least=1)
    drawn = {x: _draw(random, outputs, denominator) for x in product((0, 1), repeat=n)}
    private = bisect(
        range(1, _SHARES + 1),
        False,
        key=lambda steps: not _is_private(_mixed(base, drawn, steps), Fraction(exp_epsilon), Fraction(delta)),
    )
    return _mixed(base, drawn, private)


def _draw(random: Random, outputs: int, denominator: int, least: int = 0) -> Law:
    """Return a law whose probabilities are multiples of 1/denominator, each at least `least` of them."""
    cuts = sorted(random.randint(0, denominator - least * outputs) for _ in range(outputs - 1))
    ends = [0, *cuts, denominator - least * outputs]
    return {y: Fraction(ends[y + 1] - ends[y] + least, denominator) for y in range(outputs)}


def _mixed(base: Law, drawn: dict[tuple[int, ...], Law], steps: int) -> dict[tuple[int, ...], Law]:
    share = Fraction(steps, _SHARES)
    return {x: {y: (1 - share) * base[y] + share * p for y, p in law.items()} for x, law in drawn.items()}


def _is_private(laws: dict[tuple[int, ...], Law], t: Fraction, delta: Fraction) -> bool:
    for x, law in laws.items():
        for at, bit in enumerate(x):
            other = laws[(*x[:at], 1 - bit, *x[at + 1 :])]
            if sum((max(Fraction(0), p - t * other[y]) for y, p in law.items()), Fraction(0)) > delta:
                return False
    return True
