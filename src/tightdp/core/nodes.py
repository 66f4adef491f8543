"""The core language: a finite dataflow graph over finite random variables.

A mechanism for a given number of records and given parameters is a directed acyclic graph of `Expr` nodes. Every
node takes finitely many exact values, listed in `values` (a superset of those it can really take). The leaves are
constants, leaves of input records, and random draws; a draw's law may depend on a selector expression. Nodes are
immutable and shared; `builder` makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

from tightdp.core.inexact import Inexact
from tightdp.core.operators import Value, is_number
from tightdp.core.valuesets import Progression, index_of
from tightdp.errors import Span
from tightdp.exact.field import Number
from tightdp.language.laws import Law
from tightdp.language.program import Output

__all__ = [
    "Apply",
    "Case",
    "Check",
    "Choice",
    "Const",
    "CoreProgram",
    "Draw",
    "Expr",
    "Input",
    "Leaf",
    "Nary",
    "Once",
    "Reader",
    "Shape",
    "Shuffled",
    "TupleOf",
    "children",
    "operands_of",
    "reachable",
    "sum_in",
    "summands",
    "terms_of",
]


@dataclass(frozen=True, eq=False)
class Expr:
    """A node: `serial` is its place in order of creation, `values` the distinct values it may take."""

    serial: int
    values: Sequence[Any]

    @cached_property
    def index(self) -> Mapping[Value, int]:
        """Position of every value in `values`."""
        return index_of(self.values)

    @cached_property
    def numeric(self) -> bool:
        """Whether every value is a number."""
        return isinstance(self.values, (range, Progression)) or all(is_number(value) for value in self.values)

    @property
    def boolean(self) -> bool:
        """Whether every value is a truth value."""
        return len(self.values) <= 2 and all(isinstance(value, bool) for value in self.values)

    @property
    def children(self) -> tuple[Expr, ...]:
        """The nodes that it is computed from."""
        return ()


@dataclass(frozen=True, eq=False)
class Const(Expr):
    """A constant; its single value is `values[0]`."""


@dataclass(frozen=True, eq=False)
class Input(Expr):
    """Leaf number `leaf` of the record of client `client` (both from 0)."""

    client: int
    leaf: int


@dataclass(frozen=True, eq=False)
class Draw(Expr):
    """Draw number `number`: its law is `laws[i]` where the selector takes its i-th value.

    A law that is None belongs to a selector value that an obligation shows to be unreachable. Runs on which `active`
    does not hold make no such draw, and what they give is the same for every outcome (None: all runs make it).
    """

    number: int
    selector: Expr
    laws: tuple[Law | None, ...]
    name: str
    active: Expr | None = None

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.selector,)


@dataclass(frozen=True, eq=False)
class Apply(Expr):
    """A scalar operation of `OPERATORS` applied to operands."""

    operator: str
    operands: tuple[Expr, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.operands


@dataclass(frozen=True, eq=False)
class Nary(Expr):
    """An associative and commutative operation on any number of operands: sum, and, or, xor, min, max."""

    operator: str
    operands: tuple[Expr, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.operands


@dataclass(frozen=True, eq=False)
class Case(Expr):
    """The branch of `branches` at the position of the selector's value."""

    selector: Expr
    branches: tuple[Expr, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.selector, *self.branches)


