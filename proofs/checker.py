"""An independent checker of tightdp's certificates, standard library only, to be read from top to bottom.

`python proofs/checker.py answer.json` ends with the status 0 where a certificate is accepted, 1 where it is refused.
WHAT AN ACCEPTED CERTIFICATE ESTABLISHES: the law of its core program has the claimed property, with R = e^epsilon:
  privacy    sum over y of max(0, P(y|x) - R P(y|x')) <= delta for all neighbours x, x'; without delta this says that
             P(E|x) <= R P(E|x') for all events E. Tight: the pair that is named attains it
  accuracy   P(the output, which says that an error is too large, is True | x) <= beta for all datasets x
  violation, inaccuracy: that this is false for the pair, or the dataset, that is named
  audit      a bound on right guesses, for all mechanisms with a guarantee; it has no program (see `audit`)
To be trusted are: that the core program says what the mechanism says (read it beside the Python function; the parts of
an output are published one by one), this file, Python's integers, and the facts that `walk`, `forms`, `audit` state.
Rules of evidence: `witness`, for what is false; `datasets`: all of them; `forms`: for many clients, or any number;
`dual`: for audits. Numbers are whole, or polynomials in T, a root of e that the certificate names; and their ratios.
"""

import json
import operator
import re
import sys
from fractions import Fraction
from itertools import product, zip_longest

