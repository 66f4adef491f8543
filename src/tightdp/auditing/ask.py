"""`audit`: from a question about an observation to a p-value and a lower bound on ε."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TypeVar

from tightdp.auditing import fdp, optimal, order_statistics
from tightdp.auditing.certificate import DualCertificate, Game, WorstMechanism
from tightdp.auditing.curves import (
    LARGEST_EPSILON,
    confirmed,
    family_of,
    largest_rejected,
    rejected_exp_epsilon,
    rejected_t,
    t_of,
)
from tightdp.auditing.optimal_curve import Shot, optimum, shoot, upper_bound
from tightdp.auditing.question import AuditAnswer, Question, assumption, steinke_verdict, verdict
from tightdp.auditing.tradeoff import Curve, Pair, Polygon
from tightdp.errors import LimitError
from tightdp.exact.enclosure import Enclosure
from tightdp.limits.calibrated import GUESSES_ON_CURVES

T = TypeVar("T")

_TANGENTS = 64
"""How many tangents of a smooth curve stand for it."""
_LARGEST_MU, _MU_BITS = 64.0, 20
"""Up to which scale families are searched, and how exactly the scale is found."""
_BETWEEN_TOLD = 0.5
"""Seconds between two reports of what is known."""


def audit(question: Question, told: Callable[[AuditAnswer], None] | None = None) -> AuditAnswer:
    """Return what right guesses in one run say of privacy; from time to time `told` is passed what is known so far.

    Without a trade-off function, `exp_epsilon_lower` of the answer is an e^ε for which (ε, δ)-DP is certainly rejected
    at the significance level, within 10^-15 of the largest that the method rejects (10^-11 for "order-statistics"). Of
    a family it is the e^ε, at δ, of the largest scale that is rejected. On a smooth curve with more than 2,000 guesses
    "optimal" is replaced by the bound of "fdp".
    """
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
    if question.method != "optimal" or question.game.correct == 0:
        return _answer(question, lower, asked)
    t = lower if question.t is None else question.t.upper
    certificate = optimal.certificate(question.game, t, question.deltas.upper)
    return _answer(
        question, lower, asked, certificate, optimal.worst_mechanism(question.game, t, question.deltas.lower)
    )


def p_value_at(answer: AuditAnswer, exp_epsilon: Fraction) -> Enclosure:
    """Return the p-value of (ln exp_epsilon, δ)-DP by the method, and for the observation, of an answer."""
    game = Game(answer.canaries, answer.guesses, answer.correct, answer.options)
    t = Enclosure.exactly(exp_epsilon)
    return _p_value(Question(answer.method, answer.variant, game, answer.delta, answer.significance, t), t)


def _p_value(question: Question, t: Enclosure) -> Enclosure:
    """Enclose the p-value of (ln t, δ)-DP; except for steinke's, which takes enclosures, p-values grow with t."""
    if question.method == "steinke":
        found = [optimal.steinke_p_value(question.game, t, delta) for delta in dict.fromkeys(question.deltas)]
    else:
        ends = dict.fromkeys(zip(t, question.deltas, strict=True))
        found = [_p_value_at(question, (pair,)) for pair in ends]
    return Enclosure(found[0].lower, found[-1].upper)


def _p_value_at(question: Question, pairs: tuple[Pair, ...]) -> Enclosure:
    if question.game.correct == 0:
        return Enclosure.exactly(1)
    if question.method == "optimal":
        return optimal.p_value(question.game, *pairs[0])
    if question.method == "fdp":
        return fdp.p_value(question.game, Polygon(pairs), question.variant)
    return order_statistics.p_value(question.game, pairs, question.variant)


def _rejects(question: Question, pairs: tuple[Pair, ...]) -> bool:
    """Whether all these pairs together are certainly rejected."""
    level, game = question.significance, question.game
    if question.method == "optimal" and len(pairs) == 1:
        return optimal.enclose(game, *pairs[0]).upper <= level
    if question.method in ("optimal", "fdp"):
        return fdp.rejects(game, pairs, level, question.fdp_variant)
    if question.method == "steinke":
        return optimal.steinke_p_value(game, Enclosure.exactly(pairs[0][0]), pairs[0][1]).upper <= level
    return order_statistics.p_value(game, pairs, question.variant).upper <= level