@dataclass(frozen=True, eq=False)
class Shuffled(Expr):
    """The item at one place of a uniformly random arrangement; nodes of one group share the arrangement."""

    group: int
    place: int
    items: tuple[Expr, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.items


@dataclass(frozen=True)
class Check:
    """An obligation: `condition` must be impossible; where it is not, the program fails as `message` says."""

    condition: Expr
    message: str
    hint: str
    span: Span | None


Reader = Callable[[int, Output], tuple[Value, Number] | None]
"""Gives the value by which a component (by number) shows part of an output, and what share of its probability that
part has; None where it never shows it."""


@dataclass(frozen=True)
class Shape:
    """How an output is put together from the values of components, and found again from an output."""

    @property
    def several(self) -> bool:
        """Whether values of the components may stand for several outputs, equally likely given these values."""
        return False

    def decode(self, values: Sequence[Value]) -> Output:
        """Return the output whose components have these values, the first one where they stand for several."""
        raise NotImplementedError

    def decode_rows(self, columns: Sequence[Sequence[object]], rows: int) -> Sequence[object]:
        """Return the outputs of so many rows; a column holds the values of one component."""
        return [self.decode([column[row] for column in columns]) for row in range(rows)]

    def every(self, values: Sequence[Value]) -> Iterator[Output]:
        """Yield all outputs for which these values stand."""
        yield self.decode(values)

    def number(self, values: Sequence[Value]) -> int:
        """Return how many outputs that are."""
        return 1

    def read(self, output: Output, reader: Reader, found: dict[int, Value]) -> Number:
        """Note the values of components that give an output; return its share of their probability, 0 for none."""
        raise NotImplementedError

    def rest(self, found: dict[int, Value]) -> None:
        """Note the values that the components have where another shape is taken."""


@dataclass(frozen=True)
class Leaf(Shape):
    """A scalar: the value of one component, which is `unused` where another shape is taken."""

    component: int
    unused: Value = None

    def decode(self, values: Sequence[Value]) -> Output:
        return values[self.component]

    def decode_rows(self, columns: Sequence[Sequence[object]], rows: int) -> Sequence[object]:
        return columns[self.component]

    def read(self, output: Output, reader: Reader, found: dict[int, Value]) -> Number:
        if isinstance(output, tuple) or (known := reader(self.component, output)) is None:
            return Fraction(0)
        found[self.component], share = known
        return share

    def rest(self, found: dict[int, Value]) -> None:
        found[self.component] = self.unused


@dataclass(frozen=True)
class TupleOf(Shape):
    """A tuple."""

    items: tuple[Shape, ...]

    @cached_property
    def several(self) -> bool:
        return any(item.several for item in self.items)

    def decode(self, values: Sequence[Value]) -> Output:
        return tuple(item.decode(values) for item in self.items)

    def decode_rows(self, columns: Sequence[Sequence[object]], rows: int) -> Sequence[object]:
        parts = [item.decode_rows(columns, rows) for item in self.items]
        return list(zip(*parts, strict=True)) if parts else [()] * rows

    def every(self, values: Sequence[Value]) -> Iterator[Output]:
        return product(*(item.every(values) for item in self.items)) if self.several else super().every(values)

    def number(self, values: Sequence[Value]) -> int:
        return prod(item.number(values) for item in self.items) if self.several else 1

    def read(self, output: Output, reader: Reader, found: dict[int, Value]) -> Number:
        share: Number = Fraction(isinstance(output, tuple) and len(output) == len(self.items))
        for item, part in zip(self.items, output, strict=True) if share else ():
            share = share and share * item.read(part, reader, found)
        return share

    def rest(self, found: dict[int, Value]) -> None:
        for item in self.items:
            item.rest(found)


@dataclass(frozen=True)
class Choice(Shape):
    """One of several shapes; the component says which, and is `unused` where another shape is taken."""

    component: int
    alternatives: tuple[Shape, ...]
    unused: Value = None

    def decode(self, values: Sequence[Value]) -> Output:
        return self.alternatives[values[self.component]].decode(values)

    def read(self, output: Output, reader: Reader, found: dict[int, Value]) -> Number:
        for at, alternative in enumerate(self.alternatives):
            trial: dict[int, Value] = {}
            if reader(self.component, at) is not None and (share := alternative.read(output, reader, trial)):
                self.rest(found)
                found.update({**trial, self.component: at})
                return share
        return Fraction(0)

    def rest(self, found: dict[int, Value]) -> None:
        found[self.component] = self.unused
        for alternative in self.alternatives:
            alternative.rest(found)


@dataclass(frozen=True)
class CoreProgram:
    """A lowered mechanism.

    `components` are the scalars from which `shape` puts the output together, `evidence` the conditions that
    `observe` demands, `checks` the obligations, `inputs` the leaves of every symbolic record in order. `inexact` says
    how far the laws are from those of the mechanism, None where they are the same.
    """

    inputs: tuple[Input, ...]
    components: tuple[Expr, ...]
    shape: Shape
    evidence: tuple[Expr, ...]
    checks: tuple[Check, ...]
    inexact: Inexact | None = None

    @property
    def roots(self) -> tuple[Expr, ...]:
        """Everything that the diagram has to represent."""
        return (*self.components, *self.evidence, *(check.condition for check in self.checks))


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the nodes that a node is computed from."""
    return expr.children


def reachable(roots: Sequence[Expr]) -> list[Expr]:
    """Return every node below the roots, in order of creation (operands before what uses them)."""
    seen: dict[int, Expr] = {}
    once = Once()
    stack = list(roots)
    while stack:
        expr = stack.pop()
        if expr.serial not in seen:
            seen[expr.serial] = expr
            stack.extend(once.children(expr))
    return [seen[serial] for serial in sorted(seen)]


class Once:
    """The children of nodes; the items that the places of an arrangement share are given for the first of them only."""

    def __init__(self) -> None:
        self._items: dict[int, tuple[Expr, ...]] = {}

    def children(self, expr: Expr) -> tuple[Expr, ...]:
        """Return the children of a node that were not given as the items of the same arrangement before."""
        if not isinstance(expr, Shuffled):
            return expr.children
        if id(expr.items) in self._items:
            return ()
        self._items[id(expr.items)] = expr.items
        return expr.items


def operands_of(expr: Expr, operator: str) -> tuple[Expr, ...]:
    """Return the operands of an n-ary operation; any other node is its own only operand."""
    return expr.operands if isinstance(expr, Nary) and expr.operator == operator else (expr,)


def summands(expr: Expr) -> tuple[Expr, ...]:
    """Return the terms of a sum of numbers; any other node is its own only term."""
    if isinstance(expr, Nary) and expr.operator == "sum":
        return expr.operands
    if isinstance(expr, Apply) and expr.operator == "add" and all(operand.numeric for operand in expr.operands):
        return expr.operands
    return (expr,)


def sum_in(expr: Expr) -> Expr | None:
    """Return the sum of several terms that a node is, or is a multiple of; None for other nodes."""
    inner = expr
    if isinstance(expr, Apply) and expr.operator in ("mul", "neg"):
        others = [operand for operand in expr.operands if not isinstance(operand, Const)]
        inner = others[0] if len(others) == 1 else expr
    return inner if isinstance(inner, Nary) and inner.operator == "sum" else None


def terms_of(expr: Expr) -> tuple[tuple[Expr, ...], Value]:
    """Return the terms of a sum that are not constant, and its constant, which comes last."""
    operands = summands(expr)
    if isinstance(operands[-1], Const):
        return operands[:-1], operands[-1].values[0]
    if isinstance(operands[0], Const):
        return operands[1:], operands[0].values[0]
    return operands, 0
