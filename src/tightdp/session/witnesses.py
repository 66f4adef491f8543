"""The worst mechanism of a one-run audit as an ordinary program, and with it an instance that can be asked anything."""

from __future__ import annotations

from tightdp.language.domains import Int
from tightdp.language.primitives import choice, flip, randint
from tightdp.session.mechanism import mechanism

__all__ = ["symmetric_guesser"]


@mechanism(record=lambda options: Int(0, options - 1))
def symmetric_guesser(x, guesses, weights, options=2):  # type: ignore[no-untyped-def]
    """Publish a guess for so many of the secrets, None for the others; i are right with probability weights[i].

    Given their number, the guesses and the right ones among them are uniformly placed, and the wrong ones uniform. The
    worst mechanism of a one-run audit may be taken of this form.
    """
    right = choice(range(guesses + 1), weights)
    left = guesses
    output = []
    for j in range(len(x)):
        if flip(left / (len(x) - j)):
            if flip(right / left):
                output.append(x[j])
                right -= 1
            else:
                output.append((x[j] + randint(1, options - 1)) % options)
            left -= 1
        else:
            output.append(None)
    return tuple(output)
