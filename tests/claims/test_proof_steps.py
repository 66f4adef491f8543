"""The steps of a proof establish exactly what they say."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from deciding import X

from tightdp.claims import (
    ProofError,
    certain,
    exhaustive,
    exp,
    identity,
    limit,
    positive,
)


def test_identities() -> None:
    n, k = sympy.symbols("n k", positive=True, integer=True)
    identity((X + 1) ** 2, X**2 + 2 * X + 1, "square")
    identity(sympy.binomial(n, k) * k, n * sympy.binomial(n - 1, k - 1), "absorption")
    identity(Fraction(1, 3) + X, X + sympy.Rational(1, 3), "a fraction")
    with pytest.raises(ProofError):
        identity(X, X + sympy.Rational(1, 10**40), "almost")
    with pytest.raises(ProofError):
        identity(X, 0.5, "a float")


def test_signs() -> None:
    positive(X * (1 - X), X, 0, 1, "inside")
    positive((X - 1) ** 2, X, None, None, "a square", strict=False)
    positive(X * (1 - X), X, 0, 1, "with the ends", strict=False, closed=True)
    positive(1 / (1 + X), X, 0, None, "a quotient")
    positive((2 * X - 1) ** 2, X, 0, 1, "a square, 0 in the middle", strict=False)
    positive(X**3 - 3 * X + 2, X, 0, None, "a double root", strict=False)
    for wrong in (
        lambda: positive(X * (1 - X), X, 0, 1, "the ends are roots", closed=True),
        lambda: positive((X - sympy.Rational(1, 2)) ** 2, X, 0, 1, "a double root"),
        lambda: positive(X - sympy.Rational(1, 10**30), X, 0, 1, "a root near the end"),
        lambda: positive(1 / (X - sympy.Rational(1, 3)), X, 0, 1, "a pole", strict=False),
        lambda: positive(-X, X, 0, 1, "negative"),
        lambda: positive(-((2 * X - 1) ** 2), X, 0, 1, "negative but for one point", strict=False),
        lambda: positive(X * 0, X, 0, 1, "zero"),
    ):
        with pytest.raises(ProofError):
            wrong()


def test_limits_cases_and_comparisons() -> None:
    limit((1 + 1 / X) ** X, X, sympy.oo, sympy.E, "e")
    exhaustive(((1, 2), (3, 4)), lambda a, b: a < b, "increasing")
    certain(exp(1) < 3, "e < 3")
    for wrong in (
        lambda: limit(1 / X, X, sympy.oo, 1, "no"),
        lambda: exhaustive((1, 2), lambda n: n < 2, "no"),
        lambda: exhaustive((), lambda n: True, "no case"),
        lambda: certain(X > 0, "undecided"),
        lambda: certain(1, "not a truth value"),
    ):
        with pytest.raises(ProofError):
            wrong()


def test_a_limit_without_bound() -> None:
    limit(X**2, X, sympy.oo, sympy.oo, "x² grows")
    with pytest.raises(ProofError, match="the limit is oo"):
        limit(X**2, X, sympy.oo, 1, "x² grows")
