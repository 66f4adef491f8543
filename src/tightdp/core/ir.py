"""The core language: a finite dataflow graph over finite random variables.

A mechanism for a given number of records and given parameters is a directed acyclic graph of `Expr` nodes. Every
node takes finitely many exact values, listed in `values` (a superset of those it can really take). The leaves are
constants, leaves of input records, and random draws; a draw's law may depend on a selector expression. Nodes are
immutable and shared: a `Builder` makes each of them once, and folds constants on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

from tightdp.core.operators import REFUSED, is_number, operation, refusal
from tightdp.errors import Span
from tightdp.language.laws import Law

__all__ = [
    "Apply",
    "Builder",
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
    "Shape",
    "Shuffled",
    "TooManyValues",
    "TupleOf",
    "children",
    "reachable",
]

MAX_COMBINATIONS = 1 << 20
"""How many combinations of operand values one operation may tabulate."""


@dataclass(frozen=True, eq=False)
class Expr:
    """A node: `serial` is its place in order of creation, `values` the distinct values it may take."""

    serial: int
    values: Sequence[Any]

    @cached_property
    def index(self) -> dict[Any, int]:
        """Position of every value in `values`."""
        return {value: position for position, value in enumerate(self.values)}

    @property
    def boolean(self) -> bool:
        """Whether every value is a truth value."""
        return len(self.values) <= 2 and all(isinstance(value, bool) for value in self.values)


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

    A law that is None belongs to a selector value that an obligation shows to be unreachable.
    """

    number: int
    selector: Expr
    laws: tuple[Law | None, ...]
    name: str


@dataclass(frozen=True, eq=False)
class Apply(Expr):
    """A scalar operation of `OPERATORS` applied to operands."""

    operator: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class Nary(Expr):
    """An associative and commutative operation on any number of operands: sum, and, or, xor, min, max."""

    operator: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class Case(Expr):
    """The branch of `branches` at the position of the selector's value."""

    selector: Expr
    branches: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class Shuffled(Expr):
    """The item at one place of a uniformly random arrangement; nodes of one group share the arrangement."""

    group: int
    place: int
    items: tuple[Expr, ...]


@dataclass(frozen=True)
class Check:
    """An obligation: `condition` must be impossible; where it is not, the program fails as `message` says."""

    condition: Expr
    message: str
    hint: str
    span: Span | None


@dataclass(frozen=True)
class Shape:
    """How an output is put together from the values of components."""

    def decode(self, values: Sequence[Any]) -> Any:
        """Return the output whose components have these values."""
        raise NotImplementedError


@dataclass(frozen=True)
class Leaf(Shape):
    """A scalar: the value of one component."""

    component: int

    def decode(self, values: Sequence[Any]) -> Any:
        return values[self.component]


@dataclass(frozen=True)
class TupleOf(Shape):
    """A tuple."""

    items: tuple[Shape, ...]

    def decode(self, values: Sequence[Any]) -> Any:
        return tuple(item.decode(values) for item in self.items)


@dataclass(frozen=True)
class Choice(Shape):
    """One of several shapes; the component says which. Components of the others hold their first value."""

    component: int
    alternatives: tuple[Shape, ...]

    def decode(self, values: Sequence[Any]) -> Any:
        return self.alternatives[values[self.component]].decode(values)


@dataclass(frozen=True)
class CoreProgram:
    """A lowered mechanism.

    `components` are the scalars from which `shape` puts the output together, `evidence` the conditions that
    `observe` demands, `checks` the obligations, `inputs` the leaves of every symbolic record in order.
    """

    inputs: tuple[Input, ...]
    components: tuple[Expr, ...]
    shape: Shape
    evidence: tuple[Expr, ...]
    checks: tuple[Check, ...]

    @property
    def roots(self) -> tuple[Expr, ...]:
        """Everything that the diagram has to represent."""
        return (*self.components, *self.evidence, *(check.condition for check in self.checks))


