"""Randomized response: every client flips its own bit with probability lam and sends it.

Source: Warner 1965; oakley2024, Theorem 4 and Sec. 4.2; keinan2025, Prop. B.1 (local randomized response with
p(eps) = 1 - lam).

Parameters: lam, a rational with 0 < lam < 1/2. Records are bits, neighbours differ in one record. The output
is the tuple of the n bits sent.
"""

from tightdp import Bit, flip, mechanism


@mechanism(record=Bit)
def randomized_response(x, lam):
    """Every client flips its bit with probability lam and sends it."""
    return tuple(1 - b if flip(lam) else b for b in x)


# e^eps = (1 - lam)/lam for every n: one coordinate changes, the others cancel (oakley2024, Sec. 5). delta(t)
# = max(0, 1 - lam - t·lam) for t >= 1, for every n, for the same reason.
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 1, "lam": "1/5"},
        "exp_epsilon": "4",
        "witness": {"x": (0,), "x_prime": (1,), "output": (0,)},
    },
    {
        "query": "privacy",
        "parameters": {"n": 2, "lam": "1/5"},
        "exp_epsilon": "4",
        "witness": {"x": (0, 0), "x_prime": (1, 0), "output": (0, 0)},
    },
    {"query": "privacy", "parameters": {"n": 5, "lam": "1/5"}, "exp_epsilon": "4"},
    {"query": "privacy", "parameters": {"n": 3, "lam": "1/10"}, "exp_epsilon": "9"},
    {"query": "privacy", "parameters": {"n": 3, "lam": "1/2"}, "exp_epsilon": "1"},
    {"query": "privacy", "parameters": {"n": 2, "lam": 0}, "exp_epsilon": "inf"},
    {
        "query": "privacy",
        "parameters": {"n": 2, "lam": "1/5"},
        "neighbours": "unit-all",
        "exp_epsilon": "16",
        "witness": {"x": (0, 0), "x_prime": (1, 1), "output": (0, 0)},
    },
    {
        "query": "delta",
        "parameters": {"n": 3, "lam": "1/5"},
        "exp_epsilon": "2",
        "delta": "2/5",
        "witness": {"x": (0, 0, 0), "x_prime": (1, 0, 0)},
    },
    {"query": "delta", "parameters": {"n": 3, "lam": "1/5"}, "exp_epsilon": "4", "delta": "0"},
    {"query": "epsilon", "parameters": {"n": 3, "lam": "1/5"}, "delta": "2/5", "exp_epsilon": "2"},
    {
        "query": "distribution",
        "parameters": {"n": 2, "lam": "1/5"},
        "x": (0, 1),
        "law": [((0, 0), "4/25"), ((0, 1), "16/25"), ((1, 0), "1/25"), ((1, 1), "4/25")],
    },
]
