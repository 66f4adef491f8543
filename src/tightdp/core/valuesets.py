"""The values that an operation can take, from those of its operands.

A value set is a sequence of distinct values: ascending where all are numbers (a `range` where they are consecutive
integers), else in the order in which they were met. On ranges it follows from the ends, without a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from tightdp.core.operators import PLAIN_NUMBERS, REFUSED, Value, is_number, operation
from tightdp.limits.calibrated import OPERATION_COMBINATIONS, TABLE_ENTRIES


class TooManyValues(Exception):
    """An operation would tabulate more than `OPERATION_COMBINATIONS` combinations; `size` says how many."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class Places(Mapping[Any, int]):
    """The position of every integer of a range of step 1, without a table."""

    def __init__(self, values: range) -> None:
        self._values = values

    def __getitem__(self, value: object) -> int:
        if isinstance(value, Fraction) and value.denominator == 1:
            value = value.numerator
        if not isinstance(value, int) or value not in self._values:
            raise KeyError(value)
        return int(value) - self._values.start

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, Fraction)) and value.denominator == 1 and int(value) in self._values

    def __iter__(self) -> Iterator[int]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def index_of(values: Sequence[Value]) -> Mapping[Value, int]:
    """Return the place of every one of some distinct values."""
    return Places(values) if isinstance(values, range) else {value: place for place, value in enumerate(values)}


class Progression(Sequence[Value]):
    """Numbers at equal distances, ascending, without a table."""

    def __init__(self, start: Fraction, step: Fraction, length: int) -> None:
        self._start, self._step, self._length = start, step, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, at: int) -> int | Fraction:  # type: ignore[override]
        if not -self._length <= at < self._length:
            raise IndexError(at)
        value = self._start + self._step * (at % self._length)
        return value.numerator if value.denominator == 1 else value


def _linear(operator: str, operands: Sequence[Sequence[object]]) -> range | Progression | None:
    """Return the values of a linear function of very many numbers at equal distances; None where it is another one."""
    at = next(at for at, values in enumerate(operands) if len(values) == max(map(len, operands)))
    values, others = operands[at], [part for place, part in enumerate(operands) if place != at]
    known = [part[0] for part in others]
    if not isinstance(values, (Progression, range)) or any(len(part) > 1 for part in others):
        return None
    numbers = [number for number in known if isinstance(number, (int, Fraction))]
    if len(numbers) < len(known):
        return None
    match operator, numbers:
        case "add", (other,):
            factor, constant = Fraction(1), other
        case "sub", (other,):
            factor, constant = (Fraction(1), -other) if at == 0 else (Fraction(-1), other)
        case "mul", (other,) if other:
            factor, constant = Fraction(other), 0
        case "div", (other,) if other and at == 0:
            factor, constant = 1 / Fraction(other), 0
        case "neg", ():
            factor, constant = Fraction(-1), 0
        case _:
            return None
    first, second, last = values[0], values[1], values[-1]
    step, start = (second - first) * abs(factor), (first if factor > 0 else last) * factor + constant
    if step == 1 and start.denominator == 1:
        return range(int(start), int(start) + len(values))
    return Progression(Fraction(start), Fraction(step), len(values))


def ordered(values: Sequence[Value]) -> Sequence[Value]:
    """Return distinct values in canonical order.

    Where a truth value and an equal integer meet, the integer stays.
    """
    if isinstance(values, range) and values.step == 1 and len(values) > 2:
        return values
    kinds = set(map(type, values))
    if {bool, int} <= kinds:
        values = [*(value for value in values if not isinstance(value, bool)), *values]
    distinct = list(dict.fromkeys(values))
    if not kinds <= {bool, int, Fraction} and not all(is_number(value) for value in distinct):
        return tuple(distinct)
    distinct.sort()
    if len(distinct) > 2 and all(type(value) is int for value in distinct):
        low, high = distinct[0], distinct[-1]
        if high - low + 1 == len(distinct):
            return range(low, high + 1)
    return tuple(distinct)


def united(parts: Sequence[Sequence[Value]]) -> Sequence[Value]:
    """Return the union of value sets; where one of them holds all the others, it is that one."""
    parts = list({id(part): part for part in parts}.values())
    largest = max(parts, key=len)
    if isinstance(largest, range):
        places = Places(largest)
        if all(part is largest or all(value in places for value in _ends(part)) for part in parts):
            return largest
        if all(contiguous(part) for part in parts):
            low, high = min(int(part[0]) for part in parts), max(int(part[-1]) for part in parts)
            if sum(map(len, parts)) > high - low and _touching(parts):
                return range(low, high + 1)
    elif len(parts) > 1 and not any(isinstance(value, bool) for value in largest):
        known = set(largest)
        if all(part is largest or known.issuperset(part) for part in parts):
            return largest
    return ordered([value for part in parts for value in part])


