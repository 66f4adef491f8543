"""An independent checker of tightdp's certificates, format 2: `python proofs/checker.py answer.json` ends with 0 for
accepted.

WHAT AN ACCEPTED CERTIFICATE ESTABLISHES: the law of its core program has the claimed property, with R = e^epsilon:
  privacy    P(E|x) <= R P(E|x') + delta for all neighbours x, x' and events E. Attained: by the pair that is named
             With an error: of all mechanisms whose events have these probabilities up to it; where delta is less than
             these errors come to, of those that publish nothing that the program does not publish on x or x'
  privacy of messages: the same for every n, of what the output is computed from. So R bounds the output, too
  curve      privacy at every point, of pairs of R and delta. Between points delta is below the line (it is convex in R)
  moment     sum over y of P(y|x)^a / P(y|x')^(a-1) <= bound for a = order: e^((a-1) times the Rényi divergence)
  concentration: with discrete Gaussian noise of these variances on the numbers that are left, the Rényi divergence of
             each whole order a is at most a times the bound (of all orders a > 1: Canonne, Kamath, Steinke 2020)
  accuracy   P(|error| > alpha | x) <= beta for all datasets x; the error is what the program leaves behind
  violation, larger moment, larger concentration, inaccuracy: that this is false for the pair, or the dataset, named
  law        what is published on a dataset, part by part, and with which probabilities
  composition: what guarantees bound, for all mechanisms that have them; there is no program
Rules of their own, in files beside this one, establish the claims `audit`, `efficacy`, `optimum`.
To be trusted are: that the core program says what the mechanism says (read it beside the Python function; the parts of
an output are published one by one), these files, Python's integers, and what `walk`, `forms` and the rules state: these
are theorems in proofs/coq, whose checker reads the same files and says the same.
A file is printable ASCII, and JSON in which every field is read: another field is an error.
"""

import hashlib
import importlib.util
import json
import math
import operator
import re
import sys
from collections import Counter, defaultdict, namedtuple
from fractions import Fraction
from functools import cache, reduce
from itertools import accumulate, combinations_with_replacement, product, repeat, zip_longest
from pathlib import Path
from types import SimpleNamespace

MOST_BYTES, MOST_DIGITS, MOST_LETTERS, MOST_CLIENTS, MOST_NESTED = 4_000_000, 4_000, 20_000, 10_000, 199
WORK = 8_500_000  # steps of a quarter of a microsecond; what is kept costs more of them, which bounds memory as well
LEFT, ROOT, POWERS = [0], [0], {}  # steps that may be spent; T = e^(1/root), 0: no T, -1: any T > 0; enclosures of T
NAME, RATIO = re.compile("[dsvx][0-9_]{0,20}"), re.compile("(-?[1-9][0-9]*)/([1-9][0-9]*)")
PLAIN = re.compile(r"[ !#-\[\]-~]*")  # texts of a file have these characters; others are lists of codes
ALL, OPEN = "all", "open"  # in an event, of what a part publishes: each output by itself, or all together
UNDEFINED = ...  # what an operation gives where Python refuses; nothing may publish it
NEAR = {"replace-one": operator.ne, "add-remove": lambda a, b: (a[0] is None) != (b[0] is None)}
NEAR |= dict.fromkeys(("unit-step", "unit-all"), lambda a, b: a != b and abs(a[0] - b[0]) <= 1)
ABOUT = "root unknown mechanism parameters source"
CLAIMS = {  # what a claim says, and may say, besides its question; and the rules of evidence that establish it
    "privacy": ("n records neighbours bound program", f"delta error attained runs {ABOUT}", "forms datasets"),
    "curve": ("n records neighbours points program", f"error attained {ABOUT}", "datasets"),
    "privacy of messages": ("n records neighbours bound program", f"runs {ABOUT}", "forms"),
    "violation": ("n records neighbours bound program", f"delta error {ABOUT}", "witness"),
    "moment": ("n records neighbours order bound program", f"attained {ABOUT}", "datasets"),
    "larger moment": ("n records neighbours order bound program", f"error {ABOUT}", "witness"),
    "concentration": ("n records neighbours variances bound program", f"attained {ABOUT}", "datasets"),
    "larger concentration": ("n records neighbours variances bound program", ABOUT, "witness"),
    "accuracy": ("n records alpha beta program", f"attained {ABOUT}", "datasets"),
    "inaccuracy": ("n records alpha beta program", ABOUT, "witness"),
    "law": ("n records dataset law program", ABOUT, "datasets"),
    "composition": ("guarantees bound delta", "root", "responses"),
    "efficacy": ("n records pairs guesses share program", ABOUT, "datasets"),
    "audit": ("canaries guesses correct options guarantee bound", "", "dual"),
    "optimum": ("measure n records neighbours groups outputs targets keeps allows least most", "alpha delta", "table"),
}
BESIDE = ("audit", "efficacy", "optimum")  # the rules for these are files of their own
EVIDENCE = {"forms": "units cuts steps order", "dual": "constant multipliers", "table": "table weights multipliers"}
EVIDENCE |= dict.fromkeys(("datasets", "witness", "responses"), "")


