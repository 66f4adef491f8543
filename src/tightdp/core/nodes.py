"""The core language: a finite dataflow graph over finite random variables.

A mechanism for a given number of records and given parameters is a directed acyclic graph of `Expr` nodes. Every
node takes finitely many exact values, listed in `values` (a superset of those it can really take). The leaves are
constants, leaves of input records, and random draws; a draw's law may depend on a selector expression. Nodes are
immutable and shared; `builder` makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from tightdp.core.operators import NOTHING, Value, applied, connected, is_number, operation
from tightdp.core.outputs import Shape
from tightdp.core.valuesets import Progression, index_of
from tightdp.errors import Span
from tightdp.exact.field import Number
from tightdp.exact.weights import all_sum_to_one, may_be_positive
from tightdp.language.laws import Law
from tightdp.language.tails import Tail, has_part


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


@dataclass(frozen=True)
class Inexact:
    """Two bounds on the error of a core program.

    The true probability of each of its outputs is the one that it has times a factor from 1 - `relative` to
    1 + `relative`. Where Gaussian noise is published (`published`), an output of the mechanism is a function of one of
    the program, with the tails drawn anew; the probability of such tails is at most `lost`.
    """

    relative: Fraction
    lost: Fraction
    published: bool
    cut: bool = False
    """Whether noise is cut off, so that any probability may be larger or smaller by `lost`. There may be other outputs
    then, further out, where `published`."""
    merged: bool = False
    """Whether outputs are put together, so that laws are those of a function of the output."""
    variances: tuple[Fraction, ...] = ()
    """The variances of the Gaussian noise, where that is all the noise that there is."""
    outputs: frozenset[Any] | None = None
    """All outputs that there may be, further out too, where that is known."""

    @property
    def total(self) -> Fraction:
        """How much the probability of an event may differ at most, and the sum of those under two laws."""
        return self.relative + self.lost

    @property
    def factor(self) -> Fraction:
        """By how much a likelihood ratio may be larger or smaller, where nothing is lost."""
        return (1 + self.relative) / (1 - self.relative)

    def joined(self, other: Inexact) -> Inexact:
        """Return bounds that hold for two programs."""
        relative, lost = max(self.relative, other.relative), max(self.lost, other.lost)
        published, merged = self.published or other.published, self.merged or other.merged
        outputs = None if self.outputs is None or other.outputs is None else self.outputs | other.outputs
        return Inexact(relative, lost, published, self.cut or other.cut, merged, outputs=outputs)

    def where_accepted(self, least: Fraction) -> Inexact:
        """Return bounds on the error where `observe` accepts runs, which has at least this probability here.

        Of two programs whose runs differ with a probability of `lost`, so do the probabilities of an event together
        with what is observed, and of what is observed alone: their quotients differ by lost / P(what is observed).
        """
        sure = least * (1 - self.relative)
        return replace(self, relative=2 * self.relative / (1 - self.relative), lost=min(self.lost / sure, Fraction(1)))

    def ends(self, mass: Number) -> tuple[Number, Number]:
        """Return both ends of the true probability of an event that has the probability `mass` in the core program."""
        low = mass * (1 - self.relative) - (self.lost if self.cut else 0)
        return max(low, Fraction(0)), mass * (1 + self.relative) + self.lost


@dataclass(frozen=True)
class CoreProgram:
    """A lowered mechanism.

    `components` are the scalars from which `shape` puts the output together, `evidence` the conditions that
    `observe` demands, `checks` the obligations, `inputs` the leaves of every symbolic record in order. `inexact` says
    how far the laws are from those of the mechanism, None where they are the same. Then there may be a `finer` program:
    the output of the mechanism is a function of that of this one, and of draws that no record has a say in.
    """

    inputs: tuple[Input, ...]
    components: tuple[Expr, ...]
    shape: Shape
    evidence: tuple[Expr, ...]
    checks: tuple[Check, ...]
    inexact: Inexact | None = None
    finer: CoreProgram | None = None

    @property
    def roots(self) -> tuple[Expr, ...]:
        """Everything that the diagram has to represent."""
        return (*self.components, *self.evidence, *(check.condition for check in self.checks))

    @cached_property
    def has_tails(self) -> bool:
        """Whether outputs stand for all integers from one on, which depends on the datasets it was lowered for."""
        return any(has_part(value, Tail) for component in self.components for value in component.values)


def reachable(roots: Sequence[Expr], born: int = -1, ends: Container[int] = ()) -> list[Expr]:
    """Return every node below the roots that is newer than `born`, and not below `ends`; operands before users."""
    seen: dict[int, Expr] = {}
    once = Once()
    stack = list(roots)
    while stack:
        expr = stack.pop()
        if expr.serial > born and expr.serial not in seen:
            seen[expr.serial] = expr
            stack.extend(() if expr.serial in ends else once.children(expr))
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


# evaluation

_NARY: dict[str, Callable[..., Value]] = {
    "sum": lambda *values: sum(values),
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "xor": lambda *values: sum(values) % 2 == 1,
}
_ABSORBING = {"and": False, "or": True}


def computed(expr: Expr, given: Sequence[Value]) -> Value:
    """Return the value of an operation; `NOTHING` where Python refuses it."""
    if isinstance(expr, Case):
        place = expr.selector.index.get(given[0])
        return NOTHING if place is None else given[1 + place]
    if isinstance(expr, Nary):
        return joined(expr.operator, given)
    assert isinstance(expr, Apply)
    return applied(operation(expr.operator), given)


def joined(operator: str, values: Sequence[Value]) -> Value:
    """Return the value of an n-ary operation."""
    if len(values) == 1:
        return values[0]
    if operator in _ABSORBING:
        return connected(_ABSORBING[operator], values)
    return applied(_NARY[operator], values)


def canonical(expr: Expr, value: Value) -> Value:
    """Return a value as it is listed in a node; `NOTHING` where it is not."""
    place = expr.index.get(value)
    return NOTHING if place is None else expr.values[place]


# the verifier, which runs between passes and rejects malformed programs


class MalformedError(AssertionError):
    """A pass of the compiler produced a malformed program: a defect of tightdp, not of the user's program."""


