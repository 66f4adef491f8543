"""What numpy makes of whole lines of an array: sums, extrema and their places, running sums, sorted lines, counts.

A fold is a function of the elements of one line; `_over_axis` finds the lines, as numpy does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from tightdp.core.lowering.array_functions import as_numpy, cast_all, settled, type_from, with_cells
from tightdp.core.lowering.arrays import Cells, Kind, cast, made, np, objects, type_of_result, within
from tightdp.core.lowering.builtins import arranged
from tightdp.core.lowering.elementwise import CELLS, elementwise
from tightdp.core.lowering.foreign import computed
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import NUMPY, method, of_numpy
from tightdp.core.lowering.scalars import operate, total, truth
from tightdp.core.lowering.values import Array, Element, Value, known

_PAIRWISE = 8
"""From how many numbers on numpy adds in another order than one after the other."""

Line = tuple[Value, ...]
Fold = Callable[[Machine, Line, Kind], Value]
"""(machine, elements of a line, type of the result) to the result."""


def _sum(m: Machine, line: Line, dtype: Kind) -> Value:
    if dtype.kind == "f" and m.floats:
        return _in_turn(m, "add", line)
    return within(m, total(m, (0, *line)), dtype)


def _in_turn(m: Machine, operation: str, line: Line) -> Value:
    """Return what numpy makes of a line of doubles: one after the other where they are few, else in its order."""
    if len(line) >= _PAIRWISE:
        return operate(m, f"line {'sum' if operation == 'add' else 'prod'}", *line)
    result = line[0] if line else float(operation != "add")
    for cell in line[1:]:
        result = operate(m, operation, result, cell)
    return result


def _product(m: Machine, line: Line, dtype: Kind) -> Value:
    if dtype.kind == "f" and m.floats:
        return _in_turn(m, "mul", line)
    result: Value = 1
    for cell in line:
        result = operate(m, "mul", result, cell)
    return within(m, result, dtype)


def _mean(m: Machine, line: Line, dtype: Kind) -> Value:
    if not line:
        raise Failure("RuntimeWarning: Mean of empty slice", "make sure that there is at least one element")
    return operate(m, "div", _in_turn(m, "add", line) if m.floats else total(m, line), len(line))


def _variance(m: Machine, line: Line, dtype: Kind) -> Value:
    mean = _mean(m, line, dtype)
    gaps = [operate(m, "sub", cell, mean) for cell in line]
    return _mean(m, tuple(operate(m, "mul", gap, gap) for gap in gaps), dtype)


def _extremum(name: str) -> Fold:
    def fold(m: Machine, line: Line, dtype: Kind) -> Value:
        if not line:
            raise Failure("ValueError: zero-size array to reduction operation", "make sure that there is an element")
        if m.floats and dtype.kind == "f":
            best = line[0]
            for cell in line[1:]:
                best = operate(m, name, best, cell)
            return best
        return known(m.builder.extremum(name, [m.expr(cell) for cell in line]))

    return fold


def _place_of(comparison: str) -> Fold:
    def fold(m: Machine, line: Line, dtype: Kind) -> Value:
        if not line:
            raise Failure("ValueError: attempt to get argmax of an empty sequence", "have an element")
        best, place = line[0], 0
        for at, cell in enumerate(line[1:], 1):
            better = truth(m, operate(m, comparison, cell, best))
            best, place = m.merge(better, cell, best), m.merge(better, at, place)
        return place

    return fold


def _range(m: Machine, line: Line, dtype: Kind) -> Value:
    high, low = (_extremum(name)(m, line, dtype) for name in ("max", "min"))
    return CELLS["subtract"](m, dtype, high, low)


def _any(m: Machine, line: Line, dtype: Kind) -> Value:
    return known(m.builder.disjunction([truth(m, cell) for cell in line]))


def _all(m: Machine, line: Line, dtype: Kind) -> Value:
    return known(m.builder.conjunction([truth(m, cell) for cell in line]))


def _count(m: Machine, line: Line, dtype: Kind) -> Value:
    return total(m, [0, *(known(truth(m, cell)) for cell in line)])


def _median(m: Machine, line: Line, dtype: Kind) -> Value:
    ordered, middle = arranged(m, line, None, False), len(line) // 2
    if m.floats or not line:
        return computed(m, np.median, (line,), {}, "np.median")
    return operate(m, "div", total(m, (ordered[middle], ordered[(len(line) - 1) // 2])), 2)


_FOLDS: dict[str, Fold] = {
    "sum": _sum, "prod": _product, "mean": _mean, "var": _variance, "max": _extremum("max"), "min": _extremum("min"),
    "argmax": _place_of("gt"), "argmin": _place_of("lt"), "ptp": _range, "any": _any, "all": _all,
    "count_nonzero": _count, "median": _median,
}  # fmt: skip
_OTHER_NAMES = {"max": ("amax",), "min": ("amin",)}


def _over_axis(m: Machine, name: str, cells: Cells, axis: Value, keepdims: bool, dtype: Kind) -> Value:
    """Fold the lines of an array along one axis, several, or all of it (None)."""
    axes = tuple(range(cells.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    last = tuple(range(-len(axes), 0))
    moved = as_numpy(lambda: np.moveaxis(cells, axes, last)) if axes else cells
    outer = moved.shape[: cells.ndim - len(axes)]
    lines = moved.reshape((*outer, int(np.prod(moved.shape[len(outer) :], dtype=int))))
    if m.floats and dtype.kind == "f" and outer and lines.shape[-1] >= _PAIRWISE:
        return computed(m, getattr(np, name), (made(m, cells, dtype), axis), {"keepdims": keepdims}, f"np.{name}")
    results = [_FOLDS[name](m, tuple(lines[at]), dtype) for at in np.ndindex(outer)]
    if keepdims:
        wanted = {at % cells.ndim for at in axes}
        outer = tuple(1 if at in wanted else length for at, length in enumerate(cells.shape))
    return made(m, objects(results, outer), dtype)


def _reduction(name: str) -> None:
    def handler(
        m: Machine, a: Value, axis: Value = None, dtype: Value = None, out: Value = None, keepdims: Value = False,
        ddof: Value = 0,
    ) -> Value:  # fmt: skip
        if m.floats and ddof and out is None:
            return computed(m, getattr(np, name), (a, axis), {"ddof": ddof}, f"np.{name}")
        if out is not None or settled(m, ddof):
            raise m.unsupported("the arguments out and ddof of numpy are not in the language", "leave them out")

        def fold(cells: Cells, kind: Kind) -> Value:
            wanted = type_from(m, dtype, type_of_result(m, name, [kind]))
            in_type = name in ("sum", "prod") or (m.floats and wanted.kind == "f")
            given = cast_all(m, cells, wanted) if in_type else cells
            return _over_axis(m, name, given, settled(m, axis), bool(settled(m, keepdims)), wanted)

        return with_cells(m, a, fold)

    of_numpy(name, *_OTHER_NAMES.get(name, ()))(handler)
    if name not in ("ptp", "count_nonzero", "median"):
        method(name, Array, Element)(handler)


for _name in _FOLDS:
    _reduction(_name)


@of_numpy("std")
@method("std", Array)
def _std(m: Machine, a: Value, axis: Value = None) -> Value:
    return elementwise(m, "sqrt", NUMPY["var"](m, a, axis))


@of_numpy("average")
def _average(m: Machine, a: Value, axis: Value = None, weights: Value = None) -> Value:
    if weights is None:
        return NUMPY["mean"](m, a, axis)
    if axis is not None:
        raise m.unsupported("np.average with weights along an axis is not in the language", "write its formula")
    weighted = NUMPY["sum"](m, elementwise(m, "multiply", a, weights))
    return elementwise(m, "true_divide", weighted, NUMPY["sum"](m, weights))


# lines to lines


def along(
    m: Machine, a: Value, axis: Value, of_line: Callable[[Line, Kind], Sequence[Value]], function: str | None
) -> Value:
    """Replace every line along an axis (None: the whole array, flat); the function says which type that gives."""

    def over(cells: Cells, kind: Kind) -> Value:
        wanted = kind if function is None else type_of_result(m, function, [kind])
        chosen = settled(m, axis)
        flat = cells.reshape(-1) if chosen is None else cells
        moved = as_numpy(lambda: np.moveaxis(flat, 0 if chosen is None else chosen, -1))
        rows = [of_line(tuple(moved[at]), wanted) for at in np.ndindex(moved.shape[:-1])]
        length = len(rows[0]) if rows else moved.shape[-1]
        found = objects([cell for row in rows for cell in row], (*moved.shape[:-1], length))
        return made(m, np.moveaxis(found, -1, 0 if chosen is None else chosen), wanted)

    return with_cells(m, a, over)


def _running(function: str, operation: str) -> None:
    def handler(m: Machine, a: Value, axis: Value = None, dtype: Value = None) -> Value:
        if dtype is not None:
            raise m.unsupported("the argument dtype is not in the language here", "convert with .astype before")

        def line_of(line: Line, kind: Kind) -> list[Value]:
            done: list[Value] = []
            for cell in line:
                here = cast(m, cell, kind)
                done.append(within(m, operate(m, operation, done[-1], here), kind) if done else here)
            return done

        return along(m, a, axis, line_of, function)

    of_numpy(function)(handler)
    method(function, Array)(handler)


_running("cumsum", "add")
_running("cumprod", "mul")


@of_numpy("diff")
def _diff(m: Machine, a: Value, n: Value = 1, axis: Value = -1) -> Value:
    if settled(m, n) != 1:
        raise m.unsupported("np.diff of a higher order is not in the language", "apply it several times")

    def line_of(line: Line, kind: Kind) -> list[Value]:
        name = "bitxor" if kind.kind == "b" else "sub"
        return [within(m, operate(m, name, after, before), kind) for before, after in pairwise(line)]

    return along(m, a, axis, line_of, None)
