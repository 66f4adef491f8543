"""The random primitives that a mechanism calls.

Each builds its exact law and asks the current source of randomness to draw from it. The source is
pseudo-random unless something else is in place: the interpreter, for instance, tries every outcome in turn.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any, NoReturn, Protocol, TypeVar

from tightdp.errors import ParameterError, ProgramError
from tightdp.exact import field
from tightdp.exact.rationals import Number, Symbolic
from tightdp.exact.weights import as_exact
from tightdp.exact.whole import Whole, lcm
from tightdp.language import laws, sampling
from tightdp.language.analyst import chosen, conversation
from tightdp.language.laws import Exponentials, Gaussian, Law, OnIntegers, TwoSided
from tightdp.language.outputs import as_seen, offered

__all__ = [
    "ask",
    "binomial",
    "choice",
    "discrete_gaussian",
    "discrete_laplace",
    "exp",
    "exponential",
    "flip",
    "geometric",
    "laplace",
    "observe",
    "one_sided_geometric",
    "poisson_binomial",
    "randint",
    "shuffle",
    "uniform",
]

T = TypeVar("T")


class Source(Protocol):
    """Where the random primitives get their outcomes from."""

    tells_equal_apart: bool
    """Whether equal messages of a shuffle are outcomes of their own, or one of them stands for all."""

    def draw(self, law: Law) -> int:
        """One outcome of the law."""
        ...

    def draw_integer(self, law: OnIntegers) -> int:
        """One outcome of a law on all integers."""
        ...

    def draw_number(self, law: Exponentials) -> Any:
        """One outcome of a law by pieces, which may be any real number."""
        ...

    def draw_bits(self, bits: int) -> int:
        """A number below 2^bits, each with the same probability."""
        ...

    def observe(self, condition: bool) -> None:
        """Go on when the condition holds, otherwise raise Rejected."""
        ...


class Rejected(ProgramError):
    """The run does not meet a condition that `observe` asks for."""

    def __init__(self) -> None:
        super().__init__("observe met a false condition", "call the mechanism itself, which then runs again")


class PseudoRandom:
    """Draws with the exact probabilities of a law; the same seed gives the same draws."""

    tells_equal_apart = True
    drew_real = False
    """Whether some draw was a real number: a run may return floats then."""

    def __init__(self, seed: int | None = None) -> None:
        self._generator = random.Random(seed)

    def draw(self, law: Law) -> int:
        bounds = _bounds(law)
        last = bounds[-1]
        if isinstance(last, int):
            return law[bisect_right(bounds, self._generator.randrange(last))][0]
        # A uniform number of the unit interval, with more digits until it lies between two bounds.
        drawn, bits = self._generator.getrandbits(64), 64
        while True:
            first, after = (sum(bound << bits <= end for bound in bounds) for end in (last * drawn, last * (drawn + 1)))
            if first == after:
                return law[first][0]
            drawn, bits = drawn << 64 | self._generator.getrandbits(64), bits + 64

    def draw_integer(self, law: OnIntegers) -> int:
        if isinstance(law, Gaussian):
            return law.centre + sampling.gaussian(self._generator, law.variance)
        assert isinstance(law, TwoSided)
        step, z = laws.bernoulli(law.ratio), law.centre
        for direction in (1, -1):
            while self.draw(step):
                z += direction
        return z

    def draw_number(self, law: Exponentials) -> int | float:
        drawn = sampling.by_pieces(self._generator, law)
        self.drew_real |= isinstance(drawn, float)
        return drawn

    def draw_bits(self, bits: int) -> int:
        return self._generator.getrandbits(bits)

    def observe(self, condition: bool) -> None:
        if not condition:
            raise Rejected


@lru_cache(4096)
def _bounds(law: Law) -> tuple[Whole, ...]:
    """The running sums of the probabilities times their common denominator: the same for outcomes True and 1."""
    scale = lcm(*(mass.denominator for _, mass in law))
    return tuple(accumulate(mass.numerator * (scale // mass.denominator) for _, mass in law))


_default = PseudoRandom()
_current: ContextVar[Source | None] = ContextVar("tightdp_source", default=None)


def current_source() -> Source:
    """The source of randomness in place here."""
    source = _current.get()
    return _default if source is None else source


def stop(error: Exception) -> NoReturn:
    """Raise an error that ends the run. What runs it remembers that, if it can, whatever the program catches."""
    run = current_source()
    if getattr(run, "stopped", error) is None:
        run.stopped = error  # type: ignore[attr-defined]
    raise error


@contextmanager
def using(source: Source) -> Iterator[Source]:
    """Put a source of randomness in place for the body of a `with` statement."""
    token = _current.set(source)
    try:
        yield source
    finally:
        _current.reset(token)


@dataclass(frozen=True)
class Strength:
    """The argument that says how strong the noise is, and its value for a ratio of two probabilities, at least 1.

    Where the argument is a sequence, `each` of its entries has that value.
    """

    argument: str
    value: Callable[[Fraction], Fraction]
    each: bool = False


def _odds(ratio: Fraction) -> Fraction:
    """The smaller of two probabilities with this ratio that add to 1."""
    return 1 / (1 + ratio)


@dataclass(frozen=True)
class Primitive:
    """A function whose result is drawn from a law of its arguments: scalars, or sequences of scalars.

    `steps`, where given, is a function of the same arguments in the language that has the same law. It is compiled in
    place of a table of laws where several arguments depend on the run. Where `centred`, what is drawn around an
    integer, the first argument, is compiled as this integer plus what is drawn around 0. `strength` is what `explain`
    changes; None where no rational argument gives a ratio of probabilities.
    """

    law: Callable[..., Law | OnIntegers | Exponentials]
    steps: Callable[..., Any] | None = None
    centred: bool = False
    strength: Strength | None = None


PRIMITIVES: dict[Callable[..., Any], Primitive] = {}
"""What a mechanism may draw from, besides `choice` and `shuffle`, whose results are made of their arguments."""

F = TypeVar("F", bound=Callable[..., Any])


def primitive(
    law: Callable[..., Law | OnIntegers | Exponentials],
    steps: Callable[..., Any] | None = None,
    centred: bool = False,
    strength: Strength | None = None,
) -> Callable[[F], F]:
    """Declare a function that draws from a law; interpreter, sampling and compiler support it from then on.

    `steps` is an equivalent in terms of other primitives, where the law depends on several random values at once;
    `strength` the argument that says how strong the noise is, of which `explain` tries other values.
    """

    def declare(function: F) -> F:
        PRIMITIVES[function] = Primitive(law, steps, centred, strength)
        return function

    return declare


@primitive(laws.bernoulli, strength=Strength("p", _odds))
def flip(p: Number) -> bool:
    """True with probability p, otherwise False.

    p is a number from 0 to 1: an int, a Fraction, a string such as "1/3", or a float as it is written in decimals.
    Raises ParameterError for others.
    """
    return p.flipped() if isinstance(p, Symbolic) else bool(current_source().draw(laws.bernoulli(p)))


@primitive(laws.uniform)
def randint(lo: int, hi: int) -> int:
    """An integer from lo to hi, both included, each with the same probability. Raises ParameterError where hi < lo."""
    return hi.drawn_from(lo) if isinstance(hi, Symbolic) else current_source().draw(laws.uniform(lo, hi))


def choice(values: Iterable[T], weights: Iterable[Number] | None = None) -> T:
    """One of the values: each with the same probability, or in proportion to the weights, numbers >= 0.

    Raises ParameterError unless there is a value, and one weight >= 0 for each, with a positive sum.
    """
    listed = tuple(values)
    return listed[current_source().draw(laws.weighted(listed, weights))]


@primitive(laws.binomial, strength=Strength("p", _odds))
def binomial(n: int, p: Number) -> int:
    """The number of successes in n >= 0 independent trials that succeed with probability p, from 0 to 1.

    Raises ParameterError for others.
    """
    return current_source().draw(laws.binomial(n, p))


@primitive(laws.geometric, strength=Strength("ratio", lambda ratio: 1 / ratio))
def geometric(v: int, ratio: Number, lo: int | None = None, hi: int | None = None) -> int:
    """Two-sided geometric noise around v: P(z) proportional to ratio^|z - v|, then clamped to lo..hi if ends are given.

    Without ends it is the discrete Laplace law, the difference of two geometric variables added to v; with both, the
    truncated geometric mechanism of Ghosh, Roughgarden and Sundararajan 2009. Raises ParameterError unless
    0 <= ratio < 1 and lo <= hi.
    """
    law = laws.geometric(v, ratio, lo, hi)
    return current_source().draw_integer(law) if isinstance(law, OnIntegers) else current_source().draw(law)


@primitive(laws.discrete_laplace)
def discrete_laplace(v: int, scale: Number) -> int:
    """An integer around v: P(z) proportional to e^(-|z - v| / scale), on all integers.

    This is `geometric` without ends, with the ratio e^(-1/scale). Raises ParameterError unless the scale is a rational
    number > 0.
    """
    return current_source().draw_integer(laws.discrete_laplace(v, scale))


@primitive(laws.discrete_gaussian, centred=True)
def discrete_gaussian(v: int, sigma_squared: Number) -> int:
    """An integer around v: P(z) proportional to e^(-(z - v)²/(2·sigma_squared)), on all integers.

    Answers about it are enclosures. Raises ParameterError unless sigma_squared is a rational number > 0. Source:
    Canonne, Kamath and Steinke 2020, whose exact sampler it draws with.
    """
    return current_source().draw_integer(laws.discrete_gaussian(v, sigma_squared))


@primitive(laws.one_sided_geometric)
def one_sided_geometric(v: int, ratio: Number) -> int:
    """v plus a number of failures: P(z) = (1 - ratio)·ratio^(z - v) for integers z >= v.

    Raises ParameterError unless 0 <= ratio < 1.
    """
    law = laws.one_sided_geometric(v, ratio)
    return current_source().draw_number(law) if isinstance(law, Exponentials) else current_source().draw(law)


@primitive(laws.laplace)
def laplace(v: Number, scale: Number) -> float:
    """A real number of density e^(-|z - v| / scale) / (2·scale): a nearest float here, a real in a mechanism.

    Raises ParameterError unless v and the scale are rational, and the scale is positive. Source: Dwork, McSherry,
    Nissim and Smith 2006.
    """
    return current_source().draw_number(laws.laplace(v, scale))  # type: ignore[no-any-return]


@primitive(laws.exponential)
def exponential(v: Number, scale: Number) -> float:
    """A real number above v of density e^(-(z - v) / scale) / scale: a nearest float here, a real in a mechanism.

    Raises ParameterError unless v and the scale are rational, and the scale is positive.
    """
    return current_source().draw_number(laws.exponential(v, scale))  # type: ignore[no-any-return]


@primitive(laws.continuous_uniform)
def uniform(a: Number, b: Number) -> float:
    """A real number between a and b, of constant density: a nearest float here, a real in a mechanism.

    Raises ParameterError unless a and b are rational and a < b.
    """
    return current_source().draw_number(laws.continuous_uniform(a, b))  # type: ignore[no-any-return]


@primitive(
    laws.poisson_binomial,
    steps=lambda probabilities: sum([flip(p) for p in probabilities]),
    strength=Strength("probabilities", _odds, each=True),
)
def poisson_binomial(probabilities: Iterable[Number]) -> int:
    """The number of successes in independent trials with these probabilities, numbers from 0 to 1.

    Raises ParameterError for others.
    """
    return current_source().draw(laws.poisson_binomial(probabilities))


def exp(exponent: Number) -> float:
    """e to the power of a rational: the nearest float here, and the exact number in a mechanism.

    Raises ParameterError where the exponent is not rational, or beyond 10,000.
    """
    return float(field.exp(as_exact(exponent)))


def ask(history: Any, choices: Iterable[T]) -> T:
    """What the analyst picks among the choices, having seen `history`: the outputs so far.

    It stands for an analyst who adapts: questions about privacy are answered for the strategy that is worst, and all
    that the analyst is shown counts as published (`docs/adaptive.md`). A run that is drawn needs a strategy. Raises
    ParameterError where there are no choices, or the strategy picks none of them.
    """
    listed, talk = tuple(choices), conversation()
    if not listed:
        raise ParameterError("ask was given no choices", "give at least one choice")
    shown = as_seen(history)
    if talk.strategy is None:
        at = current_source().draw(laws.uniform(0, len(listed) - 1))
    else:
        at = chosen(listed, talk.strategy(shown, listed))
    talk.asked.append((shown, offered(listed), at))
    return listed[at]


def shuffle(messages: Iterable[T]) -> tuple[T, ...]:
    """The messages in uniformly random order, as a new tuple."""
    shuffled = list(messages)
    source = current_source()
    names = [] if source.tells_equal_apart else list(map(_name, shuffled))
    for last in range(len(shuffled) - 1, 0, -1):
        picked = source.draw(_unequal(names[: last + 1]) if names else laws.uniform(0, last))
        for each in (shuffled, names) if names else (shuffled,):
            each[last], each[picked] = each[picked], each[last]
    return tuple(shuffled)


def _unequal(names: Sequence[Any]) -> Law:
    """A uniformly random message, by the first place where one of this name stands."""
    return tuple((names.index(name), Fraction(times, len(names))) for name, times in Counter(names).items())


def _name(message: Any) -> Any:
    """A name that equal messages share; what is no bool, int, string, None, or tuple of these, has one of its own."""
    if isinstance(message, tuple):
        return type(message), *map(_name, message)
    return type(message), message if isinstance(message, (int, str, type(None))) else id(message)


def observe(condition: Any) -> None:
    """Condition the run on an event: only the runs in which the condition holds count.

    A run that is drawn raises ProgramError where it does not hold; so does a question about a dataset on which it holds
    in no run.
    """
    current_source().observe(bool(condition))
