"""`audit`: from an observation to a p-value and a lower bound on ε."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tightdp.auditing import fdp, optimal, order_statistics, steinke
from tightdp.auditing.answer import AuditAnswer
from tightdp.auditing.certificate import DualCertificate, WorstMechanism
from tightdp.auditing.families import (
    FAMILIES,
    least_scale,
    least_scale_estimated,
    least_scale_optimal,
    rejected_exp_epsilon,
)
from tightdp.auditing.linear_program import Game
from tightdp.auditing.optimal_curve import optimum
from tightdp.auditing.search import least_not_rejected, rejected_near
from tightdp.auditing.tradeoff import Curve, Gaussian, Laplace, Pair, Polygon, as_tradeoff
from tightdp.auditing.validity import Validity, assumption, steinke_verdict, verdict
from tightdp.errors import ParameterError
from tightdp.exact.enclosure import Enclosure, exp
from tightdp.exact.rationals import as_fraction, as_int

__all__ = ["METHODS", "audit", "p_value_at"]

METHODS = ("steinke", "fdp", "order-statistics", "optimal")

_VARIANTS = {
    "steinke": ("published",),
    "fdp": ("listing", "code"),
    "order-statistics": ("published", "exact"),
    "optimal": ("exact",),
}
_LARGEST_EPSILON = 200
_TANGENTS = 64
_MOST_GUESSES = 1_000_000
_MOST_GUESSES_ON_CURVES = 2000


@dataclass(frozen=True)
class _Question:
    """A checked call of `audit`."""

    method: str
    variant: str
    game: Game
    delta: Fraction
    significance: Fraction
    t: Enclosure | None
    tradeoff: Polygon | Curve | None
    family: str | None


def audit(
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
) -> AuditAnswer:
    """Return what `correct` right guesses out of `guesses`, on `canaries` secrets in one run, say of the
    privacy.

    Each secret is uniform on `options` values (2: membership), the guarantee concerns the change of one
    secret to any other value, and the number of guesses, or an upper bound on it, was fixed before the run.

    Without `tradeoff`, `exp_epsilon_lower` of the answer is an e^ε for which (ε, delta)-DP is certainly rejected at the
    significance level, within 10^-15 of the largest that the method rejects (10^-11 for "order-statistics"); with
    `epsilon` or `exp_epsilon` the answer also has the p-value of that guarantee. `tradeoff` asks about f-DP instead: a
    list of (exp_epsilon, delta) pairs, `Polygon`, `Gaussian(mu)` or `Laplace(mu)`, also as "gaussian:1" or "laplace:1",
    give a p-value; "gaussian" or "laplace" search the family for the largest rejected scale and report its ε at
    `delta`. On a smooth curve with more than 2,000 guesses "optimal" is replaced by the bound of "fdp".

    Methods: "optimal" (the exact supremum over mechanisms and guessers), "steinke" (Steinke, Nasr, Jagielski
    2023; options = 2), "fdp" (mahloujifar2024, Algorithm 3; variants "listing" and "code") and
    "order-statistics" (xiang2025; options = 2; variants "published" and "exact"; false for δ > 0). Raises
    ParameterError for numbers that do not fit.
    """
    question = _checked(
        method,
        variant,
        canaries,
        guesses,
        correct,
        delta,
        significance,
        epsilon,
        exp_epsilon,
        tradeoff,
        options,
    )
    if question.family is not None:
        return _answer(question, _family_exp_epsilon(question), None)
    if question.tradeoff is not None:
        p_value, certificate, mechanism = _tradeoff_p_value(question, question.tradeoff)
        return _answer(question, None, p_value, certificate, mechanism)
    lower = _least(question)
    if question.t is None:
        certificate, mechanism = _evidence(question, lower)
        return _answer(question, lower, None, certificate, mechanism)
    certificate, mechanism = _evidence(question, question.t.upper)
    return _answer(question, lower, _p_value(question, question.t), certificate, mechanism)


def p_value_at(answer: AuditAnswer, exp_epsilon: Fraction) -> Enclosure:
    """Return the p-value of (ln exp_epsilon, δ)-DP by the method, and for the observation, of an answer."""
    game = Game(answer.canaries, answer.guesses, answer.correct, answer.options)
    t = Enclosure.exactly(exp_epsilon)
    return _p_value(_Question(answer.method, answer.variant, game, answer.delta, answer.significance, t, None, None), t)


def _p_value(question: _Question, t: Enclosure) -> Enclosure:
    """Enclose the p-value of (ln t, δ)-DP; all methods but steinke's, which encloses itself, grow with t."""
    game, delta = question.game, question.delta
    if game.correct == 0:
        return Enclosure.exactly(1)
    if question.method == "steinke":
        return steinke.p_value(canaries=game.canaries, guesses=game.guesses, correct=game.correct, t=t, delta=delta)
    low, high = (_p_value_at(question, ((end, delta),)) for end in (t.lower, t.upper))
    return Enclosure(low.lower, high.upper)


