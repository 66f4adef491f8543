"""A score that is the difference of two errors, with the sensitivity of one.

Source: github.com/ryan112358/mbi, issue 65 (December 2025).
Affected: the JAM mechanism in mbi, as of that date.
State: open when this was written; the authors' original code has the right sensitivity. `mended` has it too.

Sold as: e^ε = 16, the exponential mechanism at sensitivity 2.

Why: JAM chooses between measuring a marginal and trusting public data, by the error of the model minus the error of the
public data. Both errors are counted on the private records. When one record changes, either error moves by up to 2, and
they can move in opposite directions, so the score moves by up to 4. Two errors of the same size often cancel in tests;
the worst case is where the model is off on one side and the public data on the other.

Parameters: base, the weight of one point of score. Records are bits; the candidates are two marginals.
"""

from tightdp import Bit, choice, mechanism

MODEL = (0, 1)
PUBLIC = (1, 0)


def error(x, share):
    """The distance between the counts of x and those of a dataset that has this share of ones."""
    return abs(sum(x) - share * len(x)) + abs(len(x) - sum(x) - (1 - share) * len(x))


def score(x, candidate):
    return error(x, MODEL[candidate]) - error(x, PUBLIC[candidate])


@mechanism(record=Bit)
def meant(x, base="2"):
    """Weights base^(score/2): e^ε = base^4 = 16 at sensitivity 4."""
    return choice((0, 1), weights=[base ** (score(x, candidate) // 2) for candidate in (0, 1)])


@mechanism(record=Bit)
def shipped(x, base="2"):
    """Weights base^score: e^ε = base^4 = 16 at sensitivity 2."""
    return choice((0, 1), weights=[base ** score(x, candidate) for candidate in (0, 1)])


mended = meant

CLAIM = {"exp_epsilon": "16"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"exp_epsilon": "257/2"}, "mended": {"exp_epsilon": "17/2"}}
