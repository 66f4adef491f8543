"""The rules for claims about all private mechanisms, by multipliers of a linear program: `checker.py` asks for them.

That an accepted file is true are theorems (`audit_sound` in proofs/coq/Audit.v, `optimum_sound` in Tables.v).
"""

import math
from collections import Counter
from fractions import Fraction
from itertools import product, repeat

from checker import MOST_CLIENTS, beside, cost, items, need, rational, spend, text, value, within

ERRORS = {"absolute error": 1, "squared error": 2}


def establish(certificate, claim, evidence):
    return (audit if "canaries" in claim else optimum)(claim, evidence)


def audit(claim, evidence):
    """Establish that P(at least v of r guesses are right) <= bound against all mechanisms with a guarantee.

    m secrets are uniform on k options each; an attacker guesses r of them. The guarantee is (ln t, delta)-DP, for some
    t >= 1, where one secret is replaced. Secrets and options may be permuted at random, so let p[i] be the probability
    of i right guesses, all outcomes with i equally likely. The guarantee then says that the sum over i of
    max(0, i p[i] - t (r-i+1)/(k-1) p[i-1]) is at most m delta. Let c, z[t] >= y[i,t] >= 0 be numbers that satisfy
        (1 if i >= v else 0)  <=  c + i sum_t y[i,t] - (r-i)/(k-1) sum_t t y[i+1,t]      for i = 0..r.
    Times p[i] and added up: P(at least v) <= c + m sum_t delta z[t]. The evidence has c and z; y is the least that will
    do, from i = r on, and taken from the first t: in units of 2^-256, and rounded so that this is harder.
    """
    m, v, r, k = [within(claim[at], 1, 1 << 2_000, at) for at in ("canaries", "correct", "guesses", "options")]
    need(v <= r <= m and k > 1, "there are other numbers of secrets, guesses, right ones and options")
    z, one = [rational(each, 0) for each in items(evidence["multipliers"])], 1 << 256
    c = math.floor(rational(evidence["constant"], 0) * one)
    pairs = [(rational(t, 1), rational(delta, 0, 1)) for t, delta in map(items, items(claim["guarantee"]), repeat(2))]
    need(0 < len(pairs) == len(z), "there is one multiplier for each pair of the guarantee")
    bound, after = rational(claim["bound"], 0, 1), 0
    units = [(t.numerator, t.denominator, math.floor(most * one), cost(t.numerator)) for (t, _), most in zip(pairs, z)]
    for i in range(r, -1, -1):  # after is sum_t t y[i+1,t]
        wanted = max(0, (i >= v) * one - c + -(-(r - i) * after // (k - 1)))
        left, after = -(-wanted // max(i, 1)), 0
        for above, below, most, steps in units:
            spend(12 + 4 * steps)
            left, after = left - min(left, most), after - (-above * min(left, most) // below)
        need(left == 0 and (i > 0 or wanted == 0), "the multipliers do not fit")
    total = c + m * sum(math.ceil(delta * most * one) for (_, delta), most in zip(pairs, z))
    need(total <= bound * one, "the multipliers show less")
    return ", which is always so" * (bound == 1)


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
        spend(20 + 9 * len(group))
        ours, theirs = (Counter([one[client] for client in group]) for one in (x, other))
        shared = Counter() if domain.at_once else ours & theirs
        for each, some in zip(found, (ours, theirs)):
            rest = (some - shared).elements()
            each += [*shared.elements(), *(sorted(rest, key=domain.records.__getitem__) if domain.at_once else rest)]
    return map(tuple, found)


def optimum(claim, evidence):
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
    outputs, delta = [value(output) for output in items(claim["outputs"])], rational(claim.get("delta", 0), 0, 1)
    spend(12 * every**2 + 9 * every * len(outputs))
    some = ((at, by) for at, by in product(range(every), repeat=2) if at != by)
    pairs = {(at, by) for at, by in some if domain.meets(*aligned(domain, groups, answers[at][0], answers[by][0]))}
    spend(9 * len(pairs) * len(outputs))
    keeps, allows = rational(claim["keeps"], 1), rational(claim["allows"], 1)
    known = type(measure) is str and measure in ("right answer", "accuracy", *ERRORS)
    need(known and (measure == "accuracy") == ("alpha" in claim), "there is no such measure")
    need(keeps <= allows and outputs, "there are no outputs, or the table keeps less than it has to")
    alpha = rational(claim.get("alpha", 0), 0)
    gains = [[gain(measure, alpha, output, target) for output in outputs] for _, target in answers]
    table = [[rational(mass, 0) for mass in items(row, len(outputs))] for row in items(evidence["table"], every)]
    need(all(dot(*((p, 1) for p in row)) == 1 for row in table), "probabilities do not add up to 1")
    for x, other in pairs:
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
