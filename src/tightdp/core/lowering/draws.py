"""The random primitives: each becomes a draw whose law is picked by what its arguments are on the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from tightdp.core.ir import Expr, TooManyValues
from tightdp.core.lowering.calls import Arguments, Calls, Handler, Keywords
from tightdp.core.lowering.machine import Dead, Failure
from tightdp.core.lowering.values import Value, is_scalar, kind, name_of
from tightdp.errors import ParameterError
from tightdp.language import laws, primitives
from tightdp.language.laws import Law

__all__ = ["Draws"]

_MAX_JOINT = 4096
"""How many combinations of weights one joint table of `choice` may have."""


class Draws(Calls):
    """Execution of the random primitives on all live runs at once."""

    iterating = (*Calls.iterating, primitives.choice, primitives.shuffle)

    def handler(self, thing: Any) -> Handler | None:
        """Return how a primitive or a builtin is applied, or None."""
        if callable(thing) and type(thing).__hash__ is not None and thing in _PRIMITIVES:
            return _PRIMITIVES[thing]
        return super().handler(thing)

    def draw(self, name: str, law: Callable[..., Law], arguments: Sequence[Value]) -> Value:
        """Draw from the law that belongs to the values of the arguments."""
        for argument in arguments:
            if not is_scalar(argument):
                raise Failure(f"TypeError: {name} does not take {name_of(argument)}", "pass numbers")
        unknown = [argument for argument in arguments if isinstance(argument, Expr)]
        if not unknown:
            return self.known(self.builder.draw(name, self.builder.true, [self._law(law, arguments)]))
        selector = unknown[0] if len(unknown) == 1 else self._joint(unknown)
        table: list[Law | None] = []
        refused: list[tuple[Any, Failure]] = []
        for value in selector.values:
            values = iter((value,) if len(unknown) == 1 else value)
            plain = [next(values) if isinstance(argument, Expr) else argument for argument in arguments]
            try:
                table.append(self._law(law, plain))
            except Failure as failure:
                table.append(None)
                refused.append((value, failure))
        if refused:
            conditions = [self.builder.equals(selector, value) for value, _ in refused]
            self.oblige(self.builder.disjunction(conditions), refused[0][1])
        if len(refused) == len(table):
            raise Dead
        return self.known(self.builder.draw(name, selector, table))

    def _joint(self, unknown: Sequence[Expr]) -> Expr:
        try:
            return self.builder.total("tuple", *unknown)
        except TooManyValues as error:
            raise self.too_many(error) from None

    @staticmethod
    def _law(law: Callable[..., Law], arguments: Sequence[Any]) -> Law:
        try:
            return law(*arguments)
        except ParameterError as error:
            raise Failure(f"ParameterError: {error.what}", error.hint) from None

    # choice

    def choose(self, items: tuple[Value, ...], weights: Sequence[Value] | None) -> Value:
        """Return one of the items with probability proportional to its weight."""
        if not items:
            raise Failure("ParameterError: choice was given no values", "give at least one value")
        if weights is None:
            return self._at(items, self.draw("choice", lambda: laws.weighted(items), ()))
        if len(weights) != len(items):
            raise Failure(
                f"ParameterError: choice was given {len(items)} values and {len(weights)} weights",
                "give one weight per value",
            )
        joint = 1
        for weight in weights:
            joint *= len(weight.values) if isinstance(weight, Expr) else 1
        if joint <= _MAX_JOINT:
            return self._at(items, self.draw("choice", lambda *plain: laws.weighted(items, plain), weights))
        return self._choose_in_turn(items, weights)

    def _choose_in_turn(self, items: tuple[Value, ...], weights: Sequence[Value]) -> Value:
        """Take the first item with its share of all weights, else the second with its share of the rest, ..."""
        for weight in weights:
            self.oblige(
                self.truth(self.operate("lt", weight, 0)),
                Failure("ParameterError: a weight of choice is negative", "give weights of at least 0"),
            )
        self.oblige(
            self.truth(self.operate("eq", self.total(weights), 0)),
            Failure("ParameterError: the weights of choice are all 0", "give at least one positive weight"),
        )
        taken: list[Expr] = []
        for at in range(len(items) - 1):
            rest = self.total(weights[at:])
            taken.append(self.truth(self.draw("choice", _share, (weights[at], rest))))
        result = items[-1]
        for condition, item in zip(reversed(taken), reversed(items[:-1]), strict=True):
            result = self.merge(condition, item, result)
        return result

    # shuffle

    def shuffled(self, items: tuple[Value, ...]) -> tuple[Value, ...]:
        """Return the items in uniformly random order."""
        if len({kind(item) for item in items}) == 1 and all(is_scalar(item) for item in items):
            return self.builder.shuffled([self.expr(item) for item in items])
        arranged = list(items)
        for last in range(len(arranged) - 1, 0, -1):
            picked = self.draw("shuffle", laws.uniform, (0, last))
            moved, kept = self._at(tuple(arranged[: last + 1]), picked), arranged[last]
            for at in range(last):
                arranged[at] = self.merge(self.builder.equals(self.expr(picked), at), kept, arranged[at])
            arranged[last] = moved
        return tuple(arranged)

    # observe

    def condition_on(self, value: Value) -> None:
        """Keep only the runs on which the value is true."""
        condition = self.truth(value)
        alive = self.state.alive
        self.evidence.append(self.builder.disjunction([self.builder.negation(alive), condition]))
        self.state.alive = self.conj(alive, condition)
        self.depart(None)
        if self.state.alive is self.builder.false:
            raise Dead


def _share(weight: Any, total: Any) -> Law:
    """Return the law of a coin with probability weight / total; combinations that cannot occur give a constant."""
    if total <= 0 or not 0 <= weight <= total:
        return ((False, Fraction(1)),)
    return laws.bernoulli(Fraction(weight) / Fraction(total))


def _signature(names: tuple[str, ...], arguments: Arguments, keywords: Keywords, optional: int = 0) -> list[Value]:
    """Return the arguments of a primitive by position; the last `optional` ones may be missing (None)."""
    if len(arguments) > len(names) or any(name not in names[len(arguments) :] for name in keywords):
        raise Failure(f"TypeError: the arguments are {', '.join(names)}", "see the table of random primitives")
    values = [*arguments, *(keywords.get(name, ...) for name in names[len(arguments) :])]
    for at, value in enumerate(values):
        if value is ...:
            if at < len(names) - optional:
                raise Failure(f"TypeError: the argument {names[at]!r} is missing", "see the table of primitives")
            values[at] = None
    return values


def _numbers(name: str, law: Callable[..., Law], *names: str) -> Handler:
    def handler(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
        assert isinstance(machine, Draws)

        def over(done: Arguments, rest: Arguments) -> Value:
            if not rest:
                return machine.draw(name, law, done)
            return machine.each(rest[0], lambda value: over((*done, value), rest[1:]))

        return over((), tuple(_signature(names, arguments, keywords)))

    return handler


def _choice(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    assert isinstance(machine, Draws)
    values, weights = _signature(("values", "weights"), arguments, keywords, optional=1)
    if weights is None:
        return machine.each(machine.collected(values), lambda items: machine.choose(items, None))
    return machine.each(
        machine.collected(values),
        lambda items: machine.each(machine.collected(weights), lambda shares: machine.choose(items, shares)),
    )


def _shuffle(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    assert isinstance(machine, Draws)
    (messages,) = _signature(("messages",), arguments, keywords)
    return machine.each(machine.collected(messages), machine.shuffled)


def _observe(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    assert isinstance(machine, Draws)
    (condition,) = _signature(("condition",), arguments, keywords)
    machine.condition_on(condition)
    return None


_PRIMITIVES: dict[Any, Handler] = {
    primitives.flip: _numbers("flip", laws.bernoulli, "p"),
    primitives.randint: _numbers("randint", laws.uniform, "lo", "hi"),
    primitives.binomial: _numbers("binomial", laws.binomial, "n", "p"),
    primitives.geometric: _numbers("geometric", laws.geometric, "v", "ratio", "lo", "hi"),
    primitives.choice: _choice,
    primitives.shuffle: _shuffle,
    primitives.observe: _observe,
}