class Refused(Exception):
    """The certificate does not establish its claim."""


def need(condition, reason):
    if not condition:
        raise Refused(reason)


def spend(steps):  # before they are done
    LEFT[0] -= steps
    need(LEFT[0] >= 0, "checking takes more work than is allowed (N behind the file allows N times as much)")


def read_root(claim):
    """Say what T is: e^(1/root); or any number above 0 where ["lam", 0, "1/2"] is unknown, (0 + 1/2 T) / (1 + T)."""
    ROOT[0] = within(claim["root"], 1, 9_999, "root of e") if "root" in claim else 0
    if "unknown" in claim:
        name, *ends = items(claim["unknown"], 3)
        good = plain(name) and len(name) <= 200 and not ROOT[0]
        need(good and operator.lt(*[rational(end, 0) for end in ends]), "an unknown has a name and a range")
        ROOT[0] = -1


def fields(given, names, others=""):
    """Return the values of some fields, after which there are no more, or only these others."""
    need(type(given) is dict, "an object is expected")
    wrong = ({*names.split()} - given.keys()) | (given.keys() - {*names.split(), *others.split()})
    need(not wrong, f"fields are missing or unknown: {', '.join(sorted(map(ascii, wrong)))[:200]}")
    return [given[name] for name in names.split()]


def items(given, length=None):
    need(type(given) is list and length in (None, len(given)), "a list of another length is expected")
    spend(4 + 3 * len(given))
    return given


def within(given, least, most, what):
    need(type(given) is int and least <= given <= most, f"there is no such {what}")
    return given


def plain(given):
    return type(given) is str and PLAIN.fullmatch(given) is not None


# Numbers. In a file they are whole; or "p/q" in lowest terms; or polynomials c[0] + c[1] T + c[2] T^2 + ... as lists of
# c, for T = e^(1/root) with the root of the claim; or {"above": .., "below": ..} of two whole numbers or polynomials.
def coefficients(number):
    return number if type(number) is Polynomial else (number,)


