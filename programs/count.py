"""Count: the number of ones, without noise.

Source: keinan2025, Prop. D.2.

Parameters: none. Records are bits, neighbours differ in one record. The output is an integer from 0 to n.
"""

from tightdp import Bit, mechanism


@mechanism(record=Bit, target=sum)
def count(x):
    """The number of ones."""
    return sum(x)


# Deterministic, and every neighbour has another output: e^eps = inf and delta(t) = 1.
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 3},
        "exp_epsilon": "inf",
        "witness": {"x": (1, 1, 0), "x_prime": (1, 0, 0), "output": 2},
    },
    {"query": "delta", "parameters": {"n": 4}, "exp_epsilon": "5", "delta": "1"},
    {"query": "accuracy", "parameters": {"n": 4}, "alpha": 0, "one_minus_beta": "1"},
    {"query": "distribution", "parameters": {"n": 4}, "x": (1, 0, 1, 1), "law": [(3, "1")]},
]
