"""A budget that is renewed every day.

Source: Tang, Korolova, Bai, Wang and Wang 2017, "Privacy loss in Apple's implementation of differential privacy on
MacOS 10.12".
Affected: the collection of macOS 10.12 as described there.
State: the parameters have been changed since; the arithmetic of renewal is as here. `mended` answers once and repeats.

Sold as: e^ε = 3, the loss of one report.

Why: Each report keeps what it promises, and the promise is per report and per day. Reports about the same thing add up:
after T days the loss is T times that of one, and a device that is used for years has no meaningful bound. The number
that matters to a person is the loss over a lifetime. Drawing the noise once for each value and repeating the answer
holds the loss at that of one report for as long as the value stays the same.

Parameters: lam, the probability of a false report; days. Records are bits, the same on each day.
"""

from tightdp import Bit, flip, mechanism


@mechanism(record=Bit)
def meant(x, lam="1/4"):
    """One report of every client."""
    return tuple(bit ^ flip(lam) for bit in x)


@mechanism(record=Bit)
def shipped(x, lam="1/4", days=3):
    """A fresh report of every client on each day."""
    return tuple(tuple(bit ^ flip(lam) for bit in x) for _ in range(days))


@mechanism(record=Bit)
def mended(x, lam="1/4", days=3):
    """The report of the first day, repeated."""
    report = tuple(bit ^ flip(lam) for bit in x)
    return tuple(report for _ in range(days))


CLAIM = {"exp_epsilon": "3"}
PARAMETERS = {"n": 1}
EXPECTED = {"shipped": {"exp_epsilon": "27"}, "mended": {"exp_epsilon": "3"}}
