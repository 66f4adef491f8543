"""The exponential mechanism (McSherry and Talwar, 2007) for a median."""

from fractions import Fraction

from tightdp import Int, choice, mechanism

ASKED = (({"n": 12}, "privacy", {}), ({"n": 12}, "delta", {"exp_epsilon": "3/2"}))


@mechanism(record=Int(0, 4))
def with_a_comprehension(x):
    scores = [abs(sum(v < k for v in x) - sum(v > k for v in x)) for k in range(5)]
    return choice(range(5), [Fraction(1, 2**score) for score in scores])


@mechanism(record=Int(0, 4))
def with_counts(x):
    counts = [0] * 5
    for v in x:
        counts[v] += 1
    weights = []
    for k in range(5):
        below, above = sum(counts[:k]), sum(counts[k + 1 :])
        weights.append(Fraction(1, 2) ** max(below - above, above - below))
    return choice([0, 1, 2, 3, 4], weights)
