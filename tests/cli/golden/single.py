"""One mechanism, so that it needs no name on the command line."""

from tightdp import Bit, flip, mechanism


@mechanism(record=Bit)
def noisy_or(x, noise=0.2):
    """Whether some record is 1; wrong with probability noise."""
    return any(x) ^ flip(noise)