def _ends(part: Sequence[Value]) -> Sequence[Value]:
    return (part[0], part[-1]) if isinstance(part, range) else part


def _touching(parts: Sequence[Sequence[Value]]) -> bool:
    reach = None
    for low, high in sorted((int(part[0]), int(part[-1])) for part in parts):
        if reach is not None and low > reach + 1:
            return False
        reach = high if reach is None else max(reach, high)
    return True


def contiguous(values: Sequence[Value]) -> bool:
    """Whether values are consecutive integers (False and True count as 0 and 1)."""
    return isinstance(values, range) or (
        all(isinstance(value, int) for value in values) and values[-1] - values[0] + 1 == len(values)
    )


def sums(left: Sequence[Value], right: Sequence[Value]) -> Sequence[Value]:
    """Return the values of a sum of two numbers."""
    if contiguous(left) and contiguous(right):
        return ordered(range(int(left[0]) + int(right[0]), int(left[-1]) + int(right[-1]) + 1))
    if len(left) * len(right) > TABLE_ENTRIES and (found := _linear("add", (left, right))) is not None:
        return found
    if len(left) * len(right) > OPERATION_COMBINATIONS:
        raise TooManyValues(len(left) * len(right))
    return ordered([a + b for a in left for b in right])


def combined(
    operator: str, operands: Sequence[Sequence[Value]], watch: Callable[[], None] = lambda: None
) -> tuple[Sequence[Value], bool]:
    """Return the values of an operation, and whether Python refuses some combination of the operands' values."""
    size = 1
    for values in operands:
        size *= len(values)
    if size > 8:
        short = _by_ends(operator, operands)
        if short is not None:
            return short, False
    if size > TABLE_ENTRIES and (found := _linear(operator, operands)) is not None:
        return found, False
    if size > OPERATION_COMBINATIONS:
        raise TooManyValues(size)
    function, results, refused = operation(operator), [], False
    for at, combination in enumerate(product(*operands)):
        if at % TABLE_ENTRIES == 0:
            watch()
        try:
            results.append(function(*combination))
        except REFUSED:
            refused = True
    return ordered(results), refused


_COMPARISONS: dict[str, Callable[[Any, Any, Any, Any], tuple[bool, bool]]] = {
    "lt": lambda low, high, least, most: (high >= least, low < most),
    "le": lambda low, high, least, most: (high > least, low <= most),
    "gt": lambda low, high, least, most: (low <= most, high > least),
    "ge": lambda low, high, least, most: (low < most, high >= least),
}
"""Whether a comparison of low..high with least..most can be false, and whether it can be true."""


def _by_ends(operator: str, operands: Sequence[Sequence[Value]]) -> Sequence[Value] | None:
    """Return the values of an operation on numbers where the ends of the operands tell, else None."""
    if not all(
        isinstance(values, (range, Progression)) or all(isinstance(value, PLAIN_NUMBERS) for value in values)
        for values in operands
    ):
        return None
    if operator in ("eq", "ne"):
        return _equality(operator, *operands)
    ends = [end for values in operands for end in (values[0], values[-1])]
    if operator in _COMPARISONS:
        possible = _COMPARISONS[operator](*ends)
        return tuple(value for value in (False, True) if possible[value])
    if operator in ("not", "bool"):
        zero = any(0 in values if isinstance(values, range) else 0 in set(values) for values in operands)
        return (False, True) if zero else ((operator == "bool"),)
    if not all(contiguous(values) for values in operands):
        return None
    low, high = int(ends[0]), int(ends[1])
    match operator, len(operands):
        case "neg", 1:
            return ordered(range(-high, -low + 1))
        case (("pos" | "int" | "floor" | "ceil"), 1):
            return ordered(range(low, high + 1))
        case "abs", 1:
            return ordered(range(max(low, -high, 0), max(abs(low), abs(high)) + 1))
        case "sub", 2:
            return ordered(range(low - int(ends[3]), high - int(ends[2]) + 1))
        case "mod", 2 if len(operands[1]) == 1 and 0 < ends[2] <= len(operands[0]):
            return ordered(range(int(ends[2])))
        case "floordiv", 2 if len(operands[1]) == 1 and ends[2] > 0:
            return ordered(range(low // int(ends[2]), high // int(ends[2]) + 1))
    return None


def _equality(operator: str, left: Sequence[Value], right: Sequence[Value]) -> Sequence[Value]:
    few, many = sorted((left, right), key=len)
    places = Places(many) if isinstance(many, range) else set(many)
    meet = any(value in places for value in few)
    differ = len(many) > 1 or not meet
    possible = (differ, meet) if operator == "eq" else (meet, differ)
    return tuple(value for value in (False, True) if possible[value])
