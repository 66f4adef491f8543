"""Randomized response on vectors of d bits, right and with a bug that leaves the last bit unprotected.

Source: the basic one-time RAPPOR of Erlingsson, Pihur and Korolova 2014, without the Bloom filter; the bug is
the usual one of a loop that ends too early.

Parameters: d, an integer >= 1; lam, a rational with 0 < lam < 1/2. Records are tuples of d bits, neighbours
differ in one record. The output is the tuple of the n noisy vectors.
"""

from tightdp import Bits, flip, mechanism


@mechanism(record=lambda d: Bits(d))
def bit_vector_randomized_response(x, d, lam):
    """Every bit of every record is flipped with probability lam."""
    return tuple(tuple(1 - b if flip(lam) else b for b in record) for record in x)


@mechanism(record=lambda d: Bits(d))
def bit_vector_unprotected(x, d, lam):
    """The same with a bug: the loop ends too early and the last bit of every record stays as it is."""
    messages = []
    for record in x:
        noisy = list(record)
        for j in range(d - 1):
            if flip(lam):
                noisy[j] = 1 - noisy[j]
        messages.append(tuple(noisy))
    return tuple(messages)


# All d bits of a record may change: e^eps = ((1 - lam)/lam)^d. With the bug the last bit gives records away.
EXPECTED = [
    {
        "mechanism": "bit_vector_randomized_response",
        "query": "privacy",
        "parameters": {"n": 1, "d": 3, "lam": "1/5"},
        "exp_epsilon": "64",
        "witness": {"x": ((0, 0, 0),), "x_prime": ((1, 1, 1),), "output": ((0, 0, 0),)},
    },
    {
        "mechanism": "bit_vector_randomized_response",
        "query": "privacy",
        "parameters": {"n": 2, "d": 2, "lam": "1/4"},
        "exp_epsilon": "9",
    },
    {
        "mechanism": "bit_vector_randomized_response",
        "query": "delta",
        "parameters": {"n": 2, "d": 2, "lam": "1/4"},
        "exp_epsilon": "3",
        "delta": "3/8",
    },
    {
        "mechanism": "bit_vector_randomized_response",
        "query": "distribution",
        "parameters": {"n": 1, "d": 2, "lam": "1/4"},
        "x": ((0, 1),),
        "law": [(((0, 0),), "3/16"), (((0, 1),), "9/16"), (((1, 0),), "1/16"), (((1, 1),), "3/16")],
    },
    {
        "mechanism": "bit_vector_unprotected",
        "query": "privacy",
        "parameters": {"n": 2, "d": 2, "lam": "1/4"},
        "exp_epsilon": "inf",
        "witness": {"x": ((0, 0), (0, 0)), "x_prime": ((0, 1), (0, 0)), "output": ((0, 0), (0, 0))},
    },
    {
        "mechanism": "bit_vector_unprotected",
        "query": "delta",
        "parameters": {"n": 2, "d": 2, "lam": "1/4"},
        "exp_epsilon": "3",
        "delta": "1",
    },
    {
        "mechanism": "bit_vector_unprotected",
        "query": "distribution",
        "parameters": {"n": 1, "d": 2, "lam": "1/4"},
        "x": ((0, 1),),
        "law": [(((0, 1),), "3/4"), (((1, 1),), "1/4")],
    },
]