def _excess(question: Question, pairs: tuple[Pair, ...]) -> float:
    """Return in floats by how much the p-value of order statistics is above the level, as logarithms."""
    return order_statistics.estimate(question.game, pairs, question.variant) - math.log(question.significance)


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
    delta = question.deltas.upper
    if question.game.correct == 0:
        return Fraction(1)
    rejects = known.noting(lambda t: _rejects(question, ((t, delta),)), lambda t: t)
    if question.method != "order-statistics":
        return rejected_t(rejects, question.game.likely_t)
    found = confirmed(
        lambda epsilon: _excess(question, ((t_of(epsilon), delta),)),
        lambda epsilon: rejects(t_of(epsilon)),
        LARGEST_EPSILON,
        38,
    )
    return Fraction(1) if found is None else t_of(found)


def _tradeoff_p_value(
    question: Question, tradeoff: Polygon | Curve
) -> tuple[Enclosure, DualCertificate | None, WorstMechanism | None]:
    game = question.game
    if game.correct == 0:
        return Enclosure.exactly(1), None, None
    if question.method == "optimal" and isinstance(tradeoff, Polygon) and len(tradeoff.pairs) == 1:
        (pair,) = tradeoff.pairs
        return optimal.p_value(game, *pair), optimal.certificate(game, *pair), optimal.worst_mechanism(game, *pair)
    if question.method == "optimal" and not question.is_relaxed:
        found = optimum(game, tradeoff)
        return found.p_value, found.certificate, found.mechanism
    if question.method in ("optimal", "fdp"):
        value = fdp.p_value(game, tradeoff, question.fdp_variant)
        return (value if question.method == "fdp" else Enclosure(Fraction(0), value.upper)), None, None
    return _p_value_at(question, _polygon(tradeoff)), None, None


def _polygon(tradeoff: Polygon | Curve) -> tuple[Pair, ...]:
    """Return the pairs of a polygon, or some tangents of a smooth curve."""
    return tradeoff.pairs if isinstance(tradeoff, Polygon) else tradeoff.outer(tradeoff.logs(_TANGENTS))


def _family_exp_epsilon(question: Question, known: _Known) -> Fraction:
    """Return the e^ε, at δ, of the largest scale of the family found rejected."""
    family, game, level = family_of(question.family), question.game, question.significance
    assert family is not None

    def meant(mu: float) -> Fraction:
        return rejected_exp_epsilon(family(Fraction(mu)), question.deltas.upper)

    meant(1.0)  # refuse a family without ε at δ before the search
    if game.correct == 0:
        return Fraction(1)
    shot: Shot | None = None

    def shot_at(mu: float) -> float:
        """Return the excess of the optimum in floats, where every optimum helps to find the next."""
        nonlocal shot
        shot = shoot(game, family(Fraction(mu)), shot, 8 if shot is None else 2)
        return math.log(max(1e-300, shot.value)) - math.log(level)

    def rejects(mu: float) -> bool:
        if question.method == "optimal" and not question.is_relaxed:
            return upper_bound(game, family(Fraction(mu)), shot).bound <= level
        return _rejects(question, _polygon(family(Fraction(mu))))

    decides = known.noting(rejects, meant)
    if question.method == "order-statistics":
        scale = confirmed(lambda mu: _excess(question, _polygon(family(Fraction(mu)))), decides, _LARGEST_MU, _MU_BITS)
    elif question.method == "optimal" and not question.is_relaxed:
        scale = confirmed(shot_at, decides, _LARGEST_MU, _MU_BITS)
    else:
        scale = largest_rejected(decides, _LARGEST_MU, _MU_BITS)
    return Fraction(1) if scale is None else meant(scale)


def _answer(
    question: Question,
    exp_epsilon_lower: Fraction | None,
    p_value: Enclosure | None,
    certificate: DualCertificate | None = None,
    mechanism: WorstMechanism | None = None,
) -> AuditAnswer:
    game, pure = question.game, question.is_pure
    counterexample = order_statistics.counterexample
    if question.method == "steinke":
        counterexample = optimal.steinke_counterexample
        too_small = _is_too_small(question, p_value)
        valid, reason = steinke_verdict(pure, question.significance, too_small, game.options)
    else:
        method = "fdp" if question.is_relaxed else question.method
        valid, reason = verdict(method, pure, question.tradeoff or question.family)
    if question.is_relaxed:
        reason = f"with more than {GUESSES_ON_CURVES:,} guesses on a smooth curve, the method fdp: {reason}"
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
        counterexample=None if valid is True else counterexample(),
    )


def _is_too_small(question: Question, p_value: Enclosure | None) -> bool:
    """Whether a p-value is certainly below the exact optimum."""
    game, t = question.game, question.t
    if p_value is None or t is None or not game.correct:
        return False
    if p_value.upper == 1 or p_value.upper <= optimal.proved_up_to(game.options):
        return False
    return p_value.upper < optimal.enclose(game, t.lower, question.deltas.lower).lower
