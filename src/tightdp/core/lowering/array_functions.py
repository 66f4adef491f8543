"""Functions and methods of numpy on arrays: how they are made, put together, folded along axes, sorted and counted.

What only moves elements numpy does itself, on arrays of nodes (`_MOVING`, `_VIEWING`); what folds them is a function of
one line of elements (`_FOLDS`); the rest stands below.
"""

from __future__ import annotations

from collections.abc import Callable

from tightdp.core.lowering.array_indices import assigned, indexed, prepared
from tightdp.core.lowering.arrays import (
    Cells,
    Kind,
    allowed,
    array_of,
    cast,
    made,
    np,
    objects,
    plain_of,
    read,
    viewed,
)
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import NUMPY, method, methods, of_numpy
from tightdp.core.lowering.scalars import operate, over_all, whole
from tightdp.core.lowering.values import Array, Element, Host, Reference, Value, is_scalar
from tightdp.core.nodes import Expr

# what is known when the program is lowered


def settled(m: Machine, value: Value) -> Value:
    """Return an argument that must be the same in every run: an axis, a shape, a type."""
    value = plain_of(m, value)
    if isinstance(value, Reference):
        value = m.store[value.key]
    if isinstance(value, tuple):
        return tuple(settled(m, item) for item in value)
    if isinstance(value, Array):
        return tuple(settled(m, cell) for cell in read(m, value).flat)
    if isinstance(value, Host):
        return value.object
    if not is_scalar(value) or isinstance(value, Expr):
        raise m.unsupported("an axis, a shape or a type that depends on the run is not in the language", "branch on it")
    return value


def type_from(m: Machine, given: Value, otherwise: Kind) -> Kind:
    """Return a type that was asked for, or the other one."""
    if given is None:
        return otherwise
    try:
        return allowed(m, np.dtype(settled(m, given)))
    except TypeError as error:
        raise Failure(f"TypeError: {error}", "use int, float or bool") from None


def cast_all(m: Machine, cells: Cells, dtype: Kind) -> Cells:
    """Return elements as those of a type."""
    return objects([cast(m, cell, dtype) for cell in cells.flat], cells.shape)


def as_numpy(action: Callable[[], Value]) -> Value:
    """Ask numpy, and return what it says of wrong arguments as a failure."""
    try:
        return action()
    except (ValueError, IndexError, TypeError) as error:
        raise Failure(f"{type(error).__name__}: {error}", "check the arguments", type(error)) from None


def with_cells(m: Machine, value: Value, action: Callable[[Cells, Kind], Value]) -> Value:
    """Apply an action to anything as an array of numpy."""
    return array_of(m, value, lambda cells, kind: action(cells, np.dtype(kind)))


def in_pairs(m: Machine, value: Value, action: Callable[[tuple[Cells, Kind]], Value]) -> Value:
    """The same of an action that takes one argument, for `over_all`."""
    return with_cells(m, value, lambda *pair: action(pair))


# creation


@of_numpy("array")
def _array(m: Machine, value: Value, dtype: Value = None, *, copy: Value = True) -> Value:
    def make(cells: Cells, kind: Kind) -> Value:
        wanted = type_from(m, dtype, kind)
        return made(m, cast_all(m, cells, wanted), wanted)

    return with_cells(m, value, make)


@of_numpy("asarray", "ascontiguousarray", "asanyarray")
def _asarray(m: Machine, value: Value, dtype: Value = None) -> Value:
    return m.each(value, lambda one: _same_or_new(m, one, dtype))


def _same_or_new(m: Machine, value: Value, dtype: Value) -> Value:
    if isinstance(value, Array) and type_from(m, dtype, value.dtype) == value.dtype:
        return value
    return _array(m, value, dtype)


def _filled(default: object) -> Callable[..., Value]:
    def handler(m: Machine, shape: Value, dtype: Value = None) -> Value:
        kind = type_from(m, dtype, np.dtype(float))
        return over_all_shapes(m, shape, lambda size: _constant(m, size, default, kind))

    return handler


def over_all_shapes(m: Machine, shape: Value, action: Callable[[tuple[int, ...]], Value]) -> Value:
    """Apply an action to every shape that an argument can stand for."""
    value = m.store[shape.key] if isinstance(shape, Reference) else shape
    if isinstance(value, Array):
        value = tuple(Element(cell, value.dtype) for cell in read(m, value).flat)
    parts = [plain_of(m, part) for part in (value if isinstance(value, tuple) else (value,))]
    return over_all(m, parts, lambda *plain: action(tuple(map(whole, plain))))


