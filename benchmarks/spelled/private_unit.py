"""PrivUnit (Bhowmick et al., 2018) on vectors of signs: a vector of the client's half more often than of the other."""

from itertools import product

from tightdp import Tuple, Values, choice, flip, mechanism, shuffle

ASKED = (
    ({"n": 4}, "privacy", {}),
    ({"n": 4}, "delta", {"exp_epsilon": "3/2"}),
)

SIGN = Values(-1, 1)
SIGNS = Tuple(SIGN, SIGN, SIGN, SIGN, SIGN)


@mechanism(record=SIGNS)
def from_the_half(x, p="2/3"):
    sent = []
    for v in x:
        every = list(product((-1, 1), repeat=len(v)))
        near = [u for u in every if sum(a * b for a, b in zip(u, v)) > 0]
        far = [u for u in every if sum(a * b for a, b in zip(u, v)) < 0]
        sent.append(choice(near) if flip(p) else choice(far))
    return tuple(sent)


def _vector(v, p):
    u = tuple(choice((-1, 1)) for _ in v)
    agree = sum(1 for a, b in zip(u, v) if a == b)
    return u if (2 * agree > len(v)) == flip(p) else tuple(-a for a in u)


@mechanism(record=SIGNS)
def turned_over(x, p="2/3"):
    return tuple(_vector(v, p) for v in x)


@mechanism(record=SIGNS)
def by_agreement(x, p="2/3"):
    sent = []
    for v in x:
        agreeing = choice((3, 4, 5), [10, 5, 1]) if flip(p) else choice((0, 1, 2), [1, 5, 10])
        keeps = shuffle([i < agreeing for i in range(5)])
        message = []
        for a, keep in zip(v, keeps):
            message.append(a if keep else -a)
        sent.append(tuple(message))
    return tuple(sent)
