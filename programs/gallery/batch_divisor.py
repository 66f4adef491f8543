"""The noisy sum is divided by a batch size that depends on the private number of records.

Source: github.com/meta-pytorch/opacus, issues 571 (March 2023) and 819 (May 2026).
Affected: Opacus 1.0.0 to 1.6.0.
State: open when this was written. `mended` divides by a public constant.

Sold as: e^ε = 3/2 under add-remove, as noise of ratio 1/2 has on a Poisson sample of rate 1/2.

Why: The accountant analyses the noisy sum of clipped gradients, and dividing it by a constant changes nothing. The code
divides by floor(q·n), the expected size of a batch, and n is the number of records, which add-remove protects. At most
sizes neighbours have the same divisor. Where floor(q·n) steps, the results lie on two different grids, and a single
number on the finer one gives the size away. For large n the steps are relatively small: the defect shows in small ones.

Parameters: q, the rate of sampling; ratio of the noise. Records are bits or absent.
"""

from tightdp import Bit, flip, geometric, mechanism


def noisy_sum(x, q, ratio):
    total = sum(record for record in x if record is not None and flip(q))
    return geometric(total, ratio, -len(x), 2 * len(x))


@mechanism(record=Bit, neighbours="add-remove")
def meant(x, q="1/2", ratio="1/2", batch=2):
    """The noisy sum of a Poisson sample, divided by a constant."""
    return noisy_sum(x, q, ratio) / batch


@mechanism(record=Bit, neighbours="add-remove")
def shipped(x, q="1/2", ratio="1/2"):
    """The same, divided by the expected size of a batch."""
    present = sum(1 for record in x if record is not None)
    return noisy_sum(x, q, ratio) / max(1, present * q // 1)


mended = meant

CLAIM = {"exp_epsilon": "3/2"}
PARAMETERS = {"n": 4}
EXPECTED = {"shipped": {"exp_epsilon": "inf"}, "mended": {"exp_epsilon": "3/2"}}