def _constant(m: Machine, shape: tuple[int, ...], value: Value, dtype: Kind) -> Value:
    if any(length < 0 for length in shape):
        raise Failure("ValueError: negative dimensions are not allowed", "use a length of at least 0")
    size = int(np.prod(shape, dtype=object))
    return made(m, objects([cast(m, value, dtype)] * size, shape), dtype)


of_numpy("zeros")(_filled(0))
of_numpy("ones")(_filled(1))


@of_numpy("full")
def _full(m: Machine, shape: Value, fill_value: Value, dtype: Value = None) -> Value:
    def fill(cells: Cells, kind: Kind) -> Value:
        wanted = type_from(m, dtype, kind)
        return over_all_shapes(m, shape, lambda size: made(m, _spread_to(cast_all(m, cells, wanted), size), wanted))

    return with_cells(m, fill_value, fill)


def _spread_to(cells: Cells, shape: tuple[int, ...]) -> Cells:
    found: Cells = as_numpy(lambda: np.broadcast_to(cells, shape))
    return found


def _like(default: Value) -> Callable[..., Value]:
    def handler(m: Machine, value: Value, *fill: Value, dtype: Value = None) -> Value:
        content = plain_of(m, fill[0]) if fill else default
        return with_cells(m, value, lambda cells, kind: _constant(m, cells.shape, content, type_from(m, dtype, kind)))

    return handler


of_numpy("zeros_like")(_like(0))
of_numpy("ones_like")(_like(1))
of_numpy("full_like")(_like(None))


@of_numpy("arange")
def _arange(m: Machine, first: Value, *more: Value, dtype: Value = None) -> Value:
    def between(*bounds: Value) -> Value:
        if not all(isinstance(bound, int) for bound in bounds):
            raise m.unsupported("np.arange of other than integers is not in the language", "scale one of integers")
        kind = type_from(m, dtype, np.dtype(int))
        items = as_numpy(lambda: range(*bounds))
        return made(m, objects([cast(m, item, kind) for item in items], (len(items),)), kind)

    return over_all(m, [plain_of(m, bound) for bound in (first, *more)], between)


@of_numpy("meshgrid")
def _meshgrid(m: Machine, *parts: Value) -> Value:
    def of(*done: tuple[Cells, Kind]) -> Value:
        grids = as_numpy(lambda: np.meshgrid(*(cells for cells, _ in done)))
        return tuple(made(m, grid, kind) for grid, (_, kind) in zip(grids, done, strict=True))

    return over_all(m, parts, of, in_pairs)


@of_numpy("eye", "identity")
def _eye(m: Machine, size: Value, columns: Value = None, k: Value = 0, dtype: Value = None) -> Value:
    ones = as_numpy(lambda: np.eye(settled(m, size), settled(m, columns), settled(m, k), dtype=int))
    kind = type_from(m, dtype, np.dtype(float))
    return made(m, objects([cast(m, int(one), kind) for one in ones.flat], ones.shape), kind)


def _scalar_type(name: str) -> None:
    @of_numpy(name)
    def handler(m: Machine, value: Value = 0) -> Value:
        dtype = np.dtype(getattr(np, name))
        return with_cells(m, value, lambda cells, kind: made(m, cast_all(m, cells, dtype), dtype))


for _name in ("bool", "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float64"):
    _scalar_type(_name)


# what moves elements

_MOVING = (
    "concatenate", "stack", "hstack", "vstack", "column_stack", "tile", "repeat", "roll", "delete",
    "take", "diagflat", "triu", "tril", "resize",
)  # fmt: skip
"""Functions whose results are new arrays of the same elements, and zeros."""
_VIEWING = (
    "reshape", "ravel", "transpose", "swapaxes", "moveaxis", "squeeze", "expand_dims", "atleast_1d", "atleast_2d",
    "split", "array_split", "hsplit", "vsplit", "flip", "fliplr", "flipud", "rot90", "diag", "diagonal", "broadcast_to",
)  # fmt: skip
"""Functions whose results look at the elements of one array, where they can."""


def _moving(name: str) -> Callable[..., Value]:
    several = name in ("concatenate", "stack", "hstack", "vstack", "column_stack")

    def handler(m: Machine, value: Value, *more: Value, **keywords: Value) -> Value:
        options = [settled(m, each) for each in more]
        named = {key: settled(m, each) for key, each in keywords.items()}

        def of(*parts: tuple[Cells, Kind]) -> Value:
            dtype = np.result_type(*(kind for _, kind in parts))
            cells = [cast_all(m, cells, dtype) for cells, _ in parts]
            given = cells if several else cells[0]
            found = as_numpy(lambda: getattr(np, name)(given, *options, **named))
            return made(m, found, dtype)

        return over_all(m, _parts(m, value) if several else [value], of, in_pairs)

    return handler


