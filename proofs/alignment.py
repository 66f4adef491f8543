"""The rule of alignment, for every n: programs with noise on all integers or on the reals, whose states hold numbers.

A run does what trees say: one before the records, one for each state and record, one behind them for each state. A tree
draws one of others: ["draw", [[odds, tree], ..]]. Or it draws noise: ["noise", [real, base, step, one-sided], tree],
with weights (a density, where it is real) of base^(-|y| / step), from 0 on where it is one-sided. Or it asks whether a
form is at least 0: ["test", form, tree, tree]. Or it ends: ["ends", what is told, numbers that are, state, its
numbers], the last two not behind the records. Forms are lists: a constant, and factors of n, of the numbers of the
state at hand, and of the noise so far. What comes later may be guessed: ["guess", [tree, ..]] goes on as all of these
do, and `null` drops a run that has guessed wrong. It is checked that what is left has probability 1.

Let P(E) be the probability with which a run on x, from its state and numbers z + s on, tells something in E, P'(E) that
of a run on x' from a state and z on. A cell is two states (of x' first), ranges for s (null: all numbers) and a price
b, so that P(E) <= b P'(E) for all z, s and E. Each leaf of our tree is divided into shares of sum 1. A share has a
shift d, and leaves of their tree: when our run with noise y + d comes to its leaf, theirs with noise y comes to one of
these, for some of what it draws; tells the same, and leads to a cell. Of all y ours is at most base^(|d| / step) times
as likely. What is compared with one of their leaves, by the same noise, must not be more than b times as likely. The
proof is in docs/every-n.md; the induction over branches and records is `alignment` in proofs/coq/Alignment.v.
"""

from collections import defaultdict, namedtuple
from fractions import Fraction
from functools import reduce
from itertools import product
from math import ceil, floor, gcd, lcm

from checker import beside, cost, fields, items, need, positive, ratio, rational, read_root, spend, text, times, value
from checker import whole, within

COUNT = {"n": 1}, Fraction(-1), False  # there is a record
Tree = namedtuple("Tree", "kinds node leaves")
Leaf = namedtuple("Leaf", "rows turns odds laws told numbers state values")
Pair = namedtuple("Pair", "theirs leaf mine goals cells seen")


