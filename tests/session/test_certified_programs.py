"""Certificates of random programs: the bound is that of the interpreter, the claim true by going through all runs."""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction

from certificate_oracle import Impossible, is_true
from certificate_oracle import number as written
from conftest import FULL
from expectations import Oracle
from generators.comparison import imported
from generators.writer import draw
from tightdp.errors import LanguageError, LimitError, ProgramError
from tightdp.exact.field import exp

COIN = re.compile(r"(?<=flip\()\d/\d(?=\))")
"""A coin with a constant probability."""


def test_random_programs_are_certified() -> None:
    """In every third one such coins have a probability with e^q, and bounds are polynomials in T."""
    certified, counted = 0, Counter[str]()
    for seed in range(3000):
        drawn = draw(seed, 6, 8)
        with_exp = "from tightdp import exp\n" + COIN.sub("1 / (1 + exp(1/2))", drawn.source)
        source = drawn.source if seed % 3 else with_exp
        try:
            with imported(source) as module:
                instance = module.f.bind(n=drawn.n)
                content = dict(instance.certify().content)
                claim = content["claim"]
                power = exp(Fraction(1, claim.get("root", 1)))
                tight = math.inf if claim["bound"] == "inf" else written(claim["bound"], power)
                assert tight == Oracle(instance.bound).exp_epsilon(), source
                assert is_true(content), source
        except (LanguageError, LimitError, ProgramError, Impossible):
            continue
        counted[content["evidence"]["rule"]] += 1
        counted["with T"] += "root" in claim
        certified += 1
        if certified == (300 if FULL else 30):
            assert counted["forms"] > counted["datasets"]
            assert counted["with T"] > 0
            return
    raise AssertionError(f"only {certified} programs could be drawn")
