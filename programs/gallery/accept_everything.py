"""A rejection sampler that accepts every candidate.

Source: github.com/opendp/opendp, pull request 2422.
Affected: the sampler that the pull request corrects.
State: mended by the pull request. In the model a candidate is drawn up to three times, so that it ends on every run.

Sold as: the exponential mechanism, which gives the best of four candidates with probability 1/2 or more.

Why: A candidate is drawn uniformly and is to be kept with a probability that falls with its distance from the best one.
The code computes that probability, and leaves out its comparison with a random number: the number itself is taken for
the decision, and any positive number counts as true. So the first candidate is kept, whatever the data. Nothing leaks:
ε is 0, and no test of privacy objects. The promise that is broken is the other one, that the output says something.

Parameters: ratio between the probabilities of neighbouring candidates. The record is the best one, from 0 to 3.
"""

from tightdp import Int, choice, flip, mechanism, randint


def best(x):
    """The candidate that is best."""
    return x[0]


def by_rejection(x, accepts):
    """A candidate that was accepted, or the best one after three that were not."""
    for _ in range(3):
        candidate = randint(0, 3)
        if accepts(abs(candidate - x[0])):
            return candidate
    return x[0]


@mechanism(record=Int(0, 3), target=best)
def meant(x, ratio="1/4"):
    """The exponential mechanism."""
    return choice((0, 1, 2, 3), tuple(ratio ** abs(candidate - x[0]) for candidate in range(4)))


@mechanism(record=Int(0, 3), target=best)
def shipped(x, ratio="1/4"):
    """What is compared with nothing is true wherever it is not 0."""
    return by_rejection(x, lambda gap: bool(ratio**gap))


@mechanism(record=Int(0, 3), target=best)
def mended(x, ratio="1/4"):
    """The probability is that of a coin."""
    return by_rejection(x, lambda gap: flip(ratio**gap))


CLAIM = {"alpha": "0", "beta": "1/2"}
PARAMETERS = {"n": 1}
EXPECTED = {"shipped": {"one_minus_beta": "1/4"}, "mended": {"one_minus_beta": "189127/262144"}}
