"""The functions of nodes on a decision diagram.

Two ways, both exact. `guards(e)` gives, for every value, the function that holds where e takes it. `bind(e, k)` gives
the function `k[value of e]` directly, pushing the continuation k towards the leaves: sums become tables of partial
sums, early returns a chain, and nothing is built that is not needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any

from tightdp.core.nodes import Apply, Case, Const, Draw, Expr, Input, Nary
from tightdp.core.operators import Value, operation
from tightdp.logic.bdd import Manager, Node

_COMBINE: dict[str, Callable[[Any, Any], Any]] = {"sum": add, "min": min, "max": max}


@dataclass(frozen=True)
class Digit:
    """A coin that decides one binary digit of a draw's outcome."""

    level: int
    high: Tree
    low: Tree


_TICKS = 2048
"""At least so many steps of an encoding go between two reports of its size."""
_NODES_PER_TICK = 16

Tree = Digit | int | None
"""A draw's outcome, decided digit by digit; an int is a position in the draw's values, None what cannot happen."""


class Functions:
    """The functions of nodes, each made once. `bits` are the levels of an input, `trees` the digits of a draw."""

    def __init__(
        self,
        manager: Manager,
        watch: Callable[[int], None],
        bits: dict[int, list[int]],
        trees: dict[int, list[Tree]],
    ) -> None:
        self.manager = manager
        self.watch = watch
        self.bits = bits
        self.trees = trees
        self._guards: dict[int, tuple[Node, ...]] = {}
        self._bound: dict[tuple[int, ...], Node] = {}
        self._visits: dict[int, int] = {}
        self._kept: list[Value] = []
        self._ticks = _TICKS

    def tick(self) -> None:
        """Report the size now and then, the more rarely the larger it is: finding it out takes time."""
        self._ticks -= 1
        if not self._ticks:
            size = self.manager.size()
            self._ticks = max(_TICKS, size // _NODES_PER_TICK)
            self.watch(size)

    def holds(self, expr: Expr) -> Node:
        """Return the function that holds where a truth value is true."""
        if isinstance(expr, Const):
            return self.manager.true if expr.values[0] else self.manager.false
        return self.guards(expr)[-1]

    def guards(self, expr: Expr) -> tuple[Node, ...]:
        """Return, for every value of a node, the function that holds where the node takes it."""
        found = self._guards.get(expr.serial)
        if found is None:
            self.tick()
            found = self._guards[expr.serial] = self._make_guards(expr)
        return found

    def _make_guards(self, expr: Expr) -> tuple[Node, ...]:
        match expr:
            case Const():
                return (self.manager.true,)
            case Input():
                return tuple(self._spread(self._input_tree(expr), len(expr.values)))
            case Draw():
                return self._draw_guards(expr)
            case Nary():
                return self._nary_guards(expr)
            case Case():
                return self._case_guards(expr)
            case Apply():
                return self._apply_guards(expr)
        raise TypeError(type(expr))

    def _truth(self, function: Node) -> tuple[Node, ...]:
        return (self.manager.negate(function), function)

    # leaves

    def _input_tree(self, leaf: Input) -> Tree:
        levels = self.bits[leaf.serial]

        def tree(start: int, depth: int) -> Tree:
            if depth == len(levels):
                return start
            width = 1 << (len(levels) - 1 - depth)
            low = tree(start, depth + 1)
            if start + width >= len(leaf.values):
                return low
            return Digit(levels[depth], tree(start + width, depth + 1), low)

        return tree(0, 0)

    def _spread(self, tree: Tree, size: int) -> list[Node]:
        """Return the guards of the positions of a tree."""
        manager = self.manager
        result = [manager.false] * size
        if isinstance(tree, int):
            result[tree] = manager.true
        if not isinstance(tree, Digit):
            return result
        variable = manager.variable(tree.level)
        high, low = self._spread(tree.high, size), self._spread(tree.low, size)
        for at in range(size):
            if high[at] != manager.false or low[at] != manager.false:
                result[at] = manager.choose(variable, high[at], low[at])
        return result

    def _follow(self, tree: Tree, k: Sequence[Node]) -> Node:
        """Return the continuation at the outcome of a tree."""
        if tree is None:
            return self.manager.false
        if isinstance(tree, int):
            return k[tree]
        return self.manager.choose(
            self.manager.variable(tree.level), self._follow(tree.high, k), self._follow(tree.low, k)
        )

    def _draw_guards(self, draw: Draw) -> tuple[Node, ...]:
        manager = self.manager
        size = len(draw.values)
        selectors = self.guards(draw.selector)
        result = [manager.false] * size
        for selector, tree in zip(selectors, self.trees[draw.serial], strict=True):
            if tree is not None and selector != manager.false:
                for at, guard in enumerate(self._spread(tree, size)):
                    if guard != manager.false:
                        result[at] = manager.choose(selector, guard, result[at])
        return tuple(result)

    # operations

    def _apply_guards(self, expr: Apply) -> tuple[Node, ...]:
        function = operation(expr.operator)
        unknown = [operand for operand in expr.operands if not isinstance(operand, Const)]
        if expr.operator == "not" and expr.operands[0].boolean:
            return self._truth(self.manager.negate(self.holds(expr.operands[0])))
        if len(unknown) == 1 and len(expr.values) == 2 and isinstance(unknown[0], Nary):
            return self._truth(self._bind_unary(expr, unknown[0], (self.manager.false, self.manager.true)))
        if len(unknown) == 2:
            return self._binary_guards(expr, function, unknown)
        return self._product_guards(expr, function, unknown)

    def _arguments(self, expr: Apply, unknown: Sequence[Expr], plain: Sequence[Value]) -> list[Value]:
        values = iter(plain)
        return [operand.values[0] if isinstance(operand, Const) else next(values) for operand in expr.operands]

    def _position(self, expr: Apply, function: Callable[..., Value], arguments: Sequence[Value]) -> int | None:
        """Return the position of an operation's result; None where Python refuses the arguments, or they never meet."""
        try:
            return expr.index.get(function(*arguments))
        except (ArithmeticError, TypeError, ValueError):
            return None

    def _binary_guards(self, expr: Apply, function: Callable[..., Value], unknown: Sequence[Expr]) -> tuple[Node, ...]:
        """Group the values of the second operand by the result, for every value of the first."""
        manager = self.manager
        left, right = unknown
        lefts, rights = self.guards(left), self.guards(right)
        unions: dict[tuple[int, ...], Node] = {}
        result = [manager.false] * len(expr.values)
        for first, guard in zip(left.values, lefts, strict=True):
            if guard == manager.false:
                continue
            groups: dict[int, list[int]] = {}
            for at, second in enumerate(right.values):
                position = self._position(expr, function, self._arguments(expr, unknown, (first, second)))
                if position is not None:
                    groups.setdefault(position, []).append(at)
            for position, members in groups.items():
                key = tuple(members)
                if key not in unions:
                    unions[key] = self._any(rights[at] for at in members)
                result[position] = manager.choose(guard, unions[key], result[position])
        return tuple(result)

    def _any(self, functions: Iterable[Node]) -> Node:
        result = self.manager.false
        for function in functions:
            result = self.manager.either(result, function)
        return result

    def _product_guards(self, expr: Apply, function: Callable[..., Value], unknown: Sequence[Expr]) -> tuple[Node, ...]:
        """Enumerate the combinations of operand values that can occur together."""
        manager = self.manager
        combinations: list[tuple[tuple[Any, ...], Node]] = [((), manager.true)]
        for operand in unknown:
            guards = self.guards(operand)
            combinations = [
                ((*values, value), both)
                for values, guard in combinations
                for value, other in zip(operand.values, guards, strict=True)
                if (both := manager.both(guard, other)) != manager.false
            ]
        result = [manager.false] * len(expr.values)
        for values, guard in combinations:
            position = self._position(expr, function, self._arguments(expr, unknown, values))
            if position is not None:
                result[position] = manager.either(result[position], guard)
        return tuple(result)

    def _nary_guards(self, expr: Nary) -> tuple[Node, ...]:
        manager = self.manager
        if expr.operator in ("and", "or", "xor"):
            functions = sorted([self.holds(operand) for operand in expr.operands], key=manager.level, reverse=True)
            combine = {"and": manager.both, "or": manager.either, "xor": manager.differ}[expr.operator]
            result = functions[0]
            for function in functions[1:]:
                result = combine(function, result)
            return self._truth(result)
        combine_values = _COMBINE[expr.operator]
        table: dict[Any, Node] | None = None
        for operand in reversed(self._from_the_top(expr.operands)):
            pairs = list(zip(operand.values, self.guards(operand), strict=True))
            if table is None:
                table = dict(pairs)
                continue
            merged: dict[Any, Node] = {}
            for value, guard in pairs:
                given: dict[Any, Node] = {}
                for other, rest in table.items():
                    total = combine_values(value, other)
                    given[total] = manager.either(given[total], rest) if total in given else rest
                for total, rest in given.items():
                    merged[total] = manager.choose(guard, rest, merged.get(total, manager.false))
            table = {value: function for value, function in merged.items() if function != manager.false}
            self.tick()
        assert table is not None
        return tuple(table.get(value, manager.false) for value in expr.values)

    def _from_the_top(self, operands: Sequence[Expr]) -> list[Expr]:
        """Return operands in the order of the highest levels that they depend on."""
        tops = [min([self.manager.level(guard) for guard in self.guards(operand)]) for operand in operands]
        return [operands[at] for at in sorted(range(len(operands)), key=tops.__getitem__)]

    def _case_guards(self, expr: Case) -> tuple[Node, ...]:
        manager = self.manager
        result = [manager.false] * len(expr.values)
        for selector, branch in zip(self.guards(expr.selector), expr.branches, strict=True):
            if selector == manager.false:
                continue
            for value, guard in zip(branch.values, self.guards(branch), strict=True):
                if guard != manager.false and value in expr.index:
                    at = expr.index[value]
                    result[at] = manager.choose(selector, guard, result[at])
        return tuple(result)

    # continuations

    def bind(self, expr: Expr, k: tuple[Node, ...]) -> Node:
        """Return the function `k[position of the value of expr]`."""
        first = k[0]
        if all(other == first for other in k):
            return first
        key = (expr.serial, *map(self.manager.key, k))
        found = self._bound.get(key)
        if found is None:
            self.tick()
            found = self._bound[key] = self._make_bound(expr, k)
            self._kept.append(k)
        return found

    def _make_bound(self, expr: Expr, k: tuple[Node, ...]) -> Node:
        match expr:
            case Input():
                return self._follow(self._input_tree(expr), k)
            case Draw():
                trees = self.trees[expr.serial]
                return self.bind(expr.selector, tuple(self._follow(tree, k) for tree in trees))
        if expr.boolean:
            return self.manager.choose(self.holds(expr), k[1], k[0])
        visits = self._visits[expr.serial] = self._visits.get(expr.serial, 0) + 1
        if visits <= 2 * len(expr.values) + 8:
            match expr:
                case Case():
                    return self._bind_case(expr, k)
                case Nary(operator="sum"):
                    return self._bind_sum(expr, k)
                case Apply():
                    unknown = [operand for operand in expr.operands if not isinstance(operand, Const)]
                    if len(unknown) == 1:
                        return self._bind_unary(expr, unknown[0], k)
        return self._select(self.guards(expr), k)

    def _select(self, guards: Sequence[Node], k: Sequence[Node]) -> Node:
        """Return the continuation whose guard holds."""
        result = k[-1]
        for guard, function in zip(guards[:-1], k[:-1], strict=True):
            result = self.manager.choose(guard, function, result)
        return result

    def _bind_case(self, expr: Case, k: tuple[Node, ...]) -> Node:
        # A list, not a generator: recursion must not pass through C code, whose stack is small.
        branches = tuple(
            [
                self.bind(branch, tuple([k[expr.index.get(value, 0)] for value in branch.values]))
                for branch in expr.branches
            ]
        )
        if expr.selector.boolean:
            return self.manager.choose(self.holds(expr.selector), branches[1], branches[0])
        return self.bind(expr.selector, branches)

    def _bind_unary(self, expr: Apply, operand: Expr, k: tuple[Node, ...]) -> Node:
        function = operation(expr.operator)
        positions = [
            self._position(expr, function, self._arguments(expr, [operand], (value,))) for value in operand.values
        ]
        return self.bind(operand, tuple(self.manager.false if at is None else k[at] for at in positions))

    def _bind_sum(self, expr: Nary, k: tuple[Node, ...]) -> Node:
        """Add the operands from the top of the order down, with one function per partial sum."""
        operands = self._from_the_top(expr.operands)
        partial: list[list[Value]] = [[0]]
        for operand in operands[:-1]:
            partial.append(list(dict.fromkeys(done + value for done in partial[-1] for value in operand.values)))
        after: dict[Any, Node] = {value: k[at] for value, at in expr.index.items()}
        for operand, sums in zip(reversed(operands), reversed(partial), strict=True):
            after = {done: self.bind(operand, tuple(after[done + value] for value in operand.values)) for done in sums}
            self.tick()
        return after[0]
