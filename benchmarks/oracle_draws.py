"""Random finite mechanisms and questions about them, and the privacy loss that tightdp gives them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath

from tightdp import Int, choice, mechanism

DIGITS = 90
"""Probabilities of Gaussian noise are rounded to so many bits; what that can change is allowed for."""

Law = tuple[Fraction, ...]


@dataclass(frozen=True)
class Mechanism:
    """Two laws of one output, drawn as what `kind` says with these numbers, and how often it is run.

    "laws": two lists of weights. "response": k buckets and the probability of a uniform one. "leak": e^ε and the
    probability δ of publishing the record. "geometric": the ratio of the noise and the sensitivity. At a `rate` below 1
    a record takes part in each run with that probability (add-remove neighbours). "gaussian": σ, and in how many
    intervals the output is told: a coarser output than an accountant answers for, so that only upper ends are compared.
    """

    kind: str
    numbers: tuple[Any, ...]
    rate: Fraction = Fraction(1)
    runs: int = 1

    @property
    def laws(self) -> tuple[Law, Law]:
        """The laws without and with the record, before sampling."""
        if self.kind == "laws":
            return tuple(tuple(Fraction(w, sum(weights)) for w in weights) for weights in self.numbers)  # type: ignore[return-value]
        if self.kind == "response":
            k, noise = self.numbers
            first = (1 - noise + noise / k, noise / k, noise * (k - 2) / k)
            return first, (first[1], first[0], first[2])
        if self.kind == "leak":
            ratio, delta = self.numbers
            high, low = (1 - delta) * ratio / (1 + ratio), (1 - delta) / (1 + ratio)
            return (high, low, delta, Fraction(0)), (low, high, Fraction(0), delta)
        if self.kind == "gaussian":
            return binned(*self.numbers)
        ratio, sensitivity = self.numbers
        inner = [(1 - ratio) / (1 + ratio) * ratio**at for at in range(1, sensitivity)]
        law = (1 / (1 + ratio), *inner, ratio**sensitivity / (1 + ratio))
        return law, law[::-1]

    @property
    def directions(self) -> tuple[tuple[Law, Law], tuple[Law, Law]]:
        """The laws P and Q of one run, after sampling, where a record is removed and where one is added."""
        without, having = self.laws
        mixed = tuple((1 - self.rate) * p + self.rate * q for p, q in zip(without, having, strict=True))
        return (mixed, without), (without, mixed)

    def __str__(self) -> str:
        shown = ", ".join(str(each).replace("Fraction", "") for each in self.numbers)
        sampled = f", sampled at {self.rate}" if self.rate < 1 else ""
        return f"{self.kind}({shown}){sampled}, {self.runs} run{'s' if self.runs > 1 else ''}"


def binned(sigma: Fraction, bins: int) -> tuple[Law, Law]:
    """Return the laws of N(0, σ²) and N(1, σ²) on that many intervals, the inner ones σ/2 wide, to DIGITS bits."""

    def law(centre: int) -> Law:
        with mpmath.workprec(2 * DIGITS):
            cuts = [mpmath.mpf(1) / 2 + (at - bins // 2) * mpmath.mpf(float(sigma)) / 2 for at in range(1, bins)]
            below = [0, *(int(mpmath.ncdf((cut - centre) / float(sigma)) * 2**DIGITS) for cut in cuts), 2**DIGITS]
        return tuple(Fraction(b - a, 2**DIGITS) for a, b in pairwise(below))

    return law(0), law(1)


@dataclass(frozen=True)
class Question:
    """δ at e to the power `at`, or, with `of` "epsilon", ε at the δ `at`."""

    of: str
    at: Fraction

    def __str__(self) -> str:
        return f"{'ε' if self.of == 'epsilon' else 'δ'} at {'δ' if self.of == 'epsilon' else 'ε'} = {float(self.at)}"


Draw = tuple[Mechanism, Question]


@dataclass(frozen=True)
class Accountant:
    """What is asked: `ask` gives answers to questions about one mechanism, which are `upper` ends or lower ends."""

    name: str
    package: str
    version: str
    upper: bool
    fits: Callable[[Mechanism, Question], bool]
    ask: Callable[[Mechanism, Question], float]
    call: str

    @property
    def key(self) -> tuple[str, str, bool]:
        """The package, the name and the side."""
        return self.package, self.name, self.upper


@mechanism(record=Int(0, 0), neighbours="add-remove")
def two_laws(x, outputs, without, having):  # type: ignore[no-untyped-def]
    """Publish an output of the one law or of the other."""
    return choice(outputs, without) if x[0] is None else choice(outputs, having)


def loss_of(drawn: Mechanism) -> Any:
    """Return the exact privacy loss of all runs."""
    without, having = drawn.laws
    once = two_laws.bind(n=1, outputs=tuple(range(len(without))), without=without, having=having).privacy_loss()
    if drawn.kind == "gaussian":
        once = replace(once, error=Fraction(4 * len(without), 2**DIGITS))
    return (once if drawn.rate == 1 else once.subsample(drawn.rate)).compose(drawn.runs)


def random_mechanism(source: random.Random) -> Mechanism:
    """Draw a mechanism; probabilities that accountants take as doubles are doubles."""
    kind = source.choices(("laws", "response", "leak", "geometric", "gaussian"), (10, 7, 5, 7, 1))[0]
    if kind == "gaussian":
        sigma, rate = Fraction(source.randint(4, 32), 8), Fraction(source.randint(1, 64), 64)
        return Mechanism(kind, (sigma, 12), rate, source.choice((1, 2, 3)))
    rate = (
        Fraction(source.randint(1, 63), 64) if kind in ("laws", "geometric") and source.random() < 0.3 else Fraction(1)
    )
    runs = source.choice((1, 1, 2, 3, 4, 8, 16) if kind == "laws" else (1, 2, 4, 8, 16, 32, 64))
    share = Fraction(source.randint(1, 63), 64)
    if kind == "laws":
        count = source.randint(2, 4)
        weights = [[source.choice((0, 1, 1, 2, 3, 5, 8, 20)) for _ in range(count)] for _ in range(2)]
        numbers: tuple[Any, ...] = tuple(tuple(side) if any(side) else (1,) * count for side in weights)
    elif kind == "response":
        numbers = (source.randint(2, 6), share)
    elif kind == "leak":
        numbers = (1 + Fraction(source.randint(1, 64), 16), Fraction(1, 2 ** source.randint(3, 20)))
    else:
        numbers = (share, source.randint(1, 3))
    return Mechanism(kind, numbers, rate, runs)


def random_questions(source: random.Random, loss: Any) -> list[Question]:
    """Draw δ at four places between 0 and the largest finite loss, and ε at four δ."""
    top = float(loss.epsilon(delta=Fraction(1, 10**9)))
    top = min(top, 20.0) if math.isfinite(top) else 4.0
    return [
        Question("delta", Fraction(0)),
        *(Question("delta", Fraction(round(source.uniform(0, top), 4))) for _ in range(3)),
        *(Question("epsilon", Fraction(10.0**-place)) for place in source.sample(range(2, 8), 2)),
        *(Question("epsilon", Fraction(round(source.uniform(0.001, 0.5), 4))) for _ in range(2)),
    ]
