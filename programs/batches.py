"""Batches of a training run: sums over Poisson, shuffled and balls-and-bins batches, each with noise.

Source: chua2024 (How private are DP-SGD implementations?, arXiv 2403.17673), adaptive batch linear queries with
zero-out neighbours, with discrete Gaussian noise or two-sided geometric noise; balls and bins as in arXiv 2412.16802.

Parameters: batches, an int that divides n for `shuffled_batches`; sigma_squared, that of Gaussian noise, or ratio, a
rational in (0, 1), that of geometric noise.
Records are the values -1 and 1 of a clipped query, or None: a record that is zeroed out and still takes its place in a
batch. Neighbours differ in one record that is None in one of them. The output is the noisy sum of every batch.

`one_in_poisson`, `one_in_bins` and `one_inserted` are what is left of each where everything else is known:
docs/batches.md proves that their losses are those of all n, and largest over `others`.
"""

from tightdp import Values, discrete_gaussian, flip, geometric, mechanism, randint, shuffle


def noisy(total, reach, ratio, sigma_squared):
    """Sums lie within -reach..reach, and beyond its centres geometric noise tells nothing: clamping loses nothing."""
    return discrete_gaussian(total, sigma_squared) if ratio is None else geometric(total, ratio, -reach, reach)


@mechanism(record=Values(-1, 1), neighbours="add-remove")
def poisson_batches(x, batches, ratio=None, sigma_squared=None):
    """Every record is in every batch with probability 1/batches."""
    values = [0 if v is None else v for v in x]
    return tuple(
        noisy(sum(v for v in values if flip(1 / batches)), len(x), ratio, sigma_squared) for _ in range(batches)
    )


@mechanism(record=Values(-1, 1), neighbours="add-remove")
def shuffled_batches(x, batches, ratio=None, sigma_squared=None):
    """The records are shuffled and cut into batches of equal size."""
    order, size = shuffle(0 if v is None else v for v in x), len(x) // batches
    return tuple(noisy(sum(order[t * size : (t + 1) * size]), size, ratio, sigma_squared) for t in range(batches))


@mechanism(record=Values(-1, 1), neighbours="add-remove")
def bins_batches(x, batches, ratio=None, sigma_squared=None):
    """Every record is in one batch, each equally likely."""
    sums = [0] * batches
    for v in x:
        sums[randint(0, batches - 1)] += 0 if v is None else v
    return tuple(noisy(total, len(x), ratio, sigma_squared) for total in sums)


@mechanism(record=Values(-1, 1), neighbours="add-remove")
def one_in_poisson(x, batches, ratio=None, sigma_squared=None):
    """One record in Poisson batches."""
    mine = 0 if x[0] is None else x[0]
    return tuple(noisy(mine if flip(1 / batches) else 0, 1, ratio, sigma_squared) for _ in range(batches))


@mechanism(record=Values(-1, 1), neighbours="add-remove")
def one_in_bins(x, batches, ratio=None, sigma_squared=None):
    """One record in a random batch."""
    mine, place = 0 if x[0] is None else x[0], randint(0, batches - 1)
    return tuple(noisy(mine if t == place else 0, 1, ratio, sigma_squared) for t in range(batches))


@mechanism(record=Values(-1, 1), neighbours="add-remove")
def one_inserted(x, others, ratio=None, sigma_squared=None):
    """One record at a random place among others in a known order, one in every batch."""
    mine, place, batches = 0 if x[0] is None else x[0], randint(0, len(others)), len(others) + 1
    sums = [mine if t == place else others[t - 1] if place < t else others[t] for t in range(batches)]
    return tuple(noisy(total, 1, ratio, sigma_squared) for total in sums)


# With ratio = 1/4: one batch of everything is geometric noise on a sum, e^eps = 4. In k Poisson batches of rate q the
# likelihood ratios multiply: (1 + 3q)^k. A record that is in one batch only has e^eps = 4 whatever their number.
ONCE = [((-1,), "1/20"), ((0,), "3/20"), ((1,), "4/5")]
FOUR = {"batches": 4, "ratio": "1/4"}
EXPECTED = [
    {
        "mechanism": "poisson_batches",
        "query": "privacy",
        "parameters": {"n": 2, "batches": 2, "ratio": "1/4"},
        "exp_epsilon": "25/4",
    },
    {
        "mechanism": "shuffled_batches",
        "query": "privacy",
        "parameters": {"n": 2, "batches": 2, "ratio": "1/4"},
        "exp_epsilon": "4",
    },
    {
        "mechanism": "bins_batches",
        "query": "privacy",
        "parameters": {"n": 2, "batches": 2, "ratio": "1/4"},
        "exp_epsilon": "4",
    },
    {"mechanism": "one_in_poisson", "query": "privacy", "parameters": {"n": 1, **FOUR}, "exp_epsilon": "2401/256"},
    {"mechanism": "one_in_bins", "query": "privacy", "parameters": {"n": 1, **FOUR}, "exp_epsilon": "4"},
    {
        "mechanism": "one_inserted",
        "query": "privacy",
        "parameters": {"n": 1, "others": (-1, -1), "ratio": "1/4"},
        "exp_epsilon": "4",
    },
    {
        "mechanism": "one_in_poisson",
        "query": "epsilon",
        "parameters": {"n": 1, **FOUR},
        "delta": "1/1000",
        "exp_epsilon": "2241/256",
    },
    {
        "mechanism": "one_in_bins",
        "query": "epsilon",
        "parameters": {"n": 1, **FOUR},
        "delta": "1/1000",
        "exp_epsilon": "2043/512",
    },
    {
        "mechanism": "one_inserted",
        "query": "epsilon",
        "parameters": {"n": 1, "others": (-1, -1, -1), "ratio": "1/4"},
        "delta": "1/1000",
        "exp_epsilon": "27396/6859",
    },
    *(
        {
            "mechanism": f"{name}_batches",
            "query": "distribution",
            "parameters": {"n": 1, "batches": 1, "ratio": "1/4"},
            "x": (1,),
            "law": ONCE,
        }
        for name in ("poisson", "shuffled", "bins")
    ),
    *(
        {
            "mechanism": f"one_in_{name}",
            "query": "distribution",
            "parameters": {"n": 1, "batches": 1, "ratio": "1/4"},
            "x": (1,),
            "law": ONCE,
        }
        for name in ("poisson", "bins")
    ),
    {
        "mechanism": "one_inserted",
        "query": "distribution",
        "parameters": {"n": 1, "others": (), "ratio": "1/4"},
        "x": (1,),
        "law": ONCE,
    },
]
