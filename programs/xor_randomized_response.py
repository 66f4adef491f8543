"""XOR and randomized response: the parity of the dataset, flipped with probability lam.

Source: keinan2025, Definition E.1 and Prop. E.2 (with p(eps) = 1 - lam).

Parameters: lam, a rational with 0 < lam < 1/2. Records are bits, neighbours differ in one record. The output
is a bit.
"""

from tightdp import Bit, flip, mechanism


@mechanism(record=Bit)
def xor_randomized_response(x, lam):
    """The parity of all bits, flipped with probability lam."""
    parity = 0
    for b in x:
        parity ^= b
    return parity ^ flip(lam)


# Neighbours have different parities: the law is that of randomized response on one bit, e^eps = (1 -
# lam)/lam.
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 3, "lam": "1/5"},
        "exp_epsilon": "4",
        "witness": {"x": (0, 0, 0), "x_prime": (1, 0, 0), "output": 0},
    },
    {"query": "privacy", "parameters": {"n": 4, "lam": "1/4"}, "exp_epsilon": "3"},
    # Changing every record changes the parity when an odd number really changes: the same ratio.
    {"query": "privacy", "parameters": {"n": 2, "lam": "1/4"}, "neighbours": "unit-all", "exp_epsilon": "3"},
    {"query": "delta", "parameters": {"n": 3, "lam": "1/5"}, "exp_epsilon": "3/2", "delta": "1/2"},
    {"query": "epsilon", "parameters": {"n": 3, "lam": "1/5"}, "delta": "1/2", "exp_epsilon": "3/2"},
    {
        "query": "distribution",
        "parameters": {"n": 3, "lam": "1/5"},
        "x": (1, 1, 1),
        "law": [(0, "1/5"), (1, "4/5")],
    },
]