def _p_value_at(question: _Question, pairs: tuple[Pair, ...]) -> Enclosure:
    game, numbers = question.game, _numbers(question.game)
    if question.method == "optimal":
        (t, delta) = pairs[0]
        return optimal.p_value(**numbers, t=t, delta=delta, options=game.options)
    if question.method == "fdp":
        return fdp.p_value(**numbers, tradeoff=Polygon(pairs), options=game.options, variant=question.variant)
    return order_statistics.p_value(**numbers, pairs=pairs, variant=question.variant)


def _estimate(question: _Question, pairs: tuple[Pair, ...]) -> float:
    """Return the logarithm of the p-value of the method "order-statistics" in floats."""
    return order_statistics.estimate(**_numbers(question.game), pairs=pairs, variant=question.variant)


def _least(question: _Question) -> Fraction:
    """Return the e^ε that the search ends at: 1, or rejected at the significance level."""
    game, level, delta = question.game, question.significance, question.delta
    if game.correct == 0:
        return Fraction(1)
    if question.method == "order-statistics":
        aim = math.log(level)
        return rejected_near(_rejects(question, game, level, delta), lambda t: _estimate(question, ((t, delta),)) - aim)
    start = game.correct * (game.options - 1) / (game.guesses - game.correct + 0.5)
    return least_not_rejected(_rejects(question, game, level, delta), start).lower


def _rejects(question: _Question, game: Game, level: Fraction, delta: Fraction) -> Callable[[Fraction], bool]:
    numbers = _numbers(game)
    if question.method == "optimal":
        return lambda t: (
            optimal.enclose(game.canaries, game.guesses, game.correct, t, delta, game.options).upper <= level
        )
    if question.method == "fdp":
        return lambda t: fdp.rejects(
            **numbers, pairs=((t, delta),), significance=level, options=game.options, variant=question.variant
        )
    return lambda t: _p_value(question, Enclosure.exactly(t)).upper <= level


def _evidence(question: _Question, t: Fraction) -> tuple[DualCertificate | None, WorstMechanism | None]:
    game = question.game
    if question.method != "optimal" or game.correct == 0:
        return None, None
    arguments = {**_numbers(game), "options": game.options}
    certificate = optimal.certificate(**arguments, t=t, delta=question.delta)
    return certificate, optimal.worst_mechanism(**arguments, t=t, delta=question.delta)


def _tradeoff_p_value(
    question: _Question, tradeoff: Polygon | Curve
) -> tuple[Enclosure, DualCertificate | None, WorstMechanism | None]:
    game = question.game
    if game.correct == 0:
        return Enclosure.exactly(1), None, None
    if question.method == "optimal" and isinstance(tradeoff, Polygon) and len(tradeoff.pairs) == 1:
        (t, delta), arguments = tradeoff.pairs[0], {**_numbers(game), "options": game.options}
        return (
            optimal.p_value(**arguments, t=t, delta=delta),
            optimal.certificate(**arguments, t=t, delta=delta),
            optimal.worst_mechanism(**arguments, t=t, delta=delta),
        )
    if question.method == "optimal" and not _is_relaxed(question):
        found = optimum(game, tradeoff)
        return found.p_value, found.certificate, found.mechanism
    if question.method in ("optimal", "fdp"):
        value = fdp.p_value(**_numbers(game), tradeoff=tradeoff, options=game.options, variant=_fdp_variant(question))
        return (value if question.method == "fdp" else Enclosure(Fraction(0), value.upper)), None, None
    return _p_value_at(question, _polygon(tradeoff)), None, None


