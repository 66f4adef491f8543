"""Values that JSON has a form for: their classes list the keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cache
from math import isinf
from operator import attrgetter
from types import MethodType, NoneType
from typing import Any, ClassVar, TypedDict

from tightdp.exact.field import ExpNumber
from tightdp.exact.numbers import as_text

SCHEMA = 2
"""The version of the JSON of answers, described in docs/json.md: it grows when a key changes or is removed."""

_AS_IN_JSON = frozenset({int, str, bool, type(None)})


class Recorded:
    """A value that JSON has a form for.

    `json` lists the keys in their order, each the name of an attribute or method, or `key=attribute`. A key
    that ends in `?` is left out where the value is None, False or empty; of `*attribute`, a mapping, all keys stand
    there.
    """

    json: ClassVar[str] = ""

    @classmethod
    def upper_keys(cls) -> frozenset[str]:
        """Return the keys whose values are an upper end, or follow from it: null where none is known."""
        return frozenset()

    @property
    def not_known(self) -> frozenset[str]:
        """The keys that JSON has null for, because nothing is known of their values."""
        return frozenset()

    def to_dict(self) -> dict[str, Any]:
        """Return the value as JSON has it: exact numbers as text, `--json` prints the same."""
        return record(self)


def record(value: Recorded) -> dict[str, Any]:
    """Return what the class of a value lists, as JSON has it."""
    return {key: None if key in value.not_known else plain(each) for key, each in items_of(value)}


def items_of(value: Recorded) -> Iterator[tuple[str, Any]]:
    """Yield the keys that the class of a value lists, with what they stand for."""
    for key, read, optional in keys_of(value.json):
        each = read(value)
        each = each() if isinstance(each, MethodType) else each
        if not key:
            yield from dict(each).items()
        elif not (optional and isinstance(each, (NoneType, bool, tuple, str)) and not each):
            yield key, each


@cache
def keys_of(listed: str) -> tuple[tuple[str, attrgetter[Any], bool], ...]:
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
    if is_dataclass(value) and not isinstance(value, type) and type(value).__str__ is object.__str__:
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, float):
        return as_text(value) if isinf(value) else value
    return as_text(value) if isinstance(value, (Fraction, ExpNumber)) else str(value)


@dataclass(frozen=True)
class ForEveryN:
    """Of an answer for every n: the n that has its lower end, whether that is the upper end, and how this is proved."""

    n: int
    attained: bool | None
    proof: str


class OfEveryN(TypedDict, total=False):
    """What an answer for every n says of its ends."""

    n: int
    attained: bool | None
    proof: str
