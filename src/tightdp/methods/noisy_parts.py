"""Outputs whose parts add noise of their own: the centre of each, and the law of a part given its centre.

A part of the output depends on one node, its centre, and on draws that nothing else uses. The output law is then a
mixture, over the joint law of all centres, of products of the laws of the parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

from tightdp.core.nodes import Const, CoreProgram, Draw, Expr, Input, reachable
from tightdp.core.outputs import Leaf, TupleOf
from tightdp.core.passes import Rebuild
from tightdp.errors import ProgramError, QueryError
from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.language.outputs import Output
from tightdp.language.program import Dataset
from tightdp.limits.calibrated import FEW_DATASETS, LITTLE_WORK, TABLE_ENTRIES
from tightdp.methods import questions
from tightdp.methods.base import Control
from tightdp.methods.leaf_laws import leaf_laws
from tightdp.methods.program import Program
from tightdp.symmetry.sets import every_neighbouring_pair

Centres = dict[Output, Number]
"""The joint law of the centres of all parts."""
Kernel = dict[object, dict[object, Number]]
"""The law of a part, for every value of its centre."""


@dataclass(frozen=True)
class NoisyParts:
    """The laws of the parts given their centres, and the program that gives the centres alone."""

    kernels: tuple[Kernel, ...]
    program: Program

    def pairs(self, control: Control) -> Iterator[tuple[Dataset, Dataset, Centres, Centres]]:
        """Yield neighbours with the joint laws of their centres, one pair for any two laws."""
        table = questions.laws(self.program, control)[1]
        law = cache(table.law)
        seen: set[tuple[frozenset[object], frozenset[object]]] = set()
        for x, x_prime, _ in every_neighbouring_pair(self.program.bound):
            control()
            ours, theirs = law(x), law(x_prime)
            key = frozenset(ours.items()), frozenset(theirs.items())
            if ours != theirs and key not in seen:
                seen.add(key)
                yield x, x_prime, ours, theirs


def many_outputs(program: Program, control: Control) -> bool:
    """Whether datasets are few, and outputs have parts that take too many values together to list their laws."""
    if program.forced is not None or program.datasets > FEW_DATASETS:
        return False
    return math.prod(len(component.values) for component in program.core(control).components) > LITTLE_WORK


def find_noisy_parts(program: Program, control: Control) -> NoisyParts | None:
    """Return the parts of an output, where datasets are few and some part has noise of its own; None elsewhere."""
    if program.forced is not None or program.datasets > FEW_DATASETS:
        return None
    core = program.expanded(control)
    if not isinstance(core.shape, TupleOf) or len(core.components) < 2:
        return None
    order = [item.component for item in core.shape.items if isinstance(item, Leaf)]
    if sorted(order) != list(range(len(core.components))) or len(order) < len(core.shape.items):
        return None
    seen_from = _seen_from(core)
    parts = [_part(core.components[at], at, seen_from) for at in order]
    if all(part.component in part.centre for part in parts) or any(part.wide for part in parts):
        return None
    if not any(part.centre for part in parts):
        return None
    try:
        kernels = tuple(part.kernel(program.backend) for part in parts)
    except (ProgramError, QueryError):
        return None
    centres = dict.fromkeys(expr for part in parts for expr in part.centre)
    places = {expr: at for at, expr in enumerate(centres)}
    shape = TupleOf(tuple(TupleOf(tuple(Leaf(places[expr]) for expr in part.centre)) for part in parts))
    below = Rebuild(lambda rebuild, expr: None).program(
        CoreProgram(core.inputs, tuple(centres), shape, core.evidence, core.checks)
    )
    alone = Program(program.bound, program.candidates, program.backend, "exhaustive", given=below)
    return NoisyParts(kernels, alone)


@dataclass(frozen=True)
class _Part:
    """A component, and the nodes through which it depends on anything but draws of its own."""

    component: Expr
    centre: tuple[Expr, ...]
    own: frozenset[int]
    """The nodes that depend on draws of its own."""

    @property
    def wide(self) -> bool:
        return math.prod(len(expr.values) for expr in self.centre) > TABLE_ENTRIES

    def kernel(self, backend: str) -> Kernel:
        """Return the law of the component for every value of its centre."""
        places = {expr.serial: place for place, expr in enumerate(self.centre)}

        def substitute(rebuild: Rebuild, expr: Expr) -> Expr | None:
            if expr.serial in places:
                return rebuild.builder.input(0, places[expr.serial], expr.values)
            return None if expr.serial in self.own or isinstance(expr, Const) else rebuild.builder.const(0)

        rebuild = Rebuild(substitute)
        (component,) = rebuild.copy([self.component])
        inputs = tuple(leaf for leaf in map(rebuild.image, self.centre) if isinstance(leaf, Input))
        alone = CoreProgram(inputs, (component,), TupleOf((Leaf(0),)), (), ())
        laws, _ = leaf_laws(alone, backend)
        kernel: Kernel = {}
        every = list(product(*(expr.values for expr in self.centre)))
        for centre, (weights, below) in zip(every, laws.every(every), strict=True):
            kernel[centre] = {laws.codes.first(code)[0]: quotient(weight, below) for code, weight in weights.items()}
        return kernel


def _seen_from(core: CoreProgram) -> dict[int, set[int]]:
    """Return, for every draw, the components that depend on it; -1 stands for evidence and checks."""
    found: dict[int, set[int]] = {}
    roots = [*((at, (expr,)) for at, expr in enumerate(core.components)), (-1, core.roots[len(core.components) :])]
    for at, exprs in roots:
        for expr in reachable(exprs):
            if isinstance(expr, Draw):
                found.setdefault(expr.serial, set()).add(at)
    return found


def _part(component: Expr, at: int, seen_from: dict[int, set[int]]) -> _Part:
    own: set[int] = set()
    centre: dict[Expr, None] = {}
    below = reachable([component])
    for expr in below:  # operands before their users
        mine = isinstance(expr, Draw) and seen_from[expr.serial] == {at}
        if mine or any(child.serial in own for child in expr.children):
            own.add(expr.serial)
    for expr in below:
        if expr.serial in own:
            operands = (child for child in expr.children if child.serial not in own and not isinstance(child, Const))
            centre.update(dict.fromkeys(operands))
    whole = component if component.serial not in own and not isinstance(component, Const) else None
    return _Part(component, tuple(centre) if whole is None else (whole,), frozenset(own))
