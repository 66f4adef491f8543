"""What a Python name can hold while a program is lowered.

A scalar is a plain Python value where it is known, and an `Expr` of the core language where it is not. A tuple is a
tuple of values, a list a `Reference` into the heap. Where runs disagree about the shape, the value is a `Union`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from tightdp.core.between import Between
from tightdp.core.doubles import Double
from tightdp.core.nodes import Apply, Case, Const, Draw, Expr, Input, Nary, Shuffled
from tightdp.core.operators import Far, is_number
from tightdp.exact.field import ExpNumber
from tightdp.language.source import FunctionSource

Value = Any
"""bool | int | Fraction | str | None | Expr | tuple | Range | Reference | Array | Stream | Union | Host | Closure."""


@dataclass(frozen=True)
class Reference:
    """A list: its key in the heap."""

    key: int


@dataclass(frozen=True, eq=False)
class Array:
    """An array of numpy: on which condition its elements are at which places of which tuple in the heap.

    `sources` are (condition, key, places), the places a view, as numpy has it, of all that stand in that tuple.
    """

    shape: tuple[int, ...]
    dtype: Any
    sources: tuple[tuple[Expr, int, Any], ...]


@dataclass(frozen=True, eq=False)
class Element:
    """A scalar of numpy: what an array has for elements, with its type."""

    value: Any
    dtype: Any


@dataclass(frozen=True, eq=False)
class Cut:
    """A slice among several indices: its bounds and its step."""

    bounds: tuple[Value, ...]


@dataclass(frozen=True)
class Table:
    """A dictionary: its key in the heap, where its entries are, and what makes the value of a key that is not there."""

    key: int
    missing: Value = None


@dataclass(frozen=True)
class Entries:
    """The content of a dictionary: plain keys in the order in which they were inserted, and what belongs to them."""

    keys: tuple[Any, ...]
    values: tuple[Value, ...]

    @classmethod
    def of(cls, table: dict[Any, Value]) -> Entries:
        """Return the content of a dictionary with these entries."""
        return cls(tuple(table), tuple(table.values()))

    @property
    def table(self) -> dict[Any, Value]:
        """What belongs to every key."""
        return dict(zip(self.keys, self.values, strict=True))


@dataclass(frozen=True)
class View:
    """What `.keys()`, `.values()` and `.items()` of a dictionary give: its content, as it is when it is looked at."""

    key: int
    part: str

    def of(self, entries: Entries) -> tuple[Value, ...]:
        """Return the items of a view of this content."""
        parts = {"keys": entries.keys, "values": entries.values, "items": tuple(entries.table.items())}
        return parts[self.part]


@dataclass(frozen=True)
class Collection:
    """A set: its key in the heap, where its members are."""

    key: int
    frozen: bool = False


@dataclass(frozen=True)
class Members:
    """The content of a set: plain values, and the conditions under which they are in it."""

    values: tuple[Any, ...]
    present: tuple[Expr, ...]

    @classmethod
    def of(cls, conditions: dict[Any, Expr]) -> Members:
        """Return the content of a set with these members, each on its condition."""
        return cls(tuple(conditions), tuple(conditions.values()))

    @property
    def conditions(self) -> dict[Any, Expr]:
        """The condition of every member."""
        return dict(zip(self.values, self.present, strict=True))

    def combined(self, other: Members, operation: Callable[[Expr, Expr], Expr], never: Expr) -> Members:
        """Return the members of two sets, on what an operation makes of their conditions in both."""
        ours, theirs = self.conditions, other.conditions
        return Members.of({v: operation(ours.get(v, never), theirs.get(v, never)) for v in {**ours, **theirs}})


@dataclass(frozen=True)
class Range:
    """A range: a sequence like a tuple, but neither equal to one nor joined with one."""

    items: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class Alike:
    """What the same code makes of every record: the items of the first one, and how many records there are."""

    items: tuple[Value, ...]
    times: int

    def __len__(self) -> int:
        return len(self.items) * self.times


@dataclass(frozen=True, eq=False)
class Every:
    """All records, however many there are, or what is made of each: `step(record, index)` is the item of one record.

    An iterator has `parts`, and is gone through once. Items are `within` the ends and step of a slice; `backwards` the
    last record comes first, with the index 0. All are tuples of this `width`, unless that is 0.
    """

    step: Callable[[Value, Value], Value]
    parts: tuple[Every | Generator, ...] = ()
    within: tuple[int, int | None, int] = (0, None, 1)
    backwards: bool = False
    width: int = 0


@dataclass(frozen=True, eq=False)
class Growing:
    """A tuple, or the content of a list, to which items are added for every record: `tail` are the last ones.

    What comes before is known by `tree` only. `touched` is called where more of it is asked for.
    """

    tree: Any
    tail: tuple[Value, ...]
    touched: Callable[[Growing, str], Value]

    def __add__(self, more: object) -> Growing:
        return Growing(self.tree, (*self.tail, *more), self.touched) if type(more) is tuple else self._refused(more)

    def __radd__(self, before: object) -> Growing:
        return self if before == () else self._refused(before)

    def _refused(self, *asked: object) -> Growing:
        found: Growing = self.touched(self, "items")
        return found

    __len__ = __iter__ = __getitem__ = __contains__ = __bool__ = __reversed__ = _refused


@dataclass(frozen=True, eq=False)
class Permuted:
    """A uniformly random arrangement of plain values; the last of them is what the counts of the others leave."""

    values: tuple[Any, ...]
    counts: tuple[Expr, ...]
    length: int


@dataclass(frozen=True, eq=False)
class Stream:
    """What enumerate, zip and itertools give: items made one at a time, iterated over once.

    `step(k)` is (condition that there is an item at place k, that item), or None where there is certainly none.
    """

    name: str
    step: Callable[[int], tuple[Expr, Value] | None]


def never(at: int) -> tuple[Expr, Value] | None:
    """Stand for the steps of a stream that is gone through by visiting."""
    raise AssertionError(f"asked for item {at} of what is gone through by visiting")


@dataclass(frozen=True, eq=False)
class Generator(Stream):
    """A generator, of an expression: its outermost iterable, evaluated when it was made, and where its names live.

    `visit(first, action)` runs an action for every item in turn; `made` gives that of an item of the iterable, if one.
    """

    node: ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.FunctionDef
    first: Value
    enclosing: tuple[int, ...]
    source: FunctionSource
    visit: Callable[[Value, Callable[[Value], None]], None]
    made: Callable[[Value], Value] | None = None


@dataclass(frozen=True)
class Union:
    """One of several values of different shapes; the guards exclude each other and one of them holds."""

    alternatives: tuple[tuple[Expr, Value], ...]


class Sieve(Union):
    """A sequence of which every item is there, or not, on a condition of its own: (condition, item), in order.

    As one of several tuples it is written out, by `settle`, where that is asked for.
    """

    def __init__(self, entries: tuple[tuple[Expr, Value], ...], settle: Callable[[Sieve], Value]) -> None:
        object.__setattr__(self, "entries", entries)
        object.__setattr__(self, "settle", settle)

    entries: tuple[tuple[Expr, Value], ...]
    settle: Callable[[Sieve], Value]

    @cached_property
    def alternatives(self) -> tuple[tuple[Expr, Value], ...]:
        """Return the same sequence by its lengths."""
        settled = self.settle(self)
        assert isinstance(settled, Union)
        return settled.alternatives


@dataclass(frozen=True, eq=False)
class Host:
    """A Python object of the enclosing module that is not data: a function, a class, a module, a dictionary."""

    object: Any


class Infinity(Host):
    """An infinite number, which is compared with others: one of `INFINITE`."""


INFINITE = {True: Infinity(math.inf), False: Infinity(-math.inf)}
"""The infinite numbers, by whether they are positive."""


@dataclass(frozen=True, eq=False)
class Closure:
    """A local function or lambda together with the frames in which its free names live."""

    node: ast.FunctionDef | ast.Lambda
    source: FunctionSource
    frames: tuple[int, ...]
    defaults: dict[str, Value]

    @property
    def name(self) -> str:
        """The function's name."""
        return getattr(self.node, "name", "lambda")


