"""Local and distributed mechanisms of the literature that stand nowhere else in the tree: text, and sizes to ask at."""

from __future__ import annotations

LOCAL = {
    # Greenberg et al. (1969): with the other coin, an unrelated question is answered.
    "unrelated_question": (
        (1, 2, 3),
        """
@mechanism(record=Tuple(Bit, Bit), neighbours="replace-one", target=lambda x: sum(r[0] for r in x))
def f(x):
    return sum(sensitive if flip("2/3") else harmless for sensitive, harmless in x)
""",
    ),
    # Boruch (1971): a die forces "yes" or "no", or lets the truth through.
    "forced_response": (
        (1, 3),
        """
def answer(r):
    die = randint(1, 6)
    if die == 1:
        return 1
    elif die == 6:
        return 0
    return r


@mechanism(record=Bit)
def f(x):
    return tuple(answer(r) for r in x)
""",
    ),
    # Mangat and Singh (1990): two stages.
    "two_stages": (
        (1, 2, 3),
        """
@mechanism(record=Bit, target=sum)
def f(x):
    told = []
    for r in x:
        if flip("1/3"):
            told.append(r)
            continue
        told.append(r if flip("3/5") else 1 - r)
    return sum(told)
""",
    ),
    # Erlingsson et al. (2014): a permanent answer, and instantaneous ones made of it.
    "rappor": (
        (1, 2),
        """
@mechanism(record=Int(0, 1))
def f(x):
    seen = []
    for r in x:
        permanent = [int(bit if flip("1/2") else flip("1/2")) for bit in (r == 0, r == 1)]
        seen.append(tuple(int(flip("3/4")) if bit else int(flip("1/2")) for bit in permanent))
    return tuple(seen)
""",
    ),
    # Wang et al. (2017): optimized unary encoding.
    "unary_encoding": (
        (1, 2),
        """
@mechanism(record=Int(0, 2))
def f(x):
    counts = [0, 0, 0]
    for r in x:
        for at in range(3):
            counts[at] += flip("1/2") if at == r else flip("1/4")
    return tuple(counts)
""",
    ),
    # Acharya et al. (2019): Hadamard response with four inputs.
    "hadamard_response": (
        (1, 2),
        """
ROWS = ((1, 1, 1, 1), (1, 0, 1, 0), (1, 1, 0, 0), (1, 0, 0, 1))


def respond(r):
    return choice((0, 1, 2, 3), [3 if ROWS[r][y] else 1 for y in range(4)])


@mechanism(record=Int(0, 3))
def f(x):
    return tuple(respond(r) for r in x)
""",
    ),
    # Duchi et al. (2013): a number is rounded at random, then protected.
    "rounded_at_random": (
        (1, 2, 3),
        """
@mechanism(record=Values(0, 1, 2), target=lambda x: sum(x) / 2)
def f(x):
    sent = [flip(r / 2) ^ flip("1/4") for r in x]
    return sum(sent)
""",
    ),
    # Balle et al. (2019): k-ary randomized response behind a shuffler.
    "shuffled_responses": (
        (1, 2, 3),
        """
@mechanism(record=Int(0, 2))
def f(x):
    return shuffle([randint(0, 2) if flip("1/3") else r for r in x])
""",
    ),
    # Bonawitz et al. (2017): masks that cancel, unless a client is gone.
    "masked_sum": (
        (2, 3),
        """
@mechanism(record=Bit)
def f(x):
    masks = [[0] * len(x) for _ in x]
    for i in range(len(x)):
        for j in range(i):
            masks[i][j] = randint(0, 2)
            masks[j][i] = (3 - masks[i][j]) % 3
    sent = [(r + sum(masks[i])) % 3 for i, r in enumerate(x)]
    gone = flip("1/5")
    total = sum(sent[gone:]) % 3
    return (gone, total if gone else sum(sent) % 3)
""",
    ),
    # Prio: what one of two servers sees, and the noisy total.
    "two_servers": (
        (1, 2, 3),
        """
@mechanism(record=Bit, target=sum)
def f(x):
    shares = [randint(0, 2) for _ in x]
    other = [(r - share) % 3 for r, share in zip(x, shares)]
    total = (sum(shares) + sum(other) + binomial(1, "1/3")) % 3
    return total
""",
    ),
    "one_server": (
        (1, 2),
        """
@mechanism(record=Bit)
def f(x):
    shares = [randint(0, 2) for _ in x]
    return tuple((r - share) % 3 for r, share in zip(x, shares))
""",
    ),
    # Dwork et al. (2006, "our data, ourselves"): everyone adds a share of the noise.
    "shares_of_noise": (
        (1, 2, 3),
        """
@mechanism(record=Bit, target=sum)
def f(x):
    return sum(r + binomial(2, "1/2") for r in x) - len(x)
""",
    ),
    # Geo-indistinguishability: neighbours are places one step apart.
    "places": (
        (1, 2),
        """
@mechanism(record=Int(0, 3), neighbours="unit-step")
def f(x):
    return tuple(geometric(r, "1/2", 0, 3) for r in x)
""",
    ),
    # One-sided privacy (Kotsogiannis et al. 2020): only from those whose record is sensitive.
    "one_sided": (
        (1, 2, 3),
        """
def sensitive(x):
    for i, r in enumerate(x):
        if r > 0:
            for other in (0, 1, 2):
                if other != r:
                    yield (*x[:i], other, *x[i + 1 :])


@mechanism(record=Int(0, 2), neighbours=sensitive)
def f(x):
    out = []
    for r in x:
        if r == 0 and flip("1/2"):
            out.append(None)
        else:
            out.append(0 if flip("1/3") else min(r, 1))
    return tuple(out)
""",
    ),
    # Collect in turns, each asks with less noise after an unclear answer (sequentially interactive).
    "asked_in_turn": (
        (1, 2, 3),
        """
@mechanism(record=Bit)
def f(x):
    heard = []
    for r in x:
        lie = "1/3" if heard and heard[-1] else "1/4"
        heard.append(r ^ flip(lie))
        if sum(heard) == 2:
            break
    else:
        heard.append(None)
    return tuple(heard)
""",
    ),
}
