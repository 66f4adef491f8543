"""Core programs of certificates, and the records and neighbours that claims are about: `checker.py` asks for them.

What a program means is stated in proofs/coq/Program.v.
"""

import operator
import re
from collections import Counter, defaultdict, namedtuple
from itertools import product

from checker import MOST_CLIENTS, OPERATIONS, UNDEFINED, cost, fields, items, need, operate, positive, read_root
from checker import spend, table, text, times, value, whole, within

NAME = re.compile("[dsvx][0-9_]{0,20}")
NEAR = {"replace-one": operator.ne, "add-remove": lambda a, b: (a[0] is None) != (b[0] is None)}
NEAR |= dict.fromkeys(("unit-step", "unit-all"), lambda a, b: a != b and abs(a[0] - b[0]) <= 1)
Part = namedtuple("Part", "reads takes lines publishes leaves price total")


class Domain:
    """The records that a claim is about, by number, and its neighbours, by name or all pairs; without them a dataset
    is compared with itself."""

    def __init__(self, n, records, relation=None):
        self.n, self.records = n, [value(record) for record in items(records)]
        self.numbers = {text(record): at for at, record in enumerate(self.records)}
        self.length, *others = {len(each) if type(each) is tuple else 0 for each in self.records} or [0]
        good = self.length > 0 and not others and len(self.numbers) == len(self.records)
        need(good, "records are no lists of one length, or one stands twice")
        pairs, near = items(relation) if type(relation) is list else [], lambda a, b: False
        self.listed = [tuple([self.dataset(each) for each in items(pair, 2)]) for pair in pairs]
        self.at_once = relation == "unit-all" or self.listed != []
        if type(relation) is str:
            near, one = NEAR.get(relation), relation != "replace-one"
            unit = one and relation != "add-remove"
            good = near and not (one and self.length > 1) and not (unit and {type(a[0]) for a in self.records} != {int})
            need(good, "there are no such neighbours; or they are for records of one component, or one whole number")
        spend(8 * len(self.records) ** 2)
        every = product(enumerate(self.records), repeat=2)
        self.met = {(i, j): None for (i, a), (j, b) in every if i == j or near(a, b)}
        some = relation is None or self.listed or len(self.met) > len(self.records)
        need(some and all(x != y for x, y in self.listed), "the claim is empty, or about equal datasets")

    def dataset(self, given):
        found = tuple([self.numbers.get(text(value(record))) for record in items(given, self.n)])
        need(None not in found, "there is no such record")
        return found

    def meets(self, x, y):
        """Whether two datasets are equal, or neighbours."""
        spend(3 * len(x))
        different = [pair for pair in zip(x, y) if pair[0] != pair[1]]
        near = all(pair in self.met for pair in different) and (self.at_once or len(different) <= 1)
        return x == y or ((x, y) in self.listed if self.listed else near)


