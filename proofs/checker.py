"""An independent checker of tightdp's certificates: standard library only, to be read from top to bottom.

    python proofs/checker.py answer.json          exit status 0: accepted; 1: refused, with the reason

WHAT AN ACCEPTED CERTIFICATE ESTABLISHES: the law of its core program (see `Program`) satisfies its claim. To be trusted
are: that the core program says what the mechanism says (read it beside the Python function; the parts of an output are
published one by one), this file, Python's integers, and these facts:

  single outputs   P(E|x) <= R P(E|x') for all events E exactly if it holds for all single outputs
  exchanges        a renaming that maps the lines of a program onto themselves maps its law onto itself; exchanges of
                   two clients generate all orders of the clients that they connect

Claims, with R = e^epsilon, the `bound`; a tight claim says, too, that its witness attains it:
  privacy     sum over y of max(0, P(y|x) - R P(y|x')) <= delta for all neighbours x, x'; for delta = 0 this says that
              P(y|x) <= R P(y|x') for all outputs y             violation    this is false for the witness
  accuracy    P(|output - target| <= alpha given x) >= 1 - beta for all datasets x
                                                                inaccuracy   this is false for the witness
Evidence (rules):
  witness     one pair of neighbours and what is published, or one dataset: for violations, and for what is tight
  datasets    every dataset, or one of each class under exchanges of clients; laws are computed by elimination
"""

import json
import operator
import re
import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import lcm
from pathlib import Path

