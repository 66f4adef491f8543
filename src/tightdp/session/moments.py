"""Rényi divergences, zero-concentrated DP, and the privacy loss, over all pairs of neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from operator import itemgetter
from typing import Any

from flint import arb, ctx

from tightdp.cells.comparing import Comparing
from tightdp.cells.deltas import Besides
from tightdp.cells.noise import Outside
from tightdp.cells.powers import MomentsOfReals, Powers
from tightdp.errors import LimitError
from tightdp.exact.divergence import largest_rho
from tightdp.exact.enclosure import BITS, bounded
from tightdp.exact.numbers import SHORT, Exact, down, up
from tightdp.language.neighbours import DIRECTIONS
from tightdp.limits.calibrated import FEW_DATASETS
from tightdp.methods import questions
from tightdp.methods.base import Pair
from tightdp.methods.by_pairs import of_one_record
from tightdp.methods.noisy_numbers import find_noisy_numbers
from tightdp.queries import laws
from tightdp.queries.composition.loss import Direction, Losses, direction_below, direction_of
from tightdp.queries.laws import Found, largest
from tightdp.queries.privacy import Ends, RenyiAt
from tightdp.results.privacy import Renyi, Zcdp, between
from tightdp.results.privacy_loss import PrivacyLoss, status_of
from tightdp.results.result import PairWitness, Stats
from tightdp.session import losses, numeric
from tightdp.session.engine import Engine, neighbours
from tightdp.session.search import answer, compared, ended, tight_privacy
from tightdp.symmetry.sets import every_neighbouring_pair

_DIGITS = 9
"""ρ of real numbers is enclosed to so many."""


def renyi_divergence(engine: Engine, order: Fraction | float) -> Renyi:
    """Return the Rényi divergence of a rational order > 1, or of the order infinity, which is pure DP."""
    if isinstance(order, float):
        pure = tight_privacy(engine)
        return Renyi(
            subject=engine.subject, order=order, exp_moment=pure.upper, lower=pure.lower, witness=pure.witness,
            status=pure.status, stats=pure.stats, reason=pure.reason, hint=pure.hint,
        )  # fmt: skip
    question = RenyiAt(order)

    def through(laws: Comparing, pairs: Iterable[numeric.Pair]) -> Found[numeric.Pair]:
        powers = Powers(laws)

        def sums(pair: numeric.Pair) -> Any:  # of whose laws nothing else is asked
            return _PowerSums(powers, pair)

        return largest(pairs, question, sums)

    known = numeric.through_pairs(engine, through)
    if known is None:
        found: Renyi = answer(engine, question)
        return found
    of_pairs, witness, outcome = known
    return outcome.on(between(question, engine.subject, of_pairs.lower, of_pairs.upper, witness))


def _most_concentrated(laws: Comparing, pairs: Iterable[numeric.Pair]) -> Found[numeric.Pair]:
    """Return the least ρ of pairs of which real numbers are published, enclosed."""
    if not numeric.of_reals(laws.laws):
        raise Outside("is on the integers")
    powers, curves = Powers(laws), dict[numeric.Pair, MomentsOfReals]()
    besides = Besides(laws)
    names, refused = set[Any](), list[Outside]()
    for pair in pairs:
        if (name := besides.beside(*pair)) not in names:
            names.add(name)
            try:
                moments = powers.moments(*pair)
            except Outside as outside:  # that of another pair may be infinite
                refused.append(outside)
                continue
            if moments is None:
                return Found(math.inf, math.inf, pair)
            curves[pair] = moments
    if refused:
        raise refused[0]
    found = largest_rho(list(curves.values()), _DIGITS)
    best = None if found.pair is None else list(curves)[found.pair]
    assert not isinstance(found.rho, float)
    return Found(down(found.rho.lower, SHORT), up(found.rho.upper, SHORT), best, found.order)


@dataclass(frozen=True)
class _PowerSums:
    """Two laws of real numbers, by their power sums."""

    powers: Powers
    pair: numeric.Pair

    def power_sum(self, order: Fraction) -> Ends:
        with ctx.workprec(BITS):
            found = self.powers.sum(*self.pair, order)
            if isinstance(found, arb):
                both = bounded(found)
                return down(both.lower, SHORT), up(both.upper, SHORT)
        return found, found


def concentrated(engine: Engine) -> Zcdp:
    """Return the least ρ of zero-concentrated DP over all orders and neighbours, enclosed."""
    if (by_algebra := numeric.through_pairs(engine, _most_concentrated)) is not None:
        least, nearest, outcome = by_algebra
        return outcome.on(
            Zcdp(subject=engine.subject, rho=least.upper, lower=least.lower, order=least.order, witness=nearest)
        )
    query, method, pairs = compared(engine)

    def reached(done: int, total: int, lower: Fraction) -> None:
        query.control.bounded("ρ ≥")(lambda: lower)
        query.control.tell("going through orders", done, total)

    with query.searching():
        error = engine.program.inexact
        noise = None if error is None else find_noisy_numbers(engine.program.core(query.control))
        first: PairWitness | None = None
        most: Exact = math.inf
        rho = None if noise is None else noise.between(engine.bound)
        published = noise is not None and noise.published
        if rho is not None and engine.program.datasets <= FEW_DATASETS:
            every = every_neighbouring_pair(engine.bound)
            ways = ((rho(x, other), PairWitness(x, other)) for x, other, _ in every)
            most, first = max(ways, key=itemgetter(0), default=(Fraction(0), None))
        if published and first is not None:
            found: laws.Found[Pair] = laws.Found(most, most, None)
        elif published and rho is not None:
            looked = ((rho(pair.x, pair.x_prime), pair) for pair in query.control.pairs(pairs))
            known = max(looked, key=itemgetter(0), default=(Fraction(0), None))
            found = laws.Found(known[0], *known)
        else:
            found = laws.concentrated(query.control.pairs(pairs), error, lambda: tight_privacy(engine).upper, reached)
            found = replace(found, upper=min(found.upper, most))
        lower, upper, pair, outcome = ended(engine, query, method, found, math.inf)
        witness = first if lower == most > 0 else neighbours(pair)
    return outcome.on(Zcdp(subject=engine.subject, rho=upper, lower=lower, order=found.order, witness=witness))


def privacy_loss(engine: Engine) -> PrivacyLoss:
    """Return the privacy loss. Raises LimitError where a limit is met before anything bounds it."""
    found = [(*_direction(name, one), _error(one)) for name, one in _engines(engine)]
    stats = sum((stats for _, stats, _ in found[1:]), found[0][1])
    every = Losses(tuple(direction for direction, _, _ in found if direction is not None))
    error = max(each for _, _, each in found)
    return PrivacyLoss(
        subject=engine.subject,
        status=status_of(every, error),
        stats=stats,
        losses=every,
        error=error,
        precision=engine.precision,
    )


def _error(engine: Engine) -> Fraction:
    """Return how far the probabilities of an event, once it was compiled, may be from the true ones."""
    known = engine.program.inexact
    return Fraction(0) if known is None else up(known.total)


def _engines(engine: Engine) -> list[tuple[str, Engine]]:
    """Return what searches each direction of change."""
    if engine.subject.neighbours != "add-remove":
        return [(engine.subject.neighbours, engine)]
    result = []
    for name in DIRECTIONS:
        bound = replace(engine.bound, neighbours=name)
        one = Engine(bound, engine.backend, engine.timeout, engine.max_nodes, engine.max_memory, engine.program.forced)
        one.progress = engine.progress
        result.append((name, one))
    return result


def _direction(name: str, engine: Engine) -> tuple[Direction | None, Stats]:
    if (of_reals := losses.of_reals(name, engine)) is not None:
        return of_reals
    found, outcome = engine.profile()
    if outcome.status != "exact":
        bound = engine.profile_bound
        if isinstance(bound, float):
            raise LimitError(outcome.reason, outcome.hint or "use fewer records, or allow more time")
        return direction_below(name, found, bound), outcome.stats
    query = engine.query()
    _, pairs = questions.comparison(engine.program, query.control)
    some = partial(of_one_record, engine.program, query.control)
    direction = direction_of(name, found, lambda: query.control.pairs(pairs), some)
    if query.control.stopped is not None:
        raise query.control.stopped
    return direction, outcome.stats
