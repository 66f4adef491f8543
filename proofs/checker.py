"""An independent checker of tightdp's certificates: standard library only, to be read from top to bottom.

    python proofs/checker.py answer.json          exit status 0: accepted; 1: refused, with the reason

WHAT AN ACCEPTED CERTIFICATE ESTABLISHES: the law of its core program has the claimed property, with R = e^epsilon:
  privacy    sum over y of max(0, P(y|x) - R P(y|x')) <= delta for all neighbours x, x'; without delta this says that
             P(E|x) <= R P(E|x') for all events E. Tight: the pair that is named attains it
  accuracy   P(the output, which says that an error is too large, is True | x) <= beta for all datasets x
  violation, inaccuracy: that this is false for the pair, or the dataset, that is named
To be trusted are: that the core program says what the mechanism says (read it beside the Python function; the parts of
an output are published one by one), this file, Python's integers, and the facts that `walk` and `forms` state.
Rules of evidence: `witness`, for what is false; `datasets`: all of them; `forms`: for many clients, or any number.
"""

import json
import operator
import re
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

MOST_BYTES, MOST_DEPTH, MOST_DIGITS, MOST_ROWS, MOST_WORK = 32_000_000, 40, 20_000, 100_000, 100_000_000
WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[()]|[^\s,:;|{}()"]+')  # blanks and , : ; | { } only separate, for the eye
LINE = re.compile(r"(?:([xdvs]\w*) = )?([a-z]+) ?(.*)|#.*")  # name, kind and operands, or a remark
UNDEFINED = type("Undefined", (), {})()  # what an operation gives where Python refuses; nothing may publish it
UNSET = type("Unset", (), {})()  # a join that has taken nothing yet


class Refused(Exception):
    """The certificate does not establish its claim."""


def need(condition, reason):
    if not condition:
        raise Refused(reason)


def ratio(text, least=0):
    """Read p/q as numerator and denominator."""
    above, _, below = text.partition("/")
    above, below = int(above), int(below or 1)
    need(len(text) < MOST_DIGITS and below > 0 and above >= least * below, f"{text[:40]!r} is out of range")
    return above, below


def words_of(text):
    """Read names, as themselves, and constants, as ("=", value)."""
    stack = [[]]
    for word in WORD.findall(text):
        if word == "(":
            stack.append([])
        elif word[0] in "xdvs" and len(stack) == 1:
            stack[0].append(word)
        else:
            value = tuple(stack.pop()) if word == ")" else read_plain(word)
            stack[-1].append(value if len(stack) > 1 else ("=", value))
        need(len(stack) < MOST_DEPTH, "a value nests too deeply")
    (found,) = stack
    return found


def read_plain(word):
    if word[0] == '"' or word in ("True", "False", "None"):
        return json.loads({"True": "true", "False": "false", "None": "null"}.get(word, word))
    need(re.fullmatch(r"-?[0-9]+(/[0-9]+)?", word) and len(word) < MOST_DIGITS, f"cannot read {word[:40]!r}")
    number = Fraction(word)
    return number.numerator if number.denominator == 1 else number


def constant(text):
    ((_, value),) = words_of(text)
    return value


def exact(function, numeric=True):
    """Make a function undefined where an operand is, or where Python refuses; numbers stay exact."""

    def checked(*values):
        numbers = not numeric or all(isinstance(value, (int, Fraction)) for value in values)
        try:
            found = function(*values) if numbers and not {UNDEFINED, UNSET} & {*values} else UNDEFINED
        except (ArithmeticError, TypeError, ValueError):
            return UNDEFINED
        number = isinstance(found, (int, Fraction))
        size = max(abs(found.numerator), found.denominator).bit_length() if number else len(repr(found))
        need(size < MOST_DIGITS, "a value grows too large")
        return found.numerator if numeric and number and found.denominator == 1 else found

    return checked


def joined(function, numeric=True, decided=None):
    """A join of what was taken and one more value; where one of them is `decided`, the other does not matter."""
    other = exact(function, numeric)
    return lambda a, b: b if a is UNSET and b is not UNSET else decided if decided in (a, b) != decided else other(a, b)


OPERATIONS = {name: exact(getattr(operator, name)) for name in ("add", "sub", "mul", "neg", "abs", "mod", "floordiv")}
OPERATIONS |= {name: exact(getattr(operator, name), False) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
OPERATIONS |= {"div": exact(lambda a, b: Fraction(a) / b), "tuple": exact(lambda *values: values, False)}
OPERATIONS |= {"not": exact(operator.not_, False), "bool": exact(bool, False)}
JOINS = {"sum": joined(operator.add), "min": joined(min), "max": joined(max), "xor": joined(operator.ne, False)}
JOINS |= {"and": joined(lambda a, b: a and b, False, False), "or": joined(lambda a, b: a or b, False, True)}
JOINS["first"] = lambda held, condition, wanted, value: (
    held if held is not UNSET else UNDEFINED if condition is UNDEFINED else value if condition == wanted else UNSET
)


class Program:
    """Lines that define values, one after the other, in parts: before, of and after the clients.

    The part `client "all"` is that of every client, however many there are: what it uses before it defines it comes
    from the client before, or first from the lines above. An operation takes the values of names and constants.
    """

    def __init__(self, given):
        self.records, claim = [constant(record) for record in given["records"]], given["claim"]
        self.steps, self.joins, self.outputs, self.work, self.observes = [], {}, [], 0, False
        self.clients, self.starts, self.n, self.kept = [None], [0], given["clients"], "accuracy" in claim["kind"]
        for line in given["program"]:
            words = LINE.fullmatch(line)
            self.read(words[1], words[2], words_of(words[3] or ""))
        self.starts.append(len(self.steps))
        self.every, order = "all" in self.clients, self.clients[1:]
        few = type(self.n) is int and self.n <= 10_000 and {*order} <= {None, *range(self.n)}
        need(order == ["all", None] and self.n == "all" if self.every else few, "the clients are others")
        need(None not in order[:-1] and len({*order}) == len(order), "the parts are out of place")
        (found,) = self.outputs
        self.full = {step[0]: at for at, step in enumerate(self.steps)}  # where a name has its last value
        self.last = {name: at for at, step in enumerate(self.steps) for name in step[1] or () if isinstance(name, str)}
        self.told = {self.full[name]: name for name in found if isinstance(name, str)}
        before = {step[0] for step in self.steps[: self.starts[1]]}
        lasting = {name for name in before if self.every and self.last.get(name, -1) >= self.starts[1]}
        self.last |= dict.fromkeys({*self.told.values()} if self.kept else lasting, len(self.steps))
        self.up, self.down = (1, 0) if self.kept or claim["bound"] == "inf" else ratio(claim["bound"], 1)
        self.delta, self.beta = ratio(claim.get("delta", "0")), ratio(claim["beta"] if self.kept else "0")
        self.relate(given["neighbours"])
        self.explore()

    def read(self, name, kind, found):
        """Take in one line: its name, operands, and what it gives on a record and their values, [(value, weight)]."""
        constants, add = [word[1] for word in found if isinstance(word, tuple)], self.steps.append
        need(bool(name) == (kind not in (None, "client", "end", "output", "take", "fails", "observe")), "no such line")
        need(not self.outputs or kind is None, "there are lines after the output")
        if kind in ("client", "end"):  # here begins the part of a client / what follows all clients
            self.clients.append(constants[0] if kind == "client" else None)
            self.starts.append(len(self.steps))
        elif kind == "output":  # output v3 v4: the values that are published
            self.outputs.append(found)
        elif kind == "draw":  # d1 = draw { False 4 | True 1 }: outcomes with their odds, here 4 to 1; or odds that
            rows, laws = iter(constants), {}  # depend on a value: d2 = draw x0 { 0: 0 1 | 0: 1 1 | 1: 0 2 }
            chosen = found[: isinstance(found[0], str)]
            for first in rows:
                key, outcome = (first, next(rows, None)) if chosen else (True, first)
                laws.setdefault(key, []).append((outcome, odds := next(rows, None)))
                need(type(odds) is int and odds >= 0, "odds are no whole numbers, or negative")
            total, *others = [sum(odds for _, odds in law) for law in laws.values()]
            need(total > 0 and all(each == total for each in others), "odds have different sums")
            add((name, chosen, lambda _, value=True: laws.get(value, [(UNDEFINED, total)])))
        elif kind == "case":  # v4 = case d1 { False: v3 | True: 0 }: one of several values
            places = {word[1]: at for at, word in enumerate(found[1::2], 1) if isinstance(word, tuple)}
            need(len(found) == 1 + 2 * len(places), "the values of a case are not all different")
            places[UNDEFINED] = -1
            add((name, found[:1] + found[2::2] + [("=", UNDEFINED)], lambda _, *of: [(of[places.get(of[0], -1)], 1)]))
        elif kind == "input":  # x0 = input 1: leaf 1 of the record of the client
            add((name, None, lambda record: [(record[constants[0]], 1)]))
        elif kind == "fails":  # fails v7: v7 must never be true
            add(("", found, lambda _, value: need(value is False, "a run of the program fails") or [(None, 1)]))
        elif kind == "observe":  # observe v7: runs where v7 is not true do not count
            self.observes = True
            add(("", found, lambda _, value: need(type(value) is bool, "a condition is none") or [(None, 1)] * value))
        elif kind in JOINS:  # v5 = sum: an operation on any number of operands, which it takes one by one: take v5 v3;
            self.joins[name] = JOINS[kind]  # v6 = first, take v6 d1 True v3: v3 where d1 is True and v6 took nothing
            add((name, [], lambda _: [(UNSET, 1)]))
        elif kind is not None:  # v3 = add x0 d1: an operation
            function = self.joins[found[0]] if kind == "take" else OPERATIONS[kind]
            add((name or found[0], found, lambda _, *values: [(function(*values), 1)]))

    def spend(self, weights):
        self.work += 3 + sum(1 + each.bit_length() // 2000 for each in weights)
        need(self.work <= MOST_WORK, "checking takes too long")

    def explore(self):
        """Find all states (the values that later lines need) before every line, and the moves from each to the next."""
        begun = {name: at for at, (name, *_) in reversed([*enumerate(self.steps)])}
        size, at = len(self.steps), 0
        live = [sorted(name for name, last in self.last.items() if begun[name] < at <= last) for at in range(size + 1)]
        self.states, self.moves, self.back = ([{} for _ in range(size + 1)] for _ in range(3))
        self.states[0] = {(): 0}
        while at < size:
            name, found, function = self.steps[at]
            for record in self.records if found is None else [None]:
                moves = self.moves[at].setdefault(record, {})
                for state in [each for each in self.states[at] if each not in moves]:
                    known, moves[state] = dict(zip(live[at], state)), []
                    values = [known[each] if isinstance(each, str) else each[1] for each in found or ()]
                    self.work += 40
                    for value, odds in function(record, *values):
                        need(at not in self.told or value not in (UNDEFINED, UNSET), "an output is undefined")
                        known[name] = value
                        told = (value,) if at in self.told and not self.kept else ()
                        after = tuple([known[each] for each in live[at + 1]])
                        moves[state].append((told, after, odds))
                        self.back[at].setdefault(told, {}).setdefault((record, after), []).append((state, odds))
                        self.states[at + 1][after] = 0
            at += 1
            self.spend([])
            need(len(self.states[at]) <= MOST_ROWS, "there are too many states")
            if self.every and at == self.starts[2]:
                need(live[at] == live[self.starts[1]], "a client does not leave what the next one needs")
                before = self.states[self.starts[1]]
                self.states[at] = self.states[self.starts[1]] = before | self.states[at]
                at = at if len(before) == len(self.states[at]) else self.starts[1]

    def relate(self, relation):
        """Find what records may become in a neighbouring dataset."""
        self.listed = [] if isinstance(relation, str) else [constant(pair) for pair in relation]
        kinds = {"replace-one": lambda a, b: a != b, "add-remove": lambda a, b: (a[0] is None) != (b[0] is None)}
        kinds |= {kind: lambda a, b: a != b and abs(a[0] - b[0]) <= 1 for kind in ("unit-step", "unit-all")}
        self.same, self.at_once = [(a, a, False) for a in self.records], relation == "unit-all"
        every = product(self.records, self.records) if not self.listed else ()
        self.changes = [(a, b, not self.at_once) for a, b in every if not self.kept and kinds[relation](a, b)]

    def meets(self, part):
        """All records of x and x' in a part, and whether they make the one difference between x and x'."""
        return [(None, None, False)] if self.clients[part] is None else self.same + self.changes

    def along(self, x, y):
        """Every part, with what it meets on two neighbours, or on one dataset."""
        every = [(a, b, a != b and not self.at_once and not self.listed) for a, b in zip(x, y)]
        good = {*every} <= {*self.same, *self.changes} and sum(first for *_, first in every) <= 1
        size = len(x) == len(y) == (len(x) or 1 if self.every else self.n)
        need(size and (good or (x, y) in self.listed), "the witness is no pair of neighbours")
        for part, client in enumerate(self.clients):
            found = every if client == "all" else [(None, None, False) if client is None else every[client]]
            yield from ((part, [each]) for each in found)

    def carried(self, part, table, a, b):
        """Carry {state: (its weight under x, under x')} over a part: one such table for all that it may publish."""
        found = {(): dict(table)}
        for at in range(*self.starts[part : part + 2]):
            before, found = found, {}
            for told, copy in product(before, (0, 1)):
                moves = self.moves[at][(a, b)[copy] if self.steps[at][1] is None else None]
                self.spend(weights[copy] for weights in before[told].values())
                for state, weights in before[told].items():
                    for more, after, odds in moves[state] if weights[copy] != 0 else ():
                        sums = found.setdefault(told + more, {}).setdefault(after, [0, 0])
                        sums[copy] += weights[copy] * odds
            need(len(found) <= MOST_ROWS, "too much is published at once")
        return found

    def walk(self, parts, published=None):
        """Return {({state: weights}, for how many outputs), ...} for all records that parts meet.

        Which outputs these are does not matter to a claim, so that many datasets, such as all orders of the same
        records, lead to the same. Only what is `published` counts, where that is given.
        """
        found = {(frozenset([(frozenset([((), (1, 1))]), 1)]), False)}
        for at, (part, meets) in enumerate(parts):
            wanted, before, found = published and published[at] and constant(published[at]), found, set()
            for (left, changed), (a, b, first) in product(before, meets):
                if not (changed and first):
                    tables = {}
                    for times, copies in ((times, self.carried(part, table, a, b)) for table, times in left):
                        for sums in copies.values() if not wanted else [copies.get(wanted, {})]:
                            key = frozenset((after, tuple(weights)) for after, weights in sums.items())
                            tables[key] = tables.get(key, 0) + times
                    found.add((frozenset(tables.items()), changed or first))
            need(sum(len(left) for left, _ in found) <= MOST_ROWS, "there are too many datasets")
        return [left for left, _ in found]

    def over(self, left, published=None):
        """What the claim bounds, less its bound, times some number, for one of `walk`; and whether it is attained."""
        tables = [([sum(pair[copy] for _, pair in table) for copy in (0, 1)], times) for table, times in left]
        ours, theirs = (sum(times * weights[copy] for weights, times in tables) for copy in (0, 1))
        need((ours > 0 and theirs > 0) or published, "every run is dropped")
        need(not published or (self.delta[0] == 0 and not self.observes and not self.kept), "all outputs count here")
        if self.kept:
            need({state for table, _ in left for state, _ in table} <= {(False,), (True,)}, "no truth value comes out")
            missed = [times * pair[0] for table, times in left for state, pair in table if state[0]]
            over = self.beta[1] * sum(missed) - self.beta[0] * ours
            return over, over == 0
        ours, theirs = (
            (1, 1) if published else (ours, theirs)
        )  # some of the weights, of which all datasets have one sum
        tables = [(v, w, times) for (v, w), times in tables if self.down != 0 or w == 0]  # down = 0 is for R = inf
        gaps = [((self.down or 1) * theirs * v - self.up * ours * w, times, v) for v, w, times in tables]
        over = sum(gap * times for gap, times, _ in gaps if gap > 0)
        over = self.delta[1] * over - self.delta[0] * (self.down or 1) * ours * theirs
        return over, over == 0 and (self.delta[0] != 0 or any(gap == 0 < v for gap, _, v in gaps))

    def taken_back(self, part, forms):
        """Yield the forms before a part that give those after it, for all that the part may meet and publish."""
        for form, (a, b, first) in product(forms, self.meets(part)):
            left = [form] if not first or all(copy for copy, _ in form) else []
            for at in reversed(range(*self.starts[part : part + 2])):
                before, left = left, []
                for old, arrows in product(before, self.back[at].values()):
                    new = {}
                    for (copy, after), value in old.items():
                        record = (a, a, b)[copy] if self.steps[at][1] is None else None
                        for state, odds in arrows.get((record, after), ()):
                            new[copy, state] = new.get((copy, state), 0) + odds * value
                    self.spend(new.values())
                    left += [new] if max(new.values(), default=0) > 0 else []
                need(len(left) <= MOST_ROWS, "too much is published at once")
            for old in left:
                new = {(0, state): old.get((1, state), 0) + old.get((2, state), 0) for _, state in old if first} or old
                if max(new.values()) > 0:
                    yield new

    def forms(self, cuts, why):
        """Establish P(y|x) <= R P(y|x') for all neighbours x, x' and outputs y, with R = up / down.

        Given what is published, a part moves weights linearly. Let u be the weights of the states at a cut between
        parts while x and x' are alike; v and w those under x and x' later. At each cut some forms in u, or in v and w,
        are said to be at most 0; at the end down sum(v) - up sum(w). They are if those of the cut before are: taken
        back through a part, each is at most (factor by factor; weights are not negative) a sum of these times numbers
        that are not negative: `why` has the numbers. Without `after`, the forms in v and w are down v[s] - up w[s] for
        all states s: taken back, they are sums of such.
        """
        need(not self.observes and not self.listed and self.delta[0] == 0, "there are no forms for this claim")
        up, down = self.up, self.down
        units = not self.at_once and not any("after" in cut for cut in cuts)
        states = [self.states[at] for at in self.starts[1:]]
        cuts = cuts * (2 if self.every else 1 if len(cuts) > 1 else len(self.clients) - 1)
        need(len(cuts) + 1 == len(why) == len(self.clients), "there are forms for other parts")
        end = {(copy, state): value for state in states[-1] for copy, value in ((1, down), (2, -up))}
        lists = [[], *([] for _ in cuts), [end]]
        for every, cut, found in zip(states, cuts, lists[1:]):
            for name, copies in (("before", (0,)), ("after", (1, 2))):
                keys = dict(enumerate(product(copies, every)))
                for row in cut.get(name, []):
                    found.append({keys[at]: operator.index(c) for at, c in zip(row[::2], row[1::2], strict=True)})
            found += [{(1, state): down, (2, state): -up} for state in every if units]
        for part, reasons in enumerate(map(iter, why)):
            for form in self.taken_back(part, lists[part + 1]):
                later = all(copy for copy, _ in form)
                if part == 0:
                    need((later and not self.at_once) or sum(form.values()) <= 0, "a form is positive at the start")
                elif not (later and units):
                    times, *used = map(operator.index, next(reasons, ()))
                    left = {key: times * value for key, value in form.items()}
                    for at, factor in zip(used[::2], used[1::2], strict=True):
                        need(at >= 0 <= factor, "a factor is negative")
                        self.spend(lists[part][at].values())
                        for key, value in lists[part][at].items():
                            left[key] = left.get(key, 0) - factor * value
                    need(times > 0 and max(left.values()) <= 0, "a form is not below what it should be")


def check(certificate):
    """Return in words what a certificate establishes. Raises Refused."""
    claim, evidence = certificate["claim"], certificate["evidence"]
    kind, rule, published, program = claim["kind"], evidence["rule"], evidence.get("published"), Program(certificate)
    refuted, tight = kind in ("violation", "inaccuracy"), claim.get("tight") is True
    if tight or refuted:
        x, y = (constant(evidence[name]) for name in ("x", "x" if program.kept else "x_prime"))
        (left,) = program.walk(program.along(x, y), published)
        found, attained = program.over(left, published)
        need(found > 0 if refuted else attained, "the witness does not show it")
    if rule == "forms" and kind == "privacy":
        program.forms(evidence["cuts"], evidence["why"])
    elif rule == "datasets" and kind in ("privacy", "accuracy"):
        need(not program.every and (program.kept or program.down), "this rule is not for this claim")
        every = [[(part, program.meets(part)) for part in range(len(program.clients))]]
        every = [program.along(*pair) for pair in program.listed] if program.listed and not program.kept else every
        need(all(program.over(left)[0] <= 0 for parts in every for left in program.walk(parts)), "the claim is wrong")
    else:
        need(rule == "witness" and refuted, "there is no such evidence for this claim")
    said = [f"{name} = {claim.get(name, 0)}"[:100] for name in (("beta",) if program.kept else ("bound", "delta"))]
    return f"{kind}: {', '.join(said)}{', attained' * (tight and not refuted)}"


def once(pairs):
    need(len(dict(pairs)) == len(pairs), "a key stands twice")
    return dict(pairs)


def main(path):
    """Check a file, print one line and return the exit status."""
    sys.set_int_max_str_digits(MOST_DIGITS)
    try:
        with Path(path).open("rb") as file:
            text = file.read(MOST_BYTES + 1)
        need(len(text) <= MOST_BYTES, "the file is too large")
        print("accepted:", check(json.loads(text, object_pairs_hook=once, parse_float=int, parse_constant=int)))
        return 0
    except Refused as reason:
        print("refused:", reason)
    except (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        print("refused: this is no certificate:", type(error).__name__, repr(str(error)[:80]))
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
