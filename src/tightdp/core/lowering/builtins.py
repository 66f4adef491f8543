"""The builtin functions of Python, and those of `math` and `fractions`; the least, the greatest and the sorted."""

from __future__ import annotations

import fractions
import math
import operator
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from tightdp.core.between import Between
from tightdp.core.lowering.alike import added, for_all, template
from tightdp.core.lowering.arranging import arranged, before, rank_of
from tightdp.core.lowering.comprehensions import first_of, search, sum_as_it_goes
from tightdp.core.lowering.every import has_all, positions
from tightdp.core.lowering.expressions import binary
from tightdp.core.lowering.foreign import computed
from tightdp.core.lowering.functions import call, call_python
from tightdp.core.lowering.iteration import collected, everyone, items_of, unordered, visit
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.objects import attribute, has_method
from tightdp.core.lowering.registry import METHODS, OPERANDS, builtin
from tightdp.core.lowering.scalars import adopt, indexed, operate, over_all, over_values, total, truth, whole
from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import (
    Alike,
    Collection,
    Element,
    Every,
    Generator,
    Growing,
    Host,
    Infinity,
    Object,
    Range,
    Reference,
    Sieve,
    Stream,
    Table,
    Value,
    View,
    is_scalar,
    known,
    name_of,
    numeric,
)
from tightdp.core.nodes import Expr
from tightdp.core.operators import Far
from tightdp.exact.field import ExpNumber
from tightdp.exact.lazily import lazily
from tightdp.language.primitives import exp

written: Any = lazily("tightdp.language.library_objects")
of_library: Any = lazily("tightdp.language.library_functions")

# scalars


def _of_one(name: str) -> Callable[..., Value]:
    return lambda m, value, /: m.each(value, lambda item: operate(m, name, item))


def _of_two(name: str) -> Callable[..., Value]:
    return lambda m, left, right, /: over_all(m, (left, right), partial(operate, m, name), Machine.each)


for _function in (abs, math.floor, math.ceil, math.exp, math.factorial, math.isqrt, bin):
    builtin(_function)(_of_one(_function.__name__))
builtin(exp)(_of_one("exp"))
builtin(math.comb)(_of_two("comb"))
builtin(math.perm)(_of_two("perm"))
builtin(math.gcd)(_of_two("gcd"))


@builtin(int)
def _int(m: Machine, value: Value = 0, /, base: Value = MISSING) -> Value:
    return _of_one("int")(m, value) if base is MISSING else computed(m, int, (value, base), {}, "int")


@builtin(float)
def _float(m: Machine, value: Value = 0, /) -> Value:
    """Return the number that a float stands for: it means what is written."""

    def of(one: Value) -> Value:
        if isinstance(one, Object) and has_method(one, "__float__"):
            return _float(m, call(m, attribute(m, one, "__float__"), (), {}))
        if isinstance(one, Element):
            one = OPERANDS[Element](m, "plain", one)
        if isinstance(one, Expr) and not one.numeric:
            return over_values(m, one, of)
        if isinstance(one, Infinity):
            return one
        if not is_scalar(one):
            raise m.unsupported(f"float of a {name_of(one)} is not in the language", "give it a number")
        return _written_number(m, one) if isinstance(one, str) else operate(m, "div", one, 1)

    return m.each(value, of)


def _written_number(m: Machine, text: str) -> Value:
    try:
        number = float(text)
    except ValueError as error:
        raise Failure(f"ValueError: {error}", "give it the text of a number") from None
    return adopt(m, number)


@builtin(fractions.Fraction)
def _fraction(m: Machine, numerator: Value, denominator: Value = None) -> Value:
    parts = (part.values if isinstance(part, Expr) else (part,) for part in (numerator, denominator))
    listed = (values for values in parts if isinstance(values, tuple))  # for every n they are not
    divided = any(isinstance(value, (Far, Between, ExpNumber)) for values in listed for value in values)
    if denominator is None:
        return _of_one("pos" if divided else "fraction")(m, numerator)
    return _of_two("div" if divided else "fraction")(m, numerator, denominator)


@builtin(round)
def _round(m: Machine, number: Value, ndigits: Value = None) -> Value:
    return _of_one("round")(m, number) if ndigits is None else _of_two("round")(m, number, ndigits)


@builtin(math.prod)
def _prod(m: Machine, iterable: Value, /, *, start: Value = 1) -> Value:
    def product(items: tuple[Value, ...]) -> Value:
        result = start
        for item in items:
            m.watch()
            result = binary(m, "mul", result, item, m.position[-1])
        return result

    return m.each(collected(m, iterable), product)


