"""The rules for claims about a program: all datasets are gone through, or those of a witness, or `forms.py` is asked.

They establish, with R = e^epsilon, for the law of the core program:
  privacy    P(E|x) <= R P(E|x') + delta for all neighbours x, x' and events E. Attained: by the pair that is named
             With an error: of all mechanisms whose events have these probabilities up to it; where delta is less than
             these errors come to, of those that publish nothing that the program does not publish on x or x'
  privacy of messages: the same of what the output is computed from, for every n or one. So R bounds the output, too
  curve      privacy at every point, of pairs of R and delta. Between points delta is below the line (it is convex in R)
  moment     sum over y of P(y|x)^a / P(y|x')^(a-1) <= bound for a = order: e^((a-1) times the Rényi divergence)
  concentration: with discrete Gaussian noise of these variances on the numbers that are left, the Rényi divergence of
             each whole order a is at most a times the bound (of all orders a > 1: Canonne, Kamath, Steinke 2020)
  accuracy   P(|error| > alpha | x) <= beta for all datasets x; the error is what the program leaves behind
  violation, larger moment, larger concentration, inaccuracy: that this is false for the pair, or the dataset, named
  law        what is published on a dataset, part by part, and with which probabilities
  efficacy   a fair coin gives each client one of two records; of k coins that are guessed by what is published the
             largest expected share that is right is `share`
  composition: runs that are (ln t, delta)-DP each, and chosen by the outputs so far, are that together, too
"""

from collections import defaultdict
from fractions import Fraction
from functools import cache, cmp_to_key, reduce
from itertools import accumulate, combinations_with_replacement, product, repeat

from checker import MOST_CLIENTS, beside, cost, items, need, positive, ratio, rational, read_root, spend, text, times
from checker import value, within

ALL, OPEN = "all", "open"  # in an event, of what a part publishes: each output by itself, or all together


