"""Answers for every n with an unknown: upper ends as functions of it, beside what a few n have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

from tightdp.errors import LanguageError, LimitError, QueryError
from tightdp.every_n.alignment import align
from tightdp.every_n.upper import readings
from tightdp.exact.cells import Cell
from tightdp.exact.numbers import Exact
from tightdp.exact.parameters import parse
from tightdp.results.answers import Verification
from tightdp.results.pieces import AtN, EveryNPieces, Pieces, Solution
from tightdp.results.result import Stats, Status
from tightdp.session import solving
from tightdp.session.arguments import Claims
from tightdp.session.base import InstanceBase
from tightdp.session.cellwise import Cellwise, Stretch
from tightdp.session.ends import inside

_SIZES = (1, 2, 3)
"""At which n lower ends are functions of the unknown, and a claim that is not proved is asked for."""
_LAST = 4
"""At which n it is asked for where it does not fail at one value for a larger n either."""
T = TypeVar("T")


class _Upper:
    """The question for an upper end of e^ε for every n."""

    continuous = False

    def collect(self, instance: InstanceBase) -> tuple[Callable[[Cell], Sequence[Stretch]], Stats]:
        """Return it as a function of the unknown."""
        value = _upper(instance)
        return lambda cell: [Stretch(cell.low, cell.high, value, None)], Stats()

    def at(self, instance: InstanceBase) -> tuple[Any, Any]:
        """Return it at one value of the unknown."""
        return _upper(instance), None


def _upper(instance: InstanceBase) -> Exact:
    best: Exact = math.inf
    for paths in readings(instance.bound):
        alignment = align(paths)
        if alignment is not None:
            best = min(best, max(alignment.ratio(), Fraction(1)))
    return best


def upper_ends(ours: Cellwise) -> Pieces:
    """Return an upper end of e^ε for every n as a function of the unknown."""
    return solving.asked(ours, _Upper())


def privacy(ours: Cellwise, at: Callable[[int], Pieces]) -> EveryNPieces:
    """Return an upper end for every n as a function of the unknown; `at` gives the tight e^ε at one n."""
    upper = upper_ends(ours)
    lower: list[AtN] = []
    for n, found in _answered(at):
        lower.append(AtN(n, found))
        if _same(found, upper):
            break
    about = upper.subject, upper.unknown, upper.stats
    status: Status = "exact" if _same(lower[-1].found, upper) else "bounded"
    return EveryNPieces(
        subject=about[0],
        unknown=about[1],
        stats=about[2],
        status=status,
        what=upper.what,
        pieces=upper.pieces,
        lower=tuple(lower),
    )


def _answered(at: Callable[[int], T]) -> Iterator[tuple[int, T]]:
    """Yield the answers at the first few n, as far as they are known."""
    for n in _SIZES:
        try:
            found = at(n)
        except (LanguageError, LimitError, QueryError):
            if n == 1:
                raise
            return
        yield n, found


def _same(one: Pieces, other: Pieces) -> bool:
    """Whether two functions are written alike, piece by piece."""
    ours, theirs = ([{**row, "witness": None} for row in each.to_dict()["result"]["pieces"]] for each in (one, other))
    return ours == theirs


def solve(ours: Cellwise, claims: Claims, formula: solving.Formula | None, at: Callable[[int], Solution]) -> Solution:
    """Return where a claim is proved for every n, and where it is not refuted by the largest of a few n."""
    found = solving.solve(ours, claims, formula, question=_Upper())
    *_, (n, possible) = _answered(at)
    if [(each.start, each.stop) for each in possible.holds] == [(each.start, each.stop) for each in found.holds]:
        return found
    return replace(found, status="bounded", not_refuted=possible.holds, n=n)


def verify(
    ours: Cellwise,
    claims: Claims,
    formula: solving.Formula | None,
    at: Callable[[int], Verification],
    every: Callable[..., Verification],
) -> Verification:
    """Return the verdict for every n and all values of the unknown.

    `at` gives that at one n, for all values, `every` that for every n at a value of the unknown.
    """
    held = solving.proved(ours, claims, formula, _Upper())
    if held.holds:
        return Verification(subject=ours.instance.subject, claims=(held,), stats=ours.stats)
    for n in _SIZES:
        found = at(n)
        if found.holds is False:
            return found
    value = inside(ours, *ours.ends)
    found = every(value, formula and parse(formula.text, {ours.name: value}))
    found = at(_LAST) if found.holds is not False else found
    if found.holds is False:
        return found
    return Verification(
        subject=ours.instance.subject,
        status="unresolved",
        claims=(held,),
        stats=ours.stats,
        reason=f"no proof for every n gives so small an e^ε, and the claim does not fail up to n = {_LAST}",
        hint=f"give {ours.name} a value",
    )
