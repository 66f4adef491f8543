"""Shuffled histogram: every client sends its value as D bits, each through the bit-sum protocol.

Source: cheu2019, Sec. 6.2.2 (the messages of one bit number are shuffled; by Claim 4.3 their number of ones has the
same privacy, and is what is output here).

Parameters: D, an integer >= 2, the number of values; lam, a rational from 0 to n, the expected number of clients whose
message is uniformly random, for each value. Records are integers from 0 to D - 1, neighbours differ in one record. The
output is the tuple of the D numbers of ones among the messages.
"""

from tightdp import Int, flip, mechanism, randint


@mechanism(record=lambda values: Int(0, values - 1))
def shuffled_histogram(x, values, lam, n):
    """For every value the number of ones among the noisy bits of the clients."""
    return tuple(sum(randint(0, 1) if flip(lam / n) else int(v == j) for v in x) for j in range(values))


EXPECTED = [
    {"query": "privacy", "parameters": {"n": 2, "values": 2, "lam": 1}, "exp_epsilon": "9"},
    {"query": "privacy", "parameters": {"n": 2, "values": 3, "lam": 1}, "exp_epsilon": "9"},
    {"query": "privacy", "parameters": {"n": 3, "values": 2, "lam": 2}, "exp_epsilon": "4"},
    {"query": "delta", "parameters": {"n": 2, "values": 3, "lam": 1}, "exp_epsilon": "3", "delta": "27/128"},
    {
        "query": "distribution",
        "parameters": {"n": 1, "values": 2, "lam": "1/2"},
        "x": (0,),
        "law": [((0, 0), "3/16"), ((0, 1), "1/16"), ((1, 0), "9/16"), ((1, 1), "3/16")],
    },
    {
        "query": "distribution",
        "parameters": {"n": 2, "values": 2, "lam": 1},
        "x": (0, 1),
        "law": [
            ((0, 0), "9/256"),
            ((0, 1), "15/128"),
            ((0, 2), "9/256"),
            ((1, 0), "15/128"),
            ((1, 1), "25/64"),
            ((1, 2), "15/128"),
            ((2, 0), "9/256"),
            ((2, 1), "15/128"),
            ((2, 2), "9/256"),
        ],
    },
]
