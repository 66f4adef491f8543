"""What a chain that is read for every n says of one dataset."""

from __future__ import annotations

from fractions import Fraction

from tightdp.every_n.chain import Chain, product, row


def law(chain: Chain, x: tuple[object, ...]) -> list[Fraction]:
    """The probabilities of all that may be published, in order."""
    rows = [chain.starts[0]]
    for record in x:
        rows = [row(each, by[record]) for each in rows for by in chain.steps.values() if record in by]
    return sorted(mass for each in rows for final in chain.finals if (mass := product(each, final)))
