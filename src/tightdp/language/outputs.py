"""Outputs: what a mechanism may return, in one form for values that Python calls equal."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite
from typing import Any, TypeAlias

from tightdp.exact.field import ExpNumber
from tightdp.exact.rationals import Symbolic
from tightdp.language.doubles import BITS, as_exact_output

Output: TypeAlias = Any
"""None, bool, int, Fraction, str, or a tuple of outputs; of a run that drew real numbers also float."""

_PLAIN = frozenset({int, bool, str, type(None)})
"""Types of outputs that are as they should be."""


def as_output(value: Any, *, real: bool = False) -> Output:
    """The value as an output: whole rationals as ints, sets and dictionaries as tuples sorted by `order_of`.

    Floats are outputs where the run drew `real` numbers. Raises TypeError showing what is no output.
    """
    if type(value) is tuple and _PLAIN.issuperset(map(type, value)):
        return value
    if isinstance(value, dict):
        pairs = [(as_output(key, real=real), as_output(item, real=real)) for key, item in value.items()]
        return tuple(sorted(pairs, key=lambda pair: order_of(pair[0])))
    if isinstance(value, (set, frozenset)):
        return tuple(sorted((as_output(item, real=real) for item in value), key=order_of))
    if isinstance(value, tuple):
        return tuple(as_output(item, real=real) for item in value)
    if isinstance(value, float) and BITS.get():
        return as_exact_output(value)
    if isinstance(value, float) and real and isfinite(value):
        return value
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else value
    if value is None or isinstance(value, (int, str, ExpNumber, Symbolic)):
        return value
    if type(value).__module__.startswith(("numpy", "tightdp.language.arrays")) and hasattr(value, "tolist"):
        listed = value.tolist()
        return as_output(tuple(value) if isinstance(listed, list) else listed, real=real)
    shown, name = repr(value), type(value).__name__
    raise TypeError(f"a {name}" if " at 0x" in shown else f"the {name} {shown}")


def order_of(output: Output) -> tuple[Any, ...]:
    """What outputs are sorted by: None, numbers, strings, then tuples, entry by entry."""
    if output is None:
        return (0,)
    if isinstance(output, str):
        return (2, output)
    if isinstance(output, Sequence):
        return (3, [order_of(item) for item in output])
    return (1, output)


def as_seen(value: Any) -> Output:
    """The value as an analyst sees it: an output, lists as tuples. Raises TypeError showing what is no output."""
    return as_output(_without_lists(value))


def _without_lists(value: Any) -> Any:
    return tuple(map(_without_lists, value)) if isinstance(value, (list, tuple)) else value


def offered(choices: Sequence[Any]) -> Output:
    """The choices as an analyst sees them; their number where they are no outputs, as functions are."""
    try:
        return as_seen(tuple(choices))
    except TypeError:
        return len(choices)
