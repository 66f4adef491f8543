"""The rule for how well any private mechanism can do: `checker.py` beside it asks it about claims of this kind.

That an accepted file is true is a theorem (`optimum_sound` in proofs/coq/Tables.v).
"""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

from checker import MOST_CLIENTS, beside, items, need, rational, spend, text, value, within

ERRORS = {"absolute error": 1, "squared error": 2}


def dot(*pairs):
    """Return the sum of products of rationals."""
    found = Fraction(0)
    for a, b in pairs:
        if a and b:
            each = Fraction(a) * b
            bits = sum(part.bit_length() for number in (each, found) for part in number.as_integer_ratio())
            spend(30 + (bits // 64) ** 2 // 200)
            found += each
    return found


def gain(measure, alpha, output, target):
    """What a measure is the mean of, minus where it is an error."""
    if measure == "right answer":
        return Fraction(text(output) == text(target))
    need({type(output), type(target)} <= {int, Fraction}, "outputs and targets are no numbers")
    away = abs(dot((output, 1), (target, -1)))
    return Fraction(away <= alpha) if measure == "accuracy" else -(away ** ERRORS[measure])


def aligned(domain, groups, x, other):
    """Return two datasets in an order of the clients of each group in which they are neighbours, where there is one."""
    if domain.listed:
        return x, other
    found = [], []
    for group in groups:
        spend(9 * len(group))
        ours, theirs = (Counter([one[client] for client in group]) for one in (x, other))
        shared = Counter() if domain.at_once else ours & theirs
        for each, some in zip(found, (ours, theirs)):
            rest = (some - shared).elements()
            each += [*shared.elements(), *(sorted(rest, key=domain.records.__getitem__) if domain.at_once else rest)]
    return map(tuple, found)


def establish(certificate, claim, evidence):
    """Establish what a mechanism can do at best where it is worst, by one that does it and a bound for all others.

    The target has one value for all orders of the records of a group of clients. So a mechanism may be averaged over
    these orders: it stays private, and is as good where it is worst; one dataset stands for all its orders. Let g be
    the measure, or minus an error. Where K(y|x) <= R K(y|x') + s(x,x',y) with s >= 0 of sum at most delta over y, for
    all neighbours, weights w >= 0 of sum 1 and multipliers m >= 0 show that the least sum_y g(x,y) K(y|x) is at most
        sum_x max_y (w(x) g(x,y) - sum_x' m(x,x',y) + R sum_x' m(x',x,y)) + delta sum_(x,x') max_y m(x,x',y).
    The table is such a K for R = keeps; the multipliers are for R = allows, which is as large or larger.
    """
    n, measure = within(claim["n"], 1, MOST_CLIENTS, "number of records"), claim["measure"]
    domain = beside("program").Domain(n, claim["records"], claim["neighbours"])
    groups = [items(group) for group in items(claim["groups"])]
    clients = [within(client, 0, n - 1, "client") for group in groups for client in group]
    alone = len(groups) == n or not domain.listed
    need(sorted(clients) == [*range(n)] and [] not in groups and alone, "the groups are not all clients once")
    every = math.prod(math.comb(len(group) + len(domain.records) - 1, len(group)) for group in groups)
    answers = [(domain.dataset(x), value(target)) for x, target in (items(each, 2) for each in items(claim["targets"]))]
    orders = {tuple([tuple(sorted([x[client] for client in group])) for group in groups]) for x, _ in answers}
    need(len(orders) == len(answers) == every, "the targets are not those of all datasets, up to order")
    spend(9 * every**2)
    some = ((at, by) for at, by in product(range(every), repeat=2) if at != by)
    pairs = {(at, by) for at, by in some if domain.meets(*aligned(domain, groups, answers[at][0], answers[by][0]))}
    outputs, delta = [value(output) for output in items(claim["outputs"])], rational(claim.get("delta", 0), 0, 1)
    keeps, allows = rational(claim["keeps"], 1), rational(claim["allows"], 1)
    known = type(measure) is str and measure in ("right answer", "accuracy", *ERRORS)
    need(known and (measure == "accuracy") == ("alpha" in claim), "there is no such measure")
    need(keeps <= allows and outputs, "there are no outputs, or the table keeps less than it has to")
    alpha = rational(claim.get("alpha", 0), 0)
    gains = [[gain(measure, alpha, output, target) for output in outputs] for _, target in answers]
    table = [[rational(mass, 0) for mass in items(row, len(outputs))] for row in items(evidence["table"], every)]
    need(all(dot(*((p, 1) for p in row)) == 1 for row in table), "probabilities do not add up to 1")
    for x, other in pairs:
        spend(9 * len(outputs))
        over = [dot((p, 1), (-keeps, q)) for p, q in zip(table[x], table[other])]
        need(dot(*((each, 1) for each in over if each > 0)) <= delta, "the table is not private")
    ours = min(dot(*zip(row, each)) for row, each in zip(table, gains))
    weights = [rational(weight, 0) for weight in items(evidence["weights"], every)]
    need(dot(*((w, 1) for w in weights)) == 1, "weights do not add up to 1")
    rest, largest, given = [[dot((w, g)) for g in each] for w, each in zip(weights, gains)], {}, {}
    for x, other, y, multiplier in (items(each, 4) for each in items(evidence["multipliers"])):
        need(type(x) is type(other) is int and (x, other) in pairs, "a multiplier is of no neighbours")
        given[x, other, within(y, 0, len(outputs) - 1, "output")] = m = rational(multiplier, 0)
        rest[x][y], rest[other][y] = dot((rest[x][y], 1), (m, -1)), dot((rest[other][y], 1), (allows, m))
        largest[x, other] = max(m, largest.get((x, other), m))
    need(len(given) == len(evidence["multipliers"]), "a multiplier stands twice")
    most = dot(*((max(row), 1) for row in rest), *((delta, each) for each in largest.values()))
    least, most = (-most, -ours) if measure in ERRORS else (ours, most)
    shown = rational(claim["least"]) <= least and most <= rational(claim["most"])
    need(shown, "the table and the multipliers show less")
    return ""
