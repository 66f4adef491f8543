"""Sparse vector that releases the gap (Wang et al., 2019): the first answer above a noisy threshold."""

from tightdp import Int, geometric, mechanism

ASKED = (
    ({"n": 10}, "privacy", {}),
    ({"n": 10}, "delta", {"exp_epsilon": 2}),
)


@mechanism(record=Int(0, 3), neighbours="unit-all")
def with_return(x, most=5):
    threshold = geometric(2, "1/2", -2, most)
    for at, v in enumerate(x):
        noisy = geometric(v, "2/3", -2, most)
        if noisy >= threshold:
            return at, noisy - threshold
    return None


@mechanism(record=Int(0, 3), neighbours="unit-all")
def with_while(x, most=5):
    threshold = geometric(2, "1/2", -2, most)
    at, found = 0, None
    while at < len(x) and found is None:
        gap = geometric(x[at], "2/3", -2, most) - threshold
        if gap >= 0:
            found = (at, gap)
        at += 1
    return found


@mechanism(record=Int(0, 3), neighbours="unit-all")
def with_next(x, most=5):
    threshold = geometric(2, "1/2", -2, most)
    noisy = [geometric(v, "2/3", -2, most) for v in x]
    return next(((at, z - threshold) for at, z in enumerate(noisy) if z >= threshold), None)
