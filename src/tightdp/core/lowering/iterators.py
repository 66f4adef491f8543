"""Functions that give iterators: of `enumerate`, `zip`, `map`, `filter` and `itertools`, and `functools.reduce`."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence

from tightdp.core.lowering.expressions import binary
from tightdp.core.lowering.functions import call
from tightdp.core.lowering.iteration import Step, collected, items_of, one_of, steps
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import builtin
from tightdp.core.lowering.scalars import operate, over_values, truth, whole
from tightdp.core.lowering.values import Every, Filtered, Stream, Value, alternatives, never

# streams


def _made_of_every(parts: Sequence[Every], make: Callable[..., Value]) -> Every:
    """Return what is made of the index of every record, and the items of these parts."""
    return Every(lambda record, index: make(index, *(part.step(record, index) for part in parts)), tuple(parts))


@builtin(enumerate)
def _enumerate(m: Machine, iterable: Value, start: Value = 0) -> Value:
    if isinstance(iterable, Every):
        return _made_of_every([iterable], lambda index, item: (operate(m, "add", start, index), item))
    inner = steps(m, iterable)

    def step(at: int) -> Step | None:
        found = inner(at)
        return None if found is None else (found[0], (operate(m, "add", start, at), found[1]))

    return Stream("enumerate", step)


@builtin(zip)
def _zip(m: Machine, *iterables: Value, strict: Value = False) -> Value:
    if iterables and all(isinstance(iterable, Every) for iterable in iterables):
        return _made_of_every(iterables, lambda index, *items: items)
    parts = [steps(m, iterable) for iterable in iterables]

    def step(at: int) -> Step | None:
        found = [part(at) for part in parts]
        there = [one[0] for one in found if one is not None]
        present = m.conj(*there) if len(there) == len(parts) > 0 else m.builder.false
        if strict:
            uneven = m.conj(m.builder.disjunction(there), m.builder.negation(present))
            m.oblige(uneven, Failure("ValueError: zip() arguments have different lengths", "make them equally long"))
        if present is m.builder.false:
            return None
        return present, tuple(one[1] for one in found if one is not None)

    return Stream("zip", step)


@builtin(reversed)
def _reversed(m: Machine, sequence: Value, /) -> Value:
    return m.each(sequence, lambda each: _backwards(m, each))


def _backwards(m: Machine, sequence: Value) -> Value:
    items = items_of(m, sequence)
    options = alternatives(items, m.builder.true)

    def step(at: int) -> Step | None:
        now = items_of(m, sequence)
        pairs = [(guard, len(part), part) for guard, part in options]
        if now is not items:
            pairs = [
                (m.conj(guard, other), length, content)
                for guard, length, _ in pairs
                for other, content in alternatives(now, m.builder.true)
            ]
        there = [
            (guard, (m.builder.true, part[length - 1 - at]))
            for guard, length, part in pairs
            if 0 <= length - 1 - at < len(part)
        ]
        return one_of(m, there, len(there) == len(pairs))

    return Stream("reversed", step)


@builtin(map)
def _map(m: Machine, function: Value, first: Value, /, *more: Value) -> Value:
    iterables = (first, *more)
    if all(isinstance(iterable, Every) for iterable in iterables):
        return _made_of_every(iterables, lambda index, *items: call(m, function, items, {}))
    parts = [steps(m, iterable) for iterable in iterables]

    def step(at: int) -> Step | None:
        found = [part(at) for part in parts]
        items = tuple(one[1] for one in found if one is not None)
        if len(items) < len(found):
            return None
        present = m.conj(*(one[0] for one in found if one is not None))
        return present, m.branch(present, lambda: call(m, function, items, {}), lambda: None)

    return Stream("map", step)


@builtin(filter)
def _filter(m: Machine, function: Value, iterable: Value, /) -> Value:
    def wanted(item: Value) -> Value:
        return truth(m, item if function is None else call(m, function, (item,), {}))

    return Filtered("filter", never, iterable, wanted)


def _all_done(m: Machine, items: Sequence[Value], function: Value) -> list[Value]:
    """Return what a function of two makes of the first items, for each number of them; sums without a function."""
    done = list(items[:1])
    for item in items[1:]:
        if function is None:
            done.append(binary(m, "add", done[-1], item, m.position[-1]))
        else:
            done.append(call(m, function, (done[-1], item), {}))
    return done


@builtin(functools.reduce)
def _reduce(m: Machine, function: Value, iterable: Value, *initial: Value) -> Value:
    def folded(items: tuple[Value, ...]) -> Value:
        done = _all_done(m, [*initial[:1], *items], function)
        if not done:
            raise Failure("TypeError: reduce() of an empty iterable", "give it an initial value")
        return done[-1]

    return m.each(collected(m, iterable), folded)


# itertools


def _stream(m: Machine, name: str, items: Sequence[Value]) -> Stream:
    return Stream(name, lambda at: (m.builder.true, items[at]) if at < len(items) else None)


def _over_items(m: Machine, iterables: Sequence[Value], action: Callable[..., Value]) -> Value:
    """Apply an action to the items of several iterables, whose lengths may depend on the run."""

    def over(done: list[Value], rest: Sequence[Value]) -> Value:
        return m.each(collected(m, rest[0]), lambda each: over([*done, each], rest[1:])) if rest else action(*done)

    return over([], iterables)


@builtin(itertools.product)
def _product(m: Machine, *iterables: Value, repeat: Value = 1) -> Value:
    def times(count: Value, items: Sequence[Value]) -> Value:
        return _stream(m, "product", list(itertools.product(*items, repeat=whole(count))))

    return _over_items(m, iterables, lambda *items: over_values(m, repeat, lambda count: times(count, items)))


def _chosen(choose: Callable[..., object]) -> None:
    @builtin(choose)
    def handler(m: Machine, iterable: Value, r: Value = None) -> Value:
        def of(items: tuple[Value, ...]) -> Value:
            count, name = len(items) if r is None else r, getattr(choose, "__name__", "")
            return over_values(m, count, lambda size: _stream(m, name, [*choose(items, whole(size))]))  # type: ignore[misc]

        return m.each(collected(m, iterable), of)


for _choose in (itertools.combinations, itertools.permutations, itertools.combinations_with_replacement):
    _chosen(_choose)


@builtin(itertools.pairwise)
def _pairwise(m: Machine, iterable: Value, /) -> Value:
    return m.each(collected(m, iterable), lambda items: _stream(m, "pairwise", list(itertools.pairwise(items))))


@builtin(itertools.chain)
def _chain(m: Machine, *iterables: Value) -> Value:
    return _over_items(m, iterables, lambda *items: _stream(m, "chain", list(itertools.chain(*items))))


@builtin(itertools.accumulate)
def _accumulate(m: Machine, iterable: Value, func: Value = None, *, initial: Value = None) -> Value:
    def of(items: tuple[Value, ...]) -> Value:
        return _stream(m, "accumulate", _all_done(m, items if initial is None else (initial, *items), func))

    return m.each(collected(m, iterable), of)