class TooManyValues(Exception):
    """An operation would tabulate more than `MAX_COMBINATIONS` combinations; `size` says how many."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the nodes that a node is computed from."""
    match expr:
        case Draw():
            return (expr.selector,)
        case Apply() | Nary():
            return expr.operands
        case Case():
            return (expr.selector, *expr.branches)
        case Shuffled():
            return expr.items
        case _:
            return ()


def reachable(roots: Sequence[Expr]) -> list[Expr]:
    """Return every node below the roots, in order of creation (operands before what uses them)."""
    seen: dict[int, Expr] = {}
    stack = list(roots)
    while stack:
        expr = stack.pop()
        if expr.serial not in seen:
            seen[expr.serial] = expr
            stack.extend(children(expr))
    return [seen[serial] for serial in sorted(seen)]


def _ordered(values: Sequence[Any]) -> Sequence[Any]:
    """Return distinct values in canonical order: ascending where all are numbers, else as met.

    Where a truth value and an equal integer meet, the integer stays.
    """
    if {bool, int} <= set(map(type, values)):
        values = [*(value for value in values if not isinstance(value, bool)), *values]
    distinct = list(dict.fromkeys(values))
    if not all(is_number(value) for value in distinct):
        return tuple(distinct)
    distinct.sort()
    if len(distinct) > 2 and all(type(value) is int for value in distinct):
        low, high = distinct[0], distinct[-1]
        if high - low + 1 == len(distinct):
            return range(low, high + 1)
    return tuple(distinct)


def _sums(left: Sequence[Any], right: Sequence[Any]) -> Sequence[Any]:
    """Return the values of a sum."""
    if _contiguous(left) and _contiguous(right):
        return _ordered(range(int(left[0]) + int(right[0]), int(left[-1]) + int(right[-1]) + 1))
    _bounded(len(left) * len(right))
    return _ordered([a + b for a in left for b in right])


def _contiguous(values: Sequence[Any]) -> bool:
    return isinstance(values, range) or (
        all(isinstance(value, int) for value in values) and values[-1] - values[0] + 1 == len(values)
    )


def _bounded(size: int) -> None:
    if size > MAX_COMBINATIONS:
        raise TooManyValues(size)


