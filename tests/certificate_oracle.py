"""Whether the claim of a certificate is true, by going through all runs: shares no code with the checker.

It reads the lines of a core program again, runs them with every outcome of every draw, and takes the claim literally.
"""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from typing import Any

from tightdp.exact.field import exp

Law = dict[Any, Fraction]
MISSING = object()
_TOKEN = re.compile(r'"[^"]*"|\((?:[^()]|\([^()]*\))*\)|[^\s,:;|{}]+')


class Impossible(Exception):
    """The program has no law: a run fails, an output is not defined, or nothing is observed."""


def constant(word: str) -> Any:
    """Read a constant, as Python has it but for p/q."""
    return eval(re.sub(r"(-?\d+)/(\d+)", r"Fraction(\1, \2)", word), {"Fraction": Fraction})


def law(lines: list[str], x: tuple[Any, ...], power: Any = None) -> Law:
    """The law of what is published on a dataset; `power` stands for T."""
    parsed = [*(line for line in lines if not line.startswith("#")), "then"]
    found: Law = {}

    def go(at: int, values: dict[str, Any], weight: Fraction) -> None:
        for place in range(at, len(parsed)):
            line = parsed[place]
            words = _TOKEN.findall(line)

            def get(word: str) -> Any:
                return values[word] if word[0] in "xdvs" else constant(word)

            if words[0] in ("fails", "observe"):
                if get(words[1]) not in (False, True):
                    raise Impossible
                if get(words[1]) == (words[0] == "fails"):
                    if words[0] == "fails":
                        raise Impossible
                    return
            elif words[0] in ("client", "then"):
                values["told"] = (*values["told"], *(get(word) for word in values["outputs"]))
                values["outputs"] = []
                values["client"] = int(words[1]) if words[0] == "client" else None
                for name in [name for name in values if name[0] in "xdvs" and name not in words]:
                    del values[name]
            elif words[0] == "output":
                values["outputs"] = [*values["outputs"], *(word for word in words[1:] if word[0] in "xdvs")]
            else:
                name, kind, rest = words[0], words[2], words[3:]
                if kind == "draw":
                    chosen = get(rest[0]) if rest[0][0] in "xdvs" else None
                    step = 3 if rest[0][0] in "xdvs" else 2
                    rows = [rest[i : i + step] for i in range(step - 2, len(rest), step)]
                    here = [row[-2:] for row in rows if step == 2 or constant(row[0]) == chosen]
                    whole = sum(number(odds, power) for _, odds in here)
                    for outcome, odds in here:
                        go(place + 1, {**values, name: constant(outcome)}, weight * number(odds, power) / whole)
                    if step == 3 and not any(constant(row[0]) == chosen for row in rows):
                        go(place + 1, {**values, name: MISSING}, weight)
                    return
                values[name] = value_of(kind, rest, get, x[values["client"]] if kind == "input" else None)

        if MISSING in values["told"]:
            raise Impossible
        found[values["told"]] = found.get(values["told"], Fraction(0)) + weight

    go(0, {"told": (), "outputs": [], "client": None}, Fraction(1))
    whole = sum(found.values())
    if not whole:
        raise Impossible
    return {key: mass / whole for key, mass in found.items()}


def value_of(kind: str, rest: list[str], get: Any, record: Any) -> Any:
    """The value of a line that draws nothing."""
    if kind == "input":
        return record[int(rest[0])]
    if kind == "case":
        chosen, table = get(rest[0]), {constant(key): word for key, word in zip(rest[1::2], rest[2::2], strict=True)}
        return get(table[chosen]) if chosen in table else MISSING
    values = [get(word) for word in rest]
    if kind == "else":
        return values[1] if values[0] is MISSING else values[0]
    return MISSING if MISSING in values else calculated(kind, values)


def number(text: str, power: Any) -> Any:
    """A number of a claim, or odds: with T in it, for which `power` stands."""
    if "T" not in text:
        return Fraction(text.replace("(", "").replace(")", ""))
    return eval(re.sub(r"(\d)T", r"\1*T", text).replace("^", "**"), {"T": power})


def calculated(kind: str, values: list[Any]) -> Any:
    """An operation on values."""
    try:
        if kind == "tuple":
            return tuple(values)
        if kind in ("not", "bool", "neg", "abs"):
            return {"not": lambda a: not a, "bool": bool, "neg": lambda a: -a, "abs": abs}[kind](values[0])
        if kind in ("min", "max"):
            return {"min": min, "max": max}[kind](*values)
        a, b = values
        symbols = {"add": "+", "sub": "-", "mul": "*", "mod": "%", "floordiv": "//"}
        symbols |= {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
        if kind == "div":
            return Fraction(a) / b
        return eval(f"a {symbols[kind]} b", {"a": a, "b": b})
    except (ArithmeticError, TypeError, ValueError):
        return MISSING


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
    """Whether a claim is true, attained where it says so."""
    claim, records = certificate["claim"], [constant(record) for record in certificate["records"]]
    every = list(itertools.product(records, repeat=certificate["clients"]))
    power = exp(Fraction(re.findall(r"[0-9/]+", certificate["T"])[0])) if "T" in certificate else None
    found = {x: law(certificate["program"], x, power) for x in every}
    if claim["kind"] in ("accuracy", "inaccuracy"):
        if any(type(value) is not bool for each in found.values() for (value,) in each):
            raise Impossible
        worst, beta = max(each.get((True,), Fraction(0)) for each in found.values()), number(claim["beta"], power)
        if claim["kind"] == "inaccuracy":
            return worst > beta
        return worst <= beta and (worst == beta or not claim.get("tight"))
    relation = certificate["neighbours"]
    if isinstance(relation, str):
        pairs = [(x, y) for x in every for y in every if neighbours(relation, x, y)]
    else:
        pairs = [constant(pair) for pair in relation]
    delta = number(claim.get("delta", "0"), power)
    if claim["bound"] == "inf":
        assert claim["kind"] == "violation"
        return any(
            sum((mass for key, mass in found[x].items() if not found[y].get(key, 0)), Fraction(0)) > delta
            for x, y in pairs
        )
    bound = number(claim["bound"], power)
    largest = max((excess(found[x], found[y], bound) for x, y in pairs), default=Fraction(0))
    if claim["kind"] == "violation":
        return largest > delta
    if largest > delta:
        return False
    if not claim.get("tight"):
        return True
    if delta:
        return largest == delta
    return bound == 1 or any(mass == bound * found[y].get(key, 0) for x, y in pairs for key, mass in found[x].items())


def excess(ours: Law, theirs: Law, bound: Fraction) -> Fraction:
    """The sum over outputs of max(0, P(y|x) - R P(y|x'))."""
    return sum((max(Fraction(0), mass - bound * theirs.get(key, 0)) for key, mass in ours.items()), Fraction(0))
