"""What numpy does with elements: its operators and ufuncs, one table, over shapes that are brought together as it does.

Elements are exact: integers and truth values as numpy has them (a number outside its type is a run that fails), and
rationals in place of doubles. Functions that leave these are not in the language, but for constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from tightdp.core.lowering.arrays import (
    Kind,
    array_of,
    cast,
    fail_where,
    made,
    np,
    objects,
    plain_of,
    read,
    type_of_result,
    within,
    write,
)
from tightdp.core.lowering.functions import call
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import NUMPY, method, of_numpy, operates
from tightdp.core.lowering.scalars import operate, over_all, truth
from tightdp.core.lowering.values import Array, Element, Host, Value, known

UFUNCS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "true_divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "lshift": "left_shift", "rshift": "right_shift", "bitand": "bitwise_and",
    "bitor": "bitwise_or", "bitxor": "bitwise_xor", "neg": "negative", "pos": "positive", "invert": "invert",
    "abs": "absolute", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
    "ne": "not_equal",
}  # fmt: skip
"""What operators of Python are with an array."""

Cell = Callable[..., Value]
"""What a function makes of elements: (machine, type of the result, *elements)."""


def _of(name: str) -> Cell:
    return lambda m, dtype, *cells: operate(m, name, *cells)


def _of_truths(name: str, of_numbers: str) -> Cell:
    return lambda m, dtype, *cells: operate(m, name if dtype.kind == "b" else of_numbers, *cells)


def _of_truth(name: str) -> Cell:
    return lambda m, dtype, *cells: operate(m, name, *(known(truth(m, cell)) for cell in cells))


def _sign(m: Machine, dtype: Kind, cell: Value) -> Value:
    above, below = (truth(m, operate(m, name, cell, 0)) for name in ("gt", "lt"))
    return m.merge(above, 1, m.merge(below, -1, 0))


def _power(m: Machine, dtype: Kind, base: Value, exponent: Value) -> Value:
    if dtype.kind in "iu":
        failure = Failure("ValueError: Integers to negative integer powers are not allowed.", "use floats")
        fail_where(m, truth(m, operate(m, "lt", exponent, 0)), failure)
    return operate(m, "pow", base, exponent)


def _quotient(operation: str) -> Cell:
    def of(m: Machine, dtype: Kind, left: Value, right: Value) -> Value:
        failure = Failure("a division by zero in numpy", "numpy goes on with another number there")
        fail_where(m, truth(m, operate(m, "eq", right, 0)), failure)
        return operate(m, operation, left, right)

    return of


def _extremum(name: str) -> Cell:
    def of(m: Machine, dtype: Kind, left: Value, right: Value) -> Value:
        if m.floats and dtype.kind == "f":
            return operate(m, name, left, right)
        return known(m.builder.extremum(name, [m.expr(left), m.expr(right)]))

    return of


CELLS: dict[str, Cell] = {
    **{name: _of(operation) for operation, name in UFUNCS.items()},
    "add": _of_truths("bitor", "add"),
    "multiply": _of_truths("bitand", "mul"),
    "divide": _quotient("div"),
    "true_divide": _quotient("div"),
    "floor_divide": _quotient("floordiv"),
    "remainder": _quotient("mod"),
    "mod": _quotient("mod"),
    "power": _power,
    "bitwise_not": _of_truths("not", "invert"),
    "invert": _of_truths("not", "invert"),
    "bitwise_count": _of("bit_count"),
    "gcd": _of("gcd"),
    "maximum": _extremum("max"),
    "minimum": _extremum("min"),
    "fmax": _extremum("max"),
    "fmin": _extremum("min"),
    "fabs": _of("abs"),
    "square": lambda m, dtype, cell: operate(m, "bitand" if dtype.kind == "b" else "mul", cell, cell),
    "reciprocal": lambda m, dtype, cell: operate(m, "div" if dtype.kind == "f" else "floordiv", 1, cell),
    "sign": _sign,
    "floor": _of("floor"),
    "ceil": _of("ceil"),
    "trunc": _of("int"),
    "rint": _of("round"),
    "exp": _of("exp"),
    "logical_and": _of_truth("bitand"),
    "logical_or": _of_truth("bitor"),
    "logical_xor": _of_truth("bitxor"),
    "logical_not": _of_truth("not"),
}
"""What ufuncs make of elements, which are exact."""

_WEAK = {bool: "B", int: "I", float: "F"}
"""How types of Python are written among the characters of numpy for its own."""

IN_DOUBLES = (
    "sqrt", "cbrt", "log", "log2", "log10", "log1p", "exp2", "expm1", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
    "arctan2", "sinh", "cosh", "tanh", "hypot", "nextafter", "float_power", "isfinite", "isinf", "isnan", "signbit",
    "copysign", "fmod",
)  # fmt: skip
"""Ufuncs whose results are rational numbers for few arguments only."""


def elementwise(m: Machine, function: str, *operands: Value) -> Value:
    """Apply a ufunc to arrays, scalars or nested sequences."""
    return over_all(m, operands, partial(_applied, m, function), _in_pairs)


def _in_pairs(m: Machine, value: Value, action: Callable[[tuple[Value, Value]], Value]) -> Value:
    return array_of(m, value, lambda *pair: action(pair))


def _applied(m: Machine, function: str, *parts: tuple[Value, Value]) -> Value:
    kinds = [kind for _, kind in parts]
    dtype = type_of_result(m, function, kinds)
    return _by_element(m, parts, dtype, partial(_cell, m, function, dtype, kinds))


def _by_element(m: Machine, parts: Sequence[tuple[Value, Value]], dtype: Kind, of: Callable[..., Value]) -> Value:
    """Return what a function makes of elements side by side, where numpy brings them together."""
    try:
        spread = np.broadcast_arrays(*(cells for cells, _ in parts))
    except ValueError as error:
        raise Failure(f"ValueError: {error}", "give the operands shapes that fit together") from None
    items = [of(*cells) for cells in zip(*(each.flat for each in spread), strict=True)]
    return made(m, objects(items, spread[0].shape), dtype)


def _cell(m: Machine, function: str, dtype: Kind, kinds: Sequence[Value], *cells: Value) -> Value:
    m.watch()
    if m.floats and (function not in CELLS or "f" in (dtype.kind, *(np.dtype(kind).kind for kind in kinds))):
        weak = "".join(_WEAK[kind] if isinstance(kind, type) else kind.char for kind in kinds)
        name = f"numpy {function} {weak}"
        return operate(m, name, *cells)
    if function not in CELLS:
        what = f"np.{function} of rational numbers is not rational"
        raise m.unsupported(what, "compare before it is applied, or ask with floats: --floats")
    return within(m, CELLS[function](m, dtype, *cells), dtype)


def _ufunc(name: str) -> None:
    def handler(m: Machine, *operands: Value) -> Value:
        return elementwise(m, name, *operands)

    if name not in NUMPY:
        of_numpy(name)(handler)


for _name in (*CELLS, *IN_DOUBLES):
    _ufunc(_name)


# operators


@operates(Array, Element)
def _operator(m: Machine, name: str, *operands: Value) -> Value:
    """Apply an operation of the core language to arrays or scalars of numpy."""
    if name in UFUNCS:
        return elementwise(m, UFUNCS[name], *operands)
    if name == "matmul":
        return call(m, Host(np.matmul), operands, {})
    if name == "bool":
        return known(_truth(m, operands[0]))
    plain = [_only(m, operand) if isinstance(operand, Array) else plain_of(m, operand) for operand in operands]
    return plain[0] if name == "plain" else operate(m, name, *plain)


def _only(m: Machine, array: Array) -> Value:
    """Return the only element of an array, as Python's `int` and `float` do."""
    if len(array.shape) > 0:
        raise Failure("TypeError: only 0-dimensional arrays can be converted to Python scalars", "take an element")
    return plain_of(m, Element(read(m, array).flat[0], array.dtype))


