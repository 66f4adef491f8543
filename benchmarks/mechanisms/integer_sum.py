"""A sum of integers 0..k, each of which a client replaces by a random one with probability lam."""

from tightdp import Int, flip, mechanism, randint


@mechanism(record=lambda k: Int(0, k), target=sum)
def integer_sum(x, k, lam):
    """The noisy sum."""
    return sum(randint(0, k) if flip(lam) else v for v in x)
