"""Adaptive auditing: a bit is revealed after the decision on it, guessed or not (keinan2025, App. E)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import TypeAlias

from tightdp.errors import LimitError, ParameterError
from tightdp.exact.field import Number
from tightdp.exact.polynomial import Joint, add_into, joint_power, joint_times
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole
from tightdp.one_run.law import AuditLaw, Group
from tightdp.one_run.revealed import stage_joints
from tightdp.one_run.stage import Counts, Outcome, Stage, Table

__all__ = ["adaptive_joint", "adaptive_optimum", "read_order"]

_ONE: Number = Fraction(1)

MAX_STATES = 300_000
"""How many states of knowledge the search for the best order may go through."""

# a given order and threshold


def read_order(n: int, order: Sequence[int] | None) -> tuple[int, ...]:
    """Return the order in which bits are decided on, checked; None is 0, 1, ..., n-1."""
    if order is None:
        return tuple(range(n))
    if not isinstance(order, Sequence) or sorted(map(repr, order)) != sorted(map(repr, range(n))):
        raise ParameterError(f"the order {order!r} is no order of the clients", f"list 0 to {n - 1}, each once")
    return tuple(order)


def adaptive_joint(law: AuditLaw, order: Sequence[int], least: Number) -> Joint:
    """Return the weights of (guesses, right) where a bit is guessed if its larger posterior is at least `least`.

    The posterior is given the output and the bits before it in the order; ties are guessed 0.
    """
    rank = {client: at for at, client in enumerate(order)}
    numbers: dict[tuple[Group, tuple[int, ...]], int] = {}
    for placed in law.groups:
        if placed.clients:
            local = tuple(sorted(range(len(placed.clients)), key=lambda at, c=placed.clients: rank[c[at]]))  # type: ignore[misc]
            numbers[placed.group, local] = numbers.get((placed.group, local), 0) + 1
    joint: Joint = {0: [1]}
    for (group, local), number in numbers.items():
        joint = joint_times(joint, joint_power(_group_joint(group, local, least), number))
    return joint


def _group_joint(group: Group, order: Sequence[int], least: Number) -> Joint:
    reached: dict[int, Joint] = {group.start: {0: [1]}}
    for stage in group.stages:
        mine = [client for client in order if client in stage.class_of]
        after: dict[int, Joint] = {}
        for state, before in reached.items():
            for outcome, step in stage_joints(stage, state, mine, least):
                _merge(after.setdefault(outcome.state, {}), joint_times(before, step))
        reached = after
    result: Joint = {}
    for joint in reached.values():
        _merge(result, joint)
    return result


def _merge(target: Joint, other: Joint) -> None:
    """Add the weights of `other` to `target`."""
    for r, weights in other.items():
        add_into(target.setdefault(r, []), weights)


# the best order

Piece: TypeAlias = tuple[int, Counts, Counts]
"""What is known of one stage: the number of its outcome, and how many zeros and ones were revealed, by class."""


def adaptive_optimum(law: AuditLaw) -> tuple[Number, ...]:
    """Return, for k = 1, ..., n, the largest expected share of right guesses among k, over all adaptive guessers.

    The guesser picks the next bit and whether to guess it, knowing the output and all bits decided on before, and makes
    exactly k guesses. Dynamic programming over states of knowledge: n up to 8 or so, more if clients are alike. Raises
    LimitError.
    """
    return _Optimum(law).shares()


class _Optimum:
    """The search; outcomes of stages are numbered, and a state of knowledge is a sorted tuple of pieces."""

    def __init__(self, law: AuditLaw) -> None:
        self._law = law
        self._sizes: list[list[int]] = []
        self._masses: list[dict[tuple[Counts, Counts], Whole]] = []
        self._tables: list[dict[Counts, Whole]] = []
        self._best: dict[tuple[Piece, ...], list[Number]] = {}

    def shares(self) -> tuple[Number, ...]:
        sums: list[Number] = [Fraction(0)] * (self._law.n + 1)
        for pieces, probability in self._every_output():
            for k, value in enumerate(self._value(tuple(sorted(pieces)))):
                sums[k] += probability * value
        return tuple(value / k for k, value in enumerate(sums) if k)

    def _every_output(self) -> Iterator[tuple[list[Piece], Number]]:
        ways: list[list[tuple[list[Piece], Number]]] = []
        known: dict[Group, list[tuple[list[Piece], Number]]] = {}
        for placed in self._law.groups:
            if placed.clients:
                if placed.group not in known:
                    known[placed.group] = self._outcomes(placed.group)
                ways.append(known[placed.group])
        if prod(map(len, ways)) > MAX_STATES:
            raise LimitError("there are too many outputs to search for the best adaptive guesser", "use fewer records")
        for taken in product(*ways):
            yield (
                [piece for pieces, _ in taken for piece in pieces],
                prod((p for _, p in taken), start=_ONE),
            )

    def _outcomes(self, group: Group) -> list[tuple[list[Piece], Number]]:
        """Return every output of a group as pieces of which no bit is revealed, with its probability."""
        ways: list[tuple[int, list[Piece], Number]] = [(group.start, [], _ONE)]
        for stage in group.stages:
            pieces: dict[int, list[tuple[Outcome, list[Piece]]]] = {}
            for state in {state for state, _, _ in ways}:
                table = stage.table(state)[0] if stage.classes else {}
                pieces[state] = [(outcome, self._piece(stage, outcome, table)) for outcome in stage.outcomes[state]]
            ways = [
                (outcome.state, [*before, *new], probability * quotient(outcome.weight, stage.total))
                for state, before, probability in ways
                for outcome, new in pieces[state]
            ]
        return [(pieces, probability) for _, pieces, probability in ways]

    def _piece(self, stage: Stage, outcome: Outcome, table: Table) -> list[Piece]:
        if not stage.classes:
            return []
        self._sizes.append([len(members) for members in stage.classes])
        self._tables.append({counts: weights.get(outcome.code, 0) for counts, weights in table.items()})
        self._masses.append({})
        none = (0,) * len(stage.classes)
        return [(len(self._sizes) - 1, none, none)]

    def _mass(self, number: int, zeros: Counts, ones: Counts) -> Whole:
        """Return the weight of the outcome given the bits, summed over all bits that agree with those revealed."""
        known = self._masses[number]
        found = known.get((zeros, ones))
        if found is None:
            sizes = self._sizes[number]
            free = next((at for at, size in enumerate(sizes) if zeros[at] + ones[at] < size), None)
            if free is None:
                found = self._tables[number].get(ones, 0)
            else:
                found = self._mass(number, _more(zeros, free), ones) + self._mass(number, zeros, _more(ones, free))
            known[zeros, ones] = found
        return found

    def _value(self, pieces: tuple[Piece, ...]) -> list[Number]:
        """Return the largest expected number of right guesses for 0, 1, 2, ... guesses among the bits not revealed."""
        found = self._best.get(pieces)
        if found is not None:
            return found
        if len(self._best) > MAX_STATES:
            raise LimitError(
                f"the search for the best adaptive guesser has more than {MAX_STATES:,} states",
                "use fewer records",
            )
        best: list[Number] = [Fraction(0)]
        for at, (number, zeros, ones) in enumerate(pieces):
            for kind, size in enumerate(self._sizes[number]):
                if zeros[kind] + ones[kind] < size:
                    self._consider(best, pieces, at, kind)
        self._best[pieces] = best
        return best

    def _consider(self, best: list[Number], pieces: tuple[Piece, ...], at: int, kind: int) -> None:
        """Improve the values by deciding next on a bit of one class of one piece."""
        number, zeros, ones = pieces[at]
        branches = ((number, _more(zeros, kind), ones), (number, zeros, _more(ones, kind)))
        masses = [self._mass(*branch) for branch in branches]
        total = sum(masses)
        values = [
            (quotient(mass, total), self._value(tuple(sorted((*pieces[:at], branch, *pieces[at + 1 :])))))
            for mass, branch in zip(masses, branches, strict=True)
            if mass
        ]
        chance = quotient(max(masses), total)
        most = len(values[0][1])
        best.extend([Fraction(0)] * (most + 1 - len(best)))
        for left in range(1, most + 1):
            guessed = chance + sum(p * value[left - 1] for p, value in values)
            passed = sum((p * value[left] for p, value in values), Fraction(0)) if left < most else Fraction(0)
            best[left] = max(best[left], guessed, passed)


def _more(counts: Counts, at: int) -> Counts:
    return (*counts[:at], counts[at] + 1, *counts[at + 1 :])
