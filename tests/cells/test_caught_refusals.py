"""What the algebra refuses is refused, whatever a program catches: the rest of the run would be that of an error."""

from __future__ import annotations

import contextlib
import json
import math
import random
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from tightdp import Bit, geometric, laplace, mechanism
from tightdp.errors import LanguageError
from tightdp.exact.field import exp


@mechanism(record=Bit)
def square(x):
    """A square, with an error that Python does not raise."""
    z = laplace(sum(x), 1)
    try:
        y = z * z
    except Exception:
        y = x[0]
    return y > 1


@mechanism(record=Bit)
def text(x):
    """The text of a number, and nothing that is named."""
    z = laplace(sum(x), 1)
    try:
        y = str(z)
    except:  # noqa: E722
        return x[0]
    return len(y) > 0


@mechanism(record=Bit)
def suppressed(x):
    """A with statement in place of try."""
    z, y = laplace(sum(x), 1), x[0]
    with contextlib.suppress(Exception):
        y = round(z, 2) > 1
    return y


@mechanism(record=Bit)
def finally_returned(x):
    """A return that ends every error."""
    z, y = laplace(sum(x), 1), 0
    try:
        y = z**2
    finally:
        return x[0], y  # noqa: B012


@mechanism(record=Bit)
def loop(x):
    """A loop of which the algebra is asked, in whose rounds everything is caught."""
    z = geometric(sum(x), "1/2")
    count = 0
    while geometric(0, "1/2") < 1:
        try:
            if geometric(z, "1/2") * z > 3:
                count += 1
        except Exception:
            count += x[0]
    return count


@mechanism(record=Bit)
def scale(x):
    """Noise as the scale of other noise, which fails where it is negative only."""
    z = laplace(sum(x), 1)
    try:
        y = laplace(0, z)
    except Exception:
        return x[0]
    return y > 1


@mechanism(record=Bit)
def below(x):
    """A function of NumPy that takes no noise here."""
    z = laplace(sum(x), 1)
    try:
        y = np.floor(z)
    except Exception:
        return x[0]
    return y > 1


@mechanism(record=Bit)
def shown(x):
    """How a number looks, without a name that says so."""
    return len(repr(laplace(sum(x), 1)))


@mechanism(record=Bit)
def in_an_array(x):
    """An array that holds noise."""
    z = laplace(sum(x), 1)
    try:
        return np.array([z, 1])[0]
    except Exception:
        return x[0]


@mechanism(record=Bit)
def kind_of(x):
    """Whether a quotient is a Fraction."""
    try:
        told = isinstance(sum(x) / 3, Fraction)
    except Exception:
        told = x[0]
    return told, laplace(sum(x), 1)


@mechanism(record=Bit)
def seeded(x):
    """A generator that a seed makes the same in every run."""
    try:
        told = np.random.default_rng(7).random() > 2
    except Exception:
        told = x[0]
    return told, laplace(sum(x), 1)


@mechanism(record=Bit)
def other_draw(x):
    """A draw that is not known."""
    try:
        told = random.triangular(1, 2) > 3
    except Exception:
        told = x[0]
    return told, laplace(sum(x), 1)


def given_to(function):
    """What a function of a library takes, unless it takes noise to be no number."""

    @mechanism(record=Bit)
    def mechanism_of_library(x):
        z = laplace(sum(x), 1)
        try:
            function(z)
        except (TypeError, AttributeError):
            return x[0]
        return 0

    return mechanism_of_library


OF_LIBRARIES = [
    json.dumps,
    lambda z: json.dumps({"a": [z]}),
    Decimal,
    np.isnan,
    lambda z: z + 1j,
    lambda z: z.numerator,
]
REFUSED = [square, text, suppressed, finally_returned, loop, scale, below, shown, *map(given_to, OF_LIBRARIES)]
REFUSED += [in_an_array, kind_of, seeded, other_draw]


@pytest.mark.parametrize("refused", REFUSED, ids=lambda m: m.name)
def test_a_refusal_is_not_caught(refused):
    with pytest.raises(LanguageError):
        refused.bind(n=2).privacy()


@mechanism(record=Bit)
def quotient(x):
    """An error that Python raises is caught."""
    z = geometric(sum(x), "1/2")
    try:
        y = Fraction(1, z)
    except ZeroDivisionError:
        return 2
    return int(y > 0)


def test_what_python_raises_is_caught():
    found = quotient.bind(n=1).privacy()
    assert found.lower <= 2 <= found.upper < 3


@mechanism(record=Bit)
def product(x):
    """A product on the integers, and another outcome where it fails."""
    z = geometric(sum(x), "1/2")
    try:
        y = z * z
    except Exception:
        return x[0]
    return y > 1


def test_another_way_answers_without_what_was_caught():
    found = product.bind(n=2).privacy()
    far = [sum(Fraction(1, 3) / 2 ** abs(v - total) for v in range(-60, 60) if v * v > 1) for total in range(3)]
    near = [1 - p for p in far]
    pairs = [pair for each in (far, near) for pair in pairwise(each)]
    truth = max(ratio for p, q in pairs for ratio in (p / q, q / p))
    assert found.lower <= truth + Fraction(1, 2**50)
    assert truth - Fraction(1, 2**50) <= found.upper < math.inf


@mechanism(record=Bit)
def caught_around(x):
    """A loop without an end of its own, and a handler around it."""
    count = 0
    try:
        while geometric(0, "1/2") + x[0] <= 0:
            count += 1
    except BaseException:
        return -1
    return count


def test_a_handler_does_not_catch_that_a_loop_is_endless():
    with pytest.raises(LanguageError, match="no bound on the rounds"):
        caught_around.bind(n=1).privacy()


@mechanism(record=Bit)
def part(x):
    """The real part of a number is itself."""
    return getattr(laplace(sum(x), 1), "real") > 1  # noqa: B009


def test_the_real_part_of_a_number_is_itself():
    assert part.bind(n=2).privacy().exp_epsilon == exp(1)
