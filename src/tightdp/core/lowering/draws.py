"""The random primitives: each becomes a draw whose law is picked by what its arguments are on the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

from tightdp.core.between import uncut
from tightdp.core.lowering.alike import permuted
from tightdp.core.lowering.every import has_all
from tightdp.core.lowering.functions import call_python
from tightdp.core.lowering.given import drawn as draw_of
from tightdp.core.lowering.iteration import collected
from tightdp.core.lowering.machine import Dead, Failure, Machine
from tightdp.core.lowering.positions import item_at, picked
from tightdp.core.lowering.refusals import refuse_quotients
from tightdp.core.lowering.registry import builtin
from tightdp.core.lowering.scalars import bind_arguments, operate, over_all, too_many, total, truth
from tightdp.core.lowering.sequences import plain, settled
from tightdp.core.lowering.values import Alike, Every, Growing, Infinity, Union, Value, is_scalar, known, name_of
from tightdp.core.nodes import Expr
from tightdp.core.published import GOES_ON, above, cut_exponentials
from tightdp.core.together import values_together
from tightdp.core.valuesets import TooManyValues
from tightdp.core.windows import LeftOff, is_far
from tightdp.errors import ParameterError
from tightdp.exact.rationals import as_fraction
from tightdp.exact.weights import as_exact
from tightdp.language import laws, primitives
from tightdp.language.laws import Exponentials, Law, OnIntegers
from tightdp.limits.calibrated import TABLE_ENTRIES


def _drawn(function: Callable[..., Any], primitive: primitives.Primitive) -> Callable[..., Value]:
    """Return the handler of a primitive whose outcome is drawn from a law of its arguments."""
    name = function.__name__

    def handler(m: Machine, *arguments: Value, **keywords: Value) -> Value:
        bound = bind_arguments(name, function, 0, arguments, keywords)
        bound.apply_defaults()
        values = [m.each(value, lambda one: _argument(m, one)) for value in bound.args]
        drawn = m.drawn(name, values) if m.single else None
        return drawn if drawn is not None else over_all(m, values, partial(draw, m=m), Machine.each)

    def draw(*values: Value, m: Machine) -> Value:
        unknown = {item.serial for item in _leaves(values) if isinstance(item, Expr)}
        if primitive.steps is not None and len(unknown) > 1:
            return call_python(m, primitive.steps, values, {})
        if (primitive.centred or _endless(m, primitive, values)) and _all_integers(values[0]):
            return operate(m, "add", values[0], draw_from(m, name, primitive.law, (0, *values[1:])))
        return draw_from(m, name, primitive.law, values)

    return handler


def _endless(m: Machine, primitive: primitives.Primitive, values: Sequence[Value]) -> bool:
    """Whether noise on all integers is looked at apart from its centre, and this is such noise."""
    if not m.apart or any(isinstance(item, Expr) for item in _leaves(values[1:])):
        return False
    try:
        return isinstance(_law(primitive.law, (0, *values[1:])), OnIntegers)
    except (Failure, TypeError):
        return False


def _all_integers(value: Value) -> bool:
    possible = value.values if isinstance(value, Expr) else (value,)
    return possible != (0,) and all(isinstance(each, int) for each in possible)


def _listed(m: Machine, value: Value) -> Value:
    try:
        return collected(m, value)
    except Failure:
        return value


for _function, _primitive in primitives.PRIMITIVES.items():
    builtin(_function)(_drawn(_function, _primitive))


def _argument(m: Machine, value: Value) -> Value:
    """Return an argument as a scalar, or the items of a sequence of scalars."""
    value = settled(m, plain(m, value))
    if is_scalar(value):
        return value
    listed = _listed(m, value)
    return tuple(settled(m, plain(m, item)) for item in listed) if isinstance(listed, tuple) else listed


def _leaves(arguments: Sequence[Value]) -> list[Value]:
    """Return the scalars of arguments, which are scalars or sequences of them."""
    return [item for value in arguments for item in (value if isinstance(value, tuple) else (value,))]


def draw_from(
    m: Machine,
    name: str,
    law: Callable[..., Law | OnIntegers | Exponentials],
    arguments: Sequence[Value],
    joint: Expr | None = None,
) -> Value:
    """Draw from the law that belongs to the values of the arguments, which are scalars or tuples of scalars.

    `joint` is the tuple of all that are not known, where there is a node for it.
    """
    for item in _leaves(arguments):
        if isinstance(item, Infinity):
            raise m.unsupported(f"{name} of infinity is not in the language", "pass a number")
        if not is_scalar(item):
            raise Failure(f"TypeError: {name} does not take {name_of(item)}", "pass numbers")
        if isinstance(item, str):
            _check_number(m, item)
        if m.guards and name in ("randint", "binomial"):  # which raise for what is no integer
            refuse_quotients(m, item, name)
    unknown = [item for item in _leaves(arguments) if isinstance(item, Expr)]
    m.builder.cells.check_whole(*_leaves(arguments))
    if m.builder.noises and any(map(is_far, unknown)):
        hint = "clamp it first, as in max(lo, min(value, hi))"
        raise m.unsupported(f"noise on all integers is an argument of {name}", hint)
    if not unknown:
        return _cut(m, name, m.builder.true, [_law(law, arguments)])
    selector = unknown[0] if len(unknown) == 1 else joint or _joint(m, unknown)
    table: list[Law | OnIntegers | Exponentials | None] = []
    refused: list[tuple[Any, Failure]] = []
    for value in selector.values:
        m.watch()
        values = iter((value,) if len(unknown) == 1 else value)
        plain = [
            tuple(next(values) if isinstance(item, Expr) else item for item in argument)
            if isinstance(argument, tuple)
            else (next(values) if isinstance(argument, Expr) else argument)
            for argument in arguments
        ]
        try:
            table.append(_law(law, plain))
        except Failure as failure:
            table.append(None)
            refused.append((value, failure))
    if refused:
        conditions = [m.builder.equals(selector, value) for value, _ in refused]
        m.oblige(m.builder.disjunction(conditions), refused[0][1])
    if len(refused) == len(table):
        raise Dead
    return _cut(m, name, selector, table)


def _cut(m: Machine, name: str, selector: Expr, table: Sequence[Law | OnIntegers | Exponentials | None]) -> Value:
    """Draw from the law that a node picks; one-sided noise is cut off where an enclosure will do."""
    finite: list[Law | OnIntegers | None] = []
    far: list[tuple[Any, Any]] = []
    for value, law in zip(selector.values, table, strict=True):
        if isinstance(law, Exponentials) and m.builder.unlisted is not None:
            return known(m.builder.unlisted(law))
        if not isinstance(law, Exponentials):
            finite.append(law)
            continue
        if law.real and m.floats:
            what = f"{name} is real noise, which is not in the language with floats"
            raise m.unsupported(what, "leave out --floats, or draw it from random() as the machine does")
        if law.real or m.builder.cut is None:
            if m.within:
                raise uncut(law.real)
            finite.append(m.builder.cells.law(law, m.position[-1]))
            continue
        finite.append(short := cut_exponentials(law))
        far.append((value, short[-1]))
    drawn = draw_of(m.given, m.builder, name, selector, finite, m.alive)
    here = [m.conj(m.builder.equals(selector, value), m.builder.equals(drawn, outcome)) for value, (outcome, _) in far]
    for each in here if m.within else ():
        m.oblige(each, Failure(GOES_ON))
    if far and not m.within:
        condition = m.conj(m.alive, m.builder.disjunction(here))
        m.builder.lost.append(LeftOff(max(above(mass) for _, (_, mass) in far), condition, drawn, selector))
    return known(drawn)


def _check_number(m: Machine, text: str) -> None:
    """Refuse a string that is no number: that is a mistake in the source, whatever the dataset."""
    try:
        as_fraction(text)
    except ParameterError as error:
        raise m.unsupported(error.what, error.hint) from None


def _joint(m: Machine, unknown: Sequence[Expr]) -> Expr:
    try:
        return m.builder.total("tuple", *unknown)
    except TooManyValues as error:
        raise too_many(m, error) from None


def _law(
    law: Callable[..., Law | OnIntegers | Exponentials], arguments: Sequence[Any]
) -> Law | OnIntegers | Exponentials:
    try:
        return law(*map(_as_it_is, arguments))
    except ParameterError as error:
        raise Failure(f"ParameterError: {error.what}", error.hint) from None


def _as_it_is(value: Value) -> Value:
    """Return an argument of a law; a double, of which there are only where numbers are doubles, as its rational."""
    if isinstance(value, tuple):
        return tuple(map(_as_it_is, value))
    return Fraction(value) if type(value) is float else value


# choice


@builtin(primitives.choice)
def _choice(m: Machine, values: Value, weights: Value = None) -> Value:
    if weights is None and isinstance(values, Every) and has_all(values):
        return values.step(m.record_at(m.drawn("choice", ())), None)
    if weights is None:
        return m.each(collected(m, values), lambda items: _choose(m, items, None))
    return m.each(
        collected(m, values), lambda items: m.each(collected(m, weights), lambda shares: _choose(m, items, shares))
    )


def _choose(m: Machine, items: tuple[Value, ...], weights: Sequence[Value] | None) -> Value:
    """Return one of the items with probability proportional to its weight."""
    if not items:
        raise Failure("ParameterError: choice was given no values", "give at least one value")
    if weights is None:
        return item_at(m, items, draw_from(m, "choice", lambda: laws.weighted(items), ()))
    weights = [settled(m, plain(m, weight)) for weight in weights]
    if len(weights) != len(items):
        raise Failure(
            f"ParameterError: choice was given {len(items)} values and {len(weights)} weights",
            "give one weight per value",
        )
    unknown = [weight for weight in weights if isinstance(weight, Expr)]
    joint, chosen = None, m.drawn("choice", weights) if m.single and unknown else None
    if chosen is not None:
        return item_at(m, items, chosen)
    if prod(len(weight.values) for weight in unknown) > TABLE_ENTRIES:
        together = values_together(unknown, TABLE_ENTRIES, m.watch)
        if not together:
            return _choose_in_turn(m, items, weights)
        joint = m.builder.joint(unknown, together)
    return item_at(m, items, draw_from(m, "choice", lambda *plain: laws.weighted(items, plain), weights, joint))


def _choose_in_turn(m: Machine, items: tuple[Value, ...], weights: Sequence[Value]) -> Value:
    """Take the first item with its share of all weights, else the second with its share of the rest, ..."""
    for weight in weights:
        m.oblige(
            truth(m, operate(m, "lt", weight, 0)),
            Failure("ParameterError: a weight of choice is negative", "give weights of at least 0"),
        )
    m.oblige(
        truth(m, operate(m, "eq", total(m, weights), 0)),
        Failure("ParameterError: the weights of choice are all 0", "give at least one positive weight"),
    )
    taken: list[Expr] = []
    for at in range(len(items) - 1):
        taken.append(truth(m, draw_from(m, "choice", _share, (weights[at], total(m, weights[at:])))))
    result = items[-1]
    for condition, item in zip(reversed(taken), reversed(items[:-1]), strict=True):
        result = m.merge(condition, item, result)
    return result


def _share(weight: Any, of: Any) -> Law:
    """Return the law of a coin with probability weight / of; combinations that cannot occur give a constant."""
    if of <= 0 or not 0 <= weight <= of:
        return ((False, Fraction(1)),)
    return laws.bernoulli(as_exact(_as_it_is(weight)) / as_exact(_as_it_is(of)))


# shuffle


@builtin(primitives.shuffle)
def _shuffle(m: Machine, messages: Value) -> Value:
    return m.each(collected(m, messages), lambda items: _shuffled(m, items))


def _shuffled(m: Machine, items: tuple[Value, ...] | Alike | Growing) -> Value:
    """Return the items in uniformly random order."""
    if isinstance(items, Alike):
        return permuted(m, items)
    if isinstance(items, Growing):
        return m.of_growing("shuffle", items)
    if all(is_scalar(item) for item in items):
        return m.builder.shuffled([m.expr(item) for item in items])
    numbers: dict[tuple[object, Value], int] = {}
    tables = [_table(m, item) for item in items]
    if all(tables):
        codes = [_numbered(m, table, numbers) for table in tables if table]
        messages = [plain for _, plain in numbers]
        return tuple(picked(m, code, [messages[at] for at in code.values]) for code in m.builder.shuffled(codes))
    arranged = list(items)
    for last in range(len(arranged) - 1, 0, -1):
        chosen = draw_from(m, "shuffle", laws.uniform, (0, last))
        moved, kept = item_at(m, tuple(arranged[: last + 1]), chosen), arranged[last]
        for at in range(last):
            arranged[at] = m.merge(m.builder.equals(m.expr(chosen), at), kept, arranged[at])
        arranged[last] = moved
    return tuple(arranged)


def _table(m: Machine, message: Value) -> tuple[Expr, Sequence[Value]] | None:
    """Return a node on which a message depends, and what the message is by the node's value.

    None where the message has a part that is no scalar and no tuple, or too many values.
    """
    if is_scalar(message):
        expr = m.expr(message)
        return None if m.builder.noises and is_far(expr) else (expr, expr.values)
    if isinstance(message, tuple):
        tables = [_table(m, part) for part in message]
        parts = [table for table in tables if table]
        together = values_together([expr for expr, _ in parts], TABLE_ENTRIES, m.watch)
        if len(parts) < len(tables) or not together:
            return None
        plain = [
            tuple(table[expr.index[value]] for value, (expr, table) in zip(values, parts, strict=True))
            for values in together
        ]
        return m.builder.joint([expr for expr, _ in parts], together), plain
    if not isinstance(message, Union):
        return None
    options = [(guard, _table(m, item)) for guard, item in message.alternatives]
    numbers: dict[tuple[object, Value], int] = {}
    code: Expr | None = None
    for guard, table in reversed(options):
        if table is None:
            return None
        number = _numbered(m, table, numbers)
        code = number if code is None else m.builder.either(guard, number, code)
    assert code is not None
    messages = [plain for _, plain in numbers]
    return code, [messages[at] for at in code.values]


def _numbered(m: Machine, table: tuple[Expr, Sequence[Value]], numbers: dict[tuple[object, Value], int]) -> Expr:
    """Return the number of a message; new messages get the next one. True and 1 are two."""
    expr, messages = table
    found = [numbers.setdefault((_types(plain), plain), len(numbers)) for plain in messages]
    return m.builder.case(expr, list(map(m.builder.const, found)))


def _types(plain: object) -> object:
    return tuple(map(_types, plain)) if isinstance(plain, tuple) else type(plain)


# observe


@builtin(primitives.observe)
def _observe(m: Machine, condition: Value) -> None:
    holds, alive = truth(m, condition), m.alive
    m.evidence.append(m.builder.disjunction([m.builder.negation(alive), holds]))
    m.alive = m.conj(alive, holds)
    m.depart(None)
    if m.alive is m.builder.false:
        m.impossible = m.impossible or m.frame.source.span(m.position[-1])
        raise Dead
