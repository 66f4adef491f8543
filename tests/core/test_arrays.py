# ruff: noqa: E501
"""Arrays of numpy: compiled they are what the interpreter says, which runs numpy, and what numpy gives by itself."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from agreement import assert_agreement, bind, module_of
from thinned import thinned
from tightdp.language.domains import Int

CERTAIN = {
    "make": "np.array(x), np.zeros(2), np.ones(3, dtype=int), np.full(2, x[0]), np.arange(4), np.arange(1, 7, 2)",
    "nested": "np.array([[x[0], 1], [x[1], 2]]).T",
    "like": "np.zeros_like(np.array(x)), np.ones_like([1.5, 2]), np.full_like(np.arange(3), 7)",
    "eye": "np.eye(2), np.identity(2, dtype=int), np.diag([x[0], x[1]]), np.diag(np.eye(3, dtype=int) * x[0])",
    "arithmetic": "np.array(x) * 2 + np.arange(2) - 1, np.array(x) / 2, np.array(x) // 2, 7 % (np.array(x) + 1), -np.array(x)",
    "powers": "np.array(x) ** 2, 2 ** np.array(x), np.square(np.array(x)), abs(np.array(x) - 1)",
    "broadcast": "np.array(x).reshape(-1, 1) + np.arange(3), np.array(x)[:, None] == np.array(x)[None, :]",
    "compared": "np.array(x) > 1, np.array(x) == [0, 1], np.array(x) != x[0], 1 <= np.array(x)",
    "truths": "~(np.array(x) > 0), (np.array(x) > 0) & (np.array(x) < 2), np.logical_not(np.array(x)), np.logical_xor(x, [1, 0])",
    "sums-of-truths": "(np.array(x) > 0).sum(), (np.array(x) > 0) + (np.array(x) < 2), (np.array(x) > 0)[0] + (np.array(x) > 1)[0]",
    "truth-times": "(np.array(x) > 0) * 3, (np.array(x) > 0)[0] * (np.array(x) > 0)[1], True + (np.array(x) > 0)[0]",
    "masks": "np.array(x)[np.array(x) > 0], np.arange(6)[[True, False] * 3], np.array(x)[[1, 0]], np.array(x)[x[0] % 2]",
    "fancy": "np.arange(9).reshape(3, 3)[[0, 2], [1, 1]], np.arange(9).reshape(3, 3)[[0, 2]], np.arange(5)[np.array(x)]",
    "slices": "np.arange(6)[1:5:2], np.arange(6)[::-1], np.arange(6).reshape(2, 3)[:, 1:], np.arange(6).reshape(2, 3)[x[0] % 2, -1]",
    "dots": "np.arange(6).reshape(2, 3)[..., 0], np.arange(4)[np.newaxis, :].shape, np.arange(6)[x[0]:]",
    "reductions": "np.sum(x), np.array(x).min(), np.max(x), np.prod(x), np.argmax(x), np.argmin(x), np.mean(x), np.array(x).var()",
    "axes": "np.arange(6).reshape(2, 3).sum(axis=0), np.arange(6).reshape(2, 3).sum(1), np.arange(6).reshape(2, 3).max(axis=1, keepdims=True)",
    "axes-of-many": "np.arange(24).reshape(2, 3, 4).sum(axis=(0, 2)), np.arange(6).reshape(2, 3).mean(axis=0), np.arange(6).reshape(3, 2).argmax(axis=0)",
    "any-all": "np.any(np.array(x) > 1), np.all(x), (np.array(x) > 0).any(), np.count_nonzero(x), np.ptp(x)",
    "running": "np.cumsum(x), np.cumprod(np.array(x) + 1), np.cumsum(np.arange(6).reshape(2, 3), axis=1), np.diff(np.array([0, *x])), np.cumsum(np.array(x) > 0)",
    "counted": "np.bincount(x), np.bincount(np.array(x), minlength=5), np.unique(x), np.unique(x, return_counts=True)",
    "weighted": "np.bincount(x, weights=[0.5, 2]), np.average([1, 2], weights=[x[0] + 1, 1]), np.average(x)",
    "sorted": "np.sort(x), np.sort([3, *x, 1])[::-1], np.argsort(np.array([5, *x]), kind='stable'), np.median([1, *x])",
    "joined": "np.concatenate([x, [7]]), np.concatenate((np.array(x), [0.5])), np.stack([x, x]), np.hstack((x, [1])), np.vstack((x, [1, 2]))",
    "repeated": "np.tile(x, 2), np.repeat(x, 2), np.roll(x, 1), np.flip(x), np.triu(np.ones((2, 2), dtype=int)), np.delete([1, 2, 3], 1)",
    "where": "np.where(np.array(x) > 0, 1, -1), np.where(np.array(x) > 1, x, 0.5), np.nonzero(x), np.flatnonzero(np.array(x) == 2)",
    "clipped": "np.clip(np.array(x) * 3, 1, 4), np.array(x).clip(max=1), np.minimum(x, 1), np.maximum(np.array(x), np.array(x)[::-1])",
    "products": "np.dot(x, [1, 2]), np.array(x) @ np.array([[1, 2], [3, 4]]), np.outer(x, [1, 2]), np.inner(x, x), np.eye(2) @ np.eye(2)",
    "matrices": "np.array([[1, 2], [3, 4]]) @ np.array([[x[0], 0], [0, x[1]]]), np.array([[1, 2], [3, 4]]).dot(x), np.trace(np.arange(9).reshape(3, 3))",
    "rounded": "np.floor(np.array(x) / 2), np.ceil(np.array(x) / 2), np.round(np.array(x) / 2), np.rint([x[0] / 2]), np.sign(np.array(x) - 1)",
    "as-types": "np.array(x).astype(float) / 2, (np.array(x) / 2).astype(int), np.array(x).astype(bool), np.float64(x[0]) / 3, np.int64(x[0]) // 2",
    "shapes": "np.arange(6).reshape(2, -1).shape, np.array(x).size, np.array(x).ndim, len(np.zeros((3, 2))), np.zeros((2, 0)).sum()",
    "looked-up-unsorted": "np.searchsorted([2, x[0], 1, x[1], 0], [1, x[1], 0, 2]), np.searchsorted([1, x[0], x[1]], 1, 'right')",
    "looked-up": "np.searchsorted([0, 1, 1, 2], x), np.searchsorted(np.array([0, 2]), 1, side='right'), np.isin(x, [0, 2]), np.array_equal(x, [1, 2])",
    "close": "np.isclose(np.array(x) / 3, 1 / 3), np.reciprocal(np.array([2.0, 4.0])), np.bitwise_xor(x, 1), np.left_shift(x, 2)",
    "python-on-arrays": "sum(np.array(x)), max(np.array(x)), tuple(sorted(np.array(x))), tuple(np.array(x)), min(np.array(x)[0], 1)",
    "python-loops": "tuple(int(a) for a in np.array(x)), tuple((i, a) for i, a in enumerate(np.array(x))), tuple(r.sum() for r in np.eye(2)), (*map(int, np.array(x) > 0),)",
    "scalars": "int(np.array(x).sum()), bool(np.array(x)[0]), range(np.array(x)[0])[:0] == range(0), [10, 20, 30][np.array(x)[0]]",
    "strings": "f'{np.array(x)[0]}', {1: 'a', 0: 'b', 2: 'c'}[np.array(x)[0]], np.array(x)[0] in (1, 2), np.array(x).tolist() == list(x)",
    "item": "np.array(x)[0].item() + 1, np.array([x[0]]).item(), np.array(x).tolist()[1]",
    "grids": "np.linspace(0, 1, 5), np.linspace(x[0], 3, 4, endpoint=False), np.meshgrid([0, 1], [*x, 2]), np.kron(np.eye(2, dtype=int), [[1, x[0]]])",
    "histogram": "np.histogram(x, bins=[0, 1, 2]), np.histogram(np.array(x) / 2, bins=2, range=(0, 1))[0], np.histogram([], bins=[0, 1])[0]",
    "spread": "np.var([*x, 5], ddof=1), np.array([[0, x[0]], [1, 2]]).var(axis=1), np.var(np.eye(2), axis=0, ddof=1, keepdims=True)",
    "lines": "np.median([[0, x[0], 2], [x[1], 1, 1]], axis=1), np.ptp(np.arange(6).reshape(2, 3), axis=0), np.diff([0, 1, x[0], 5], 2)",
    "weighted-lines": "np.average([[0, x[0]], [1, 2]], axis=0, weights=[1, 3]), np.average([[1, 2], x], axis=1, weights=[[1, 1], [2, 1]])",
    "bins-of-data": "np.histogram([0, *x, 4], bins=2), np.histogram(x, 3, range=(0, 3)), np.histogram([x[0]], bins=2)[0]",
    "more-products": "np.kron(x, [1, 2]), np.vdot([x], [[1, 2]]), np.inner([x, [1, 0]], [x, x]), np.dot(x, 2), np.dot(np.eye(2) > 0, np.array(x) > 0)",
    "methods": "np.array(x).clip(1), np.array([*x, 3]).argsort(kind='stable'), np.array([[1, x[0]], x]).trace(), np.array(x).dot([1, 2]), np.array(x).nonzero()",
    "empty": "np.array([]).sum(), np.zeros(0).size, np.concatenate([x, np.array([], dtype=int)]), np.any([]), np.arange(0).shape",
}  # fmt: skip
"""Expressions of two records from 0 to 2, without draws."""

CHANGING = {
    "items": "a = np.zeros(3)\n    a[x[0]] = 5\n    a[-1] += x[1]\n    return a.sum(), a[0], a",
    "views": "a = np.arange(6).reshape(2, 3)\n    row = a[x[0] % 2]\n    row[0] = 9\n    a[:, 1] = x\n    return a, row",
    "copies": "a = np.arange(4)\n    b = a[[0, 1]]\n    c = a.copy()\n    b[0] = 7\n    c[1] = 8\n    d = a.reshape(2, 2)\n    d[0, 0] = x[0]\n    return a, b, c",
    "aliases": "a = np.array(x)\n    b = a if x[0] else a.copy()\n    b[0] = 5\n    return a, b",
    "either": "a, b = np.zeros(2, dtype=int), np.ones(2, dtype=int)\n    c = a if x[0] > x[1] else b\n    c += 10\n    return a, b, c",
    "fresh": "v = np.zeros(2, dtype=int)\n    for r in x:\n        if r:\n            v = v + r\n    v[0] -= 1\n    return v",
    "in-place": "a = np.array(x)\n    b = a\n    a *= 3\n    a[a > 2] = -1\n    a[1:] += 1\n    return a, b",
    "masked": "a = np.arange(4)\n    a[a > x[0]] = 0\n    b = np.zeros((2, 2))\n    b[[True, x[0] > 0]] = 1\n    return a, b",
    "masked-many": "a = np.array([3, *x])\n    a[a > 1] = a[a > 1] * 2\n    return a",
    "rows": "a = np.zeros((2, 2), dtype=int)\n    for i, row in enumerate(a):\n        row[:] = x[i]\n    a.T[0] += 1\n    return a",
    "sorted": "a = np.array([2, *x])\n    b = a\n    a.sort()\n    a.fill(a[0]) if x[0] else None\n    return b",
    "passed": "def g(v):\n        v[0] = 9\n        return v.sum()\n    a = np.array(x)\n    s = g(a)\n    return s, a",
    "in-lists": "parts = [np.array(x), np.arange(2)]\n    parts[x[0] % 2][0] = 7\n    return parts[0], parts[1], np.array(parts).sum()",
    "truncated": "a = np.array(x)\n    a[0] = 5 / 2\n    return a",
    "duplicates": "a = np.zeros(3, dtype=int)\n    a[[0, 0, x[0]]] += 1\n    return a",
}  # fmt: skip

DRAWN = {
    "noisy-histogram": "n = np.bincount(x, minlength=3) + np.array([geometric(0, '1/2', -1, 1) for _ in range(3)])\n    return int(np.argmax(n)), n.max()",
    "index": "a = np.arange(5) ** 2\n    i = randint(0, 3)\n    a[i] = x[0]\n    return a[i + 1], a.sum(), a[i:].min()",
    "mask": "keep = np.array([flip('1/3') for _ in x])\n    return np.array(x)[keep].sum(), keep.sum()",
    "lengths": "keep = np.array([flip('1/3') for _ in x])\n    return tuple(np.array(x)[keep])",
    "fancy": "i = np.array([randint(0, 1), randint(0, 1)])\n    return np.array(x)[i], np.eye(2, dtype=int)[i]",
    "chosen": "w = np.array([1, 2, 1]) + np.bincount(x, minlength=3)\n    return choice(np.arange(3), weights=w / w.sum())",
    "exponential": "s = np.bincount(x, minlength=3)\n    return choice([0, 1, 2], weights=np.exp(s * (1 / 2)))",
    "threshold": "p = np.cumsum(np.array([1, 1, 2]) / 4)\n    u = randint(0, 3) / 4\n    return int(np.argmax(u < p)) + x[0]",
    "loop": "v = np.array(x)\n    for _ in range(3):\n        if flip('1/2'):\n            v = v + 1\n        v = np.minimum(v, 3)\n    return v.sum()",
    "ties": "v = np.array([*x, randint(0, 2)])\n    return np.argsort(v, kind='stable'), np.sort(v)",
    "rounds": "v = np.zeros(2)\n    v[randint(0, 1)] += x[0] / 2\n    return np.floor(v), v.mean()",
    "unique": "return np.unique([x[0], randint(0, 1)])",
    "shuffled": "return tuple(shuffle(np.array([*x, 5])))[0]",
    "flip": "return flip(np.mean(x) / 2), flip(np.array([0.25, 0.5])[x[0] % 2])",
}

FAILING = {
    "overflow": ("a = np.array(x) * 2 ** 62\n    return a + a", 8),
    "overflow-of-a-scalar": ("a = np.int64(2 ** 62) + x[0]\n    return (a + a) * 0", 9),
    "small-type": ("return np.array(x, dtype=np.int8) * np.int8(100)", 5),
    "product": ("return np.prod(np.full(63, 2)) * np.array(x)[0]", 9),
    "dot": ("return np.dot(np.array(x) * 2 ** 31, np.array(x) * 2 ** 31)", 6),
    "cast": ("a = np.array(x)\n    a += 0.5\n    return a", 9),
    "ambiguous": ("return 1 if np.array(x) > 0 else 0", 9),
    "range": ("return np.arange(2)[x[0]]", 3),
    "shapes": ("return np.array(x) + np.arange(3)", 9),
    "order": ("return np.argsort(x)", 3),
    "divided": ("return 1 // np.array(x)", 5),
    "minus-truth": ("return -(np.array(x) > 0)", 9),
    "bad-count": ("return np.bincount(np.array(x) - 1)", 5),
    "negative-power": ("return np.array([2]) ** (np.array(x)[0] - 1)", 3),
    "float-index": ("return [1, 2, 3][np.array(x).mean()]", 9),
    "not-aligned": ("return np.array(x) @ np.array([1, 2, 3])", 9),
    "uneven-weights": ("return np.bincount(x, weights=[1])", 9),
    "no-elements": ("a = np.array(x)\n    return a[a > 0].max()", 1),
}
"""Programs that fail on so many of nine datasets."""


def _body(expression: str) -> str:
    return f"return ({expression},)"


def _module(body: str) -> Any:
    return module_of(f"import numpy as np\ndef f(x):\n    {body}\n")


def _plain(value: Any) -> Any:
    """What numpy gives, as an output."""
    if isinstance(value, (tuple, list, range)):
        return tuple(map(_plain, value))
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    return Fraction(value).limit_denominator(10**6) if isinstance(value, float) else value


def _check_certain(body: str) -> None:
    with _module(body) as module:
        bound = bind(module, Int(0, 2), 2)
        seen = assert_agreement(bound)
        assert seen.failing == 0
        for x, law in seen.laws.items():
            assert law == {_plain(module.f(x)): 1}, x


@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", thinned(CERTAIN, 2))
def test_an_expression_is_what_numpy_gives(name: str) -> None:
    _check_certain(_body(CERTAIN[name]))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", CHANGING)
def test_changes_reach_what_they_reach_in_numpy(name: str) -> None:
    _check_certain(CHANGING[name])


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", DRAWN)
def test_draws_in_arrays_have_the_law_of_the_interpreter(name: str) -> None:
    with _module(DRAWN[name]) as module:
        assert assert_agreement(bind(module, Int(0, 2), 2)).failing == 0


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", FAILING)
def test_what_numpy_refuses_or_wraps_is_a_run_that_fails(name: str) -> None:
    body, failing = FAILING[name]
    with _module(body) as module, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert assert_agreement(bind(module, Int(0, 2), 2)).failing == failing
