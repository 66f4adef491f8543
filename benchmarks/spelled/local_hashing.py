"""Optimal local hashing (Wang et al., 2017): a hash function, and a noisy hash."""

from tightdp import Int, flip, mechanism, randint

ASKED = (({"n": 4}, "privacy", {}), ({"n": 2}, "delta", {"exp_epsilon": "3/2"}))


@mechanism(record=Int(0, 3))
def with_a_comprehension(x):
    def report(v):
        a, b = randint(1, 4), randint(0, 4)
        bucket = (a * v + b) % 5 % 2
        return a, b, bucket if flip("3/4") else 1 - bucket

    return tuple(report(v) for v in x)


@mechanism(record=Int(0, 3))
def with_a_loop(x):
    reports = ()
    for v in x:
        seed = randint(0, 19)
        a, b = divmod(seed, 5)
        hashes = [((a + 1) * u + b) % 5 % 2 for u in range(4)]
        bit = hashes[v]
        if flip("1/4"):
            bit ^= 1
        reports += ((a + 1, b, bit),)
    return reports
