"""Private multiplicative weights with two rounds: answers come from public weights as long as these are good enough.

Source: Hardt and Rothblum 2010, Figure 1. A query is answered from the weights where its noisy error is small; else its
noisy answer is told, and the weights of the records that it counts are doubled or halved.

Parameters: ratio, a rational in [0, 1), of the noise; margin, an integer >= 0, by which the noise may leave the range
of the counts; tolerance, an integer >= 0, the largest error that is small. Records are integers from 0 to 2, neighbours
differ in one record. The analyst picks the value that is counted.
"""

from tightdp import Int, ask, geometric, mechanism

ROUNDS = 2


def doubtful(history, choices):
    """Ask for the last value, and again for the same where the first answer was drawn."""
    return choices[-1]


@mechanism(record=Int(0, 2), strategy=doubtful)
def private_multiplicative_weights(x, ratio, margin, tolerance):
    """For each query its answer, and whether the weights gave it."""
    n = len(x)
    weights = [1, 1, 1]
    seen = ()
    for _ in range(ROUNDS):
        value = ask(seen, (0, 1, 2))
        guess = n * weights[value] // sum(weights)
        noisy = geometric(x.count(value), ratio, -margin, n + margin)
        if abs(noisy - guess) <= tolerance:
            seen = (*seen, (guess, True))
        else:
            weights[value] = weights[value] * 2 if noisy > guess else weights[value] / 2
            seen = (*seen, (noisy, False))
    return seen


EXPECTED = [
    {
        "mechanism": "private_multiplicative_weights",
        "parameters": {"n": 1, "margin": 1, "tolerance": 0, "ratio": "1/2"},
        "exp_epsilon": "4",
        "strategy": [((), 1), (((-1, False),), 1)],
        "delta": "2/9",
        "strategy_at_2": [((), 0), (((1, False),), 0), (((2, False),), 0)],
    },
    {
        "mechanism": "private_multiplicative_weights",
        "parameters": {"n": 2, "margin": 1, "tolerance": 0, "ratio": "1/2"},
        "exp_epsilon": "4",
        "strategy": [((), 1), (((-1, False),), 1)],
        "delta": "2/9",
        "strategy_at_2": [((), 0), (((2, False),), 0), (((3, False),), 0)],
    },
]
