"""The core program as text: one line per value, to be read beside the Python function, and by a checker.

    client 0 v5                           here begins the part of client 0; it takes v5, and forgets all other values
    then v5                               the same, of a part that looks at no record
    x0 = input 0                          leaf 0 of the record of that client
    d1 = draw { False 4 | True 1 }        a draw: outcomes with their odds, here 4 to 1
    d2 = draw x0 { 0: 0 1 | 0: 1 1 | 1: 0 2 }     odds that depend on a value (of one sum, here 2)
    v3 = add x0 d1                        an operation; a name may be defined again, from its old value
    v4 = case d1 { False: v3 | True: 0 }  one of several values, undefined where none is listed
    v5 = else v5 v4                       the first that is defined
    fails v7 / observe v7                 v7 must never be true / the law is conditioned on v7
    output v3 v4                          the values that this part publishes

An operation stands where the last of its operands is known, a draw where its value is first needed, and operands of
long sums are taken as soon as they are there: a reader of the lines in order has few values to remember. Where
outputs differ in shape, what a run does not publish has a fixed value, and a remark says how the values are put
together. Odds with e^q are polynomials in T = e^(1/root): 3T^2-T+4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, product

from tightdp.core.between import Between
from tightdp.core.nodes import Apply, Case, Const, CoreProgram, Draw, Expr, Input, Nary, reachable
from tightdp.core.operators import REFUSED, operation
from tightdp.core.outputs import Choice, Leaf, Shape, TupleOf
from tightdp.core.sections import (
    Line,
    Part,
    Written,
    difference,
    find_parts,
    is_name,
    last_clients,
    root_of,
    sections,
    shown_value,
    written_value,
    written_whole,
)
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.whole import lcm

_NUMERIC = frozenset({"add", "sub", "mul", "neg", "abs", "div", "floordiv", "mod", "lt", "le", "gt", "ge"})
PLAIN = _NUMERIC | {"eq", "ne", "not", "tuple", "bool"}
"""The operations that a line may name; all others are written as tables of their values."""
_REFUSES = {f"refuses {name}" for name in ("div", "floordiv", "mod")}
_ONE_BY_ONE = {"sum": "add", "min": "min", "max": "max", "xor": "ne"}
_TABLED: dict[str, Callable[..., object]] = {"sum": lambda *values: sum(values), "min": min, "max": max}
_DECIDED = {"and": False, "or": True}
"""What decides a join as soon as one operand has it."""

Place = tuple[int, int, int]
"""Where a line goes: its part (a client, -1 before, n after them), the node's number, and its turn there."""

Key = int | tuple[int, int]
"""What tells nodes apart: client and leaf of an input, which two programs share, else the identity."""

Begun = dict[tuple[str, int], dict[tuple[int, ...], Expr]]
"""The joins by operation, number of operands and what these are."""

Operand = tuple[Expr | None, bool, Expr]
"""What a join takes; of `first` only where a condition has a value."""