@builtin(pow)
def _pow(m: Machine, base: Value, exponent: Value, modulus: Value = None, /) -> Value:
    if modulus is None:
        return _of_two("pow")(m, base, exponent)
    return over_all(m, (base, exponent, modulus), partial(operate, m, "powmod"), Machine.each)


# sequences


@builtin(len)
def _len(m: Machine, sequence: Value, /) -> Value:
    def length(value: Value) -> Value:
        if isinstance(value, Collection):
            return total(m, [0, *map(known, m.store[value.key].present)])
        if isinstance(value, (Table, View)):
            value = unordered(m, value)
        if isinstance(value, Every) and not value.parts:
            return (
                m.how_many() if has_all(value) else sum_as_it_goes(m, replace(value, step=lambda record, index: 1), 0)
            )
        if isinstance(value, Object):
            return OPERANDS[Object](m, "len", value)
        items = items_of(m, value)
        if isinstance(items, Growing):
            return m.of_growing("len", items)
        if isinstance(items, Sieve):
            return total(m, [0, *(known(present) for present, _ in items.entries)])
        return m.each(items, len)

    return m.each(sequence, length)


def _of_operator(name: str) -> Callable[..., Value]:
    return lambda m, left, right, /: binary(m, name, left, right, m.position[-1])


for _name in ("add", "sub", "mul", "floordiv", "mod", "pow", "lshift", "rshift"):
    builtin(getattr(operator, _name))(_of_operator(_name))
for _name in ("and_", "or_", "xor"):
    builtin(getattr(operator, _name))(_of_operator(f"bit{_name.rstrip('_')}"))


@builtin(next)
def _next(m: Machine, iterator: Value, default: Value = MISSING, /) -> Value:
    def of(one: Value) -> Value:
        one = METHODS[Stream, "begun"](m, one) if isinstance(one, Stream) else one
        if isinstance(one, Object):
            if not has_method(one, "__next__"):
                raise Failure(f"TypeError: a {name_of(one)} is no iterator", "give its class a __next__")
            return call(m, Host(written.following), (one, *(() if default is MISSING else (default,))), {})
        if isinstance(one, Generator):
            return first_of(m, one, default)
        if isinstance(one, Stream):
            raise m.unsupported(f"next of what {one.name} gives is not in the language here", "keep list(...) of it")
        raise m.unsupported("next of anything but an iterator is not in the language", "write next(iter(...))")

    return m.each(iterator, of)


@builtin(iter)
def _iter(m: Machine, items: Value, *end: Value) -> Value:
    """Return an iterator: of a sequence, an object that knows where it is."""

    def of(value: Value) -> Value:
        if isinstance(value, Generator) and not (end or m.single):
            return value
        if end or m.single or name_of(value) == "deque":
            return call_python(m, of_library.iter, (value, *end), {})
        if isinstance(value, (tuple, Range, Reference)):
            return call(m, Host(written.Items), (value,), {})
        if isinstance(value, (str, Expr)):
            return m.each(collected(m, value), of)
        if isinstance(value, Object) and has_method(value, "__iter__"):
            return call(m, attribute(m, value, "__iter__"), (), {})
        return call_python(m, of_library.iter, (value,), {})

    return m.each(items, of)


@builtin(tuple)
def _tuple(m: Machine, iterable: Value = (), /) -> Value:
    if isinstance(iterable, Every) and not iterable.parts:
        return iterable  # a sequence that nobody changes
    return collected(m, iterable)


@builtin(sum)
def _sum(m: Machine, iterable: Value, /, start: Value = 0) -> Value:
    if is_scalar(start) and not numeric(start) and all(isinstance(value, str) for value in m.expr(start).values):
        raise Failure("TypeError: sum() does not add strings", 'use "".join(...)')
    items = unordered(m, iterable)
    alike = template(m, items.first if isinstance(items, Generator) else items)
    if alike is not None:
        return binary(m, "add", start, _sum_over_all(m, items, alike), m.position[-1])
    leaves_out = isinstance(items, Generator) and (
        m.single or any(clause.ifs for clause in getattr(items.node, "generators", ()))
    )
    if leaves_out or isinstance(items, Every):
        return sum_as_it_goes(m, items, start)
    listed = collected(m, items)
    if isinstance(listed, Sieve) and all(is_scalar(item) for _, item in listed.entries):
        terms = tuple(m.merge(present, item, False if m.expr(item).boolean else 0) for present, item in listed.entries)
        if all(map(numeric, terms)):  # items may be None where they are left out
            return summed(m, terms, start)
    if isinstance(listed, Growing):
        return binary(m, "add", start, m.of_growing("sum", listed), m.position[-1])
    return m.each(listed, lambda values: summed(m, values, start))


