"""XOR: the parity of the dataset.

Source: keinan2025, Definition B.8 and Prop. B.9 (no guesser of a one-run audit learns anything, though the
mechanism is not private).

Parameters: none. Records are bits, neighbours differ in one record. The output is a bit.
"""

from tightdp import Bit, mechanism


@mechanism(record=Bit)
def xor(x):
    """The parity of all bits."""
    parity = 0
    for b in x:
        parity ^= b
    return parity


# Deterministic, and every neighbour has the other output: e^eps = inf and delta(t) = 1.
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 1},
        "exp_epsilon": "inf",
        "witness": {"x": (0,), "x_prime": (1,), "output": 0},
    },
    {"query": "privacy", "parameters": {"n": 4}, "exp_epsilon": "inf"},
    {"query": "delta", "parameters": {"n": 3}, "exp_epsilon": "2", "delta": "1"},
    {"query": "distribution", "parameters": {"n": 4}, "x": (1, 0, 1, 1), "law": [(1, "1")]},
]
