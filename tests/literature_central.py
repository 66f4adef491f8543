"""Central mechanisms of the literature that stand nowhere else in the tree, right and broken ones."""

from __future__ import annotations

CENTRAL = {
    # Lyu et al. (2017), Algorithm 1: a fresh threshold after each positive answer, at most two of them.
    "sparse_vector_with_resets": (
        (1, 2),
        """
@mechanism(record=Int(0, 1))
def f(x):
    limit, found, out = geometric(1, "1/2", 0, 2), 0, []
    for query in (sum(x), len(x) - sum(x)):
        if geometric(query, "1/2", 0, 3) >= limit:
            out.append(True)
            limit = geometric(1, "1/2", 0, 2)
            found += 1
            if found == 2:
                break
        else:
            out.append(False)
    return tuple(out)
""",
    ),
    # Lyu et al. (2017), Algorithm 3: the noisy answer that passed is published as it is.
    "sparse_vector_that_leaks": (
        (1, 2),
        """
@mechanism(record=Int(0, 2))
def f(x):
    limit = geometric(1, "1/2", 0, 2)
    for at, r in enumerate(x):
        noisy = geometric(r, "1/2", 0, 3)
        if noisy >= limit:
            return (at, noisy)
    return None
""",
    ),
    # Lyu et al. (2017), Algorithm 5: no noise on the queries.
    "sparse_vector_without_noise": (
        (1, 2, 3),
        """
@mechanism(record=Int(0, 2), neighbours="unit-all")
def f(x):
    limit = geometric(1, "1/2", 0, 3)
    return tuple(r >= limit for r in x)
""",
    ),
    # Dwork and Lei (2009): the mode, if it is stable enough by a noisy test.
    "propose_test_release": (
        (1, 2, 3),
        """
@mechanism(record=Bit)
def f(x):
    ones = sum(x)
    distance = abs(2 * ones - len(x))
    if geometric(distance, "1/2", 0, 4) < 2:
        return None
    return int(2 * ones > len(x))
""",
    ),
    # Noise as large as the sensitivity at this dataset: not private.
    "local_sensitivity": (
        (1, 2, 3),
        """
@mechanism(record=Int(0, 2), target=lambda x: sorted(x)[len(x) // 2])
def f(x):
    ordered = sorted(x)
    middle = len(x) // 2
    spread = ordered[-1] - ordered[0]
    return geometric(ordered[middle], "1/2", 0, 2) if spread else ordered[middle]
""",
    ),
    # Nissim et al. (2007): a majority of blocks.
    "sample_and_aggregate": (
        (2, 3),
        """
@mechanism(record=Bit)
def f(x):
    blocks = [x[0::2], x[1::2]]
    votes = [int(2 * sum(block) > len(block)) for block in blocks]
    noisy = [votes.count(v) + binomial(1, "1/3") for v in (0, 1)]
    return max((0, 1), key=lambda v: noisy[v])
""",
    ),
    # Papernot et al. (2017, 2018): the winner of a noisy vote, if the vote is clear.
    "teachers": (
        (1, 2),
        """
@mechanism(record=Int(0, 2))
def f(x):
    votes = [x.count(label) for label in range(3)]
    if geometric(max(votes), "1/3", 0, 3) < 1:
        return "unclear"
    noisy = [vote + flip("1/4") for vote in votes]
    return noisy.index(max(noisy))
""",
    ),
    # Poisson sampling before randomized response.
    "sampled_response": (
        (1, 2),
        """
@mechanism(record=Bit, neighbours="add-remove", target=lambda x: sum(r or 0 for r in x))
def f(x):
    total = 0
    for r in x:
        if r is not None and flip("1/3"):
            total += r ^ flip("1/4")
    return total
""",
    ),
    # One record drawn, and what it says protected.
    "one_drawn": (
        (1, 2, 3),
        """
@mechanism(record=Values('a', 'b', None))
def f(x):
    drawn = choice(x)
    return drawn if flip("1/2") else choice(("a", "b", None))
""",
    ),
    # McKenna and Sheldon (2020): permute and flip, by what it does.
    "permute_and_flip": (
        (1, 2),
        """
@mechanism(record=Int(0, 2))
def f(x):
    scores = [x.count(option) for option in range(3)]
    best = max(scores)
    for option in shuffle((0, 1, 2)):
        if flip(1 / 2 ** (best - scores[option])):
            return option
""",
    ),
    # Asi and Duchi (2020): the median by the number of records to change.
    "inverse_sensitivity": (
        (1, 2, 3),
        """
def changes(x, value):
    below, above = sum(r < value for r in x), sum(r > value for r in x)
    return max(0, max(below, above) - len(x) // 2)


@mechanism(record=Int(0, 2), target=lambda x: sorted(x)[len(x) // 2])
def f(x):
    return choice((0, 1, 2), [Fraction(1, 2 ** changes(x, value)) for value in range(3)])
""",
    ),
    # Wang et al. (2020): above threshold, with the gap.
    "threshold_with_gap": (
        (1, 2),
        """
@mechanism(record=Int(0, 2), neighbours="unit-all")
def f(x):
    limit = geometric(1, "1/2", 0, 2)
    for at, r in enumerate(x):
        if (noisy := geometric(r, "1/2", 0, 2)) > limit:
            return (at, noisy - limit)
    return "none"
""",
    ),
    # Desfontaines et al. (2022): which groups are published.
    "partition_selection": (
        (1, 2),
        """
CHANCE = (0, "1/8", "1/2", "7/8")


@mechanism(record=Int(0, 1), neighbours="add-remove")
def f(x):
    return tuple(group for group in (0, 1) if flip(CHANCE[x.count(group)]))
""",
    ),
    # A histogram in which small counts are dropped after the noise.
    "stable_histogram": (
        (1, 2),
        """
@mechanism(record=Values("u", "v"), neighbours="add-remove")
def f(x):
    out = []
    for word in ("u", "v"):
        count = sum(r == word for r in x)
        if count == 0:
            continue
        noisy = geometric(count, "1/3", 0, 3)
        if noisy >= 2:
            out.append((word, noisy))
    return tuple(out)
""",
    ),
    # Liu and Talwar (2019): the best of a random number of private runs.
    "best_of_random_number": (
        (1, 2),
        """
@mechanism(record=Bit)
def f(x):
    def candidate():
        at = randint(0, 1)
        return (sum(x) * at + flip("1/3"), at)

    best = candidate()
    rounds = 1
    while rounds < 3 and not flip("1/2"):
        best = max(best, candidate())
        rounds += 1
    return best
""",
    ),
    # An analyst whose second question depends on the first answer.
    "adaptive_analyst": (
        (1, 2, 3),
        """
@mechanism(record=Int(0, 2))
def f(x):
    ask = lambda pick: sum(map_of(r, pick) for r in x) + binomial(1, "1/3")
    first = ask(0)
    second = ask(1 if first > 1 else 2)
    return (first, second)


def map_of(r, pick):
    return int(r == pick)
""",
    ),
    # The difference of two one-sided geometric draws, cut off.
    "difference_of_geometrics": (
        (1, 2, 3),
        """
def waiting():
    steps = 0
    while steps < 2 and flip("1/2"):
        steps += 1
    return steps


@mechanism(record=Bit, target=sum)
def f(x):
    return sum(x) + waiting() - waiting()
""",
    ),
    # Chan et al. (2010): two levels of a tree of counts over time.
    "continual_counter": (
        (1, 2),
        """
@mechanism(record=Bit)
def f(x):
    leaves = [r + flip("1/4") for r in x]
    root = sum(x) + flip("1/4")
    out = []
    for t in range(len(x)):
        out.append(root if t == 1 else sum(leaves[: t + 1]))
    return tuple(out)
""",
    ),
    # Degrees of a graph on three nodes; a record is an edge.
    "degrees": (
        (3,),
        """
EDGES = ((0, 1), (0, 2), (1, 2))


@mechanism(record=Bit)
def f(x):
    degrees = [0, 0, 0]
    for present, (a, b) in zip(x, EDGES):
        degrees[a] += present
        degrees[b] += present
    return tuple(degree + flip("1/3") for degree in sorted(degrees))
""",
    ),
    # Mironov (2012), the idea: rounding after noise, so that outputs betray the input.
    "rounded_wrongly": (
        (1, 2),
        """
@mechanism(record=Int(0, 2), target=sum)
def f(x):
    noise = choice((-1, 0, 1), (1, 2, 1))
    return (sum(x) * 3 + noise * 2) // 2
""",
    ),
    # Households: neighbours differ in all records of one of them.
    "households": (
        (2, 4),
        """
def household(x):
    for start in range(0, len(x), 2):
        for first in (0, 1):
            for second in (0, 1):
                if (first, second) != x[start : start + 2]:
                    yield (*x[:start], first, second, *x[start + 2 :])


@mechanism(record=Bit, neighbours=household, target=sum)
def f(x):
    return sum(x) + binomial(2, "1/2") - 1
""",
    ),
    # Accepted only where a test passes: everything is conditioned on it.
    "conditioned": (
        (1, 2, 3),
        """
@mechanism(record=Bit)
def f(x):
    sent = [r ^ flip("1/3") for r in x]
    observe(sum(sent) * 2 >= len(x) or flip("1/2"))
    return (sum(sent), sent[0])
""",
    ),
}
