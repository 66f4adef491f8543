"""Adaptive auditing: a bit is revealed after the decision on it, guessed or not (keinan2025, App. E).

In a given order, a bit is guessed where its larger posterior, given the output and the bits before it, is at least a
threshold. The best order is found by dynamic programming over states of knowledge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod
from typing import TypeAlias

from tightdp.errors import LimitError, ParameterError
from tightdp.exact.field import Number
from tightdp.exact.weights import Joint, add_into, joint_power, joint_times, quotient
from tightdp.exact.whole import Whole
from tightdp.limits.calibrated import AUDIT_STATES
from tightdp.one_run.law import AuditLaw, Group
from tightdp.one_run.stages import Counts, Functions, Outcome, Stage

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
    numbers: Counter[tuple[Group, tuple[int, ...]]] = Counter()
    for placed in law.groups:
        ranks = [rank[client] for client in placed.clients]
        if ranks:
            numbers[placed.group, tuple(sorted(range(len(ranks)), key=ranks.__getitem__))] += 1
    joint: Joint = {0: [1]}
    for (group, local), number in numbers.items():
        joint = joint_times(joint, joint_power(_group_joint(group, local, least), number))
    return joint


def _group_joint(group: Group, order: Sequence[int], least: Number) -> Joint:
    def decided(stage: Stage, state: int) -> Iterator[tuple[Outcome, Joint]]:
        mine = [client for client in order if client in stage.class_of]
        for outcome in stage.outcomes[state]:
            functions = Functions(len(mine))
            f = stage.function(state, outcome, functions, mine)
            yield outcome, _Decided(functions, least).joint(f)

    return group.joint(decided)


class _Decided:
    """The threshold rule on a function of the bits, which are decided on in the order of its variables.

    Weights stand at wrong·(bits + 1) + passed, by the numbers of wrong guesses and of bits that are passed over.
    """

    def __init__(self, functions: Functions, least: Number) -> None:
        self._functions, self._bits = functions, functions.variables
        self._up, self._down = least.as_integer_ratio()
        self._known: dict[tuple[int, int], dict[int, Whole]] = {}

    def joint(self, f: int) -> Joint:
        """Return the weights of (guesses, right), f being the probability of an outcome and the bits."""
        joint: Joint = {}
        for place, weight in self._of(f, 0).items():
            wrong, passed = divmod(place, self._bits + 1)
            guesses = self._bits - passed
            add_into(joint.setdefault(guesses, []), [0] * (guesses - wrong) + [weight])
        return joint

    def _of(self, f: int, at: int) -> dict[int, Whole]:
        """Return the weights from a bit on."""
        functions = self._functions
        if at == self._bits:
            return {0: functions.value[f]}
        if (f, at) not in self._known:
            bits = functions.split(f, at)
            masses = [functions.total(bit, at + 1) for bit in bits]
            guess = int(masses[1] > masses[0])
            steps = [1, 1]
            if masses[guess] * self._down >= sum(masses) * self._up:
                steps = [0 if bit == guess else self._bits + 1 for bit in (0, 1)]
            found = self._known[f, at] = {}
            for bit, mass, step in zip(bits, masses, steps, strict=True):
                for place, weight in self._of(bit, at + 1).items() if mass else ():
                    found[place + step] = found.get(place + step, 0) + weight
        return self._known[f, at]


# the best order

Piece: TypeAlias = tuple[int, Counts, Counts]
"""What is known of one stage: the number of its outcome, and how many zeros and ones were revealed, by class."""


def adaptive_optimum(law: AuditLaw) -> tuple[Number, ...]:
    """Return, for k = 1, ..., n, the largest expected share of right guesses among k, over all adaptive guessers.

    The guesser picks the next bit and whether to guess it, knowing the output and all bits decided on before, and makes
    exactly k guesses. Dynamic programming over states of knowledge: n up to 8 or so, more if clients are alike. Raises
    LimitError.
    """
    search = _Optimum()
    sums: list[Number] = [Fraction(0)] * (law.n + 1)
    for taken in law.every_output():
        steps = [step for steps in taken for step in steps]
        probability = prod((quotient(step[2].weight, step[0].total) for step in steps), start=Fraction(1))
        pieces = [search.piece(*step) for step in steps if step[0].classes]
        for k, value in enumerate(search.value(tuple(sorted(pieces)))):
            sums[k] += probability * value
    return tuple(value / k for k, value in enumerate(sums) if k)


class _Optimum:
    """The search; outcomes of stages are numbered, and a state of knowledge is a sorted tuple of pieces."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Stage, int, int], int] = {}
        self._sizes: list[list[int]] = []
        self._masses: list[dict[tuple[Counts, Counts], Whole]] = []
        self._tables: list[dict[Counts, Whole]] = []
        self._best: dict[tuple[Piece, ...], list[Number]] = {}

    def piece(self, stage: Stage, state: int, outcome: Outcome) -> Piece:
        """Return what is known where no bit is revealed."""
        key = stage, state, outcome.code
        if key not in self._numbers:
            self._numbers[key] = len(self._sizes)
            self._sizes.append([len(members) for members in stage.classes])
            self._tables.append({counts: given.get(outcome.code, 0) for counts, given in stage.table(state).items()})
            self._masses.append({})
        none = (0,) * len(stage.classes)
        return self._numbers[key], none, none

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

    def value(self, pieces: tuple[Piece, ...]) -> list[Number]:
        """Return the largest expected number of right guesses for 0, 1, 2, ... guesses among the bits not revealed."""
        found = self._best.get(pieces)
        if found is not None:
            return found
        if len(self._best) > AUDIT_STATES:
            raise LimitError(
                f"the search for the best adaptive guesser has more than {AUDIT_STATES:,} states", "use fewer records"
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
            (quotient(mass, total), self.value(tuple(sorted((*pieces[:at], branch, *pieces[at + 1 :])))))
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
