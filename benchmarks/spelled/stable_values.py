"""A stability-based histogram of a hundred values, most of which no record has: not private without δ."""

from tightdp import Int, geometric, mechanism

ASKED = (({"n": 2}, "privacy", {}), ({"n": 3}, "privacy", {}))


@mechanism(record=Int(0, 99))
def with_a_dictionary(x, least=2):
    counts = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    noisy = {value: geometric(count, "1/2", 0, 4) for value, count in counts.items()}
    return {value: count for value, count in noisy.items() if count >= least}


@mechanism(record=Int(0, 99))
def with_a_list(x, least=2):
    shown = []
    for value in range(100):
        count = x.count(value)
        if count and (noisy := geometric(count, "1/2", 0, 4)) >= least:
            shown.append((value, noisy))
    return tuple(shown)


@mechanism(record=Int(0, 99))
def with_a_comprehension(x, least=2):
    noisy = [(value, geometric(x.count(value), "1/2", 0, 4)) for value in sorted(set(x))]
    return tuple((value, count) for value, count in noisy if count >= least)
