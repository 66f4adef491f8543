"""Idealised DP-SGD: every step publishes, for each set of s records, the noisy sum of a random batch of its records.

Source: keinan2025, Sec. 6.1: where every gradient is 0 or the unit vector of its coordinate, a step of DP-SGD is a
noisy Count-In-Sets on a Poisson batch. The noise there is Gaussian; here it is geometric, clamped to what a sum can be.

Parameters: s, an integer >= 1, the size of a set (the elements per dimension); steps; rate, the probability that a
record is in a batch; ratio, a rational in [0, 1). Records are bits, neighbours differ in one record. The output is a
tuple of steps * ceil(n/s) integers from 0 to s.
"""

from tightdp import Bit, flip, geometric, mechanism


@mechanism(record=Bit)
def idealised_dp_sgd(x, s, steps, rate, ratio):
    """The noisy sums of the batches, step by step."""
    sums = []
    for _ in range(steps):
        for first in range(0, len(x), s):
            batch = [bit for bit in x[first : first + s] if flip(rate)]
            sums.append(geometric(sum(batch), ratio, 0, s))
    return tuple(sums)


# One record in a set of one: P(1 | 1) = (rate + (1 - rate)·ratio)/(1 + ratio) and P(1 | 0) = ratio/(1 + ratio), so
# e^eps = (rate + (1 - rate)·ratio)/ratio for one step, its power for more.
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 1, "s": 1, "steps": 1, "rate": "1/2", "ratio": "1/4"},
        "exp_epsilon": "5/2",
        "witness": {"x": (1,), "x_prime": (0,), "output": (1,)},
    },
    {
        "query": "privacy",
        "parameters": {"n": 2, "s": 1, "steps": 2, "rate": "1/2", "ratio": "1/4"},
        "exp_epsilon": "25/4",
    },
    {
        "query": "privacy",
        "parameters": {"n": 2, "s": 2, "steps": 2, "rate": "1/2", "ratio": "1/4"},
        "exp_epsilon": "25/4",
    },
    {
        "query": "distribution",
        "parameters": {"n": 2, "s": 2, "steps": 1, "rate": "1/2", "ratio": "1/4"},
        "x": (1, 0),
        "law": [((0,), "1/2"), ((1,), "3/8"), ((2,), "1/8")],
    },
]
