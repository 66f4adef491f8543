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
from tightdp.core.lowering.signatures import Arguments, Keywords, expect
from tightdp.core.lowering.values import Every, Filtered, Stream, Value, alternatives

__all__: list[str] = []


# streams


def _made_of_every(parts: Sequence[Every], make: Callable[..., Value]) -> Every:
    """Return what is made of the index of every record, and the items of these parts."""
    return Every(lambda record, index: make(index, *(part.step(record, index) for part in parts)), tuple(parts))


@builtin(enumerate)
def _enumerate(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 1, 2, "start")
    start = arguments[1] if len(arguments) == 2 else keywords.get("start", 0)
    if isinstance(arguments[0], Every):
        return _made_of_every(arguments[:1], lambda index, item: (operate(m, "add", start, index), item))
    inner = steps(m, arguments[0])

    def step(at: int) -> Step | None:
        found = inner(at)
        return None if found is None else (found[0], (operate(m, "add", start, at), found[1]))

    return Stream("enumerate", step)


@builtin(zip)
def _zip(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 0, 1 << 30, "strict")
    strict = keywords.get("strict", False)
    if arguments and all(isinstance(argument, Every) for argument in arguments):
        return _made_of_every(arguments, lambda index, *items: items)
    parts = [steps(m, argument) for argument in arguments]

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
def _reversed(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 1, 1)
    return m.each(arguments[0], lambda sequence: _backwards(m, sequence))


def _backwards(m: Machine, sequence: Value) -> Value:
    items = items_of(m, sequence)
    options = alternatives(items, m.builder.true)

    def step(at: int) -> Step | None:
        now = items_of(m, sequence)
        if now is items:
            pairs = [(guard, len(part), part) for guard, part in options]
        else:
            pairs = [
                (m.conj(guard, other), len(part), content)
                for guard, part in options
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
def _map(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 2, 1 << 30)
    if all(isinstance(argument, Every) for argument in arguments[1:]):
        return _made_of_every(arguments[1:], lambda index, *items: call(m, arguments[0], items, {}))
    function, parts = arguments[0], [steps(m, argument) for argument in arguments[1:]]

    def step(at: int) -> Step | None:
        found = [part(at) for part in parts]
        items = tuple(one[1] for one in found if one is not None)
        if len(items) < len(found):
            return None
        present = m.conj(*(one[0] for one in found if one is not None))
        return present, m.branch(present, lambda: call(m, function, items, {}), lambda: None)

    return Stream("map", step)


@builtin(filter)
def _filter(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 2, 2)
    function, iterable = arguments

    def wanted(item: Value) -> Value:
        return truth(m, item if function is None else call(m, function, (item,), {}))

    return Filtered("filter", _never, iterable, wanted)


def _never(at: int) -> Step | None:
    raise AssertionError("filter is gone through by visiting")


@builtin(functools.reduce)
def _reduce(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 2, 3)

    def folded(items: tuple[Value, ...]) -> Value:
        rest = [*arguments[2:], *items]
        if not rest:
            raise Failure("TypeError: reduce() of an empty iterable", "give it an initial value")
        result = rest[0]
        for item in rest[1:]:
            result = call(m, arguments[0], (result, item), {})
        return result

    return m.each(collected(m, arguments[1]), folded)


# itertools


def _stream(name: str, items: Sequence[Value], m: Machine) -> Stream:
    return Stream(name, lambda at: (m.builder.true, items[at]) if at < len(items) else None)


@builtin(itertools.product)
def _product(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 0, 1 << 30, "repeat")

    def over(done: list[tuple[Value, ...]], rest: Arguments) -> Value:
        if rest:
            return m.each(collected(m, rest[0]), lambda items: over([*done, items], rest[1:]))
        return over_values(
            m,
            keywords.get("repeat", 1),
            lambda times: _stream("product", list(itertools.product(*done, repeat=whole(times))), m),
        )

    return over([], arguments)


def _chosen(name: str, choose: Callable[..., object]) -> None:
    @builtin(choose)
    def handler(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
        expect(arguments, keywords, 1, 2, "r")
        size = arguments[1] if len(arguments) == 2 else keywords.get("r")

        def of(items: tuple[Value, ...]) -> Value:
            count = len(items) if size is None else size
            return over_values(m, count, lambda r: _stream(name, list(choose(items, whole(r))), m))  # type: ignore[call-overload]

        return m.each(collected(m, arguments[0]), of)


_chosen("combinations", itertools.combinations)
_chosen("permutations", itertools.permutations)
_chosen("combinations_with_replacement", itertools.combinations_with_replacement)


@builtin(itertools.pairwise)
def _pairwise(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 1, 1)
    return m.each(collected(m, arguments[0]), lambda items: _stream("pairwise", list(itertools.pairwise(items)), m))


@builtin(itertools.chain)
def _chain(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 0, 1 << 30)

    def over(done: tuple[Value, ...], rest: Arguments) -> Value:
        if not rest:
            return _stream("chain", done, m)
        return m.each(collected(m, rest[0]), lambda items: over(done + items, rest[1:]))

    return over((), arguments)


@builtin(itertools.accumulate)
def _accumulate(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 1, 2, "func", "initial")
    function = arguments[1] if len(arguments) == 2 else keywords.get("func")
    initial = keywords.get("initial")

    def joined(left: Value, right: Value) -> Value:
        if function is None:
            return binary(m, "add", left, right, m.position[-1])
        return call(m, function, (left, right), {})

    def of(items: tuple[Value, ...]) -> Value:
        items = items if initial is None else (initial, *items)
        totals = list(items[:1])
        for item in items[1:]:
            totals.append(joined(totals[-1], item))
        return _stream("accumulate", totals, m)

    return m.each(collected(m, arguments[0]), of)
