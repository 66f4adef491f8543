"""Passes over the core language: a program in, an equivalent one (in the stated sense) out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
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
    Shuffled,
    canonical,
    children,
    computed,
    reachable,
    verify,
)
from tightdp.core.operators import NOTHING, Value
from tightdp.core.outputs import Arrangement, Choice, Leaf, Shape, TupleOf
from tightdp.language import laws
from tightdp.language.laws import Law
from tightdp.language.outputs import Output


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

    Applies where all places of a shuffle are output, once each, as they are or each by the same function of it, and are
    used nowhere else. The output is then the counts of what is output, followed by a uniformly random arrangement that
    depends on nothing else: a post-processing of the counts, and the counts are one of it. So likelihood ratios, δ,
    trade-off functions and Rényi divergences are those of the counts.
    """
    if not any(isinstance(expr, Shuffled) for expr in reachable(program.roots)):
        return program
    sources = _Sources(program)
    components: list[Expr] = []
    rebuild = Rebuild(lambda rebuild, expr: None)

    def add(numbers: Sequence[int]) -> int:
        components.extend(rebuild.copy([program.components[number] for number in numbers]))
        return len(components) - len(numbers)

    def shape_of(shape: Shape) -> Shape:
        match shape:
            case Leaf():
                return Leaf(add([shape.component]), shape.unused)
            case Choice():
                return Choice(add([shape.component]), tuple(map(shape_of, shape.alternatives)), shape.unused)
            case Arrangement():
                counts = range(shape.first, shape.first + len(shape.values) - 1)
                return Arrangement(add(counts), shape.values, shape.length)
        assert isinstance(shape, TupleOf)
        found = sources.whole_group(shape)
        if found is None:
            return TupleOf(tuple(map(shape_of, shape.items)))
        messages, outputs = found
        items = rebuild.copy(messages)
        values = list(dict.fromkeys(outputs.values()))
        arrangement = Arrangement(len(components), tuple(values), len(items))
        for value in values[:-1]:
            given = [message for message, output in outputs.items() if output == value]
            hits = [rebuild.builder.disjunction([rebuild.builder.equals(item, one) for one in given]) for item in items]
            components.append(rebuild.builder.sum(hits))
        return arrangement

    shape = shape_of(program.shape)
    return rebuild.program(program, components or [rebuild.builder.true], shape)


class _Sources:
    """Which components of a program are functions of one place of a shuffle, and of nothing else."""

    def __init__(self, program: CoreProgram) -> None:
        self._program = program
        self._values: list[Value] = [None] * len(program.components)
        self._of: dict[int, Expr | None] = {}
        for expr in reachable(program.components):
            self._of[expr.serial] = self._source(expr)

    def _source(self, expr: Expr) -> Expr | None:
        """Return the only leaf that a node depends on; a constant itself where there is none, None for several."""
        if isinstance(expr, (Const, Draw, Input, Shuffled)):
            return expr
        below = dict.fromkeys(self._of[child.serial] for child in children(expr))
        leaves = [leaf for leaf in below if not isinstance(leaf, Const)]
        return next(iter(below)) if not leaves else leaves[0] if len(leaves) == 1 else None

    def whole_group(self, shape: TupleOf) -> tuple[Sequence[Expr], dict[Value, Output]] | None:
        """Return the messages of the shuffle that a tuple is, and what is output for each of their values."""
        places: list[Shuffled] = []
        for item in shape.items:
            own = {self._of[self._program.components[number].serial] for number in _numbers(item)}
            leaves = [leaf for leaf in own if not isinstance(leaf, Const)]
            if len(leaves) != 1 or not isinstance(leaves[0], Shuffled) or item.several:
                return None
            places.append(leaves[0])
        first = places[0] if places else None
        whole = {(place.group, place.place) for place in places}
        if first is None or whole != {(first.group, at) for at in range(len(first.items))} or len(whole) < len(places):
            return None
        inside = {number for item in shape.items for number in _numbers(item)}
        others = [expr for number, expr in enumerate(self._program.components) if number not in inside]
        roots = [*others, *self._program.evidence, *(check.condition for check in self._program.checks)]
        used = {expr.group for expr in reachable(roots) if isinstance(expr, Shuffled)}
        if first.group in used:
            return None
        outputs = [self._outputs(item, place) for item, place in zip(shape.items, places, strict=True)]
        return (first.items, outputs[0]) if outputs[0] and all(found == outputs[0] for found in outputs) else None

    def _outputs(self, item: Shape, place: Expr) -> dict[Value, Output] | None:
        """Return what an item of the output is for each value of the place that it is read off."""
        numbers = _numbers(item)
        nodes: dict[int, Expr] = {}
        stack = [self._program.components[number] for number in numbers]
        while stack:
            expr = stack.pop()
            if expr.serial not in nodes:
                nodes[expr.serial] = expr
                stack.extend(() if expr is place else children(expr))
        order = [nodes[serial] for serial in sorted(nodes)]
        outputs: dict[Value, Output] = {}
        for value in place.values:
            found = {place.serial: value}
            for expr in order:
                if isinstance(expr, Const):
                    found[expr.serial] = expr.values[0]
                elif expr is not place:
                    found[expr.serial] = canonical(
                        expr, computed(expr, [found[each.serial] for each in children(expr)])
                    )
            for number in numbers:
                self._values[number] = found[self._program.components[number].serial]
            if any(self._values[number] is NOTHING for number in numbers):
                return None
            outputs[value] = item.decode(self._values)
        return outputs


def _numbers(shape: Shape) -> list[int]:
    """Return the components that an item of an output is put together from."""
    match shape:
        case TupleOf():
            return [number for item in shape.items for number in _numbers(item)]
        case Choice():
            return [shape.component, *(number for item in shape.alternatives for number in _numbers(item))]
        case Arrangement():
            return list(range(shape.first, shape.first + len(shape.values) - 1))
    assert isinstance(shape, Leaf)
    return [shape.component]


def of_one_form(program: CoreProgram) -> CoreProgram:
    """Return the program with the form of outputs that all runs give, where it is known now."""
    used: list[Expr] = []

    def numbered(component: int) -> int:
        used.append(program.components[component])
        return len(used) - 1

    def settled(shape: Shape) -> Shape:
        match shape:
            case Leaf():
                return replace(shape, component=numbered(shape.component))
            case Choice() if isinstance(tag := program.components[shape.component], Const):
                return settled(shape.alternatives[tag.values[0]])
            case Choice():
                return replace(
                    shape, component=numbered(shape.component), alternatives=tuple(map(settled, shape.alternatives))
                )
            case TupleOf():
                return TupleOf(tuple(map(settled, shape.items)))
        raise TypeError(type(shape))

    shape = settled(program.shape)
    return replace(program, shape=shape, components=tuple(used) or program.components)