def _parts(m: Machine, value: Value) -> list[Value]:
    if isinstance(value, Reference):
        value = m.store[value.key]
    if isinstance(value, Array):
        return list(rows(m, value))
    if not isinstance(value, tuple):
        raise m.unsupported("how many arrays are put together depends on the run", "branch on it with if")
    return list(value)


def _viewing(name: str) -> Callable[..., Value]:
    def handler(m: Machine, value: Value, *more: Value, **keywords: Value) -> Value:
        options = [settled(m, each) for each in more]
        named = {key: settled(m, each) for key, each in keywords.items()}

        def ask(cells: Cells) -> Value:
            return as_numpy(lambda: getattr(np, name)(cells, *options, **named))

        def of(one: Value) -> Value:
            return seen(one) if isinstance(one, Array) else with_cells(m, one, of_cells)

        def of_cells(cells: Cells, kind: Kind) -> Value:
            if cells.shape:
                return seen(made(m, cells, kind))
            found = ask(cells)
            one = viewed(made(m, cells.reshape(1), kind), lambda places: places.reshape(())) if found.shape else None
            return made(m, found, kind) if one is None else seen(one)

        def seen(one: Array) -> Value:
            pieces = ask(one.sources[0][2])
            if isinstance(pieces, list):
                return m.new_list(tuple(viewed(one, piece(at)) for at in range(len(pieces))))
            view = viewed(one, ask)
            return made(m, ask(read(m, one)), one.dtype) if view is None else view

        def piece(at: int) -> Callable[[Cells], Cells]:
            return lambda places: ask(places)[at]

        return m.each(value, of)

    return handler


for _name in _MOVING:
    of_numpy(_name)(_moving(_name))
for _name in _VIEWING:
    of_numpy(_name)(_viewing(_name))


@method("rows", Array)
def rows(m: Machine, array: Array) -> tuple[Value, ...]:
    """Return what a loop over an array meets: scalars, or views of its parts."""
    if array.shape == ():
        raise Failure("TypeError: iteration over a 0-d array", "use the number itself")
    return tuple(indexed(m, array, at) for at in range(array.shape[0]))


of_numpy("copy")(lambda m, value: with_cells(m, value, lambda cells, kind: made(m, cells, kind)))
methods({
    "flatten": lambda m, array: made(m, read(m, array).reshape(-1), array.dtype),
    "reshape": lambda m, array, *shape: NUMPY["reshape"](m, array, shape[0] if len(shape) == 1 else shape),
    "transpose": lambda m, array, *axes: NUMPY["transpose"](
        m, array, *((axes if len(axes) > 1 else axes[0],) if axes else ())
    ),
    "__getitem__": lambda m, array, index: prepared(m, index, lambda parts: indexed(m, array, parts)),
    "__setitem__": assigned,
    "fill": lambda m, array, value: assigned(m, array, Host(Ellipsis), value),
}, Array)  # fmt: skip
methods({
    "get shape": lambda m, array: tuple(getattr(array, "shape", ())),
    "get ndim": lambda m, array: len(getattr(array, "shape", ())),
    "get size": lambda m, array: int(np.prod(getattr(array, "shape", ()), dtype=int)),
    "get dtype": lambda m, array: Host(array.dtype),
    "get T": lambda m, array: NUMPY["transpose"](m, array),
}, Array, Element)  # fmt: skip


@method("item", Array, Element)
def _item(m: Machine, value: Value, *index: Value) -> Value:
    if isinstance(value, Array) and not index and len(cells := read(m, value).reshape(-1)) == 1:
        value = Element(cells[0], value.dtype)
    return operate(m, "plain", indexed(m, value, index) if isinstance(value, Array) and index else value)


@method("astype", Array, Element)
def _astype(m: Machine, value: Value, dtype: Value, copy: Value = True) -> Value:
    kind = type_from(m, dtype, np.dtype(float))
    return with_cells(m, value, lambda cells, _: made(m, cast_all(m, cells, kind), kind))


@method("tolist", Array, Element)
def _tolist(m: Machine, value: Value) -> Value:
    def lists(cells: Cells, dtype: Kind) -> Value:
        if cells.ndim == 0:
            return plain_of(m, Element(cells[()], dtype))
        return m.new_list(tuple(lists(objects((row,), ()) if cells.ndim == 1 else row, dtype) for row in cells))

    return with_cells(m, value, lists)


@method("as output", Array, Element)
def _as_output(m: Machine, value: Value) -> Value:
    """Return an array as the nested tuples, and a scalar as the number, that an output is made of."""
    if isinstance(value, Element):
        return value.value
    return tuple(rows(m, value))