@dataclass(frozen=True, eq=False)
class Method:
    """A method of a value that is passed on as a function, as in `max(d, key=d.get)`."""

    base: Value
    name: str


@dataclass(frozen=True)
class Object:
    """An object: its key in the heap, where its attributes are cells `(key, ".name")`, and its class."""

    key: int
    kind: type


SCALARS: tuple[type, ...] = (bool, int, float, Fraction, ExpNumber, Const, Input, Draw, Apply, Nary, Case, Shuffled)
"""The classes of scalars that can be numbers."""

UNBOUND = Host("a name that is not bound")
"""What a name holds on the runs that have not assigned it."""


_PLAIN = frozenset({bool, int, str, float, Fraction, ExpNumber, type(None)})


def all_plain(values: tuple[Value, ...]) -> bool:
    """Whether all items of a tuple are known numbers, strings or None: nothing is inside, and nothing is open."""
    return _PLAIN.issuperset(map(type, values))


def is_scalar(value: Value) -> bool:
    """Whether a value is a scalar, known or not."""
    return value is None or isinstance(value, (int, str, float, Fraction, ExpNumber, Far, Between, Expr))


def known(value: Value) -> Value:
    """Return the plain value of a node that is constant; anything else as it is."""
    return value.values[0] if isinstance(value, Const) else value