class Claim(beside("program").Program):
    """A program, and the numbers of a claim about it."""

    def __init__(self, given):
        super().__init__(given)
        claim, self.compares = given["claim"], "neighbours" in given["claim"]
        self.variances = [rational(v, 0) for v in items(claim["variances"])] if "variances" in claim else None
        if self.variances is not None:
            need(0 not in self.variances and rational(claim["bound"], 0) >= 0, "there is no noise")
        self.kept, self.least = "beta" in claim or self.variances is not None, claim["question"] == "larger moment"
        need(not (self.kept and self.published), "what is measured is published")
        self.infinite = claim["question"] == "violation" and claim["bound"] == "inf"
        most = {"alpha": None, "order": 99, "error": 1}
        self.alpha, self.order, self.error = [rational(claim[at], 0, most[at]) if at in claim else None for at in most]
        p, q = self.order.as_integer_ratio() if self.order is not None else (2, 1)
        need(q < p <= 99 and q <= 16, "there is no such order")
        points = items(claim.get("points", [[claim.get("bound"), claim.get("beta", claim.get("delta", 0))]]))
        need(points, "a curve has no points")
        zero = self.infinite or not self.compares  # R is 0, else 1 or more, but with a delta, or for distances
        least = int(self.variances is None and "delta" not in claim)
        self.points = [((0, 1) if zero else ratio(t, least), ratio(d, 0, 1)) for t, d in map(items, points, repeat(2))]
        self.turns = self.order is self.error is self.variances is None  # `in_order_is_enough` is for other claims
        need(self.error is None or not (self.infinite or "attained" in claim), "nothing is attained up to an error")

    def along(self, *datasets):
        """Return what the places meet on datasets."""
        return [[tuple([None if at is None else x[at] for x in datasets])] for at in self.clients]

    def event(self, given):
        """Read what each part publishes, or None where that is left open."""
        return [OPEN if each is None else repr(value(items(each))) for each in items(given, len(self.places))]

    def weight(self, x, event=None):
        """Return the weight of all runs on a dataset, or of those that publish what is in an event."""
        ((_, weight),) = self.walk(self.along(x), event or [OPEN] * len(self.places))
        return weight

    def law(self, x, given):
        """Establish the law of what is published on a dataset: all that is possible, with the probabilities."""
        whole, found = self.weight(x), {}
        need(positive(whole), "every run is dropped")
        for event, p in (items(row, 2) for row in items(given)):
            shown, (above, below) = self.event(event), ratio(p, 0, 1)
            found[repr(shown)] = weight = self.weight(x, shown)
            need(OPEN not in shown and times(below, weight) == times(above, whole), "an output has another probability")
        need(len(found) == len(given) and sum(found.values()) == whole, "some outputs are missing, or stand twice")

    def efficacy(self, claim):
        """Establish an efficacy. For each output and client let w[0] and w[1] be the weights of all runs in which the
        coin of the client has fallen so: those of datasets in which all others have both of their records. A guess b is
        right with weight w[b]; best are the k clients for whom the larger of both is largest."""
        (above, below), (k, pairs) = ratio(claim["share"], 0, 1), map(claim.get, ("guesses", "pairs"))
        pairs = [tuple([self.numbers.get(text(value(of))) for of in items(pair, 2)]) for pair in items(pairs, self.n)]
        good = all(None not in pair for pair in pairs) and len({*self.clients} - {None}) == self.n
        need(good, "some client has no part, or there are no such records")
        within(k, 1, self.n, "number of guesses")
        spend(9 * (self.n + 1) * (len(self.places) + 1) << (self.n if self.observes else 0))
        datasets = [[*pairs[:at], (one,), *pairs[at + 1 :]] for at, pair in enumerate(pairs) for one in pair]
        self.at_once, total = True, 0
        ((rows, *wholes),) = self.walk(self.along(*(product(*pairs) if self.observes else datasets)))
        whole = reduce(times, [self.parts[part].total for part in self.places])
        for (part, among), known in () if self.observes else self.same.items():
            every = times(len(among or (None,)), self.parts[part].total)
            same = all(sum(odds for _, row in moved for _, odds in row) == every for moved, _ in known.values())
            need(same, "weights do not add up to the same")
        if self.observes:  # then each way in which the coins may fall has such a weight of its own
            spend(len(wholes) * (len(wholes) + 12 * self.n * len(rows)))
            need(all(map(positive, wholes)), "every run is dropped")
            other = [each for at, each in enumerate(wholes) if each not in wholes[:at]]
            factors = [reduce(times, [each for each in other if each != ours], 1) for ours in wholes]
            whole, tosses = times(factors[0], wholes[0]), [*product((0, 1), repeat=self.n)]
            for at, (*row, count) in enumerate(rows):
                row, sides = [*map(times, row, factors)], product(range(self.n), (0, 1))
                rows[at] = *[sum([w for w, toss in zip(row, tosses) if toss[i] == b]) for i, b in sides], count
        for *row, count in rows:
            spend(12 * len(row) * (1 + len(row).bit_length()) * cost(sum(row)))
            likelier = [b if positive(b + -1 * a) else a for a, b in zip(row[::2], row[1::2])]
            likelier.sort(key=cmp_to_key(lambda a, b: positive(a + -1 * b) - positive(b + -1 * a)), reverse=True)
            total += times(count, sum(likelier[:k]))
        need(times(below, total) == times(above, times(k << self.n, whole)), "of the guesses another share is right")

    def moves(self, part, laws, event):
        """Return how a part moves the weights of states, and the list of what it moves them to, which fills.

        A law of the list before, by its number, and a record give the numbers of laws after it, by what is published;
        of an event only what is in it.
        """
        after, numbers, price = [{}], {}, self.parts[part].price

        @cache
        def move(law, record):
            known, found = self.same.setdefault((part, record), {}), defaultdict(dict)
            rows = [known.get(state) or self.run(part, state, record) for state in laws[law]]
            spend(3 * len(rows) + (4 + price * cost(sum(laws[law].values()))) * sum([many for _, many in rows]))
            for weight, (moved, _) in zip(laws[law].values(), rows):
                for told, row in moved:
                    if event in (told, ALL, OPEN):
                        sums = found[told if event == ALL else event]
                        for left, odds in row:
                            sums[left] = sums.get(left, 0) + weight * odds
            for told, sums in found.items():
                alike = numbers.setdefault(hash(frozenset(sums.values())), [])
                spend(8 * len(sums) * (1 + len(alike)))  # a file can foresee the hashes of numbers
                found[told] = next((number for number in alike if after[number] == sums), len(after))
                if found[told] == len(after):
                    alike.append(len(after))
                    after.append(sums)
            return found

        return move, after

    def swaps(self, part, state):
        """Whether two clients with this part may change places: what they publish does, and no weight of it changes."""
        first, middle = self.moves(part, [{}, {state: 1}], ALL)
        then, _ = self.moves(part, middle, ALL)

        def both(a, b):
            return [(told, last, law) for told, left in first(1, a).items() for last, law in then(left, b).items()]

        pairs = combinations_with_replacement(range(len(self.records)), 2)  # of x and x' only one may have a == b
        return all({*both(a, b)} == {(told, last, law) for last, told, law in both(b, a)} for a, b in pairs)

    def walk(self, meets, event=None):
        """Yield what `over` takes, for all that the places meet on two datasets, or on more, or on one. Which outputs
        have which weights does not matter.

        Clients that may change places meet pairs in one order only: all others lead to the same.
        """
        wide = len(next(iter(meets[0])))
        laws, found, swaps = [{}, {"()": 1}], {(frozenset([((1,) * wide, 1)]), False, 0)}, cache(self.swaps)
        for at, (part, among, shown) in enumerate(zip(self.places, meets, event or repeat(ALL))):
            move, after = self.moves(part, laws, shown)
            again = self.turns and (part,) == self.places[at + 1 : at + 2] and among is meets[at + 1]
            again = again and all(swaps(part, state) for state in set().union(*laws))
            before, found = found, set()
            for (left, differ, least), (number, records) in product(before, enumerate(among)):
                spend(12)
                apart = len({*records}) > 1
                if number < least or (differ and apart and not self.at_once):
                    continue
                tables = {}
                for here, count in left:
                    moved = [*map(move, here, records)]
                    for told in set().union(*moved):
                        spend(8 * wide)
                        key = tuple([each.get(told, 0) for each in moved])
                        tables[key] = tables.get(key, 0) + count
                found.add((frozenset(tables.items()), differ or apart, number if again else 0))
            laws = after
        spend(sum(map(len, laws)))
        whole = shown = [sum(law.values()) for law in laws]
        if self.variances is not None:
            shown = [[self.states[state] for state in law] for law in laws]
        elif self.kept:  # the error of an answer is all that is left
            errors = {state: self.states[state] for law in laws for state in law}
            need(all([*map(type, each)] in ([int], [Fraction]) for each in errors.values()), "an error is no number")
            wrong = {state for state, (error,) in errors.items() if abs(error) > self.alpha}
            shown = [sum(weight for state, weight in law.items() if state in wrong) for law in laws]
        for left, _, _ in found:
            wholes = [sum(times(count, whole[here[at]]) for here, count in left) for at in range(wide)]
            yield [(*[shown[each] for each in here], count) for here, count in left], *wholes

    def nearer(self, point, sign=-1):
        """Return a point of a claim, with an error at a delta that is less by what events differ by, or (1) more."""
        (up, down), (above, below), error = *point, sign * (self.error or Fraction(0))
        scale, wide = times(error.denominator, down), times(up + down, below)
        return (up, down), (times(scale, above) + times(error.numerator, wide), times(scale, below))

    def over(self, point, pairs, ours, theirs):
        """What the claim bounds, less its bound, times some number; and whether it is attained."""
        need(positive(ours) and positive(theirs), "every run is dropped")
        bound, order, equal = point[0], self.order, True
        if self.variances is not None:
            over = distance(self.variances, pairs) - Fraction(*bound)
        elif order is None:
            over, equal = excess(point, pairs, ours, theirs, self.infinite)
        elif self.error is None and order.denominator == 1:
            over = moment(pairs, ours, theirs, order.numerator, bound)
        else:
            over, equal = rooted(pairs, ours, theirs, order, bound, self.error or Fraction(0), self.least), False
        return over, over == 0 and (equal or point[1][0] != 0 or self.kept)


