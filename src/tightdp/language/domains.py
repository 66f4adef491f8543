"""The finite domain of one record of a dataset."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from tightdp.errors import ParameterError
from tightdp.exact.rationals import as_int, as_value
from tightdp.language.classes import PLAIN, redefined

Record: TypeAlias = Any
"""One record: an int, a string, None, a rational, any hashable value, or a tuple of those."""

Leaf: TypeAlias = tuple[Any, ...]
"""The values of one scalar component of a record, in canonical order."""


class Domain(ABC):
    """A finite set of records with a canonical order. Immutable and hashable."""

    @cached_property
    def values(self) -> tuple[Record, ...]:
        """All records, in canonical order (the product order for tuples)."""
        return self._list()

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of records."""

    @abstractmethod
    def describe(self) -> str:
        """The domain in words, for messages."""

    @abstractmethod
    def _list(self) -> tuple[Record, ...]: ...

    @abstractmethod
    def _find(self, value: object) -> tuple[Record] | None:
        """The record of this domain that equals `value`, boxed; None when there is none."""

    def leaves(self) -> tuple[Leaf, ...]:
        """The values of each scalar component of a record: one leaf, or one per component of a tuple."""
        return (self.values,)

    def split(self, record: Record) -> tuple[Record, ...]:
        """The scalar components of a record, one per leaf."""
        return (record,)

    def join(self, components: Sequence[Record]) -> Record:
        """The record with these scalar components, one per leaf."""
        return components[0]

    def canonical(self, value: object) -> Record:
        """The record of this domain that equals `value` (lists count as tuples).

        Raises ParameterError when there is none.
        """
        found = self._find(value)
        if found is None:
            raise ParameterError(f"the record {value!r} is outside the domain {self!r}", f"give {self.describe()}")
        return found[0]

    def __contains__(self, value: object) -> bool:
        return self._find(value) is not None


@dataclass(frozen=True, repr=False)
class Int(Domain):
    """The integers lo..hi, both included. Raises ParameterError where an end is no integer, or hi < lo."""

    lo: int
    hi: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "lo", as_int(self.lo, "the lower end of Int"))
        object.__setattr__(self, "hi", as_int(self.hi, "the upper end of Int"))
        if self.lo > self.hi:
            raise ParameterError(f"{self!r} is empty", "give the lower end first")

    @property
    def size(self) -> int:
        return self.hi - self.lo + 1

    def describe(self) -> str:
        return f"an integer from {self.lo} to {self.hi}"

    def _list(self) -> tuple[Record, ...]:
        return tuple(range(self.lo, self.hi + 1))

    def _find(self, value: object) -> tuple[Record] | None:
        number = value if type(value) is int else _plain(value)
        if isinstance(number, int) and self.lo <= number <= self.hi:
            return (int(number),)
        return None

    def __repr__(self) -> str:
        return f"Int({self.lo}, {self.hi})"


@dataclass(frozen=True, repr=False)
class BitDomain(Int):
    """The domain {0, 1}; its one instance is `Bit`."""

    lo: int = 0
    hi: int = 1

    def describe(self) -> str:
        return "0 or 1"

    def __repr__(self) -> str:
        return "Bit"


Bit = BitDomain()
"""The domain {0, 1}, used without a call."""


@dataclass(frozen=True, repr=False, init=False)
class Values(Domain):
    """The listed values, in the order given: ints, rationals, strings, None, any hashables.

    Raises ParameterError where there is none, or one is listed twice.
    """

    items: tuple[Record, ...]

    def __init__(self, *items: object) -> None:
        object.__setattr__(self, "items", tuple(as_value(item) for item in items))
        if not items:
            raise ParameterError("Values() is empty", "list at least one value")
        for item in items:
            if what := redefined(item):
                raise ParameterError(what, PLAIN)
        if len(self._index) != len(items):
            double = next(item for k, item in enumerate(self.items) if item in self.items[:k])
            raise ParameterError(f"{double!r} is listed twice in {self!r}", "list every value once")

    @cached_property
    def _index(self) -> dict[Record, Record]:
        return {item: item for item in self.items}

    @property
    def size(self) -> int:
        return len(self.items)

    def describe(self) -> str:
        return "one of " + ", ".join(_shown(item) for item in self.items)

    def _list(self) -> tuple[Record, ...]:
        return self.items

    def _find(self, value: object) -> tuple[Record] | None:
        plain = _plain(value)
        return (self._index[plain],) if plain in self._index else None

    def __repr__(self) -> str:
        return f"Values({', '.join(_shown(item) for item in self.items)})"


