"""What an index takes of an array, and what is written there: numpy says it, on arrays of places.

Scalars in an index that depend on the run are tried one value after the other; truth values that do are conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from tightdp.core.lowering.arrays import Cells, Kind, array_of, cast, made, np, objects, plain_of, read, viewed, write
from tightdp.core.lowering.iteration import plainly, sift, sifted
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.positions import item_at
from tightdp.core.lowering.refusals import refuse_quotients
from tightdp.core.lowering.scalars import over_all
from tightdp.core.lowering.values import (
    Array,
    Cut,
    Element,
    Host,
    Range,
    Reference,
    Union,
    Value,
    is_scalar,
    name_of,
)
from tightdp.core.nodes import Expr

Place: TypeAlias = Value
"""One of several indices as numpy takes them: an integer, a slice, None, ..., or an array of places."""


def indexed(m: Machine, array: Array, index: Value) -> Value:
    """Return what an index takes of an array."""
    parts = index if isinstance(index, tuple) else (index,)
    mask = _only_mask(array, parts)
    if mask is not None and any(isinstance(cell, Expr) for cell in read(m, mask).flat):
        return _kept(m, array, read(m, mask))
    for part in parts if m.guards else ():
        for scalar in _scalars(m, part):
            refuse_quotients(m, scalar, "an index")
    if len(parts) == 1 and (gathered := _gathered(m, array, parts[0])) is not None:
        return gathered

    def at(*plain: Value) -> Value:
        places = iter(plain)
        return _known(m, array, tuple(_filled(part, places) for part in parts))

    return over_all(m, [scalar for part in parts for scalar in _scalars(m, part)], at)


def _known(m: Machine, array: Array, index: tuple[Place, ...]) -> Value:
    """Return what an index without unknowns takes of an array."""
    view = viewed(array, lambda places: _taken(places, index))
    if view is not None and view.shape != ():
        return view
    return made(m, _taken(read(m, array), index), array.dtype)


def _taken(cells: Cells, index: tuple[Place, ...]) -> Cells:
    try:
        found: Cells = np.asarray(cells[index], dtype=cells.dtype)
    except (IndexError, ValueError) as error:
        raise Failure(f"IndexError: {error}", "keep the index in range") from None
    return cells[index] if isinstance(cells[index], np.ndarray) else found


def _scalars(m: Machine, part: Value) -> list[Value]:
    """Return the scalars that an index is made of, in the order in which `_filled` takes them."""
    if isinstance(part, Cut):
        return [plain_of(m, bound) for bound in part.bounds]
    if isinstance(part, Array):
        _check_index(m, part.dtype)
        return list(read(m, part).flat)
    if isinstance(part, Element):
        _check_index(m, part.dtype)
        return [part.value]
    if part is None or (isinstance(part, Host) and part.object is Ellipsis):
        return []
    if is_scalar(part):
        if isinstance(part, Expr) and part.boolean:
            raise m.unsupported("an array indexed by one truth value is not in the language", "branch on it with if")
        return [part]
    raise AssertionError(part)


def _filled(part: Value, plain: Iterator[Value]) -> Place:
    """Return an index with the next scalars in place of its own."""
    if isinstance(part, Cut):
        return slice(*(next(plain) for _ in part.bounds))
    if isinstance(part, Array):
        return np.array([next(plain) for _ in range(part.sources[0][2].size)], part.dtype).reshape(part.shape)
    if part is None:
        return None
    if isinstance(part, Host):
        return Ellipsis
    only = next(plain)
    if not isinstance(only, int):
        raise Failure(f"IndexError: an index of an array cannot be {only}", "use an int")
    return only


def _check_index(m: Machine, dtype: Kind) -> None:
    if dtype.kind not in "bui":
        raise Failure("IndexError: arrays used as indices must be of integer (or boolean) type", "use .astype(int)")


def prepared(m: Machine, index: Value, action: Callable[[Value], Value]) -> Value:
    """Apply an action to an index in which sequences are arrays."""

    def of(done: tuple[Value, ...], rest: tuple[Value, ...]) -> Value:
        if not rest:
            return action(done)
        part = rest[0]
        plain = part is None or is_scalar(part) or isinstance(part, (Array, Element, Cut))
        if plain or (isinstance(part, Host) and part.object is Ellipsis):
            return of((*done, part), rest[1:])
        if not isinstance(part, (tuple, Reference, Range, Union)):
            raise Failure(f"IndexError: an array is not indexed by a {name_of(part)}", "use ints, slices or arrays")
        return array_of(m, part, lambda cells, dtype: of((*done, made(m, cells, _index_type(cells, dtype))), rest[1:]))

    def _index_type(cells: Cells, dtype: Kind) -> Kind:
        return dtype if cells.size else np.dtype(int)

    return m.each(index, lambda one: of((), one if isinstance(one, tuple) else (one,)))


def _only_mask(array: Array, parts: tuple[Value, ...]) -> Array | None:
    """Return the truth values that say which elements are meant, where they are the index, and as many."""
    if len(parts) != 1 or not isinstance(parts[0], Array) or parts[0].dtype.kind != "b":
        return None
    mask = parts[0]
    if mask.shape != array.shape[: len(mask.shape)]:
        raise Failure("IndexError: boolean index did not match the indexed array", "give it the shape of the array")
    return mask


def _kept(m: Machine, array: Array, mask: Cells) -> Value:
    """Return the elements, or rows, for which a condition holds that depends on the run."""
    cells = read(m, array)
    rows = cells.reshape((mask.size, -1))

    def shaped(items: tuple[Value, ...]) -> Value:
        flat = [cell for row in items for cell in row]
        return made(m, objects(flat, (len(items), *cells.shape[mask.ndim :])), array.dtype)

    return m.each(kept(m, [tuple(row) for row in rows], [m.expr(each) for each in mask.flat]), shaped)


def kept(m: Machine, items: Sequence[Value], conditions: Sequence[Expr]) -> Value:
    """Return the items whose condition holds: a tuple, or a union of those by their lengths."""
    result = m.new_list(sifted(m))
    for item, condition in zip(items, conditions, strict=True):
        m.branch(condition, partial(sift, m, result, item), lambda: None)
    return plainly(m, m.store.pop(result.key))


def _gathered(m: Machine, array: Array, index: Value) -> Value | None:
    """Return elements of an array without further axes at places that depend on the run; None for other indices."""
    if len(array.shape) != 1 or not isinstance(index, (Expr, Element, Array)):
        return None
    if isinstance(index, (Array, Element)) and index.dtype.kind not in "ui":
        return None
    if isinstance(index, Expr) and index.boolean:
        return None
    items = tuple(read(m, array))
    places = read(m, index) if isinstance(index, Array) else objects((plain_of(m, index),), ())
    if not any(isinstance(place, Expr) for place in places.flat):
        return None
    cells = [item_at(m, items, place) for place in places.flat]
    return made(m, objects(cells, places.shape), array.dtype)


def assigned(m: Machine, array: Array, index: Value, value: Value) -> None:
    """Let what an index takes of an array be other values."""

    def put(index: tuple[Value, ...], cells: Cells) -> None:
        mask = _only_mask(array, index)
        if mask is not None and cells.size == 1:
            where = read(m, mask)
            spread = where.reshape(where.shape + (1,) * (len(array.shape) - where.ndim))
            write(m, array, _spread(cells, array.shape), np.broadcast_to(spread, array.shape))
            return
        over_all(m, [scalar for part in index for scalar in _scalars(m, part)], lambda *plain: at(index, cells, plain))

    def at(index: tuple[Value, ...], cells: Cells, plain: tuple[Value, ...]) -> None:
        scalars = iter(plain)
        everywhere = np.arange(array.sources[0][2].size).reshape(array.shape)
        places = _taken(everywhere, tuple(_filled(part, scalars) for part in index))
        changed = read(m, array)
        flat = changed.reshape(-1)
        target = np.asarray(places)
        for place, cell in zip(target.flat, _spread(cells, target.shape).flat, strict=True):
            flat[place] = cell
        write(m, array, flat.reshape(array.shape))

    def put_all(cells: Cells, _: Value) -> None:
        same = objects([cast(m, cell, array.dtype) for cell in cells.flat], cells.shape)
        prepared(m, index, lambda parts: put(parts, same))

    array_of(m, value, put_all)


def _spread(cells: Cells, shape: tuple[int, ...]) -> Cells:
    try:
        while cells.ndim > len(shape) and cells.shape[0] == 1:
            cells = cells[0]
        return np.broadcast_to(cells, shape)
    except ValueError as error:
        raise Failure(f"ValueError: {error}", "give as many values as elements are changed") from None
