"""Functions of numpy, written in the language by what arrays can do: the compiler reads them as it reads any function.

Their arguments are those of numpy that are in the language. Where numpy rounds in an order of its own it is asked
itself, in doubles.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tightdp.language.doubles import are_doubles, by_numpy

Axis = Any
Like = Any
"""An array, or what one can be made of."""

__all__ = [
    "array_equal", "average", "bincount", "clip", "count_nonzero", "diff", "dot", "flatnonzero", "histogram", "inner",
    "isclose", "isin", "kron", "linspace", "matmul", "mean", "median", "outer", "ptp", "searchsorted", "std", "trace",
    "unique", "var", "vdot",
]  # fmt: skip

EXACT = ("average", "histogram", "isclose", "linspace")
"""Those that numpy itself does not compute of exact numbers: the interpreter runs what stands here."""


# lines of an array


def mean(a: Like, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    """Return means."""
    array = np.asarray(a)
    number = np.sum(np.ones(array.shape, int), axis, keepdims=keepdims)
    return np.sum(array, axis, float, keepdims=keepdims) / number


def var(a: Like, axis: Axis = None, *, ddof: Any = 0, keepdims: bool = False) -> Any:
    """Return variances."""
    array = np.asarray(a)
    gaps = array - np.mean(array, axis, keepdims=True)
    number = np.sum(np.ones(array.shape, int), axis, keepdims=keepdims) - ddof
    return np.sum(gaps * gaps, axis, keepdims=keepdims) / number


def std(a: Like, axis: Axis = None, *, ddof: Any = 0, keepdims: bool = False) -> Any:
    """Return standard deviations."""
    return np.sqrt(np.var(a, axis, ddof=ddof, keepdims=keepdims))


def average(a: Like, axis: Axis = None, weights: Like = None) -> Any:
    """Return means, or weighted ones."""
    if weights is None:
        return np.mean(a, axis)
    values, shares = np.asarray(a), np.asarray(weights)
    if shares.shape != values.shape:
        shares = np.moveaxis(shares.reshape(-1, *[1] * (values.ndim - 1)), 0, axis)
    return np.sum(values * shares, axis) / np.sum(shares, axis)


def median(a: Like, axis: Axis = None) -> Any:
    """Return medians."""
    if axis is None:
        a, axis = np.ravel(a), 0
    ordered = np.sort(a, axis)
    length = ordered.shape[axis]
    return np.mean(np.take(ordered, [(length - 1) // 2, length // 2], axis), axis)


def ptp(a: Like, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Return ranges of values."""
    return np.max(a, axis, keepdims=keepdims) - np.min(a, axis, keepdims=keepdims)