def _truth(m: Machine, value: Value) -> Value:
    if isinstance(value, Element):
        return truth(m, value.value)
    cells = read(m, value)
    if cells.size != 1:
        what = "ValueError: the truth value of an array with other than one element is ambiguous"
        raise Failure(what, "use a.any() or a.all()")
    return truth(m, cells.flat[0])


@method("in place", Array)
def _in_place(m: Machine, array: Array, result: Value) -> None:
    """Write the result of an operator such as += into the array that it changes."""

    def into(cells: Value, kind: Value) -> None:
        if not np.can_cast(np.dtype(kind), array.dtype, "same_kind"):
            what = f"UFuncTypeError: cannot cast from {np.dtype(kind)} to {array.dtype} in place"
            raise Failure(what, "make it a float array first, or write a = a + b", TypeError)
        if cells.shape != array.shape:
            raise Failure("ValueError: non-broadcastable output operand", "write a = a + b")
        write(m, array, objects([cast(m, cell, array.dtype) for cell in cells.flat], cells.shape))

    array_of(m, result, into)


@of_numpy("where")
def _where(m: Machine, condition: Value, *sides: Value) -> Value:
    if not sides:
        return NUMPY["nonzero"](m, condition)
    if len(sides) != 2:
        raise Failure("ValueError: either both or neither of x and y should be given", "give both")

    def of(*parts: tuple[Value, Value]) -> Value:
        dtype = _joined(m, *(kind for _, kind in parts[1:]))
        chosen = lambda c, a, b: m.merge(truth(m, c), cast(m, a, dtype), cast(m, b, dtype))  # noqa: E731
        return _by_element(m, parts, dtype, chosen)

    return over_all(m, (condition, *sides), of, _in_pairs)


def _joined(m: Machine, left: Value, right: Value) -> Kind:
    return type_of_result(m, "multiply", (left, right)) if left != right else np.dtype(left)
