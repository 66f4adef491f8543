"""Numbers that are computed from one draw of `random()`, k / 2^bits, in doubles as the machine computes them.

What such a number is for one k, it is asked by computing it. For which k it is the same is found by halving: on a range
of k, from the least and the greatest that every operation gives there. Operations of IEEE 754 round correctly, so that
where an operation is monotone, so is what it computes, and the values at the ends are these. Of libm and numpy it is
taken that exponentials, logarithms and the like are computed within 4 units in the last place: ranges are wider by 8.
Where a range does not tell, it is halved, at last into single k. So nothing depends on what is not computed but that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from tightdp.core.nodes import Expr
from tightdp.core.operators import REFUSED, Value, operation
from tightdp.limits.calibrated import DOUBLE_EVALUATIONS, TABLE_ENTRIES

_ULPS = 8


@dataclass(frozen=True, eq=False)
class Double:
    """A number that is computed from draw number `draw` of `random()`: an operation, or the draw itself (no name).

    Operands are other such numbers, nodes, and plain values. The operation "case" has a condition, and what the number
    is where it does not hold, and where it does; "raises" is what Python says where the number cannot be computed.
    """

    draw: int
    name: str = ""
    operands: tuple[Value, ...] = ()


class Undecided(Exception):
    """Halving comes to no end, or finds too many values."""


@dataclass(frozen=True)
class Raised:
    """What stands for a value where there is none: what Python raises, or that it is not a number."""

    text: str


Ends = tuple[Value, Value] | Raised | None
"""The least and the greatest of some values; that there are none; or that neither is known."""
Piece = tuple[int, int, Value]
"""The first and the last of some consecutive k, and the value that they have in common."""

_EXACT = {
    "add", "sub", "mul", "neg", "pos", "float", "int", "floor", "ceil", "round", "trunc", "rint", "min", "max", "sqrt",
    "subtract", "multiply", "negative", "positive", "maximum", "minimum", "fmax", "fmin", "floordiv", "floor_divide",
    "sign", "div", "true_divide", "divide",
}  # fmt: skip
"""Operations that are monotone in every operand, and round correctly (a divisor must not be near 0)."""
_NEAR = {
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sinh", "tanh", "arctan", "atan", "asinh", "arcsinh",
    "cbrt", "arcsin", "asin", "erf",
}  # fmt: skip
"""Increasing functions that are computed within 4 units in the last place."""
_WAVES = {"sin", "cos"}
_OTHERS = {
    "", "case", "raises", "abs", "absolute", "fabs", "square", "pow", "power", "float_power", "mod", "remainder",
    "copysign", "isfinite", "isinf", "isnan", "settle",
}  # fmt: skip
_DIVISIONS = {"floordiv", "floor_divide", "div", "true_divide", "divide", "mod", "remainder"}
_TRUTHS = {"bool", "not", "logical_not", "logical_and", "logical_or", "logical_xor"}
_ORDER = {"lt", "le", "gt", "ge", "less", "less_equal", "greater", "greater_equal"}
_SAME = {"eq", "ne", "equal", "not_equal"}
BOOLEAN = {
    *_ORDER, *_SAME, "bool", "not", "isfinite", "isinf", "isnan", "logical_not", "logical_and",
    "logical_or", "logical_xor",
}  # fmt: skip
"""Operations whose values are truth values."""
FOLLOWED = _EXACT | _NEAR | _WAVES | _OTHERS | _TRUTHS | _ORDER | _SAME
"""Operations of which the least and the greatest value on a range is known."""
SAFE = {
    "add", "sub", "mul", "neg", "pos", "abs", "min", "max", "case", "float", "subtract", "multiply", "negative",
    "absolute", "maximum", "minimum", "fabs", "square", "sign", "copysign", *_ORDER, *_SAME,
}  # fmt: skip
"""Operations that raise nothing on floats."""


@lru_cache(4096)
def base_of(name: str) -> str:
    """Return the name of an operation without where it comes from and the types that it is for."""
    words = name.split()
    return words[1] if words[0] in ("float", "math", "numpy") and len(words) > 1 else words[0]


class Tape:
    """The operations of a number in order, each once."""

    def __init__(self, tree: Double, bits: int = 53) -> None:
        self._scale = 2.0**-bits
        self.nodes: list[Expr] = []
        self._slots: dict[int, int] = {}
        self._steps: list[tuple[str, Callable[..., Value] | None, tuple[tuple[bool, Value], ...]]] = []
        self._places: dict[int, int] = {}
        self._add(tree)

    def _add(self, tree: Double) -> None:
        pending = [tree]
        while pending:
            here = pending[-1]
            missing = [each for each in here.operands if isinstance(each, Double) and id(each) not in self._places]
            if missing:
                pending += missing
                continue
            pending.pop()
            if id(here) in self._places:
                continue
            function = None if here.name in ("", "case", "raises") else operation(here.name)
            self._places[id(here)] = len(self._steps)
            self._steps.append((here.name, function, tuple(map(self._operand, here.operands))))

    def _operand(self, value: Value) -> tuple[bool, Value]:
        if isinstance(value, Double):
            return True, self._places[id(value)]
        if isinstance(value, Expr):
            if value.serial not in self._slots:
                self._slots[value.serial] = len(self.nodes)
                self.nodes.append(value)
            return False, value
        return False, value

    def _given(self, operand: Value, found: Sequence[Value], given: Sequence[Value], pair: bool) -> Value:
        computed, value = operand
        if computed:
            return found[value]
        plain = given[self._slots[value.serial]] if isinstance(value, Expr) else value
        return (plain, plain) if pair else plain

    def at(self, k: int, given: Sequence[Value]) -> Value:
        """Return the value for one k, where the nodes have given values."""
        found: list[Value] = []
        for name, function, operands in self._steps:
            values = [self._given(operand, found, given, False) for operand in operands]
            found.append(self._value(name, function, values, k))
        return found[-1]

    def _value(self, name: str, function: Callable[..., Value] | None, values: Sequence[Value], k: int) -> Value:
        if name == "":
            return k * self._scale
        if name == "case":
            return values[2] if values[0] else values[1]
        if name == "raises":
            return values[0].text if isinstance(values[0], Raised) else ""
        raised = next((value for value in values if isinstance(value, Raised)), None)
        assert function is not None
        return raised or _computed(function, values)

    def over(self, first: int, last: int, given: Sequence[Value]) -> Ends:
        """Return the least and the greatest value for k in a range, or ends beyond these."""
        found: list[Ends] = []
        for name, function, operands in self._steps:
            values = [self._given(operand, found, given, True) for operand in operands]
            found.append(self._ends(name, function, values, first, last))
        return found[-1]

    def _ends(
        self, name: str, function: Callable[..., Value] | None, values: Sequence[Ends], first: int, last: int
    ) -> Ends:
        if name == "":
            return first * self._scale, last * self._scale
        if name == "case":
            condition = values[0]
            assert isinstance(condition, tuple)
            return values[2] if condition[0] else values[1]
        if name == "raises":
            return None if values[0] is None else (values[0].text if isinstance(values[0], Raised) else "",) * 2
        raised = next((value for value in values if isinstance(value, Raised)), None)
        if raised is not None:
            return raised
        assert function is not None
        known = [value for value in values if isinstance(value, tuple)]
        return None if len(known) < len(values) else _over(base_of(name), function, known)

    def pieces(self, first: int, last: int, given: Sequence[Value], watch: Callable[[], None]) -> list[Piece]:
        """Return the parts of a range on which the value is the same. Raises Undecided where they are too many."""
        found: list[Piece] = []
        pending, work = [(first, last)], 0
        while pending:
            low, high = pending.pop()
            work += 1
            if work % 256 == 0:
                watch()
            if work > DOUBLE_EVALUATIONS or len(found) > TABLE_ENTRIES:
                raise Undecided
            if low == high:
                value = self.at(low, given)
            else:
                ends = self.over(low, high, given)
                if ends is None or (isinstance(ends, tuple) and not _same(*ends)):
                    middle = (low + high) // 2
                    pending += [(middle + 1, high), (low, middle)]
                    continue
                value = ends[0] if isinstance(ends, tuple) else ends
            if found and _same(found[-1][2], value):
                found[-1] = (found[-1][0], high, value)
            else:
                found.append((low, high, value))
        return found


def _same(left: Value, right: Value) -> bool:
    if isinstance(left, Raised) or isinstance(right, Raised):
        return isinstance(left, Raised) and isinstance(right, Raised)
    return type(left) is type(right) and bool(left == right)


def _computed(function: Callable[..., Value], values: Sequence[Value]) -> Value:
    try:
        value = function(*values)
    except REFUSED as error:
        return Raised(f"{type(error).__name__}: {error}")
    return Raised("the result is not a number (nan)") if isinstance(value, float) and value != value else value


def _corners(function: Callable[..., Value], values: Sequence[tuple[Value, Value]]) -> Ends:
    """Return the ends of the values at all combinations of ends."""
    found = [_computed(function, ends) for ends in _combinations(values)]
    raised = [value for value in found if isinstance(value, Raised)]
    if raised:
        return raised[0] if len(raised) == len(found) else None
    return min(found), max(found)


def _combinations(values: Sequence[tuple[Value, Value]]) -> Iterator[tuple[Value, ...]]:
    return product(*(((low,) if low is high or _same(low, high) else (low, high)) for low, high in values))


def _over(name: str, function: Callable[..., Value], values: Sequence[tuple[Value, Value]]) -> Ends:
    """Return the ends of what an operation computes on ranges of its operands."""
    if all(_same(*ends) for ends in values):
        value = _computed(function, [low for low, _ in values])
        return value if isinstance(value, Raised) else (value, value)
    if name in _DIVISIONS and values[1][0] <= 0 <= values[1][1]:
        return None
    if name in ("int", "floor", "ceil", "round") and not all(map(math.isfinite, values[0])):
        return None
    if name in _EXACT:
        return _corners(function, values)
    if name in _NEAR:
        ends = _corners(function, values)
        return _wider(*ends) if isinstance(ends, tuple) else ends
    if name in ("abs", "absolute", "fabs", "square"):
        ends = _corners(function, values)
        around = values[0][0] < 0 < values[0][1]
        return (function(type(values[0][0])(0)), ends[1]) if around and isinstance(ends, tuple) else ends
    if name in _WAVES:
        return _wave(function, values[0])
    if name == "copysign":
        return _corners(function, [_by_size(values[0]), values[1]]) if not values[1][0] <= 0 <= values[1][1] else None
    if name in ("pow", "power", "float_power") and values[0][0] > 0:
        ends = _corners(function, values)
        return _wider(*ends) if isinstance(ends, tuple) else None
    if name in ("mod", "remainder") and _same(*values[1]):
        whole = [low_or_high // values[1][0] for low_or_high in values[0]]
        return _corners(function, values) if _same(*whole) else None
    return _compared(name, function, values)


def _compared(name: str, function: Callable[..., Value], values: Sequence[tuple[Value, Value]]) -> Ends:
    if name in _TRUTHS:
        options = [{True} if low > 0 or high < 0 else {bool(low), bool(high), False} for low, high in values]
        found = {bool(function(*combination)) for combination in product(*options)}
        return min(found), max(found)
    if name in _ORDER:
        (low, high), (least, most) = values
        ends = function(low, most), function(high, least)
        return (bool(ends[0]), bool(ends[0])) if bool(ends[0]) == bool(ends[1]) else (False, True)
    if name in _SAME:
        (low, high), (least, most) = values
        if high < least or most < low:
            return (name in ("ne", "not_equal"),) * 2
        return False, True
    if name in ("isfinite", "isinf", "isnan") and all(map(math.isfinite, values[0])):
        return (name == "isfinite",) * 2
    return None


def _wider(low: float, high: float) -> Ends:
    """Return ends between which all values are that are computed as well as those at the ends."""
    return _apart(low, -1), _apart(high, 1)


def _apart(end: float, side: int) -> float:
    return end if math.isinf(end) else end + side * _ULPS * math.ulp(end)


def _by_size(ends: tuple[Value, Value]) -> tuple[Value, Value]:
    """Return the least and the greatest absolute value of a range."""
    low, high = sorted((abs(ends[0]), abs(ends[1])))
    return (0.0 if ends[0] <= 0 <= ends[1] else low), high


def _wave(function: Callable[..., Value], ends: tuple[Value, Value]) -> Ends:
    """Return ends of a sine or cosine, which changes by no more than its argument."""
    low, high = ends
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    values, change = (function(low), function(high)), 1.001 * (high - low) + 1e-15
    return max(-1.0, min(values) - change), min(1.0, max(values) + change)