def _sum_over_all(m: Machine, items: Value, alike: Alike) -> Value:
    """Return the sum of what is made of every record alike."""

    def of_one(mine: tuple[Value, ...]) -> Value:
        if isinstance(items, Generator):
            return (sum_as_it_goes(m, replace(items, first=mine), 0),)
        return (summed(m, mine),)

    (one,) = for_all(m, alike, of_one).items
    return added(m, one, alike.times)


def summed(m: Machine, items: tuple[Value, ...], start: Value = 0) -> Value:
    """Return the sum of values."""
    result = total(m, (start, *items))
    if result is None:
        result = start
        for item in items:
            result = binary(m, "add", result, item, m.position[-1])
    return result


@builtin(range)
def _range(m: Machine, first: Value, *more: Value) -> Value:
    if m.single and (found := positions(m, first, *more)) is not None:
        return found

    def between(*bounds: Value) -> Value:
        if len(bounds) > 3:
            raise Failure(f"TypeError: range() does not take {len(bounds)} arguments", "see its documentation")
        if len(bounds) == 3 and bounds[2] == 0:
            raise Failure("ValueError: range() step must not be zero", "use a step other than 0")
        return Range(tuple(range(*map(whole, bounds))))

    return over_all(m, [indexed(m, bound) for bound in (first, *more)], between)


# order


def _extremum(name: str) -> Callable[..., Value]:
    def handler(m: Machine, first: Value, *others: Value, key: Value = None, default: Value = MISSING) -> Value:
        if not others and m.single and everyone(first):
            return _best(m, name, first, key, default)

        def pick(items: tuple[Value, ...] | Growing) -> Value:
            if isinstance(items, Growing):
                return m.of_growing(name, items)
            finite = [item for item in items if not isinstance(item, Infinity)]
            if finite and key is None and all(is_scalar(item) and numeric(item) for item in finite):
                ends = (item for item in items if isinstance(item, Infinity) and (item.object > 0) == (name == "max"))
                return next(ends, None) or known(m.builder.extremum(name, [m.expr(item) for item in finite]))
            return _best(m, name, items, key, default)

        return m.each((first, *others) if others else _items(m, first, key), pick)

    return handler


builtin(min)(_extremum("min"))
builtin(max)(_extremum("max"))


def _items(m: Machine, iterable: Value, key: Value) -> Value:
    """Return the items; those of a set only where their order does not matter."""
    return collected(m, unordered(m, iterable) if key is None else iterable)


def _best(m: Machine, name: str, iterable: Value, key: Value, default: Value) -> Value:
    """Return the first least or greatest of values."""
    best = m.new_list((False, None, None))

    def look(item: Value) -> None:
        found, _, rank = m.store[best.key]
        other = rank_of(m, key, item)
        better = m.builder.true
        if found:
            better = truth(m, before(m, other, rank, "lt" if name == "min" else "gt"))
        m.branch(better, lambda: m.store.write({best.key: (True, item, other)}), lambda: None)

    visit(m, iterable, look, best)
    found, item, _ = m.store.pop(best.key)
    if not found and default is MISSING:
        raise Failure(f"ValueError: {name}() of nothing", "make sure that there is at least one value")
    return item if found else default


def _divided(m: Machine, left: Value, right: Value) -> Value:
    if isinstance(left, Object) or isinstance(right, Object):
        return operate(m, "divmod", left, right)
    return tuple(operate(m, name, left, right) for name in ("floordiv", "mod"))


_IN_A_WORD: dict[Callable[..., object], Callable[..., Value]] = {
    bool: lambda m, value=False, /: known(truth(m, value)),
    divmod: lambda m, left, right, /: over_all(m, (left, right), partial(_divided, m), Machine.each),
    list: lambda m, iterable=(), /: m.new_list(collected(m, iterable)),
    any: lambda m, iterable, /: search(m, iterable, True),
    all: lambda m, iterable, /: search(m, iterable, False),
    sorted: lambda m, iterable, /, *, key=None, reverse=False: m.new_list(
        m.each(_items(m, iterable, key), lambda items: arranged(m, items, key, reverse))
    ),
}
for _one, _handler in _IN_A_WORD.items():
    builtin(_one)(_handler)
