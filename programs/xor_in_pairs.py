"""XOR in pairs: the parities of consecutive pairs of records.

Source: keinan2025, Definition E.6 and Prop. E.7 (a one-run audit learns nothing, an adaptive one everything).

Parameters: none; n is even. Records are bits, neighbours differ in one record. The output is a tuple of n/2
bits.
"""

from tightdp import Bit, mechanism


@mechanism(record=Bit)
def xor_in_pairs(x):
    """The parity of each pair of consecutive bits."""
    assert len(x) % 2 == 0, "xor_in_pairs needs an even number of records"
    return tuple(x[i] ^ x[i + 1] for i in range(0, len(x), 2))


# Deterministic, and every neighbour has another output: e^eps = inf and delta(t) = 1.
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 2},
        "exp_epsilon": "inf",
        "witness": {"x": (0, 0), "x_prime": (1, 0), "output": (0,)},
    },
    {"query": "privacy", "parameters": {"n": 4}, "exp_epsilon": "inf"},
    {"query": "delta", "parameters": {"n": 4}, "exp_epsilon": "3", "delta": "1"},
    {"query": "distribution", "parameters": {"n": 4}, "x": (1, 0, 1, 1), "law": [((1, 0), "1")]},
    {"query": "privacy", "parameters": {"n": 3}, "error": "ProgramError"},
]
