"""Certificates where noise, or a loop, is cut off: of all laws that differ from the program's by an error at most."""

from __future__ import annotations

import copy
import random
from fractions import Fraction
from typing import Any

import pytest

from certificate_bombs import sealed
from certificate_changes import changed, near
from certificate_oracle import is_true
from certificate_oracle import number as written
from conftest import FULL
from tightdp import Bit, discrete_gaussian, flip, laplace, mechanism
from tightdp.errors import QueryError
from tightdp.exact.field import exp
from tightdp.session.certify import Certificate, load_checker

checker = load_checker()


@mechanism(record=Bit)
def noisy_count(x, variance=2):
    """Gaussian noise on a count."""
    return discrete_gaussian(sum(x), variance)


@mechanism(record=Bit)
def heads(x):
    """How long a coin shows heads."""
    k = 0
    while flip(Fraction(1 + x[0], 4)):
        k += 1
    return k


@mechanism(record=Bit)
def parity(x):
    """Whether a coin of probability p, then p/2, p/3, ... shows tails first at an odd number: it does with e^-p."""
    p = Fraction(1 + x[0], 3)
    k = 1
    while flip(p / k):
        k += 1
    return k % 2 == 1


@mechanism(record=Bit)
def threshold(x):
    """Whether a count with noise on the reals is above each of two numbers."""
    noisy = laplace(sum(x), 1)
    return noisy > 1, noisy > Fraction(5, 2)


def claims(found: Certificate) -> str:
    return str(found.content["claim"]["question"])


@pytest.mark.slow(seconds=2)
def test_a_loop_in_closed_form_has_an_upper_end() -> None:
    loop = parity.bind(n=1)
    tight = loop.privacy().exp_epsilon
    claim = loop.certify().content["claim"]
    assert claim["question"] == "privacy"
    assert tight < Fraction(claim["bound"]) < tight + Fraction(3, 10**15)
    assert claims(loop.certify(exp_epsilon="1716/1000")) == "violation"


def test_real_noise_that_meets_numbers_is_exact() -> None:
    noisy = threshold.bind(n=2)
    claim = noisy.certify().content["claim"]
    power = exp(Fraction(1, claim["root"]))
    assert written(claim["bound"], power) == noisy.privacy().exp_epsilon
    assert claim["attained"]
    found = noisy.certify(curve=True)
    points = found.content["claim"]["points"]
    assert [tuple(written(each, power) for each in point) for point in points] == [*noisy.curve().points]


def test_both_ends_are_certified_where_gaussian_noise_is_rounded() -> None:
    count = noisy_count.bind(n=2)
    found = count.delta(exp_epsilon=2)
    assert 0 < found.lower < found.delta
    assert claims(count.certify(exp_epsilon=2, delta=found.delta)) == "privacy"
    assert claims(count.certify(exp_epsilon=2, delta=found.lower * (1 - Fraction(1, 10**9)))) == "violation"
    with pytest.raises(QueryError, match="shows of δ no more"):
        count.certify(exp_epsilon=2, delta=(found.lower + found.delta) / 2)
    assert claims(count.certify(exp_epsilon=1000)) == "violation"  # without δ nothing is enough
    with pytest.raises(QueryError, match="refuted at a time"):
        count.certify()
    assert len(count.certify(curve=True).content["claim"]["points"]) > 10


def test_a_loop_without_a_bound_is_certified() -> None:
    loop = heads.bind(n=1)
    assert claims(loop.certify(exp_epsilon=3, delta="1/10")) == "privacy"
    assert claims(loop.certify(exp_epsilon=3)) == "violation"
    with pytest.raises(QueryError, match="certify is not known where noise, or a loop, is cut off"):
        loop.certify(x=[1])


def test_no_more_is_accepted_than_the_error_leaves() -> None:
    """The program has odds 1 to 3 and 3 to 1: e^ε = 3, and δ = 1/4 at e^ε = 2; the error comes twice."""
    lines = [["input", "x0", 0], ["draw by", "d1", "x0", [[0, [[0, 1], [1, 3]]], [1, [[0, 3], [1, 1]]]]]]
    part = {"reads": True, "takes": [], "lines": lines, "publishes": ["d1"], "leaves": []}
    claim = {"question": "privacy", "n": 1, "records": [[0], [1]], "neighbours": "replace-one", "program": ""}
    base = {"format": 2, "program": {"parts": [part], "order": [[0, 0]]}, "evidence": {"rule": "datasets"}}

    def said(evidence: dict[str, Any] | None = None, **more: Any) -> str | None:
        given = sealed(copy.deepcopy(base | {"claim": claim | more, "evidence": evidence or base["evidence"]}))
        try:
            found: str = checker.check(given)
        except checker.Refused:
            return None
        assert is_true(given)
        return found

    witness = {"rule": "witness", "witness": [[[0]], [[1]]]}
    assert said(bound=2, delta="7/25", error="1/100") is not None
    assert said(bound=2, delta="2799/10000", error="1/100") is None
    assert "and publish nothing else" in (said(bound="19/6", error="1/100") or "")  # (3/4 + 1/100) / (1/4 - 1/100)
    assert said(bound="63/20", error="1/100") is None
    assert said(witness, question="violation", bound=2, delta="21/100", error="1/100") is not None
    assert said(witness, question="violation", bound=2, delta="11/50", error="1/100") is None
    assert said(witness, question="violation", bound="inf", error="1/100") is None
    assert said({**base["evidence"], **witness}, bound=2, delta="7/25", error="1/100", attained=True) is None


def test_changed_certificates_are_refused_or_true() -> None:
    random_, every, still = random.Random(5), near(), 0
    for _ in range(2_000 if FULL else 120):
        new = changed(dict(random_.choice(every).content), random_)
        new["claim"][random_.choice(["error", "delta", "bound"])] = random_.choice(["1/10", "1/200", 2, 3, "7/2", 0])
        try:
            checker.check(sealed(new))
        except (checker.Refused, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            continue
        still += 1
        assert is_true(new)
    assert still > 6
