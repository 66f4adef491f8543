"""One stage of an adaptive audit: the bits are decided on in a given order, each revealed after its decision.

A bit is guessed where its larger posterior, given the outcome and the bits before it, is at least a threshold. Weights
by numbers of abstentions and of wrong guesses are kept as the digits of one long integer where they are integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any, Protocol

from tightdp.exact.field import Number
from tightdp.exact.polynomial import Joint, add_into, unpacked
from tightdp.exact.whole import Whole
from tightdp.one_run.functions import Functions
from tightdp.one_run.stage import Outcome, Stage

__all__ = ["stage_joints"]

MAX_KEPT = 1 << 28
"""How many bits of digits are kept from one outcome for the next."""


def stage_joints(stage: Stage, state: int, order: Sequence[int], least: Number) -> Iterator[tuple[Outcome, Joint]]:
    """Yield every outcome of a stage with the weights of (guesses, right)."""
    if len(stage.classes) == 1 and len(order) > 1:
        yield from _alike(stage, state, len(order), least)
        return
    for outcome in stage.outcomes[state]:
        functions = Functions(len(order))
        f = stage.function(state, outcome, functions, order)
        yield outcome, _OfFunctions(functions, least, functions.total(f)).joint(f)


def _alike(stage: Stage, state: int, clients: int, least: Number) -> Iterator[tuple[Outcome, Joint]]:
    """Yield the outcomes and weights where all clients are interchangeable, so that only the number of ones matters."""
    table, _ = stage.table(state)
    rows = [
        tuple(table[ones,].get(outcome.code, 0) for ones in range(clients + 1)) for outcome in stage.outcomes[state]
    ]
    heaviest = max(sum(comb(clients, ones) * weight for ones, weight in enumerate(row)) for row in rows)
    counts = _OfCounts(clients, least, _packing([weight for row in rows for weight in row], heaviest))
    for outcome, row in zip(stage.outcomes[state], rows, strict=True):
        yield outcome, counts.joint(row)


class _Packing(Protocol):
    """An encoding of weights, by place, in one number that can be added as a whole."""

    def packed(self, weight: Any) -> Any:
        """Return the number that holds a weight, at place 0."""

    def added(self, one: Any, other: Any, places: int) -> Any:
        """Return the sum of a number and another one whose weights are moved up by `places`."""

    def shifted(self, number: Any) -> Any:
        """Return a number with all weights moved up one place."""

    def weights(self, number: Any) -> Iterable[tuple[int, Whole]]:
        """Yield the weights with their places."""

    def size(self, number: Any) -> int:
        """Return the size of a number in bits."""


@dataclass(frozen=True)
class _InIntegers:
    """Digits of `width` bytes."""

    width: int

    def packed(self, weight: int) -> int:
        return weight

    def added(self, one: int, other: int, places: int) -> int:
        return one + (other << 8 * self.width * places)

    def shifted(self, number: int) -> int:
        return number << 8 * self.width

    def weights(self, number: int) -> Iterable[tuple[int, int]]:
        return enumerate(unpacked(number, self.width, number.bit_length() // (8 * self.width) + 1))

    def size(self, number: int) -> int:
        return number.bit_length()


class _InTables:
    """Weights with e^q or an unknown, by place."""

    def packed(self, weight: Whole) -> dict[int, Whole]:
        return {0: weight} if weight else {}

    def added(self, one: dict[int, Whole], other: dict[int, Whole], places: int) -> dict[int, Whole]:
        found = dict(one)
        for place, weight in other.items():
            found[place + places] = found.get(place + places, 0) + weight
        return found

    def shifted(self, number: dict[int, Whole]) -> dict[int, Whole]:
        return {place + 1: weight for place, weight in number.items()}

    def weights(self, number: dict[int, Whole]) -> Iterable[tuple[int, Whole]]:
        return number.items()

    def size(self, number: dict[int, Whole]) -> int:
        return sum(weight.bit_length() for weight in number.values())


def _packing(weights: Sequence[Whole], heaviest: Whole) -> _Packing:
    """Return an encoding for weights whose sums are at most `heaviest`."""
    if isinstance(heaviest, int) and all(isinstance(weight, int) for weight in weights):
        return _InIntegers(heaviest.bit_length() // 8 + 1)
    return _InTables()


class _Digits:
    """The threshold rule, on weights encoded in one number."""

    def __init__(self, bits: int, least: Number, packing: _Packing) -> None:
        self.bits = bits
        self.packing = packing
        self._up, self._down = least.as_integer_ratio()
        # At threshold 1/2 there are no abstentions, at 1 no wrong guesses.
        self._places = 1 if least == Fraction(1, 2) else bits + 1

    def decided(self, masses: tuple[Whole, Whole], digits: tuple[Any, Any]) -> Any:
        """Return the digits before a bit is decided on, from the masses and digits where it is 0 and where it is 1."""
        guess = int(masses[1] > masses[0])
        if masses[guess] * self._down >= (masses[0] + masses[1]) * self._up:
            return self.packing.added(digits[guess], digits[1 - guess], self._places)
        return self.packing.shifted(self.packing.added(*digits, 0))

    def read(self, number: Any) -> Joint:
        """Return the weights of (guesses, right)."""
        joint: Joint = {}
        for place, weight in self.packing.weights(number):
            if weight:
                wrong, passed = divmod(place, self._places)
                guesses = self.bits - passed
                add_into(joint.setdefault(guesses, []), [0] * (guesses - wrong) + [weight])
        return joint


class _OfFunctions(_Digits):
    """The rule on functions of the bits, in the order in which they are decided on."""

    def __init__(self, functions: Functions, least: Number, heaviest: Whole) -> None:
        super().__init__(functions.variables, least, _packing(functions.value, heaviest))
        self._functions = functions
        self._known: dict[tuple[int, int], Any] = {}

    def joint(self, f: int) -> Joint:
        """Return the weights of (guesses, right), f being the probability of an outcome and the bits."""
        return self.read(self._of(f, 0))

    def _of(self, f: int, at: int) -> Any:
        functions = self._functions
        if at == self.bits:
            return self.packing.packed(functions.value[f])
        found = self._known.get((f, at))
        if found is None:
            low, high = functions.split(f, at)
            masses = functions.total(low, at + 1), functions.total(high, at + 1)
            none = self.packing.packed(0)
            digits = (self._of(low, at + 1) if masses[0] else none, self._of(high, at + 1) if masses[1] else none)
            found = self._known[f, at] = self.decided(masses, digits)
        return found


class _OfCounts(_Digits):
    """The rule on functions of the number of ones: rows of weights for 0, 1, 2, ... ones among the bits left.

    A row is kept without the zeros at its ends, as its number, and the number of ones of its first weight. Different
    outcomes often leave the same subproblem, which is solved once.
    """

    def __init__(self, bits: int, least: Number, packing: _Packing) -> None:
        super().__init__(bits, least, packing)
        self._rows: list[tuple[Whole, ...]] = []
        self._numbers: dict[tuple[Whole, ...], int] = {}
        self._cut: dict[tuple[int, bool], tuple[int, int] | None] = {}
        self._known: dict[tuple[int, int, int], tuple[Whole, Any]] = {}
        self._kept = 0

    def joint(self, row: Sequence[Whole]) -> Joint:
        """Return the weights of (guesses, right) for the weights of an outcome by number of ones."""
        if self._kept > MAX_KEPT:
            self._known.clear()
            self._kept = 0
        found = self._stripped(row)
        return {} if found is None else self.read(self._of(self.bits, *found)[1])

    def _stripped(self, row: Sequence[Whole]) -> tuple[int, int] | None:
        """Return the number of a row and how many zeros stood before it; None where all are zero."""
        weighty = [at for at, weight in enumerate(row) if weight]
        if not weighty:
            return None
        kept = tuple(row[weighty[0] : weighty[-1] + 1])
        number = self._numbers.setdefault(kept, len(self._rows))
        if number == len(self._rows):
            self._rows.append(kept)
        return number, weighty[0]

    def _without(self, row: int, last: bool) -> tuple[int, int] | None:
        """Return a row without its last weight, or without its first, which a zero replaces."""
        key = row, last
        if key not in self._cut:
            weights = self._rows[row]
            self._cut[key] = self._stripped(weights[:-1] if last else (0, *weights[1:]))
        return self._cut[key]

    def _of(self, left: int, row: int, first: int) -> tuple[Whole, Any]:
        """Return the sum over all values of the bits left, and the digits."""
        if not left:
            return self._rows[row][0], self.packing.packed(self._rows[row][0])
        found = self._known.get((left, row, first))
        if found is None:
            zero: tuple[int, int] | None = (row, first)
            if first + len(self._rows[row]) > left:
                cut = self._without(row, True)
                zero = None if cut is None else (cut[0], first + cut[1])
            one: tuple[int, int] | None = (row, first - 1)
            if not first:
                cut = self._without(row, False)
                one = None if cut is None else (cut[0], cut[1] - 1)
            none = 0, self.packing.packed(0)
            low, low_digits = none if zero is None else self._of(left - 1, *zero)
            high, high_digits = none if one is None else self._of(left - 1, *one)
            found = low + high, self.decided((low, high), (low_digits, high_digits))
            self._known[left, row, first] = found
            self._kept += self.packing.size(found[1])
        return found