class Program(Domain):
    """Parts, and places: which part runs when, and which client's record it reads.

    A part takes values (its state), defines others line by line, publishes some, and leaves some behind for the next.
    A weight is a probability times a number that all datasets share, unless `observe` drops runs.
    """

    def __init__(self, given):
        claim, self.known, self.same, self.states, self.observes = given["claim"], set(), {}, {"()": ()}, False
        read_root(claim)
        self.every = claim["n"] == "all"
        need(not self.every or claim["question"] == "privacy of messages", "this is a claim for one n")
        n = 0 if self.every else within(claim["n"], 1, MOST_CLIENTS, "number of records")
        super().__init__(n, claim["records"], claim.get("neighbours"))
        parts, order = fields(given["program"], "parts order")
        self.parts = [self.part(part) for part in items(parts)]
        need(items(order), "there is no program")
        self.places, self.clients = zip(*[items(each, 2) for each in order])
        for at, client in zip(self.places, self.clients):
            part = self.parts[within(at, 0, len(self.parts) - 1, "part")]
            need(part.reads == (client is not None), "a part reads a record of nobody, or none at all")
        named = [self.every or within(client, 0, self.n - 1, "client") for client in self.clients if client is not None]
        good = self.clients == (None, "all", None) if self.every else len({*named}) == len(named)
        need(good, "there are other clients, or one twice")
        self.published = any(self.parts[part].publishes for part in self.places)

    def names(self, given, new=False):
        """Read names, each of which stands once, and has a value."""
        good = {*map(type, items(given))} <= {str} and len({*given}) == len(given) and all(map(NAME.fullmatch, given))
        need(good and (new or {*given} <= self.known), "these are no names, or have no value")
        return tuple(given)

    def part(self, given):
        spend(90)
        reads, takes, lines, shown, left = fields(given, "reads takes lines publishes leaves")
        need(type(reads) is bool, "a part reads a record, or not")
        takes = self.names(takes, new=True)
        self.known, self.price, self.total = {*takes}, 1, 1
        found = [self.line(line, reads) for line in items(lines)]
        need(sum(line[0][:4] == "draw" for line in lines) < 2, "a part draws twice")
        return Part(reads, takes, found, self.names(shown), self.names(left), self.price, self.total)

    def operand(self, given):
        """Read a name, or a constant: {"value": 3}."""
        return (self.names([given])[0], None) if type(given) is str else (None, value(*fields(given, "value")))

    def line(self, given, reads):
        """Read a line: its name, its operands, and what it gives on a record and their values."""
        need(len(items(given)) > 1 and type(given[0]) is str, "a line is too short")
        kind, name, *rest = given
        if kind == "input":  # ["input", "x0", 1]: component 1 of the record of the client
            need(reads, "this part reads no record")
            leaf, words = within(*items(rest, 1), 0, self.length - 1, "component of a record"), []
            function = lambda record: [(self.records[record][leaf], 1)]  # noqa: E731
        elif kind in ("draw", "draw by"):  # ["draw", "d1", [[0, 4], [1, 1]]]: outcomes with their odds, here 4 to 1; or
            # odds that depend on a value: ["draw by", "d2", "x0", [[0, [[1, 3]]], ..]]
            on, laws = items(rest, 2) if kind == "draw by" else ({"value": None}, [[None, *items(rest, 1)]])
            laws = {at: [*law.values()] for at, (_, law) in table(laws, lambda law: table(law, whole)).items()}
            need(not any(positive(-1 * odds) for law in laws.values() for _, odds in law), "odds are negative")
            total, *others = [sum(odds for _, odds in law) for law in laws.values()]
            need(positive(total) and all(each == total for each in others), "odds are zero, or have different sums")
            self.price, self.total = 1 + cost(total), total  # the price of a product with one of the odds
            words, function = [self.operand(on)], lambda _, of: laws.get(text(of), [(UNDEFINED, total)])
        elif kind == "case":  # ["case", "v4", "d1", [[0, "v3"], [1, {"value": 0}]]]: one of several, or undefined
            choices = table(items(rest, 2)[1], self.operand)
            words = [self.operand(rest[0]), *(choice for _, choice in choices.values())]
            function = lambda _, of, *others: [(dict(zip(choices, others)).get(text(of), UNDEFINED), 1)]  # noqa: E731
        elif kind in ("fails", "observe"):  # ["fails", "v7"]: v7 must be 0 in every run; ["observe", "v7"]: runs in
            # which it is 0 do not count; nor may it be anything but 0 or 1
            passes = {"0": [], "1": [(0, 1)]} if kind == "observe" else {"0": [(0, 1)]}
            self.observes |= kind == "observe"
            (name,) = items([name, *rest], 1)
            words, name, function = [self.operand(name)], None, lambda _, of: passes.get(repr(of))
        else:  # ["apply", "v3", "add", "x0", "d1"]: an operation on the values of names, and constants
            operation = rest[0] if kind == "apply" and rest else None
            need(type(operation) is str and operation in OPERATIONS, "there is no such line, or operation")
            words = [self.operand(each) for each in items(rest[1:], OPERATIONS[operation])]
            function = lambda _, *of: [(operate(operation, *of), 1)]  # noqa: E731
        self.known.update([] if name is None else self.names([name], new=True))
        return name, words, function

    def run(self, at, state, record):
        """Return [(what is published, [(state after, weight), ...]), ...] of a part from a state, and how many states
        that are; all as texts. Of several records the runs of all of them."""
        same = self.same.setdefault((at, record), {})
        if state in same:
            return same[state]
        part = self.parts[at]
        need(len(self.states[state]) == len(part.takes), "a part takes another number of values than there are")
        records, found = record if type(record) is tuple else (record,), defaultdict(Counter)
        runs = [({None: each, **dict(zip(part.takes, self.states[state]))}, 1) for each in records]
        for name, words, function in part.lines:
            before, runs = runs, []
            for known, weight in before:
                given = function(known[None], *[known[word] if word else constant for word, constant in words])
                need(given is not None, "in some run a check fails, or a condition is neither true nor false")
                spend(6 + len(words) + len(given) * (3 + len(known) // 5))
                runs += [({**known, name: each}, times(weight, odds)) for each, odds in given]
        for known, weight in runs:
            told, after = (tuple([known[name] for name in some]) for some in (part.publishes, part.leaves))
            need(UNDEFINED not in told, "an output is undefined")
            spend(60 + 3 * cost(weight))
            self.states |= {text(told): told, text(after): after}
            found[text(told)][text(after)] += weight
        same[state] = [(told, [*row.items()]) for told, row in found.items()], sum(map(len, found.values()))
        return same[state]