def numeric(value: Value) -> bool:
    """Whether every value that a scalar may take is a number."""
    return value.numeric if isinstance(value, Expr) else is_number(value)


def alternatives(value: Value, always: Expr) -> tuple[tuple[Expr, Value], ...]:
    """Return a value as guarded alternatives."""
    return value.alternatives if isinstance(value, Union) else ((always, value),)


def kind(value: Value) -> Any:
    """Return what two values must share to be merged into one alternative."""
    if is_scalar(value):
        return "scalar"
    if isinstance(value, tuple):
        return len(value) if type(value) is tuple else type(value)
    if isinstance(value, Range):
        return "range", len(value.items)
    if isinstance(value, (Reference, Table, View, Collection, Object)):
        return value
    if isinstance(value, Entries):
        return "entries", value.keys
    if isinstance(value, Members):
        return "members"
    if isinstance(value, Double):
        return "double", value.draw
    if isinstance(value, (Array, Element)):
        return type(value), getattr(value, "shape", ()), value.dtype
    return id(value.object) if isinstance(value, Host) else id(value)


TYPE_NAMES: dict[type, str] = {
    Reference: "list", Table: "dictionary", Closure: "function", Method: "function", Every: "tuple", Growing: "tuple",
    Range: "range", type(None): "None", Far: "int", Between: "number", Array: "ndarray", Double: "float",
}  # fmt: skip


def name_of(value: Value) -> str:
    """Return the Python type name of a value, for messages."""
    if isinstance(value, (Expr, Union)):
        inner = value.values if isinstance(value, Expr) else [item for _, item in value.alternatives]
        return " or ".join(sorted(set(map(name_of, inner))))
    if isinstance(value, View):
        return f"dict_{value.part}"
    if isinstance(value, Element):
        return f"numpy.{value.dtype}"
    if isinstance(value, Collection):
        return "frozenset" if value.frozen else "set"
    if isinstance(value, Stream):
        return value.name
    if isinstance(value, Object):
        return value.kind.__name__
    if isinstance(value, Host):
        return "unbound name" if value is UNBOUND else type(value.object).__name__
    return TYPE_NAMES.get(type(value), type(value).__name__)


def inner(value: Value) -> tuple[Value, ...]:
    if isinstance(value, tuple):
        return value
    return tuple(item for _, item in value.alternatives) if isinstance(value, Union) else ()


def parts_of(value: Value) -> Iterator[Value]:
    """Yield a value and everything inside, what is shared only once."""
    seen: set[int] = set()
    pending = [value]
    while pending:
        part = pending.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            pending += inner(part)
