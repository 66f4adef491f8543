"""Values as JSON: every class of results says once, as a list of names in `json`, what its JSON has."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import isinf
from operator import attrgetter
from typing import Any, ClassVar

from tightdp.exact.field import ExpNumber
from tightdp.exact.numbers import as_text

__all__ = ["Recorded", "plain", "record"]

_AS_IN_JSON = frozenset({int, str, bool, type(None)})


class Recorded:
    """A value that JSON has a form for.

    `json` lists the keys in their order, each the name of an attribute, or `key=attribute` where they differ. A key
    that ends in `?` is left out where the value is None or empty; of `*attribute`, a mapping, all keys stand there.
    """

    json: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the value as JSON has it: exact numbers as text, `--json` prints the same."""
        return record(self)


def record(value: Recorded) -> dict[str, Any]:
    """Return what the class of a value lists, as JSON has it."""
    found: dict[str, Any] = {}
    for key, read, optional in _keys(value.json):
        each = read(value)
        if not key:
            found |= {name: plain(part) for name, part in dict(each).items()}
        elif not (optional and (each is None or (isinstance(each, (tuple, str)) and not each))):
            found[key] = plain(each)
    return found


@cache
def _keys(listed: str) -> tuple[tuple[str, attrgetter[Any], bool], ...]:
    """Return the key (none for `*attribute`), how its value is read, and whether it may be left out."""
    found = []
    for word in listed.split():
        name, optional = word.rstrip("?"), word.endswith("?")
        key, _, attribute = name.rpartition("=")
        attribute = attribute.removeprefix("*")
        found.append(("" if name.startswith("*") else key or attribute, attrgetter(attribute), optional))
    return tuple(found)


def plain(value: Any) -> Any:
    """Return a value as JSON has it: rationals as "p/q", infinity as "inf", tuples as arrays."""
    if type(value) in _AS_IN_JSON:
        return value
    if isinstance(value, (tuple, list)):
        # Laws hold many long tuples of ints, which are as JSON has them.
        return list(value) if _AS_IN_JSON.issuperset(map(type, value)) else [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Recorded):
        return record(value)
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return as_text(value) if isinf(value) else value
    return as_text(value) if isinstance(value, (Fraction, ExpNumber)) else str(value)
