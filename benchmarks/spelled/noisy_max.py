"""Report noisy max (Dwork and Roth, 2014, Section 3.3) on a histogram."""

from tightdp import Int, geometric, mechanism

ASKED = (({"n": 6}, "privacy", {}), ({"n": 6}, "delta", {"exp_epsilon": 2}))


@mechanism(record=Int(0, 2))
def with_max(x):
    noisy = [geometric(sum(v == k for v in x), "1/2", -2, 8) for k in range(3)]
    return max(range(3), key=lambda k: noisy[k])


@mechanism(record=Int(0, 2))
def with_a_loop(x):
    counts = {0: 0, 1: 0, 2: 0}
    for v in x:
        counts[v] += 1
    best, most = 0, None
    for k, count in counts.items():
        noisy = geometric(count, "1/2", -2, 8)
        if most is None or noisy > most:
            best, most = k, noisy
    return best
