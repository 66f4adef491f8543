"""How a budget is divided between the steps of a mechanism: five published splits, and all others beside them.

Source: above_threshold, Dwork and Roth 2014, Algorithm 1 (half for the threshold); sparse_vector, Lyu, Su and Li 2017,
Section 4.2 (threshold to queries as 1 to (2c)^(2/3) for c answers); numeric_above_threshold, Dwork and Roth 2014,
Algorithm 3 (8/9 to find an answer, 1/9 to publish it); select_and_count, Ding, Wang, Zhang and Kifer 2019 (half to
select, half to measure); two_levels, Cormode, Procopiuc, Srivastava, Shen and Yu 2012 (a level has 2^(1/3) times the
budget of the one above it).

Parameters: share, an integer, and parts, an integer above it: the first step has share/parts of the budget, the second
one the rest; base, a number in (0, 1). The published guarantee is e^epsilon = base^-(2 parts) for above_threshold and
select_and_count, base^-(2 c parts) for sparse_vector with the cutoff c, base^-(4 parts) for numeric_above_threshold,
base^-parts for two_levels. threshold is an integer. Records are the answers to n queries, integers from 0, all of which
may change by at most 1, or the bits of n clients (select_and_count, two_levels).
"""

from tightdp import Bit, Int, Tuple, geometric, mechanism


def first_above(x, threshold):
    """The index of the first answer that is at least the threshold, else n."""
    return next((i for i, v in enumerate(x) if v >= threshold), len(x))


@mechanism(record=Int(0, 2), neighbours="unit-all", target=first_above)
def above_threshold(x, threshold, base, share, parts):
    """The index of the first noisy answer that is at least the noisy threshold, else n."""
    noisy_threshold = geometric(threshold, base ** (2 * share))
    for i, v in enumerate(x):
        if geometric(v, base ** (parts - share)) >= noisy_threshold:
            return i
    return len(x)


def all_above(x, threshold, cutoff):
    """Which answers are at least the threshold, until so many are."""
    seen = []
    for v in x:
        if sum(seen) < cutoff:
            seen.append(int(v >= threshold))
    return tuple(seen)


@mechanism(record=Int(0, 1), neighbours="unit-all", target=all_above)
def sparse_vector(x, threshold, cutoff, base, share, parts):
    """Which noisy answers are at least the noisy threshold, until `cutoff` of them are."""
    noisy_threshold = geometric(threshold, base ** (2 * cutoff * share))
    seen = []
    for v in x:
        if sum(seen) < cutoff:
            seen.append(int(geometric(v, base ** (parts - share)) >= noisy_threshold))
    return tuple(seen)


def first_value_above(x, threshold):
    """The first answer that is at least the threshold with its index, else n."""
    return next(((i, v) for i, v in enumerate(x) if v >= threshold), (len(x), 0))


@mechanism(record=Int(0, 2), neighbours="unit-all", target=first_value_above)
def numeric_above_threshold(x, threshold, base, share, parts):
    """The first answer above a noisy threshold with fresh noise; of the first part half is for the threshold."""
    noisy_threshold = geometric(threshold, base ** (2 * share))
    for i, v in enumerate(x):
        if geometric(v, base**share) >= noisy_threshold:
            return i, min(max(geometric(v, base ** (4 * (parts - share))), 0), 2)
    return len(x), 0


def most_frequent(x):
    """The item that most clients have, the first of those, and how many."""
    counts = [sum(record[i] for record in x) for i in range(2)]
    place = int(counts[1] > counts[0])
    return place, counts[place]


@mechanism(record=Tuple(Bit, Bit), target=most_frequent)
def select_and_count(x, base, share, parts):
    """The item with the largest noisy count, and its count with fresh noise."""
    counts = [sum(record[i] for record in x) for i in range(2)]
    first, second = (geometric(count, base**share) for count in counts)
    place = int(second > first)
    return place, min(max(geometric(counts[place], base ** (2 * (parts - share))), 0), len(x))


