"""From the pairs of neighbours of a mechanism to its privacy losses in one direction of change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.methods.base import Pair
from tightdp.queries.composition.adaptive import MOST_PAIRS
from tightdp.queries.composition.lattice import Runs
from tightdp.queries.composition.loss import Direction
from tightdp.queries.composition.pairs import DominatingPair, merged, pair_of_hull
from tightdp.queries.curves import Profile, profile

__all__ = ["direction_below", "direction_of", "pair_of"]

MOST_REAL = 4
"""Where no real pair of neighbours dominates all, and pairs are many, this many give the lower end."""

Pairs = Callable[[], Iterable[Pair]]


def pair_of(found: Profile) -> DominatingPair:
    """Return the least pair that dominates all pairs of a profile: one outcome per edge of the hull."""
    return pair_of_hull([(quotient(v.under_prime, found.scale), quotient(v.under, found.scale)) for v in found.hull])


def direction_of(name: str, found: Profile, pairs: Pairs) -> Direction | None:
    """Return the losses in one direction, given the profile of all its pairs of neighbours; None where there are none.

    A real pair whose own hull is that of all dominates, and the composition is then exact. `pairs` is iterated once
    more where none of those on the hull does, and where a direction has pairs with a single record.
    """
    envelope = pair_of(found)
    attaining = _by_share(found)
    if not attaining:
        return None
    real = [pair for pair in attaining if _own(pair) == envelope][:1]
    alone: list[DominatingPair] = []
    if name in ("remove", "add"):
        lonely = profile(pair for pair in pairs() if _lonely(pair))
        alone = [_own(pair) for pair in _by_share(lonely)]
        alone = [envelope] if envelope in alone else alone[:MOST_REAL]
    if envelope in alone:
        return _direction(name, envelope, [envelope], alone)
    chosen: dict[DominatingPair, None] = {}
    if not real and len(attaining) > 1:
        for pair in pairs():
            own = _own(pair)
            if own == envelope:
                return _direction(name, envelope, [own], alone)
            if len(chosen) <= MOST_PAIRS:
                chosen[own] = None
    if not 0 < len(chosen) <= MOST_PAIRS:
        return _direction(name, envelope, [_own(pair) for pair in real or attaining[:MOST_REAL]], alone)
    return replace(_direction(name, envelope, list(chosen), alone), choices=((tuple(chosen), 1),))


def direction_below(name: str, found: Profile, bound: Number) -> Direction:
    """Return the losses where not all pairs were compared: no likelihood ratio exceeds `bound`, in either direction.

    Randomized response with this ratio dominates everything of the kind (Kairouz, Oh, Viswanath 2015, Theorem 3.3).
    """
    ours = bound / (1 + bound)
    dominating = merged([(ours, 1 - ours), (1 - ours, ours)])
    return _direction(name, dominating, [_own(pair) for pair in _by_share(found)[:MOST_REAL]], [], attained=False)


def _direction(
    name: str,
    dominating: DominatingPair,
    real: list[DominatingPair],
    alone: list[DominatingPair],
    attained: bool = True,
) -> Direction:
    choices = (((dominating,), 1),) if dominating in real else ()
    return Direction(name, _once(dominating), tuple(map(_once, real)), tuple(map(_once, alone)), attained, choices)


def _once(pair: DominatingPair) -> Runs:
    return ((pair, 1),)


def _by_share(found: Profile) -> list[Pair]:
    """Return the pairs of neighbours on a hull, those with the most corners first."""
    pairs = {(vertex.pair.x, vertex.pair.x_prime): vertex.pair for vertex in found.hull if vertex.pair is not None}
    shares = Counter((vertex.pair.x, vertex.pair.x_prime) for vertex in found.hull if vertex.pair is not None)
    return [pairs[key] for key, _ in shares.most_common()]


def _own(pair: Pair) -> DominatingPair:
    return pair_of(profile([pair]))


def _lonely(pair: Pair) -> bool:
    """Whether all records but the one that is added or removed are absent."""
    return all(None in moved for moved in zip(pair.x, pair.x_prime, strict=True)) and (
        sum(x is not None or x_prime is not None for x, x_prime in zip(pair.x, pair.x_prime, strict=True)) == 1
    )
