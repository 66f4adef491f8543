"""Passes over the core language: a program in, an equivalent one (in the stated sense) out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import prod

from tightdp.core.builder import Builder
from tightdp.core.nodes import (
    Apply,
    Case,
    Check,
    Const,
    CoreProgram,
    Draw,
    Expr,
    Input,
    Nary,
    Once,
    Shuffled,
    children,
    reachable,
    verify,
)
from tightdp.core.operators import Value
from tightdp.core.outputs import Arrangement, Leaf, Shape, TupleOf
from tightdp.language import laws
from tightdp.language.laws import Law


class Rebuild:
    """Copies the nodes of a program into a fresh builder, except for those that a substitution gives.

    A substitution notes in `lost` the nodes for which it gives something that does not have their value.
    """

    def __init__(self, substitute: Callable[[Rebuild, Expr], Expr | None]) -> None:
        self.builder = Builder()
        self.lost: set[int] = set()
        self._substitute = substitute
        self._image: dict[int, Expr] = {}
        self._shuffled: dict[int, tuple[Expr, ...]] = {}

    def copy(self, roots: Sequence[Expr]) -> tuple[Expr, ...]:
        """Return the images of nodes."""
        for expr in reachable(roots):
            if expr.serial not in self._image:
                self._image[expr.serial] = self._substitute(self, expr) or self._copied(expr)
        return tuple(self._image[root.serial] for root in roots)

    def image(self, expr: Expr) -> Expr:
        """Return the image of a node that was copied."""
        return self._image[expr.serial]

    def _condition(self, active: Expr | None) -> Expr | None:
        """Return the image of the condition on which a draw is made, where all leaves below it have one."""
        missing: dict[int, Expr] = {}
        stack = [] if active is None else [active]
        while stack:
            expr = stack.pop()
            if expr.serial in self.lost:
                return None
            if expr.serial not in self._image and expr.serial not in missing:
                if isinstance(expr, (Draw, Input, Shuffled)):
                    return None
                missing[expr.serial] = expr
                stack.extend(children(expr))
        for serial in sorted(missing):
            self._image[serial] = self._substitute(self, missing[serial]) or self._copied(missing[serial])
        return None if active is None else self._image[active.serial]

    def _copied(self, expr: Expr) -> Expr:
        builder, image = self.builder, self.image
        match expr:
            case Const():
                return builder.const(expr.values[0])
            case Input():
                return builder.input(expr.client, expr.leaf, expr.values)
            case Draw():
                return self.redrawn(expr, expr.laws)
            case Case():
                selector = image(expr.selector)
                branches = _aligned(expr.selector, selector, expr.branches)
                return builder.case(selector, [image(branch) for branch in branches])
            case Nary():
                return self.nary(expr.operator, [image(operand) for operand in expr.operands])
            case Apply():
                if expr.operator == "not" and expr.operands[0].boolean:
                    return builder.negation(image(expr.operands[0]))
                if expr.operator == "tuple" and len(expr.values) < prod(len(each.values) for each in expr.operands):
                    return self._joint(expr)
                result, _ = builder.apply(expr.operator, *(image(operand) for operand in expr.operands))
                return builder.const(expr.values[0]) if result is None else result
            case Shuffled():
                if expr.group not in self._shuffled:
                    self._shuffled[expr.group] = builder.shuffled([image(item) for item in expr.items])
                return self._shuffled[expr.group][expr.place]
        raise TypeError(type(expr))

    def _joint(self, expr: Apply) -> Expr:
        """Return the image of a tuple that takes some of the combinations only: those that the images still have."""
        images = [self.image(operand) for operand in expr.operands]
        left = (
            values
            for values in expr.values
            if all(value in each.index for value, each in zip(values, images, strict=True))
        )
        return self.builder.joint(images, tuple(left))

    def redrawn(self, draw: Draw, laws: Sequence[Law | None]) -> Expr:
        """Return the image of a draw with other laws, one for every value of its selector."""
        selector = self.image(draw.selector)
        given = _aligned(draw.selector, selector, laws)
        return self.builder.draw(draw.name, selector, given, self._condition(draw.active))

    def nary(self, operator: str, operands: Sequence[Expr]) -> Expr:
        """Return an n-ary operation on images."""
        builder = self.builder
        made = {"sum": builder.sum, "and": builder.conjunction, "or": builder.disjunction, "xor": builder.parity}
        return made[operator](operands) if operator in made else builder.extremum(operator, operands)

    def program(
        self, old: CoreProgram, components: Sequence[Expr] | None = None, shape: Shape | None = None
    ) -> CoreProgram:
        """Return the image of a whole program, with other components and another shape where these are given."""
        self.copy([*old.inputs, *old.roots])
        checks = tuple(
            Check(self.image(check.condition), check.message, check.hint, check.span) for check in old.checks
        )
        new = CoreProgram(
            tuple(leaf for leaf in map(self.image, old.inputs) if isinstance(leaf, Input)),
            tuple(map(self.image, old.components) if components is None else components),
            shape or old.shape,
            tuple(map(self.image, old.evidence)),
            tuple(check for check in checks if check.condition is not self.builder.false),
        )
        verify(new)
        return new


def _aligned(old: Expr, new: Expr, entries: Sequence[Value]) -> list[Value]:
    """Return entries by the values of the new expression: any entry for one that the old is known never to have."""
    return [entries[old.index.get(value, 0)] for value in new.values]


# shuffles


def expand_shuffles(program: CoreProgram) -> CoreProgram:
    """Return a program without `Shuffled` nodes and with the same output law on every dataset.

    Messages are drawn one after the other from those that are left. A uniformly random order depends on the messages
    only through how often each value occurs, so counts take the place of a permutation.
    """
    if not any(isinstance(expr, Shuffled) for expr in reachable(program.roots)):
        return program
    groups: dict[int, list[Expr]] = {}

    def substitute(rebuild: Rebuild, expr: Expr) -> Expr | None:
        if not isinstance(expr, Shuffled):
            return None
        if expr.group not in groups:
            groups[expr.group] = _without_replacement(rebuild.builder, [rebuild.image(item) for item in expr.items])
        return groups[expr.group][expr.place]

    return Rebuild(substitute).program(program)


def _without_replacement(builder: Builder, items: Sequence[Expr]) -> list[Expr]:
    values = list(dict.fromkeys(value for item in items for value in item.values))
    left = [builder.sum([builder.equals(item, value) for item in items]) for value in values]
    arranged = []
    for at in range(len(items)):
        remaining: Expr = builder.const(len(items) - at)
        rest, hits = builder.true, []
        for count in left[:-1]:
            hit = builder.conjunction([rest, _share(builder, count, remaining)])
            hits.append(hit)
            rest = builder.conjunction([rest, builder.negation(hit)])
            remaining = builder.add(remaining, builder.total("neg", count))
        result = builder.const(values[-1])
        for hit, value in zip(reversed(hits), reversed(values[:-1]), strict=True):
            result = builder.either(hit, builder.const(value), result)
        arranged.append(result)
        left = [builder.add(count, builder.total("neg", hit)) for count, hit in zip(left, [*hits, rest], strict=True)]
    return arranged


def _share(builder: Builder, count: Expr, total: Expr) -> Expr:
    """Return a coin with probability count / total; combinations that cannot occur are left out."""
    possible = [
        (hits, of) for hits in count.values for of in total.values if (0 <= hits <= of and of > 0) or hits == of == 0
    ]
    selector = builder.joint([count, total], possible)
    pairs = possible if len(possible) > 1 else [selector.values[0]]
    return builder.draw("shuffle", selector, [_coin(hits, of) for hits, of in pairs])


@lru_cache(1 << 16)
def _coin(hits: int, of: int) -> Law:
    return laws.bernoulli(Fraction(hits, of) if of else 0)


def arrangements_to_counts(program: CoreProgram) -> CoreProgram:
    """Replace every group of shuffled outputs by the counts of its values.

    Applies where all places of a shuffle are output, once each, and used nowhere else. The output is then the counts
    followed by a uniformly random arrangement that depends on nothing else: a post-processing of the counts, and the
    counts are one of it. So likelihood ratios, δ, trade-off functions and Rényi divergences are those of the counts.
    """
    groups = _output_groups(program)
    if not groups:
        return program
    components: list[Expr] = []
    rebuild = Rebuild(lambda rebuild, expr: None)

    def shape_of(shape: Shape) -> Shape:
        if isinstance(shape, TupleOf):
            group = _whole_group(program, shape, groups)
            if group is None:
                return TupleOf(tuple(shape_of(item) for item in shape.items))
            items = rebuild.copy(group[0].items)
            values = list(dict.fromkeys(value for item in items for value in item.values))
            arrangement = Arrangement(len(components), tuple(values), len(items))
            components.extend(
                rebuild.builder.sum([rebuild.builder.equals(item, value) for item in items]) for value in values[:-1]
            )
            return arrangement
        assert isinstance(shape, Leaf)
        components.extend(rebuild.copy([program.components[shape.component]]))
        return Leaf(len(components) - 1)

    shape = shape_of(program.shape)
    return rebuild.program(program, components or [rebuild.builder.true], shape)


def _output_groups(program: CoreProgram) -> set[int]:
    """Return the groups of shuffled nodes that are used as outputs only."""
    groups: set[int] = set()
    spoiled: set[int] = set()
    once = Once()
    for expr in reachable(program.roots):
        if isinstance(expr, Shuffled):
            groups.add(expr.group)
        for child in once.children(expr):
            if isinstance(child, Shuffled):
                spoiled.add(child.group)
    for root in (*program.evidence, *(check.condition for check in program.checks)):
        if isinstance(root, Shuffled):
            spoiled.add(root.group)
    return groups - spoiled if _plain(program.shape) else set()


def _plain(shape: Shape) -> bool:
    return isinstance(shape, Leaf) or (isinstance(shape, TupleOf) and all(_plain(item) for item in shape.items))


def _whole_group(program: CoreProgram, shape: TupleOf, groups: set[int]) -> list[Shuffled] | None:
    """Return the nodes of a tuple that is exactly one whole shuffle, else None."""
    nodes = [program.components[item.component] for item in shape.items if isinstance(item, Leaf)]
    shuffled = [node for node in nodes if isinstance(node, Shuffled)]
    if not shuffled or len(shuffled) != len(shape.items) or shuffled[0].group not in groups:
        return None
    whole = len(shuffled) == len(shuffled[0].items) and {node.place for node in shuffled} == set(range(len(shuffled)))
    same = {node.group for node in shuffled} == {shuffled[0].group}
    once = sum(isinstance(c, Shuffled) and c.group == shuffled[0].group for c in program.components) == len(shuffled)
    return shuffled if whole and same and once else None