@dataclass
class Builder:
    """Makes nodes, each once, folding constants. One builder per lowering."""

    _nodes: dict[Any, Expr] = field(default_factory=dict)
    _serial: int = 0
    _draws: int = 0

    def __post_init__(self) -> None:
        self.true = self.const(True)
        self.false = self.const(False)

    def _next(self) -> int:
        self._serial += 1
        return self._serial

    def _make(self, key: Any, make: Callable[[int], Expr]) -> Expr:
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = make(self._next())
        return node

    # leaves

    def const(self, value: Any) -> Expr:
        """Return the constant `value`."""
        key = (Const, type(value), value)
        return self._make(key, lambda serial: Const(serial, (value,)))

    def input(self, client: int, leaf: int, values: Sequence[Any]) -> Input:
        """Return a leaf of a symbolic record."""
        node = self._make((Input, client, leaf), lambda serial: Input(serial, tuple(_ordered(values)), client, leaf))
        assert isinstance(node, Input)
        return node

    def draw(self, name: str, selector: Expr, laws: Sequence[Law | None]) -> Expr:
        """Return a fresh draw whose law is picked by the selector."""
        outcomes = _ordered([outcome for law in laws if law for outcome, _ in law])
        if len(outcomes) == 1:
            return self.const(outcomes[0])
        number = self._draws
        self._draws += 1
        return Draw(self._next(), outcomes, number, selector, tuple(laws), name)

    def shuffled(self, items: Sequence[Expr]) -> tuple[Expr, ...]:
        """Return the items, place by place, in a fresh uniformly random order."""
        values = _ordered([value for item in items for value in item.values])
        group = self._next()
        return tuple(Shuffled(self._next(), values, group, place, tuple(items)) for place in range(len(items)))

    # operations

    def apply(self, operator: str, *operands: Expr) -> tuple[Expr | None, Expr | None]:
        """Return the operation on the operands, and the condition under which Python would refuse it.

        The first is None where no combination of values is accepted, the second where all are.
        """
        function = operation(operator)
        size = 1
        for operand in operands:
            size *= len(operand.values)
        _bounded(size)
        results, refused = [], False
        for combination in product(*(operand.values for operand in operands)):
            try:
                results.append(function(*combination))
            except REFUSED:
                refused = True
        values = _ordered(results)
        bad = self._refusal(operator, operands, bool(results)) if refused else None
        if not results:
            return None, bad
        if len(values) == 1:
            return self.const(values[0]), bad
        key = (operator, *(operand.serial for operand in operands))
        return self._make(key, lambda serial: Apply(serial, values, operator, operands)), bad

    def _refusal(self, operator: str, operands: tuple[Expr, ...], some_accepted: bool) -> Expr:
        if not some_accepted:
            return self.true
        name = refusal(operator)
        key = (name, *(operand.serial for operand in operands))
        return self._make(key, lambda serial: Apply(serial, (False, True), name, operands))

    def total(self, operator: str, *operands: Expr) -> Expr:
        """Return an operation that accepts every combination of the operands' values."""
        node, bad = self.apply(operator, *operands)
        assert node is not None
        assert bad is None
        return node

    def equals(self, expr: Expr, value: Any) -> Expr:
        """Return the condition that a node takes a value."""
        if value not in expr.index:
            return self.false
        if expr.boolean:
            return expr if value else self.negation(expr)
        return self.total("eq", expr, self.const(value))

    def add(self, left: Expr, right: Expr) -> Expr:
        """Return the sum of two numeric nodes as one flat n-ary sum."""
        operands = _summands(left) + _summands(right)
        constant = sum(operand.values[0] for operand in operands if isinstance(operand, Const))
        terms = tuple(operand for operand in operands if not isinstance(operand, Const))
        if not terms:
            return self.const(constant)
        if len(terms) == 1:
            unchanged = constant == 0 and not isinstance(terms[0].values[0], bool)
            return terms[0] if unchanged else self.total("add", terms[0], self.const(constant))
        operands = terms + ((self.const(constant),) if constant else ())
        return self._nary("sum", operands, _sums(left.values, right.values))

    def sum(self, operands: Sequence[Expr]) -> Expr:
        """Return the sum of any number of numeric nodes."""
        constant = sum(operand.values[0] for operand in operands if isinstance(operand, Const))
        terms = [operand for operand in operands if not isinstance(operand, Const)]
        if not terms:
            return self.const(constant)
        if len(terms) == 1:
            return self.add(terms[0], self.const(constant))
        values: Sequence[Any] = (constant,)
        for term in terms:
            values = _sums(values, term.values)
        flat = tuple(leaf for term in terms for leaf in _summands(term))
        if constant:
            flat += (self.const(constant),)
        return self._nary("sum", flat, values)

    def extremum(self, operator: str, operands: Sequence[Expr]) -> Expr:
        """Return the least or greatest (`min`, `max`) of numeric nodes."""
        flat: dict[int, Expr] = {}
        for operand in operands:
            inner = operand.operands if isinstance(operand, Nary) and operand.operator == operator else (operand,)
            flat |= {node.serial: node for node in inner}
        if len(flat) == 1:
            return operands[0]
        if operator == "min":
            limit = min(node.values[-1] for node in flat.values())
            values = _ordered([value for node in flat.values() for value in node.values if value <= limit])
        else:
            limit = max(node.values[0] for node in flat.values())
            values = _ordered([value for node in flat.values() for value in node.values if value >= limit])
        if len(values) == 1:
            return self.const(values[0])
        return self._nary(operator, tuple(flat.values()), values)

    def _nary(self, operator: str, operands: tuple[Expr, ...], values: Sequence[Any]) -> Expr:
        key = ("nary", operator, *(operand.serial for operand in operands))
        return self._make(key, lambda serial: Nary(serial, values, operator, operands))

    # truth values

    def negation(self, expr: Expr) -> Expr:
        """Return the negation of a truth value."""
        if isinstance(expr, Const):
            return self.const(not expr.values[0])
        if isinstance(expr, Apply) and expr.operator == "not" and expr.operands[0].boolean:
            return expr.operands[0]
        return self.total("not", expr)

    def conjunction(self, operands: Sequence[Expr]) -> Expr:
        """Return the conjunction of truth values."""
        return self._junction("and", operands, self.true, self.false)

    def disjunction(self, operands: Sequence[Expr]) -> Expr:
        """Return the disjunction of truth values."""
        return self._junction("or", operands, self.false, self.true)

    def _junction(self, operator: str, operands: Sequence[Expr], neutral: Expr, absorbing: Expr) -> Expr:
        flat: dict[int, Expr] = {}
        for operand in operands:
            inner = operand.operands if isinstance(operand, Nary) and operand.operator == operator else (operand,)
            if not flat and len(inner) > 1:
                flat = {node.serial: node for node in inner}
                continue
            for node in inner:
                if node is absorbing or self._opposite(node) in flat:
                    return absorbing
                if node is not neutral:
                    flat[node.serial] = node
        if len(flat) <= 1:
            return next(iter(flat.values()), neutral)
        return self._nary(operator, tuple(flat.values()), (False, True))

    def _opposite(self, expr: Expr) -> int | None:
        """Return the serial number of the negation of a truth value, if that node was ever made."""
        if isinstance(expr, Apply) and expr.operator == "not":
            return expr.operands[0].serial
        node = self._nodes.get(("not", expr.serial))
        return None if node is None else node.serial

    def parity(self, operands: Sequence[Expr]) -> Expr:
        """Return the exclusive or of truth values."""
        flip = False
        flat: dict[int, Expr] = {}
        for operand in operands:
            inner = operand.operands if isinstance(operand, Nary) and operand.operator == "xor" else (operand,)
            for node in inner:
                if isinstance(node, Const):
                    flip ^= bool(node.values[0])
                elif node.serial in flat:
                    del flat[node.serial]
                else:
                    flat[node.serial] = node
        if not flat:
            return self.const(flip)
        body = next(iter(flat.values())) if len(flat) == 1 else self._nary("xor", tuple(flat.values()), (False, True))
        return self.negation(body) if flip else body

    # choice

    def case(self, selector: Expr, branches: Sequence[Expr]) -> Expr:
        """Return the branch at the position of the selector's value."""
        if isinstance(selector, Const):
            return branches[0]
        inner = [self._given(branch, selector, position) for position, branch in enumerate(branches)]
        if all(branch is inner[0] for branch in inner):
            return inner[0]
        if selector.boolean:
            if isinstance(selector, Apply) and selector.operator == "not":
                return self.case(selector.operands[0], inner[::-1])
            tested, position = _tested(selector)
            yes = inner[1] if tested is None else self._given(inner[1], tested, position)
            return self._either(selector, yes, inner[0])
        return self._case(selector, tuple(inner))

    def _given(self, expr: Expr, selector: Expr, position: int) -> Expr:
        """Return what a node is where a selector takes the value at a position."""
        if isinstance(expr, Case) and expr.selector is selector:
            return expr.branches[position]
        parts = _summands(expr)
        if len(parts) > 1 and any(isinstance(part, Case) and part.selector is selector for part in parts):
            return self.sum([self._given(part, selector, position) for part in parts])
        return expr

    def either(self, condition: Expr, yes: Expr, no: Expr) -> Expr:
        """Return `yes` where a truth value holds, else `no`."""
        if isinstance(condition, Const):
            return yes if condition.values[0] else no
        return self.case(condition, (no, yes))

    def _case(self, selector: Expr, branches: tuple[Expr, ...]) -> Expr:
        if selector.boolean:
            parts = [
                _values_where(branch, _tests(selector, holds), holds)
                for branch, holds in zip(branches, (False, True), strict=True)
            ]
            if not all(parts):
                return branches[0] if parts[0] else branches[1]
        else:
            parts = [branch.values for branch in branches]
        values = _ordered([value for part in parts for value in part])
        if len(values) == 1:
            return self.const(values[0])
        key = (Case, selector.serial, *(branch.serial for branch in branches))
        return self._make(key, lambda serial: Case(serial, values, selector, branches))

    def _either(self, condition: Expr, yes: Expr, no: Expr) -> Expr:
        """Return `yes` where the condition holds, else `no`; truth values become junctions, shared terms come out."""
        if yes.boolean and no.boolean:
            if yes is self.true:
                return self.disjunction([condition, no])
            if yes is self.false:
                return self.conjunction([self.negation(condition), no])
            if no is self.true:
                return self.disjunction([self.negation(condition), yes])
            if no is self.false:
                return self.conjunction([condition, yes])
            if yes is self.negation(no):
                return self.parity([condition, no])
        elif len(_summands(yes)) > 1 or len(_summands(no)) > 1:
            factored = self._factor(condition, yes, no)
            if factored is not None:
                return factored
        return self._case(condition, (no, yes))

    def _factor(self, condition: Expr, yes: Expr, no: Expr) -> Expr | None:
        """Return `shared + (a if condition else b)` where `yes = shared + a` and `no = shared + b`."""
        left, right = _summands(yes), _summands(no)
        shared = 0
        while shared < min(len(left), len(right)) and left[shared] is right[shared]:
            shared += 1
        if not shared:
            return None
        return self.sum([*left[:shared], self._either(condition, self.sum(left[shared:]), self.sum(right[shared:]))])


