"""Values and weights as certificates have them, and as people read them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.core.far import Far
from tightdp.exact.evaluation import lifted
from tightdp.exact.field import ExpNumber
from tightdp.exact.numbers import as_text
from tightdp.exact.whole import ExpInteger, Whole

__all__ = ["Line", "Written", "root_of", "shown_line", "shown_value", "written_value", "written_whole"]

Written: TypeAlias = Any
"""A value, a weight or a name as JSON has it."""
Line: TypeAlias = Sequence[Written]
"""A name (None where a line defines nothing), a kind, and operands: names, constants as JSON has them, and tables."""


def written_value(value: object) -> Written:
    """Return a value as JSON has it: p/q as a string, strings and numbers with e^q as texts, tuples as lists."""
    if isinstance(value, Far):
        return written_value(value.in_order())
    if isinstance(value, tuple):
        return [written_value(each) for each in value]
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    return {"text": as_text(value) if isinstance(value, ExpNumber) else value}


def shown_value(written: Written) -> str:
    """Return a value, or the name of one, as people read it: strings in quotes, tuples in parentheses."""
    if isinstance(written, list):
        return f"({', '.join(map(shown_value, written))}{',' * (len(written) == 1)})"
    return json.dumps(written["text"]) if isinstance(written, dict) else str(written)


def written_whole(value: Whole, root: int) -> Written:
    """Return a weight as JSON has it: a whole number, or the coefficients of a polynomial in T = e^(1/root)."""
    if not isinstance(value, ExpInteger):
        return int(value)
    found = [int(each) for each in lifted(value.polynomial, root // value.root).coeffs()]
    return found if len(found) > 1 else (found or [0])[0]


def shown_line(line: Line) -> str:
    """Return a line of a core program as people read it."""
    name, kind, *rest = line
    if kind == "draw":
        laws = [_law(rest[0])] if len(rest) == 1 else [_law(law, f"{shown_value(value)}: ") for value, law in rest[1]]
        rest = [*rest[:-1], f"{{ {' ; '.join(laws)} }}"]
    elif kind == "case":
        table = " | ".join(f"{shown_value(value)}: {shown_value(branch)}" for value, branch in rest[1])
        rest = [rest[0], f"{{ {table} }}"]
    words = [*([] if name is None else [name, "="]), kind, *map(shown_value, rest)]
    return " ".join(words)


def _law(law: Sequence[Line], before: str = "") -> str:
    return " | ".join(f"{before}{shown_value(outcome)} {_whole(weight)}" for outcome, weight in law)


def _whole(written: Written) -> str:
    parts = []
    for power, factor in reversed(list(enumerate(written if isinstance(written, list) else [written]))):
        shown = "" if not power else "T" if power == 1 else f"T^{power}"
        if factor:
            parts.append(f"{factor:+d}{shown}" if abs(factor) != 1 or not power else f"{'-+'[factor > 0]}{shown}")
    return "".join(parts).removeprefix("+") or "0"


def root_of(*values: object) -> int:
    """Return the least d such that all values are ratios of polynomials in e^(1/d); 0 where all are rational."""
    roots = [value.root for value in values if isinstance(value, (ExpNumber, ExpInteger))]
    return math.lcm(*roots) if roots else 0
