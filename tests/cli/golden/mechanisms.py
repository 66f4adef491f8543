"""Small mechanisms whose output on the command line is recorded in the transcripts beside this file."""

from tightdp import Bit, Int, Values, choice, flip, mechanism, observe


@mechanism(record=Bit)
def response(x, lam):
    """Every client flips its bit with probability lam."""
    return tuple(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit, target=sum)
def total(x, lam):
    """How many bits are 1 after every client flipped its bit with probability lam."""
    return sum(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit)
def leak(x, p):
    """The dataset with probability p, else None."""
    return x if flip(p) else None


@mechanism(record=Values("red", "green"), target=len)
def pick(x, weights=(1, 1)):
    """One of the first two records."""
    return choice(x[:2], weights)


@mechanism(record=Int(0, 3), neighbours="unit-step")
def average(x):
    """The mean of the records with probability 3/4, or nothing at all."""
    return sum(x) / len(x) if flip("3/4") else "nothing"


@mechanism(record=Bit)
def impossible(x):
    """Observes what no run gives on the dataset of zeros."""
    observe(sum(x) > 0)
    return 1


@mechanism(record=Bit)
def fails(x):
    """Divides by the number of ones."""
    return 6 // sum(x)


@mechanism(record=Bit)
def first(x):
    """Which record is noticed first; a 1 is noticed more often, a later one more rarely."""
    for i, b in enumerate(x):
        if flip((1 + b) / (i + 3)):
            return i
    return None


@mechanism(record=Bit)
def lucky(x):
    """The same, among the runs in which something is noticed."""
    found = first(x)
    observe(found is not None)
    return found
