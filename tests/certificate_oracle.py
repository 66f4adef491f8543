"""Whether the claim of a certificate is true, by going through all runs: shares no code with the checker.

It runs the lines of a core program with every outcome of every draw, and takes the claim literally.
"""

from __future__ import annotations

import itertools
import math
import operator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from tightdp.exact.field import exp

Law = dict[Any, Fraction]
MISSING = object()
SOME = {"law", "efficacy", "violation", "larger moment", "larger concentration", "inaccuracy"}  # not of all datasets
OPERATIONS: dict[str, Any] = {
    name: getattr(operator, name)
    for name in ["add", "sub", "mul", "mod", "floordiv", "eq", "ne", "lt", "le", "gt", "ge", "neg", "abs"]
}
OPERATIONS |= {"min": min, "max": max, "bool": bool, "not": operator.not_, "div": lambda a, b: Fraction(a) / b}


class Impossible(Exception):
    """The program has no law: a run fails, an output is not defined, or nothing is observed."""


def constant(given: Any) -> Any:
    """A value as Python has it."""
    if isinstance(given, list):
        return tuple(map(constant, given))
    if isinstance(given, dict):
        return given["text"] if "text" in given else "".join(map(chr, given["codes"]))
    return Fraction(given) if isinstance(given, str) else given


def law(program: dict[str, Any], x: tuple[Any, ...], power: Any = None) -> Law:
    """The law of what is published on a dataset, and left at the end; `power` stands for T."""
    found: Law = {}
    places = [(program["parts"][at], client) for at, client in program["order"]]

    def go(at: int, state: tuple[Any, ...], told: tuple[Any, ...], weight: Fraction) -> None:
        if at == len(places):
            found[told, state] = found.get((told, state), Fraction(0)) + weight
            return
        part, client = places[at]
        if len(part["takes"]) != len(state):
            raise Impossible

        def lines(place: int, values: dict[str, Any], weight: Fraction) -> None:
            def get(operand: Any) -> Any:
                return values[operand] if isinstance(operand, str) else constant(operand["value"])

            for now in range(place, len(part["lines"])):
                kind, name, *rest = part["lines"][now]
                if kind in ("fails", "observe"):
                    if get(name) not in (False, True) or (kind == "fails" and get(name)):
                        raise Impossible
                    if kind == "observe" and not get(name):
                        return
                elif kind in ("draw", "draw by"):
                    here = rest[-1]
                    if kind == "draw by":
                        chosen = get(rest[0])
                        here = next((each for key, each in rest[1] if constant(key) == chosen), [[..., 1]])
                    whole = sum(number(odds, power) for _, odds in here)
                    for outcome, odds in here:
                        drawn = MISSING if outcome is ... else constant(outcome)
                        lines(now + 1, {**values, name: drawn}, weight * number(odds, power) / whole)
                    return
                elif kind == "input":
                    values = {**values, name: x[client][rest[0]]}
                elif kind == "case":
                    chosen = get(rest[0])
                    branches = [get(branch) for key, branch in rest[1] if constant(key) == chosen]
                    values = {**values, name: branches[0] if branches else MISSING}
                else:
                    values = {**values, name: calculated(rest[0], list(map(get, rest[1:])))}
            shown = tuple(values[name] for name in part["publishes"])
            if MISSING in shown:
                raise Impossible
            go(at + 1, tuple(values[name] for name in part["leaves"]), (*told, *shown), weight)

        lines(0, dict(zip(part["takes"], state, strict=True)), weight)

    go(0, (), (), Fraction(1))
    whole = sum(found.values())
    if not whole:
        raise Impossible
    return {key: mass / whole for key, mass in found.items()}


def number(given: Any, power: Any = None) -> Any:
    """A number of a claim, or odds: polynomials in T, for which `power` stands."""
    if isinstance(given, dict):
        return number(given["above"], power) / number(given["below"], power)
    if isinstance(given, list):
        return sum(c * power**at for at, c in enumerate(given))
    return Fraction(given)


def calculated(kind: str, values: list[Any]) -> Any:
    """An operation on values."""
    if kind == "else":
        return values[1] if values[0] is MISSING else values[0]
    if MISSING in values:
        return MISSING
    try:
        return tuple(values) if kind == "tuple" else OPERATIONS[kind](*values)
    except (ArithmeticError, TypeError, ValueError):
        return MISSING


def right(claim: dict[str, Any], laws: dict[tuple[Any, ...], Law]) -> Any:
    """The expected share of right guesses in one run, where of each output the likeliest coins are guessed."""
    n, k, pairs = claim["n"], claim["guesses"], constant(claim["pairs"])
    if len(pairs) != n or not 0 < k <= n or any(len(pair) != 2 for pair in pairs):
        raise Impossible
    weights: dict[Any, list[list[Any]]] = {}
    for coins in itertools.product((0, 1), repeat=n):
        x = tuple(pair[coin] for pair, coin in zip(pairs, coins, strict=True))
        if x not in laws:
            raise Impossible
        for (told, _), mass in laws[x].items():
            for client, coin in enumerate(coins):
                weights.setdefault(told, [[Fraction(0)] * 2 for _ in range(n)])[client][coin] += mass
    best = (sum(sorted(map(max, each))[n - k :], Fraction(0)) for each in weights.values())
    return sum(best, Fraction(0)) / (k * 2**n)


