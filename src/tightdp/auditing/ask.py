"""`audit`: from an observation to a p-value and a lower bound on ε."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TypeVar

from tightdp.auditing import fdp, optimal, order_statistics, steinke
from tightdp.auditing.answer import AuditAnswer
from tightdp.auditing.certificate import DualCertificate, WorstMechanism
from tightdp.auditing.families import (
    least_scale,
    least_scale_estimated,
    least_scale_optimal,
    rejected_exp_epsilon,
)
from tightdp.auditing.linear_program import Game
from tightdp.auditing.named import family_of
from tightdp.auditing.optimal_curve import optimum
from tightdp.auditing.question import METHODS, MOST_GUESSES_ON_CURVES, Question, checked
from tightdp.auditing.search import least_not_rejected, rejected_near
from tightdp.auditing.tradeoff import Curve, Pair, Polygon
from tightdp.auditing.validity import Validity, assumption, steinke_verdict, verdict
from tightdp.errors import LimitError
from tightdp.exact.enclosure import Enclosure

__all__ = ["METHODS", "audit", "p_value_at"]

T = TypeVar("T")

_TANGENTS = 64
"""How many tangents of a smooth curve stand for it."""
_BETWEEN_TOLD = 0.5
"""Seconds between two reports of what is known."""


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
    told: Callable[[AuditAnswer], None] | None = None,
) -> AuditAnswer:
    """Return what `correct` right guesses out of `guesses`, on `canaries` secrets in one run, say of the
    privacy.

    Each secret is uniform on `options` values (2: membership), the guarantee concerns the change of one
    secret to any other value, and the number of guesses, or an upper bound on it, was fixed before the run.

    Without `tradeoff`, `exp_epsilon_lower` of the answer is an e^ε for which (ε, delta)-DP is certainly rejected at the
    significance level, within 10^-15 of the largest that the method rejects (10^-11 for "order-statistics"); with
    `epsilon` or `exp_epsilon` the answer also has the p-value of that guarantee. `tradeoff` asks about f-DP instead: a
    list of (exp_epsilon, delta) pairs, `Polygon`, `Gaussian(mu)` or `Laplace(mu)`, also as "gaussian:1", "laplace:1" or
    "gaussian:1@1/2" (sampled with probability 1/2), give a p-value; "gaussian", "laplace" or "gaussian@1/2" search the
    family for the largest rejected scale and report its ε at
    `delta`. On a smooth curve with more than 2,000 guesses "optimal" is replaced by the bound of "fdp".

    Methods: "optimal" (the exact supremum over mechanisms and guessers), "steinke" (Steinke, Nasr, Jagielski 2023;
    published for options = 2), "fdp" (mahloujifar2024, Algorithm 3; variants "listing" and "code") and
    "order-statistics" (xiang2025; options = 2; variants "published" and "exact"; false for δ > 0). From time to time
    `told` is passed what is known so far. Raises ParameterError for numbers that do not fit.
    """
    question = checked(
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
    known = _Known(question, told)
    try:
        return _found(question, known)
    except LimitError as limit:
        if known.largest == 1:
            raise
        return replace(known.answer(), stopped=limit)


def _found(question: Question, known: _Known) -> AuditAnswer:
    if question.family is not None:
        return _answer(question, _family_exp_epsilon(question, known), None)
    if question.tradeoff is not None:
        p_value, certificate, mechanism = _tradeoff_p_value(question, question.tradeoff)
        return _answer(question, None, p_value, certificate, mechanism)
    lower = _least(question, known)
    asked = None if question.t is None else _p_value(question, question.t)
    certificate, mechanism = _evidence(question, lower if question.t is None else question.t.upper)
    return _answer(question, lower, asked, certificate, mechanism)


def p_value_at(answer: AuditAnswer, exp_epsilon: Fraction) -> Enclosure:
    """Return the p-value of (ln exp_epsilon, δ)-DP by the method, and for the observation, of an answer."""
    game = Game(answer.canaries, answer.guesses, answer.correct, answer.options)
    t = Enclosure.exactly(exp_epsilon)
    return _p_value(Question(answer.method, answer.variant, game, answer.delta, answer.significance, t), t)


def _p_value(question: Question, t: Enclosure) -> Enclosure:
    """Enclose the p-value of (ln t, δ)-DP; except for steinke's, which takes enclosures, p-values grow with t."""
    game, deltas = question.game, question.deltas
    if game.correct == 0:
        return Enclosure.exactly(1)
    if question.method == "steinke":
        found = [
            steinke.p_value(**question.numbers, t=t, delta=delta, options=game.options)
            for delta in dict.fromkeys(deltas)
        ]
    else:
        found = [_p_value_at(question, (pair,)) for pair in dict.fromkeys(zip(t, deltas, strict=True))]
    return Enclosure(found[0].lower, found[-1].upper)


