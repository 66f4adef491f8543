"""Name and shame: one uniformly chosen record is released as it is.

Source: keinan2025, Definition B.2 and Prop. B.3; Smith 2020. The record is released without its index, as in
the definition there (a map from datasets to records). Releasing the index as well is another mechanism,
though on bits both have the same efficacy 1/2 + 1/(2n) in a one-run audit.

Parameters: k, an integer >= 2 (default 2), the number of possible records. Records are integers from 0 to k -
1, neighbours differ in one record. The output is a record.
"""

from tightdp import Int, choice, mechanism


@mechanism(record=lambda k: Int(0, k - 1))
def name_and_shame(x, k=2):
    """One record, chosen uniformly."""
    return choice(x)


# P(y|x) is the share of records equal to y. It may fall from 1/n to 0: e^eps = inf. The total variation
# distance of neighbours is 1/n, and delta(t) = max over c of (c - t(c - 1))/n = 1/n for t >= 1, attained at c
# = 1.
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 3},
        "exp_epsilon": "inf",
        "witness": {"x": (1, 0, 0), "x_prime": (0, 0, 0), "output": 1},
    },
    {"query": "privacy", "parameters": {"n": 2, "k": 4}, "exp_epsilon": "inf"},
    {"query": "delta", "parameters": {"n": 3}, "exp_epsilon": "1", "delta": "1/3"},
    {
        "query": "delta",
        "parameters": {"n": 4},
        "exp_epsilon": "2",
        "delta": "1/4",
        "witness": {"x": (1, 0, 0, 0), "x_prime": (0, 0, 0, 0)},
    },
    {"query": "epsilon", "parameters": {"n": 3}, "delta": "1/3", "exp_epsilon": "1"},
    {"query": "epsilon", "parameters": {"n": 3}, "delta": "1/4", "exp_epsilon": "inf"},
    {"query": "distribution", "parameters": {"n": 3}, "x": (1, 0, 1), "law": [(0, "1/3"), (1, "2/3")]},
    {
        "query": "distribution",
        "parameters": {"n": 3, "k": 4},
        "x": (3, 0, 2),
        "law": [(0, "1/3"), (2, "1/3"), (3, "1/3")],
    },
]
