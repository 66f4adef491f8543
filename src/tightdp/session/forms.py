"""Linear forms that bound the likelihood ratios of a program cut into clients: found here, proved by the checker.

The checker pulls forms back through the parts of a core program. Here those are kept that are not bounded by others,
and the evidence for the rest is written down: for every other form, kept ones and their multipliers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations, pairwise
from typing import Any

from flint import fmpz_poly

from tightdp.core.sections import written_whole
from tightdp.exact.whole import ExpInteger, Whole, gcd
from tightdp.methods.chain import Vector
from tightdp.methods.chain_forms import Form, distinct, extreme, prune

_MOST_FORMS = 3_000
"""How many forms of one cut are followed."""

Keyed = dict[tuple[int, Any], Any]
"""A form as the checker has it: factors by copy (0: weights while x and x' are alike; 1, 2: later) and state."""


class TooMany(Exception):
    """More forms than are followed, or one that no other bounds."""


def find_forms(checker: Any, data: Any, watch: Callable[[], None]) -> dict[str, Any] | None:
    """Return evidence of the rule "forms" of the bound on e^ε; None where no way finds any.

    `data` is what the checker makes of the program and its claim.
    """
    if data.observes or data.listed or data.every:
        return None
    for units in (False,) if data.at_once else (True, False):
        try:
            return _Search(checker, data, watch).found(units)
        except TooMany:
            continue
    return None


class _Search:
    """Goes from the last part to the first."""

    def __init__(self, checker: Any, data: Any, watch: Callable[[], None]) -> None:
        self.checker, self.data, self.watch, self.one = checker, data, watch, not data.at_once
        self.up, self.down = self._read(data.up), self._read(data.down)

    def found(self, units: bool) -> dict[str, Any]:
        """Return the evidence; with `units` every state of a cut stands for itself once x and x' differ."""
        states = [range(len(each)) for each in self.data.states]
        after: list[Keyed] = [{(copy, state): value for state in states[-1] for copy, value in self._pair()}]
        cuts: list[list[Any]] = []
        reasons: list[list[list[Any]]] = []
        for part in range(len(self.data.clients) - 1, 0, -1):
            place = {
                (copy, state): (at if copy < 2 else ~at) for at, state in enumerate(states[part]) for copy in (0, 1, 2)
            }
            back = {(copy > 0, number): key for key, number in place.items() for copy in (key[0],)}
            pulled: list[tuple[bool, Vector]] = []
            for form in self.data.taken_back(part, after):
                self.watch()
                later = any(copy for copy, _ in form)
                if not (later and units):
                    pulled.append((later, {place[key]: self._read(value) for key, value in form.items()}))
            early = prune([(vector, ()) for later, vector in pulled if not later], self.watch)
            late = self._later([(vector, ()) for later, vector in pulled if later])
            if max(len(early), len(late)) > _MOST_FORMS:
                raise TooMany
            kept = [(False, vector) for vector, _ in early] + [(True, vector) for vector, _ in late]
            reasons.append([self._reason(later, vector, kept) for later, vector in pulled])
            after = [{back[later, at]: self._back(value) for at, value in vector.items()} for later, vector in kept]
            if units:
                after += [{(copy, state): value for copy, value in self._pair()} for state in states[part]]
            cuts.append([self._row(later, vector, len(states[part])) for later, vector in kept])
        for form in self.data.taken_back(0, after):
            if (not self.one or (0, 0) in form) and self._read(sum(form.values())) > 0:
                raise TooMany
        return {"units": units, "cuts": cuts[::-1], "why": [[], *reasons[::-1]]}

    def _pair(self) -> tuple[tuple[int, Any], ...]:
        return (1, self.data.down), (2, -1 * self.data.up)

    def _read(self, value: Any) -> Whole:
        """Return a number of the checker as a weight."""
        return value if isinstance(value, int) else ExpInteger(fmpz_poly(list(value)), self.checker.ROOT[0])

    def _plain(self, value: Whole) -> Any:
        """Return a weight as the file has it."""
        return written_whole(value, self.checker.ROOT[0])

    def _back(self, value: Whole) -> Any:
        return self.checker.whole(self._plain(value))

    def _later(self, forms: list[Form]) -> list[Form]:
        """Return forms of which all those after the difference are sums, or below some multiple."""
        if not self.one:
            return prune(forms, self.watch)
        columns = distinct([({at: value for at, value in vector.items() if at >= 0}, ()) for vector, _ in forms])
        return [
            ({at: self.down * v for at, v in vector.items()} | {~at: -self.up * v for at, v in vector.items()}, ())
            for group in _by_support(columns)
            for vector, _ in extreme(group)
        ]

    def _reason(self, later: bool, vector: Vector, kept: Sequence[tuple[bool, Vector]]) -> list[Any]:
        """Return a factor of a form, and numbers of kept forms with theirs, so that it is below their sum."""
        for at, (kind, strong) in enumerate(kept):
            if kind == later:
                found = _factor(strong, vector)
                if found is not None:
                    return self._numbers(found[1], [(at, found[0])])
        if later and self.one:
            column = {at: value for at, value in vector.items() if at >= 0}
            halves = [(at, {n: v for n, v in form.items() if n >= 0}) for at, (kind, form) in enumerate(kept) if kind]
            hull = [(at, half) for at, half in halves if half.keys() == column.keys()]
            for members, factors in _sums(hull, column):
                return self._numbers(factors[0], list(zip(members, factors[1:], strict=True)))
        raise TooMany

    def _numbers(self, times: Whole, used: list[tuple[int, Whole]]) -> list[Any]:
        shared = gcd(times, *(factor for _, factor in used))
        parts = [times // shared, *chain.from_iterable((at, factor // shared) for at, factor in used)]
        return [self._plain(each) for each in parts]

    def _row(self, later: bool, vector: Vector, size: int) -> list[Any]:
        """Return a form as the file has it; the states under x are numbered from `size` on, then those under x'."""
        shift = [size if later else 0, 2 * size]
        row = chain.from_iterable((shift[0] + at if at >= 0 else shift[1] + ~at, v) for at, v in vector.items())
        return [self._plain(each) for each in row]


def _by_support(columns: list[Form]) -> list[list[Form]]:
    groups: dict[frozenset[int], list[Form]] = {}
    for form in columns:
        groups.setdefault(frozenset(form[0]), []).append(form)
    return list(groups.values())


def _factor(strong: Vector, weak: Vector) -> tuple[Whole, Whole] | None:
    """Return p, q > 0 with q·weak <= p·strong everywhere, None where there are none."""
    best: tuple[Whole, Whole] = (0, 1)
    for node, value in weak.items():
        if value > 0:
            other = strong.get(node, 0)
            if other <= 0:
                return None
            if value * best[1] > best[0] * other:
                best = value, other
    p, q = best
    good = all(q * weak.get(node, 0) <= p * strong.get(node, 0) for node in weak.keys() | strong.keys())
    return best if good else None


def _sums(hull: Sequence[tuple[int, Vector]], column: Vector) -> Iterator[tuple[list[int], list[Whole]]]:
    """Yield members of a hull and factors (of the column, then of them) with which the column is their sum."""
    nodes = sorted({node for _, vector in hull for node in vector})
    if len(nodes) > 3:
        return
    fans = [[hull[0], *pair] for pair in pairwise(hull[1:])] if len(hull) > 2 and len(nodes) == 3 else []
    for members in chain(fans, combinations(hull, 2)):
        for rows in combinations(nodes, len(members)):
            found = _cramer(
                [[vector.get(node, 0) for _, vector in members] for node in rows], [column.get(n, 0) for n in rows]
            )
            if found is None or any(factor < 0 for factor in found):
                continue
            totals = {
                node: sum(f * v.get(node, 0) for f, (_, v) in zip(found[1:], members, strict=True)) for node in nodes
            }
            if all(totals[node] == found[0] * column.get(node, 0) for node in nodes):
                yield [at for at, _ in members], found


def _cramer(rows: list[list[Whole]], right: list[Whole]) -> list[Whole] | None:
    """Return the determinant, made positive, and its products with the solution; None where it is 0."""
    whole = _determinant(rows)
    if whole == 0:
        return None
    parts = [
        _determinant([[*row[:at], value, *row[at + 1 :]] for row, value in zip(rows, right, strict=True)])
        for at in range(len(rows))
    ]
    return [each if whole > 0 else -1 * each for each in (whole, *parts)]


def _determinant(rows: list[list[Whole]]) -> Whole:
    if len(rows) == 1:
        return rows[0][0]
    total: Whole = 0
    minors = (
        (-1) ** at * value * _determinant([[*row[:at], *row[at + 1 :]] for row in rows[1:]])
        for at, value in enumerate(rows[0])
        if value != 0
    )
    for minor in minors:
        total += minor
    return total
