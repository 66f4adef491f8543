"""The question of an audit: its numbers, checked once, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightdp.auditing.certificate import Game
from tightdp.auditing.curves import as_tradeoff, family_of
from tightdp.auditing.tradeoff import Curve, Polygon
from tightdp.errors import ParameterError
from tightdp.exact.enclosure import Enclosure, exp
from tightdp.exact.field import Number
from tightdp.exact.parameters import read_exact, read_number
from tightdp.exact.rationals import as_int
from tightdp.limits.calibrated import GUESSES_ON_CURVES, MOST_GUESSES

METHODS = ("steinke", "fdp", "order-statistics", "optimal")

_VARIANTS = {
    "steinke": ("published",),
    "fdp": ("listing", "code"),
    "order-statistics": ("published", "exact"),
    "optimal": ("exact",),
}
_LARGEST_EPSILON = 200
_DIGITS = 40


@dataclass(frozen=True)
class Question:
    """A checked call of `audit`."""

    method: str
    variant: str
    game: Game
    delta: Number
    significance: Fraction
    t: Enclosure | None = None
    tradeoff: Polygon | Curve | None = None
    family: str | None = None

    @property
    def deltas(self) -> Enclosure:
        """Rational ends of δ: a guarantee with a larger δ is weaker, so the upper end is the safe one."""
        return _ends(self.delta)

    @property
    def fdp_variant(self) -> str:
        """The variant of the method fdp, also where that stands in for another method."""
        return self.variant if self.method == "fdp" else _VARIANTS["fdp"][0]

    @property
    def is_relaxed(self) -> bool:
        """Whether the optimum is replaced by the recursion above it: smooth curves and too many guesses for floats."""
        smooth = self.family is not None or isinstance(self.tradeoff, Curve)
        return self.method == "optimal" and smooth and self.game.guesses > GUESSES_ON_CURVES

    @property
    def is_pure(self) -> bool:
        """Whether the guarantee is pure DP."""
        if isinstance(self.tradeoff, Polygon):
            return self.tradeoff.pairs[0][1] == 0
        return self.delta == 0 and self.tradeoff is None and self.family is None

    @property
    def guarantee(self) -> str:
        """The guarantee in words."""
        if self.family is not None:
            return f"the {self.family.capitalize()} family"
        if isinstance(self.tradeoff, Polygon):
            pairs = self.tradeoff.pairs
            return f"{len(pairs)} (e^ε, δ) pairs" if len(pairs) > 1 else f"(e^ε, δ) = ({pairs[0][0]}, {pairs[0][1]})"
        return f"(ε, {self.delta})-DP" if self.tradeoff is None else str(self.tradeoff)


def checked(
    method: str,
    variant: str | None,
    canaries: int,
    guesses: int,
    correct: int,
    delta: object,
    significance: object,
    epsilon: object,
    exp_epsilon: object,
    tradeoff: object,
    options: int,
) -> Question:
    """Return a question with checked arguments. Raises ParameterError, naming the one that does not fit."""
    if method not in METHODS:
        raise ParameterError(f"method is {method!r}", f"give one of {', '.join(METHODS)}")
    game = checked_game(canaries, guesses, correct, options)
    if game.guesses > MOST_GUESSES:
        raise ParameterError(f"guesses is {game.guesses:,}", f"at most {MOST_GUESSES:,}")
    if game.options > 2 and method == "order-statistics":
        what = f"options is {game.options}, and order-statistics is about channels of one bit: only options = 2 fits"
        raise ParameterError(what, 'use "optimal", "fdp" or "steinke"')
    chosen = _VARIANTS[method][0] if variant is None else variant
    if chosen not in _VARIANTS[method]:
        raise ParameterError(f"variant is {variant!r}", f"give one of {', '.join(_VARIANTS[method])} for {method}")
    share, level = read_exact("delta", delta, 1), read_number("significance", significance, 1)
    if not 0 < level < 1:
        raise ParameterError(f"significance is {level}", "a number strictly between 0 and 1")
    t = _checked_t(epsilon, exp_epsilon)
    family, curve = _checked_tradeoff(method, tradeoff, t)
    return Question(method, chosen, game, share, level, t, curve, family)


def checked_game(canaries: int, guesses: int, correct: int, options: int) -> Game:
    """Return a game with checked numbers. Raises ParameterError, naming the one that does not fit."""
    named = {"canaries": canaries, "guesses": guesses, "correct": correct, "options": options}
    game = Game(**{name: as_int(value, name) for name, value in named.items()})
    if game.canaries < 1:
        raise ParameterError(f"canaries is {game.canaries}", "at least 1")
    if not 0 <= game.guesses <= game.canaries:
        raise ParameterError(f"guesses is {game.guesses}", f"give an integer from 0 to canaries = {game.canaries}")
    if not 0 <= game.correct <= game.guesses:
        raise ParameterError(f"correct is {game.correct}", f"give an integer from 0 to guesses = {game.guesses}")
    if game.options < 2:
        raise ParameterError(f"options is {game.options}", "at least 2")
    return game


def _checked_t(epsilon: object, exp_epsilon: object) -> Enclosure | None:
    if epsilon is not None and exp_epsilon is not None:
        raise ParameterError("both epsilon and exp_epsilon are given", "give one of them")
    if exp_epsilon is not None:
        return _ends(read_exact("exp_epsilon", exp_epsilon, least=1))
    return None if epsilon is None else exp(read_number("epsilon", epsilon, _LARGEST_EPSILON))


def _ends(value: Number) -> Enclosure:
    """Return rationals that enclose a number."""
    return Enclosure.exactly(value) if isinstance(value, Fraction) else value.enclosure(_DIGITS)


def _checked_tradeoff(method: str, tradeoff: object, t: Enclosure | None) -> tuple[str | None, Polygon | Curve | None]:
    if tradeoff is None:
        return None, None
    if t is not None:
        raise ParameterError("both a trade-off function and an epsilon are given", "give one of them")
    if method == "steinke":
        raise ParameterError("steinke covers no trade-off functions", "give delta, or use another method")
    if isinstance(tradeoff, str) and family_of(tradeoff) is not None:
        return tradeoff, None
    return None, as_tradeoff(tradeoff)
