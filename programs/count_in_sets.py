"""Count in sets: the number of ones in each of the consecutive sets of s records, without noise.

Source: keinan2025, Definition D.4 and Prop. D.6.

Parameters: s, an integer >= 1, the size of a set; the last set is smaller when s does not divide n. Records
are bits, neighbours differ in one record. The output is a tuple of ceil(n/s) integers from 0 to s.
"""

from tightdp import Bit, mechanism


@mechanism(record=Bit)
def count_in_sets(x, s):
    """The number of ones in every set of s consecutive records."""
    return tuple(sum(x[i : i + s]) for i in range(0, len(x), s))


# Deterministic, and every neighbour has another output: e^eps = inf and delta(t) = 1.
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 4, "s": 2},
        "exp_epsilon": "inf",
        "witness": {"x": (1, 1, 0, 1), "x_prime": (1, 0, 0, 1), "output": (2, 1)},
    },
    {"query": "privacy", "parameters": {"n": 3, "s": 1}, "exp_epsilon": "inf"},
    {"query": "delta", "parameters": {"n": 5, "s": 3}, "exp_epsilon": "2", "delta": "1"},
    {
        "query": "distribution",
        "parameters": {"n": 5, "s": 2},
        "x": (1, 0, 1, 1, 1),
        "law": [((1, 2, 1), "1")],
    },
]
