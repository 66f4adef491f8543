"""Functions of numpy that sort, count and look things up, and products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tightdp.core.lowering.array_functions import as_numpy, settled, with_cells
from tightdp.core.lowering.array_indices import kept
from tightdp.core.lowering.arrays import Cells, Kind, cast, fail_where, made, np, objects, type_of_result, within
from tightdp.core.lowering.builtins import arranged
from tightdp.core.lowering.elementwise import elementwise
from tightdp.core.lowering.folds import Line, along
from tightdp.core.lowering.foreign import computed
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import METHODS, NUMPY, method, of_numpy
from tightdp.core.lowering.scalars import operate, over_values, total, truth, whole
from tightdp.core.lowering.values import Array, Element, Host, Value, is_scalar, known


@of_numpy("sort")
def _sort(m: Machine, a: Value, axis: Value = -1, kind: Value = None, *, stable: Value = None) -> Value:
    return along(m, a, axis, lambda line, dtype: arranged(m, line, None, False), None)


@method("sort", Array)
def _sort_in_place(m: Machine, array: Array, axis: Value = -1, kind: Value = None) -> None:
    METHODS[Array, "in place"](m, array, _sort(m, array, axis))


@of_numpy("argsort")
@method("argsort", Array)
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


def _counted(m: Machine, cells: Cells, dtype: Kind, counts: bool) -> Value:
    """Return the distinct elements in order, with how often each is there if that is asked for."""
    line = arranged(m, tuple(cells.flat), None, False)
    new = [m.builder.true, *(truth(m, operate(m, "ne", b, a)) for a, b in pairwise(line))]
    often = [total(m, [0, *(operate(m, "eq", other, cell) for other in line)]) for cell in line]

    def split(items: tuple[Value, ...]) -> Value:
        values = made(m, objects([value for value, _ in items], (len(items),)), dtype)
        times = made(m, objects([count for _, count in items], (len(items),)), np.dtype(int))
        return (values, times) if counts else values

    return m.each(kept(m, list(zip(line, often, strict=True)), new[: len(line)]), split)


@of_numpy("unique")
def _unique(m: Machine, ar: Value, *, return_counts: Value = False) -> Value:
    return with_cells(m, ar, lambda cells, dtype: _counted(m, cells, dtype, bool(settled(m, return_counts))))


@of_numpy("bincount")
def _bincount(m: Machine, x: Value, weights: Value = None, minlength: Value = 0) -> Value:
    least = whole(settled(m, minlength))

    def count(cells: Cells, dtype: Kind) -> Value:
        if dtype.kind not in "bui" and cells.size:
            raise Failure("TypeError: Cannot cast array data from float64 to int64", "use .astype(int)")
        line = tuple(cast(m, cell, np.dtype(int)) for cell in cells.flat)
        negative = [truth(m, operate(m, "lt", cell, 0)) for cell in line]
        failure = Failure("ValueError: 'list' argument must have no negative elements", "shift them first")
        fail_where(m, m.builder.disjunction(negative), failure)
        highest = known(m.builder.extremum("max", [m.expr(cell) for cell in line])) if line else -1
        needed = known(m.builder.extremum("max", [m.expr(operate(m, "add", highest, 1)), m.expr(least)]))
        if weights is None:
            return over_values(m, needed, lambda length: _tally(m, line, [1] * len(line), length, np.dtype(int)))
        float_type = np.dtype(float)

        def weigh(shares: Cells, _: Kind) -> Value:
            return over_values(m, needed, lambda length: _tally(m, line, list(shares.flat), length, float_type))

        return with_cells(m, weights, weigh)

    return with_cells(m, x, count)


def _tally(m: Machine, line: Line, shares: Sequence[Value], length: int, dtype: Kind) -> Value:
    if len(shares) != len(line):
        raise Failure("ValueError: The weights and list don't have the same length.", "give one weight per number")
    if m.floats and dtype.kind == "f":
        return computed(m, np.bincount, (line, tuple(shares)), {"minlength": length}, "np.bincount")
    both = list(zip(line, shares, strict=True))
    cells = [
        total(m, [0, *(m.merge(truth(m, operate(m, "eq", cell, at)), share, 0) for cell, share in both)])
        for at in range(length)
    ]
    return made(m, objects(cells, (length,)), dtype)


@of_numpy("clip")
@method("clip", Array, Element)
def _clip(
    m: Machine, a: Value, a_min: Value = None, a_max: Value = None, *, min: Value = None, max: Value = None
) -> Value:
    low, high = (b if a is None else a for a, b in ((a_min, min), (a_max, max)))
    bounded = a if low is None else elementwise(m, "maximum", a, low)
    return bounded if high is None else elementwise(m, "minimum", bounded, high)


@of_numpy("round", "around", "round_")
@method("round", Array, Element)
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
@method("nonzero", Array)
def _nonzero(m: Machine, a: Value) -> Value:
    def places(cells: Cells, kind: Kind) -> Value:
        where = [tuple(at) for at in np.ndindex(cells.shape)]
        there = kept(m, where, [truth(m, cell) for cell in cells.flat])
        axes = range(cells.ndim)
        return m.each(there, lambda found: tuple(_integers(m, [at[axis] for at in found]) for axis in axes))

    return with_cells(m, a, places)


def _integers(m: Machine, items: Sequence[Value]) -> Value:
    return made(m, objects(items, (len(items),)), np.dtype(int))


@of_numpy("flatnonzero")
def _flatnonzero(m: Machine, a: Value) -> Value:
    return m.each(_nonzero(m, NUMPY["ravel"](m, a)), lambda found: found[0])


@of_numpy("searchsorted")
def _searchsorted(m: Machine, a: Value, v: Value, side: Value = "left") -> Value:
    before = "lt" if settled(m, side) == "left" else "le"

    def look(line: Cells, _: Kind) -> Value:
        def places(cells: Cells, kind: Kind) -> Value:
            found = [total(m, [0, *(operate(m, before, each, cell) for each in line.flat)]) for cell in cells.flat]
            return made(m, objects(found, cells.shape), np.dtype(int))

        return with_cells(m, v, places)

    return with_cells(m, a, look)


@of_numpy("histogram")
def _histogram(m: Machine, a: Value, bins: Value = 10, range: Value = None) -> Value:
    """Counts between edges, the last of which belongs to the last count."""
    if is_scalar(bins) and range is None:
        raise m.unsupported("the edges of np.histogram depend on the data", "give bins=[...], or range=(low, high)")
    edges = bins
    if range is not None:
        low, high = settled(m, range)
        edges = NUMPY["linspace"](m, low, high, operate(m, "add", bins, 1))

    def count(cells: Cells, ends: Cells, kind: Kind) -> Value:
        counts = []
        for at, (low, high) in enumerate(pairwise(ends.flat)):
            below = "le" if at + 2 == ends.size else "lt"
            inside = [
                m.conj(truth(m, operate(m, "ge", cell, low)), truth(m, operate(m, below, cell, high)))
                for cell in cells.flat
            ]
            counts.append(total(m, [0, *map(known, inside)]))
        return made(m, objects(counts, (len(counts),)), np.dtype(int)), made(m, ends, kind)

    return with_cells(m, a, lambda cells, _: with_cells(m, edges, lambda ends, kind: count(cells, ends, kind)))


@of_numpy("kron")
def _kron(m: Machine, a: Value, b: Value) -> Value:
    def of(left: Cells, ours: Kind, right: Cells, theirs: Kind) -> Value:
        if left.ndim != 2 or right.ndim != 2:
            raise m.unsupported("np.kron of other than matrices is not in the language", "use np.outer")
        (high, wide), (rows, columns) = left.shape, right.shape
        outer = made(m, left.reshape(high, 1, wide, 1), ours), made(m, right.reshape(1, rows, 1, columns), theirs)
        return NUMPY["reshape"](m, elementwise(m, "multiply", *outer), (high * rows, wide * columns))

    return with_cells(m, a, lambda left, ours: with_cells(m, b, lambda right, theirs: of(left, ours, right, theirs)))


@of_numpy("array_equal")
def _array_equal(m: Machine, a1: Value, a2: Value) -> Value:
    def compare(left: Cells, right: Cells) -> Value:
        if left.shape != right.shape:
            return False
        same = [truth(m, operate(m, "eq", a, b)) for a, b in zip(left.flat, right.flat, strict=True)]
        return known(m.builder.conjunction(same))

    return with_cells(m, a1, lambda left, _: with_cells(m, a2, lambda right, _: compare(left, right)))


@of_numpy("isin")
def _isin(m: Machine, element: Value, test_elements: Value) -> Value:
    def look(cells: Cells, wanted: Cells) -> Value:
        found = [
            known(m.builder.disjunction([truth(m, operate(m, "eq", cell, each)) for each in wanted.flat]))
            for cell in cells.flat
        ]
        return made(m, objects(found, cells.shape), np.dtype(bool))

    return with_cells(m, element, lambda cells, _: with_cells(m, test_elements, lambda wanted, _: look(cells, wanted)))


# products


def _product(m: Machine, function: str, left: Value, right: Value) -> Value:
    def of(a: Cells, ours: Kind, b: Cells, theirs: Kind) -> Value:
        dtype = type_of_result(m, "dot", [ours, theirs])
        if dtype.kind == "f" and m.floats:
            return computed(m, getattr(np, function), (made(m, a, ours), made(m, b, theirs)), {}, f"np.{function}")
        positions = [np.arange(cells.size).reshape(cells.shape) for cells in (a, b)]
        shape = as_numpy(lambda: getattr(np, function)(*positions)).shape
        terms = _terms(function, a, b, shape)
        operation = "bitand" if dtype.kind == "b" else "mul"
        cells = []
        for pairs in terms:
            products = [operate(m, operation, x, y) for x, y in pairs]
            summed = _disjunction(m, products) if dtype.kind == "b" else total(m, [0, *products])
            cells.append(within(m, summed, dtype))
        return made(m, objects(cells, shape), dtype)

    return with_cells(m, left, lambda a, ours: with_cells(m, right, lambda b, theirs: of(a, ours, b, theirs)))


def _disjunction(m: Machine, products: Sequence[Value]) -> Value:
    return known(m.builder.disjunction([truth(m, product) for product in products]))


def _terms(function: str, a: Cells, b: Cells, shape: tuple[int, ...]) -> list[list[tuple[Value, Value]]]:
    """Return the pairs that are multiplied for every element of a product, asked of numpy by sums of units."""
    if a.ndim == 0 or b.ndim == 0:
        pairs = np.broadcast_arrays(a, b)
        return [[(x, y)] for x, y in zip(pairs[0].flat, pairs[1].flat, strict=True)]
    if function == "vdot":
        return [list(zip(a.flat, b.flat, strict=True))]
    rows = a.reshape((-1, a.shape[-1]))
    if function == "inner":
        columns = b.reshape((-1, b.shape[-1]))
    else:
        columns = b.reshape((1, -1)) if b.ndim == 1 else np.moveaxis(b, -2, -1).reshape((-1, b.shape[-2]))
    if function == "matmul" and max(a.ndim, b.ndim) > 2:
        raise Failure("stacks of matrices are not in the language", "multiply matrix by matrix")
    return [list(zip(row, column, strict=True)) for row in rows for column in columns]


def _product_of(function: str) -> None:
    def handler(m: Machine, a: Value, b: Value) -> Value:
        return _product(m, function, a, b)

    of_numpy(function)(handler)
    if function == "dot":
        method("dot", Array)(handler)


for _name in ("dot", "matmul", "inner", "vdot"):
    _product_of(_name)


@of_numpy("outer")
def _outer(m: Machine, a: Value, b: Value) -> Value:
    column = NUMPY["reshape"](m, a, (-1, 1))
    return elementwise(m, "multiply", column, NUMPY["reshape"](m, b, (1, -1)))


@of_numpy("trace")
@method("trace", Array)
def _trace(m: Machine, a: Value) -> Value:
    return NUMPY["sum"](m, NUMPY["diagonal"](m, a))
