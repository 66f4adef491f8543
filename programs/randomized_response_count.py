"""Randomized response count: the number of ones among the bits that clients send by randomized response.

Source: oakley2024, Sec. 4.3 and Sec. 5.4, Table 3.

Parameters: lam, a rational with 0 < lam < 1/2. Records are bits, neighbours differ in one record. The output
is an integer from 0 to n; it estimates the number of ones in the dataset.
"""

from tightdp import Bit, flip, mechanism


@mechanism(record=Bit, target=sum)
def randomized_response_count(x, lam):
    """Every client flips its bit with probability lam; the number of ones is released."""
    return sum(1 - b if flip(lam) else b for b in x)


# The law is that of Bin(n - c, lam) + Bin(c, 1 - lam) with c the number of ones (oakley2024, Lemma 3).
# Outputs 0 and n have probabilities lam^c (1 - lam)^(n - c) and mirrored, so e^eps >= (1 - lam)/lam; and the
# count is a function of randomized response, so it is no larger.
EXPECTED = [
    {"query": "privacy", "parameters": {"n": 1, "lam": "1/5"}, "exp_epsilon": "4"},
    {
        "query": "privacy",
        "parameters": {"n": 4, "lam": "1/5"},
        "exp_epsilon": "4",
        "witness": {"x": (0, 0, 0, 0), "x_prime": (1, 0, 0, 0), "output": 0},
    },
    {"query": "delta", "parameters": {"n": 2, "lam": "1/5"}, "exp_epsilon": "2", "delta": "8/25"},
    {"query": "delta", "parameters": {"n": 4, "lam": "1/5"}, "exp_epsilon": "1", "delta": "216/625"},
    {"query": "epsilon", "parameters": {"n": 4, "lam": "1/5"}, "delta": "1/10", "exp_epsilon": "387/128"},
    {
        "query": "accuracy",
        "parameters": {"n": 2, "lam": "1/5"},
        "alpha": 1,
        "one_minus_beta": "24/25",
        "worst": [(0, 0), (1, 1)],
    },
    {
        "query": "accuracy",
        "parameters": {"n": 8, "lam": "1/5"},
        "alpha": 3,
        "one_minus_beta": "73728/78125",
        "worst": [(0,) * 8, (1,) * 8],
        "next": "75968/78125",
    },
    {
        "query": "distribution",
        "parameters": {"n": 3, "lam": "1/5"},
        "x": (0, 1, 1),
        "law": [(0, "4/125"), (1, "33/125"), (2, "72/125"), (3, "16/125")],
    },
]