def cost(number):
    return sum([1 + c.bit_length() // 200 for c in coefficients(number)])


def times(a, b):
    spend(cost(a) * cost(b))
    return a * b


class Polynomial(tuple):
    """T = e^(1/root) is transcendental: only equal coefficients are equal numbers."""

    def __new__(cls, c):
        size = max((at for at, each in enumerate(c, 1) if each), default=0)
        return super().__new__(cls, c[:size]) if size > 1 else c[0]  # an int where it is one

    def __add__(self, other):
        spend(len(self) + cost(other))
        return Polynomial([a + b for a, b in zip_longest(self, coefficients(other), fillvalue=0)])

    def __mul__(self, other):
        spend(3 * len(self) * len(coefficients(other)))
        found = [0] * (len(self) + len(coefficients(other)) - 1)
        for (i, a), (j, b) in product(enumerate(self), enumerate(coefficients(other))):
            found[i + j] += times(a, b)
        return Polynomial(found)

    __radd__, __rmul__ = __add__, __mul__


def positive(number):
    """Whether a number is larger than 0 (for all T > 0, or none): by integers below and above 2^bits times it."""
    if type(number) is not Polynomial:
        return number > 0
    for _ in range(65) if ROOT[0] < 0 else ():
        if len(signs := {c > 0 for c in number if c}) == 1:
            return True in signs
        number *= Polynomial((1, 1))
    need(ROOT[0] > 0, "a sign is not seen to be the same for all T > 0")
    for bits in (64, 512, 4096, 32768):
        if (bits, ROOT[0]) not in POWERS:
            low, term, k = 0, 1 << bits, 0
            while term:  # T is the sum of all 1 / (k! root^k); each term, rounded down twice, is less than 2 too small
                spend(3 + bits // 1500)
                low, term, k = low + term, term // ((k + 1) * ROOT[0]), k + 1
            POWERS[bits, ROOT[0]] = low, low + 2 * k + 4
        (low, high), least, most = POWERS[bits, ROOT[0]], 0, 0
        spend(6 * cost(number) + 3 * len(number) * (len(number) + bits // 100))
        for c in reversed(number):  # Horner's rule, rounded down, and up
            least = (least * (low if least >= 0 else high) >> bits) + (c << bits)
            most = -(-most * (high if most >= 0 else low) >> bits) + (c << bits)
        if least > 0 or most < 0:
            return least > 0
    raise Refused("a number is too near to 0")


def whole(given):
    good = type(given) is int or (len(items(given)) > 1 and {*map(type, given)} == {int} and given[-1] != 0 and ROOT[0])
    need(good, "this is no number, or there is no T")
    return given if type(given) is int else Polynomial(given)


def ratio(given, least=None, most=None):
    """Read a number, which is between two others, as what is above and below."""
    if type(given) is str:
        found = RATIO.fullmatch(given) if len(given) <= MOST_DIGITS else None
        spend(3 + len(given) // 6)
        above, below = map(int, found.groups()) if found else (0, 0)
        need(below > 1 == math.gcd(above, below), "this is no ratio in lowest terms")
    else:
        above, below = map(whole, fields(given, "above below") if type(given) is dict else (given, 1))
    outside = [least is not None and least * below + -1 * above, most is not None and above + -most * below]
    need(positive(below) and not any(map(positive, outside)), "a number is out of its range")
    return above, below


def rational(given, *ends):
    need(type(given) in (int, str), "a rational number is expected")
    return Fraction(*ratio(given, *ends))


def factors(row):
    """Read a list of numbers (of states, or forms), each followed by its factor."""
    places = [within(at, 0, MOST_BYTES, "number of a state, or a form") for at in items(row)[::2]]
    return [*zip(places, map(whole, row[1::2]), strict=True)]


# Values are numbers, null, {"text": ..} (or {"codes": [..]}, where a character is not plain) and lists of values, here
# tuples; truth values are the numbers 1 and 0. Equal values have equal texts (no ratio is whole), and dicts are keyed
# by these texts, or by numbers of states and records: Python's hashes of numbers are known beforehand, so that a file
# could make them all the same.
def text(value):
    """Return the text of a value, and charge for what is done with it. Python refuses numbers of 4,300 digits."""
    found = repr(value)
    spend(6 + len(found) // 6)
    need(len(found) <= MOST_LETTERS, "a value grows too large")
    return found


def nested(value):
    parts = value.values() if type(value) is dict else value
    return 1 + max(map(nested, parts), default=0) if type(value) in (dict, list, tuple) else 0


def value(given):
    if type(given) is list:
        found = tuple([value(each) for each in items(given)])
    elif type(given) is dict and "codes" in given:
        found = "".join([chr(within(each, 0, 0x10FFFF, "character")) for each in items(*fields(given, "codes"))])
        need(not plain(found), "plain characters are written as a text")
    elif type(given) is dict:
        (found,) = fields(given, "text")
        need(plain(found), "a text of plain characters is expected")
    else:
        found = given if given is None or type(given) is int else rational(given)
    text(found)
    return found


NUMBERS = dict.fromkeys("add sub mul div floordiv mod min max lt le gt ge".split(), 2) | {"neg": 1, "abs": 1}
OPERATIONS = {**NUMBERS, "eq": 2, "ne": 2, "not": 1, "bool": 1, "else": 2, "tuple": None}  # with how many values
PYTHON = {name: getattr(operator, name) for name in "add sub mul floordiv mod lt le gt ge neg abs eq ne".split()}
PYTHON |= {"min": min, "max": max, "div": lambda a, b: Fraction(a) / b, "not": operator.not_, "bool": bool}


def operate(kind, *values):
    """Return what an operation gives: undefined where an operand is (but for `else`), and where Python refuses."""
    spend(sum([len(text(each)) for each in values]) // 6)
    if kind == "else":  # the first that is defined
        return values[values[0] is UNDEFINED]
    odd = kind in NUMBERS and not {*map(type, values)} <= {int, Fraction}
    if odd or UNDEFINED in values or (kind in ("div", "floordiv", "mod") and values[1] == 0):
        return UNDEFINED
    need(kind != "tuple" or nested(values) <= MOST_NESTED, "a value is nested too deeply")
    found = values if kind == "tuple" else PYTHON[kind](*values)
    found = found.numerator if type(found) in (bool, Fraction) and found.denominator == 1 else found
    text(found)
    return found


def table(given, reader):
    """Read [[value, what belongs to it], ...], in which no value stands twice."""
    rows = [(value(key), reader(each)) for key, each in (items(row, 2) for row in items(given))]
    found = {repr(key): (key, each) for key, each in rows}
    need(0 < len(found) == len(rows), "a table is empty, or has a value twice")
    return found


Part = namedtuple("Part", "reads takes lines publishes leaves price total")
Cut = namedtuple("Cut", "states before after")


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
        spend(len(self.records) ** 2)
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
        claim, self.known, self.same, self.states = given["claim"], set(), {}, {"()": ()}
        read_root(claim)
        self.claimed, self.every, self.compares = claim["question"], claim["n"] == "all", "neighbours" in claim
        self.variances = [rational(v, 0) for v in items(claim["variances"])] if "variances" in claim else None
        if self.variances is not None:
            need(0 not in self.variances and rational(claim["bound"], 0) >= 0, "there is no noise")
        self.kept = "beta" in claim or self.variances is not None
        need(self.every == (self.claimed == "privacy of messages"), "this is a claim for every n, or for one")
        n = 0 if self.every else within(claim["n"], 1, MOST_CLIENTS, "number of records")
        self.infinite = self.claimed == "violation" and claim["bound"] == "inf"
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
        need(not (self.kept and self.published), "what is measured is published")

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
        that are; all as texts."""
        same = self.same.setdefault((at, record), {})
        if state in same:
            return same[state]
        part = self.parts[at]
        need(len(self.states[state]) == len(part.takes), "a part takes another number of values than there are")
        runs, found = [(dict(zip(part.takes, self.states[state])), 1)], defaultdict(Counter)
        for name, words, function in part.lines:
            before, runs = runs, []
            for known, weight in before:
                given = function(record, *[known[word] if word else constant for word, constant in words])
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

    def along(self, x, y):
        """Return what the places meet on two datasets."""
        return [[(None, None)] if at is None else [(x[at], y[at])] for at in self.clients]

    def event(self, given):
        """Read what each part publishes, or None where that is left open."""
        return [OPEN if each is None else repr(value(items(each))) for each in items(given, len(self.places))]

    def weight(self, x, event=None):
        """Return the weight of all runs on a dataset, or of those that publish what is in an event."""
        ((_, weight, _),) = self.walk(self.along(x, x), event or [OPEN] * len(self.places))
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
            if event is not ALL:
                rows = [([(event, row) for told, row in moved if event in (OPEN, told)], many) for moved, many in rows]
            for weight, (moved, _) in zip(laws[law].values(), rows):
                for told, row in moved:
                    sums = found[told]
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
        for a, b in combinations_with_replacement(range(len(self.records)), 2):  # of x and x' only one may have a == b
            ours = {(told, last, law) for told, left in first(1, a).items() for last, law in then(left, b).items()}
            if ours != {(last, told, law) for told, left in first(1, b).items() for last, law in then(left, a).items()}:
                return False
        return True

    def walk(self, meets, event=None):
        """Yield what `over` takes, for all that the places meet. Which outputs have which weights does not matter.

        Clients that may change places meet pairs in one order only: all others lead to the same.
        """
        laws, found, swaps = [{}, {"()": 1}], {(frozenset([((1, 1), 1)]), False, 0)}, cache(self.swaps)
        for at, (part, pairs, shown) in enumerate(zip(self.places, meets, event or repeat(ALL))):
            move, after = self.moves(part, laws, shown)
            again = self.turns and (part,) == self.places[at + 1 : at + 2] and pairs is meets[at + 1]
            again = again and all(swaps(part, state) for state in set().union(*laws))
            before, found = found, set()
            for (left, differ, least), (number, (a, b)) in product(before, enumerate(pairs)):
                spend(12)
                if number < least or (differ and a != b and not self.at_once):
                    continue
                tables = {}
                for (law, other), count in left:
                    ours, theirs = move(law, a), move(other, b)
                    for told in ours.keys() | theirs.keys():
                        spend(16)
                        key = ours.get(told, 0), theirs.get(told, 0)
                        tables[key] = tables.get(key, 0) + count
                found.add((frozenset(tables.items()), differ or a != b, number if again else 0))
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
            ours, theirs = (sum(times(count, whole[pair[at]]) for pair, count in left) for at in (0, 1))
            yield [(shown[a], shown[b], count) for (a, b), count in left], ours, theirs

    def distance(self, pairs):
        """Return the sum of (c - c')^2 / (2 variance) for the numbers c and c' that all runs leave, on x and on x'."""
        ((ours, theirs, _),) = pairs
        good = len(ours) == len(theirs) == 1 and len(ours[0]) == len(theirs[0]) == len(self.variances)
        need(good and {*map(type, ours[0] + theirs[0])} <= {int}, "runs do not leave the same number for each variance")
        found = Fraction(0)
        for a, b, v in zip(ours[0], theirs[0], self.variances):
            bits = sum([each.bit_length() for each in (a, a, b, b, *v.as_integer_ratio(), *found.as_integer_ratio())])
            spend(30 + (bits // 64) ** 2 // 100)
            found += Fraction((a - b) ** 2) / (2 * v)
        return found

    def nearer(self, point, sign=-1):
        """Return a point of a claim, with an error at a delta that is less by what events differ by, or (1) more."""
        (up, down), (above, below), error = *point, sign * (self.error or Fraction(0))
        scale, wide = times(error.denominator, down), times(up + down, below)
        return (up, down), (times(scale, above) + times(error.numerator, wide), times(scale, below))

    def over(self, point, pairs, ours, theirs):
        """What the claim bounds, less its bound, times some number; and whether it is attained."""
        need(positive(ours) and positive(theirs), "every run is dropped")
        if self.variances is not None:
            over, equal = self.distance(pairs) - Fraction(*point[0]), True
        elif self.order and (self.error is not None or self.order.denominator > 1):
            error, least = self.error or Fraction(0), self.claimed == "larger moment"
            over, equal = rooted(pairs, ours, theirs, self.order, point[0], error, least), False
        elif self.order:
            over, equal = moment(pairs, ours, theirs, self.order.numerator, point[0]), True
        else:
            over, equal = excess(point, pairs, ours, theirs, self.infinite)
        return over, over == 0 and (equal or point[1][0] != 0 or self.kept)

    def cut(self, given):
        """Read a cut: its states, and forms that are at most 0, of numbers of states with factors: before x and x'
        differ {(0, state): factor}, and after that, under x and x', {(1, state): .., (2, state): ..}."""
        listed, before, after = fields(given, "states before after")
        left = [[UNDEFINED if each == {"undefined": None} else value(each) for each in items(s)] for s in items(listed)]
        found = [*map(tuple, left)]
        states = {text(state): at for at, state in enumerate(found)}
        self.states |= zip(states, found)

        def form(*rows):  # of one row before, of two after
            pairs = [((copy, at), c) for copy, row in enumerate(rows, len(rows) - 1) for at, c in factors(row)]
            good = len(dict(pairs)) == len(pairs) and all(at < len(states) for (_, at), _ in pairs)
            need(good and len(found) == len(states), "there is no such state, or it stands twice")
            return dict(pairs)

        return Cut(states, [form(row) for row in items(before)], [form(*items(row, 2)) for row in items(after)])

    def forms(self, cuts, steps, order, units):
        """Establish P(y|x) <= R P(y|x') for all neighbours x, x' and outputs y, with R = up / down.

        Given what is published, a part moves weights linearly. Let u be the weights of the states at a cut between
        parts while x and x' are alike; v and w those under x and x' later. At each cut some forms in u, or in v and w,
        are said to be at most 0; at the end down sum(v) - up sum(w). They are if those of the cut before are: taken
        back through a part, each is at most a sum of these times numbers that are not negative, factor by factor.
        With `units` all forms down v[s] - up w[s] are among them, and no others in v and w.
        """
        start = [{(1, 0): 1, (2, 0): -1}, {(1, 0): -1, (2, 0): 1}]
        other = self.listed or self.points[0][1][0] != 0 or self.error is not None or (units and self.at_once)
        need(type(units) is bool and not other, "this rule is not for this claim")
        every = [Cut({"()": 0}, [], start), *map(self.cut, items(cuts)), Cut({"()": 0}, [], [])]
        for cut in every if units else every[-1:]:
            spend(6 * len(cut.states))
            cut.after[:] = self.units(len(cut.states))
        ends, here = [self.step(step, every, units) for step in items(steps)], 0
        need(len(items(order)) == len(self.places), "there is not one step for each part")
        for at, place in zip(order, self.places):
            part, before, after = ends[within(at, 0, len(ends) - 1, "step")]
            need(part == place and before == here, "steps do not follow each other")
            here = after
        loops = not self.every or ends[order[1]][1] == ends[order[1]][2]
        need(here == len(every) - 1 and loops, "steps do not lead to the end, or not to themselves")

    def units(self, many):
        (up, down), _ = self.points[0]
        return [{(1, state): down, (2, state): -1 * up} for state in range(many)]

    def step(self, given, cuts, units):
        """Check a part from a cut to another: all that it leads to is listed, and forms follow from those before."""
        at, before, after, outputs, why = fields(given, "part before after outputs why")
        part = self.parts[within(at, 0, len(self.parts) - 1, "part")]
        old, new = cuts[within(before, 0, len(cuts) - 1, "cut")], cuts[within(after, 1, len(cuts) - 1, "cut")]
        told = {text(value(each)): number for number, each in enumerate(items(outputs))}
        need(len(told) == len(outputs), "an output stands twice")
        reasons, totals = [self.reasons(rows) for rows in fields(why, "before across after")], []
        meets, back = self.met if part.reads else [(0, 0)], {}
        for record, (state, number) in product({a for a, _ in meets}, old.states.items()):
            weights = 0
            moved, many = self.run(at, state, record if part.reads else None)
            spend(many * (9 + part.price))
            for shown, row in moved:
                for left, odds in row:
                    need(shown in told and left in new.states, "an output or a state is not listed")
                    back.setdefault((record, new.states[left]), []).append((told[shown], number, odds))
                    weights += odds
            totals.append(weights)
        same = totals and positive(totals[0]) and all(each == totals[0] for each in totals)
        need(same, "a cut has no state, or weights do not add up to the same")
        for a, b in meets:
            kinds = [(0, 0, new.before, old.before, a == b), (1, 0, new.after, old.before, a != b and not self.at_once)]
            later = not units and (before != 0 or self.at_once) and (a == b or self.at_once)
            for which, keep, forms, others, wanted in [*kinds, (2, 1, new.after, old.after, later)]:
                for number, form in enumerate(forms) if wanted else ():
                    spend(9 + 2 * len(form))
                    for shown, taken in self.taken_back(back, form, (a, a, b), keep, part.price).items():
                        self.bounded(taken, others, reasons[which].get((a, b, shown, number)))
        return at, before, after

    def taken_back(self, back, form, records, keep, price):
        """Return, by what is published, the forms before a part that give a form after it."""
        found = defaultdict(Counter)
        for (copy, state), factor in form.items():
            rows = back.get((records[copy], state), ())
            spend(len(rows) * (3 + price * cost(factor)))
            for shown, number, odds in rows:
                found[shown][copy * keep, number] += odds * factor
        return found

    def reasons(self, rows):
        """Read for what (two records, what is published, a form) a factor, and numbers of forms with multipliers."""
        found = {tuple(items(row)[:4]): (whole(row[4]), factors(row[5:])) for row in items(rows)}
        need({type(each) for about in found for each in about} <= {int}, "a reason is about four numbers")
        need(len(found) == len(rows), "there are two reasons for the same")
        return found

    def bounded(self, form, others, why):
        """Check that a form, times a positive factor, is at most a sum of others, factor by factor."""
        if why:
            need(positive(why[0]), "a factor is not positive")
            form = {key: times(why[0], each) for key, each in form.items()}
            for at, multiplier in why[1]:
                need(not positive(-1 * multiplier), "a multiplier is negative")
                for key, each in others[at].items() if at < len(others) else ():
                    spend(1)
                    form[key] = form.get(key, 0) + -1 * times(multiplier, each)
        need(not any(map(positive, form.values())), "a form is not bounded by others")


def excess(point, pairs, ours, theirs, infinite=False):
    """Return the sum of max(0, P - R P') less delta, times some number, for weights under x and x' of so many outputs,
    and those of all runs; and whether some output has P = R P' above 0."""
    ((up, down), (above, below)), equal, total = point, False, 0
    ours, theirs, every = (1, 1, ours) if ours == theirs else (ours, theirs, times(ours, theirs))
    first, second, less = times(down, theirs), times(up, ours), -1 * times(times(above, down), every)
    spend(len(pairs) * (9 + (cost(first) + cost(second)) * cost(every)))  # no weight is longer than those of all runs
    if positive(less):  # no delta is left after an error: each output has as much to spare
        gaps = [first * v + -1 * (second * w) for v, w, _ in pairs if not v == 0 == w]
        return max([positive(times(below, gap) + less) for gap in gaps]), False
    for v, w, count in pairs:
        gap = first * v + -1 * (second * w)
        if positive(gap) and (w == 0 or not infinite):
            total += times(count, gap)
        equal = equal or gap == 0 != v
    return times(below, total) + less, equal


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


def composition(claim):
    """Establish that runs one after the other, each (ln t, delta)-DP and chosen by what is known, are that together."""
    read_root(claim)
    pairs, whole = composed(claim["guarantees"])
    point = ratio(claim["bound"], 1), ratio(claim["delta"], 0, 1)
    need(not positive(excess(point, pairs, whole, whole)[0]), "the runs lose more together")


def digest(characters):
    return hashlib.sha256(characters.encode("utf-8", "surrogatepass")).hexdigest()


def said(claim, names):
    """Return some fields of a claim, in full but for what is long."""
    texts = [(name, json.dumps(claim[name])) for name in names.split() if name in claim and name != "attained"]
    return ", ".join([f"{name} {text if len(text) <= 200 else '(see the file)'}" for name, text in texts])


def check(certificate, work=1):
    """Return in words what a certificate establishes. Raises Refused."""
    LEFT[0], ROOT[0] = work * WORK, 0
    POWERS.clear()  # what one file is charged does not depend on those before
    version, claim, evidence = fields(certificate, "format claim evidence", "program source")
    within(version, 2, 2, "format of certificates")
    kind, rule = (type(o) is dict and o.get(name) for o, name in ((claim, "question"), (evidence, "rule")))
    needed, others, rules = CLAIMS.get(kind if type(kind) is str else "", ("", "", ""))
    good = type(rule) is str and rule in rules.split()
    need(good, "there is no such claim, or no such rule for it")
    fields(claim, f"question {needed}", others)
    attained, refuted = claim.get("attained", False), rule == "witness"
    need(attained is ("attained" in claim), "what is attained is called true")
    fields(evidence, f"rule {EVIDENCE[rule]}{' witness' * (attained or refuted)}", "event" * (attained or refuted))
    need(("program" in claim) == ("program" in certificate), "a program is missing, or is not read")
    remark, program = "", Program(certificate) if "program" in claim else None
    if kind in BESIDE:
        remark = beside(kind).establish(program, claim, evidence)
    elif kind == "composition":
        composition(claim)
    else:
        remark = establish(program, claim, evidence, refuted)
    if program:
        program = digest(json.dumps(certificate["program"], separators=(",", ":")))
        need(claim["program"] == program, "this is not the program of the claim")
    named = {"mechanism", "parameters", "source"} & claim.keys()
    need(len(named) == 3 * ("source" in certificate), "a source has a text, a name and a hash, or there is none")
    if named:
        source, given = certificate["source"], claim["parameters"]
        need(type(source) is str and claim["source"] == digest(source), "this is not the source of the claim")
        words = [claim["mechanism"], *given, *given.values()]
        need(all(plain(each) and len(each) <= 200 for each in words), "names and parameters are of plain characters")
    return f"{kind}: {said(claim, f'{needed} {others}')}{', attained' * attained}{remark}; by a theorem"


def beside(kind):
    """Import the rule for a kind of claim from the file beside this one, which imports what it needs from this one."""
    spec = importlib.util.spec_from_file_location(kind, Path(__file__).with_name(f"{kind}.py"))
    rule, sys.modules["checker"] = importlib.util.module_from_spec(spec), SimpleNamespace(**globals())
    spec.loader.exec_module(rule)
    del sys.modules["checker"]
    return rule


def establish(program, claim, evidence, refuted):
    """Establish a claim about a program by its evidence, and return what else there is to say."""
    curve, named = "points" in claim, evidence.get("witness")
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
    if "runs" in claim:  # how often it is run, and which (ln t, delta)-DP all runs are together
        need({(y, x) for x, y in program.listed} <= {*program.listed}, "a pair is listed the other way round only")
        runs, bound, delta = items(claim["runs"], 3)
        once = [[claim["bound"], claim.get("delta", 0), runs]]
        composition({**claim, "guarantees": once, "bound": bound, "delta": delta})
    if evidence["rule"] == "forms":
        program.forms(*[evidence[name] for name in ("cuts", "steps", "order", "units")])
    if "law" in claim:
        program.law(program.dataset(claim["dataset"]), claim["law"])
    for pair in (program.listed or [None]) if evidence["rule"] == "datasets" and "law" not in claim else ():
        meets = [[(None, None)] if at is None else program.met for at in program.clients]
        found = [*program.walk(program.along(*pair) if pair else meets)]
        for point in program.points:
            point = program.nearer(point)
            need(not any(positive(program.over(point, *each)[0]) for each in found), "the claim is wrong")
    remark = ", which is always so" * all(delta[0] == delta[1] for _, delta in program.points)
    if program.error is not None:
        alone = any(positive(-1 * program.nearer(point)[1][0]) for point in program.points) and not refuted
        remark += "; of all laws that differ by the error at most" + ", and publish nothing else" * alone
    if program.variances is not None:
        remark += "; of noise on these numbers, at whole orders (between: Canonne, Kamath, Steinke 2020)"
    remark += "; an upper bound for all that is computed from the messages (post-processing)" * program.every
    return remark + "; nothing is published" * (not program.kept and not program.published)


def main(path, work="1"):
    """Check a file with so many times the usual work, print one line and return the exit status."""

    def once(pairs):
        need(len(dict(pairs)) == len(pairs), "a field stands twice")
        return dict(pairs)

    def integer(text):
        need(text.lstrip("-").isdigit() and len(text) <= MOST_DIGITS, "a number is too long, or not whole")
        return int(text)

    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES * int(work) + 1)
        need(len(text) <= MOST_BYTES * int(work), "the file is too large (N behind it allows N times as much)")
        need(not re.search(rb"[^\n -~]", text), "the file has other characters than printable ASCII")
        readers = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), integer)
        certificate = json.loads(text, object_pairs_hook=once, **readers)
        need(nested(certificate) <= MOST_NESTED, "this is nested too deeply")
        print("accepted:", check(certificate, int(work)))
        return 0
    except (Refused, json.JSONDecodeError) as error:
        print(f"refused: {'' if isinstance(error, Refused) else 'this is not JSON: '}{error}")
    except Exception as error:
        print(f"refused: no certificate: {type(error).__name__}")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]) if sys.argv[1:] else __doc__)
