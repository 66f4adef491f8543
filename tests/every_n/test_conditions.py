"""What conditions a run for every n, wherever it stands: proofs hold without conditions, and no end is given."""

from functools import partial
from typing import Any

import pytest

import tightdp
from tightdp import ALL, Bit, LanguageError, geometric, mechanism, observe
from tightdp.language.classes import reaches


class Accepting:
    def accept(self, value):
        observe(value)

    @staticmethod
    def always():
        tightdp.observe(True)


class Inheriting(Accepting):
    pass


ACCEPTING = Inheriting()
BY_NAME = {"accept": [ACCEPTING.accept]}
PARTIAL = partial(Accepting.accept, ACCEPTING)


@mechanism(record=Bit)
def by_a_method(x):
    text = str(geometric(sum(x), "1/2"))
    ACCEPTING.accept(len(text) > 1)
    return text


@mechanism(record=Bit)
def by_a_class(x):
    text = str(geometric(sum(x), "1/2"))
    Accepting().accept(len(text) > 1)
    return text


@mechanism(record=Bit)
def without(x):
    return str(geometric(sum(x), "1/2"))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("conditioned", [by_a_method, by_a_class])
def test_conditions_in_methods_are_seen(conditioned: Any) -> None:
    assert without.bind(n=ALL).privacy().upper == 2
    assert conditioned.bind(n=1).privacy().lower > 2
    with pytest.raises(LanguageError, match="no answer for every n"):
        conditioned.bind(n=ALL).privacy()


def named(x):
    return BY_NAME["accept"][0](x)


def kept(x):
    return PARTIAL(x)


def static(x):
    return Inheriting.always()


def nested(x):
    def inner(v):
        return tightdp.observe(v)

    return inner(x)


def mechanical(x):
    return by_a_class(x)


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (named, True),
        (kept, True),
        (static, True),
        (nested, True),
        (mechanical, True),
        (without.program.function, False),
    ],
)
def test_what_a_function_may_call(function: Any, found: bool) -> None:
    assert reaches(function, observe) is found
