"""What a mechanism means: its exact output law, by running it once for every random outcome.

This is the definition. It knows nothing of the compiler, whose answers are tested against it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from types import FunctionType
from typing import Any, TypeVar

from tightdp.errors import LimitError, ProgramError, QueryError
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.numbers import brief
from tightdp.language import laws
from tightdp.language.exactness import exact
from tightdp.language.laws import Exponentials, Law, OnIntegers
from tightdp.language.outputs import Output, as_output
from tightdp.language.primitives import Rejected, Source
from tightdp.language.program import Bound, Dataset
from tightdp.language.rounds import MOST_ROUNDS
from tightdp.language.stand_ins import refuse_changes, states, without_entropy

_MOST_DRAWS = 10_000
"""How many draws one run may make."""
_MOST_BITS = 16
"""How many bits a draw of `random()` may have of which every outcome is tried."""
_LATER, _MOST_LATER = 300_000, 100
"""After so many draws in all no run may make more than this: a tree that is still as deep then has hardly an end."""

T = TypeVar("T")


def law(bound: Bound, x: Sequence[Any]) -> dict[Output, Number]:
    """The probability of each output on dataset x, given that every `observe` holds; they sum to 1.

    Outputs are the same when Python says `==`. Raises ProgramError with x when a run of positive probability
    fails, or none satisfies `observe`.
    """
    masses = _masses(runs(bound, x))
    if not masses:
        raise bound.contradiction(bound.check_dataset(x), "is false in every run")
    total = sum(masses.values(), start=Fraction(0))
    return {output: mass / total for output, mass in masses.items()}


def law_within(
    bound: Bound, x: Sequence[Any], reach: int, draws: int = _MOST_DRAWS
) -> tuple[dict[Output, Number], Number]:
    """The probability of each output together with the event that noise on all integers stays within reach.

    With it comes the probability of the other runs, those with a draw more than `reach` from its centre, or with more
    than so many draws, by which the probability of an output can be larger. Runs that `observe` rejects count for
    neither; nothing is divided.
    """
    beyond: list[Number] = [Fraction(0)]
    masses = _masses(runs(bound, x, reach, beyond, draws))
    return masses, beyond[0]


def _masses(found: Iterator[tuple[Output, Number]]) -> dict[Output, Number]:
    masses: dict[Output, Number] = {}
    for output, probability in found:
        masses[output] = masses.get(output, Fraction(0)) + probability
    return masses


def runs(
    bound: Bound,
    x: Sequence[Any],
    reach: int | None = None,
    beyond: list[Number] | None = None,
    draws: int = _MOST_DRAWS,
) -> Iterator[tuple[Output, Number]]:
    """The output and the probability of every run on dataset x that `observe` does not reject.

    Runs with noise on all integers are enumerated with `reach` only: those in which it stays so close to its centre.
    The probability of the others is added to `beyond[0]`.
    """
    dataset = bound.check_dataset(x)

    def add(run: Replay) -> None:
        assert beyond is not None
        beyond[0] += run.probability()

    found = every_run(lambda source: bound.execute(dataset, source), reach, None if beyond is None else add, draws)
    return ((output, run.probability()) for output, run in found)


def every_run(
    execute: Callable[[Source], T],
    reach: int | None = None,
    beyond: Callable[[Replay], None] | None = None,
    draws: int = _MOST_DRAWS,
) -> Iterator[tuple[T, Replay]]:
    """What a function of a source of randomness returns, and its draws, for all random outcomes in turn.

    With `reach`, noise on all integers stays so close to its centre. `beyond` is given the other runs, and those with
    more draws.
    """
    past: list[_Draw] = []
    made, before = 0, states()
    while True:
        replay = Replay(past, reach, draws if made < _LATER or beyond else min(draws, _MOST_LATER), beyond is not None)
        try:
            with without_entropy():
                output = execute(replay)
        except _Beyond:
            assert beyond is not None
            beyond(replay)
        except Rejected:
            pass
        else:
            yield output, replay
        past = replay.draws
        made += len(past)
        while past and past[-1].is_last():
            past.pop()
        if not past:
            refuse_changes(before)
            return
        past[-1] = past[-1].next()


def target_value(bound: Bound, x: Sequence[Any]) -> int | Number:
    """The target of the mechanism on dataset x.

    Raises QueryError when there is no target, ProgramError when it fails or is not a rational number.
    """
    return target_of(bound, bound.check_dataset(x))


def target_of(bound: Bound, dataset: Dataset) -> int | Number:
    """The same on a dataset that was checked."""
    value = _returned(bound, dataset)
    if isinstance(value, ExpNumber):
        return value
    if not isinstance(value, (int, Fraction)):
        what = f"on the dataset {brief(dataset)} the target is {value!r}, which is not a rational number"
        raise ProgramError(what, "make the target an int or a quotient of ints", x=dataset)
    whole = Fraction(value)
    return whole.numerator if whole.denominator == 1 else whole


def target_output(bound: Bound, dataset: Dataset) -> Output:
    """The target on a dataset that was checked, which may be anything that can be an output."""
    return _returned(bound, dataset, as_output)


def _returned(bound: Bound, dataset: Dataset, read: Callable[[Any], Any] = lambda value: value) -> Any:
    """What the target returns, as it is read; what cannot be read is a failure, too."""
    target = bound.program.target
    if target is None:
        raise QueryError(
            f"{bound.program.name} has no target", "name what it estimates, as in @mechanism(..., target=sum)"
        )
    try:
        return read(exact(target)(dataset, **named_parameters(target, bound)))
    except LimitError:
        raise
    except Exception as error:
        what = f"on the dataset {brief(dataset)} the target fails with {type(error).__name__}: {error}"
        raise ProgramError(what, "make the target a function of every dataset", x=dataset) from error


class _Beyond(Rejected):
    """A run in which noise on all integers is further from its centre than in the runs that are enumerated."""


@lru_cache(1 << 10)
def _near(law: OnIntegers, reach: int) -> Law:
    """Return noise on all integers within a reach of its centre; all that is beyond is one outcome, the last."""
    last = law.centre + reach
    return (*((z, law.mass(z)) for z in range(law.centre - reach, last + 1)), (last + 1, 2 * law.at_least(last + 1)))


class _Draw:
    """One draw of a run: its law, which of the outcomes was taken, and the draw before it."""

    __slots__ = ("_mass", "before", "index", "law")

    def __init__(self, law: Law, before: _Draw | None, index: int = 0) -> None:
        self.law = law
        self.before = before
        self.index = index
        self._mass: Number | None = None

    def is_last(self) -> bool:
        return self.index + 1 == len(self.law)

    def next(self) -> _Draw:
        return _Draw(self.law, self.before, self.index + 1)

    def mass(self) -> Number:
        """Return the probability of the run up to this draw, which is multiplied when it is asked for."""
        unknown: list[_Draw] = []
        at: _Draw | None = self
        while at is not None and at._mass is None:
            unknown.append(at)
            at = at.before
        mass: Number = Fraction(1) if at is None or at._mass is None else at._mass
        for draw in reversed(unknown):
            draw._mass = mass = mass * draw.law[draw.index][1]
        return mass


class Replay:
    """A source of randomness: repeats the draws of `past`, then takes the first outcome of every law."""

    tells_equal_apart = True

    def __init__(
        self, past: list[_Draw], reach: int | None = None, most: int = _MOST_DRAWS, beyond: bool = False
    ) -> None:
        self._past = past
        self._beyond = beyond
        self._reach = reach
        self._most = most
        self.draws: list[_Draw] = []
        self.rounds = 0

    def draw(self, law: Law) -> int:
        if len(law) == 1:
            return law[0][0]
        position = len(self.draws)
        draw = (
            self._past[position] if position < len(self._past) else _Draw(law, self.draws[-1] if self.draws else None)
        )
        if draw.law is not law and draw.law != law:
            hint = "draw only with the primitives of tightdp, and change nothing outside the function"
            raise ProgramError("two runs with the same random outcomes differ", hint)
        if position == self._most:
            if self._beyond:
                raise _Beyond
            few = " after many others" if self._most == _MOST_LATER else ""
            raise LimitError(f"a run{few} makes more than {self._most} draws", "bound the loops of the mechanism")
        self.draws.append(draw)
        return law[draw.index][0]

    def draw_integer(self, law: OnIntegers) -> int:
        if self._reach is None:
            hint = "ask the compiler, or for the runs within a reach (`law_within`)"
            raise LimitError("noise on all integers has infinitely many outcomes", hint)
        z = self.draw(_near(law, self._reach))
        if z > law.centre + self._reach:
            raise _Beyond
        return z

    def draw_number(self, law: Exponentials) -> int:
        kind = "real noise has" if law.real else "noise on all integers has"
        raise LimitError(f"{kind} infinitely many outcomes", "ask the compiler")

    def draw_bits(self, bits: int) -> int:
        if bits <= _MOST_BITS:
            return self.draw(laws.uniform(0, 2**bits - 1))
        if self._reach is not None:
            raise _Beyond
        raise LimitError(f"random() has 2^{bits} outcomes", f"ask the compiler, or give at most {_MOST_BITS} bits")

    def observe(self, condition: bool) -> None:
        if not condition:
            raise Rejected

    def round(self, loop: object) -> None:
        """Hear that a round of a `while` loop begins: one that draws nothing may have no end."""
        self.rounds += 1
        if self.rounds > MOST_ROUNDS:
            raise LimitError(
                f"a run goes through more than {MOST_ROUNDS:,} rounds of loops", "bound the loops of the mechanism"
            )

    def probability(self) -> Number:
        return self.draws[-1].mass() if self.draws else Fraction(1)

    def is_possible(self) -> bool:
        """Whether the probability is positive."""
        return all(draw.law[draw.index][1] for draw in self.draws)


def named_parameters(target: Any, bound: Bound) -> dict[str, Any]:
    """The parameters that the target takes by name besides the dataset."""
    if not isinstance(target, FunctionType):
        return {}
    values = {**bound.parameters, "n": bound.n}
    return {name: values[name] for name in list(inspect.signature(target).parameters)[1:] if name in values}