def neighbours(relation: str, x: tuple[Any, ...], y: tuple[Any, ...]) -> bool:
    """Whether two datasets are neighbours, from the definitions."""
    changed = [(a, b) for a, b in zip(x, y, strict=True) if a != b]
    if relation == "replace-one":
        return len(changed) == 1
    if relation == "add-remove":
        return len(changed) == 1 and (changed[0][0][0] is None) != (changed[0][1][0] is None)
    close = bool(changed) and all(abs(a[0] - b[0]) <= 1 for a, b in changed)
    return close and (relation == "unit-all" or len(changed) == 1)


def is_true(certificate: dict[str, Any]) -> bool:
    """Whether a claim is true, attained where it says so; with an unknown, for some values of it."""
    if "unknown" in certificate["claim"]:
        return all(holds(certificate, Fraction(t)) for t in ("1", "1/7", "9", "1/1000", "1000"))
    return holds(certificate, None)


def holds(certificate: dict[str, Any], power: Any) -> bool:
    """Whether a claim is true with this number for T, where that is no root of e."""
    claim = certificate["claim"]
    if "runs" in claim and not together(claim, power):
        return False
    records = [constant(record) for record in claim["records"]]
    every = list(itertools.product(records, repeat=claim["n"]))
    power = exp(Fraction(1, claim["root"])) if "root" in claim else power
    found: dict[tuple[Any, ...], Law] = {}
    for x in every:
        try:
            found[x] = law(certificate["program"], x, power)
        except Impossible:  # what is said of one dataset, or of one pair, says nothing of others
            if claim["question"] not in SOME:
                raise
    if claim["question"] in ("accuracy", "inaccuracy"):
        if any(type(error) not in (bool, int, Fraction) for each in found.values() for _, (error,) in each):
            raise Impossible
        alpha, beta = Fraction(claim["alpha"]), number(claim["beta"], power)
        worst = max(
            sum((mass for (_, (error,)), mass in each.items() if abs(error) > alpha), Fraction(0))
            for each in found.values()
        )
        if claim["question"] == "inaccuracy":
            return worst > beta
        return worst <= beta and (worst == beta or not claim.get("attained"))
    if claim["question"] == "law":
        told: Law = {}
        if constant(claim["dataset"]) not in found:
            raise Impossible
        for (shown, _), mass in found[constant(claim["dataset"])].items():
            told[shown] = told.get(shown, Fraction(0)) + mass
        rows = [(tuple(itertools.chain(*map(constant, event))), number(p, power)) for event, p in claim["law"]]
        return len(dict(rows)) == len(rows) and {key: p for key, p in rows if p} == told
    if claim["question"] == "efficacy":
        return right(claim, found) == number(claim["share"], power)
    relation = claim["neighbours"]
    if isinstance(relation, str):
        pairs = [(x, y) for x in every for y in every if neighbours(relation, x, y)]
    else:
        pairs = [constant(pair) for pair in relation]
    pairs = [(x, y) for x, y in pairs if x in found and y in found]
    if "variances" in claim:
        far = [distance(found[x], found[y], claim["variances"]) for x, y in pairs]
        bound = Fraction(claim["bound"])
        if claim["question"] == "larger concentration":
            return any(each is not None and each > bound for each in far)
        most = max(-1 if each is None else each for each in far)
        return None not in far and most <= bound and (most == bound or not claim.get("attained"))
    if "order" in claim:
        highest = max(least_moment(found[x], found[y], claim) for x, y in pairs)
        bound = number(claim["bound"], power)
        if claim["question"] == "larger moment":
            return highest > bound
        return highest <= bound and (highest == bound or not claim.get("attained"))
    if "error" in claim:
        refuted = claim["question"] == "violation"
        error = Fraction(claim["error"]) * (-1 if refuted else 1)
        points = claim.get("points", [[claim["bound"], claim.get("delta", 0)]])
        beyond = [
            max(most_near(found[x], found[y], number(t, power), error) for x, y in pairs) > number(delta, power)
            for t, delta in points
        ]
        return not claim.get("attained") and any(beyond) == refuted
    if "points" in claim:
        points = [(number(t, power), number(delta, power)) for t, delta in claim["points"]]
        most = [max(excess(found[x], found[y], t) for x, y in pairs) for t, _ in points]
        if not claim.get("attained"):
            return all(most_here <= delta for most_here, (_, delta) in zip(most, points, strict=True))
        equal = [
            delta or any(mass == t * found[y].get(key, 0) for x, y in pairs for key, mass in found[x].items())
            for t, delta in points
        ]
        return most == [delta for _, delta in points] and all(equal)
    delta = number(claim.get("delta", 0), power)
    if claim["bound"] == "inf":
        assert claim["question"] == "violation"
        return any(
            sum((mass for key, mass in found[x].items() if not found[y].get(key, 0)), Fraction(0)) > delta
            for x, y in pairs
        )
    bound = number(claim["bound"], power)
    largest = max((excess(found[x], found[y], bound) for x, y in pairs), default=Fraction(0))
    if claim["question"] == "violation":
        return largest > delta
    if largest > delta:
        return False
    if not claim.get("attained"):
        return True
    if delta:
        return largest == delta
    return bound == 1 or any(mass == bound * found[y].get(key, 0) for x, y in pairs for key, mass in found[x].items())