def excess(point, pairs, ours, theirs, infinite=False):
    """Return the sum of max(0, P - R P') less delta, times some number, for weights under x and x' of so many outputs,
    and those of all runs; and whether some output has P = R P' above 0."""
    ((up, down), (above, below)), equal, total = point, False, 0
    ours, theirs, every = (1, 1, ours) if ours == theirs else (ours, theirs, times(ours, theirs))
    first, second, less = times(down, theirs), times(up, ours), -1 * times(times(above, down), every)
    spend(len(pairs) * (9 + (cost(first) + cost(second)) * cost(every)))  # no weight is longer than those of all runs
    spared = positive(less)  # no delta is left after an error: each output has as much to spare
    for v, w, count in pairs:
        gap = first * v + -1 * (second * w)
        if spared and (v != 0 or w != 0) and positive(times(below, gap) + less):
            return 1, False
        if positive(gap) and (w == 0 or not infinite):
            total += times(count, gap)
        equal = equal or gap == 0 != v
    return (0, False) if spared else (times(below, total) + less, equal)


def distance(variances, pairs):
    """Return the sum of (c - c')^2 / (2 variance) for the numbers c and c' that all runs leave, on x and on x'."""
    ((ours, theirs, _),) = pairs
    good = len(ours) == len(theirs) == 1 and len(ours[0]) == len(theirs[0]) == len(variances)
    need(good and {*map(type, ours[0] + theirs[0])} <= {int}, "runs do not leave the same number for each variance")
    return beside("duals").dot(*[((a - b) ** 2, 1 / (2 * v)) for a, b, v in zip(ours[0], theirs[0], variances)])


