"""The builtin functions of Python, and those of `math` and `fractions`."""

from __future__ import annotations

import fractions
import math
import operator
from dataclasses import replace

from tightdp.core.lowering.alike import added, for_all, template
from tightdp.core.lowering.comprehensions import first_of, search, sum_as_it_goes
from tightdp.core.lowering.expressions import binary
from tightdp.core.lowering.iteration import collected, items_of, spend, unordered, visit
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import builtin
from tightdp.core.lowering.scalars import operate, over_values, total, truth, whole
from tightdp.core.lowering.sets import size_of
from tightdp.core.lowering.signatures import Arguments, Handler, Keywords, expect, shape_by_shape
from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import (
    Alike,
    Collection,
    Every,
    Filtered,
    Generator,
    Growing,
    Range,
    Sieve,
    Value,
    is_scalar,
    known,
    numeric,
)
from tightdp.language.primitives import exp

__all__ = ["summed"]


# scalars


def _scalar(name: str, count: int) -> Handler:
    def handler(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
        expect(arguments, keywords, count, count)
        return shape_by_shape(m, arguments, lambda *values: operate(m, name, *values))

    return handler


for _function, _name, _count in (
    (abs, "abs", 1),
    (math.floor, "floor", 1),
    (math.ceil, "ceil", 1),
    (math.comb, "comb", 2),
    (math.perm, "perm", 2),
    (math.gcd, "gcd", 2),
    (math.exp, "exp", 1),
    (exp, "exp", 1),
    (math.factorial, "factorial", 1),
    (math.isqrt, "isqrt", 1),
    (bin, "bin", 1),
    (repr, "repr", 1),
):
    builtin(_function)(_scalar(_name, _count))


@builtin(bool)
def _bool(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 0, 1)
    return known(truth(m, arguments[0])) if arguments else False


@builtin(int)
def _int(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    return _scalar("int", 1)(m, arguments, keywords) if arguments else 0


@builtin(fractions.Fraction)
def _fraction(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 1, 2)
    return _scalar("fraction", len(arguments))(m, arguments, keywords)


@builtin(divmod)
def _divmod(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    return tuple(_scalar(name, 2)(m, arguments, keywords) for name in ("floordiv", "mod"))


@builtin(round)
def _round(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    digits = keywords.get("ndigits")
    arguments = arguments if digits is None else (*arguments, digits)
    expect(arguments, {}, 1, 2)
    return _scalar("round", 1 if len(arguments) == 1 or arguments[1] is None else 2)(
        m, arguments[:1] if len(arguments) == 2 and arguments[1] is None else arguments, {}
    )


@builtin(math.prod)
def _prod(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 1, 1, "start")

    def product(items: tuple[Value, ...]) -> Value:
        result = keywords.get("start", 1)
        for item in items:
            m.watch()
            result = binary(m, "mul", result, item, m.position[-1])
        return result

    return m.each(collected(m, arguments[0]), product)


@builtin(pow)
def _pow(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    return _scalar("pow" if len(arguments) < 3 else "powmod", max(len(arguments), 2))(m, arguments, keywords)


# sequences


@builtin(len)
def _len(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 1, 1)

    def length(value: Value) -> Value:
        if isinstance(value, Collection):
            return size_of(m, value)
        if isinstance(value, Every):
            return m.how_many()
        items = items_of(m, value)
        if isinstance(items, Growing):
            return m.of_growing("len", items)
        if isinstance(items, Sieve):
            return total(m, [0, *(known(present) for present, _ in items.entries)])
        return m.each(items, len)

    return m.each(arguments[0], length)


for _operator in ("add", "sub", "mul", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor"):

    @builtin(getattr(operator, _operator))
    def _of_operator(m: Machine, arguments: Arguments, keywords: Keywords, name: str = _operator) -> Value:
        expect(arguments, keywords, 2, 2)
        known_as = {"and_": "bitand", "or_": "bitor", "xor": "bitxor"}.get(name, name)
        return binary(m, known_as, arguments[0], arguments[1], m.position[-1])


@builtin(next)
def _next(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 1, 2)
    if not isinstance(arguments[0], Generator):
        raise m.unsupported("next of anything but a generator expression is not in the language", "index a list of it")
    return first_of(m, arguments[0], arguments[1] if len(arguments) > 1 else MISSING)


@builtin(list)
def _list(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 0, 1)
    return m.new_list(collected(m, arguments[0]) if arguments else ())


@builtin(tuple)
def _tuple(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 0, 1)
    if arguments and isinstance(arguments[0], Every) and not arguments[0].parts:
        return arguments[0]  # a sequence that nobody changes
    return collected(m, arguments[0]) if arguments else ()


@builtin(any)
def _any(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 1, 1)
    return search(m, arguments[0], True)


@builtin(all)
def _all(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 1, 1)
    return search(m, arguments[0], False)


@builtin(sum)
def _sum(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 1, 2, "start")
    start = arguments[1] if len(arguments) == 2 else keywords.get("start", 0)
    items = unordered(m, arguments[0])
    alike = template(m, items.first if isinstance(items, Generator) else items)
    if alike is not None:
        return binary(m, "add", start, _sum_over_all(m, items, alike), m.position[-1])
    if isinstance(items, (Every, Filtered)):
        return _sum_of_some(m, items, start)
    if isinstance(items, Generator) and (m.single or any(clause.ifs for clause in items.node.generators)):
        return sum_as_it_goes(m, items, start)
    listed = collected(m, items)
    if isinstance(listed, Sieve) and all(is_scalar(item) and numeric(item) for _, item in listed.entries):
        return summed(m, tuple(m.merge(present, item, 0) for present, item in listed.entries), start)
    if isinstance(listed, Growing):
        return binary(m, "add", start, m.of_growing("sum", listed), m.position[-1])
    return m.each(listed, lambda values: summed(m, values, start))


def _sum_over_all(m: Machine, items: Value, alike: Alike) -> Value:
    """Return the sum of what is made of every record alike."""

    def of_one(mine: tuple[Value, ...]) -> Value:
        if isinstance(items, Generator):
            return (sum_as_it_goes(m, replace(items, first=mine), 0),)
        return (summed(m, mine),)

    if isinstance(items, Generator):
        spend(m, items)
    (one,) = for_all(m, alike, of_one).items
    return added(m, one, alike.times)


def _sum_of_some(m: Machine, items: Every | Filtered, start: Value) -> Value:
    """Return the sum of the items that a condition lets through, without a list whose length depends on the run."""
    result = m.new_list((start,))

    def add(item: Value) -> None:
        (done,) = m.store[result.key]
        m.store[result.key] = (binary(m, "add", done, item, m.position[-1]),)

    visit(m, items, add)
    return m.store.pop(result.key)[0]


def summed(m: Machine, items: tuple[Value, ...], start: Value = 0) -> Value:
    """Return the sum of values."""
    result = total(m, (start, *items))
    if result is None:
        result = start
        for item in items:
            result = binary(m, "add", result, item, m.position[-1])
    return result


@builtin(range)
def _range(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 1, 3)
    if m.single and len(arguments) == 1 and arguments[0] is m.how_many():
        return Every(lambda record, index: index)

    def over(done: tuple[int, ...], rest: Arguments) -> Value:
        if not rest:
            if len(done) == 3 and done[2] == 0:
                raise Failure("ValueError: range() step must not be zero", "use a step other than 0")
            return Range(tuple(range(*done)))
        return over_values(m, rest[0], lambda value: over((*done, whole(value)), rest[1:]))

    return over((), arguments)
