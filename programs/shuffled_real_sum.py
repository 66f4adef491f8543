"""Shuffled real sum: numbers between 0 and 1, rounded to r bits, each bit through the shuffled bit-sum protocol.

Source: cheu2019, Algorithms 5 and 6 (encoder E_r and protocol PR, without the analyzer).

Parameters: m and r, positive integers; lam, a rational from 0 to n, the expected number of clients whose message is
uniformly random, for each of the r bits. Records are numbers v/m, given by an integer v from 0 to m; neighbours
differ in one record. The output is the tuple of all n*r messages in random order.
"""

from tightdp import Int, flip, mechanism, randint, shuffle


@mechanism(record=lambda m: Int(0, m))
def shuffled_real_sum(x, m, r, lam, n):
    """With u the next whole number above v*r/m: bits before u are 1, bit u is rounded at random, the others are 0."""
    up = [-((-v * r) // m) for v in x]
    encoded = [
        1 if j < u else int(flip((v * r - (u - 1) * m) / m)) if j == u else 0
        for v, u in zip(x, up, strict=True)
        for j in range(1, r + 1)
    ]
    return shuffle([randint(0, 1) if flip(lam / n) else b for b in encoded])


EXPECTED = [
    {"query": "privacy", "parameters": {"n": 1, "m": 2, "r": 1, "lam": "1/2"}, "exp_epsilon": "3"},
    {"query": "privacy", "parameters": {"n": 2, "m": 2, "r": 1, "lam": 1}, "exp_epsilon": "3"},
    {"query": "privacy", "parameters": {"n": 2, "m": 2, "r": 2, "lam": 1}, "exp_epsilon": "9"},
    {"query": "delta", "parameters": {"n": 2, "m": 2, "r": 2, "lam": 1}, "exp_epsilon": "2", "delta": "73/256"},
    {"query": "delta", "parameters": {"n": 2, "m": 5, "r": 1, "lam": 1}, "exp_epsilon": "3/2", "delta": "9/32"},
    {
        "query": "distribution",
        "parameters": {"n": 1, "m": 5, "r": 2, "lam": "1/2"},
        "x": (2,),
        "law": [((0, 0), "21/80"), ((0, 1), "23/80"), ((1, 0), "23/80"), ((1, 1), "13/80")],
    },
    {
        "query": "distribution",
        "parameters": {"n": 1, "m": 5, "r": 4, "lam": 0},
        "x": (2,),
        "law": [
            ((0, 0, 0, 1), "1/10"),
            ((0, 0, 1, 0), "1/10"),
            ((0, 0, 1, 1), "1/10"),
            ((0, 1, 0, 0), "1/10"),
            ((0, 1, 0, 1), "1/10"),
            ((0, 1, 1, 0), "1/10"),
            ((1, 0, 0, 0), "1/10"),
            ((1, 0, 0, 1), "1/10"),
            ((1, 0, 1, 0), "1/10"),
            ((1, 1, 0, 0), "1/10"),
        ],
    },
]
