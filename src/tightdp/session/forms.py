"""Linear forms that bound the likelihood ratios of a program cut into clients: found here, proved by the checker.

The checker pulls forms back through the parts of a core program. Here those are kept that are not bounded by others,
and the evidence for the rest is written down: for every other form, kept ones and their multipliers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, combinations, pairwise
from typing import Any

from flint import fmpz_poly

from tightdp.core.sections import written_value, written_whole
from tightdp.core.syntax import plain_value
from tightdp.exact.polynomials import from_key
from tightdp.exact.whole import ExpInteger, Whole, gcd
from tightdp.limits.calibrated import TABLE_ENTRIES
from tightdp.methods.chain import Vector
from tightdp.methods.chain_forms import Form, distinct, extreme, prune

Keyed = dict[tuple[int, int], Any]
"""A form as the checker has it: factors by copy (0: weights while x and x' are alike; 1, 2: later) and state."""
Because = tuple[int, int, int, int]
"""What a reason is about: two records, what is published, and a form, each by its number."""
KINDS = ("before", "across", "after")
"""Which forms are taken back: those before the difference, those after it, over it, and those after it."""


Pulled = tuple[int, Because, Vector]
"""A form that is taken back: of which kind, what it is about, and its factors, ~state for those under x'."""
_ROUNDS = 12
"""So often forms for every n are taken back through the part of a client, until they lead to themselves."""
_NOWHERE = (0, 0, 0, 0)


class TooMany(Exception):
    """More forms than are followed, or one that no other bounds."""


class Explored:
    """All states at the cuts of a program that the checker has read, and how the parts move their weights."""

    def __init__(self, checker: Any, data: Any) -> None:
        self.data = data
        self.states: list[list[Any]] = [[()]]
        self.told: list[list[Any]] = []
        self._positive, self._forms = checker.positive, checker.beside("forms")
        self._back: list[dict[tuple[int, int], list[tuple[int, int, Any]]]] = []
        for part, client in zip(data.places, data.clients, strict=True):
            self._explore(part, client, checker.text)

    def _explore(self, part: int, client: Any, text: Callable[[Any], str]) -> None:
        """Go through a part; what every client runs is gone through until no state is new."""
        before, after = self.states[-1], list[Any]() if client != "all" else self.states[-1]
        numbers = {text(state): at for at, state in enumerate(after)}
        told: dict[str, int] = {}
        back: dict[tuple[int, int], list[tuple[int, int, Any]]] = {}
        at = 0
        while at < len(before):
            for record in range(len(self.data.records)) if client is not None else [0]:
                found, _ = self.data.run(part, text(before[at]), None if client is None else record)
                for shown, left, odds in ((shown, *each) for shown, row in found for each in row):
                    if numbers.setdefault(left, len(after)) == len(after):
                        after.append(self.data.states[left])
                    number = told.setdefault(shown, len(told))
                    back.setdefault((record, numbers[left]), []).append((number, at, odds))
            at += 1
        self.states.append(after)
        self.told.append([self.data.states[shown] for shown in told])
        self._back.append(back)

    def taken_back(
        self, place: int, early: Sequence[Keyed], late: Sequence[Keyed], units: bool
    ) -> Iterator[tuple[int, Because, Keyed]]:
        """Yield the forms before a part that give those after it, with what each is about; none that is at most 0."""
        part, back = self.data.parts[self.data.places[place]], self._back[place]
        for which, about, form in self._forms.taken_back(self.data, part, back, early, late, units, place == 0):
            if any(map(self._positive, form.values())):
                yield which, about, form

    def ratios(self, many: int) -> list[Keyed]:
        """Return the forms, of so many states, that each is at most e^ε times as likely under x as under x'."""
        found: list[Keyed] = self._forms.ratios(self.data, many)
        return found


def written(value: Any) -> Any:
    """Return a value of the checker as certificates have it."""
    if isinstance(value, tuple):
        return [written(each) for each in value]
    return {"undefined": None} if value is ... else plain_value(written_value(value))


Reasons = dict[str, list[list[Any]]]


def assembled(
    explored: Explored, units: bool, forms: Sequence[dict[str, list[Any]]], why: Sequence[Reasons]
) -> dict[str, Any]:
    """Return the evidence: cuts with their forms, and steps with their reasons; equal ones stand once."""
    cuts, steps, places = list[Any](), list[Any](), [0]
    for states, at in zip(explored.states[1:-1], forms, strict=True):
        cut = {"states": [[written(each) for each in state] for state in states], **at}
        if cut not in cuts:
            cuts.append(cut)
        places.append(cuts.index(cut) + 1)
    places.append(len(cuts) + 1)
    order = []
    for place, part in enumerate(explored.data.places):
        ends = {"part": part, "before": places[place], "after": places[place + 1]}
        step = {**ends, "outputs": [written(each) for each in explored.told[place]], "why": why[place]}
        if step not in steps:
            steps.append(step)
        order.append(steps.index(step))
    return {"rule": "forms", "units": units, "cuts": cuts, "steps": steps, "order": order}


def find_forms(checker: Any, data: Any, watch: Callable[[], None]) -> dict[str, Any] | None:
    """Return evidence of the rule "forms" of the bound on e^ε; None where no way finds any.

    `data` is what the checker makes of the program and its claim.
    """
    if data.listed:
        return None
    explored = Explored(checker, data)
    for units in (False,) if data.at_once else (True, False):
        search = _Search(checker, explored, watch)
        try:
            return search.closed(units) if data.every else search.found(units)
        except TooMany:
            continue
    return None


class _Search:
    """Goes from the last part to the first."""

    def __init__(self, checker: Any, explored: Explored, watch: Callable[[], None]) -> None:
        self.checker, self.explored, self.watch, self.one = checker, explored, watch, not explored.data.at_once
        self.up, self.down = map(self._read, explored.data.points[0][0])

    def found(self, units: bool) -> dict[str, Any]:
        """Return the evidence; with `units` every state of a cut stands for itself once x and x' differ."""
        explored = self.explored
        early: list[Vector] = []
        late: list[Keyed] = explored.ratios(len(explored.states[-1]))
        cuts: list[dict[str, list[Any]]] = []
        reasons: list[Reasons] = []
        for part in range(len(explored.told) - 1, 0, -1):
            pulled = self._pulled(part, early, late, units)
            early, others = self._kept(pulled)
            reasons.append(self._reasons(pulled, early, others))
            late = explored.ratios(len(explored.states[part])) if units else self._halves(others)
            cuts.append(self._cut(early, others))
        reasons.append(self._at_start(early, late, units))
        return assembled(explored, units, cuts[::-1], reasons[::-1])

    def closed(self, units: bool) -> dict[str, Any]:
        """Return the evidence for every n: at the cut between two clients, forms that lead to themselves."""
        explored, early = self.explored, list[Vector]()
        end = self._pulled(2, [], explored.ratios(1), units)
        _, others = self._kept(end)
        for _ in range(_ROUNDS):
            late = explored.ratios(len(explored.states[1])) if units else self._halves(others)
            pulled = self._pulled(1, early, late, units)
            with suppress(TooMany):
                why = [
                    self._at_start(early, late, units),
                    *(self._reasons(each, early, others) for each in (pulled, end)),
                ]
                return assembled(explored, units, [self._cut(early, others)] * 2, why)
            before = [(0, _NOWHERE, form) for form in early] + [(2, _NOWHERE, form) for form in others]
            early, others = self._kept([*before, *pulled])
        raise TooMany

    def _pulled(self, part: int, early: Sequence[Vector], late: Sequence[Keyed], units: bool) -> list[Pulled]:
        """Return the forms before a part that give those after it."""
        found: list[Pulled] = []
        before = [{(0, at): self._back(value) for at, value in vector.items()} for vector in early]
        for which, about, form in self.explored.taken_back(part, before, late, units):
            self.watch()
            found.append((which, about, {(~at if copy == 2 else at): self._read(v) for (copy, at), v in form.items()}))
        return found

    def _kept(self, pulled: Sequence[Pulled]) -> tuple[list[Vector], list[Vector]]:
        """Return forms before the difference, and after it, of which all others are sums, or below some multiple."""
        some = prune([(vector, ()) for which, _, vector in pulled if which < 2], self.watch)
        others = self._later([(vector, ()) for which, _, vector in pulled if which == 2])
        if max(len(some), len(others)) > TABLE_ENTRIES:
            raise TooMany
        return [vector for vector, _ in some], [vector for vector, _ in others]

    def _reasons(self, pulled: Sequence[Pulled], early: Sequence[Vector], late: Sequence[Vector]) -> Reasons:
        why: Reasons = {kind: [] for kind in KINDS}
        for which, about, vector in pulled:
            why[KINDS[which]].append([*about, *self._reason(which == 2, vector, late if which == 2 else early)])
        return why

    def _halves(self, late: Sequence[Vector]) -> list[Keyed]:
        return [
            {((1, at) if at >= 0 else (2, ~at)): self._back(value) for at, value in vector.items()} for vector in late
        ]

    def _cut(self, early: Sequence[Vector], late: Sequence[Vector]) -> dict[str, list[Any]]:
        halves = [[self._row(vector, 0), self._row(vector, 1)] for vector in late]
        return {"before": [self._row(vector, 0) for vector in early], "after": halves}

    def _at_start(self, early: Sequence[Vector], late: Sequence[Keyed], units: bool) -> Reasons:
        """Return the reasons of the first part: the one state before it has equal weights under x and x'."""
        why: Reasons = {kind: [] for kind in KINDS}
        for which, about, form in self._pulled(0, early, late, units):
            ours = form.get(0, 0)
            if which < 2 or ours + form.get(~0, 0) > 0:
                raise TooMany
            why[KINDS[which]].append(
                [*about, 1, *((0, self._plain(ours)) if ours > 0 else (1, self._plain(-1 * ours)))]
            )
        return why

    def _read(self, value: Any) -> Whole:
        """Return a number of the checker as a weight."""
        if isinstance(value, int):
            return value
        root = self.checker.ROOT[0]
        terms = (((at, 0, 0, 0, 0), c) for at, c in enumerate(value) if c)
        return ExpInteger(fmpz_poly(list(value)), root) if root > 0 else ExpInteger(from_key(tuple(terms)))

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

    def _reason(self, later: bool, vector: Vector, kept: Sequence[Vector]) -> list[Any]:
        """Return a factor of a form, and numbers of kept forms with theirs, so that it is below their sum."""
        for at, strong in enumerate(kept):
            found = _factor(strong, vector)
            if found is not None:
                return self._numbers(found[1], [(at, found[0])])
        if later and self.one:
            column = {at: value for at, value in vector.items() if at >= 0}
            halves = [(at, {n: v for n, v in form.items() if n >= 0}) for at, form in enumerate(kept)]
            hull = [(at, half) for at, half in halves if half.keys() == column.keys()]
            for members, factors in _sums(hull, column):
                return self._numbers(factors[0], list(zip(members, factors[1:], strict=True)))
        raise TooMany

    def _numbers(self, times: Whole, used: list[tuple[int, Whole]]) -> list[Any]:
        shared = gcd(times, *(factor for _, factor in used))
        parts = [times // shared, *chain.from_iterable((at, factor // shared) for at, factor in used)]
        return [self._plain(each) for each in parts]

    def _row(self, vector: Vector, other: int) -> list[Any]:
        """Return a form, or its half under x or under x', as the file has it: numbers of states and factors."""
        half = ((~at if other else at, value) for at, value in vector.items() if (at < 0) == bool(other))
        return [self._plain(each) for each in chain.from_iterable(half)]


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