def count_nonzero(a: Like, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Return how many elements are not 0."""
    return np.sum(np.asarray(a).astype(bool), axis, keepdims=keepdims)


def diff(a: Like, n: int = 1, axis: Axis = -1) -> Any:
    """Return differences of neighbours."""
    array = np.moveaxis(np.asarray(a), axis, -1)
    for _ in range(n):
        after, before = array[..., 1:], array[..., :-1]
        array = after != before if array.dtype == bool else after - before
    return np.moveaxis(array, -1, axis)


# elements


def clip(a: Like, a_min: Like = None, a_max: Like = None, *, min: Like = None, max: Like = None) -> Any:
    """Return elements no smaller and no larger than bounds."""
    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    bounded = a if low is None else np.maximum(a, low)
    return bounded if high is None else np.minimum(bounded, high)


def isclose(a: Like, b: Like, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    """Return where |a - b| <= atol + rtol·|b|."""
    return np.abs(np.subtract(a, b)) <= atol + rtol * np.abs(np.asarray(b))


def isin(element: Like, test_elements: Like) -> Any:
    """Return which elements are among others."""
    array = np.asarray(element)
    found = np.zeros(array.shape, bool)
    for each in np.ravel(test_elements):
        found = found | (array == each)
    return found


def array_equal(a1: Like, a2: Like) -> bool:
    """Return whether two arrays have the same shape and elements."""
    left, right = np.asarray(a1), np.asarray(a2)
    return left.shape == right.shape and bool(np.all(left == right))


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True) -> Any:
    """Return numbers at equal distances."""
    points = np.arange(num) * ((stop - start) / max(1, num - 1 if endpoint else num)) + start
    if endpoint and num > 1:
        points[-1] = stop
    return points


# places and counts


def flatnonzero(a: Like) -> Any:
    """Return the places of elements that are not 0."""
    return np.nonzero(np.ravel(a))[0]


def searchsorted(a: Like, v: Like, side: str = "left") -> Any:
    """Return the places of numbers in a sorted line."""
    line, wanted = np.asarray(a), np.asarray(v)
    if np.any(line[1:] < line[:-1]):
        return _halved(line, wanted, side == "left")
    if wanted.ndim == 0:
        return np.sum(line < wanted if side == "left" else line <= wanted)
    return np.array([searchsorted(line, each, side) for each in wanted], int)


def _halved(line: Any, wanted: Any, left: bool) -> Any:
    """Return what the search for places in a line comes to where that is not sorted."""
    low, high, last, places = 0, len(line), None, []
    for each in [wanted] if wanted.ndim == 0 else wanted:
        if last is not None and not (last < each if left else last <= each):
            low, high = 0, min(high + 1, len(line))
        else:
            high = len(line)
        last = each
        while low < high:
            middle = (low + high) // 2
            if line[middle] < each if left else line[middle] <= each:
                low = middle + 1
            else:
                high = middle
        places.append(low)
    found = np.array(places, int)
    return found[0] if wanted.ndim == 0 else found


def unique(ar: Like, *, return_counts: bool = False) -> Any:
    """Return the distinct elements in order, with how often each is there if that is asked for."""
    line = np.sort(np.ravel(ar))
    first = [i for i in range(len(line)) if i == 0 or line[i] != line[i - 1]]
    values = np.array([line[i] for i in first], line.dtype)
    return (values, np.array([np.sum(line == line[i]) for i in first], int)) if return_counts else values


def bincount(x: Like, weights: Like = None, minlength: int = 0) -> Any:
    """Return how often each number from 0 on is there, or the sums of weights."""
    line = np.asarray(x)
    if isinstance(x, np.ndarray) and line.dtype == float:
        raise TypeError("Cannot cast array data from float64 to int64")
    line = line.astype(int)
    if np.any(line < 0):
        raise ValueError("'list' argument must have no negative elements")
    length = max([minlength, *(each + 1 for each in line)])
    if weights is None:
        return np.array([np.sum(line == at) for at in range(length)], int)
    shares = np.asarray(weights)
    if shares.shape != line.shape:
        raise ValueError("The weights and list don't have the same length.")
    if are_doubles(shares):
        return by_numpy(np.bincount, line, shares, length)
    return np.array([np.sum(np.where(line == at, shares, 0)) for at in range(length)], float)


def histogram(a: Like, bins: Any = 10, range: Any = None) -> Any:
    """Return counts between edges, the last of which belongs to the last count, and the edges."""
    array, edges = np.asarray(a), np.asarray(bins)
    if edges.ndim == 0:
        low, high = range if range is not None else (np.min(array), np.max(array)) if array.size > 0 else (0, 1)
        edges = np.linspace(low, high, bins + 1) if low != high else np.linspace(low - 1 / 2, high + 1 / 2, bins + 1)
    last = len(edges) - 2
    inside = [
        (array >= low) & (array <= high if i == last else array < high) for i, (low, high) in enumerate(pairwise(edges))
    ]
    return np.array([np.sum(each) for each in inside], int), edges


# products


def inner(a: Like, b: Like) -> Any:
    """Return the products of all lines of two arrays."""
    left, right = np.asarray(a), np.asarray(b)
    if left.ndim == 0 or right.ndim == 0:
        return left * right
    if left.shape[-1] != right.shape[-1]:
        raise ValueError("shapes are not aligned")
    if are_doubles(left, right):
        return by_numpy(np.inner, left, right)
    if left.ndim == 1 and right.ndim == 1:
        terms = left * right
        return np.any(terms) if terms.dtype == bool else np.sum(terms, dtype=terms.dtype)
    if left.ndim > 1:
        return np.array([inner(each, right) for each in left])
    return np.array([inner(left, each) for each in right])


def dot(a: Like, b: Like) -> Any:
    """Return the product of two arrays: of the lines of one with the columns of the other."""
    left, right = np.asarray(a), np.asarray(b)
    if are_doubles(left, right):
        return by_numpy(np.dot, left, right)
    return inner(left, right if right.ndim < 2 else np.moveaxis(right, -2, -1))


def matmul(a: Like, b: Like) -> Any:
    """Return the product of two matrices, or of one with a line."""
    left, right = np.asarray(a), np.asarray(b)
    if are_doubles(left, right):
        return by_numpy(np.matmul, left, right)
    if left.ndim == 0 or right.ndim == 0 or max(left.ndim, right.ndim) > 2:
        raise ValueError("matmul: of matrices and lines only")
    return dot(left, right)


def vdot(a: Like, b: Like) -> Any:
    """Return the sum of products of all elements."""
    return dot(np.ravel(a), np.ravel(b))


def outer(a: Like, b: Like) -> Any:
    """Return the products of all elements of one array with all of another one."""
    return np.ravel(a)[:, None] * np.ravel(b)


def kron(a: Like, b: Like) -> Any:
    """Return the product of two matrices, or of two lines, each element of one with the whole other."""
    left, right = np.asarray(a), np.asarray(b)
    if left.ndim < 2 and right.ndim < 2:
        return np.ravel(np.outer(left, right))
    (high, wide), (rows, columns) = left.shape, right.shape
    return (left[:, None, :, None] * right[None, :, None, :]).reshape(high * rows, wide * columns)


def trace(a: Like) -> Any:
    """Return the sum of the diagonal."""
    return np.sum(np.diagonal(a))
