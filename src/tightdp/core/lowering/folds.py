"""What numpy makes of whole lines of an array: sums, extrema and their places, running sums, sorted lines.

A fold is a function of the elements of one line; `_over_axis` finds the lines, as numpy does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tightdp.core.lowering.arranging import arranged
from tightdp.core.lowering.array_functions import as_numpy, cast_all, settled, type_from, with_cells
from tightdp.core.lowering.array_indices import kept
from tightdp.core.lowering.arrays import Cells, Kind, cast, fail_where, made, np, objects, type_of_result, within
from tightdp.core.lowering.elementwise import elementwise
from tightdp.core.lowering.foreign import computed
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import METHODS, builtin, method, of_numpy
from tightdp.core.lowering.scalars import operate, total, truth
from tightdp.core.lowering.values import Array, Host, Value, alternatives, known
from tightdp.language.doubles import are_doubles, by_numpy

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


def _any(m: Machine, line: Line, dtype: Kind) -> Value:
    return known(m.builder.disjunction([truth(m, cell) for cell in line]))


def _all(m: Machine, line: Line, dtype: Kind) -> Value:
    return known(m.builder.conjunction([truth(m, cell) for cell in line]))


_FOLDS: dict[str, Fold] = {
    "sum": _sum, "prod": _product, "max": _extremum("max"), "min": _extremum("min"), "argmax": _place_of("gt"),
    "argmin": _place_of("lt"), "any": _any, "all": _all,
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
        m: Machine, a: Value, axis: Value = None, dtype: Value = None, out: Value = None, keepdims: Value = False
    ) -> Value:
        if out is not None:
            raise m.unsupported("the argument out of numpy is not in the language", "leave it out")

        def fold(cells: Cells, kind: Kind) -> Value:
            wanted = type_from(m, dtype, type_of_result(m, name, [kind]))
            in_type = (name in ("sum", "prod") and kind.kind != "b") or (m.floats and wanted.kind == "f")
            given = cast_all(m, cells, wanted) if in_type else cells
            return _over_axis(m, name, given, settled(m, axis), bool(settled(m, keepdims)), wanted)

        return with_cells(m, a, fold)

    of_numpy(name, *_OTHER_NAMES.get(name, ()))(handler)


for _name in _FOLDS:
    _reduction(_name)


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


_running("cumsum", "add")
_running("cumprod", "mul")


# order and places


@of_numpy("sort")
def _sort(m: Machine, a: Value, axis: Value = -1, kind: Value = None, *, stable: Value = None) -> Value:
    return along(m, a, axis, lambda line, dtype: arranged(m, line, None, False), None)


@method("sort", Array)
def _sort_in_place(m: Machine, array: Array, axis: Value = -1, kind: Value = None) -> None:
    METHODS[Array, "in place"](m, array, _sort(m, array, axis))


@of_numpy("argsort")
def _argsort(m: Machine, a: Value, axis: Value = -1, kind: Value = None, *, stable: Value = None) -> Value:
    ordered = kind in ("stable", "mergesort") or stable is True

    def places(line: Line, dtype: Kind) -> list[Value]:
        if not ordered:
            equal = [truth(m, operate(m, "eq", a, b)) for at, a in enumerate(line) for b in line[:at]]
            failure = Failure("argsort of equal numbers: numpy does not say in which order", 'give kind="stable"')
            fail_where(m, m.builder.disjunction(equal), failure)
        ranks = [_rank(m, line, at) for at in range(len(line))]
        return [
            total(m, [0, *(operate(m, "mul", at, operate(m, "eq", rank, place)) for at, rank in enumerate(ranks))])
            for place in range(len(line))
        ]

    return m.each(along(m, a, axis, places, None), lambda found: METHODS[Array, "astype"](m, found, Host(int)))


def _rank(m: Machine, line: Line, at: int) -> Value:
    """Return at which place an element stands when a line is sorted, equal elements as they come."""
    others = [operate(m, "le", other, line[at]) for other in line[:at]]
    return total(m, [0, *others, *(operate(m, "lt", other, line[at]) for other in line[at + 1 :])])


@of_numpy("round", "around", "round_")
def _round(m: Machine, a: Value, decimals: Value = 0) -> Value:
    digits = settled(m, decimals)

    def of(cells: Cells, kind: Kind) -> Value:
        if kind.kind in "bui":
            return made(m, cells, kind)
        if not digits:
            return elementwise(m, "rint", a)
        if m.floats:
            return computed(m, np.round, (made(m, cells, kind), digits), {}, "np.round")
        return made(m, objects([operate(m, "round", cell, digits) for cell in cells.flat], cells.shape), kind)

    return with_cells(m, a, of)


@of_numpy("nonzero")
def _nonzero(m: Machine, a: Value) -> Value:
    def places(cells: Cells, kind: Kind) -> Value:
        where = [tuple(at) for at in np.ndindex(cells.shape)]
        there = kept(m, where, [truth(m, cell) for cell in cells.flat])
        axes = range(cells.ndim)
        return m.each(there, lambda found: tuple(_integers(m, [at[axis] for at in found]) for axis in axes))

    return with_cells(m, a, places)


def _integers(m: Machine, items: Sequence[Value]) -> Value:
    return made(m, objects(items, (len(items),)), np.dtype(int))


# doubles


@builtin(are_doubles)
def _are_doubles(m: Machine, *arrays: Value) -> bool:
    """Whether numbers are doubles and some array, or a form of it, has such."""
    forms = (form for array in arrays for _, form in alternatives(array, m.builder.true))
    return bool(m.floats) and any(form.dtype.kind == "f" for form in forms)


@builtin(by_numpy)
def _by_numpy(m: Machine, function: Value, *arguments: Value) -> Value:
    return computed(m, function.object, arguments, {}, f"np.{function.object.__name__}")
