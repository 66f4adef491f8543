"""Programs that nobody named, for auditing: different structures, records of other domains, noise, conditions."""

from __future__ import annotations

from tightdp import Bit, Int, Values, choice, flip, geometric, mechanism, observe, shuffle


@mechanism(record=Bit)
def two_groups(x):
    """The first clients send their sum with noise, the others their parity."""
    noisy = sum(1 - b if flip("1/4") else b for b in x[:2])
    parity = 0
    for b in x[2:]:
        parity ^= b
    return (noisy, parity)


@mechanism(record=Bit)
def one_is_different(x):
    """The first client counts twice."""
    return 2 * x[0] + sum(x[1:])


@mechanism(record=Bit)
def weights(x):
    """Every client has a weight of its own."""
    return sum((at + 1) * b for at, b in enumerate(x)) + flip("1/3")


@mechanism(record=Values("a", "b", 3))
def ternary(x):
    """Counts two of the three values, one of them with noise."""
    return (sum(r == "a" for r in x) + flip("1/2"), sum(r == 3 for r in x))


@mechanism(record=Int(0, 2))
def clamped(x):
    """A clamped noisy sum of ternary records."""
    return geometric(sum(x), "1/2", 0, 4)


@mechanism(record=Bit)
def union(x):
    """A tuple, a number or nothing, depending on a coin and on a client."""
    if flip("1/3"):
        return x[:2]
    if x[0] == 1 and flip("1/2"):
        return None
    return sum(x)


@mechanism(record=Bit)
def conditioned(x):
    """Randomized response of a sum, conditioned on an event that depends on the records."""
    sent = [1 - b if flip("1/4") else b for b in x]
    observe(sum(sent) > 0 or flip("1/2"))
    return sum(sent)


@mechanism(record=Bit)
def conditioned_vector(x):
    """Bits with noise, conditioned on two of them."""
    sent = [1 - b if flip("1/5") else b for b in x]
    observe(sent[0] or sent[1] or flip("1/3"))
    return tuple(sent)


@mechanism(record=Bit)
def hidden_switch(x):
    """One coin that nobody sees decides for all clients whether bits are flipped."""
    switch = flip("1/3")
    return tuple(1 - b if switch else b for b in x)


@mechanism(record=Bit)
def seen_switch(x):
    """A first output decides how noisy those of all clients are."""
    loud = flip("1/3")
    return (loud, *[1 - b if flip(0.5 if loud else 0.1) else b for b in x])


@mechanism(record=Bit)
def running(x):
    """Every output is the parity so far: it tells the next client apart."""
    sent, parity = [], 0
    for b in x:
        parity = parity ^ b if flip("4/5") else parity
        sent.append(parity)
    return tuple(sent)


@mechanism(record=Bit)
def mixed_shuffle(x):
    """The noisy messages of all clients in random order."""
    return tuple(shuffle([1 - b if flip("1/4") else b for b in x]))


@mechanism(record=Bit)
def first_hit(x):
    """The first client above a noisy threshold, and a noisy count."""
    limit = flip("1/3")
    for at, b in enumerate(x):
        if b and (not limit or flip("1/2")):
            return at
    return None


@mechanism(record=Int(0, 3))
def shame(x):
    """One record of those at the even places, with the count of the others."""
    return (choice(x[::2]), max(x[1::2]))


@mechanism(record=Bit)
def ignores(x):
    """The last client does not matter."""
    return (x[0] ^ flip("1/4"), max(x[:-1]))


@mechanism(record=Bit)
def constant(x):
    """Says nothing."""
    return (len(x), flip("1/2"))


@mechanism(record=Bit)
def checked(x):
    """Fails on one dataset."""
    assert sum(x) < len(x), "all ones"
    return sum(x)


CASES = [
    (two_groups, 5, None),
    (one_is_different, 4, None),
    (weights, 4, None),
    (ternary, 3, None),
    (ternary, 3, [("a", 3), ("b", 3), ("b", "a")]),
    (clamped, 3, None),
    (clamped, 3, [(0, 2), (2, 1), (0, 1)]),
    (union, 4, None),
    (conditioned, 4, None),
    (conditioned_vector, 4, None),
    (hidden_switch, 4, None),
    (seen_switch, 4, None),
    (running, 4, None),
    (mixed_shuffle, 4, None),
    (first_hit, 4, None),
    (shame, 5, [(0, 3), (1, 2), (1, 3), (0, 2), (2, 3)]),
    (shame, 4, None),
    (ignores, 4, None),
    (constant, 2, None),
]
