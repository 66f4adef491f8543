"""Numbers and instances as a reader meets them: long fractions as decimals, names of variables as words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tightdp.claims.instances import shown_value
from tightdp.exact.numbers import decimal_text

__all__ = ["at", "ranges", "short"]

_LONGEST = 13
"""A fraction of more characters is written as a decimal."""
_FRACTION = re.compile(r"(?<![\w.^/])\d+/\d+(?![\w^/])")
_WORDS = {
    "alpha": "α",
    "beta": "β",
    "delta": "δ",
    "epsilon": "ε",
    "exp_epsilon": "e^ε",
    "lam": "λ",
    "seed": "draw",
    "t": "e^ε",
    "tau": "τ",
}


def short(text: str) -> str:
    """Return a text with its long fractions as decimals; the JSON has them exactly."""
    return _FRACTION.sub(lambda found: found[0] if len(found[0]) <= _LONGEST else _decimal(found[0]), text)


def _decimal(fraction: str) -> str:
    return f"{decimal_text(Fraction(fraction), 6)}..."


def at(instance: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """Write an instance in words, as in n = 2, λ = 1/5; what is true or false stands there if true."""
    parts = []
    for name, value in instance.items():
        word = {**_WORDS, **words}.get(name, name.replace("_", " "))
        if isinstance(value, bool):
            parts += [word] if value else []
        elif isinstance(value, str):
            parts.append(f"{word}: {value}")
        else:
            parts.append(f"{word} = {short(shown_value(value))}")
    return ", ".join(parts)


def ranges(where: str, words: Mapping[str, str]) -> str:
    """Write what a list of instances ranges over, with words for the names of its variables."""
    known = {**_WORDS, **words}
    parts = (axis.split(" = ", 1) for axis in where.split("; ") if " = " in axis)
    return "; ".join(f"{known.get(name, name.replace('_', ' '))} = {short(values)}" for name, values in parts)
