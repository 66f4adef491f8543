"""All or nothing: the whole dataset with probability p, otherwise nothing.

Source: keinan2025, Definition B.5 and Prop. B.6.

Parameters: p, a rational from 0 to 1. Records are bits, neighbours differ in one record. The output is the
dataset or None.
"""

from tightdp import Bit, flip, mechanism


@mechanism(record=Bit)
def all_or_nothing(x, p):
    """The dataset with probability p, else None."""
    return x if flip(p) else None


# e^eps = inf for p > 0; delta(t) = p + max(0, (1 - p)(1 - t)), which is p for every t >= 1.
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 2, "p": "1/10"},
        "exp_epsilon": "inf",
        "witness": {"x": (0, 0), "x_prime": (1, 0), "output": (0, 0)},
    },
    {"query": "privacy", "parameters": {"n": 4, "p": "1/3"}, "exp_epsilon": "inf"},
    {"query": "privacy", "parameters": {"n": 3, "p": 0}, "exp_epsilon": "1"},
    {
        "query": "delta",
        "parameters": {"n": 2, "p": "1/10"},
        "neighbours": "add-remove",
        "exp_epsilon": "1",
        "delta": "1/10",
        "witness": {"x": (0, None), "x_prime": (0, 0)},
    },
    {
        "query": "delta",
        "parameters": {"n": 3, "p": "1/10"},
        "exp_epsilon": "1",
        "delta": "1/10",
        "witness": {"x": (0, 0, 0), "x_prime": (0, 0, 1)},
    },
    {"query": "delta", "parameters": {"n": 2, "p": "1/3"}, "exp_epsilon": "1", "delta": "1/3"},
    {"query": "delta", "parameters": {"n": 2, "p": "1/3"}, "exp_epsilon": "100", "delta": "1/3"},
    {"query": "delta", "parameters": {"n": 2, "p": "1/3"}, "exp_epsilon": "1/2", "delta": "2/3"},
    {"query": "epsilon", "parameters": {"n": 2, "p": "1/3"}, "delta": "1/3", "exp_epsilon": "1"},
    {"query": "epsilon", "parameters": {"n": 2, "p": "1/3"}, "delta": "1/4", "exp_epsilon": "inf"},
    {
        "query": "distribution",
        "parameters": {"n": 3, "p": "1/10"},
        "x": (0, 1, 1),
        "law": [(None, "9/10"), ((0, 1, 1), "1/10")],
    },
]
