"""Section 5.3: ties among scores."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sympy import Function, symbols

from tightdp.claims import Correction, grid, identity

from .audits import MECHANISMS, MINIMAL, cells, engine_table, natural_chance, released_and_allowed
from .games import ONE, ZERO, best_chance, channels_chance, independent_chance
from .paper import paper


def ties_do_not_matter() -> None:
    """Given the outputs of all channels, the errors are independent, and that of channel i has a probability that
    depends on its score only. A rule that looks at outputs and indices (and its own coins) only breaks ties among
    equal scores, so the r released ones have the same scores, counted with multiplicity, whatever the rule. The
    generating function of the number of errors among them is the product of (1-e_i) + e_i z over them, and depends
    on nothing else. Likewise v_k is the mean error at the k-th smallest score.

    For the reader: that such a rule releases the same scores, counted with multiplicity.
    """
    z, e, other = symbols("z e other")
    factor = Function("g")
    rest = (1 - other) + other * z
    first, second = (1 - e) + e * z, (1 - e) + e * z
    identity(first * rest, second * rest, "two tied channels have the same factor: either may be released")
    identity(factor(e) * factor(other), factor(other) * factor(e), "the order of release does not matter")
    p, ratio = symbols("p ratio", positive=True)
    identity(p / (p * ratio + p), 1 / (1 + ratio), "the error is min/(P+Q), a function of the score")


def rule_is_valid(n: int, r: int, u: int, delta: Fraction, mechanism: str, rule: str) -> dict[str, Fraction]:
    """(19) with a tie-breaking rule, on the engine's laws."""
    chance = best_chance(engine_table(mechanism, n, delta), r, u)
    return {"P(at most u errors)": chance, "right side": channels_chance(n, r, u, delta, ONE, rule)}


def rule_is_valid_again(n: int, r: int, u: int, delta: Fraction, mechanism: str, rule: str) -> dict[str, Fraction]:
    """By what is revealed; which of the hidden bits are released makes no difference, as all are guessed blindly."""
    chance = natural_chance(mechanism, n, r, u, delta)
    return {"P(at most u errors)": chance, "right side": natural_chance("independent", n, r, u, delta)}


def rules_agree(n: int, r: int, u: int, t: int, delta: Fraction) -> Iterator[dict[str, Any]]:
    """All rules that look at outputs and indices."""
    exact = independent_chance(n, r, u, delta, Fraction(t))
    for rule in RULES:
        yield {"value with the rule": channels_chance(n, r, u, delta, Fraction(t), rule), "independent channels": exact}


RULES = ("larger output", "smaller output", "lower index", "higher index")


paper.claim(
    "X9a",
    "Sec. 5.3, after (20)",
    "Whatever the tie-breaking rule, the right-hand side of the bound (19) is valid: `P(at most u errors) <= right "
    "side`.",
    brief="The right-hand side is the same for every tie-breaking rule, but it is valid only where Theorem 1 is.",
    verdict="corrected",
    instances=[
        {**each, "rule": rule}
        for n in (1, 2)
        for every in (False, True)
        for each in cells(n, MECHANISMS, every=every)
        if each["n"] == n
        for rule in RULES
    ],
    quick=grid(n=(1, 2), r=(1,), u=(0,), delta=("1/2",), mechanism=("one secret",), rule=RULES),
    check=rule_is_valid,
    brute=rule_is_valid_again,
    at={"n": 2, "r": 1, "u": 0, "delta": "1/2", "mechanism": "one secret", "rule": "larger output"},
    minimal=f"{MINIMAL}; the rule (20) of the paper first",
    breaks="The reason given is that Theorem 1 guarantees it, and Theorem 1 is false (X4). The ties are not "
    "to blame: the right-hand side is the same for every rule.",
    corrected=Correction(
        "The right-hand side of (19) and the v_k are the same for every tie-breaking rule that looks at outputs "
        "and indices only, `value with the rule = independent channels`; so it is valid for every such rule where "
        "Theorem 1 is (pure DP, X4c; independent bits, X4e).",
        verdict="argued",
        instances=[
            {"n": n, "r": r, "u": u, **rest}
            for n in (1, 2, 3)
            for r, u in released_and_allowed(n)
            for rest in grid(t=(1, 2), delta=("1/2", "1/10"))
        ],
        quick=16,
        check=rules_agree,
        proof=ties_do_not_matter,
    ),
)


def telltale_rule_is_valid(n: int, r: int, u: int, t: int) -> dict[str, Fraction]:
    """Pure DP, a rule that looks at the errors and releases wrong guesses first; M is the channels."""
    chance = independent_chance(n, r, u, ZERO, Fraction(t))
    return {"P(at most u errors)": chance, "right side": channels_chance(n, r, u, ZERO, Fraction(t), "wrong first")}


def telltale_rule_is_valid_again(n: int, r: int, u: int, t: int) -> dict[str, Fraction]:
    """r = 1, u = 0: a right guess is released only if all n are right."""
    chance = Fraction(t, 1 + t)
    return {"P(at most u errors)": chance, "right side": chance**n}


paper.claim(
    "X9b",
    "Sec. 5.3, any rule at all",
    "For pure DP the right-hand side of (19) is valid for every rule that (7) allows, even one that looks "
    "at the truth: `P(at most u errors) <= right side`.",
    unclaimed=True,
    verdict="refuted",
    extra=True,
    instances=grid(n=(1, 2), r=(1,), u=(0,), t=(1, 2)),
    check=telltale_rule_is_valid,
    brute=telltale_rule_is_valid_again,
    at={"n": 2, "r": 1, "u": 0, "t": 1},
    minimal="smallest n, then r, u, e^ε",
    breaks="Condition (7) speaks of scores only. If all scores are equal, a rule that releases wrong "
    "guesses first satisfies it.",
    stands="The paper's rule (20) looks at outputs only; the sentence is to be read so.",
)


paper.row(
    "X9",
    "Sec. 5.3",
    "Whatever the tie-breaking rule, the right-hand side of the bound is valid.",
    parts=("X9a", "X9b"),
)
