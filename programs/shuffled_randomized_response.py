"""Shuffled randomized response: randomized response whose messages arrive in uniformly random order.

Source: cheu2019, Algorithm 1 (the randomizer R_{n,lam}, without the analyzer's rescaling) and Sec. 4.

Parameters: lam, a rational from 0 to n, the expected number of clients that send a uniformly random bit
instead of their own. Records are bits, neighbours differ in one record. The output is the tuple of the
shuffled messages.
"""

from tightdp import Bit, flip, mechanism, randint, shuffle


@mechanism(record=Bit)
def shuffled_randomized_response(x, lam, n):
    """Every client sends a random bit with probability lam/n, else its own; the messages are shuffled."""
    return shuffle([randint(0, 1) if flip(lam / n) else b for b in x])


# The order is uniform given the number of ones, so all answers are those of that number, which has the law of
# `randomized_response_count` with flip probability lam/(2n) (cheu2019, Claim 4.3): e^eps = 2n/lam - 1.
EXPECTED = [
    {"query": "privacy", "parameters": {"n": 2, "lam": 1}, "exp_epsilon": "3"},
    {
        "query": "privacy",
        "parameters": {"n": 3, "lam": "6/5"},
        "exp_epsilon": "4",
        "witness": {"x": (0, 0, 0), "x_prime": (1, 0, 0), "output": (0, 0, 0)},
    },
    {"query": "privacy", "parameters": {"n": 2, "lam": 0}, "exp_epsilon": "inf"},
    {"query": "delta", "parameters": {"n": 3, "lam": "6/5"}, "exp_epsilon": "2", "delta": "32/125"},
    {"query": "delta", "parameters": {"n": 3, "lam": "6/5"}, "exp_epsilon": "1", "delta": "51/125"},
    {
        "query": "distribution",
        "parameters": {"n": 2, "lam": "4/5"},
        "x": (1, 1),
        "law": [((0, 0), "1/25"), ((0, 1), "4/25"), ((1, 0), "4/25"), ((1, 1), "16/25")],
    },
    {
        "query": "distribution",
        "parameters": {"n": 2, "lam": "4/5"},
        "x": (0, 1),
        "law": [((0, 0), "4/25"), ((0, 1), "17/50"), ((1, 0), "17/50"), ((1, 1), "4/25")],
    },
]
