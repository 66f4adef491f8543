"""Geometric count: the number of ones with two-sided geometric noise, clamped to 0..n.

Source: Ghosh, Roughgarden and Sundararajan 2009 (the truncated geometric mechanism).

Parameters: ratio, a rational in [0, 1), which is e^-eps. Records are bits, neighbours differ in one record.
The output is an integer from 0 to n; it estimates the number of ones in the dataset.
"""

from tightdp import Bit, geometric, mechanism


@mechanism(record=Bit, target=sum)
def geometric_count(x, ratio):
    """The number of ones plus two-sided geometric noise, clamped to 0..n."""
    return geometric(sum(x), ratio, 0, len(x))


# Clamping is post-processing, and P(0 | c ones) = ratio^c/(1 + ratio): e^eps = 1/ratio for every n. delta(t)
# for 1 <= t <= 1/ratio is the mass (1 - t·ratio)/(1 + ratio) at or below the smaller count. 1 - beta is 1 -
# 2·ratio^(alpha + 1)/(1 + ratio) where neither end is within alpha of the count.
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 1, "ratio": "1/2"},
        "exp_epsilon": "2",
        "witness": {"x": (0,), "x_prime": (1,), "output": 0},
    },
    {"query": "privacy", "parameters": {"n": 5, "ratio": "1/2"}, "exp_epsilon": "2"},
    {"query": "privacy", "parameters": {"n": 3, "ratio": "2/7"}, "exp_epsilon": "7/2"},
    {"query": "privacy", "parameters": {"n": 3, "ratio": 0}, "exp_epsilon": "inf"},
    {"query": "delta", "parameters": {"n": 4, "ratio": "1/2"}, "exp_epsilon": "1", "delta": "1/3"},
    {"query": "delta", "parameters": {"n": 4, "ratio": "1/2"}, "exp_epsilon": "3/2", "delta": "1/6"},
    {"query": "epsilon", "parameters": {"n": 4, "ratio": "1/2"}, "delta": "1/6", "exp_epsilon": "3/2"},
    {
        "query": "accuracy",
        "parameters": {"n": 4, "ratio": "1/2"},
        "alpha": 1,
        "one_minus_beta": "2/3",
        "worst": [(0, 0, 1, 1), (0, 1, 0, 1), (0, 1, 1, 0), (1, 0, 0, 1), (1, 0, 1, 0), (1, 1, 0, 0)],
        "next": "5/6",
    },
    {
        "query": "distribution",
        "parameters": {"n": 3, "ratio": "1/2"},
        "x": (0, 1, 0),
        "law": [(0, "1/3"), (1, "1/3"), (2, "1/6"), (3, "1/6")],
    },
]
