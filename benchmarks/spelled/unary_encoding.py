"""Unary encoding (Erlingsson, Pihur and Korolova, 2014; Wang et al., 2017): sums of noisy indicators."""

from tightdp import Int, flip, mechanism

ASKED = (({"n": 3}, "privacy", {}),)


@mechanism(record=Int(0, 3))
def with_comprehensions(x):
    sent = [[flip("1/2" if v == k else "1/5") for k in range(4)] for v in x]
    return tuple(sum(bits[k] for bits in sent) for k in range(4))


@mechanism(record=Int(0, 3))
def with_loops(x):
    counts = [0] * 4
    for v in x:
        for k in range(4):
            if v == k:
                counts[k] += flip("1/2")
            elif flip("1/5"):
                counts[k] += 1
    return tuple(counts)