class _Product(Domain):
    """Tuples with one component from each of several domains."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Domain, ...]:
        """The domains of the components."""

    @property
    def size(self) -> int:
        return math.prod(part.size for part in self.parts)

    def leaves(self) -> tuple[Leaf, ...]:
        return tuple(leaf for part in self.parts for leaf in part.leaves())

    def split(self, record: Record) -> tuple[Record, ...]:
        return tuple(leaf for part, item in zip(self.parts, record, strict=True) for leaf in part.split(item))

    def join(self, components: Sequence[Record]) -> Record:
        items, start = [], 0
        for part in self.parts:
            end = start + len(part.leaves())
            items.append(part.join(components[start:end]))
            start = end
        return tuple(items)

    def _list(self) -> tuple[Record, ...]:
        return tuple(itertools.product(*(part.values for part in self.parts)))

    def _find(self, value: object) -> tuple[Record] | None:
        components = _plain(value)
        if not isinstance(components, tuple) or len(components) != len(self.parts):
            return None
        found = [part._find(component) for part, component in zip(self.parts, components, strict=True)]
        return (tuple(box[0] for box in found if box is not None),) if None not in found else None


@dataclass(frozen=True, repr=False, init=False)
class Tuple(_Product):
    """Tuples with one component from each of the given domains, in their order.

    Raises ParameterError where there is no domain, or one is not a domain.
    """

    domains: tuple[Domain, ...]

    def __init__(self, *domains: Domain) -> None:
        for domain in domains:
            if not isinstance(domain, Domain):
                raise ParameterError(f"{domain!r} is not a domain", "give Bit, Int(lo, hi), Values(...), Bits(d)")
        if not domains:
            raise ParameterError("Tuple() has no components", "give at least one domain")
        object.__setattr__(self, "domains", domains)

    @property
    def parts(self) -> tuple[Domain, ...]:
        return self.domains

    def describe(self) -> str:
        return f"a tuple ({'; '.join(domain.describe() for domain in self.domains)})"

    def __repr__(self) -> str:
        return f"Tuple({', '.join(map(repr, self.domains))})"


@dataclass(frozen=True, repr=False)
class Bits(_Product):
    """Tuples of d bits. Raises ParameterError unless d is an integer >= 1."""

    d: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "d", as_int(self.d, "the length of Bits"))
        if self.d < 1:
            raise ParameterError(f"{self!r} has no components", "give a length of at least 1")

    @property
    def parts(self) -> tuple[Domain, ...]:
        return (Bit,) * self.d

    def describe(self) -> str:
        return f"a tuple of {self.d} bits"

    def __repr__(self) -> str:
        return f"Bits({self.d})"


@dataclass(frozen=True, repr=False)
class WithAbsent(Domain):
    """The records of `present`, then None for an absent one. A record is one leaf, even a tuple."""

    present: Domain

    @property
    def size(self) -> int:
        return self.present.size + 1

    def describe(self) -> str:
        return f"{self.present.describe()}, or None"

    def _list(self) -> tuple[Record, ...]:
        return (*self.present.values, None)

    def _find(self, value: object) -> tuple[Record] | None:
        return (None,) if value is None else self.present._find(value)

    def __repr__(self) -> str:
        return f"with_absent({self.present!r})"


def with_absent(domain: Domain) -> Domain:
    """`domain` and None; `domain` itself when it has None already."""
    return domain if None in domain else WithAbsent(domain)


def is_integral(domain: Domain) -> bool:
    """Whether every record is an integer, so that "differs by at most 1" has a meaning."""
    if isinstance(domain, Int):
        return True
    return isinstance(domain, Values) and all(isinstance(item, int) for item in domain.items)


def fit_to_neighbours(record: Domain, relation: object) -> Domain:
    """The domain of a record where neighbours are so related. Raises ParameterError where they need integers."""
    if relation == "add-remove":
        return with_absent(record)
    if relation in ("unit-step", "unit-all") and not is_integral(record):
        what = f"the neighbours {relation!r} need integer records, and the record domain is {record!r}"
        raise ParameterError(what, "use Bit, Int(lo, hi) or Values of ints, or the neighbours 'replace-one'")
    return record


def _plain(value: object) -> Record:
    try:
        return as_value(value)
    except ParameterError:
        return _NOTHING


_NOTHING = object()


def _shown(value: object) -> str:
    return str(value) if isinstance(value, Fraction) else repr(value)
