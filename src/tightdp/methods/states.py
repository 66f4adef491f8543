"""Datasets up to the values of the aggregates, where every record contributes certain values.

Counts of records then distinguish far more than the output can: C(n + 100, 100) counts of records in 0..100 have 100 n
+ 1 sums. How many datasets have a state, and how many pairs of neighbours lead from one to another, is counted along
the clients; for one sum of integers, by polynomials. Of many states, pairs are counted by the two laws that they lead
to: the smallest and the largest of records in 0..99 have millions of pairs of states, and few laws.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from flint import fmpz_mat, fmpz_poly

from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Dataset
from tightdp.limits.calibrated import DOUBLES_AT_ONCE, FEW_VALUES, LISTED_MASSES
from tightdp.methods.aggregate import Contribution
from tightdp.methods.mixture import Joins, MovesOfLetters, State, Ways, join
from tightdp.symmetry.orbits import Change, Content, Group, Orbits
from tightdp.symmetry.sets import AccuracySet, Counts, PrivacySet

Letters = Sequence[Sequence[Contribution]]
"""By group, what its letters contribute."""


Level = Mapping[State, int]
"""By state of some clients, how many of their datasets have it."""


@dataclass(frozen=True)
class _Move(Change):
    """A change of one client of a group (by number), with the state of all other clients."""

    counts: State
    counts_after: State
    others: State


@dataclass(frozen=True, kw_only=True)
class States(Orbits):
    """Classes of datasets by the state of the aggregates; `values[g][i]` is what letter i of group g contributes.

    A state takes the place that counts of letters have elsewhere.
    """

    groups: tuple[Group, ...]
    operators: tuple[str, ...]
    values: tuple[tuple[State, ...], ...]
    _known_levels: dict[int | None, list[Level]] = field(default_factory=dict, init=False, compare=False)
    _known_steps: dict[tuple[int | None, int, State], tuple[int, State]] = field(
        default_factory=dict, init=False, compare=False
    )

    def counts(self, x: Sequence[Record]) -> State:
        found = self._none
        for group, values in zip(self.groups, self.values, strict=True):
            for client in group.clients:
                found = self._joined(found, values[group.letter_of[x[client]]])
        return found

    @cached_property
    def number(self) -> int:
        return len(self._levels(None)[-1])

    def every_counts(self) -> Iterator[State]:
        return iter(self._levels(None)[-1])

    def size(self, counts: Counts) -> int:
        return self._levels(None)[-1][counts]

    def representative(self, counts: Counts) -> Dataset:
        return self._with_state(counts, None)

    def accuracy_set(self) -> AccuracySet:
        return AccuracySet(
            lambda: ((self.representative(each), self.size(each)) for each in self.every_counts()), self.number
        )

    @cached_property
    def number_of_pairs(self) -> int:
        return len(self._every_change)

    def privacy_set(self) -> PrivacySet:
        """Return one pair of neighbours per pair of states; their number only where states are few."""
        size = self.number_of_pairs if self._one_sum or self.number <= FEW_VALUES else None
        return PrivacySet(self._pairs_of_one, size)

    def changes_of_one(self, allowed: Callable[[int, Content, Content], bool] | None = None) -> Iterator[Change]:
        return (change for change in self._every_change if allowed is None or allowed(change.kind, *change.move))

    def changes_between(self, law_of: Callable[[State], Hashable]) -> Iterator[Change]:
        """Yield changes that represent all pairs of neighbours; several per pair of laws where that costs nothing.

        States with the same law need not be distinguished: there are far more pairs of states than of laws.
        """
        if self._one_sum:
            return iter(self._every_change)
        return (change for at in range(len(self.groups)) for change in self._changed(at, law_of))

    @cached_property
    def _every_change(self) -> list[Change]:
        if self._one_sum:
            return [change for at in range(len(self.groups)) for change in self._sums_changed(at, self._ways(at))]
        return list(self.changes_between(lambda state: state))

    def _ways(self, at: int) -> MovesOfLetters:
        letter_of = self.groups[at].letter_of
        ways: dict[tuple[int, int], list[tuple[Record, Record]]] = {}
        for old, after in relation_of(self.bound).steps.items():
            for new in after:
                if new != old:
                    ways.setdefault((letter_of[old], letter_of[new]), []).append((old, new))
        return ways

    def neighbours(self, change: Change) -> tuple[Dataset, Dataset]:
        assert isinstance(change, _Move)
        x, client = self._with_state(change.others, change.kind), self.groups[change.kind].clients[-1]
        old, new = ((*x[:client], *content, *x[client + 1 :]) for content in change.move)
        return old, new

    def fewer(self, counts: int) -> bool:
        """Whether there are fewer states than counts of letters; False where finding out takes long."""
        if self._one_sum:
            ends = [(min(values), max(values)) for values in self.values]
            sums = [len(g.clients) * (high[0] - low[0]) for g, (low, high) in zip(self.groups, ends, strict=True)]
            return bool(sum(sums) + 1 < counts)
        if self._told_apart:
            return False
        visits, reached, before = 0, {0}, None
        for _, at in self._clients(None):
            if (at, reached) == before:
                continue
            before = at, reached
            visits += len(reached) * len(self.values[at])
            following: set[int] = set()
            for state in reached:
                if self._joins.work > LISTED_MASSES:
                    return False
                following.update(self._joins.after(at, state))
            reached = following
        return visits <= DOUBLES_AT_ONCE and len(reached) <= counts

    @property
    def _told_apart(self) -> bool:
        """Whether the aggregates are sums of integers that determine all counts of letters, as indicators do."""
        values = [value for each in self.values for state in each for value in state]
        if set(self.operators) != {"sum"} or not all(type(value) is int for value in values):
            return False
        differences = [list(map(operator.sub, state, each[0])) for each in self.values for state in each[1:]]
        return not differences or fmpz_mat(differences).rank() == len(differences)

    # states of the first clients, the groups one after the other; `missing`: the last client of that group is left out

    @cached_property
    def _one_sum(self) -> bool:
        """Whether there is one aggregate, the sum of an integer of every client."""
        return self.operators == ("sum",) and all(type(value) is int for each in self.values for (value,) in each)

    @property
    def _none(self) -> State:
        return (0,) if self._one_sum else (None,) * len(self.operators)

    def _joined(self, left: State, right: State) -> State:
        """Return the state of the clients of two states together."""
        return tuple(join(name, a, b) for name, a, b in zip(self.operators, left, right, strict=True))

    @cached_property
    def _joins(self) -> Joins:
        return Joins(self._none, self.operators, self.values)

    def _clients(self, missing: int | None) -> list[tuple[int, int]]:
        """Return the clients in order, each with its group."""
        every = [(client, at) for at, group in enumerate(self.groups) for client in group.clients]
        return [entry for entry in every if missing is None or entry[0] != self.groups[missing].clients[-1]]

    def _levels(self, missing: int | None) -> list[Level]:
        known = self._known_levels
        if missing not in known:
            order = [at for _, at in self._clients(missing)]
            if missing == len(self.groups) - 1 and not self._one_sum:
                known[missing] = self._levels(None)[:-1]  # the client that is left out is the last one
            else:
                known[missing] = self._sum_levels(order) if self._one_sum else self._plain_levels(order, missing)
        return known[missing]

    def _letters(self, at: int) -> Iterator[tuple[int, State, int]]:
        """Yield the letters of a group: number, what it contributes, and how many records it has."""
        for number, (value, letter) in enumerate(zip(self.values[at], self.groups[at].letters, strict=True)):
            yield number, value, len(letter)

    def _plain_levels(self, order: Sequence[int], missing: int | None) -> list[Level]:
        joins, numbers = self._joins, {0: 1}
        levels: list[Level] = [{self._none: 1}]
        for at in order:
            sizes = [len(letter) for letter in self.groups[at].letters]
            above: dict[int, int] = {}
            for state, number in numbers.items():
                for letter, (new, records) in enumerate(zip(joins.after(at, state), sizes, strict=True)):
                    if new in above:
                        above[new] += number * records
                    else:
                        above[new] = number * records
                        self._known_steps[missing, len(levels), joins.states[new]] = letter, joins.states[state]
            numbers = above
            levels.append({joins.states[state]: number for state, number in numbers.items()})
        return levels

    def _sum_levels(self, order: Sequence[int]) -> list[Level]:
        factors = [
            _polynomial([(value, records) for _, (value,), records in self._letters(at)])
            for at in range(len(self.groups))
        ]
        levels: list[Level] = [{self._none: 1}]
        offset, product = 0, fmpz_poly([1])
        for at in order:
            offset, product = offset + factors[at][0], product * factors[at][1]
            numbers = map(int, product.coeffs())
            levels.append({(offset + k,): number for k, number in enumerate(numbers) if number})
        return levels

    def _last_step(self, missing: int | None, clients: int, at: int, state: State) -> tuple[int, State]:
        """Return the letter of the last of the first `clients` clients, and the state of those before it."""
        if missing == len(self.groups) - 1 and not self._one_sum:
            missing = None
        key, known = (missing, clients, state), self._known_steps
        if key not in known:
            below = self._levels(missing)[clients - 1]
            # The last letters first: so the dataset is the first in order of those with the state.
            steps = ((letter, (state[0] - value,)) for letter, (value,), _ in reversed([*self._letters(at)]))
            known[key] = next(step for step in steps if step[1] in below)
        return known[key]

    def _with_state(self, state: State, missing: int | None) -> Dataset:
        """Return a dataset with a state; a client that is left out has no record."""
        x: list[Record] = [None] * self.bound.n
        self._levels(missing)
        for clients, (client, at) in reversed(list(enumerate(self._clients(missing), start=1))):
            letter, state = self._last_step(missing, clients, at, state)
            x[client] = self.groups[at].letters[letter][0]
        return tuple(x)

    # pairs of neighbours

    def _changed(self, at: int, law_of: Callable[[State], Hashable]) -> Iterator[Change]:
        """Yield, for a client of a group, one change for all pairs of neighbours with the same two laws.

        What matters of all other clients is which laws the letters of the client lead to.
        """
        group, joins = self.groups[at], self._joins
        numbers: dict[Hashable, int] = {}
        laws: dict[int, int] = {}
        rows: dict[tuple[int, ...], tuple[State, int]] = {}
        for state, number in self._levels(at)[-1].items():
            after = joins.after(at, joins.number[state])
            for new in after:
                if new not in laws:
                    laws[new] = numbers.setdefault(law_of(joins.states[new]), len(numbers))
            row = tuple([laws[new] for new in after])
            first, others = rows.get(row, (state, 0))
            rows[row] = first, others + number
        steps = Ways(self.bound, group, self._ways(at))
        found: dict[tuple[int, int], tuple[int, tuple[Record, Record], State, int]] = {}
        for row, (state, number) in rows.items():
            for pair, letter, records, ways in steps.between(row):
                first_letter, first_records, first, size = found.get(pair, (letter, records, state, 0))
                found[pair] = first_letter, first_records, first, size + number * ways * len(group.clients)
        for letter, records, state, size in found.values():
            before, later = (self._joined(state, self.values[at][group.letter_of[record]]) for record in records)
            yield _moved(before, later, at, letter, records, size, state)

    def _sums_changed(self, at: int, moves: MovesOfLetters) -> Iterator[Change]:
        """Yield these changes for one sum: the numbers of ways are coefficients of a product of polynomials."""
        group, others = self.groups[at], self._levels(at)[-1]
        low, numbers = _polynomial([(value, number) for (value,), number in others.items()])
        changes: dict[int, dict[int, tuple[int, Sequence[tuple[Record, Record]]]]] = {}
        for (old, new), ways in moves.items():
            (before,), (later,) = self.values[at][old], self.values[at][new]
            changes.setdefault(later - before, {})[before] = old, ways
        for difference, starts in sorted(changes.items()):
            least, counted = _polynomial([(value, len(ways)) for value, (_, ways) in starts.items()])
            for start, number in enumerate((numbers * counted).coeffs(), start=low + least):
                if number:
                    value = next(value for value in starts if (start - value,) in others)
                    old, ways = starts[value]
                    size = int(number) * len(group.clients)
                    yield _moved((start,), (start + difference,), at, old, ways[0], size, (start - value,))


def _moved(
    before: State, after: State, at: int, letter: int, records: tuple[Record, Record], size: int, others: State
) -> _Move:
    old, new = records
    return _Move(before, after, at, letter, ((old,), (new,)), size, others)


def _polynomial(terms: Sequence[tuple[int, int]]) -> tuple[int, fmpz_poly]:
    """Return the least exponent, and the polynomial of the coefficients from there on."""
    low = min(exponent for exponent, _ in terms)
    coefficients = [0] * (max(exponent for exponent, _ in terms) - low + 1)
    for exponent, coefficient in terms:
        coefficients[exponent - low] += coefficient
    return low, fmpz_poly(coefficients)


def find_states(groups: Sequence[Group], orbits: Orbits, operators: Sequence[str], letters: Letters) -> States | None:
    """Return the states of the aggregates where they are fewer than the counts of letters, else None.

    `letters[g]` are the contributions of group g. None, too, where a contribution is random, or where neighbours differ
    in more than one record.
    """
    if not relation_of(orbits.bound).one_record or any(
        len(letter.weights) > 1 for table in letters for letter in table
    ):
        return None
    values = tuple(tuple(letter.weights[0][0] for letter in table) for table in letters)
    found = States(orbits.bound, orbits.kinds, groups=tuple(groups), operators=tuple(operators), values=values)
    distinct = {value for table in values for value in table}
    if len(distinct) < 3 or not found.fewer(orbits.number):
        return None
    return found
