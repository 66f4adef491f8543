"""The privacy blanket (Balle et al., 2019): shuffled answers of which some are uniformly random."""

from tightdp import Int, flip, mechanism, randint, shuffle

ASKED = (
    ({"n": 50}, "privacy", {}),
    ({"n": 20}, "delta", {"exp_epsilon": 2}),
)


@mechanism(record=Int(0, 2))
def shuffled(x, gamma="1/4"):
    return shuffle([randint(0, 2) if flip(gamma) else v for v in x])


@mechanism(record=Int(0, 2))
def counted(x, gamma="1/4"):
    counts = [0, 0, 0]
    for v in x:
        sent = v
        if flip(gamma):
            sent = randint(0, 2)
        counts[sent] += 1
    return tuple(counts)


def _response(v, gamma):
    blanket, noise = flip(gamma), randint(0, 2)
    return noise if blanket else v


@mechanism(record=Int(0, 2))
def in_order(x, gamma="1/4"):
    return tuple(sorted(_response(v, gamma) for v in x))
