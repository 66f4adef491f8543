"""Randomized response with four outputs, which gives its bit away with probability delta.

Source: xiang2025, Sec. 6.2; the extremal mechanism of Kairouz, Oh and Viswanath 2015.

Parameters: delta, a rational from 0 to 1; exp_epsilon = e^eps, a rational >= 1. Records are bits, neighbours
differ in one record. Every record sends 0 or 1 (randomized response), or 2 + bit (the bit is given away). The
output is the tuple of the n messages.
"""

from tightdp import Bit, flip, mechanism


@mechanism(record=Bit)
def randomized_response_delta(x, delta, exp_epsilon):
    """Every bit is given away with probability delta, else flipped with probability 1/(1 + exp_epsilon)."""
    messages = []
    for b in x:
        if flip(delta):
            messages.append(2 + b)
        elif flip(1 / (1 + exp_epsilon)):
            messages.append(1 - b)
        else:
            messages.append(b)
    return tuple(messages)


# delta(t) = delta + (1 - delta)·max(0, e^eps - t)/(1 + e^eps) for t >= 1, for every n: delta at t = e^eps.
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 1, "delta": "1/10", "exp_epsilon": 3},
        "exp_epsilon": "inf",
        "witness": {"x": (0,), "x_prime": (1,), "output": (2,)},
    },
    {"query": "privacy", "parameters": {"n": 2, "delta": 0, "exp_epsilon": 3}, "exp_epsilon": "3"},
    {
        "query": "delta",
        "parameters": {"n": 1, "delta": "1/10", "exp_epsilon": 3},
        "exp_epsilon": "3",
        "delta": "1/10",
    },
    {
        "query": "delta",
        "parameters": {"n": 2, "delta": "1/10", "exp_epsilon": 3},
        "exp_epsilon": "3",
        "delta": "1/10",
        "witness": {"x": (0, 0), "x_prime": (1, 0)},
    },
    {
        "query": "delta",
        "parameters": {"n": 2, "delta": "1/10", "exp_epsilon": 3},
        "exp_epsilon": "1",
        "delta": "11/20",
    },
    {
        "query": "epsilon",
        "parameters": {"n": 2, "delta": "1/10", "exp_epsilon": 3},
        "delta": "1/10",
        "exp_epsilon": "3",
    },
    {
        "query": "epsilon",
        "parameters": {"n": 2, "delta": "1/10", "exp_epsilon": 3},
        "delta": "1/20",
        "exp_epsilon": "inf",
    },
    {
        "query": "distribution",
        "parameters": {"n": 1, "delta": "1/10", "exp_epsilon": 3},
        "x": (1,),
        "law": [((0,), "9/40"), ((1,), "27/40"), ((3,), "1/10")],
    },
]
