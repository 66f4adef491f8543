"""Propose-test-release (Dwork and Lei, 2009; Thakurta and Smith, 2013): the majority, if it is clear."""

from tightdp import Bit, geometric, mechanism

ASKED = (({"n": 30}, "privacy", {}), ({"n": 30}, "delta", {"exp_epsilon": 2}))


@mechanism(record=Bit)
def with_a_sum(x):
    distance = abs(2 * sum(x) - len(x)) // 2
    if geometric(distance, "1/2", 0, len(x)) > 4:
        return int(2 * sum(x) > len(x))
    return None


@mechanism(record=Bit)
def with_counts(x):
    ones = zeros = 0
    for v in x:
        if v:
            ones += 1
        else:
            zeros += 1
    margin = max(ones, zeros) - min(ones, zeros)
    noisy = geometric(margin // 2, "1/2", 0, len(x))
    clear = noisy >= 5
    return (1 if ones > zeros else 0) if clear else None
