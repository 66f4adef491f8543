"""Coordinates that were selected and then not drawn keep their true values.

Source: github.com/NVIDIA/NVFlare, issue 343 (March 2022).
Affected: `SVTPrivacy` of NVFlare, until then.
State: mended: the output starts as zeros, and only what is drawn is written into it.

Sold as: e^ε = 16 for two coordinates: each is compared with the threshold and released, each time with noise of
ratio 1/2.

Why: The filter selects coordinates by a noisy comparison, draws some of the selected ones with replacement, writes
noisy values there, and zeros where nothing was selected. It does so in the array of true values. A coordinate that was
selected and not drawn is in neither list, so its true value stays. With replacement this happens often: of m drawn from
m, about a third are missed. The overwriting is what leaks; an array of zeros to start from would not.

Parameters: ratio of the noise, threshold. Records are the coordinates, neighbours differ by 1 in each.
"""

from fractions import Fraction

from tightdp import Int, choice, geometric, mechanism

HALF = Fraction(1, 2)


def noisy(v, ratio):
    """A value with noise; continuous noise never gives an integer, so this gives halves."""
    return geometric(v, ratio, -1, 2) + HALF


def selected(x, ratio, threshold):
    return [i for i, v in enumerate(x) if geometric(v, ratio, -1, 3) >= threshold]


@mechanism(record=Int(0, 1), neighbours="unit-all")
def meant(x, ratio="1/2", threshold=1):
    """Noisy values of the coordinates that were selected and drawn, zeros elsewhere."""
    accepted = selected(x, ratio, threshold)
    drawn = [choice(accepted) for _ in accepted]
    return tuple(noisy(v, ratio) if i in drawn else 0 for i, v in enumerate(x))


@mechanism(record=Int(0, 1), neighbours="unit-all")
def shipped(x, ratio="1/2", threshold=1):
    """Noisy values where drawn, zeros where not selected, and the rest as it was."""
    accepted = selected(x, ratio, threshold)
    drawn = [choice(accepted) for _ in accepted]
    sent = list(x)
    for i, v in enumerate(x):
        if i in drawn:
            sent[i] = noisy(v, ratio)
        elif i not in accepted:
            sent[i] = 0
    return tuple(sent)


mended = meant

CLAIM = {"exp_epsilon": "16"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"exp_epsilon": "inf"}, "mended": {"exp_epsilon": "16"}}