def verify(program: CoreProgram) -> None:
    """Check every node of a core program. Raises MalformedError."""
    numbers: set[int] = set()
    leaves = {(leaf.client, leaf.leaf): leaf for leaf in program.inputs}
    once = Once()
    for expr in reachable(program.roots):
        _require(len(expr.values) > 0, expr, "takes no value")
        _require(
            isinstance(expr.values, (range, Progression)) or len(set(expr.values)) == len(expr.values),
            expr,
            "lists a value twice",
        )
        _require(all(child.serial < expr.serial for child in once.children(expr)), expr, "is older than its operand")
        match expr:
            case Input():
                _require(leaves.get((expr.client, expr.leaf)) is expr, expr, "is an input that is not listed")
            case Draw():
                _require(expr.number not in numbers, expr, "shares its number with another draw")
                numbers.add(expr.number)
                _laws(expr)
            case Shuffled():
                _require(0 <= expr.place < len(expr.items), expr, "stands outside its arrangement")
            case Apply() | Nary():
                _require(len(expr.operands) > 0, expr, "has no operands")
            case Case():
                _require(len(expr.branches) == len(expr.selector.values), expr, "has not one branch per value")
                listed = {value for branch in expr.branches for value in branch.values}
                _require(set(expr.values) <= listed, expr, "lists a value that no branch takes")
    for root in (*program.evidence, *(check.condition for check in program.checks)):
        _require(root.boolean, root, "is a condition that is not a truth value")


def _laws(draw: Draw) -> None:
    _require(len(draw.laws) == len(draw.selector.values), draw, "has not one law per selector value")
    laws = [[mass for _, mass in law] for law in draw.laws if law is not None]
    masses = {id(mass): mass for law in laws for mass in law}  # many laws may share a few numbers
    _require(all(map(may_be_positive, masses.values())), draw, "has an outcome without positive probability")
    _require(all_sum_to_one(laws), draw, "has a law that does not sum to 1")


def _require(condition: bool, expr: Expr, what: str) -> None:
    if not condition:
        raise MalformedError(f"node {expr.serial} ({type(expr).__name__}) {what}")
