"""Mechanisms that each of the fast methods takes a different way with."""

from __future__ import annotations

from tightdp import Bit, Int, choice, flip, geometric, laplace, mechanism, shuffle


@mechanism(record=Bit)
def response(x, lam):  # type: ignore[no-untyped-def]
    return tuple(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit, target=sum)
def count(x, lam):  # type: ignore[no-untyped-def]
    return sum(1 - b if flip(lam) else b for b in x)


@mechanism(record=Int(0, 2), target=max)
def largest(x):  # type: ignore[no-untyped-def]
    return geometric(max(x), "1/2", 0, 2)


@mechanism(record=Int(0, 2))
def first_above(x):  # type: ignore[no-untyped-def]
    limit = geometric(1, "1/2", 0, 2)
    for at, value in enumerate(x):
        if geometric(value, "1/2", 0, 2) >= limit:
            return at
    return None


@mechanism(record=Bit)
def shuffled(x, lam):  # type: ignore[no-untyped-def]
    return tuple(shuffle([1 - b if flip(lam) else b for b in x]))


@mechanism(record=Int(0, 2), target=sum)
def picked(x):  # type: ignore[no-untyped-def]
    return choice(x)


@mechanism
def remembers_or(x, lam, wrong):  # type: ignore[no-untyped-def]
    """A bit that remembers the OR of what it saw, wrong at each step, published through randomized response."""
    seen = 0
    sent = []
    for v in x:
        seen = seen | v
        if flip(wrong):
            seen = 1 - seen
        sent.append(seen ^ flip(lam))
    return tuple(sent)


def above_threshold(x, eps=1, scale=4):  # type: ignore[no-untyped-def]
    """Answers up to the first one above a noisy threshold; real noise, of `scale` on queries at eps = 1."""
    t, told = laplace(0, 2 / eps), []
    for query in x:
        if laplace(query, scale / eps) >= t:
            told.append(True)
            break
        told.append(False)
    return tuple(told)