def _p_value_at(question: Question, pairs: tuple[Pair, ...]) -> Enclosure:
    game, numbers = question.game, question.numbers
    if question.method == "optimal":
        (t, delta) = pairs[0]
        return optimal.p_value(**numbers, t=t, delta=delta, options=game.options)
    if question.method == "fdp":
        return fdp.p_value(**numbers, tradeoff=Polygon(pairs), options=game.options, variant=question.variant)
    return order_statistics.p_value(**numbers, pairs=pairs, variant=question.variant)


def _estimate(question: Question, pairs: tuple[Pair, ...]) -> float:
    """Return the logarithm of the p-value of the method "order-statistics" in floats."""
    return order_statistics.estimate(**question.numbers, pairs=pairs, variant=question.variant)


class _Known:
    """The largest e^ε shown to be rejected: it remains valid when the search is cut short."""

    def __init__(self, question: Question, told: Callable[[AuditAnswer], None] | None) -> None:
        self._question, self._told = question, told
        self._last = time.monotonic()
        self._rejected: Callable[[], Fraction] | None = None
        self._largest = Fraction(1)

    def noting(self, rejects: Callable[[T], bool], meant: Callable[[T], Fraction]) -> Callable[[T], bool]:
        """Wrap a decision so that what it rejects is recorded; `meant` gives its e^ε."""

        def noted(at: T) -> bool:
            rejected = rejects(at)
            if rejected:
                self._rejected = partial(meant, at)
                if self._told is not None and time.monotonic() - self._last > _BETWEEN_TOLD:
                    self._told(self.answer())
                    self._last = time.monotonic()
            return rejected

        return noted

    @property
    def largest(self) -> Fraction:
        """The largest e^ε that is known to be rejected, 1 for none."""
        if self._rejected is not None:
            self._largest, self._rejected = max(self._largest, self._rejected()), None
        return self._largest

    def answer(self) -> AuditAnswer:
        """Return the answer as far as it is known."""
        return _answer(self._question, self.largest, self._p_value())

    def _p_value(self) -> Enclosure | None:
        question, t = self._question, self._question.t
        if t is None:
            return None
        rejected = t.upper <= self.largest and question.method != "steinke"  # this p-value need not grow with t
        return Enclosure(Fraction(0), question.significance if rejected else Fraction(1))


def _least(question: Question, known: _Known) -> Fraction:
    """Return the largest e^ε found rejected at the significance level, or 1."""
    game, delta = question.game, question.deltas.upper
    if game.correct == 0:
        return Fraction(1)
    rejects = known.noting(_rejects(question, game, question.significance, delta), lambda t: t)
    if question.method == "order-statistics":
        aim = math.log(question.significance)
        return rejected_near(rejects, lambda t: _estimate(question, ((t, delta),)) - aim)
    start = game.correct * (game.options - 1) / (game.guesses - game.correct + 0.5)
    return least_not_rejected(rejects, start).lower


def _rejects(question: Question, game: Game, level: Fraction, delta: Fraction) -> Callable[[Fraction], bool]:
    numbers = question.numbers
    if question.method == "optimal":
        return lambda t: (
            optimal.enclose(game.canaries, game.guesses, game.correct, t, delta, game.options).upper <= level
        )
    if question.method == "fdp":
        return lambda t: fdp.rejects(
            **numbers, pairs=((t, delta),), significance=level, options=game.options, variant=question.variant
        )
    return lambda t: _p_value(question, Enclosure.exactly(t)).upper <= level


def _evidence(question: Question, t: Fraction) -> tuple[DualCertificate | None, WorstMechanism | None]:
    game = question.game
    if question.method != "optimal" or game.correct == 0:
        return None, None
    arguments = {**question.numbers, "options": game.options}
    certificate = optimal.certificate(**arguments, t=t, delta=question.deltas.upper)
    return certificate, optimal.worst_mechanism(**arguments, t=t, delta=question.deltas.lower)


