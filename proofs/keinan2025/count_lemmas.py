"""Lemmas on counts. D = O - n/2, q a probability."""

from __future__ import annotations

from sympy import Rational, symbols

ONE_HALF = Rational(1, 2)


n, o = symbols("n o", integer=True, positive=True)


d, t, z, q, mu = symbols("d t z q mu", positive=True)