def _polygon(tradeoff: Polygon | Curve) -> tuple[Pair, ...]:
    """Return the pairs of a polygon, or some tangents of a smooth curve."""
    return tradeoff.pairs if isinstance(tradeoff, Polygon) else tradeoff.outer(tradeoff.logs(_TANGENTS))


def _family_exp_epsilon(question: _Question) -> Fraction:
    """Return the e^ε, at δ, of the largest scale of the family found rejected."""
    family, game, level = FAMILIES[question.family or ""], question.game, question.significance
    rejected_exp_epsilon(family(Fraction(1)), question.delta)  # refuse a family without ε at δ before the search
    if game.correct == 0:
        return Fraction(1)
    if question.method == "optimal" and not _is_relaxed(question):
        scale = least_scale_optimal(family, game, level)
    elif question.method in ("optimal", "fdp"):
        scale = least_scale(
            family,
            lambda curve: fdp.rejects(
                **_numbers(game),
                pairs=_polygon(curve),
                significance=level,
                options=game.options,
                variant=_fdp_variant(question),
            ),
        )
    else:
        scale = least_scale_estimated(
            family,
            lambda curve: _estimate(question, _polygon(curve)),
            lambda curve: _p_value_at(question, _polygon(curve)).upper <= level,
            math.log(level),
        )
    return Fraction(1) if scale is None else rejected_exp_epsilon(family(scale), question.delta)


def _answer(
    question: _Question,
    exp_epsilon_lower: Fraction | None,
    p_value: Enclosure | None,
    certificate: DualCertificate | None = None,
    mechanism: WorstMechanism | None = None,
) -> AuditAnswer:
    relaxed = _is_relaxed(question)
    method = "fdp" if relaxed else question.method
    pure = _is_pure(question)
    if method == "steinke":
        valid, reason = steinke_verdict(pure, question.significance, _is_too_small(question, p_value))
    else:
        valid, reason = verdict(method, pure, question.tradeoff or question.family)
    if relaxed:
        reason = f"with more than {_MOST_GUESSES_ON_CURVES:,} guesses on a smooth curve, the method fdp: {reason}"
    game = question.game
    return AuditAnswer(
        method=question.method,
        canaries=game.canaries,
        guesses=game.guesses,
        correct=game.correct,
        options=game.options,
        delta=question.delta,
        significance=question.significance,
        guarantee=_guarantee(question),
        exp_epsilon_lower=exp_epsilon_lower,
        p_value=p_value,
        valid=valid,
        reason=reason,
        assumed=assumption(valid, pure),
        variant=question.variant,
        certificate=certificate,
        mechanism=mechanism,
        counterexample=_counterexample(method, valid),
    )


def _counterexample(method: str, valid: Validity) -> order_statistics.Counterexample | None:
    if valid is True:
        return None
    return steinke.counterexample() if method == "steinke" else order_statistics.counterexample()


def _is_too_small(question: _Question, p_value: Enclosure | None) -> bool:
    """Whether a p-value is certainly below the exact optimum."""
    game, t = question.game, question.t
    if p_value is None or t is None or p_value.upper <= steinke.PROVED_UP_TO or not game.correct:
        return False
    optimum = optimal.enclose(game.canaries, game.guesses, game.correct, t.lower, question.delta)
    return p_value.upper < optimum.lower


def _fdp_variant(question: _Question) -> str:
    return question.variant if question.method == "fdp" else _VARIANTS["fdp"][0]


def _is_relaxed(question: _Question) -> bool:
    """Whether the optimum is replaced by the recursion above it: smooth curves and too many guesses for floats."""
    smooth = question.family is not None or isinstance(question.tradeoff, (Gaussian, Laplace))
    return question.method == "optimal" and smooth and question.game.guesses > _MOST_GUESSES_ON_CURVES


def _is_pure(question: _Question) -> bool:
    """Whether the guarantee is pure DP."""
    if isinstance(question.tradeoff, Polygon):
        return question.tradeoff.pairs[0][1] == 0
    return question.delta == 0 and question.tradeoff is None and question.family is None