def _tested(condition: Expr) -> tuple[Expr | None, int]:
    """Return the node and the position of the value that a condition of the form `node == value` asks for."""
    if isinstance(condition, Apply) and condition.operator == "eq" and isinstance(condition.operands[1], Const):
        node, value = condition.operands[0], condition.operands[1].values[0]
        if value in node.index:
            return node, node.index[value]
    return None, 0


def _numeric(expr: Expr) -> bool:
    return isinstance(expr.values, range) or all(is_number(value) for value in expr.values)


def _tests(condition: Expr, holds: bool) -> dict[int, list[Apply]]:
    """Return, by serial number, the nodes that a condition compares with constants where it has this truth value.

    Every comparison in the lists then has the truth value `holds` too.
    """
    joined = isinstance(condition, Nary) and condition.operator == ("and" if holds else "or")
    found: dict[int, list[Apply]] = {}
    for part in children(condition) if joined else (condition,):
        if isinstance(part, Apply) and (tested := _only_unknown(part)) is not None and not tested.boolean:
            found.setdefault(tested.serial, []).append(part)
    return found


def _values_where(expr: Expr, tests: dict[int, list[Apply]], holds: bool, depth: int = 3) -> Sequence[Any]:
    """Return the values that a node can take where comparisons have a truth value, as far as is easily seen."""
    values = expr.values
    if not tests or isinstance(expr, Const):
        return values
    if depth and isinstance(expr, Case) and expr.selector.boolean:
        inner = {v for branch in expr.branches for v in _values_where(branch, tests, holds, depth - 1)}
        values = [value for value in values if value in inner]
    elif depth and isinstance(expr, Apply) and (operand := _only_unknown(expr)) is not None:
        below = _values_where(operand, tests, holds, depth - 1)
        if len(below) < len(operand.values):
            results = {_result(expr, value) for value in below}
            values = [value for value in values if value in results]
    for test in tests.get(expr.serial, ()):
        values = [value for value in values if _result(test, value) in (holds, REFUSED)]
    return values


def _only_unknown(expr: Apply) -> Expr | None:
    unknown = [operand for operand in expr.operands if not isinstance(operand, Const)]
    return unknown[0] if len(unknown) == 1 else None


def _result(expr: Apply, value: Any) -> Any:
    """Return the result of an operation on its one unknown operand, `REFUSED` where Python refuses it."""
    try:
        return operation(expr.operator)(
            *(operand.values[0] if isinstance(operand, Const) else value for operand in expr.operands)
        )
    except REFUSED:
        return REFUSED


def _summands(expr: Expr) -> tuple[Expr, ...]:
    """Return the terms of a sum of numbers; any other node is its own only term."""
    if isinstance(expr, Nary) and expr.operator == "sum":
        return expr.operands
    if isinstance(expr, Apply) and expr.operator == "add" and all(map(_numeric, expr.operands)):
        return expr.operands
    return (expr,)
