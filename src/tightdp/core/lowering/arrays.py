"""Arrays of numpy: a shape, a type, and scalars of the core language in the heap; how they are read and written.

Where elements stand and whether something is a view, numpy says itself: it is asked on arrays of places. What an
operation makes of two types it is asked on ones. So only the elements are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from tightdp.core.doubles import Double
from tightdp.core.lowering.alike import NotAlike
from tightdp.core.lowering.iteration import collected
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import adopts
from tightdp.core.lowering.scalars import adopt, operate, truth
from tightdp.core.lowering.values import (
    Array,
    Collection,
    Element,
    Every,
    Infinity,
    Stream,
    Table,
    Value,
    View,
    is_scalar,
    known,
    name_of,
)
from tightdp.core.nodes import Expr
from tightdp.core.operators import is_number
from tightdp.exact.lazily import lazily

np: Any = lazily("numpy")

Cells: TypeAlias = Value
"""An array of numpy of scalars of the core language, as objects."""
Kind: TypeAlias = Value
"""A type of numpy."""

_MOST = 4096
"""How many elements an array may have."""


# types


def allowed(m: Machine, dtype: Kind) -> Kind:
    """Return the type of an array. Raises LanguageError where its elements are not in the language."""
    if dtype.kind not in "bui" and dtype != np.float64:
        raise m.unsupported(f"the type {dtype} of numpy is not in the language", "use int64, float64 or bool")
    return dtype


def kind_of(m: Machine, value: Value) -> Value:
    """Return the type of a scalar: of numpy, or of Python."""
    if isinstance(value, Element):
        return value.dtype
    if isinstance(value, Double):
        return float
    values = value.values if isinstance(value, Expr) else (value,)
    if isinstance(value, Expr) and value.boolean:
        return bool
    if not all(is_number(each) or isinstance(each, float) for each in values):
        raise m.unsupported(f"an array of {name_of(value)} is not in the language", "make arrays of numbers")
    if isinstance(values, range) or all(isinstance(each, int) for each in values):
        return bool if all(isinstance(each, bool) for each in values) else int
    return float


def common(m: Machine, items: Sequence[Value]) -> Kind:
    """Return the type of an array made of scalars."""
    kinds = {kind_of(m, item) for item in items}
    plain = [np.dtype(kind) for kind in kinds]
    return allowed(m, np.result_type(*plain) if plain else np.dtype(float))


@lru_cache(4096)
def result_type(function: str, kinds: tuple[Value, ...]) -> Value:
    """Return the type, or types, that a function of numpy gives for these; types of Python are weak, as in numpy."""
    ones = [kind(1) if isinstance(kind, type) else np.ones(1, kind) for kind in kinds]
    with np.errstate(all="ignore"):
        found = getattr(np, function)(*ones)
    return found.dtype


def type_of_result(m: Machine, function: str, kinds: Sequence[Value]) -> Kind:
    """Return the type that a function gives, as a Failure where numpy refuses."""
    try:
        return allowed(m, result_type(function, tuple(kinds)))
    except (TypeError, ValueError, OverflowError) as error:
        raise Failure(f"{type(error).__name__}: {error}", "convert the operands") from None


def within(m: Machine, value: Value, dtype: Kind) -> Value:
    """Return a number, on the runs on which it fits into its type: numpy would go on with another one."""
    if dtype.kind not in "ui" or (isinstance(value, Expr) and value.boolean):
        return value
    ends = np.iinfo(dtype)
    values = value.values if isinstance(value, Expr) else (value,)
    for comparison, end in (("lt", int(ends.min)), ("gt", int(ends.max))):
        if any(each < end if comparison == "lt" else each > end for each in (values[0], values[-1])):
            failure = Failure(f"an overflow: a number is outside {dtype}", "numpy goes on with another number there")
            fail_where(m, truth(m, operate(m, comparison, value, end)), failure)
    return value


def fail_where(m: Machine, condition: Expr, failure: Failure) -> None:
    """Let the runs fail on which a condition holds, as Python would raise here."""

    def fail() -> Value:
        raise failure

    m.branch(condition, fail, lambda: None)


def cast(m: Machine, value: Value, dtype: Kind) -> Value:
    """Return a scalar as one of a type."""
    plain = value.value if isinstance(value, Element) else value
    if dtype.kind == "b":
        return known(truth(m, plain))
    if dtype.kind == "f":
        return operate(m, "float", plain) if m.floats else plain
    return within(m, operate(m, "int", plain), dtype)


# elements


def objects(items: Sequence[Value], shape: tuple[int, ...]) -> Cells:
    """Return scalars in a shape."""
    cells = np.empty(len(items), dtype=object)
    for at, item in enumerate(items):
        cells[at] = item
    return cells.reshape(shape)


def made(m: Machine, cells: Cells, dtype: Kind) -> Value:
    """Return a new array with these elements, or the only one where there is no shape."""
    if cells.shape == ():
        return Element(cells[()], dtype)
    if cells.size > _MOST:
        raise m.unsupported(f"an array of {cells.size:,} elements is not in the language", f"use at most {_MOST:,}")
    key = m.store.new_key()
    m.store[key] = tuple(cells.ravel())
    places = np.arange(cells.size).reshape(cells.shape)
    return Array(cells.shape, dtype, ((m.builder.true, key, places),))


def read(m: Machine, array: Array) -> Cells:
    """Return the elements of an array as they are now."""
    contents = [[m.store[key][at] for at in places.flat] for _, key, places in array.sources]
    items = contents[-1]
    for (guard, _, _), other in zip(reversed(array.sources[:-1]), reversed(contents[:-1]), strict=True):
        items = [m.merge(guard, mine, theirs) for mine, theirs in zip(other, items, strict=True)]
    return objects(items, array.shape)


def write(m: Machine, array: Array, cells: Cells, where: Cells | None = None) -> None:
    """Let the elements of an array be others, where it says so if it does."""
    for guard, key, places in array.sources:
        if key in m.frozen:
            raise m.unsupported("an array of the enclosing module cannot be changed", "copy it first: a.copy()")
        if not places.flags.writeable:  # numpy says so of diagonals and of what is broadcast
            raise Failure("ValueError: assignment destination is read-only", "copy it first: .copy()")
        content = list(m.store[key])
        for at, cell in zip(np.ndindex(array.shape), cells.flat, strict=True):
            place, condition = places[at], guard if where is None else m.conj(guard, m.expr(where[at]))
            content[place] = m.merge(condition, cell, content[place])
        m.store[key] = tuple(content)


def viewed(array: Array, view: Callable[[Cells], Cells]) -> Array | None:
    """Return what a function of arrays gives that looks at the same elements; None where it copies them."""
    sources = [(guard, key, view(places)) for guard, key, places in array.sources]
    if any(not np.shares_memory(new, old[2]) for (_, _, new), old in zip(sources, array.sources, strict=True)):
        return None
    return Array(sources[0][2].shape, array.dtype, tuple(sources))


# anything as an array


def array_of(m: Machine, value: Value, action: Callable[[Cells, Value], Value]) -> Value:
    """Apply an action to the elements of an array, a scalar or nested sequences, and to their type.

    The type of a scalar of Python is one of Python.
    """

    def of(one: Value) -> Value:
        if isinstance(one, Array):
            return action(read(m, one), one.dtype)
        if isinstance(one, Element):
            return action(objects((one.value,), ()), one.dtype)
        if is_scalar(one) or isinstance(one, Double):
            return action(objects((one,), ()), kind_of(m, one))
        return nested(m, one, lambda items, shape: action(*_listed(m, items, shape)))

    return m.each(value, of)


def _listed(m: Machine, items: Sequence[Value], shape: tuple[int, ...]) -> tuple[Cells, Kind]:
    dtype = common(m, items)
    return objects([cast(m, item, dtype) for item in items], shape), dtype


def nested(m: Machine, value: Value, action: Callable[[tuple[Value, ...], tuple[int, ...]], Value]) -> Value:
    """Apply an action to the scalars in nested sequences, and to the shape of these."""

    def of(one: Value) -> Value:
        if is_scalar(one) or isinstance(one, (Element, Double)):
            return action((one,), ())
        if isinstance(one, Array):
            cells = [Element(cell, one.dtype) for cell in read(m, one).flat]
            return action(tuple(cells), one.shape)
        if isinstance(one, Infinity):
            raise m.unsupported(*INFINITE_CELL)
        if isinstance(one, (Collection, Table, View, Stream)) or (isinstance(one, Every) and one.parts):
            what = f"an array made of a {name_of(one)}, which numpy takes for one object, is not in the language"
            raise m.unsupported(what, "make a list of it first")
        return m.each(collected(m, one), begun)

    def begun(items: Value) -> Value:
        if not isinstance(items, tuple):
            raise NotAlike("it makes an array")
        return joined((), None, items)

    def joined(done: tuple[Value, ...], shape: tuple[int, ...] | None, rest: tuple[Value, ...]) -> Value:
        if not rest:
            length = () if shape is None else shape
            return action(done, (count_of(done, length), *length))
        return nested(m, rest[0], lambda items, inner: further(done, shape, items, inner, rest[1:]))

    def further(
        done: tuple[Value, ...], shape: tuple[int, ...] | None, items: tuple[Value, ...], inner: tuple[int, ...],
        rest: tuple[Value, ...],
    ) -> Value:  # fmt: skip
        if shape is not None and inner != shape:
            raise Failure("ValueError: the sequences of an array have different lengths", "make them equally long")
        return joined((*done, *items), inner, rest)

    def count_of(done: tuple[Value, ...], inner: tuple[int, ...]) -> int:
        size = 1
        for length in inner:
            size *= length
        return len(done) // size if size else 0

    return m.each(value, of)


INFINITE_CELL = "infinity in an array is not in the language", "use a list, or None in its place"


def plain_of(m: Machine, value: Value) -> Value:
    """Return a scalar of numpy as one of Python; anything else as it is."""
    if not isinstance(value, Element):
        return value
    if value.dtype.kind == "f" and not m.floats:
        return operate(m, "rational", value.value)
    return value.value


@adopts("numpy")
def _adopted(m: Machine, thing: object) -> Value:
    """Return an array or a scalar of the enclosing module, which may be read, not changed."""
    cells = np.asarray(thing)
    allowed(m, cells.dtype)
    items = [adopt(m, item.item()) for item in cells.flat]
    if any(isinstance(item, Infinity) for item in items):
        raise m.unsupported(*INFINITE_CELL)
    found = made(m, objects(items, cells.shape), cells.dtype)
    if isinstance(found, Array):
        m.frozen.add(found.sources[0][1])
    return found
