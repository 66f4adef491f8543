"""An independent checker of tightdp's certificates, format 2: `python proofs/checker.py answer.json` ends with 0 for
accepted.

What an accepted certificate establishes is said in the files beside this one, which have the rules: `datasets.py` for
claims about a program, with `forms.py`, and for runs one after the other; `duals.py` for audits and optima, which are
about all private mechanisms. Here numbers and values are read, in `program.py` programs.
To be trusted are: that the core program says what the mechanism says (read it beside the Python function; the parts of
an output are published one by one), these files, Python's integers, and what the rules state: these are theorems in
proofs/coq, whose checker reads the same files and says the same.
A file is printable ASCII, and JSON in which every field is read: another field is an error.
"""

import hashlib
import importlib.util
import json
import math
import operator
import re
import sys
from fractions import Fraction
from functools import cache
from itertools import product, zip_longest
from pathlib import Path
from types import SimpleNamespace

MOST_BYTES, MOST_DIGITS, MOST_LETTERS, MOST_CLIENTS, MOST_NESTED = 4_000_000, 4_000, 20_000, 10_000, 199
WORK = 8_500_000  # steps of a quarter of a microsecond; what is kept costs more of them, which bounds memory as well
LEFT, ROOT, POWERS = [0], [0], {}  # steps that may be spent; T = e^(1/root), 0: no T, -1: any T > 0; enclosures of T
RATIO = re.compile("(-?[1-9][0-9]*)/([1-9][0-9]*)")
PLAIN = re.compile(r"[ !#-\[\]-~]*")  # texts of a file have these characters; others are lists of codes
UNDEFINED = ...  # what an operation gives where Python refuses; nothing may publish it
ABOUT = "root unknown mechanism parameters source"
CLAIMS = {  # what a claim says, and may say, besides its question; and the rules of evidence that establish it
    "privacy": ("n records neighbours bound program", f"delta error attained runs {ABOUT}", "forms datasets"),
    "curve": ("n records neighbours points program", f"error attained {ABOUT}", "datasets"),
    "privacy of messages": ("n records neighbours bound program", f"runs {ABOUT}", "forms datasets alignment"),
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
BESIDE = {"dual": "duals", "table": "duals", "alignment": "alignment"}  # the other rules are in datasets.py
EVIDENCE = {"forms": "units cuts steps order", "dual": "constant multipliers", "table": "table weights multipliers"}
EVIDENCE |= {"alignment": "plans cells starts"}
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
    need(claim.get("neighbours", "") is not None, "there are no such neighbours")
    attained, refuted = claim.get("attained", False), rule == "witness"
    need(attained is ("attained" in claim), "what is attained is called true")
    fields(evidence, f"rule {EVIDENCE[rule]}{' witness' * (attained or refuted)}", "event" * (attained or refuted))
    need(("program" in claim) == ("program" in certificate), "a program is missing, or is not read")
    remark = beside(BESIDE.get(rule, "datasets")).establish(certificate, claim, evidence)
    if "program" in claim:
        program = digest(json.dumps(certificate["program"], separators=(",", ":")))
        need(claim["program"] == program, "this is not the program of the claim")
    named = {"mechanism", "parameters", "source"} & claim.keys()
    need(len(named) == 3 * ("source" in certificate), "a source has a text, a name and a hash, or there is none")
    if named:
        source, given = certificate["source"], claim["parameters"]
        need(type(source) is str and claim["source"] == digest(source), "this is not the source of the claim")
        words = [claim["mechanism"], *given, *given.values()]
        need(all(plain(each) and len(each) <= 200 for each in words), "names and parameters are of plain characters")
    proved = "by alignment, which Coq has not checked yet" if rule == "alignment" else "by a theorem"
    return f"{kind}: {said(claim, f'{needed} {others}')}{', attained' * attained}{remark}; {proved}"


@cache
def beside(name):
    """Import a file beside this one, which imports what it needs from this one."""
    path = Path(__file__).with_name(f"{name}.py")
    need(path.is_file(), f"{path.name} is not beside {Path(__file__).name}")
    spec = importlib.util.spec_from_file_location(name, path)
    rule, sys.modules["checker"] = importlib.util.module_from_spec(spec), SimpleNamespace(**globals())
    spec.loader.exec_module(rule)
    sys.modules.pop("checker", None)
    return rule


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
