"""A local randomizer with approximate privacy, made one with pure privacy by rejection from a public input.

Source: cheu2019, Algorithm 7 (R_{k,T} with the public input c = 0).

Parameters: weights, a row for every input: the weights of the messages under the randomizer R, all rows with the same
total; exp_epsilon, the rational e^eps of R; k, a rational below 2/exp_epsilon^2; rounds, the number T of draws. Records
are the inputs 0, 1, ..., neighbours differ in one record. The output is a message for every client.
"""

from tightdp import Int, choice, flip, mechanism


@mechanism(record=lambda weights: Int(0, len(weights) - 1))
def pure_from_approximate(x, weights, exp_epsilon, k, rounds):
    """Every client keeps one of T messages drawn from R(0), accepted with half the ratio of its own law to R(0)."""
    sent = []
    for record in x:
        drawn = [choice(range(len(weights[0])), weights=weights[0]) for _ in range(rounds)]
        half = [weights[record][v] / (2 * weights[0][v]) for v in drawn]
        good = [h if 1 / exp_epsilon**2 <= 2 * h <= exp_epsilon**2 else 1 / 2 for h in half]
        kept = [flip(k * h) for h in good]
        sent.append(choice(drawn, weights=[1 if b or not any(kept) else 0 for b in kept]))
    return tuple(sent)


EXPECTED = [
    {
        "query": "privacy",
        "parameters": {
            "n": 1,
            "weights": ((3, 6, 1), (6, 3, 1), (5, 5, 0)),
            "exp_epsilon": 2,
            "k": "7/16",
            "rounds": 2,
        },
        "exp_epsilon": "39/32",
    },
    {
        "query": "privacy",
        "parameters": {"n": 1, "weights": ((3, 6, 1), (6, 3, 1), (5, 5, 0)), "exp_epsilon": 2, "k": "1/4", "rounds": 1},
        "exp_epsilon": "1",
    },
    {
        "query": "privacy",
        "parameters": {
            "n": 1,
            "weights": ((4, 4, 152), (16, 1, 143), (1, 16, 143)),
            "exp_epsilon": 2,
            "k": "7/16",
            "rounds": 3,
        },
        "exp_epsilon": "8884/2899",
    },
    {
        "query": "privacy",
        "parameters": {"n": 2, "weights": ((2, 1), (1, 2)), "exp_epsilon": 2, "k": "7/16", "rounds": 2},
        "exp_epsilon": "39/32",
    },
    {
        "query": "distribution",
        "parameters": {"n": 1, "weights": ((2, 1), (1, 2)), "exp_epsilon": 2, "k": "1/4", "rounds": 2},
        "x": (1,),
        "law": [((0,), "5/8"), ((1,), "3/8")],
    },
]
