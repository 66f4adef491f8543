"""Objects of the enclosing module as values of a lowering."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from types import ModuleType

from tightdp.core.lowering.machine import Machine
from tightdp.core.lowering.values import Host, Range, Value
from tightdp.exact.field import ExpNumber
from tightdp.exact.rationals import as_fraction

__all__ = ["adopt"]


def adopt(m: Machine, thing: object) -> Value:
    """Return an object of the enclosing module as a value; lists of the module may be read, not changed."""
    if thing is None or isinstance(thing, (bool, str)):
        return thing
    if isinstance(thing, int):
        return int(thing)
    if isinstance(thing, ExpNumber):
        return thing
    if isinstance(thing, (float, Decimal, Fraction)):
        return as_fraction(thing)
    if isinstance(thing, tuple):
        return tuple(adopt(m, item) for item in thing)
    if isinstance(thing, range):
        return Range(tuple(thing))
    if isinstance(thing, list):
        reference = m.new_list(tuple(adopt(m, item) for item in thing))
        m.frozen.add(reference.key)
        return reference
    if hasattr(thing, "__index__") and not isinstance(thing, (type, ModuleType)):  # `operator` has a function like it
        return int(thing.__index__())
    return Host(thing)
