"""Bits of every client, shuffled (Cheu et al., 2019): how many are ones."""

from tightdp import Int, flip, mechanism, randint, shuffle

ASKED = (({"n": 10}, "privacy", {}), ({"n": 10}, "delta", {"exp_epsilon": 2}))


@mechanism(record=Int(0, 3))
def shuffled(x):
    messages = []
    for v in x:
        for level in range(3):
            messages.append(randint(0, 1) if flip("1/2") else int(v > level))
    return shuffle(messages)


@mechanism(record=Int(0, 3))
def counted(x):
    def ones(v):
        bits = [v > level for level in range(3)]
        return sum(flip("3/4") if bit else flip("1/4") for bit in bits)

    return sum(map(ones, x))