def _guarantee(question: _Question) -> str:
    if question.family is not None:
        return f"the {question.family.capitalize()} family"
    if isinstance(question.tradeoff, Polygon):
        return _listed(question.tradeoff.pairs)
    if question.tradeoff is not None:
        return str(question.tradeoff)
    return f"(ε, {question.delta})-DP"


def _listed(pairs: tuple[Pair, ...]) -> str:
    if len(pairs) > 1:
        return f"{len(pairs)} (e^ε, δ) pairs"
    return f"(e^ε, δ) = ({pairs[0][0]}, {pairs[0][1]})"


def _numbers(game: Game) -> dict[str, int]:
    return {"canaries": game.canaries, "guesses": game.guesses, "correct": game.correct}


def _checked(
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
) -> _Question:
    if method not in METHODS:
        raise ParameterError(f"method is {method!r}", f"one of {', '.join(METHODS)}")
    game = _checked_game(canaries, guesses, correct, options)
    if game.options > 2 and method in ("steinke", "order-statistics"):
        raise ParameterError(f"{method} does not cover options = {game.options}", 'use "optimal" or "fdp"')
    chosen = _VARIANTS[method][0] if variant is None else variant
    if chosen not in _VARIANTS[method]:
        raise ParameterError(f"variant is {variant!r}", f"one of {', '.join(_VARIANTS[method])} for {method}")
    share, level = _rational("delta", delta), _rational("significance", significance)
    if not 0 <= share <= 1:
        raise ParameterError(f"delta is {share}", "a number from 0 to 1")
    if not 0 < level < 1:
        raise ParameterError(f"significance is {level}", "a number strictly between 0 and 1")
    t = _checked_t(epsilon, exp_epsilon)
    family, curve = _checked_tradeoff(method, tradeoff, t)
    return _Question(method, chosen, game, share, level, t, curve, family)


def _checked_game(canaries: int, guesses: int, correct: int, options: int) -> Game:
    game = Game(
        as_int(canaries, "canaries"),
        as_int(guesses, "guesses"),
        as_int(correct, "correct"),
        as_int(options, "options"),
    )
    if game.canaries < 1:
        raise ParameterError(f"canaries is {game.canaries}", "at least 1")
    if not 0 <= game.guesses <= game.canaries:
        raise ParameterError(f"guesses is {game.guesses}", f"from 0 to canaries = {game.canaries}")
    if not 0 <= game.correct <= game.guesses:
        raise ParameterError(f"correct is {game.correct}", f"from 0 to guesses = {game.guesses}")
    if game.guesses > _MOST_GUESSES:
        raise ParameterError(f"guesses is {game.guesses:,}", f"at most {_MOST_GUESSES:,}")
    if game.options < 2:
        raise ParameterError(f"options is {game.options}", "at least 2")
    return game


def _rational(name: str, value: object) -> Fraction:
    try:
        return as_fraction(value)
    except ParameterError as error:
        raise ParameterError(f"{name} is {value!r}, which is not a rational number", error.hint) from None


def _checked_t(epsilon: object, exp_epsilon: object) -> Enclosure | None:
    if epsilon is not None and exp_epsilon is not None:
        raise ParameterError("both epsilon and exp_epsilon are given", "give one of them")
    if exp_epsilon is not None:
        t = _rational("exp_epsilon", exp_epsilon)
        if t < 1:
            raise ParameterError(f"exp_epsilon is {t}", "at least 1")
        return Enclosure.exactly(t)
    if epsilon is None:
        return None
    value = _rational("epsilon", epsilon)
    if not 0 <= value <= _LARGEST_EPSILON:
        raise ParameterError(f"epsilon is {value}", f"from 0 to {_LARGEST_EPSILON}")
    return exp(value)


def _checked_tradeoff(method: str, tradeoff: object, t: Enclosure | None) -> tuple[str | None, Polygon | Curve | None]:
    if tradeoff is None:
        return None, None
    if t is not None:
        raise ParameterError("both a trade-off function and an epsilon are given", "give one of them")
    if method == "steinke":
        raise ParameterError("steinke covers no trade-off functions", "give delta, or use another method")
    if isinstance(tradeoff, str) and tradeoff in FAMILIES:
        return tradeoff, None
    return None, as_tradeoff(tradeoff)
