"""Permute-and-flip, sold with the zCDP parameter of the exponential mechanism.

Source: github.com/opendp/opendp, issue 2911 (August 2026).
Affected: `make_noisy_max` of OpenDP 0.15.1 under zero-concentrated divergence.
State: closed. `mended` is the exponential mechanism, for which the parameter is right.

Sold as: ρ = ε²/8. With e^ε = 4 the Rényi divergence of order 2 is then at most 2ρ = (ln 2)² < 49/100, so its
exponential is below 1633/1000.

Why: The exponential mechanism keeps all its privacy losses on one pair of datasets within an interval of length ε,
wherever that interval lies; this is worth a factor of 4 in ρ. Permute-and-flip is as private in the sense of pure
ε-DP and more accurate, but its losses fill the interval from -ε to ε. A proof about one was taken over with the other.
On the scores (-1, 0) and (0, -1) the exponential of the divergence is 7/3, and ρ = ε²/2 is what remains.

Parameters: ratio = exp(-ε/2). Records are the scores of the candidates, neighbours differ by 1 in each.
"""

from tightdp import Int, choice, flip, mechanism, shuffle


@mechanism(record=Int(-1, 1), neighbours="unit-all")
def meant(x, ratio="1/2"):
    """The exponential mechanism: candidate i with weight (1/ratio)^x[i]."""
    return choice(range(len(x)), weights=[ratio ** (1 - score) for score in x])


@mechanism(record=Int(-1, 1), neighbours="unit-all")
def shipped(x, ratio="1/2"):
    """Candidates in random order; each is taken with probability ratio^(its distance from the best)."""
    best = max(x)
    for candidate in shuffle(range(len(x))):
        if flip(ratio ** (best - x[candidate])):
            return candidate
    return None  # never: the best one is always taken


mended = meant

CLAIM = {"order": 2, "exp_moment": "1633/1000"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"exp_moment": "7/3"}, "mended": {"exp_moment": "25/16"}}