MOST_BYTES, MOST_DEPTH, MOST_DIGITS, MOST_WORK, SPENT = 32_000_000, 40, 20_000, 3_000_000_000, [0]
WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[()]|[^\s,:;|{}()"]+')  # blanks and , : ; | { } only separate, for the eye
LINE = re.compile(r"(?:([xdvs]\w*) = )?([a-z]+) ?(.*)|#.*")  # name, kind and operands, or a remark
TERM = r"(?:[0-9]+|[0-9]*T(?:\^[0-9]{1,4})?)"  # 4, T, 3T or 3T^2
UNDEFINED = ...  # what an operation gives where Python refuses; nothing may publish it
NEAR = {"replace-one": operator.ne, "add-remove": lambda a, b: (a[0] is None) != (b[0] is None)}
NEAR |= dict.fromkeys(("unit-step", "unit-all"), lambda a, b: a != b and abs(a[0] - b[0]) <= 1)


class Refused(Exception):
    """The certificate does not establish its claim."""


def need(condition, reason):
    if not condition:
        raise Refused(reason)


def spend(numbers, times=1):
    SPENT[0] += 30 + times * sum(map(sys.getsizeof, numbers))
    need(SPENT[0] <= MOST_WORK, "checking takes too long")


class Polynomial(tuple):
    """c[0] + c[1] T + c[2] T^2 + ... for T = e^(1/root), which is transcendental: only equal c are equal numbers."""

    def __new__(cls, c):
        c = [c] if type(c) is int else c
        size = max((at for at, each in enumerate(c, 1) if each), default=0)
        return super().__new__(cls, c[:size]) if size > 1 else c[0]  # an int where it is one

    def __add__(self, other):
        others = other if isinstance(other, Polynomial) else (other,)
        return Polynomial([a + b for a, b in zip_longest(self, others, fillvalue=0)])

    def __mul__(self, other):
        others = other if isinstance(other, Polynomial) else (other,)
        found = [0] * (len(self) + len(others) - 1)
        spend(self, len(others))
        for (i, a), (j, b) in product(enumerate(self), enumerate(others)):
            found[i + j] += a * b
        return Polynomial(found)

    __radd__, __rmul__ = __add__, __mul__


def positive(number):
    """Whether a number is larger than 0, by integers below and above 2^bits times it."""
    for bits in (64, 512, 4096, 32768) if isinstance(number, Polynomial) else ():
        low, term, k, least, most = 0, 1 << bits, 0, 0, 0
        while term:  # T is the sum of all 1 / (k! root^k); each term, rounded down twice, is less than 2 too small
            low, term, k = low + term, term // ((k + 1) * Polynomial.root), k + 1
        high = low + 2 * k + 4
        for c in reversed(number):  # Horner's rule, rounded down, and up
            least = (least * (low if least >= 0 else high) >> bits) + (c << bits)
            most = -(-most * (high if most >= 0 else low) >> bits) + (c << bits)
        if least > 0 or most < 0:
            return least > 0
    return operator.index(number) > 0


def ratio(text):
    """Read p/q: whole numbers, or polynomials as (3T^2-T+4)/(T+1)."""
    found = []
    for part in (text.replace("(", "").replace(")", "") + "/1").split("/")[:2]:
        need(re.fullmatch(rf"-?{TERM}(?:[+-]{TERM})*", part) and len(part) < MOST_DIGITS, f"cannot read {part[:40]!r}")
        terms = re.findall(r"([+-]?)([0-9]*)(T?)\^?([0-9]*)", part)[:-1]
        found.append(sum(Polynomial([0] * int(n or bool(t)) + [int(sign + (c or "1"))]) for sign, c, t, n in terms))
    need(positive(found[1]), "a denominator is not positive")
    return found


def words_of(text):
    """Read names, as themselves, and constants, as ("=", value)."""
    stack, plain = [[]], {"True": "true", "False": "false", "None": "null"}
    for word in WORD.findall(text):
        if word == "(":
            stack.append([])
        elif word[0] in "xdvs" and len(stack) == 1:
            stack[0].append(word)
        else:
            if word == ")":
                value = tuple(stack.pop())
            elif word[0] == '"' or word in plain:
                value = json.loads(plain.get(word, word))
            else:
                value = Fraction(*ratio(word)) if "/" in word else ratio(word)[0]
            stack[-1].append(value if len(stack) > 1 else ("=", value))
        need(len(stack) < MOST_DEPTH, "a value nests too deeply")
    (found,) = stack
    return found


def constant(text):
    ((_, value),) = words_of(text)
    return value


OPERATIONS = {"min": min, "max": max, "bool": bool, "tuple": lambda *of: of, "div": lambda a, b: Fraction(a) / b}
OPERATIONS |= {"not": operator.not_, "else": lambda a, b: b if a is UNDEFINED else a}  # the first that is defined
OPERATIONS |= {name: getattr(operator, name) for name in "add sub mul neg abs mod floordiv eq ne lt le gt ge".split()}


def operate(kind, *values):
    """Return what an operation gives: undefined where an operand is (but for `else`), and where Python refuses."""
    odd = kind in ("mul", "div", "mod") and {*map(type, values)} - {int, bool, Fraction}
    try:
        found = UNDEFINED if odd or (UNDEFINED in values and kind != "else") else OPERATIONS[kind](*values)
    except (ArithmeticError, TypeError, ValueError):
        found = UNDEFINED
    need(len(repr(found)) < MOST_DIGITS, "a value grows too large")
    return found


class Program:
    """Lines that define values, one after the other, in parts; each takes the values of some names: its state.

    What a part makes of a state, and of a client's record, is {(what it publishes, state after): weight}. A weight is a
    probability times a number that all datasets share, unless `observe` drops runs. `client "all"` are all clients.
    """

    def __init__(self, given):
        Polynomial.root = int(re.fullmatch(r"exp\(1/([0-9]{1,4})\)", given.get("T", "exp(1/0)"))[1])
        self.records, claim = [constant(record) for record in given["records"]], given["claim"]
        self.parts, self.observes, SPENT[0] = [(None, [], [], [])], False, 0
        self.n, self.kept, self.infinite = given["clients"], "beta" in claim, claim.get("bound") == "inf"
        for line in given["program"]:
            self.read(line)
        self.clients, self.every = [client for client, *_ in self.parts], self.n == "all"
        named = [client for client in self.clients if client is not None]
        few = type(self.n) is int and self.n <= 10_000 and len({*named}) == len(named) and {*named} <= {*range(self.n)}
        self.takes = [*(names for _, names, *_ in self.parts), self.parts[-1][3] * self.kept]
        alone = self.clients == [None, "all", None] and self.takes[1] == self.takes[2]
        need((alone if self.every else few) and len(self.takes[-1]) == self.kept, "clients or what is left are others")
        self.shown = [shown for *_, shown in self.parts[:-1]] + [[] if self.kept else self.parts[-1][3]]
        self.up, self.down = (0, 1) if self.kept or self.infinite else ratio(claim["bound"])
        self.delta = ratio(claim["beta"] if self.kept else claim.get("delta", "0"))
        relation, pairs = given["neighbours"], product(self.records, self.records)
        self.listed = [] if isinstance(relation, str) else [constant(pair) for pair in relation]
        self.at_once, alike = relation == "unit-all" or self.listed != [], self.listed or self.kept
        self.met = [(a, b) for a, b in pairs if a == b or (not alike and NEAR[relation](a, b))]  # under x, and x'
        self.states, self.same = [{(): 0}], {}
        self.meets = [[(None, None)] if client is None else self.met for client in self.clients]
        self.blocks, self.back = zip(*[self.explore(part, client) for part, client in enumerate(self.clients)])

    def read(self, line):
        """Take in one line: its name, operands, and what it gives on a record and their values: [(value, weight)]."""
        need(LINE.fullmatch(line), f"cannot read {line[:40]!r}")
        (name, kind, text), (*_, lines, shown) = LINE.fullmatch(line).groups(), self.parts[-1]
        words = words_of(text or "")
        names, values = [word for word in words if isinstance(word, str)], [word[1] for word in words if word[0] == "="]
        if kind in ("client", "then"):  # client 1 v3 / then v3: here begins a part, of a client or none, that takes v3
            self.parts.append((values[0] if kind == "client" else None, names, [], []))
        elif kind == "output":  # output v3 v4: what this part publishes, at its end
            shown += names
        elif kind == "input":  # x0 = input 1: leaf 1 of the record of the client
            lines.append((name, [], lambda record: [(record[values[0]], 1)], line))
        elif kind == "draw":  # d1 = draw { False 4 | True 1 }: outcomes with their odds, here 4 to 1; or odds that
            laws, chosen = {}, words[: isinstance(words[0], str)]  # depend on a value: draw x0 { 0: 0 1 | 1: 0 1 }
            for *key, outcome, odds in zip(*[iter(values)] * (2 + len(chosen)), strict=True):
                need(type(odds) in (int, Polynomial) and not positive(-1 * odds), "odds are negative, or no numbers")
                laws.setdefault(tuple(key), []).append((outcome, odds))
            total, *others = [sum(odds for _, odds in law) for law in laws.values()]
            need(positive(total) and all(each == total for each in others), "odds have different sums")
            lines.append((name, chosen, lambda _, *value: laws.get(value, [(UNDEFINED, total)]), line))
        elif kind == "case":  # v4 = case d1 { False: v3 | True: 0 }: one of several values
            places = {word[1]: at for at, word in enumerate(words[1::2], 1) if word[0] == "="}
            need(len(words) == 1 + 2 * len(places), "the values of a case are not all different")
            words = [words[0], *words[2::2], ("=", UNDEFINED)]
            lines.append((name, words, lambda _, value, *of: [(of[places.get(value, 0) - 1], 1)], line))
        elif kind in ("fails", "observe"):  # v7 must never be true / runs where v7 is not true do not count
            self.observes |= kind == "observe"
            times = {False: 0, True: 1} if kind == "observe" else {False: 1}
            lines.append((None, words, lambda _, value: [(0, 1)] * times[value], line))
        elif kind is not None:  # v3 = add x0 d1: an operation on the values of names, and constants
            lines.append((name, words, lambda _, *values: [(operate(kind, *values), 1)], line))

    def explore(self, part, client):
        """Find what a part makes of all states before it (the same lines do the same), and what from what."""
        waiting, names, back = [*self.states[-1]], (self.shown[part], self.takes[part + 1]), {}
        after = self.states[-1] if client == "all" else {}
        block = self.same.setdefault(repr(([line for *_, line in self.parts[part][2]], self.takes[part], names)), {})
        for state, record in ((state, a) for state in waiting for a in ([None] if client is None else self.records)):
            runs, found = [(dict(zip(self.takes[part], state)), 1)], block.setdefault((record, state), {})
            for name, words, function, _ in self.parts[part][2] if not found else ():
                before, runs = runs, []
                for known, weight in before:
                    of = [known[word] if isinstance(word, str) else word[1] for word in words]
                    outcomes = function(record, *of)
                    spend(of + [weight] * 11, 9 * len(outcomes))
                    runs += [({**known, name: value}, weight * odds) for value, odds in outcomes]
            spend([*runs, *found.values()], 40 + (client == "all") * len(waiting))
            for known, weight in runs if not found else ():
                key = told, _ = tuple([tuple([known[name] for name in some]) for some in names])
                need(UNDEFINED not in told, "an output is undefined")
                found[key] = found.get(key, 0) + weight
            for (told, new), odds in found.items():
                back.setdefault((record, new), []).append((told, state, odds))
                waiting += [new] if client == "all" and new not in after else []
                after[new] = 0
        self.states.append(after)
        return block, back

    def along(self, x, y):
        """Every part, with the records of one pair of neighbours, or of one dataset."""
        every, size = [*zip(x, y)], len(x) == len(y) == (len(x) or 1 if self.every else self.n)
        near = {*every} <= {*self.met} and (self.at_once or sum(a != b for a, b in every) <= 1)
        need(size and (near or (x, y) in self.listed), "the witness is no pair of neighbours")
        for part, client in enumerate(self.clients):
            found = every if client == "all" else self.meets[part] if client is None else [every[client]]
            yield from ((part, [each]) for each in found)

    def walk(self, parts, published=None):
        """Return [{((weights of states under x, and x'), for how many outputs), ...}, ...] for all that parts meet.

        Which outputs does not matter to a claim: many datasets, as all orders of the same records, lead to the same.
        Where it is given, only what is `published` counts.
        """
        found = {(frozenset([((frozenset([((), 1)]),) * 2, 1)]), False)}
        for at, (part, meets) in enumerate(parts):
            wanted, before, found, moved = published and published[at] and constant(published[at]), found, set(), {}
            for (left, differ), (a, b) in product(before, meets):
                if differ and a != b and not self.at_once:
                    continue
                tables = {}
                for laws, times in left:
                    ours, theirs = self.move(part, laws[0], a, moved), self.move(part, laws[1], b, moved)
                    for told in [wanted] if wanted else ours.keys() | theirs.keys():
                        key = ours.get(told, frozenset()), theirs.get(told, frozenset())
                        tables[key] = tables.get(key, 0) + times
                        spend(key, 2)
                found.add((frozenset(tables.items()), differ or a != b))
        return [left for left, _ in found]

    def move(self, part, law, record, moved):
        """Return the weights of the states after a part for everything that it may publish; each is `moved` once."""
        if (law, record) not in moved:
            found, block = {}, self.blocks[part]
            spend([weight for state, weight in law for _ in block[record, state]], 10)
            for state, weight in law:
                for (told, after), odds in block[record, state].items():
                    sums = found.setdefault(told, {})
                    sums[after] = sums.get(after, 0) + weight * odds
            laws = {told: frozenset(sums.items()) for told, sums in found.items()}
            moved[law, record] = {told: moved.setdefault(law, law) for told, law in laws.items()}
        return moved[law, record]

    def over(self, left, published=None):
        """What the claim bounds, less its bound, times some number, for one of `walk`; and whether it is attained."""
        ours, theirs = (1, 1) if published else (sum(n * w for of, n in left for _, w in of[at]) for at in (0, 1))
        need(not published or not (self.observes or self.kept or self.delta[0] != 0), "all outputs count here")
        need(positive(ours) and positive(theirs), "every run is dropped")
        over, attained = -1 * self.delta[0] * self.down * ours * theirs, self.kept or self.delta[0] != 0
        for laws, times in left:  # a state is (), or for accuracy the output, which has to be a truth value
            v, w = (sum({(): 1, (True,): 1, (False,): 0}[state] * weight for state, weight in law) for law in laws)
            gap = self.down * theirs * v + -1 * self.up * ours * w
            if positive(gap) and (w == 0 or not self.infinite):
                over += times * self.delta[1] * gap
            attained = attained or gap == 0 != v
        return over, attained and over == 0

    def taken_back(self, part, forms):
        """Yield the forms before a part that give those after it, for all that the part may meet and publish."""
        for form, (a, b) in product(forms, self.meets[part]):
            found, first = {}, a != b and not self.at_once
            for (copy, after), value in form.items() if not first or all(copy for copy, _ in form) else ():
                for told, state, odds in self.back[part].get(((a, a, b)[copy], after), ()):
                    sums, key = found.setdefault(told, {}), (0 if first else copy, state)
                    sums[key] = sums.get(key, 0) + odds * value
            spend(value for old in found.values() for value in old.values())
            yield from (old for old in found.values() if any(map(positive, old.values())))

    def forms(self, cuts, why, units):
        """Establish P(y|x) <= R P(y|x') for all neighbours x, x' and outputs y, with R = up / down.

        Given what is published, a part moves weights linearly. Let u be the weights of the states at a cut between
        parts while x and x' are alike; v and w those under x and x' later. At each cut some forms in u, or in v and w,
        are said to be at most 0; at the end down sum(v) - up sum(w). They are if those of the cut before are: taken
        back through a part, each is at most (factor by factor; weights are not negative) a sum of these times numbers
        that are not negative: `why` has the numbers. With `units` all forms down v[s] - up w[s] are among them, and no
        others in v and w: taken back, they are sums of such.
        """
        others = self.observes, self.listed, self.infinite, self.delta[0] != 0, units and self.at_once
        lists, pair, cuts = [[]], ((1, self.down), (2, -1 * self.up)), cuts * (1 + self.every)
        need(not any(others) and len(cuts) + 1 == len(why) == len(self.clients), "there are no such forms")
        for states, cut in zip(self.states[1:-1], cuts):
            keys = [*product((0,) if units else (0, 1, 2), states)]
            lists.append([{keys[at]: c for at, c in zip(row[::2], map(Polynomial, row[1::2]))} for row in cut])
            need(all(len({copy > 0 for copy, _ in form}) == 1 for form in lists[-1]), "a form is of u, v and w")
            lists[-1] += [{(copy, state): value for copy, value in pair} for state in states if units]
        lists.append([{(copy, state): value for state in self.states[-1] for copy, value in pair}])
        for part, reasons in enumerate(map(iter, why)):
            for form in self.taken_back(part, lists[part + 1]):
                later = all(copy for copy, _ in form)
                if part == 0:
                    need((later and not self.at_once) or not positive(sum(form.values())), "a form starts above 0")
                elif not (later and units):
                    times, *used = map(Polynomial, next(reasons, ()))
                    left = {key: times * value for key, value in form.items()}
                    for at, factor in zip(used[::2], used[1::2], strict=True):
                        need(at >= 0 and not positive(-1 * factor), "a factor is negative")
                        spend(lists[part][at].values())
                        for key, value in lists[part][at].items():
                            left[key] = left.get(key, 0) + -1 * factor * value
                    need(positive(times) and not any(map(positive, left.values())), "a form is not bounded by others")


def audit(claim, evidence):
    """Establish that P(at least v of r guesses are right) <= bound against all mechanisms with a guarantee.

    m secrets are uniform on k options each; an attacker guesses r of them. The guarantee is (ln t, delta)-DP, for some
    t >= 1, where one secret is replaced. Secrets and options may be permuted at random, so let p[i] be the probability
    of i right guesses, all outcomes with i equally likely. The guarantee then says that the sum over i of
    max(0, i p[i] - t (r-i+1)/(k-1) p[i-1]) is at most m delta. Let c, z[t] >= y[i,t] >= 0 be numbers that satisfy
        (1 if i >= v else 0)  <=  c + i sum_t y[i,t] - (r-i)/(k-1) sum_t t y[i+1,t]      for i = 0..r.
    Times p[i] and added up: P(at least v) <= c + m sum_t delta z[t]. The evidence has c and z; y is the least that will
    do (rounded up), from i = r on, and taken from the first t.
    """
    m, r, v, k = (claim[name] for name in ("canaries", "guesses", "correct", "options"))
    texts = zip(claim["guarantee"], evidence["multipliers"], strict=True)
    rows = [[Fraction(*ratio(text)) for text in (*pair, z)] for pair, z in texts]
    c, bound = (Fraction(*ratio(text)) for text in (evidence["constant"], claim["bound"]))
    good = all(t >= 1 and delta >= 0 <= z for t, delta, z in rows) and r * len(rows) <= 1_000_000
    need(good and {*map(type, (m, r, v, k))} == {int} and 0 < v <= r <= m and k >= 2, "there is no such audit")
    cost = 0  # sum_t t y[i+1,t]
    for i in range(r, -1, -1):
        wanted = max(0, (i >= v) - c + Fraction(r - i, k - 1) * cost)
        left, cost = Fraction(-(-wanted * (1 << 256) // max(i, 1)), 1 << 256), 0
        for t, _, z in rows:
            left, cost = left - min(left, z), cost + t * min(left, z)
        need(left == 0 and (i > 0 or wanted == 0), "the multipliers do not fit")
    need(c + m * sum(delta * z for _, delta, z in rows) <= bound, "the multipliers show less")
    return f"audit: P(at least {v} of {r} guesses about {m} secrets right) <= {claim['bound']}"[:200]


def check(certificate):
    """Return in words what a certificate establishes. Raises Refused."""
    claim, evidence = certificate["claim"], certificate["evidence"]
    kind, rule, published = claim["kind"], evidence["rule"], evidence.get("published")
    if (kind, rule) == ("audit", "dual"):
        return audit(claim, evidence)
    program, refuted, tight = Program(certificate), kind in ("violation", "inaccuracy"), claim.get("tight") is True
    need(kind in (("accuracy", "inaccuracy") if program.kept else ("privacy", "violation")), "there is no such claim")
    if tight or refuted:
        (left,) = program.walk(program.along(*map(constant, evidence["witness"])), published)
        over, attained = program.over(left, published)
        need(positive(over) if refuted else attained, "the witness does not show it")
    if (kind, rule) == ("privacy", "forms"):
        program.forms(evidence["cuts"], evidence["why"], evidence.get("units") is True)
    elif rule == "datasets" and not refuted:
        need(not program.every and not program.infinite, "this rule is not for this claim")
        every = [program.along(*pair) for pair in program.listed * (not program.kept)] or [[*enumerate(program.meets)]]
        need(not any(positive(program.over(left)[0]) for parts in every for left in program.walk(parts)), "it is wrong")
    else:
        need(rule == "witness" and refuted, "there is no such evidence for this claim")
    said = ", ".join(f"{name} = {claim[name]}"[:100] for name in ("beta", "bound", "delta") if name in claim)
    return f"{kind}: {said}{', attained' * (tight and not refuted)}"


def main(path):
    """Check a file, print one line and return the exit status."""
    sys.set_int_max_str_digits(MOST_DIGITS)
    once = {"object_pairs_hook": lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else "a key stands twice"}
    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1)
        need(len(text) <= MOST_BYTES, "the file is too large")
        print("accepted:", check(json.loads(text, **once, parse_float=int, parse_constant=int)))
    except Exception as error:
        known = {Refused: "", json.JSONDecodeError: "this is not JSON: ", UnicodeDecodeError: "this is not JSON: "}
        print(f"refused: {known.get(type(error), f'no certificate, {type(error).__name__}: ')}{error}"[:120])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
