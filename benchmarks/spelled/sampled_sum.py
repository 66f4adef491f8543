"""A sum of a Poisson sample with geometric noise (Balle, Barthe and Gaboardi, 2018)."""

from tightdp import Bit, flip, geometric, mechanism

ASKED = (({"n": 20}, "privacy", {}), ({"n": 20}, "delta", {"exp_epsilon": "5/4"}))


@mechanism(record=Bit)
def with_a_filter(x):
    sample = [v for v in x if flip("1/4")]
    return geometric(sum(sample), "1/2", 0, len(x))


@mechanism(record=Bit)
def with_a_loop(x):
    total = 0
    for v in x:
        if flip("1/4") and v == 1:
            total += 1
    return geometric(total, "1/2", 0, len(x))