def impossible(rows, real):
    """Whether no numbers, whole ones but for the real ones, satisfy rows: (factors by name, constant, whether the form
    is above 0 or at least 0). Where real noise has a factor these are the same, but with probability 0.

    Names are left out one by one (Fourier and Motzkin)."""
    while True:
        known, signs = {}, defaultdict(lambda: ([], []))
        for form, constant, above in rows:
            form = {name: factor for name, factor in form.items() if factor}
            bits = sum([f.denominator.bit_length() + f.numerator.bit_length() for f in form.values()])
            spend(100 + 100 * len(form) + (len(form) + bits // 400) * (bits // 400))
            if not form and (constant < 0 or (above and constant == 0)):
                return True
            if form:
                scale = lcm(*[factor.denominator for factor in form.values()])
                scale = Fraction(scale, gcd(*[int(factor * scale) for factor in form.values()]))
                key, constant = tuple(sorted((name, factor * scale) for name, factor in form.items())), constant * scale
                if not real & form.keys():
                    constant, above = Fraction(ceil(constant) - 1 if above else floor(constant)), False
                closed = not above and not any(name[0] in "xy" for name in real & form.keys())
                bits = sum([int(factor).bit_length() for _, factor in key]) + constant.numerator.bit_length()
                spend(bits // 20 + (bits // 400) ** 2)
                known[key] = min(known.get(key, (constant, closed)), (constant, closed))
        for key, (constant, closed) in known.items():
            for name, factor in key:
                signs[name][factor < 0].append((dict(key), constant, not closed))
        if not known:
            return False
        out = min(signs, key=lambda name: (len(signs[name][0]) * len(signs[name][1]), name))
        rows = [(dict(key), constant, not closed) for key, (constant, closed) in known.items() if out not in dict(key)]
        spend((60 + 60 * len(signs)) * len(signs[out][0]) * len(signs[out][1]))
        for (one, a, strict), (other, b, either) in product(*signs[out]):
            f, g = -other[out], one[out]
            joined = {name: f * one.get(name, 0) + g * other.get(name, 0) for name in one | other if name != out}
            rows.append((joined, f * a + g * b, strict or either))


def sides(form):
    """Return what a form is on both sides of a test."""
    return (form, False), ([-each for each in form], True)


def put(form, values):
    """Return the factors by name and the constant of a form of values, which are such forms."""
    found, constant = defaultdict(int), form[0]
    spend(len(form))
    for factor, (names, more) in [(factor, each) for factor, each in zip(form[1:], values, strict=True) if factor]:
        spend(24 + (constant.denominator.bit_length() + factor.denominator.bit_length()) // 100)
        constant += factor * more
        for name, each in names.items():
            found[name] += factor * each
    return {name: factor for name, factor in found.items() if factor}, constant


def named(letter, many):
    """Return the numbers of a state, of which the first is n, as forms."""
    return [({"n": 1}, Fraction(0)), *[({f"{letter}{at}": 1}, Fraction(0)) for at in range(1, many)]]


def noise(name, law):
    """Return noise as a form, what is known of it, and its name where it is real."""
    return ({name: 1}, Fraction(0)), [({name: 1}, Fraction(0), False)] * law[3], {name} if law[0] else set()


def multiplied(*ratios):
    above, below = 1, 1
    for a, b in ratios:
        above, below = times(above, a), times(below, b)
        if type(above) is type(below) is int:
            spend((cost(above) + cost(below)) ** 2 // 4)
            above, below = Fraction(above, below).as_integer_ratio()
    return above, below


def added(some):
    above, below = 0, 1
    for a, b in some:
        above, below = (above + a, b) if b == below else (times(above, b) + times(a, below), times(below, b))
    return above, below


def larger(one, other):
    """Whether a ratio is above another."""
    return positive(times(one[0], other[1]) + -1 * times(other[0], one[1]))


class Aligned(beside("program").Domain):
    """The trees of a program, and the cells of its evidence."""

    def __init__(self, claim, program):
        read_root(claim)
        relation = claim["neighbours"]
        need(claim["n"] == "all", "this rule is for every n")
        super().__init__(0, claim["records"], relation if type(relation) is not list else None)
        if type(relation) is list:  # of all records each may become another one, as pairs say
            pairs = [[self.numbers.get(text(value(each))) for each in items(pair, 2)] for pair in relation]
            need(pairs and all(None not in pair and pair[0] != pair[1] for pair in pairs), "there is no such pair")
            self.met, self.at_once = self.met | dict.fromkeys(map(tuple, pairs)), True
        states, trees, before, steps, after = fields(program, "states trees before steps after")
        self.states = [[within(real, 0, 1, "kind of number") for real in items(each)] for each in items(states)]
        self.trees, self.known = items(trees), {}
        self.before = self.tree(before, [])
        rows, last = items(steps, len(self.states)), items(after, len(self.states))
        both, many = [*zip(rows, self.states)], len(self.records)
        self.steps = [[self.tree(at, held) for at in items(row, many)] for row, held in both]
        self.after = [self.tree(at, held, True) for at, held in zip(last, self.states)]
        self.adds_up()

    def tree(self, at, kinds, last=False):
        key, kinds = (within(at, 0, len(self.trees) - 1, "tree"), tuple(kinds), last), [0, *kinds]
        if key not in self.known:
            leaves = []
            node = self.node(self.trees[at], kinds, last, leaves, ((), (), (1, 1), ()))
            self.known[key] = Tree(kinds, node, leaves)
        return self.known[key]

    def node(self, given, kinds, last, leaves, way):
        """Read a part of a tree, to which a way leads: conditions, how tests and draws came out, odds, and noise."""
        (rows, turns, odds, laws), (kind, *rest) = way, [None] if given is None else items(given)
        spend(60 * (1 + len(rows)))
        if given is None:
            return None
        if kind in ("draw", "guess"):
            branches = items(*items(rest, 1))
            branches = [
                (whole(a), tree) for a, tree in (items(each, 2) if kind == "draw" else (1, each) for each in branches)
            ]
            total, found = sum([odd for odd, _ in branches]) if kind == "draw" else 1, []
            need(branches and all(positive(odd) for odd, _ in branches), "odds are not positive")
            for at, (odd, tree) in enumerate(branches):
                before, branch = len(leaves), (rows, (*turns, (None, at)), multiplied(odds, (odd, total)), laws)
                found.append((self.node(tree, kinds, last, leaves, branch), range(before, len(leaves))))
            return kind, found, [odd for odd, _ in branches]
        if kind == "noise":
            law, tree = items(rest, 2)
            real, base, step, half = items(law, 4)
            real, half = within(real, 0, 1, "kind of number"), within(half, 0, 1, "kind of noise")
            law = real, ratio(base, 1), rational(step), half
            need(larger(law[1], (1, 1)) and law[2] > 0 and (real or law[2] == 1), "there is no such noise")
            more = [([Fraction(0)] * (1 + len(kinds)) + [Fraction(1)], False)] if half else []
            way = (*rows, *more), turns, odds, (*laws, law)
            return "noise", law, self.node(tree, [*kinds, real], last, leaves, way)
        if kind == "test":
            given, *branches = items(rest, 3)
            form = self.form(given, kinds)
            turn = [((*rows, row), (*turns, (tuple(form), at)), odds, laws) for at, row in enumerate(sides(form))]
            parts = [self.node(tree, kinds, last, leaves, each) for tree, each in zip(branches, turn)]
            return "test", sides(form), *parts
        need(kind == "ends", "there is no such tree")
        told, numbers, *after = items(rest, 2 if last else 4)
        numbers, state, values = [self.form(each, kinds) for each in items(numbers)], None, []
        if not last:
            state = within(after[0], 0, len(self.states) - 1, "state")
            values = [self.form(each, kinds) for each in items(after[1], len(self.states[state]))]
            for form, real in zip(values, self.states[state]):
                good = all(each.denominator == 1 for each in form) and not any(f and k for f, k in zip(form[1:], kinds))
                need(real or good, "a whole number is none")
        leaves.append(Leaf(rows, turns, odds, laws, text(value(told)), numbers, state, values))
        return "ends", len(leaves) - 1

    def form(self, given, kinds):
        spend(16 * (1 + len(kinds)))
        return [rational(each) for each in items(given, 1 + len(kinds))]

    def adds_up(self):
        """Check that of all that a run guesses so much is not dropped that what it may tell has probability 1 in sum.
        Runs that guess, with the same noise, are in several states with the same numbers: from there on it is 1, too.
        """
        found, left, pending = set(), set(), [(None, [self.before])]
        while pending:
            record, trees = pending.pop()
            names = named("z", len(trees[0].kinds))
            need(all(tree.kinds == trees[0].kinds for tree in trees), "guesses hold numbers of other kinds")
            real = {f"z{at}" for at, kind in enumerate(trees[0].kinds) if kind}
            for leaves, names_ in self.together([(tree, tree.node) for tree in trees], [COUNT], names, real):
                need(leaves and (record != "last" or len(leaves) == 1), "runs are dropped, or count twice")
                if record == "last":
                    continue
                first, *others = [[put(form, names_[: len(form) - 1]) for form in leaf.values] for leaf in leaves]
                need(all(each == first for each in others), "guesses hold other numbers")
                states = tuple(sorted([leaf.state for leaf in leaves]))
                if states not in found:
                    found.add(states)
                    spend(3 * len(states) * len(self.records))
                    pending += [(at, [self.steps[state][at] for state in states]) for at in range(len(self.records))]
                if record is not None and states not in left:
                    left.add(states)
                    pending.append(("last", [self.after[state] for state in states]))

    def together(self, nodes, rows, names, real):
        """Yield the leaves that runs come to that guess all that they may, and draw the same."""
        for tree, node in nodes:  # which grows
            more = node[1] if node and node[0] == "guess" else []
            spend(60 * len(more))
            nodes += [(tree, each) for each, _ in more]
        nodes = [(tree, node) for tree, node in nodes if node and node[0] != "guess"]
        kinds = {node[0] for _, node in nodes}
        spend(60 + 60 * len(nodes))
        if "test" in kinds:
            ways = next(node[1] for _, node in nodes if node[0] == "test")
            for at, (form, above) in enumerate(ways):
                more = [*rows, (*put(form, names), above)]
                if not impossible(more, real):
                    then = [(tree, node[2 + at] if node[:2] == ("test", ways) else node) for tree, node in nodes]
                    yield from self.together(then, more, names, real)
        elif "draw" in kinds:
            weights, *others = [node[2] for _, node in nodes if node[0] == "draw"]
            need(all(each == weights for each in others), "guesses draw otherwise")
            for at in range(len(weights)):
                then = [(tree, node[1][at][0] if node[0] == "draw" else node) for tree, node in nodes]
                yield from self.together(then, rows, names, real)
        elif "noise" in kinds:
            law, *others = [node[1] for _, node in nodes if node[0] == "noise"]
            need(all(each == law for each in others), "guesses draw other noise")
            drawn, more, kind = noise(f"y{len(names)}", law)
            then = [(tree, node[2] if node[0] == "noise" else node) for tree, node in nodes]
            yield from self.together(then, rows + more, [*names, drawn], real | kind)
        else:
            yield [tree.leaves[node[1]] for tree, node in nodes], names

    def compare(self, plan, ours, theirs, cell, cells):
        """Check what the leaves of our tree are compared with, from a cell on."""
        gaps, price = cell[2:4]
        mine, inside = named("o" if gaps is None else "z", len(ours.kinds)), [COUNT]
        real = {f"z{at}" for at, kind in enumerate(theirs.kinds) if kind}
        real |= {f"{of}{at}" for of in "os" for at, kind in enumerate(ours.kinds) if kind}
        for at, (low, high) in enumerate(gaps or [], 1):
            if low == high is not None:
                mine[at] = {f"z{at}": 1}, low
                continue
            mine[at] = {f"z{at}": 1, f"s{at}": 1}, Fraction(0)
            real |= {f"s{at}"} if theirs.kinds[at] else set()
            inside += [({f"s{at}": 1}, -low, False)] if low is not None else []
            inside += [({f"s{at}": -1}, high, False)] if high is not None else []
        borne = defaultdict(list)
        pending = [*zip(ours.leaves, items(plan, len(ours.leaves)))]
        while pending:
            leaf, shares = pending.pop()
            if items(shares)[:1] == ["test"]:
                _, given, *both = items(shares, 4)
                form = self.form(given, [*ours.kinds, *leaf.laws])
                for at, (part, row) in enumerate(zip(both, sides(form))):
                    more = leaf._replace(rows=(*leaf.rows, row), turns=(*leaf.turns, (tuple(form), at)))
                    pending.append((more, part))
                continue
            total, real_ = Fraction(0), real | {f"y{at}" for at, law in enumerate(leaf.laws) if law[0]}
            for share, by, parts in [items(each, 3) for each in shares] or [(1, [0] * len(leaf.laws), [])]:
                spend(400 + cost(total.denominator) ** 2)
                share, by = rational(share, 0), [rational(each) for each in items(by, len(leaf.laws))]
                values = [*mine, *[({f"y{at}": 1}, each) for at, each in enumerate(by)]]
                rows = inside + [(*put(form, values[: len(form) - 1]), above) for form, above in leaf.rows]
                goals, total = dict(items(each, 2) for each in items(parts)), total + share
                need({*map(type, goals)} <= {int}, "a leaf has no number")
                if impossible(rows, real_):
                    continue
                paid = multiplied(share.as_integer_ratio(), leaf.odds, *map(self.price, leaf.laws, by))
                pair = Pair(theirs, leaf, values, goals, cells, {})
                self.covered(pair, theirs.node, rows, named("z", len(theirs.kinds)), real_)
                for at, next_ in pair.seen.items():
                    borne[at].append((leaf.turns, by, multiplied(paid, next_, theirs.leaves[at].odds[::-1])))
            need(total == 1, "shares have another sum than 1")
        for some in borne.values():
            need(not larger(load(some, len(ours.kinds), 0), price), "a price is too low")

    def price(self, law, by):
        """Return by how much noise that is so much larger may be likelier."""
        _, (above, below), step, half = law
        times_ = by / step
        need(times_.denominator == 1 and abs(times_) <= 1000, "noise is shifted by a part of a step, or far")
        return multiplied(*[(below, above) if half and by > 0 else (above, below)] * abs(int(times_)))

    def covered(self, pair, node, rows, names, real):
        """Check that wherever their run comes to, by draws that suit, is a leaf that our leaf is compared with."""
        if impossible(rows, real):
            return
        need(node is not None, "a leaf is compared with runs that are dropped")
        leaf = pair.leaf
        if node[0] in ("draw", "guess"):
            suit = [tree for tree, numbers in node[1] if any(at in pair.goals for at in numbers)]
            need(suit, "a leaf is compared with nothing that may be drawn")
            self.covered(pair, suit[0], rows, names, real)
        elif node[0] == "noise":
            at = len(names) - len(pair.theirs.kinds)
            same = leaf.laws[at : at + 1] == (node[1],)
            drawn, more, kind = noise(f"{'xy'[same]}{at}", node[1])
            if same:  # theirs is less by the shift
                outside = [({name: -f for name, f in form.items()}, -constant, True) for form, constant, _ in more]
                inside = all(impossible([*rows, each], real | kind) for each in outside)
                need(inside, "noise is shifted to where there is none")
            self.covered(pair, node[2], rows + more, [*names, drawn], real | kind)
        elif node[0] == "test":
            for (form, above), tree in zip(node[1], node[2:]):
                self.covered(pair, tree, [*rows, (*put(form, names), above)], names, real)
        else:
            other, seen = pair.theirs.leaves[node[1]], pair.seen
            good = node[1] in pair.goals and other.laws == leaf.laws and other.told == leaf.told
            need(
                good and len(other.numbers) == len(leaf.numbers),
                "a leaf is compared with one that tells something else",
            )
            pairs, seen[node[1]] = [(*both, (0, 0)) for both in zip(leaf.numbers, other.numbers)], (1, 1)
            if leaf.state is not None:
                to = pair.cells[within(pair.goals[node[1]], 0, len(pair.cells) - 1, "cell")]
                need(to[:2] == [other.state, leaf.state], "a cell has other states")
                pairs, seen[node[1]] = [*pairs, *zip(leaf.values, other.values, to[2] or [])], to[3]
            for ours, their, (low, high) in pairs:
                form, constant = put([Fraction(0), 1, -1], [put(ours, pair.mine), put(their, names)])
                below = ({name: -f for name, f in form.items()}, low - constant, True) if low is not None else None
                over = (form, constant - high, True) if high is not None else None
                good = all(each is None or impossible([*rows, each], real) for each in (below, over))
                need(good, "numbers that are told differ, or others by more than in a cell")


def load(some, held, at):
    """Return what leaves of ours come to that are compared with one of theirs: of those behind a test only those on one
    side of it, where the form is shifted by the same, as it has one sign there."""
    spend(20 * len(some) * (1 + len(some[0][1])))
    if len(some) == 1 or len(some[0][0]) == at:
        return added([paid for _, _, paid in some])
    form, total = some[0][0][at][0], []
    groups = defaultdict(lambda: defaultdict(list))
    for turns, by, paid in some:
        shift = sum([f * d for f, d in zip(form[1 + held :], by)]) if form is not None else 0
        groups[shift][turns[at][1]].append((turns, by, paid))
    for group in groups.values():
        loads = [load(each, held, at + 1) for each in group.values()]
        total += loads if form is None else [reduce(lambda a, b: b if larger(b, a) else a, loads)]
    return added(total)


def establish(given, claim, evidence):
    """Establish that e^epsilon is at most the bound, for every n."""
    data, bound, cells = Aligned(claim, given["program"]), ratio(claim["bound"], 1), []
    if "runs" in claim:
        need({(b, a) for a, b in data.met} == {*data.met}, "a pair is listed the other way round only")
        beside("datasets").together(claim)
    plans = items(evidence["plans"])
    for theirs, ours, gaps, price, *rest in (items(each, 6) for each in items(evidence["cells"])):
        theirs, ours = (within(each, 0, len(data.states) - 1, "state") for each in (theirs, ours))
        if gaps is not None:
            alike = len(data.states[theirs]) == len(data.states[ours])
            ends = [items(each, 2) for each in items(gaps, len(data.states[ours]))]
            gaps = [[end if end is None else rational(end) for end in each] for each in ends]
            need(alike, "states hold other numbers of numbers")
        cells.append([theirs, ours, gaps, ratio(price, 0), *rest])

    def compare(at, ours, theirs, cell):
        data.compare(plans[within(at, 0, len(plans) - 1, "plan")], ours, theirs, cell, cells)

    starts = items(evidence["starts"])
    if data.at_once:
        compare(*items(starts, 1), data.before, data.before, [None, None, [], bound])
    else:
        met = [pair for pair in sorted(data.met) if pair[0] != pair[1]]
        asked = [(state, pair) for state in range(len(data.states)) for pair in met]
        for at, (state, (a, b)) in zip(items(starts, len(asked)), asked):
            same = [[Fraction(0)] * 2 for _ in data.states[state]]
            compare(at, data.steps[state][a], data.steps[state][b], [state, state, same, bound])
    pairs = [pair for pair in sorted(data.met) if data.at_once or pair[0] == pair[1]]
    for cell in cells:
        theirs, ours, *_, some, last = cell
        for at, (a, b) in zip(items(some, len(pairs)), pairs):
            compare(at, data.steps[ours][a], data.steps[theirs][b], cell)
        compare(last, data.after[ours], data.after[theirs], cell)
    return "; an upper bound for all that is computed from the messages (post-processing)"