MOST_BYTES, MOST_DEPTH, MOST_DIGITS, MOST_ROWS, MOST_WORK = 32_000_000, 40, 20_000, 100_000, 100_000_000
WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[()]|[^\s,:;|{}()"]+')  # blanks and , : ; | { } only separate, for the eye
UNDEFINED = type("Undefined", (), {})()  # what an operation gives where Python refuses; nothing may publish it
UNSET = type("Unset", (), {})()  # a join that has taken nothing yet


class Refused(Exception):
    """The certificate does not establish its claim."""


def need(condition, reason):
    if not condition:
        raise Refused(reason)


def read_word(words, depth=0):
    """Take the last of some words: a name as itself, a constant as ("=", value)."""
    need(words and depth < MOST_DEPTH, "something is missing, or nests too deeply")
    word, items = words.pop(), []
    if word == "(":
        while words[-1] != ")":
            items.append(read_word(words, depth + 1)[1])
        words.pop()
        return "=", tuple(items)
    if word[0] in "xdv" and not depth:
        return word
    if word[0] == '"' or word in ("True", "False", "None"):
        return "=", json.loads(word) if word[0] == '"' else {"True": True, "False": False, "None": None}[word]
    need(re.fullmatch(r"-?[0-9]+(/[0-9]+)?", word) and len(word) < MOST_DIGITS, f"cannot read {word[:40]!r}")
    number = Fraction(word)
    return "=", number.numerator if number.denominator == 1 else number


def read_words(words):
    words = words[::-1]
    return list(iter(lambda: read_word(words) if words else None, None))


def read_value(text, least=None):
    ((_, value),) = read_words(WORD.findall(text))
    need(least is None or (isinstance(value, (int, Fraction)) and value >= least), f"{text[:40]!r} is out of range")
    return value


def numbers(function):
    """Make an operation take numbers only, and give ints where they are whole."""

    def checked(*values):
        if not all(isinstance(value, (int, Fraction)) for value in values):
            raise TypeError
        found = Fraction(function(*values))
        need(max(abs(found.numerator), found.denominator).bit_length() < MOST_DIGITS, "a value grows too large")
        return found.numerator if found.denominator == 1 else found

    return checked


OPERATIONS = {name: numbers(getattr(operator, name)) for name in ("add", "sub", "mul", "neg", "abs", "floordiv", "mod")}
OPERATIONS |= {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
OPERATIONS |= {"div": numbers(lambda a, b: Fraction(a) / b), "not": operator.not_, "bool": bool}
OPERATIONS |= {"tuple": lambda *values: need(len(repr(values)) < MOST_DIGITS, "a tuple grows too long") or values}
JOINS = {"sum": OPERATIONS["add"], "min": numbers(min), "max": numbers(max), "xor": operator.ne, "first": None}
JOINS |= {"and": lambda a, b: a and b, "or": lambda a, b: a or b}
UNORDERED = {"add", "mul", "eq", "ne", *JOINS}


class Program:
    """Lines that define values and use them; a line uses only what lines above it define.

    x0 = input 0 0                        leaf 0 of the record of client 0
    d1 = draw { False 4/5 | True 1/5 }    a draw: outcomes with their probabilities
    d2 = draw x0 { 0: 0 1/2 | 0: 1 1/2 | 1: 0 1 }     a draw whose law depends on a value
    v3 = add x0 d1                        an operation
    v4 = case d1 { False: v3 | True: 0 }  one of several values
    v5 = sum                              an operation on any number of operands,
    take v5 v3                            which it takes one by one, all of them before it is used
    take v6 d1 True v3                    (`v6 = first`: v3 where d1 is True and nothing was taken before)
    fails v7 / observe v7                 v7 must never be true / runs where v7 is not true do not count
    target v8 / output v3 v4              what the output estimates / the values that are published
    """

    def __init__(self, lines):
        self.kinds, self.steps, self.order, self.cuts, self.used, self.single = {}, [], [], [0], set(), {}
        self.before, self.states, self.mode, self.work = [], [], None, 0
        for line in lines:
            words = WORD.findall(line)
            if not line.startswith("#"):  # a remark
                head, rest = (words[:3], words[3:]) if "=" in words[:2] else ([None, "", words[0]], words[1:])
                need(self.read(head[0], head[2], read_words(rest)), f"{line[:60]!r} is no line, or out of place")
        self.output = [name for name in self.single["output"] if isinstance(name, str)]
        self.target = self.single.get("target", [("=", None)])[0]
        self.cuts.append(len(self.steps))
        self.last = {name: at for at, step in enumerate(self.steps) for name in step[3] if isinstance(name, str)}
        self.full = {step[1]: at for at, step in enumerate(self.steps)}  # where a name has its whole value

    def read(self, name, kind, found):
        """Take in one line; return whether it fits."""
        names = {operand for operand in found[kind == "take" :] if isinstance(operand, str)}
        constants, detail = [operand[1] for operand in found if not isinstance(operand, str)], kind
        good, self.used = names <= set(self.kinds), self.used | names
        if kind == "draw":
            good &= len(constants) % (3 if names else 2) == 0 and names <= {found[0]}
            detail, found = read_laws(constants, 3 if names else 2), found[:1] if names else [("=", True)]
        elif kind == "case":
            good &= all(isinstance(key, tuple) for key in found[1::2])
            detail, found = {key[1]: at for at, key in enumerate(found[1::2], 1)}, found[:1] + found[2::2]
            good &= len(found) == 1 + len(detail)
        elif kind == "input":
            detail, found = tuple(constants), []
            good &= len(detail) == 2 and detail not in [step[2] for step in self.steps] and not names
            if detail[0] not in self.order:
                self.order.append(detail[0])
                self.cuts.append(len(self.steps))
        elif kind == "take":
            name, (joined, detail) = found[0], self.kinds[found[0]]
            good &= joined == "join" and name not in self.used and len(found) == (4 if detail == "first" else 2)
        elif kind in ("output", "target"):
            good &= kind not in self.single and name is None
            self.single[kind] = found
            return good
        elif name is not None:
            good &= kind in OPERATIONS or (kind in JOINS and not found)
            kind = "apply" if kind in OPERATIONS else "join"
        good &= name is not None or (kind in ("fails", "observe") and len(found) == 1)
        if kind not in ("take", "fails", "observe"):
            good &= name[0] in "xdv" and name not in self.kinds
            self.kinds[name] = (kind, detail)
        self.steps.append((kind, name, detail, tuple(found)))
        return good

    def spend(self, amount):
        self.work += amount
        need(self.work <= MOST_WORK, "checking takes too long")

    def advance(self, state, at, dataset, keep, wanted):
        """Carry a table {values of the columns: weight} over a line; runs with values not `wanted` are dropped."""
        table, columns = state
        kind, name, detail, found = self.steps[at]
        place = {each: where for where, each in enumerate(columns)}
        get = [(place.get(each, -1), each[1]) for each in found]
        # a column goes when no later line needs it, unless it is to be kept
        stay = [each for each in columns if each != name and (each in keep or self.last.get(each, 0) > at)]
        kept, added = [place[each] for each in stay], name in keep or self.last.get(name, 0) > at
        whole = self.full.get(name) == at and name in self.output
        goal = (wanted[name],) if name in wanted and whole else ()
        self.spend(1 + len(table) * (1 + max(map(int.bit_length, table.values()), default=0) // 2000))
        fresh = {}
        for row, weight in table.items():
            values = [constant if where < 0 else row[where] for where, constant in get]
            rest = tuple([row[where] for where in kept])
            for value, share in self.outcomes(kind, detail, values, dataset):
                need(not whole or value not in (UNDEFINED, UNSET), "an output is undefined")
                if not goal or goal[0] == value:
                    key = (*rest, value) if added else rest
                    fresh[key] = fresh.get(key, 0) + weight * share
        need(len(fresh) <= MOST_ROWS, "a table of the elimination grows too large")
        return fresh, [*stay, name] if added else stay

    def outcomes(self, kind, detail, values, dataset):
        """What a line can give on these operands, with integer weights."""
        if kind == "input":
            return ((dataset[detail[0]][detail[1]], 1),)
        if kind == "draw":
            return detail[1].get(values[0], ((UNDEFINED, detail[0]),))
        if kind == "case":
            return ((values[detail[values[0]]] if values[0] in detail else UNDEFINED, 1),)
        if kind in ("fails", "observe"):
            need(isinstance(values[0], bool), "a condition is no truth value")
            need(kind == "observe" or not values[0], "a run of the program fails")
            return ((None, 1),) if values[0] or kind == "fails" else ()
        if kind == "join" or (kind == "take" and values[0] is UNSET and detail != "first"):
            return ((UNSET if kind == "join" else values[1], 1),)
        if detail == "first":
            taken = UNDEFINED if values[1] is UNDEFINED else values[3] if values[1] == values[2] else UNSET
            return ((taken if values[0] is UNSET else values[0], 1),)
        if UNDEFINED in values:
            decided = {"and": False, "or": True}.get(detail, UNDEFINED)
            return ((decided if decided in values else UNDEFINED, 1),)
        try:
            return (((OPERATIONS if kind == "apply" else JOINS)[detail](*values), 1),)
        except (ArithmeticError, TypeError, ValueError):
            return ((UNDEFINED, 1),)

    def run(self, dataset, keep=(), wanted=()):
        """The table after the last line; what the dataset before this one began with is not done again."""
        records, mode = [dataset[client] for client in self.order], (set(keep), dict(wanted))
        if mode != self.mode:
            self.mode, self.before, self.states = mode, [], []
        differs = [a != b for a, b in zip(self.before, records)] + [True]
        del self.states[differs.index(True) + 1 :]
        for part in range(len(self.states), len(records) + 1):
            state = self.states[-1] if part else ({(): 1}, [])
            for at in range(self.cuts[part], self.cuts[part + 1]):
                state = self.advance(state, at, dataset, *mode)
            self.states.append(state)
        self.before = records
        return self.states[-1]

    def law(self, dataset):
        """The law on a dataset, {(output, target): weight}, and the sum of its weights."""
        table, columns = self.run(dataset, {*self.output, self.target})
        place, found = {name: at for at, name in enumerate(columns)}, {}
        for row, weight in table.items():
            output = tuple(row[place[name]] for name in self.output)
            key = output, row[place[self.target]] if self.target in place else self.target[1]
            found[key] = found.get(key, 0) + weight
        need(found, "every run is dropped")
        return found, sum(found.values())

    def probability(self, dataset, event):
        """The probability that published values are these."""
        need(set(event) <= set(self.output), "the witness is about more than what is published")
        return Fraction(*(sum(self.run(dataset, (), given)[0].values()) for given in (event, ())))

    def exchange(self, one, other, names):
        """Check that exchanging two clients, and renaming other values, maps the lines onto themselves."""
        need(set(names) == set(names.values()), "a renaming is not one to one")
        change, new, lines = {one: other, other: one}, lambda operand: names.get(operand, operand), Counter()
        for kind, name, detail, found in self.steps:
            moved = [new(operand) for operand in found]
            need(detail != "first" or (moved == list(found) and new(name) == name), "an ordered join is renamed")
            order = sorted if isinstance(detail, str) and detail in UNORDERED else list
            lines[kind, name, repr(detail), *order(map(repr, found))] += 1
            detail = (change.get(detail[0], detail[0]), detail[1]) if kind == "input" else detail
            lines[kind, new(name), repr(detail), *order(map(repr, moved))] -= 1
        need(
            not any(lines.values()) and new(self.target) == self.target, f"clients {one}, {other} are not treated alike"
        )


def read_laws(words, each):
    """The laws of a draw: their common denominator, and {value of the selector: [(outcome, integer weight), ...]}."""
    keys = words[::3] if each == 3 else [True] * len(words)
    laws, below = {}, lcm(*(Fraction(mass).denominator for mass in words[each - 1 :: each]))
    for key, outcome, mass in zip(keys, words[each - 2 :: each], words[each - 1 :: each]):
        laws.setdefault(key, []).append((outcome, int(mass * below)))
        need(mass >= 0, "a law has a negative probability")
    need(all(sum(mass for _, mass in law) == below for law in laws.values()), "a law does not sum to 1")
    return below, laws


class Datasets:
    """All datasets and pairs of neighbours of a certificate, or one of each class under exchanges of clients."""

    def __init__(self, program, given, exchanges):
        self.records = [read_value(record) for record in given["records"]]
        self.n, self.relation, self.program, self.laws = given["clients"], given["neighbours"], program, {}
        need(self.n < 1000 and set(program.order) <= set(range(self.n)), "there are other clients in the program")
        self.fixed, group = True, {client: {client} for client in range(self.n)}
        for one, other, names in exchanges:
            program.exchange(one, other, names)
            self.fixed &= all(names.get(name, name) == name for name in program.output)
            joined = group[one] | group[other]
            group |= dict.fromkeys(joined, joined)
        self.groups = [sorted(clients) for client, clients in group.items() if client == min(clients)]
        self.after = {a: [b for b in self.records if self.changes(a, b)] for a in self.records}

    def changes(self, a, b):
        """Whether a record may become another one."""
        need(self.relation in ("replace-one", "add-remove", "unit-step", "unit-all"), "no such neighbours")
        if self.relation == "add-remove":
            return (a[0] is None) != (b[0] is None)
        return a != b and (self.relation == "replace-one" or abs(a[0] - b[0]) <= 1)

    def neighbours(self, x, y):
        changed = [(a, b) for a, b in zip(x, y) if a != b]
        some = len(changed) == 1 or (changed and self.relation == "unit-all")
        return len(x) == len(y) == self.n and some and all(b in self.after[a] for a, b in changed)

    def every(self, letters):
        """Yield one arrangement of letters on the clients of each class."""
        for parts in product(*(combinations_with_replacement(letters, len(group)) for group in self.groups)):
            self.program.spend(100 * self.n)
            found = sorted(
                (pair for group, part in zip(self.groups, parts) for pair in zip(group, part)), key=lambda pair: pair[0]
            )
            yield tuple(a for _, a in found)

    def pairs(self):
        """Yield one pair of neighbours of each class."""
        if self.relation == "unit-all":
            letters = [(a, b) for a in self.records for b in (a, *self.after[a])]
            yield from (pair for both in self.every(letters) if len(set(pair := tuple(zip(*both)))) == 2)
            return
        for x in self.every(self.records):
            for client in [client for group in self.groups for client in {x[each]: each for each in group}.values()]:
                yield from ((x, (*x[:client], b, *x[client + 1 :])) for b in self.after[x[client]])

    def law(self, x):
        """The law on a dataset, or on one of its class where the outputs are not renamed."""
        sort = {client: client for client in range(self.n)}
        for group in self.groups if self.fixed else []:
            sort |= zip(group, sorted(group, key=lambda client: self.records.index(x[client])))
        x = tuple(x[sort[client]] for client in range(self.n))
        self.program.spend(50 * self.n)
        if x not in self.laws:
            self.laws[x] = self.program.law(x)
        return self.laws[x]

    def excess(self, x, y, bound):
        """The sum over outputs of max(0, P(output|x) - bound P(output|y))."""
        (ours, whole), (theirs, other) = self.law(x), self.law(y)
        self.program.spend(len(ours))
        up, down = bound.numerator * whole, bound.denominator * other
        return Fraction(sum(max(0, w * down - up * theirs.get(key, 0)) for key, w in ours.items()), whole * down)

    def accurate(self, x, alpha):
        """The probability that the output is within alpha of the target."""
        law, whole = self.law(x)
        return Fraction(sum(weight for ((y,), goal), weight in law.items() if abs(y - goal) <= alpha), whole)


def check(certificate):
    """Return in words what a certificate establishes. Raises Refused."""
    claim, evidence = certificate["claim"], certificate["evidence"]
    kind, rule, tight = claim["kind"], evidence["rule"], claim.get("tight") is True
    data = Datasets(Program(certificate["program"]), certificate, evidence.get("exchanges", []))
    x, y = (tuple(read_value(evidence.get(name, "()"))) for name in ("x", "x_prime"))
    need(kind in ("privacy", "violation", "accuracy", "inaccuracy"), "there is no such claim")
    need(
        rule == "datasets" or (rule == "witness" and kind in ("violation", "inaccuracy")), "no evidence for this claim"
    )
    if kind in ("accuracy", "inaccuracy"):
        alpha, least = read_value(claim["alpha"], 0), 1 - read_value(claim["beta"], 0)
        if tight or kind == "inaccuracy":
            need(len(x) == data.n and set(x) <= set(data.records), "the witness is no dataset")
            found = data.accurate(x, alpha)
            need(found == least if tight else found < least, "the witness does not show it")
        every = data.every(data.records) if kind == "accuracy" else []
        need(all(data.accurate(each, alpha) >= least for each in every), "the claim is wrong")
        return f"{kind}: error at most {alpha} with probability at least {least}{', attained' * tight}"
    infinite, delta = claim["bound"] == "inf", read_value(claim.get("delta", "0"), 0)
    need(not infinite or (kind == "privacy" and tight and not delta), "an infinite bound says only that it is attained")
    bound, said = Fraction(0 if infinite else read_value(claim["bound"], 1)), f"e^epsilon = {claim['bound'][:60]}"
    if tight or kind == "violation":
        need(data.neighbours(x, y), "the witness is no pair of neighbours")
        if delta:
            over = data.excess(x, y, bound) - delta
        else:
            event = {name: read_value(text) for name, text in evidence["event"].items()}
            ours, theirs = (data.program.probability(each, event) for each in (x, y))
            need(ours > 0 and not (infinite and theirs), "the witness does not show it")
            over = 0 if infinite else ours - bound * theirs
        need(over > 0 if kind == "violation" else over == 0, "the witness does not show it")
    pairs = [] if infinite or kind == "violation" else data.pairs()
    need(all(data.excess(*pair, bound) <= delta for pair in pairs), "the claim is wrong")
    return f"{kind}: {said}, delta = {str(delta)[:60]}{', attained' * tight}"


def main(path):
    """Check a file, print one line and return the exit status."""
    sys.set_int_max_str_digits(MOST_DIGITS)
    try:
        with Path(path).open("rb") as file:
            text = file.read(MOST_BYTES + 1)
        need(len(text) <= MOST_BYTES, "the file is too large")
        print("accepted:", check(json.loads(text)))
        return 0
    except Refused as reason:
        print("refused:", reason)
    except (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        print("refused: this is no certificate:", type(error).__name__, repr(str(error)[:80]))
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
