"""Makes the nodes of a core program, each once, and folds constants on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any
from weakref import WeakValueDictionary

from tightdp.core.cells import Cells
from tightdp.core.facts import FunctionsOfRecords, branch_taken, tested_value, tests, values_where
from tightdp.core.nodes import Apply, Case, Const, Draw, Expr, Input, Nary, Shuffled, operands_of, summands, terms_of
from tightdp.core.operators import Value, refusal
from tightdp.core.valuesets import combined, contiguous, ordered, sums, united
from tightdp.core.windows import NARROW, LeftOff, Place, Window, check_growth, is_far
from tightdp.language.laws import Exponentials, Law, OnIntegers
from tightdp.limits.calibrated import FEW_VALUES


class Builder:
    """Makes nodes, each once, folding constants. One builder per lowering.

    `watch` is called in what can take long, and may raise to stop. `mixed` says that somewhere a truth value and a
    number became one node, so that 1 may stand for True, and `met` that an integer and an equal quotient became a
    constant.

    `noises` lists the draws on all integers, and `operations` what was asked of values since the first of them, folded
    or not. `windows` says where such a draw, by its place among them, is looked at in detail, or `cut` how each is, and
    `lost` where loops then go on for longer than they are followed. Other noise is drawn in `cells`.
    """

    def __init__(self, watch: Callable[[], None] = lambda: None) -> None:
        self._watch = watch
        self._nodes: WeakValueDictionary[Any, Expr] = WeakValueDictionary()
        self._constants: dict[Any, Const] = {}
        self.functions = FunctionsOfRecords()
        self._serial = 0
        self.draws = 0
        self.mixed = False
        self.met = False
        self.windows: Sequence[Window] = ()
        self.noises: list[tuple[Expr, tuple[Law | OnIntegers | None, ...]]] = []
        self.operations: list[tuple[str, tuple[Expr, ...], Place | None]] = []
        self.cut: Callable[[OnIntegers], Law] | None = None
        self.lost: list[LeftOff] = []
        self.cells = Cells()
        self.unlisted: Callable[[Exponentials], Expr] | None = None  # a draw whose outcomes need not be listed
        self.rounds = 0  # of loops, that were lowered on their own
        self.place: Callable[[], Place | None] = lambda: None
        self.true = self.const(True)
        self.false = self.const(False)

    @property
    def newest(self) -> int:
        """The serial of the newest node."""
        return self._serial

    def _next(self) -> int:
        self._serial += 1
        return self._serial

    def _make(self, key: object, make: Callable[[int], Expr]) -> Expr:
        node = self._nodes.get(key)
        if node is None:
            self._watch()
            node = self._nodes[key] = self.functions.known(make(self._next()), self.const)
        return node

    # leaves

    def const(self, value: object) -> Expr:
        """Return the constant `value`."""
        key = type(value), value
        node = self._constants.get(key)
        if node is None:
            node = self._constants[key] = Const(self._next(), (value,))
        return node

    def expr(self, value: object) -> Expr:
        """Return a scalar as a node: a plain value becomes a constant."""
        return value if isinstance(value, Expr) else self.const(value)

    def input(self, client: int, leaf: int, values: Sequence[Value]) -> Input:
        """Return a leaf of a symbolic record."""
        node = self._make((Input, client, leaf), lambda serial: Input(serial, ordered(values), client, leaf))
        assert isinstance(node, Input)
        return node

    def draw(
        self, name: str, selector: Expr, laws: Sequence[Law | OnIntegers | None], active: Expr | None = None
    ) -> Expr:
        """Return a fresh draw whose law is picked by the selector, made by the runs on which `active` holds."""
        if not any(isinstance(law, OnIntegers) for law in laws):
            return self._draw(name, selector, laws, active)  # type: ignore[arg-type]
        place = len(self.noises)
        window = self.windows[place] if place < len(self.windows) else NARROW
        finite_law = self.cut or window.law
        finite = [finite_law(law) if isinstance(law, OnIntegers) else law for law in laws]
        self.noises.append((self._draw(name, selector, finite, active), tuple(laws)))
        return self.noises[-1][0]

    def _draw(self, name: str, selector: Expr, laws: Sequence[Law | None], active: Expr | None) -> Expr:
        outcomes = ordered([outcome for law in laws if law for outcome, _ in law])
        if len(outcomes) == 1:
            return self.const(outcomes[0])
        number = self.draws
        self.draws += 1
        return Draw(
            self._next(), outcomes, number, selector, tuple(laws), name, None if active is self.true else active
        )

    def shuffled(self, items: Sequence[Expr]) -> tuple[Expr, ...]:
        """Return the items, place by place, in a fresh uniformly random order."""
        self.note_mixed([item.values for item in items])
        values = ordered([value for item in items for value in item.values])
        group, shared = self._next(), tuple(items)
        return tuple(Shuffled(self._next(), values, group, place, shared) for place in range(len(shared)))

    # operations

    def _note(self, operator: str, operands: tuple[Expr, ...]) -> None:
        if self.noises and any(is_far(operand) for operand in operands):
            check_growth(operator, operands)
            self.operations.append((operator, operands, self.place()))

    def apply(self, operator: str, *operands: Expr) -> tuple[Expr | None, Expr | None]:
        """Return the operation on the operands, and the condition under which Python would refuse it.

        The first is None where no combination of values is accepted, the second where all are.
        """
        self._note(operator, operands)
        values, refused = combined(operator, [operand.values for operand in operands], self._watch)
        self.cells.check()
        bad = self._refusal(operator, operands, bool(values)) if refused else None
        bad = None if bad is self.false else bad
        if not values:
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

    def joint(self, operands: Sequence[Expr], values: Sequence[Value]) -> Expr:
        """Return the tuple of the operands, which takes no other values than these."""
        if len(values) == 1:
            return self.const(values[0])
        key = ("joint", *(operand.serial for operand in operands))
        return self._make(key, lambda serial: Apply(serial, tuple(values), "tuple", tuple(operands)))

    def equals(self, expr: Expr, value: object) -> Expr:
        """Return the condition that a node takes a value."""
        if self.noises:
            self._note("eq", (expr, self.const(value)))
        self.cells.compare(expr, value)
        if value not in expr.index:
            return self.false
        if expr.boolean:
            return expr if value else self.negation(expr)
        if len(expr.values) == 1:
            return self.true
        constant = self.const(value)
        key = ("eq", expr.serial, constant.serial)
        return self._make(key, lambda serial: Apply(serial, (False, True), "eq", (expr, constant)))

    def add(self, left: Expr, right: Expr) -> Expr:
        """Return the sum of two numeric nodes as one flat n-ary sum."""
        if right is self._constants.get((int, 0)) and isinstance(left, Nary):
            return left
        terms, constant = terms_of(left)
        more, other = terms_of(right)
        terms, constant = terms + more, constant + other
        if not terms:
            return self.const(constant)
        if len(terms) == 1:
            unchanged = constant == 0 and not isinstance(terms[0].values[0], bool)
            return terms[0] if unchanged else self.total("add", terms[0], self.const(constant))
        operands = (*terms, self.const(constant)) if constant else terms
        values = sums(left.values, right.values)
        if len(operands) < FEW_VALUES:
            return self._nary("sum", operands, values)
        key = ("sum", left.serial, right.serial)
        return self._make(key, lambda serial: Nary(serial, values, "sum", operands))

    def sum(self, operands: Sequence[Expr]) -> Expr:
        """Return the sum of any number of numeric nodes."""
        operands = self.functions.one_term_each(operands, self.total, self.add)
        parts = [terms_of(operand) for operand in operands]
        constant = sum(part[1] for part in parts)
        terms = [term for part in parts for term in part[0]]
        if len(terms) <= 1:
            return self.add(terms[0] if terms else self.const(0), self.const(constant))
        values = self._sums([operand for operand in operands if not isinstance(operand, Const)])
        if constants := sum(operand.values[0] for operand in operands if isinstance(operand, Const)):
            values = sums(values, (constants,))
        return self._nary("sum", (*terms, self.const(constant)) if constant else tuple(terms), values)

    def _sums(self, operands: Sequence[Expr]) -> Sequence[Value]:
        if all(contiguous(operand.values) for operand in operands):
            low = sum(int(operand.values[0]) for operand in operands)
            return ordered(range(low, sum(int(operand.values[-1]) for operand in operands) + 1))
        values: Sequence[Value] = (0,)
        for operand in operands:
            self._watch()
            values = sums(values, operand.values)
        return values

    def extremum(self, operator: str, operands: Sequence[Expr]) -> Expr:
        """Return the least or greatest (`min`, `max`) of numeric nodes."""
        flat: dict[int, Expr] = {}
        for operand in operands:
            flat |= {node.serial: node for node in operands_of(operand, operator)}
        self._note(operator, tuple(flat.values()))
        self.cells.align(flat.values())
        if len(flat) == 1:
            return operands[0]
        self.note_mixed([node.values for node in flat.values()])
        low, high = ((min if operator == "min" else max)(node.values[end] for node in flat.values()) for end in (0, -1))
        if all(contiguous(node.values) for node in flat.values()):
            values = ordered(range(int(low), int(high) + 1))
        else:
            possible = [value for node in flat.values() for value in node.values]
            values = ordered([each for each in possible if (each <= high if operator == "min" else each >= low)])
        if len(values) == 1:
            return self.const(values[0])
        return self._nary(operator, tuple(flat.values()), values)

    def _nary(self, operator: str, operands: tuple[Expr, ...], values: Sequence[Value]) -> Expr:
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
            inner = operands_of(operand, operator)
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
            for node in operands_of(operand, "xor"):
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
            tested, position = tested_value(selector)
            yes = inner[1] if tested is None else self._given(inner[1], tested, position)
            return self._either(selector, yes, inner[0])
        return self._case(selector, tuple(inner))

    def _given(self, expr: Expr, selector: Expr, position: int) -> Expr:
        """Return what a node is where a selector takes the value at a position."""
        if expr is selector:
            return self.const(selector.values[position])
        while isinstance(expr, Case) and (taken := branch_taken(expr, selector, position)) is not None:
            expr = taken
        parts = summands(expr)
        if len(parts) > 1 and any(branch_taken(part, selector, position) is not None for part in parts):
            return self.sum([self._given(part, selector, position) for part in parts])
        return expr

    def note_mixed(self, parts: Sequence[Sequence[Value]]) -> None:
        """Note in `mixed` that a truth value and a number met in one node: which of them it was is lost."""
        if not self.mixed:
            kinds = {type(part[end]) for part in parts for end in (0, -1)}
            self.mixed = bool in kinds and not kinds.isdisjoint((int, Fraction))

    def either(self, condition: Expr, yes: Expr, no: Expr) -> Expr:
        """Return `yes` where a truth value holds, else `no`."""
        if isinstance(condition, Const):
            return yes if condition.values[0] else no
        return self.case(condition, (no, yes))

    def _case(self, selector: Expr, branches: tuple[Expr, ...]) -> Expr:
        parts = self._parts(selector, branches)
        if not all(parts):
            return branches[0] if parts[0] else branches[1]
        self.note_mixed(parts)
        values = united(parts)
        if len(values) == 1:
            self.met = self.met or {type(part[0]) for part in parts} >= {int, Fraction}
            return self.const(values[0])
        key = (Case, selector.serial, *(branch.serial for branch in branches))
        return self._make(key, lambda serial: Case(serial, values, selector, branches))

    def _parts(self, selector: Expr, branches: Sequence[Expr]) -> list[Sequence[Value]]:
        """Return the values that the branches can take where they are chosen, as far as is easily seen."""
        if not selector.boolean:
            return [branch.values for branch in branches]
        return [
            values_where(branch, tests(selector, holds), holds)
            for branch, holds in zip(branches, (False, True), strict=True)
        ]

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
        elif len(summands(yes)) > 1 or len(summands(no)) > 1:
            factored = self._factor(condition, yes, no)
            if factored is not None:
                return factored
        return self._case(condition, (no, yes))

    def _factor(self, condition: Expr, yes: Expr, no: Expr) -> Expr | None:
        """Return `shared + (a if condition else b)` where `yes = shared + a` and `no = shared + b`."""
        left, right = summands(yes), summands(no)
        shared = min(len(left), len(right))
        if left[:shared] != right[:shared]:
            shared = next(at for at in range(shared) if left[at] is not right[at])
        if not shared:
            return None
        if shared == len(left) or shared == len(right):
            common = yes if shared == len(left) else no
            rest = self._either(condition, self.sum(left[shared:]), self.sum(right[shared:]))
            return self.add(common, rest)
        return self.sum([*left[:shared], self._either(condition, self.sum(left[shared:]), self.sum(right[shared:]))])
