"""The worst mechanism of a one-run audit as an ordinary program, and with it an instance that can be asked anything."""

from __future__ import annotations

from tightdp.errors import QueryError
from tightdp.language.domains import Int
from tightdp.language.primitives import choice, flip, randint
from tightdp.results.audit import Audit
from tightdp.session.instance import Instance
from tightdp.session.mechanism import mechanism

__all__ = ["symmetric_guesser", "worst_case"]


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


def worst_case(answer: Audit) -> Instance:
    """Return the mechanism behind the p-value, or else behind the bound, of the optimal method as an instance.

    Its δ is within the guarantee, and it makes at least `correct` right guesses as often as the optimum says (for a
    trade-off function, nearly). Raises QueryError for the other methods, and where its probabilities are too long.
    """
    worst = answer.worst
    if worst is None:
        raise QueryError(
            f"there is no worst mechanism for this answer of the method {answer.method}",
            'use method="optimal", a positive number of right guesses, and numbers of moderate length',
        )
    return symmetric_guesser.bind(n=worst.canaries, guesses=worst.guesses, weights=worst.weights, options=worst.options)