def moment(pairs, ours, theirs, order, bound):
    """Return the sum of P^order / P'^(order-1), less a bound, times some number; 1 where it is infinite."""
    above, below, (up, down) = 0, 1, bound
    for v, w, count in [(ours, theirs, -1 * up), *[(v, w, times(down, count)) for v, w, count in pairs]]:
        if w == 0 and positive(v):
            return 1
        less, more = reduce(times, [w or 1] * (order - 1)), times(count, reduce(times, [v] * order))
        above, below = times(above, less) + times(more, below), times(below, less)
        if type(above) is type(below) is int:
            spend((cost(above) + cost(below)) ** 2 // 4)
            above, below = Fraction(above, below).as_integer_ratio()
    return above


def rooted(pairs, ours, theirs, order, bound, error, least):
    """Return the sum of P^(p/q) / P'^(p/q-1), less a bound, times some number, with terms rounded up to a multiple of
    2^-64; or the least sum of all laws that differ by an error, with terms that are rounded down."""
    (p, q), (lost, of), total = order.as_integer_ratio(), error.as_integer_ratio(), 0
    whole = all(type(each) is int for pair in [*pairs, (ours, theirs)] for each in pair)
    need(whole, "moments of orders that are not whole, or up to an error, are for odds without powers of e")
    for v, w, count in pairs:
        v, w = (max(0, of * v - lost * ours), of * w + lost * theirs) if least else (v, w)
        need(w > 0 or least or v == 0, "the moment is infinite")
        spend(100 + 50 * q + (q + 2 * p * max(map(int.bit_length, (v, w, of * ours, of * theirs))) // 64) ** 2 // 25)
        above, below = v**p * (of * theirs) ** (p - q) << 64 * q, w ** (p - q) * (of * ours) ** p
        goal = above // below if w else 0
        root = 2 << goal.bit_length() // q  # Newton's method from above gives the whole part of the root
        while root and (nearer := ((q - 1) * root + goal // root ** (q - 1)) // q) < root:
            root = nearer
        total += count * (root + (not least and root**q * below < above))
    return times(bound[1], total) + -1 * times(bound[0], 1 << 64)


def composition(claim):
    """Establish what runs with guarantees are together. For all mechanisms: there is no program."""
    read_root(claim)
    pairs, whole = composed(claim["guarantees"])
    point = ratio(claim["bound"], 1), ratio(claim["delta"], 0, 1)
    need(not positive(excess(point, pairs, whole, whole)[0]), "the runs lose more together")
    return ""


def together(claim):
    """Establish how often something private is run, and which (ln t, delta)-DP all runs are together."""
    runs, bound, delta = items(claim["runs"], 3)
    once = [[claim["bound"], claim.get("delta", 0), runs]]
    composition({**claim, "guarantees": once, "bound": bound, "delta": delta})


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


def establish(given, claim, evidence):
    """Establish a claim by its evidence, and return what else there is to say."""
    if claim["question"] == "composition":
        return composition(claim)
    program, curve, rule, named = Claim(given), "points" in claim, evidence["rule"], evidence.get("witness")
    if "share" in claim:
        program.efficacy(claim)
        return "; nothing is published" * (not program.published)
    refuted = rule == "witness"
    need(rule == "forms" or not program.every, "this rule is not for every n")
    named = [] if named is None else items(named, len(program.points)) if curve else [named]
    for pair, point in zip(named, program.points):  # of a curve one for each point
        x, y = map(program.dataset, items(pair, 2))
        need(program.meets(x, y) and (x != y) == program.compares, "the witness is no pair of neighbours")
        event = program.event(evidence["event"]) if "event" in evidence else None
        ((pairs, ours, theirs),) = program.walk(program.along(x, y), event)
        if event:
            exact = program.compares and program.error is None and not (program.order or curve or program.kept)
            need(exact and point[1][0] == 0, "all outputs count here")
            ours, theirs = program.weight(x), program.weight(y)
        over, attained = program.over(program.nearer(point, 1 if refuted else -1), pairs, ours, theirs)
        need(positive(over) if refuted else attained, "the witness does not show it")
    if "runs" in claim:
        need({(y, x) for x, y in program.listed} <= {*program.listed}, "a pair is listed the other way round only")
        together(claim)
    if rule == "forms":
        beside("forms").establish(program, evidence)
    elif "law" in claim:
        program.law(program.dataset(claim["dataset"]), claim["law"])
    elif not refuted:
        meets = [[(None, None)] if at is None else program.met for at in program.clients]
        for way in (program.along(*pair) for pair in program.listed) if program.listed else [meets]:
            found = [*program.walk(way)]
            for point in map(program.nearer, program.points):
                need(not any(positive(program.over(point, *each)[0]) for each in found), "the claim is wrong")
    remark = ", which is always so" * all(delta[0] == delta[1] for _, delta in program.points)
    if program.error is not None:
        alone = any(positive(-1 * program.nearer(point)[1][0]) for point in program.points) and not refuted
        remark += "; of all laws that differ by the error at most" + ", and publish nothing else" * alone
    if program.variances is not None:
        remark += "; of noise on these numbers, at whole orders (between: Canonne, Kamath, Steinke 2020)"
    if claim["question"] == "privacy of messages":
        remark += "; an upper bound for all that is computed from the messages (post-processing)"
    return remark + "; nothing is published" * (not program.kept and not program.published)
