"""Passes over the core language: a program in, an equivalent one (in the stated sense) out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from math import prod

from tightdp.core.builder import Builder
from tightdp.core.facts import Seen, all_seen
from tightdp.core.nodes import (
    Apply,
    Case,
    Const,
    CoreProgram,
    Draw,
    Expr,
    Input,
    Nary,
    Once,
    Shuffled,
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
                stack.extend(expr.children)
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
        self,
        old: CoreProgram,
        components: Sequence[Expr] | None = None,
        shape: Shape | None = None,
        inputs: Sequence[Input] = (),
    ) -> CoreProgram:
        """Return the image of a program, or of a part of one; other components, shape and inputs may be given.

        Where it has no component, it is given one that says nothing.
        """
        self.copy([*old.inputs, *old.roots])
        checks = tuple(replace(check, condition=self.image(check.condition)) for check in old.checks)
        new = CoreProgram(
            (*(leaf for leaf in map(self.image, old.inputs) if isinstance(leaf, Input)), *inputs),
            tuple(map(self.image, old.components) if components is None else components) or (self.builder.true,),
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
    seen = all_seen({root.serial: root for root in program.components}, sources=(Draw, Shuffled))
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
        found = _whole_group(program, shape, seen)
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
    return rebuild.program(program, components, shape)


def _whole_group(
    program: CoreProgram, shape: TupleOf, seen: Mapping[int, Seen]
) -> tuple[Sequence[Expr], dict[Value, Output]] | None:
    """Return the messages of the shuffle that a tuple is, and what is output for each of their values."""
    places: list[Shuffled] = []
    outputs: list[dict[Value, Output] | None] = []
    for item in shape.items:
        parts = {number: program.components[number] for number in _numbers(item)}
        own = {seen.get(part.serial) for part in parts.values() if not isinstance(part, Const)}
        only = own.pop() if len(own) == 1 else None
        if only is None or not isinstance(only.source, Shuffled) or item.several:
            return None
        places.append(only.source)
        outputs.append(_outputs(item, parts, only))
    first = places[0] if places else None
    whole = {(place.group, place.place) for place in places}
    if first is None or whole != {(first.group, at) for at in range(len(first.items))} or len(whole) < len(places):
        return None
    inside = {number for item in shape.items for number in _numbers(item)}
    others = [expr for number, expr in enumerate(program.components) if number not in inside]
    roots = [*others, *program.roots[len(program.components) :]]
    if any(isinstance(expr, Shuffled) and expr.group == first.group for expr in reachable(roots)):
        return None
    return (first.items, outputs[0]) if outputs[0] and all(found == outputs[0] for found in outputs) else None


def _outputs(item: Shape, parts: Mapping[int, Expr], only: Seen) -> dict[Value, Output] | None:
    """Return what an item of the output is for each value of the place that its parts are read off."""
    outputs: dict[Value, Output] = {}
    for at, value in enumerate(only.source.values):
        given = {
            number: part.values[0] if isinstance(part, Const) else only.columns[part.serial][at]
            for number, part in parts.items()
        }
        if any(part is NOTHING for part in given.values()):
            return None
        outputs[value] = item.decode([given.get(number) for number in range(max(given) + 1)])
    return outputs


def _numbers(shape: Shape) -> list[int]:
    """Return the components that an item of an output is put together from."""
    found: dict[int, Value] = {}
    shape.rest(found)
    return list(found)


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


def graph_of(inputs: Sequence[Input], *roots: Sequence[Expr]) -> Hashable:
    """Return a value that two parts of programs share only if they are the same graph.

    Nodes are numbered as they were made, after the constants, which parts share; clients as their leaves come in
    `inputs`.
    """
    once = Once()
    nodes = reachable([*inputs, *chain.from_iterable(roots)])
    nodes.sort(key=lambda expr: not isinstance(expr, Const))
    place = {expr.serial: at for at, expr in enumerate(nodes)}
    clients = {client: at for at, client in enumerate(dict.fromkeys(leaf.client for leaf in inputs))}
    orders: dict[int, int] = {}
    described = []
    for expr in nodes:
        match expr:
            case Const():
                extra: Hashable = (type(expr.values[0]), expr.values[0])
            case Input():
                values = expr.values if isinstance(expr.values, range) else tuple(expr.values)
                extra = (clients[expr.client], expr.leaf, values)
            case Draw():
                extra = expr.laws
            case Apply() | Nary():
                extra = expr.operator
            case Shuffled():
                extra = (orders.setdefault(expr.group, len(orders)), expr.place)
            case _:
                extra = None
        described.append((type(expr), tuple([place[child.serial] for child in once.children(expr)]), extra))
    return tuple(described), *(tuple([place[root.serial] for root in some]) for some in roots)
