"""Section 6.1: from a shuffled to a local protocol (Theorem 6.2)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from sympy import Rational, Symbol, symbols

from tightdp.claims import grid, identity, positive, random_law, seeds

from .paper import paper
from .protocol import engine_delta
from .sums import ZERO, Law, hockey_stick, local_delta


def local_randomizer() -> None:
    """Let x, x' be two inputs, Y a set of messages, p = P(R(x) in Y), p' = P(R(x') in Y). Of the datasets
    (x, ..., x) and (x', x, ..., x), take the event that some message is in Y; the shuffler does not change it. Its
    probability is 1 - (1-p)^n <= np on the first and 1 - (1-p')(1-p)^(n-1) >= p' on the second. So
    p' <= e^ε·np + δ, for all x, x', Y: R is (ε + ln n, δ)-DP.

    For the reader: that the shuffler does not change whether some message is in Y.
    """
    n, p, other, k = symbols("n p q k", positive=True)
    power = (1 - p) ** n
    identity(
        1 - (1 - p) * power,
        (1 - p) * (1 - power) + p,
        "induction: if 1 - (1-p)^n <= np, the next one is at most (1-p)np + p <= (n+1)p",
    )
    identity((k + 1) * p - ((1 - p) * k * p + p), k * p**2, "and that is at most (n+1)p")
    identity(
        1 - (1 - other) * (1 - p) ** (n - 1) - other,
        (1 - other) * (1 - (1 - p) ** (n - 1)),
        "the second probability exceeds p' by a product of numbers >= 0",
    )


def message_counts(randomizer: dict[int, Law], x: tuple[int, ...]) -> dict[tuple[int, ...], Fraction]:
    """The law of the multiset of messages, which is all that the shuffler reveals."""
    law: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for record in x:
        moved: dict[tuple[int, ...], Fraction] = {}
        for (seen, p), (y, q) in product(law.items(), randomizer[record].items()):
            key = tuple(sorted((*seen, y)))
            moved[key] = moved.get(key, ZERO) + p * q
        law = moved
    return law


def shuffled_delta(randomizer: dict[int, Law], n: int, t: Fraction) -> Fraction:
    """δ of the shuffled messages of n clients at t."""
    laws = {x: message_counts(randomizer, x) for x in product(randomizer, repeat=n)}
    pairs = ((x, (*x[:i], a, *x[i + 1 :])) for x in laws for i in range(n) for a in randomizer)
    return max(hockey_stick(laws[x], laws[other], t) for x, other in pairs)


def local_from_shuffled(seed: int, n: int) -> Iterator[dict[str, Any]]:
    """A random randomizer with three messages, at several e^ε."""
    randomizer = random_law(seed, (0, 1), 3)
    for t in (Fraction(1), Fraction(3, 2), Fraction(4)):
        yield {
            "e^ε": t,
            "e^ε'": n * t,
            "δ of R at e^ε'": local_delta(randomizer, n * t),
            "δ of the messages at e^ε": shuffled_delta(randomizer, n, t),
        }


paper.claim(
    "C12a",
    "Thm 6.2",
    "If the one-message shuffled protocol is (ε,δ)-DP for n users then its randomizer R is (ε + ln n, δ)-DP: "
    "`δ of R at e^ε' <= δ of the messages at e^ε`, where `e^ε' = n·e^ε`.",
    verdict="argued",
    instances=[each for n in (1, 2, 3) for each in seeds(20, n=n)],
    quick=25,
    check=local_from_shuffled,
    proof=local_randomizer,
    notes="In (8) the first W stands for the event. For δ = 0 no ln n is needed: output (y, ..., y) has "
    "the ratio P(R(x')=y)/P(R(x)=y) on (x', x, ..., x) and (x, ..., x), so R is even (ε, 0)-DP.",
)


def local_from_engine(n: int, lam: Fraction, t: Fraction) -> dict[str, Any]:
    """Randomized response: δ of the messages by the engine, of the randomizer directly."""
    flip = Fraction(lam) / (2 * n)
    randomizer = {0: {0: 1 - flip, 1: flip}, 1: {0: flip, 1: 1 - flip}}
    return {
        "e^ε'": n * t,
        "δ of R at e^ε'": local_delta(randomizer, n * t),
        "δ of the messages at e^ε": engine_delta(n, lam, t),
    }


paper.claim(
    "C12b",
    "Thm 6.2",
    "Randomized response, on the messages that the engine computes: `δ of R at e^ε' <= δ of the "
    "messages at e^ε`, where `e^ε' = n·e^ε`.",
    verdict="holds on",
    extra=True,
    instances=grid(n=(2, 3, 5, 20, 60), lam=("1", "2"), t=("1", "3/2", "2")),
    quick=6,
    check=local_from_engine,
)


def logarithm_is_needed() -> None:
    """Keep λ and let n grow: by C7 the protocol is (ε, δ)-DP with an ε below sqrt(32L/s0), whatever n is. Its
    randomizer flips a bit with probability f = λ/(2n), and at e^ε' = n/λ its least δ is
    (1 - f) - (n/λ)f = 1/2 - λ/(2n). So for δ < 1/2 - λ/(2n) it is not (ln n - ln λ, δ)-DP: the ln n of the theorem
    is needed, up to a term that does not grow with n.

    For the reader: C7, which gives the ε that does not depend on n.
    """
    n, lam = symbols("n lambda", positive=True)
    wrong = lam / (2 * n)
    identity((1 - wrong) - n / lam * wrong, Rational(1, 2) - lam / (2 * n), "δ of the randomizer at e^ε' = n/λ")
    share = Symbol("v", positive=True)
    positive(1 - share, share, 0, 1, "the factor 1 - s0/n of C7's ε is below 1, for all n")


@paper.claim(
    "C12c",
    "Thm 6.2, how sharp",
    "The ln n is needed for δ > 0: for fixed λ >= 14·ln(4/δ) the protocols P_{n,λ} are (ε,δ)-DP with one ε "
    "for all n >= λ, but their randomizers are not (ln(n/λ), δ')-DP for any δ' < 1/2 - λ/(2n): `δ of R at "
    "e^ε' = 1/2 - λ/(2n)`, where `e^ε' = n/λ`.",
    verdict="argued",
    extra=True,
    instances=grid(lam=(30,), n=(31, 100, 10000)),
    proof=logarithm_is_needed,
)
def _(lam: int, n: int) -> dict[str, Any]:
    flip = Fraction(lam, 2 * n)
    law, other = {0: 1 - flip, 1: flip}, {0: flip, 1: 1 - flip}
    return {"e^ε'": Fraction(n, lam), "δ of R at e^ε'": hockey_stick(law, other, Fraction(n, lam))}


paper.row(
    "C12",
    "Thm 6.2",
    "If the one-message shuffled protocol is (ε,δ)-DP for n users then its randomizer is (ε + ln n, δ)-DP.",
    parts=("C12a", "C12b", "C12c"),
)
