"""One stage of an adaptive audit: the bits are decided on in a given order, and each is revealed after that.

A bit is guessed where its larger posterior, given the outcome and the bits before it, is at least a threshold. Weights
by numbers of abstentions and of wrong guesses are kept as the digits of one long integer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb

from tightdp.exact.polynomial import Joint, add_into, unpacked
from tightdp.exact.whole import plain
from tightdp.one_run.functions import Functions
from tightdp.one_run.stage import Outcome, Stage

__all__ = ["stage_joints"]

MAX_KEPT = 1 << 28
"""How many bits of digits are kept from one outcome for the next."""


def stage_joints(stage: Stage, state: int, order: Sequence[int], least: Fraction) -> Iterator[tuple[Outcome, Joint]]:
    """Yield every outcome of a stage with the weights of (guesses, right)."""
    if len(stage.classes) == 1 and len(order) > 1:
        yield from _alike(stage, state, len(order), least)
        return
    for outcome in stage.outcomes[state]:
        functions = Functions(len(order))
        f = stage.function(state, outcome, functions, order)
        yield outcome, _OfFunctions(functions, least, plain(functions.total(f))).joint(f)


def _alike(stage: Stage, state: int, clients: int, least: Fraction) -> Iterator[tuple[Outcome, Joint]]:
    """Yield the same where all clients are interchangeable, so that only the number of ones matters."""
    table, _ = stage.table(state)
    rows = [
        tuple(plain(table[ones,].get(outcome.code, 0)) for ones in range(clients + 1))
        for outcome in stage.outcomes[state]
    ]
    heaviest = max(sum(comb(clients, ones) * weight for ones, weight in enumerate(row)) for row in rows)
    counts = _OfCounts(clients, least, heaviest)
    for outcome, row in zip(stage.outcomes[state], rows, strict=True):
        yield outcome, counts.joint(row)


class _Digits:
    """The threshold rule, and the layout of weights in one integer."""

    def __init__(self, bits: int, least: Fraction, heaviest: int) -> None:
        self.bits = bits
        self._up, self._down = least.as_integer_ratio()
        # No bit is passed over at threshold 1/2, no guess is wrong at 1.
        self._places = 1 if least == Fraction(1, 2) else bits + 1
        self._size = heaviest.bit_length() // 8 + 1

    def decided(self, masses: tuple[int, int], digits: tuple[int, int]) -> int:
        """Return the digits before a bit is decided on, from the masses and digits where it is 0 and where it is 1."""
        guess = int(masses[1] > masses[0])
        width = 8 * self._size
        if masses[guess] * self._down >= sum(masses) * self._up:
            return digits[guess] + (digits[1 - guess] << self._places * width)
        return sum(digits) << width

    def read(self, number: int) -> Joint:
        """Return the weights of (guesses, right)."""
        joint: Joint = {}
        length = number.bit_length() // (8 * self._size) + 1
        for place, weight in enumerate(unpacked(number, self._size, length)):
            if weight:
                wrong, passed = divmod(place, self._places)
                guesses = self.bits - passed
                add_into(joint.setdefault(guesses, []), [0] * (guesses - wrong) + [weight])
        return joint


class _OfFunctions(_Digits):
    """The rule on functions of the bits, in the order in which they are decided on."""

    def __init__(self, functions: Functions, least: Fraction, heaviest: int) -> None:
        super().__init__(functions.variables, least, heaviest)
        self._functions = functions
        self._known: dict[tuple[int, int], int] = {}

    def joint(self, f: int) -> Joint:
        """Return the weights of (guesses, right), f being the probability of an outcome and the bits."""
        return self.read(self._of(f, 0))

    def _of(self, f: int, at: int) -> int:
        functions = self._functions
        if at == self.bits:
            return plain(functions.value[f])
        found = self._known.get((f, at))
        if found is None:
            low, high = functions.split(f, at)
            masses = plain(functions.total(low, at + 1)), plain(functions.total(high, at + 1))
            digits = (self._of(low, at + 1) if masses[0] else 0, self._of(high, at + 1) if masses[1] else 0)
            found = self._known[f, at] = self.decided(masses, digits)
        return found


class _OfCounts(_Digits):
    """The rule on functions of the number of ones: rows of weights for 0, 1, 2, ... ones among the bits left.

    A row is kept without the zeros at its ends, as its number, and the number of ones that its first weight is for.
    What one outcome and another leave to decide is often the same, and is looked at once.
    """

    def __init__(self, bits: int, least: Fraction, heaviest: int) -> None:
        super().__init__(bits, least, heaviest)
        self._rows: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._cut: dict[tuple[int, bool], tuple[int, int] | None] = {}
        self._known: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._kept = 0

    def joint(self, row: Sequence[int]) -> Joint:
        """Return the weights of (guesses, right) for the weights of an outcome by number of ones."""
        if self._kept > MAX_KEPT:
            self._known.clear()
            self._kept = 0
        found = self._stripped(row)
        return {} if found is None else self.read(self._of(self.bits, *found)[1])

    def _stripped(self, row: Sequence[int]) -> tuple[int, int] | None:
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

    def _of(self, left: int, row: int, first: int) -> tuple[int, int]:
        """Return the sum over all values of the bits left, and the digits."""
        if not left:
            return self._rows[row][0], self._rows[row][0]
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
            low, low_digits = (0, 0) if zero is None else self._of(left - 1, *zero)
            high, high_digits = (0, 0) if one is None else self._of(left - 1, *one)
            found = low + high, self.decided((low, high), (low_digits, high_digits))
            self._known[left, row, first] = found
            self._kept += found[1].bit_length()
        return found
