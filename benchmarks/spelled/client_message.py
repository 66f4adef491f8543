"""Subset selection (Ye and Barg, 2018): w of k values, the client's own among them more often than by chance."""

from tightdp import Int, flip, mechanism, shuffle

ASKED = (
    ({"n": 4}, "privacy", {}),
    ({"n": 4}, "delta", {"exp_epsilon": 2}),
    ({"n": 8}, "privacy", {}),
    ({"n": 8}, "delta", {"exp_epsilon": 2}),
)


@mechanism(record=lambda k: Int(0, k - 1))
def with_slices(x, k=5, w=2, p="3/5"):
    sent = []
    for v in x:
        others = shuffle([u for u in range(k) if u != v])
        sent.append(tuple(sorted(others[: w - 1] + (v,) if flip(p) else others[:w])))
    return tuple(sent)


def _message(v, k, w, p):
    others = list(shuffle(tuple(u for u in range(k) if u != v)))
    chosen = {v} if flip(p) else {others.pop()}
    while len(chosen) < w:
        chosen.add(others.pop())
    return tuple(sorted(chosen))


@mechanism(record=lambda k: Int(0, k - 1))
def with_a_helper(x, k=5, w=2, p="3/5"):
    return tuple(_message(v, k, w, p) for v in x)


@mechanism(record=lambda k: Int(0, k - 1))
def with_loops(x, k=5, w=2, p="3/5"):
    sent = ()
    for v in x:
        others = []
        for u in range(k):
            if u != v:
                others.append(u)
        order = shuffle(others)
        message = []
        if flip(p):
            message.append(v)
        for u in order:
            if len(message) < w:
                message.append(u)
        message.sort()
        sent += (tuple(message),)
    return sent
