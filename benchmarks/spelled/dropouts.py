"""A sum with binomial noise of every client (Dwork et al., 2006; Agarwal et al., 2018) of which some drop out."""

from tightdp import Bit, binomial, flip, mechanism

ASKED = (
    ({"n": 100}, "privacy", {}),
    ({"n": 100}, "delta", {"exp_epsilon": 2}),
)


@mechanism(record=Bit)
def with_a_loop(x, stays="9/10"):
    total = alive = 0
    for v in x:
        if flip(stays):
            alive += 1
            total += v + binomial(1, "1/2")
    return total, alive


@mechanism(record=Bit)
def with_a_list(x, stays="9/10"):
    sent = [v + binomial(1, "1/2") if flip(stays) else None for v in x]
    arrived = [m for m in sent if m is not None]
    return sum(arrived), len(arrived)


def _client(v, stays):
    alive = flip(stays)
    noise = sum(flip("1/2") for _ in range(1))
    return (v + noise, 1) if alive else (0, 0)


@mechanism(record=Bit)
def with_pairs(x, stays="9/10"):
    pairs = [_client(v, stays) for v in x]
    return sum(p[0] for p in pairs), sum(p[1] for p in pairs)
