"""Where chains end: by components, whatever else their steps say."""

from __future__ import annotations

from fractions import Fraction

from tightdp.exact.absorbing import absorbed

HALF = Fraction(1, 2)


def test_states_that_are_not_reached_do_not_matter() -> None:
    """Also where they never end."""
    assert absorbed(0, {0: {1: Fraction(1)}, 2: {2: Fraction(1)}}) == {1: 1}


def test_ends_come_in_the_order_of_the_states_whatever_their_hashes_are() -> None:
    names = [f"state {at}" for at in range(12)]
    steps = {
        name: {names[at - 1]: HALF, f"end {at}": HALF} for at, name in enumerate(names)
    }  # one component: each leads to the one before
    found = absorbed(names[0], steps)
    assert list(found) == [f"end {at}" for at in range(12)]
    assert sum(found.values()) == 1
