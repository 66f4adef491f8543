"""k-ary randomized response: every client sends its value, or another one, each less likely by exp_epsilon.

Source: Kairouz, Oh and Viswanath 2016 (extremal mechanisms for local privacy), the k-ary randomized response;
Warner 1965 for k = 2. xiang2025 audits the binary one in Sec. 6.2.

Parameters: k, an integer >= 2; exp_epsilon = e^eps, a rational >= 1. Records are integers from 0 to k - 1,
neighbours differ in one record. The output is the tuple of the n values sent.
"""

from tightdp import Int, choice, mechanism


@mechanism(record=lambda k: Int(0, k - 1))
def k_ary_randomized_response(x, k, exp_epsilon):
    """Every client sends its own value with weight exp_epsilon, each other value with weight 1."""
    return tuple(choice(range(k), weights=[exp_epsilon if u == v else 1 for u in range(k)]) for v in x)


# One coordinate changes, the others cancel: e^eps = exp_epsilon, delta(t) = max(0, exp_epsilon -
# t)/(exp_epsilon + k - 1).
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 1, "k": 4, "exp_epsilon": 3},
        "exp_epsilon": "3",
        "witness": {"x": (2,), "x_prime": (0,), "output": (2,)},
    },
    {"query": "privacy", "parameters": {"n": 3, "k": 3, "exp_epsilon": "5/2"}, "exp_epsilon": "5/2"},
    {"query": "delta", "parameters": {"n": 2, "k": 4, "exp_epsilon": 3}, "exp_epsilon": "2", "delta": "1/6"},
    {
        "query": "epsilon",
        "parameters": {"n": 2, "k": 4, "exp_epsilon": 3},
        "delta": "1/6",
        "exp_epsilon": "2",
    },
    {
        "query": "distribution",
        "parameters": {"n": 1, "k": 4, "exp_epsilon": 3},
        "x": (2,),
        "law": [((0,), "1/6"), ((1,), "1/6"), ((2,), "1/2"), ((3,), "1/6")],
    },
]
