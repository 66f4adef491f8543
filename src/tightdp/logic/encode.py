"""From the core language to a weighted Boolean formula on a decision diagram."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from tightdp.core.nodes import Check, CoreProgram, Draw, Expr, Input, reachable
from tightdp.core.operators import Value
from tightdp.core.outputs import Leaf
from tightdp.core.passes import expand_shuffles
from tightdp.errors import ProgramError
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole, lcm
from tightdp.language.laws import Law
from tightdp.language.program import Dataset
from tightdp.limits import pay
from tightdp.limits.calibrated import LISTED_ROWS
from tightdp.logic.bdd import Node, make_manager
from tightdp.logic.formula import Coin, InputBit, OutputBit, Variable, WeightedFormula, code_length, order
from tightdp.logic.functions import Digit, Functions, Tree


def encode(
    program: CoreProgram, backend: str = "cudd", watch: Callable[[int], None] = lambda size: None
) -> WeightedFormula:
    """Return the weighted Boolean formula of a core program.

    `watch` is called with the number of nodes now and then, and may raise to stop. Raises ProgramError where a check
    of the program can fail, with a dataset on which it does. Where the diagram grows large, a second order of the
    variables is tried, and the first one again where that is no better.
    """
    if program.inputs and order(program) != order(program, together=True):
        for together in (False, True):
            try:
                return Encoder(program, backend, _bounded(watch), together).run()
            except _TooLarge:
                pass
    return Encoder(program, backend, watch).run()


class _TooLarge(Exception):
    """A diagram grows so large that another order of the variables is worth a trial."""


def _bounded(watch: Callable[[int], None]) -> Callable[[int], None]:
    def bounded(size: int) -> None:
        watch(size)
        if size > LISTED_ROWS:
            raise _TooLarge

    return bounded


def prober(
    backend: str = "cudd", watch: Callable[[int], None] = lambda size: None
) -> Callable[[Expr, Sequence[Expr]], list[tuple[bool, ...]]]:
    """Return `possible_values` on a back end, in the form in which lowering calls it."""
    return partial(possible_values, backend=backend, watch=watch)


def possible_values(
    condition: Expr, exprs: Sequence[Expr], backend: str = "cudd", watch: Callable[[int], None] = lambda size: None
) -> list[tuple[bool, ...]]:
    """Say of each node which of its values it can take where a condition holds; all false where it cannot hold."""
    roots = (condition, *exprs)
    inputs = tuple(expr for expr in reachable(roots) if isinstance(expr, Input))
    program = expand_shuffles(CoreProgram(inputs, roots, Leaf(0), (), ()))
    encoder = Encoder(program, backend, watch)
    found = [encoder.possible(image, expr.values) for image, expr in zip(program.components[1:], exprs, strict=True)]
    pay(lambda: watch(0), encoder.manager.size())
    return found


class Encoder(Functions):
    """One encoding: the plan of variables, then the functions of nodes."""

    def __init__(
        self, program: CoreProgram, backend: str, watch: Callable[[int], None], together: bool = False
    ) -> None:
        self.program = program
        self.variables: list[Variable] = []
        self.owners: list[int] = []
        self.bits = {}
        self.trees = {}
        self.outputs: dict[int, list[int]] = {}
        self.leaf_number = {leaf.serial: number for number, leaf in enumerate(program.inputs)}
        self._plan(together)
        super().__init__(make_manager(backend, len(self.variables), watch), watch, self.bits, self.trees)

    # the plan of variables

    def _plan(self, together: bool) -> None:
        for block in order(self.program, together):
            start = len(self.variables)
            if block.component is not None:
                self.outputs[block.component] = self.fresh(
                    OutputBit(block.component, bit)
                    for bit in range(code_length(len(self.program.components[block.component].values)))
                )
            elif isinstance(block.leaf, Input):
                number = self.leaf_number[block.leaf.serial]
                self.bits[block.leaf.serial] = self.fresh(
                    InputBit(number, bit) for bit in range(code_length(len(block.leaf.values)))
                )
            elif block.leaf is not None:
                self.plan_draw(block.leaf)
            self.owners += [block.owner] * (len(self.variables) - start)

    def fresh(self, variables: Iterable[Variable]) -> list[int]:
        start = len(self.variables)
        self.variables.extend(variables)
        return list(range(start, len(self.variables)))

    def plan_draw(self, draw: Draw) -> None:
        made: dict[Law, Tree] = {}
        trees: list[Tree] = []
        for law in draw.laws:
            if law is not None and law not in made:
                masses: list[Whole] = [0] * len(draw.values)
                below = lcm(*(mass.denominator for _, mass in law))
                for outcome, mass in law:
                    masses[draw.index[outcome]] += mass.numerator * (below // mass.denominator)
                made[law] = self._digits(masses, 0, 1 << code_length(len(masses)))
            trees.append(None if law is None else made[law])
        self.trees[draw.serial] = trees

    def _digits(self, masses: Sequence[Whole], start: int, width: int) -> Tree:
        """Return the tree of conditional coins for the positions start..start+width-1, most significant digit first."""
        if width == 1:
            return start
        half = width // 2
        low, high = sum(masses[start : start + half]), sum(masses[start + half : start + width])
        if not high:
            return self._digits(masses, start, half)
        if not low:
            return self._digits(masses, start + half, half)
        share = quotient(high, low + high)
        (level,) = self.fresh([Coin(share.numerator, share.denominator)])
        below = self._digits(masses, start, half)
        return Digit(level, self._digits(masses, start + half, half), below)

    # the formula

    def run(self) -> WeightedFormula:
        for check in self.program.checks:
            self._discharge(check)
        relation = self.relation()
        return WeightedFormula(
            self.manager.extract(relation),
            tuple(self.variables),
            tuple(self.owners),
            self.program.inputs,
            tuple(component.values for component in self.program.components),
            self.program.shape,
            bool(self.program.evidence),
            self.manager.count(relation),
        )

    def relation(self) -> Node:
        """Return the function that holds where the output bits are those of the program and no `observe` rejects."""
        manager = self.manager
        components = sorted(
            range(len(self.program.components)), key=lambda number: max(self.outputs[number], default=-1), reverse=True
        )
        relation = manager.true
        for number in components:
            self.tick()
            relation = manager.both(self._output(number), relation)
        for condition in self.program.evidence:
            relation = manager.both(relation, self.holds(condition))
        return relation

    def _output(self, number: int) -> Node:
        """Return the function that holds where the output bits of a component are the code of its value."""
        component = self.program.components[number]
        levels = self.outputs[number]
        codes = tuple(self.code(levels, position) for position in range(len(component.values)))
        return self.bind(component, codes)

    def code(self, levels: Sequence[int], position: int) -> Node:
        """Return the function that holds where the bits at these levels are the code of a position."""
        manager = self.manager
        result = manager.true
        for place, level in enumerate(reversed(levels)):
            variable = manager.variable(level)
            if position >> place & 1:
                result = manager.choose(variable, result, manager.false)
            else:
                result = manager.choose(variable, manager.false, result)
        return result

    def _discharge(self, check: Check) -> None:
        """Show that a check cannot fail, or raise ProgramError with a dataset on which it does."""
        failing = self.holds(check.condition)
        if failing == self.manager.false:
            return
        diagram = self.manager.extract(failing)
        taken: dict[int, bool] = {}
        node = diagram.root
        while node > 1:
            up = diagram.low[node] == 0
            taken[diagram.level[node]] = up
            node = diagram.high[node] if up else diagram.low[node]
        raise ProgramError(check.message, check.hint, span=check.span, x=self._dataset(taken))

    def _dataset(self, taken: dict[int, bool]) -> Dataset | None:
        """Return the leaf values, client by client, of a dataset in which these input bits are set."""
        if not self.program.inputs:
            return None
        clients: dict[int, list[Any]] = {}
        for leaf in self.program.inputs:
            code = 0
            for level in self.bits.get(leaf.serial, [0] * code_length(len(leaf.values))):
                code = code << 1 | taken.get(level, False)
            clients.setdefault(leaf.client, []).append(leaf.values[min(code, len(leaf.values) - 1)])
        return tuple(tuple(leaves) for leaves in clients.values())

    def possible(self, expr: Expr, values: Sequence[Value]) -> tuple[bool, ...]:
        """Say which of some values a node can take where the first component holds."""
        manager, condition = self.manager, self.holds(self.program.components[0])
        taken = {
            value
            for value, guard in zip(expr.values, self.guards(expr), strict=True)
            if manager.both(condition, guard) != manager.false
        }
        return tuple(value in taken for value in values)
