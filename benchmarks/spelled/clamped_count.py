"""The truncated geometric mechanism (Ghosh, Roughgarden and Sundararajan, 2009) on a sum of small integers."""

from tightdp import Int, geometric, mechanism

ASKED = (
    ({"n": 50}, "privacy", {}),
    ({"n": 50}, "delta", {"exp_epsilon": 2}),
    ({"n": 50}, "accuracy", {"alpha": 20}),
)


@mechanism(record=Int(0, 20), target=sum)
def with_sum(x, ratio="9/10"):
    return geometric(sum(x), ratio, 0, 20 * len(x))


@mechanism(record=Int(0, 20), target=sum)
def with_a_loop(x, ratio="9/10"):
    total = 0
    for v in x:
        total += v
    noisy = geometric(total, ratio, -5, 20 * len(x) + 5)
    return min(max(noisy, 0), 20 * len(x))


@mechanism(record=Int(0, 20), target=sum)
def with_a_dictionary(x, ratio="9/10"):
    counts = dict.fromkeys(range(21), 0)
    for v in x:
        counts[v] += 1
    total = sum(v * count for v, count in counts.items())
    return geometric(total, ratio, 0, 20 * len(x))
