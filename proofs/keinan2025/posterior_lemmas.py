"""Lemmas on posteriors. t = e^ε, p = t/(1+t), c_i(o) the larger posterior of bit i."""

from __future__ import annotations

from sympy import Rational, symbols

t, n, m, k = symbols("t n m k", positive=True)


x, y = symbols("x y", nonnegative=True)


p = t / (1 + t)


ONE_HALF = Rational(1, 2)
