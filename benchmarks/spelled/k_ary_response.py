"""k-ary randomized response (Kairouz, Oh and Viswanath, 2014)."""

from tightdp import Int, choice, flip, mechanism, randint

ASKED = (({"n": 8}, "privacy", {}), ({"n": 8}, "delta", {"exp_epsilon": 2}))


@mechanism(record=Int(0, 4))
def with_weights(x):
    return tuple(choice(range(5), [4 if k == v else 1 for k in range(5)]) for v in x)


@mechanism(record=Int(0, 4))
def with_coins(x):
    sent = []
    for v in x:
        if flip("1/2"):
            sent.append(v)
        else:
            other = randint(0, 3)
            if other >= v:
                other += 1
            sent.append(other)
    return tuple(sent)