def _tradeoff_p_value(
    question: Question, tradeoff: Polygon | Curve
) -> tuple[Enclosure, DualCertificate | None, WorstMechanism | None]:
    game = question.game
    if game.correct == 0:
        return Enclosure.exactly(1), None, None
    if question.method == "optimal" and isinstance(tradeoff, Polygon) and len(tradeoff.pairs) == 1:
        (t, delta), arguments = tradeoff.pairs[0], {**question.numbers, "options": game.options}
        return (
            optimal.p_value(**arguments, t=t, delta=delta),
            optimal.certificate(**arguments, t=t, delta=delta),
            optimal.worst_mechanism(**arguments, t=t, delta=delta),
        )
    if question.method == "optimal" and not question.is_relaxed:
        found = optimum(game, tradeoff)
        return found.p_value, found.certificate, found.mechanism
    if question.method in ("optimal", "fdp"):
        value = fdp.p_value(**question.numbers, tradeoff=tradeoff, options=game.options, variant=question.fdp_variant)
        return (value if question.method == "fdp" else Enclosure(Fraction(0), value.upper)), None, None
    return _p_value_at(question, _polygon(tradeoff)), None, None


def _polygon(tradeoff: Polygon | Curve) -> tuple[Pair, ...]:
    """Return the pairs of a polygon, or some tangents of a smooth curve."""
    return tradeoff.pairs if isinstance(tradeoff, Polygon) else tradeoff.outer(tradeoff.logs(_TANGENTS))


def _family_exp_epsilon(question: Question, known: _Known) -> Fraction:
    """Return the e^ε, at δ, of the largest scale of the family found rejected."""
    family, game, level = family_of(question.family), question.game, question.significance
    assert family is not None

    def meant(curve: Curve) -> Fraction:
        return rejected_exp_epsilon(curve, question.deltas.upper)

    meant(family(Fraction(1)))  # refuse a family without ε at δ before the search
    if game.correct == 0:
        return Fraction(1)
    if question.method == "optimal" and not question.is_relaxed:
        scale = least_scale_optimal(family, game, level)
    elif question.method in ("optimal", "fdp"):

        def rejects(curve: Curve) -> bool:
            return fdp.rejects(
                **question.numbers,
                pairs=_polygon(curve),
                significance=level,
                options=game.options,
                variant=question.fdp_variant,
            )

        scale = least_scale(family, known.noting(rejects, meant))
    else:
        scale = least_scale_estimated(
            family,
            lambda curve: _estimate(question, _polygon(curve)),
            known.noting(lambda curve: _p_value_at(question, _polygon(curve)).upper <= level, meant),
            math.log(level),
        )
    return Fraction(1) if scale is None else meant(family(scale))


def _answer(
    question: Question,
    exp_epsilon_lower: Fraction | None,
    p_value: Enclosure | None,
    certificate: DualCertificate | None = None,
    mechanism: WorstMechanism | None = None,
) -> AuditAnswer:
    relaxed = question.is_relaxed
    method = "fdp" if relaxed else question.method
    pure = question.is_pure
    if method == "steinke":
        too_small = _is_too_small(question, p_value)
        valid, reason = steinke_verdict(pure, question.significance, too_small, question.game.options)
    else:
        valid, reason = verdict(method, pure, question.tradeoff or question.family)
    if relaxed:
        reason = f"with more than {MOST_GUESSES_ON_CURVES:,} guesses on a smooth curve, the method fdp: {reason}"
    game = question.game
    return AuditAnswer(
        method=question.method,
        canaries=game.canaries,
        guesses=game.guesses,
        correct=game.correct,
        options=game.options,
        delta=question.delta,
        significance=question.significance,
        guarantee=question.guarantee,
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


def _is_too_small(question: Question, p_value: Enclosure | None) -> bool:
    """Whether a p-value is certainly below the exact optimum."""
    game, t = question.game, question.t
    if p_value is None or t is None or not game.correct:
        return False
    if p_value.upper == 1 or p_value.upper <= steinke.proved_up_to(game.options):
        return False
    optimum = optimal.enclose(game.canaries, game.guesses, game.correct, t.lower, question.deltas.lower, game.options)
    return p_value.upper < optimum.lower
