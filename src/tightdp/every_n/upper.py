"""The least upper bound on e^ε that some proof method gives for every n; and larger datasets, for lower ends."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from tightdp.errors import TightdpError
from tightdp.every_n.alignment import align
from tightdp.every_n.chain import Chain, approached, covers, noisy_end
from tightdp.every_n.deciding import Manner, Untraceable
from tightdp.every_n.drawn_loops import Loops
from tightdp.every_n.growth import grows
from tightdp.every_n.mixtures import unmixed
from tightdp.every_n.paths import Paths
from tightdp.every_n.rays import approaches
from tightdp.every_n.simulation import simulate
from tightdp.every_n.states import chain_of, explore, refuse_contradicted
from tightdp.exact.numbers import Exact
from tightdp.language.domains import Domain
from tightdp.language.program import Bound
from tightdp.limits.calibrated import FEW_VALUES

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


def readings(bound: Bound, by_position: bool = True) -> list[Paths]:
    """Return the paths of a program that its laws at a small n do not contradict: see `unchecked`."""
    found = unchecked(bound, by_position)
    refuse_contradicted(found, bound)
    return found


def unchecked(bound: Bound, by_position: bool = True) -> list[Paths]:
    """Return the paths of a program, read with its sums as messages, in the state, and with noise modulo a number.

    Raises the error of the first where all fail; a reading in which noise cannot be followed for all integers is left
    out. Records may be picked by constant positions only where that is asked for (`by_position`).
    """
    found: list[Paths] = []
    refused: TightdpError | None = None
    loops = Loops()
    for manner in _manners():
        try:
            paths = explore(bound, by_position=by_position, manner=manner, loops=loops)
        except Untraceable:
            continue
        except TightdpError as error:
            refused = refused or error
        else:
            found += [paths] if paths not in found else []
    if refused is not None and not found:
        raise refused
    return found


def _manners() -> Iterator[Manner]:
    """Yield how a program is read; how the first ones went says whether there is one more."""
    first = Manner(sums=False), Manner(sums=True)
    yield from first
    divided = math.lcm(*(each.divided for each in first))
    if 1 < divided <= FEW_VALUES:
        yield Manner(sums=True, modulo=divided)


def least_upper(programs: list[Paths], lower: Exact) -> Upper:
    """Return the least upper bound; no further method is tried once one comes close to `lower`."""
    best = Upper(math.inf, "none")
    limit: Fraction | float = Fraction(1)
    chains = [chain for paths in programs if (chain := chain_of(paths)) is not None]
    for chain in chains:
        best = min(best, *_of_chain(chain, lower), key=lambda each: each.value)
    if not near(lower, best.value):
        for chain in chains:
            fewer = unmixed(chain)
            if fewer.size < chain.size:
                best = min(best, *_of_chain(fewer, lower), key=lambda each: each.value)
    if best.value == math.inf or lower < best.value:
        limit = max(map(approached, chains), default=Fraction(1))
        if limit == math.inf:
            return Upper(math.inf, "growth", True)
    for farther, paths in product((False, True), programs):
        if near(lower, best.value) or (farther and best.value < math.inf):
            break
        alignment = align(paths, farther=farther)
        if alignment is not None:
            ratio = max(alignment.ratio(), Fraction(1))
            best = min(best, Upper(ratio, "alignment"), key=lambda each: each.value)
        elif not farther and best.value == math.inf and grows(paths):
            return Upper(math.inf, "growth", True)
    if lower < best.value and (best.value == limit or any(approaches(paths, best.value) for paths in programs)):
        return Upper(best.value, "growth" if best.value == math.inf else best.proof, True)
    return best


def _of_chain(chain: Chain, lower: Exact) -> Iterator[Upper]:
    """Yield upper bounds until one is close to `lower`."""
    if not chain.starts:  # the program ends before it looks at the records
        yield Upper(Fraction(1), "independence")
        return
    for tried in (chain, chain.reversed()):
        found = simulate(tried)
        if found is not None:
            yield Upper(found.ratio(), "independence" if chain.size == 1 else "simulation")
            if near(lower, found.ratio()):
                return
    yield Upper(noisy_end(chain), "noisy end")
    last: Exact | None = None
    for value, _ in covers(chain) if not chain.all_at_once else ():
        yield Upper(value, "windows")
        if near(lower, value) or value == last != math.inf:
            return
        last = value


def upper_for_every_n(bound: Bound, lower: Exact) -> Exact:
    """Return an upper bound on e^ε that is proved for every number of records, infinite where none is.

    `lower` is a lower bound for a program with so many records as `bound` says. No records are picked by position here:
    every run would go through all of them for that.
    """
    program = bound.program
    if not isinstance(program.record, Domain):
        return math.inf
    try:
        one = program.bind(1, neighbours=bound.neighbours, **bound.parameters)
        found = least_upper(readings(one, by_position=False), lower).value
    except TightdpError:
        return math.inf
    return found if found >= lower else math.inf


def near(lower: Exact, upper: Exact) -> bool:
    """Whether two ends are within the relative distance CLOSE."""
    return lower == upper or (upper != math.inf and upper * (1 - CLOSE) <= lower)


_LONGEST_PERIOD = 3


class Triple(NamedTuple):
    """Two neighbouring datasets, and an output."""

    x: tuple[Any, ...]
    x_prime: tuple[Any, ...]
    output: Any


def extended(found: Triple, share: Fraction = Fraction(1)) -> Iterator[Triple]:
    """Yield larger triples, in which what is repeated is so more often by a share, or once; none where nothing is.

    An output with an entry for every record is extended with the datasets, and the index of a record is moved.
    """
    output, size = found.output, len(found.x)
    told = isinstance(output, tuple) and len(output) == size
    columns = list(zip(found.x, found.x_prime, output if told else found.x, strict=True))
    longer: list[tuple[Any, ...]] = []
    places: list[int] = []
    at = 0
    while at < size:
        length, period = _repeated(columns, at)
        more = period * max(1, int(share * length / period)) if length else 0
        places += range(len(longer) + more, len(longer) + more + (length or 1))
        longer += columns[at : at + more] + columns[at : at + (length or 1)]
        at += length or 1
    if len(longer) == size:
        return
    x, x_prime, last = (tuple(part) for part in zip(*longer, strict=True))
    yield Triple(x, x_prime, last if told else output)
    if isinstance(output, int) and 0 <= output <= size:
        yield Triple(x, x_prime, [*places, len(longer)][output])


def _repeated(columns: list[tuple[Any, ...]], start: int) -> tuple[int, int]:
    """Return how many columns from here on are a short block repeated at least twice, and its length; 0, 0 for none."""
    best = 0, 0
    for period in range(1, _LONGEST_PERIOD + 1):
        end = start + period
        while end < len(columns) and columns[end] == columns[end - period]:
            end += 1
        times = (end - start) // period
        if times > 1 and times * period > best[0]:
            best = times * period, period
    return best
