"""Arrays of numpy in exact functions: numpy runs, on rationals in place of doubles, and checks that integers fit.

Arrays of integers and truth values are what they are; those of doubles have rationals as objects. Nothing of this is
shared with the compiler.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np

from tightdp.errors import LanguageError
from tightdp.exact.field import ExpNumber, exp
from tightdp.exact.rationals import Symbolic, as_fraction, refusing
from tightdp.exact.weights import as_exact

_Array: Any = np.ndarray
_NUMBERS = (bool, int, Fraction, ExpNumber, float, np.generic)


class Exact(_Array):  # type: ignore[misc]
    """An array whose elements are exact: int64 and the like, truth values, or rationals as objects."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        result = _applied(ufunc, method, inputs, options)
        if out is None:
            return result
        target = out[0]
        if not np.can_cast(_type(result), _type(target), "same_kind"):
            raise TypeError(f"cannot cast from {_type(result)} to {_type(target)} in place")
        if np.shape(result) != target.shape:
            raise ValueError("non-broadcastable output operand")
        target[...] = result
        return target

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.dtype == object:
            objects = _rational(np.asarray(value, dtype=object))
            value = objects if objects.shape else objects[()]
        super().__setitem__(index, value)

    def __iter__(self) -> Any:
        return iter([self[at] for at in range(len(self))])

    def astype(self, dtype: Any, **options: Any) -> Any:
        """The array with another type; a float type is one of rationals."""
        if np.dtype(dtype).kind == "f":
            return _exact(_rational(np.asarray(self, dtype=object)))
        return _fitted(np.asarray(self, dtype=object), np.dtype(dtype))

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, **options: Any) -> Any:
        """The exact mean."""
        total = self.astype(float).sum(axis, **options)
        count = self.size if axis is None else self.size // max(1, np.size(total))
        if not count:
            raise ZeroDivisionError("mean of an empty slice")
        return total / count

    def var(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, **options: Any) -> Any:
        """The exact variance."""
        own = self.astype(float)
        gaps = own - (own.mean(axis, keepdims=True) if axis is not None else own.mean())
        found = (gaps * gaps).sum(axis, **options)
        return found / (self.size // max(1, np.size(found)) - ddof)

    def dot(self, other: Any) -> Any:
        """The exact product."""
        return _dot(self, other)

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """The exact rounding, halves to even."""
        return _round(self, decimals)

    def argsort(self, axis: int = -1, kind: Any = None, *, stable: Any = None, **options: Any) -> Any:
        """The order; equal elements only where it is stable."""
        if kind not in ("stable", "mergesort") and not stable:
            ranked = np.sort(np.asarray(self), axis=axis)
            below, above = np.delete(ranked, -1, axis), np.delete(ranked, 0, axis)
            if ranked.shape[axis] and np.any(below == above):
                raise ValueError("argsort of equal numbers: numpy does not say in which order")
        return np.asarray(self).argsort(axis, kind="stable").view(Exact)

    def item(self, *index: Any) -> Any:
        """An element as a number of Python."""
        return super().item(*index)


def _type(value: Any) -> np.dtype[Any]:
    """The type that numpy would have here."""
    if isinstance(value, np.ndarray):
        return np.dtype(float) if value.dtype == object else value.dtype
    return np.dtype(float) if isinstance(value, (Fraction, ExpNumber)) else np.asarray(value).dtype


def _stand_in(value: Any) -> Any:
    """A one of the same type: of numpy's, or a number of Python, whose type is weak."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.ones(1, _type(value))
    if isinstance(value, (list, tuple)):
        return np.ones(1, _type(_array(value)))
    if isinstance(value, Symbolic):
        return 1 if value.is_whole() else 1.0
    return 1.0 if isinstance(value, (Fraction, ExpNumber)) else type(value)(1)


_BY_ELEMENT: dict[str, Callable[..., Any]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "rint": round,
    "exp": lambda number: exp(as_exact(number)),
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_xor": lambda a, b: bool(a) != bool(b),
    "logical_not": lambda a: not a,
    "sign": lambda a: (a > 0) - (a < 0),
    "bitwise_count": lambda a: int(a).bit_count(),
    "power": lambda a, b: _power(a, b),
    "fabs": abs,
    "fmax": max,
    "fmin": min,
}
_IN_DOUBLES = {"sqrt", "log", "log2", "log10", "log1p", "expm1", "exp2", "sin", "cos", "tan", "cbrt"}


def _power(base: Any, exponent: Any) -> Any:
    if exponent < 0 and not isinstance(base, (Fraction, ExpNumber)):
        raise ValueError("Integers to negative integer powers are not allowed.")
    if Fraction(exponent).denominator != 1:
        raise ValueError(f"{base} ** {exponent} is not rational in general")
    return base ** int(exponent)


def _applied(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a ufunc gives, on exact elements, in the type that numpy gives it."""
    name = ufunc.__name__
    with np.errstate(all="ignore"):
        sample = getattr(ufunc, method)(*(_stand_in(each) for each in inputs[: ufunc.nin]), **_typed(options))
    wanted = sample.dtype
    if name in _IN_DOUBLES:
        raise TypeError(f"np.{name} of rational numbers is not rational")
    given = [_elements(each, wanted) for each in inputs[: ufunc.nin]] + list(inputs[ufunc.nin :])
    if wanted.kind == "b" and name == "invert":
        ufunc = np.logical_not
        name = "logical_not"
    if method == "__call__" and name in _BY_ELEMENT:
        found = np.frompyfunc(_BY_ELEMENT[name], ufunc.nin, 1)(*given)
    else:
        if method in ("reduce", "accumulate") and name in _BY_ELEMENT and ufunc.nin == 2:
            ufunc = np.frompyfunc(_BY_ELEMENT[name], 2, 1)
            options = {"initial": name == "logical_and", **options} if method == "reduce" else options
        named = {key: value for key, value in options.items() if key not in ("dtype", "casting")}
        found = getattr(ufunc, method)(*given, **({"dtype": object} if method != "__call__" else {}), **named)
    return _fitted(found, wanted)


def _typed(options: dict[str, Any]) -> dict[str, Any]:
    return {"dtype": options["dtype"]} if options.get("dtype") is not None else {}


def _elements(value: Any, wanted: np.dtype[Any]) -> Any:
    """Numbers as objects: rationals where the result is one."""
    if isinstance(value, (list, tuple)):
        value = _array(value)
    objects = np.asarray(np.asarray(value), dtype=object)
    return _rational(objects) if wanted.kind == "f" else objects


def _rational(objects: Any) -> Any:
    found = np.empty(objects.shape, dtype=object)
    for at in np.ndindex(objects.shape):
        item = objects[at]
        plain = isinstance(item, (Fraction, ExpNumber, float))
        found[at] = as_exact(item if plain else int(item))
    return found


def _fitted(found: Any, wanted: np.dtype[Any]) -> Any:
    """Objects in a type. Raises OverflowError where an integer is outside of it."""
    objects = np.asarray(found, dtype=object)
    if wanted.kind == "f":
        return _exact(_rational(objects))
    if wanted.kind == "b":
        return _exact(np.asarray([bool(item) for item in objects.flat], dtype=bool).reshape(objects.shape))
    if wanted.kind not in "ui":
        raise TypeError(f"arrays of {wanted} are not exact")
    ends = np.iinfo(wanted)
    for item in objects.flat:
        if not ends.min <= int(item) <= ends.max:
            raise OverflowError(f"a number is outside {wanted}")
    return _exact(np.asarray([int(item) for item in objects.flat], dtype=wanted).reshape(objects.shape))


def _exact(result: Any) -> Any:
    """A result of numpy with exact elements."""
    if isinstance(result, np.ndarray):
        if result.dtype.kind == "f":
            result = _rational(np.asarray(result, dtype=object))
        elif result.dtype == object and not all(isinstance(item, (Fraction, ExpNumber)) for item in result.flat):
            result = _rational(np.asarray(result))
        return result.view(Exact) if result.shape else result[()]
    if isinstance(result, np.floating):
        return as_fraction(float(result))
    if isinstance(result, (tuple, list)):
        return [*map(_exact, result)] if isinstance(result, list) else tuple(map(_exact, result))
    return result


def _array(value: Any, dtype: Any = None, **options: Any) -> Any:
    if isinstance(value, np.ndarray) and dtype is None:
        return value.copy().view(Exact)
    objects = np.array(value, dtype=object)
    kinds = {type(item) for item in objects.flat}
    if dtype is not None:
        return _fitted(objects, np.dtype(dtype))
    for item in objects.flat:
        if isinstance(item, Symbolic):
            what = "arrays of numpy hold no noise that is published or compared as it is"
            item.stop(LanguageError(what, "use a list"))
    if not all(isinstance(item, _NUMBERS) for item in objects.flat):
        raise TypeError("an array of other than numbers")
    if not kinds or kinds & {Fraction, ExpNumber, float, np.float64}:
        return _exact(_rational(objects))
    return _fitted(objects, np.result_type(*(np.asarray(kind(1)).dtype for kind in kinds)))


def _asarray(value: Any, dtype: Any = None, **options: Any) -> Any:
    if isinstance(value, Exact) and (dtype is None or np.dtype(dtype) == _type(value)):
        return value
    return _array(value, dtype)


def _full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    return np.broadcast_to(_array(fill_value, dtype), shape).copy().view(Exact)


def _dot(a: Any, b: Any, function: Any = np.dot) -> Any:
    a, b = (_asarray(each) for each in (a, b))
    wanted = np.dot(np.ones(1, _type(a)), np.ones(1, _type(b))).dtype
    return _fitted(function(_elements(a, wanted), _elements(b, wanted)), wanted)


def _round(a: Any, decimals: int = 0) -> Any:
    a = _asarray(a)
    if _type(a).kind != "f":
        return a
    found = np.frompyfunc(lambda number: as_exact(round(number, decimals) if decimals else round(number)), 1, 1)
    return _exact(np.asarray(found(np.asarray(a)), dtype=object))


def _bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    counts = np.bincount(np.asarray(x), minlength=minlength).view(Exact)
    if weights is None:
        return counts
    shares = _elements(_asarray(weights), np.dtype(float))
    found = [Fraction(0)] * len(counts)
    for place, share in zip(x, shares, strict=True):
        found[place] += share
    return _array(found, float)


def _rational_of(x: Any = 0) -> Any:
    return _asarray(x).astype(float)


_OURS: dict[str, Callable[..., Any]] = {
    "array": _array, "asarray": _asarray, "full": _full, "dot": _dot, "round": _round, "around": _round,
    "bincount": _bincount, "float64": _rational_of, "inner": lambda a, b: _dot(a, b, np.inner),
    "vdot": lambda a, b: _dot(a, b, np.vdot), "matmul": lambda a, b: _dot(a, b, np.matmul),
}  # fmt: skip


def of_numpy(value: Any) -> bool:
    """Whether something belongs to numpy: the module, its functions and types, or data."""
    own = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    module = own or type(value).__module__
    return module.partition(".")[0] == "numpy" and not module.startswith("numpy.random")


def exactly(value: Any) -> Any:
    """What belongs to numpy as an exact function sees it."""
    if isinstance(value, np.ndarray):
        return _exact(np.array(value))
    if isinstance(value, np.generic):
        return _exact(value)
    if isinstance(value, np.ufunc):
        return _Ufunc(value)
    if isinstance(value, type):
        return _OURS.get(value.__name__, value) if value is np.float64 else value
    return refusing(_calling(value)) if callable(value) else value


class _Ufunc:
    """A ufunc on exact elements."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self._ufunc = ufunc

    @refusing
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        if self._ufunc.__name__ in _OURS:
            return _OURS[self._ufunc.__name__](*arguments)
        return _applied(self._ufunc, "__call__", arguments, options)

    def __getattr__(self, method: str) -> Any:
        return lambda *arguments, **options: _applied(self._ufunc, method, arguments, options)


def _calling(function: Callable[..., Any]) -> Callable[..., Any]:
    name = getattr(function, "__name__", "")

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        if name in _OURS:
            return _OURS[name](*arguments, **options)
        if arguments and isinstance(arguments[0], (list, tuple)) and name in _FOLDING:
            arguments = (_array(arguments[0]), *arguments[1:])
        return _exact(function(*arguments, **options))

    return call


_FOLDING = {
    "sum", "prod", "max", "min", "amax", "amin", "argmax", "argmin", "mean", "var", "any", "all", "cumsum", "cumprod",
    "sort", "argsort", "unique", "clip", "diff", "median", "ptp", "outer",
}  # fmt: skip
