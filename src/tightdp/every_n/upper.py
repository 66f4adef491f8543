"""The least upper bound on e^ε that some proof method gives for every n."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from tightdp.errors import TightdpError
from tightdp.every_n.alignment import align
from tightdp.every_n.chain import Chain
from tightdp.every_n.comparing import refuse_contradicted
from tightdp.every_n.cones import noisy_end, pairs, windows
from tightdp.every_n.following import Untraceable
from tightdp.every_n.growth import growth
from tightdp.every_n.growth_of_noise import grows_under_noise
from tightdp.every_n.limits import approached
from tightdp.every_n.simulation import simulate
from tightdp.every_n.states import Paths, chain_of, explore
from tightdp.exact.numbers import Exact
from tightdp.language.domains import Domain
from tightdp.language.program import Bound

__all__ = ["CLOSE", "Upper", "least_upper", "near", "readings", "upper_for_every_n"]

CLOSE = Fraction(1, 10**9)
"""Ends whose relative distance is at most this are not brought closer."""


@dataclass(frozen=True)
class Upper:
    """An upper bound on e^ε for every n, and the name of the proof method ("none" where none succeeded).

    It is `approached` where ratios are proved to come arbitrarily close; with the method "growth" they are unbounded.
    """

    value: Exact
    proof: str
    approached: bool = False


def readings(bound: Bound) -> list[Paths]:
    """Return the paths of a program, read with its sums as messages, and with its sums as a part of the state.

    Raises the error of the first where both fail; a reading in which noise cannot be followed for all integers is left
    out.
    """
    found: list[Paths] = []
    refused: TightdpError | None = None
    for sums in (False, True):
        try:
            paths = explore(bound, sums)
        except Untraceable:
            continue
        except TightdpError as error:
            refused = refused or error
        else:
            found += [paths] if paths not in found else []
    if refused is not None and not found:
        raise refused
    refuse_contradicted(found, bound)
    return found


def least_upper(programs: list[Paths], lower: Exact) -> Upper:
    """Return the least upper bound; no further method is tried once one comes close to `lower`."""
    best = Upper(math.inf, "none")
    chains = [chain for paths in programs if (chain := chain_of(paths)) is not None]
    for chain in chains:
        found = _of_chain(chain, lower)
        if found.proof == "growth":
            return found
        best = min(best, found, key=lambda each: each.value)
    for paths in programs:
        if near(lower, best.value):
            break
        alignment = align(paths)
        if alignment is not None:
            ratio = max(alignment.ratio(), Fraction(1))
            best = min(best, Upper(ratio, "alignment"), key=lambda each: each.value)
        elif best.value == math.inf and grows_under_noise(paths):
            return Upper(math.inf, "growth", True)
    if lower < best.value:
        limit = max(map(approached, chains), default=Fraction(1))
        if limit == math.inf:
            return Upper(math.inf, "growth", True)
        return replace(best, approached=limit == best.value)
    return best


def _of_chain(chain: Chain, lower: Exact) -> Upper:
    if not chain.starts:  # the program ends before it looks at the records
        return Upper(Fraction(1), "independence")
    best = Upper(math.inf, "none")
    for tried in (chain, chain.reversed()):
        if near(lower, best.value):
            return best
        found = simulate(tried)
        if found is not None and found.ratio() < best.value:
            best = Upper(found.ratio(), "independence" if chain.size == 1 else "simulation")
    for value, name in ((noisy_end(chain), "noisy end"), (pairs(chain) if chain.all_at_once else math.inf, "pairs")):
        if value < best.value:
            best = Upper(value, name)
    if best.value == math.inf and growth(chain) is not None:
        return Upper(math.inf, "growth", True)
    if chain.all_at_once:
        return best
    last: Exact | None = None
    for value in windows(chain):
        best = min(best, Upper(value, "windows"), key=lambda each: each.value)
        settled = value == last and value != math.inf
        if near(lower, best.value) or settled:
            break
        last = value
    return best


def upper_for_every_n(bound: Bound, lower: Exact) -> Exact:
    """Return an upper bound on e^ε that is proved for every number of records, infinite where none is.

    `lower` is a lower bound for a program with so many records as `bound` says.
    """
    program = bound.program
    if not isinstance(program.record, Domain):
        return math.inf
    try:
        one = program.bind(1, neighbours=bound.neighbours, **bound.parameters)
        found = least_upper(readings(one), lower).value
    except TightdpError:
        return math.inf
    return found if found >= lower else math.inf


def near(lower: Exact, upper: Exact) -> bool:
    """Whether two ends are within the relative distance CLOSE."""
    return lower == upper or (upper != math.inf and upper * (1 - CLOSE) <= lower)