def distance(ours: Law, theirs: Law, variances: list[Any]) -> Fraction | None:
    """The squared distance of the numbers that two laws leave for certain, over twice the variances; None elsewhere."""
    if len(ours) > 1 or len(theirs) > 1:
        return None
    ((_, c),), ((_, d),) = ours, theirs
    if not len(c) == len(d) == len(variances) or any(
        Fraction(each).denominator != 1 if isinstance(each, (int, Fraction)) else True for each in (*c, *d)
    ):
        return None
    return sum(((a - b) ** 2 / (2 * Fraction(v)) for a, b, v in zip(c, d, variances, strict=True)), Fraction(0))


def most_near(ours: Law, theirs: Law, bound: Fraction, error: Fraction) -> Fraction:
    """The most that P(E) - R P'(E) can be for laws of the same outputs whose events differ by the error at most.

    An exceeding has to be one for all these laws, so there the errors are taken the other way round (-error).
    """
    outputs = [key for key in {**ours, **theirs} if ours.get(key) or theirs.get(key)]
    assert len(outputs) <= 16
    events = itertools.chain.from_iterable(itertools.combinations(outputs, k + 1) for k in range(len(outputs)))
    sums = (
        [sum((law.get(key, Fraction(0)) for key in event), Fraction(0)) for law in (ours, theirs)] for event in events
    )
    return max(inside(p + error) - bound * inside(q - error) for p, q in sums)


def inside(p: Fraction) -> Fraction:
    """The nearest number that is a probability."""
    return min(max(p, Fraction(0)), Fraction(1))


def together(claim: dict[str, Any], power: Any) -> bool:
    """Whether so many runs that are ε-DP are (ε', δ')-DP: the sum over how many of k randomized responses are right."""
    if "root" in claim:
        power = exp(Fraction(1, claim["root"]))
    k, *most = claim["runs"]
    t, (bound, delta) = number(claim["bound"], power), (number(each, power) for each in most)
    some = number(claim.get("delta", 0), power)
    lost = (
        sum((math.comb(k, i) * max(Fraction(0), t**i - bound * t ** (k - i)) for i in range(k + 1)), Fraction(0))
        / (1 + t) ** k
    )
    return 1 - (1 - some) ** k * (1 - lost) <= delta


def least_moment(ours: Law, theirs: Law, claim: dict[str, Any]) -> Any:
    """The least moment of laws that differ by the error at most, as mass goes from one output to another."""
    keys = [*{**ours, **theirs}]
    found = [moment(ours, theirs, claim["order"])]
    for a, b in itertools.permutations(keys, 2) if "error" in claim else ():
        lost, won = (min(Fraction(claim["error"]), law.get(key, Fraction(0))) for law, key in ((ours, a), (theirs, b)))
        moved = {**ours, a: ours.get(a, Fraction(0)) - lost, b: ours.get(b, Fraction(0)) + lost}
        met = {**theirs, b: theirs.get(b, Fraction(0)) - won, a: theirs.get(a, Fraction(0)) + won}
        found.append(moment(moved, met, claim["order"]))
    return min(found)


def moment(ours: Law, theirs: Law, order: Any) -> Any:
    """The sum over outputs of P(y|x)^order / P(y|x')^(order-1): to 60 digits where the order is a text, as of 3/2."""
    if any(mass and not theirs.get(key, 0) for key, mass in ours.items()):
        return math.inf
    if isinstance(order, str):
        with localcontext(prec=70):
            p, q = map(Decimal, order.split("/"))
            return Fraction(sum(
                (Decimal(mass.numerator) / mass.denominator) ** (p / q)
                * (Decimal(theirs[key].numerator) / theirs[key].denominator) ** (1 - p / q)
                for key, mass in ours.items()
                if mass
            ))  # fmt: skip
    return sum((mass**order / theirs[key] ** (order - 1) for key, mass in ours.items() if mass), Fraction(0))


def excess(ours: Law, theirs: Law, bound: Fraction) -> Fraction:
    """The sum over outputs of max(0, P(y|x) - R P(y|x'))."""
    return sum((max(Fraction(0), mass - bound * theirs.get(key, 0)) for key, mass in ours.items()), Fraction(0))
