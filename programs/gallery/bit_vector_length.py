"""Randomized response on vectors whose length is not fixed.

Source: github.com/opendp/opendp, issue 2930 (September 2026).
Affected: `make_randomized_response_bitvec` of OpenDP on a `BitVectorDomain`, as of that date.
State: open when this was written. `mended` fills vectors up to a length that is public.

Sold as: at most one bit is set, so two bits differ, and e^ε = 9 with lam = 1/4.

Why: The domain says how many bits may be set and not how long a vector is. So vectors of different lengths are both in
it, and are at distance 1 like any other pair. Flipping bits changes none of the lengths: the output tells the length of
the input with certainty. Whether this matters depends on the program around it; the stated guarantee covers it and is
false. Padding to a public length costs nothing.

Parameters: lam, the probability that a bit is flipped. Records are the vectors of one or two bits with one bit set.
"""

from tightdp import Values, flip, mechanism


@mechanism(record=Values((1, 0), (0, 1)))
def meant(x, lam="1/4"):
    """Vectors of two bits, every bit flipped with probability lam."""
    return tuple(tuple(bit ^ flip(lam) for bit in vector) for vector in x)


@mechanism(record=Values("1", "10", "01"))
def shipped(x, lam="1/4"):
    """Vectors of one or two bits, every bit flipped with probability lam."""
    bits = {"1": (1,), "10": (1, 0), "01": (0, 1)}
    return tuple(tuple(bit ^ flip(lam) for bit in bits[vector]) for vector in x)


@mechanism(record=Values("1", "10", "01"))
def mended(x, lam="1/4"):
    """The same, filled up with zeros first."""
    bits = {"1": (1, 0), "10": (1, 0), "01": (0, 1)}
    return tuple(tuple(bit ^ flip(lam) for bit in bits[vector]) for vector in x)


CLAIM = {"exp_epsilon": "9"}
PARAMETERS = {"n": 1}
EXPECTED = {"shipped": {"exp_epsilon": "inf"}, "mended": {"exp_epsilon": "9"}}
