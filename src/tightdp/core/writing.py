"""Values and weights as the text of a core program has them."""

from __future__ import annotations

import json
import math
from fractions import Fraction

from tightdp.exact.evaluation import lifted
from tightdp.exact.field import ExpNumber
from tightdp.exact.numbers import as_text
from tightdp.exact.whole import ExpInteger, Whole

__all__ = ["root_of", "write_value", "write_whole"]


def write_value(value: object) -> str:
    """Write a value: numbers as p/q, strings as in JSON, tuples in parentheses."""
    if isinstance(value, tuple):
        return f"({', '.join(map(write_value, value))}{',' * (len(value) == 1)})"
    if value is None or isinstance(value, (bool, int, Fraction)):
        return str(value)
    return json.dumps(as_text(value) if isinstance(value, ExpNumber) else value)


def write_whole(value: Whole, root: int) -> str:
    """Write a weight: a whole number, or a polynomial in T = e^(1/root), as 3T^2-T+4."""
    if not isinstance(value, ExpInteger):
        return str(value)
    parts = []
    for power, factor in reversed(list(enumerate(lifted(value.polynomial, root // value.root).coeffs()))):
        shown = "" if not power else "T" if power == 1 else f"T^{power}"
        if factor:
            parts.append(f"{int(factor):+d}{shown}" if abs(factor) != 1 or not power else f"{'-+'[factor > 0]}{shown}")
    return "".join(parts).removeprefix("+") or "0"


def root_of(*values: object) -> int:
    """Return the least d such that all values are ratios of polynomials in e^(1/d); 0 where all are rational."""
    roots = [value.root for value in values if isinstance(value, (ExpNumber, ExpInteger))]
    return math.lcm(*roots) if roots else 0
