"""The question of an audit: its numbers, checked once, and what follows from them; and its answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from tightdp.auditing.certificate import Counterexample, DualCertificate, Game, WorstMechanism
from tightdp.auditing.curves import as_tradeoff, family_of
from tightdp.auditing.optimal import proved_up_to
from tightdp.auditing.tradeoff import Curve, Polygon
from tightdp.errors import LimitError, ParameterError
from tightdp.exact.enclosure import Enclosure, exp, float_below, ln
from tightdp.exact.field import Number
from tightdp.exact.numbers import DIGITS
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


@dataclass(frozen=True)
class Question:
    """What is asked about an observation; see `checked`."""

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
    *,
    canaries: int,
    guesses: int,
    correct: int,
    delta: object = 0,
    method: str = "optimal",
    significance: object = Fraction(1, 20),
    epsilon: object = None,
    exp_epsilon: object = None,
    tradeoff: object = None,
    options: int = 2,
    variant: str | None = None,
) -> Question:
    """Return a question with checked arguments, as `tightdp.audit` takes them.

    Here `tradeoff` is a trade-off function, its name or that of a family, or a list of (exp_epsilon, delta) pairs.
    Raises ParameterError, naming the argument that does not fit.
    """
    if method not in METHODS:
        raise ParameterError(f"method is {method!r}", f"give one of {', '.join(METHODS)}")
    game = checked_game(canaries, guesses, correct, options)
    if game.guesses > MOST_GUESSES:
        raise ParameterError(f"guesses is {game.guesses:,}", f"give at most {MOST_GUESSES:,}")
    if game.options > 2 and method == "order-statistics":
        what = f"options is {game.options}, and order-statistics is about channels of one bit: only options = 2 fits"
        raise ParameterError(what, 'use "optimal", "fdp" or "steinke"')
    chosen = _VARIANTS[method][0] if variant is None else variant
    if chosen not in _VARIANTS[method]:
        raise ParameterError(f"variant is {variant!r}", f"give one of {', '.join(_VARIANTS[method])} for {method}")
    share, level = read_exact("delta", delta, 1), read_number("significance", significance, 1)
    if not 0 < level < 1:
        raise ParameterError(f"significance is {level}", "give a number strictly between 0 and 1")
    t = _checked_t(epsilon, exp_epsilon)
    family, curve = _checked_tradeoff(method, tradeoff, t)
    return Question(method, chosen, game, share, level, t, curve, family)


def checked_game(canaries: int, guesses: int, correct: int, options: int) -> Game:
    """Return a game with checked numbers. Raises ParameterError, naming the one that does not fit."""
    named = {"canaries": canaries, "guesses": guesses, "correct": correct, "options": options}
    game = Game(**{name: as_int(value, name) for name, value in named.items()})
    if game.canaries < 1:
        raise ParameterError(f"canaries is {game.canaries}", "give at least 1")
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
    return Enclosure.exactly(value) if isinstance(value, Fraction) else value.enclosure(DIGITS)


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


# the answer


Validity = Literal["unknown"] | bool

_LONGEST = 4000
"""Bits of a denominator up to which an exact p-value is written out."""


@dataclass(frozen=True)
class AuditAnswer:
    """What an observation implies for the privacy of a mechanism that was run once.

    `exp_epsilon_lower` is a rejected e^ε (1 where nothing is rejected): with confidence 1 - significance the mechanism
    is not (ε, δ)-DP for it, hence for no smaller ε. None when no family of guarantees was asked about. `p_value`
    encloses the p-value of the guarantee that was asked about, None when none was. `valid` is true where a proof or the
    exact optimum confirms the method, false where a counterexample is known; `reason` says which, `assumed` what it
    assumes about the guesser. `stopped` is the limit that cut the search short, None for none: then larger ε may be
    rejected as well. `certificate` and `mechanism` show the p-value of the optimal method from above and from below.
    """

    method: str
    canaries: int
    guesses: int
    correct: int
    options: int
    delta: Number
    significance: Fraction
    guarantee: str
    exp_epsilon_lower: Fraction | None
    p_value: Enclosure | None
    valid: Validity
    reason: str
    assumed: str
    variant: str = field(default="", repr=False)
    certificate: DualCertificate | None = field(default=None, repr=False)
    mechanism: WorstMechanism | None = field(default=None, repr=False)
    counterexample: Counterexample | None = field(default=None, repr=False)
    stopped: LimitError | None = field(default=None, repr=False, compare=False)

    @property
    def why(self) -> str:
        """The reason for `valid`, and what is assumed."""
        return f"{self.reason}; assumed: {self.assumed}" if self.assumed else self.reason

    @property
    def epsilon_lower(self) -> float | None:
        """The lower bound on ε as a float, rounded down."""
        if self.exp_epsilon_lower is None:
            return None
        return max(0.0, float_below(ln(self.exp_epsilon_lower).lower))

    @property
    def is_exact(self) -> bool:
        """Whether the p-value that was asked for is known exactly."""
        return self.p_value is not None and self.p_value.is_exact

    def to_dict(self) -> dict[str, object]:
        """Return the answer as JSON-ready values: rationals as strings, floats rounded to the safe side."""
        found: dict[str, object] = {
            "method": self.method,
            "canaries": self.canaries,
            "guesses": self.guesses,
            "correct": self.correct,
            "delta": str(self.delta),
            "significance": str(self.significance),
            "epsilon_lower": self.epsilon_lower,
            "p_value": None if self.p_value is None else float(self.p_value),
            "valid": self.valid,
            "why": self.why,
            "options": self.options,
            "guarantee": self.guarantee,
        }
        if self.exp_epsilon_lower is not None:
            found["exp_epsilon_lower"] = str(self.exp_epsilon_lower)
        if self.p_value is not None:
            found["p_value_lower"] = float_below(self.p_value.lower)
            if self.is_exact and self.p_value.upper.denominator.bit_length() <= _LONGEST:
                found["p_value_exact"] = str(self.p_value.upper)
        return found


# which method is valid

_COUNTEREXAMPLE = (
    "xiang2025, Theorems 1 and 3 are false for δ > 0: an all-or-nothing mechanism that is (0, 1/20)-DP is rejected at "
    "5 % in 51/640 of its runs"
)
_STEINKE = (
    "above 1/2 the published p-value can be below the exact optimum for δ > 0: a (ln 3, 1/5)-DP mechanism that is sure "
    "to get 1 of 2 right has 79/80"
)
_STEINKE_FALSE_FROM = Fraction(79, 80)


def verdict(method: str, pure: bool, guarantee: Polygon | Curve | str | None) -> tuple[Validity, str]:
    """Return whether a method (other than steinke's) is valid, and the reason: a proof, or a counterexample.

    `guarantee` is a trade-off function, the name of a family, or None for a single (ε, δ).
    """
    if method == "fdp":
        return True, "the recursion is a relaxation of the exact optimum, by an argument for every trade-off function"
    if method != "optimal":
        pure_reason = "for pure DP the bound is the binomial tail or above, and that is the exact optimum"
        return (True, pure_reason) if pure else (False, _COUNTEREXAMPLE)
    if guarantee is None or (isinstance(guarantee, Polygon) and len(guarantee.pairs) == 1):
        why = "the exact supremum over all mechanisms and guessers, with a proof, a dual certificate and a mechanism"
    elif isinstance(guarantee, Polygon):
        why = "a dual certificate bounds all mechanisms under these pairs and all guessers, a mechanism comes close"
    else:
        why = "a dual certificate bounds all mechanisms under tangents of the curve, a weaker guarantee than the curve"
    return True, why


def steinke_verdict(pure: bool, significance: Fraction, too_small: bool, options: int = 2) -> tuple[Validity, str]:
    """Return the verdict on the method steinke; `too_small`: its p-value is below the exact optimum."""
    least = proved_up_to(options)
    if pure:
        return True, "for pure DP the bound is the binomial tail, and that is the exact optimum"
    if too_small:
        return False, f"this p-value is below the exact optimum; {_STEINKE}"
    if options == 2 and significance >= _STEINKE_FALSE_FROM:
        return False, _STEINKE
    if significance <= least:
        kind = "a published bound" if options == 2 else f"a bound published for 2 options, here for {options}"
        return True, f"{kind}; where it is at most {least} it is nowhere below the exact optimum, by an argument"
    return "unknown", f"argued up to a significance of {least}; {_STEINKE}"


def assumption(valid: Validity, pure: bool) -> str:
    """Return what a valid answer assumes about the guesser."""
    if valid is False:
        return ""
    link = "or" if pure else "and"
    return f"the guesser saw only the output, {link} the number of guesses was fixed before the run"
