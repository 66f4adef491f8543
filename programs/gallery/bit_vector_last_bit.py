"""Randomized response on a vector of bits that leaves the last bit as it is.

Source: github.com/opendp/opendp, issue 2707 (April 2026).
Affected: `make_randomized_response_bitvec` of OpenDP, until then.
State: mended by pull request 2708.

Sold as: every bit is flipped with probability 1/4, so that vectors of three bits have e^ε = 27.

Why: The noise is a vector of its own, made by a loop over 1..n and combined with the data by xor. The loop ends one too
early, the noise is one bit short, and xor of vectors of different lengths fills the shorter one with zeros without a
word. So the last bit is xored with 0. Every other bit is right, the output looks as noisy as ever, and averages over
many bits hardly move; but whoever looks at the last bit alone knows it.

Parameters: d, the number of bits; lam, the probability that a bit is flipped. Records are vectors of d bits.
"""

from tightdp import Bits, flip, mechanism


@mechanism(record=lambda d: Bits(d))
def meant(x, d=3, lam="1/4"):
    """Every bit of every record, flipped with probability lam."""
    return tuple(tuple(bit ^ flip(lam) for bit in vector) for vector in x)


@mechanism(record=lambda d: Bits(d))
def shipped(x, d=3, lam="1/4"):
    """The noise has a bit less than the vector."""
    sent = []
    for vector in x:
        noise = [flip(lam) for _ in range(1, d)]
        sent.append(tuple(bit ^ noise[i] if i < len(noise) else bit for i, bit in enumerate(vector)))
    return tuple(sent)


@mechanism(record=lambda d: Bits(d))
def mended(x, d=3, lam="1/4"):
    """The noise has as many bits as the vector."""
    sent = []
    for vector in x:
        noise = [flip(lam) for _ in range(d)]
        sent.append(tuple(bit ^ noise[i] for i, bit in enumerate(vector)))
    return tuple(sent)


CLAIM = {"exp_epsilon": "27"}
PARAMETERS = {"n": 1}
EXPECTED = {"shipped": {"exp_epsilon": "inf"}, "mended": {"exp_epsilon": "27"}}