def halves_and_all(x):
    """The number of ones in all, in the first half, and in the second one."""
    half = len(x) // 2
    return sum(x), sum(x[:half]), sum(x[half:])


@mechanism(record=Bit, target=halves_and_all)
def two_levels(x, base, share, parts):
    """A tree of counts: the root with the first part of the budget, both halves with the rest."""
    total, first, second = halves_and_all(x)
    half = len(x) // 2
    return (
        geometric(total, base**share, 0, len(x)),
        geometric(first, base ** (parts - share), 0, half),
        geometric(second, base ** (parts - share), 0, len(x) - half),
    )


EXPECTED = [
    {
        "mechanism": "above_threshold",
        "query": "privacy",
        "parameters": {"n": 2, "threshold": 1, "base": "1/4", "share": 1, "parts": 2},
        "exp_epsilon": "1364/89",
    },
    {
        "mechanism": "above_threshold",
        "query": "distribution",
        "parameters": {"n": 2, "threshold": 1, "base": "1/4", "share": 1, "parts": 2},
        "x": (0, 1),
        "law": [(0, "27/119"), (1, "88912/151725"), (2, "28388/151725")],
    },
    {
        "mechanism": "sparse_vector",
        "query": "privacy",
        "parameters": {"n": 2, "threshold": 1, "cutoff": 1, "base": "1/4", "share": 1, "parts": 2},
        "exp_epsilon": "88912/6037",
    },
    {
        "mechanism": "sparse_vector",
        "query": "distribution",
        "parameters": {"n": 2, "threshold": 1, "cutoff": 1, "base": "1/4", "share": 1, "parts": 2},
        "x": (0, 1),
        "law": [((0, 0), "28388/151725"), ((0, 1), "88912/151725"), ((1,), "27/119")],
    },
    {
        "mechanism": "numeric_above_threshold",
        "query": "privacy",
        "parameters": {"n": 1, "threshold": 1, "base": "1/4", "share": 1, "parts": 2},
        "exp_epsilon": "23552/27",
    },
    {
        "mechanism": "numeric_above_threshold",
        "query": "distribution",
        "parameters": {"n": 1, "threshold": 1, "base": "1/4", "share": 1, "parts": 2},
        "x": (1,),
        "law": [((0, 0), "92/30583"), ((0, 1), "1380/1799"), ((0, 2), "92/30583"), ((1, 0), "27/119")],
    },
    {
        "mechanism": "select_and_count",
        "query": "privacy",
        "parameters": {"n": 2, "base": "1/4", "share": 1, "parts": 2},
        "exp_epsilon": "9472/67",
    },
    {
        "mechanism": "select_and_count",
        "query": "distribution",
        "parameters": {"n": 2, "base": "1/4", "share": 1, "parts": 2},
        "x": ((0, 1), (1, 1)),
        "law": [
            ((0, 0), "37/2125"),
            ((0, 1), "111/425"),
            ((0, 2), "37/2125"),
            ((1, 0), "11/4250"),
            ((1, 1), "33/850"),
            ((1, 2), "1408/2125"),
        ],
    },
    {
        "mechanism": "two_levels",
        "query": "privacy",
        "parameters": {"n": 2, "base": "1/4", "share": 1, "parts": 2},
        "exp_epsilon": "16",
    },
    {
        "mechanism": "two_levels",
        "query": "distribution",
        "parameters": {"n": 2, "base": "1/4", "share": 1, "parts": 2},
        "x": (0, 1),
        "law": [
            ((0, 0, 0), "4/125"),
            ((0, 0, 1), "16/125"),
            ((0, 1, 0), "1/125"),
            ((0, 1, 1), "4/125"),
            ((1, 0, 0), "12/125"),
            ((1, 0, 1), "48/125"),
            ((1, 1, 0), "3/125"),
            ((1, 1, 1), "12/125"),
            ((2, 0, 0), "4/125"),
            ((2, 0, 1), "16/125"),
            ((2, 1, 0), "1/125"),
            ((2, 1, 1), "4/125"),
        ],
    },
]