@dataclass(frozen=True)
class ProgramText:
    """The parts of a program, the names (or constants) of its components in them, T = e^(1/root), and a remark.

    The root is 0 where all numbers are rational. The remark says how the output is put together, where that is not
    plain.
    """

    parts: tuple[Part, ...]
    components: tuple[Written, ...]
    root: int
    remark: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The program as people read it."""
        _, *lines = chain.from_iterable(part.shown() for part in self.parts)
        return (*lines, *([f"# {self.remark}"] if self.remark else []))


def program_text(
    program: CoreProgram, target: CoreProgram | None = None, *others: object, left: bool = False
) -> ProgramText:
    """Return the text of a program without `Shuffled` nodes, with a T in which also `others` can be written.

    With a target what it publishes, in its last part, is its error: by how much its output is above that. What is to be
    `left` is published there, too, every component under a name of its own.

    What depends on the first clients comes first, in one part for each client.
    """
    return _Writer(program, target, others).text(left)


class _Writer:
    """Writes one program."""

    def __init__(self, program: CoreProgram, target: CoreProgram | None, others: tuple[object, ...]) -> None:
        self._program = program
        parts: list[Sequence[Expr]] = [program.components]
        self._error: list[Expr] = []
        if target is not None:
            *parts, self._error = difference(program.components[0], target.components[0])
        needed = [reachable([*parts[0], *program.roots[len(program.components) :]]), *map(reachable, parts[1:])]
        self._published = self._error[-1:] or program.components
        roots = [*self._published, *program.roots[len(program.components) :]]
        self._nodes = {self._key(expr): expr for expr in chain(*needed, self._error)}
        draws = [expr for expr in self._nodes.values() if isinstance(expr, Draw)]
        self._root = root_of(*others, *(mass for expr in draws for law in expr.laws for _, mass in law or ()))
        self._uses: dict[Key, int] = {}
        for used in [*roots, *(child for expr in self._nodes.values() for child in expr.children)]:
            self._uses[self._key(used)] = self._uses.get(self._key(used), 0) + 1
        below = {key: [self._key(child) for child in expr.children] for key, expr in self._nodes.items()}
        clients = {key: expr.client for key, expr in self._nodes.items() if isinstance(expr, Input)}
        self._depends = last_clients(below, clients)
        self._joined = self._find_joined()
        published = [self._key(expr) for expr in self._published]
        self._depends, self._before, self._end = find_parts(below, clients, self._joined, published)
        self._lines: list[Line] = []
        self._names: dict[Key, Written] = {}
        self._own: set[Key] = set()
        self._taken: dict[Key, int] = {}
        self._counts = {"d": 0, "v": 0}

    def text(self, left: bool) -> ProgramText:
        """Return all lines."""
        parts: list[tuple[int | None, list[Line]]] = [(None, self._lines)]
        here = -1
        for (part, *_), write in sorted(self._plan(), key=lambda entry: entry[0]):
            if part != here:
                self._lines, here = [], part
                parts.append((None if part == self._end else part, self._lines))
            write()
        if here != self._end:
            self._lines = []
            parts.append((None, self._lines))
        components = [self._operand(expr) for expr in self._published]
        if self._error or left:
            return ProgramText(tuple(self._left(parts, components)), (), self._root)
        shape = _shape(self._program.shape, components)
        listed = list(dict.fromkeys(name for name in components if is_name(name)))
        remark = "" if shape in (" ".join(listed), f"( {' '.join(listed)} )") else f"the output is {shape}"
        return ProgramText(tuple(sections(parts, listed)), tuple(components), self._root, remark)

    def _left(self, parts: Sequence[tuple[int | None, list[Line]]], components: Sequence[Written]) -> list[Part]:
        """Return parts of which the last publishes numbers, each by a name of its own."""
        names: dict[str, None] = {}
        for each in components:
            if not is_name(each) or each in names:
                self._counts["v"] += 1
                self._lines.append([f"v{self._counts['v']}", "add", each, 0])
                each = f"v{self._counts['v']}"
            names[str(each)] = None
        return sections(parts, list(names), kept=True)

    # the order of lines

    @staticmethod
    def _key(expr: Expr) -> Key:
        return (expr.client, expr.leaf) if isinstance(expr, Input) else id(expr)

    def _place(self, expr: Expr, turn: int) -> Place:
        return self._depends[self._key(expr)], expr.serial, turn

    def _plan(self) -> Iterator[tuple[Place, Callable[[], None]]]:
        inner = self._swallowed
        for key, expr in self._nodes.items():
            if key in inner or isinstance(expr, Const):
                continue
            if key in self._joined:
                own = self._place(expr, 0)
                yield own, partial(self._need, key)
                for at, operand in enumerate(self._operands_at(key)):
                    known = max((self._place(part, 1) for part in operand), default=own)
                    if known[0] >= 0 and known < own:
                        yield known, partial(self._take_first, key, at)
            elif self._depends[key] >= 0 or key in self._before:
                yield self._place(expr, 0), partial(self._need, key)
        for check in self._program.checks:
            if not isinstance(check.condition, Const):
                yield self._place(check.condition, 2), partial(self._demand, "fails", check.condition)
        for condition in self._program.evidence:
            yield self._place(condition, 3), partial(self._demand, "observe", condition)

    def _take_first(self, key: Key, at: int) -> None:
        if self._joined[key][0] != "first" or self._taken.get(key, 0) == at:  # else the conditions before it come first
            self._take(key, at)

    def _demand(self, kind: str, condition: Expr) -> None:
        self._lines.append([None, kind, self._operand(condition)])

    # joins

    def _find_joined(self) -> dict[Key, tuple[str, list[Operand]]]:
        """Return operator and operands of every join; what begins like another one goes on from there."""
        self._swallowed: set[Key] = set()
        found: dict[Key, tuple[str, list[Operand]]] = {}
        begun: Begun = {}
        for expr in self._nodes.values():
            if isinstance(expr, Nary):
                serials = tuple(id(operand) for operand in expr.operands)
                begun.setdefault((expr.operator, len(serials)), {})[serials] = expr
        lengths = sorted({length for _, length in begun}, reverse=True)
        for key, expr in reversed(list(self._nodes.items())):
            if isinstance(expr, Nary) and not _of_texts(expr):
                found[key] = expr.operator, [(None, True, part) for part in self._continued(expr, begun, lengths)]
            elif isinstance(expr, Case) and key not in self._swallowed and len(chain := self._chain(expr)) > 2:
                found[key] = "first", chain
        return found

    def _continued(self, expr: Nary, begun: Begun, lengths: Sequence[int]) -> Sequence[Expr]:
        serials = tuple(id(operand) for operand in expr.operands)
        for length in lengths:
            if 1 < length < len(serials):
                first = begun.get((expr.operator, length), {}).get(serials[:length])
                if first is not None:
                    return (first, *expr.operands[length:])
        return expr.operands

    def _chain(self, expr: Expr) -> list[Operand]:
        """Return the (condition, its value, branch) of nested choices, outer ones first, then (None, True, branch)."""
        found: list[Operand] = []
        swallowed = []
        while isinstance(expr, Case) and expr.selector.boolean and len(expr.branches) == 2:
            before = found[-1][0] if found else None
            earlier = before is not None and self._place(expr.selector, 0) < self._place(before, 0)
            if found and (self._uses[self._key(expr)] > 1 or earlier):
                break
            swallowed.append(self._key(expr))
            no, yes = expr.branches
            on = not isinstance(yes, Case) or isinstance(no, Case)
            found.append((expr.selector, on, yes if on else no))
            expr = no if on else yes
        if len(found) > 1:
            self._swallowed |= set(swallowed[1:])
        return [*found, (None, True, expr)]

    def _operands_at(self, key: Key) -> Iterator[list[Expr]]:
        """Yield, for every operand of a join, the nodes that it needs."""
        for condition, _, value in self._joined[key][1]:
            yield [part for part in (condition, value) if part is not None and not isinstance(part, Const)]

    def _take(self, key: Key, at: int) -> None:
        operator, operands = self._joined[key]
        taken = self._taken.setdefault(key, 0)
        if operator != "first" and taken >> at & 1:
            return
        condition, wanted, taken_value = operands[at]
        value = self._operand(taken_value)
        if condition is not None:
            condition_name = self._operand(condition)
            self._counts["v"] += 1
            self._lines.append([f"v{self._counts['v']}", "case", condition_name, [[wanted, value]]])
            value = f"v{self._counts['v']}"
        self._join(key, operator, value)
        self._taken[key] = taken + 1 if operator == "first" else taken | 1 << at

    def _join(self, key: Key, operator: str, value: Written) -> None:
        """Write a line that joins one more value to those taken before; the first stands for itself."""
        held = self._names.get(key)
        if key not in self._names:
            self._names[key] = value
            return
        if key not in self._own:
            self._own.add(key)
            self._counts["v"] += 1
            self._names[key] = f"v{self._counts['v']}"
        line = [_ONE_BY_ONE.get(operator, "else"), held, value]
        if operator in _DECIDED:
            decided = _DECIDED[operator]
            line = ["case", held, [[each, each if each is decided else value] for each in (False, True)]]
        self._lines.append([self._names[key], *line])

    # lines

    def _operand(self, expr: Expr) -> Written:
        if isinstance(expr, Const):
            return written_value(expr.values[0])
        self._need(self._key(expr))
        return self._names[self._key(expr)]

    def _need(self, key: Key) -> None:
        """Write the lines of a node, and of what it depends on, where they are not there."""
        waiting = [key]
        while waiting:
            top = waiting[-1]
            if self._known(top):
                waiting.pop()
                continue
            below = (
                [part for parts in self._operands_at(top) for part in parts]
                if top in self._joined
                else [child for child in self._nodes[top].children if not isinstance(child, Const)]
            )
            missing = [child for child in below if not self._known(self._key(child))]
            if missing:
                first = next((child for child in missing if isinstance(child, Input)), missing[0])
                waiting.append(self._key(first))
                continue
            waiting.pop()
            self._write(top)

    def _known(self, key: Key) -> bool:
        if key in self._joined:
            operator, operands = self._joined[key]
            full = len(operands) if operator == "first" else (1 << len(operands)) - 1
            return self._taken.get(key, 0) == full
        return key in self._names

    def _write(self, key: Key) -> None:
        expr = self._nodes[key]
        if key in self._joined:
            operator, operands = self._joined[key]
            for at in range(self._taken.get(key, 0) if operator == "first" else 0, len(operands)):
                self._take(key, at)
            return
        match expr:
            case Input():
                name = f"x{expr.client}" if expr.leaf == 0 else f"x{expr.client}_{expr.leaf}"
                self._names[key] = name
                self._lines.append([name, "input", expr.leaf])
            case Draw():
                self._define(key, "d", "draw", *self._drawn(expr))
            case Case():
                pairs = zip(expr.selector.values, expr.branches, strict=True)
                table = [[written_value(value), self._operand(branch)] for value, branch in pairs]
                self._define(key, "v", "case", self._operand(expr.selector), table)
            case Apply() | Nary():
                self._apply(key, expr)

    def _drawn(self, expr: Draw) -> list[Written]:
        """Return outcomes with their weights over one common denominator, for each value of a selector."""
        laws = [(value, law) for value, law in zip(expr.selector.values, expr.laws, strict=True) if law]
        common = lcm(*(mass.denominator for _, law in laws for _, mass in law))
        weights = [
            [written_value(value), [[written_value(outcome), self._weight(mass, common)] for outcome, mass in law]]
            for value, law in laws
        ]
        return [weights[0][1]] if isinstance(expr.selector, Const) else [self._operand(expr.selector), weights]

    def _weight(self, mass: Number, common: Written) -> Written:
        return written_whole(mass.numerator * (common // mass.denominator), self._root)

    def _apply(self, key: Key, expr: Apply | Nary) -> None:
        names = [self._operand(operand) for operand in expr.operands]
        plain = expr.operator not in _NUMERIC or all(operand.numeric for operand in expr.operands)
        if expr.operator in PLAIN and plain and not _of_texts(expr):
            return self._define(key, "v", expr.operator, *names)
        if expr.operator in _REFUSES and all(operand.numeric for operand in expr.operands):
            return self._define(key, "v", "eq", names[1], 0)
        unknown = [name for name, operand in zip(names, expr.operands, strict=True) if not isinstance(operand, Const)]
        single = len(unknown) == 1
        if len(unknown) > 1:
            self._counts["v"] += 1
            self._lines.append([f"v{self._counts['v']}", "tuple", *unknown])
            unknown = [f"v{self._counts['v']}"]
        listed = []
        for values in product(*(operand.values for operand in expr.operands)):
            free = tuple(v for v, operand in zip(values, expr.operands, strict=True) if not isinstance(operand, Const))
            try:
                found = (_TABLED.get(expr.operator) or operation(expr.operator))(*values)
            except REFUSED:
                continue
            listed.append([written_value(free[0] if single else free), written_value(found)])
        return self._define(key, "v", "case", unknown[0], listed)

    def _define(self, key: Key, letter: str, *line: Written) -> None:
        self._counts[letter] += 1
        self._names[key] = f"{letter}{self._counts[letter]}"
        self._lines.append([self._names[key], *line])


def _of_texts(expr: Apply | Nary) -> bool:
    """Whether some operand is a number that is written as a text."""
    return any(isinstance(value, (ExpNumber, Between)) for each in expr.operands for value in each.values)


def _shape(shape: Shape, components: Sequence[Written]) -> str:
    match shape:
        case Leaf():
            return shown_value(components[shape.component])
        case TupleOf():
            return f"( {' '.join(_shape(item, components) for item in shape.items)} )"
        case Choice():
            options = " | ".join(f"{at} {_shape(item, components)}" for at, item in enumerate(shape.alternatives))
            return f"case {shown_value(components[shape.component])} {{ {options} }}"
    raise TypeError(type(shape))
