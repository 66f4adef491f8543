"""The rule for runs one after the other, each chosen by what is known: `checker.py` beside it asks it about them.

That an accepted file is true is a theorem (`composed_is_private` in proofs/coq/Composed.v).
"""

from itertools import accumulate, product, repeat

from checker import MOST_CLIENTS, beside, cost, items, need, positive, ratio, read_root, spend, times, within


def establish(certificate, claim, evidence):
    """Establish that runs that are (ln t, delta)-DP each are that together. For all mechanisms: there is no program."""
    read_root(claim)
    pairs, whole = composed(claim["guarantees"])
    point = ratio(claim["bound"], 1), ratio(claim["delta"], 0, 1)
    need(not positive(beside("datasets").excess(point, pairs, whole, whole)[0]), "the runs lose more together")
    return ""


def composed(guarantees):
    """Return weights of outputs, as `excess` takes them, of the worst runs with guarantees (t, delta, how often).

    Runs may depend on the outputs so far. They are no worse than randomized responses that are told apart for certain
    with probability delta; of the others it matters how many are right.
    """
    pairs, total, hidden = [(1, 1, 1)], 1, 1
    for t, delta, runs in (items(each, 3) for each in items(guarantees)):
        (n, d), (lost, of), runs = ratio(t, 1), ratio(delta, 0, 1), within(runs, 1, MOST_CLIENTS, "number of runs")
        powers = [[*accumulate(repeat(each, runs), times, initial=1)] for each in (n, d, of + -1 * lost, of, n + d)]
        right, wrong, (*_, kept), (*_, every), (*_, whole) = powers
        total, hidden = times(total, times(every, whole)), times(hidden, times(kept, whole))
        right = [times(kept, times(a, b)) for a, b in zip(right, reversed(wrong))]
        ways = accumulate(range(runs), lambda many, at, runs=runs: many * (runs - at) // (at + 1), initial=1)
        spend(3 * len(pairs) * (9 * runs + runs * runs // 200 + sum(map(cost, right))))
        both = product(pairs, zip(right, reversed(right), ways))
        pairs = [(times(a, v), times(b, w), times(c, many)) for (a, b, c), (v, w, many) in both]
    return [(total + -1 * hidden, 0, 1), *pairs], total
