"""Files that would take a careless checker of certificates minutes or gigabytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

PRIME = (1 << 61) - 1
"""Numbers that are equal modulo this prime have the same hash in Python."""
COIN = [[0, 1], [1, 1]]

Lines = list[list[Any]]


def part(client: Any, takes: list[str], lines: Lines, publishes: list[str]) -> dict[str, Any]:
    """One part of a program, as the core text has it: see `program`."""
    return {"client": client, "takes": takes, "lines": lines, "publishes": publishes}


def operand(given: Any) -> Any:
    """A name stays, everything else is a constant."""
    return given if isinstance(given, str) and given[:1] in ("d", "s", "v", "x") else {"value": given}


def syntax(line: Any) -> Any:
    """A line of the core text as a certificate has it; what is no line stays as it is."""
    if not isinstance(line, list) or len(line) < 2:
        return line
    name, kind, *rest = line
    named = [] if name is None else [name]
    if kind == "case":
        return [kind, *named, operand(rest[0]), [[value, operand(branch)] for value, branch in rest[1]]]
    if kind == "draw" and len(rest) == 2:
        return ["draw by", *named, operand(rest[0]), rest[1]]
    if kind in ("fails", "observe", "output"):
        return [kind, *named, *map(operand, rest)]
    return [kind, *named, *rest] if kind in ("input", "draw") else ["apply", *named, kind, *map(operand, rest)]


def program(parts: Any) -> dict[str, Any]:
    """Parts of the core text as a program: each leaves what the next one takes."""
    written = []
    for at, each in enumerate(parts):
        leaves = parts[at + 1]["takes"] if at + 1 < len(parts) else []
        lines = [syntax(line) for line in each["lines"]]
        others = {name: value for name, value in each.items() if name not in ("client", "lines")}
        written.append({"reads": each["client"] is not None, **others, "lines": lines, "leaves": leaves})
    return {"parts": written, "order": [[at, each["client"]] for at, each in enumerate(parts)]}


def sealed(certificate: dict[str, Any]) -> dict[str, Any]:
    """The certificate with the hash of its program, so that it is not refused for that."""
    if "program" in certificate and isinstance(certificate.get("claim"), dict):
        text = json.dumps(certificate["program"], separators=(",", ":"))
        certificate["claim"]["program"] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return certificate


def noise(count: int, size: int) -> dict[str, Any]:
    """A certificate of ρ with so many variances of this size, of which no two are alike."""
    names = [f"v{at}" for at in range(count)]
    lines = [["x1", "input", 0], *([name, "add", "x1", at] for at, name in enumerate(names))]
    made = given(part(0, [], lines, []), question="concentration", variances=[size + 2 * at + 1 for at in range(count)])
    made["program"]["parts"][-1]["leaves"] = names
    return sealed(made)


def given(*parts: dict[str, Any], evidence: dict[str, Any] | None = None, **claim: Any) -> dict[str, Any]:
    """A certificate about one bit, or what the claim says else."""
    said = {"question": "privacy", "n": 1, "records": [[0], [1]], "neighbours": "replace-one", "bound": 2}
    return sealed(
        {
            "format": 2,
            "claim": said | claim,
            "program": program(list(parts) or [part(None, [], [], [])]),
            "evidence": evidence or {"rule": "datasets"},
        }
    )


NO_REASONS: dict[str, list[Any]] = {"before": [], "across": [], "after": []}


def by_forms(cuts: list[Any], outputs: list[Any], why: list[Any] | None = None, units: bool = False) -> dict[str, Any]:
    """Evidence by forms, for parts one after the other, each with its own cut."""
    steps = [
        {"part": at, "before": at, "after": at + 1, "outputs": told, "why": why[at] if why else NO_REASONS}
        for at, told in enumerate(outputs)
    ]
    return {"rule": "forms", "units": units, "cuts": cuts, "steps": steps, "order": [*range(len(outputs))]}


def straight(lines: Lines, *publishes: str, **claim: Any) -> dict[str, Any]:
    """A program of one part that looks at no record."""
    return given(part(None, [], lines, list(publishes)), **claim)


def coins(many: int, publishes: bool, odds: Any = 1) -> Iterator[dict[str, Any]]:
    """Parts that draw a coin each, and publish it or leave behind all coins so far."""
    for at in range(many):
        before = [] if publishes else [f"d{each}" for each in range(at)]
        law = [[0, odds], [1, 1 if odds == 1 else odds * (at + 2)]]
        yield part(None, before, [[f"d{at}", "draw", law]], [f"d{at}"] if publishes else [])


def doubling(operation: str, start: Any, many: int) -> Lines:
    """Lines in which every value is made of the one before, twice."""
    return [["v0", "add", start, 0], *([f"v{at + 1}", operation, f"v{at}", f"v{at}"] for at in range(many))]


def forms(rows: int, length: int, value: Any) -> dict[str, Any]:
    """A program of many states, with long lists of forms."""
    states = [[at, 1] for at in range(length)]
    half = [each for at in range(length) for each in (at, value)]
    cut = {"states": [[at] for at in range(length)], "before": [], "after": [[half, half]] * rows}
    many = 200_000 // len(json.dumps(value)) // rows
    reasons = [[0, 0, at, 0, 1, *(each for at in range(rows) for each in (at, value))] for at in range(many)]
    why = [NO_REASONS, {**NO_REASONS, "after": reasons}, {**NO_REASONS, "after": reasons}]
    return given(
        part(None, [], [["d1", "draw", states]], []),
        part(0, ["d1"], [], []),
        part(None, ["d1"], [], ["d1"]),
        evidence=by_forms([cut, cut], [[[]], [[]], [[at] for at in range(length)]], why),
        root=1,
    )


def compared(records: int, *rows: list[int], later: bool = False) -> dict[str, Any]:
    """One client whose record is the state, and forms that meet all pairs of records."""
    look: Lines = [["x0", "input", 0]]
    listed = [[at] for at in range(records)]
    cut = {"states": listed, "before": [] if later else rows, "after": [[row, row] for row in rows] if later else []}
    evidence = by_forms([{"states": [[]], "before": [], "after": []}, cut], [[[]], [[]], [[0]]])
    parts = part(None, [], [], []), part(0, [], look, []), part(None, ["x0"], [["v1", "add", 0, 0]], ["v1"])
    return given(*parts, evidence=evidence, records=listed)


def audit(**changes: Any) -> dict[str, Any]:
    """An audit, with numbers that take long."""
    claim = {"question": "audit", "canaries": 100, "guesses": 10, "correct": 5, "options": 2, "guarantee": [[2, 0]]}
    evidence = {"rule": "dual", "constant": "1/2", "multipliers": changes.pop("multipliers", [1])}
    return {"format": 2, "claim": claim | {"bound": "1/2"} | changes, "evidence": evidence}


def optimum(n: int, mass: Any = 0, multiplier: Any = None, outputs: Any = (0,), **claim: Any) -> dict[str, Any]:
    """A count of n bits, of which some outputs are likely, with a bound that nothing shows."""
    targets = [[[[0]] * (n - ones) + [[1]] * ones, ones] for ones in range(n + 1)]
    said = {
        "measure": "right answer",
        "n": n,
        "records": [[0], [1]],
        "neighbours": "replace-one",
        "keeps": 2,
        "allows": 2,
    }
    said |= {"groups": [list(range(n))], "outputs": list(outputs), "targets": targets, "least": 0, "most": 1}
    multipliers = [] if multiplier is None else [[at, at + 1, 0, multiplier] for at in range(n)]
    return {
        "format": 2,
        "claim": {"question": "optimum", **said, **claim},
        "evidence": {
            "rule": "table",
            "table": [[mass or 1, *[mass] * (len(outputs) - 1)]] * (n + 1),
            "weights": [1, *[0] * n],
            "multipliers": multipliers,
        },
    }


def one_of(many: int) -> dict[str, Any]:
    """The optimum of one client with many records, all of which are neighbours, and with as many outputs."""
    places = range(many)
    given_ = optimum(1, outputs=places, records=[[at] for at in places], targets=[[[[at]], at] for at in places])
    table = [[1, *[0] * (many - 1)]] * many
    return {**given_, "evidence": {"rule": "table", "table": table, "weights": table[0], "multipliers": []}}


def fibonacci(digits: int) -> str:
    """Two numbers whose greatest common divisor takes the most steps."""
    a, b = 1, 2
    while b < 10**digits:
        a, b = b, a + b
    return f"{a}/{b}"


def wide(count: int) -> Lines:
    """One draw with many outcomes, and a line that meets all of them."""
    return [["d1", "draw", [[at, 1] for at in range(count)]], *([f"v{at}", "add", "d1", at] for at in range(300))]


def law(outcomes: int) -> dict[str, Any]:
    """A law of many outputs, each of which is looked for in all runs."""
    found = straight([["d1", "draw", [[at, 1] for at in range(outcomes)]]], "d1")
    rows = [[[[at]], f"1/{outcomes}"] for at in range(outcomes)]
    kept = {name: found["claim"][name] for name in ("n", "records", "program")}
    return {**found, "claim": {"question": "law", **kept, "dataset": [[0]], "law": rows}}


def guessed(many: int, *condition: Any) -> dict[str, Any]:
    """An audit of so many clients, each of whom publishes a bit; where it is 0, some runs are dropped."""
    lines: Lines = [["x0", "input", 0], ["d1", "draw", [[0, 3], [1, 1]]], ["v1", "ne", "x0", "d1"], *condition]
    found = given(*(part(at, [], lines, ["v1"]) for at in range(many)))
    kept = {name: found["claim"][name] for name in ("records", "program")}
    pairs = [[[0], [1]]] * many
    claim = {"question": "efficacy", "n": many, **kept, "pairs": pairs, "guesses": many, "share": "3/4"}
    return {**found, "claim": claim}


def moment(order: int, coins_: int, odds: Any) -> dict[str, Any]:
    """A high power of long probabilities."""
    found = given(*coins(coins_, publishes=True, odds=odds), order=order)
    return {**found, "claim": found["claim"] | {"question": "moment"}}


def roots(order: str, outcomes: int, odds: int) -> dict[str, Any]:
    """A moment of an order that is not whole, of one answer with many outcomes, all odds of which differ."""
    laws = [[at, odds * (at + 1)] for at in range(outcomes)]
    turned = [[at, each] for (at, _), (_, each) in zip(laws, reversed(laws), strict=True)]
    lines = [["x0", "input", 0], ["d1", "draw", "x0", [[0, laws], [1, turned]]]]
    found = given(part(None, [], [], []), part(0, [], lines, ["d1"]), order=order, bound=2)
    return sealed({**found, "claim": found["claim"] | {"question": "moment"}})


BIG = int("9" * 3_900)
LONG: Lines = [["v0", "tuple", *range(1_000, 3_000)]]
LOOKED_UP: Lines = [["v1", "case", "v0", [[0, 1]]]] * 9_000
POLYNOMIAL = [(-1) ** at * 10**60 for at in range(300)]
END: Any = ["ends", 0, [], 0, []]


def aligned(tree: Any, plan: Any = (), records: Any = ((0,), (1,))) -> dict[str, Any]:
    """A claim for every n about a tree for each record, with a plan for its leaves."""
    claim = {"question": "privacy of messages", "n": "all", "records": records, "neighbours": "replace-one", "bound": 1}
    trees = {"states": [[]], "trees": [tree, ["ends", 0, []]], "before": 0, "steps": [[0] * len(records)], "after": [1]}
    evidence = {"rule": "alignment", "plans": [plan], "cells": [[0, 0, [], 1, [0, 0], 0]], "starts": [0, 0]}
    return sealed({"format": 2, "claim": claim, "program": trees, "evidence": evidence})


TEXTS: dict[str, Callable[[], str]] = {
    "quotes": lambda: '"' * 800_000,
    "quotes-in-a-list": lambda: "[" + '"",' * 1_000_000 + '""]',
    "signs": lambda: "-" * 800_000,
    "open-brackets": lambda: "[" * 3_900_000,
    "nested-objects": lambda: '{"a":' * 700_000,
    "empty-lists": lambda: "[" + "[]," * 1_300_000 + "[]]",
    "empty-objects": lambda: "[" + "{}," * 1_300_000 + "{}]",
    "small-numbers": lambda: "[" + "1," * 1_900_000 + "1]",
    "large-numbers": lambda: "[" + f"{BIG}," * 1_000 + "1]",
    "one-long-number": lambda: "[" + "9" * 3_900_000 + "]",
    "blanks": lambda: " " * 3_900_000 + "{}",
    "too-long": lambda: " " * 5_000_000,
    "escapes": lambda: '"' + "\\u202e" * 600_000 + '"',
}
FILES: dict[str, Callable[[], dict[str, Any]]] = {
    "values-that-nest": lambda: straight(doubling("tuple", 1, 99), "v99"),
    "values-that-nest-one-by-one": lambda: straight(
        [["v0", "add", 1, 1], *([f"v{at + 1}", "tuple", f"v{at}"] for at in range(30_000))], "v30000"
    ),
    "values-that-grow": lambda: straight(doubling("mul", 3, 99), "v99"),
    "ratios-that-grow": lambda: straight(doubling("mul", "2/3", 99), "v99"),
    "long-texts-that-are-compared": lambda: straight(
        [["v0", "tuple", {"text": "a" * 19_000}], *([f"v{at}", "eq", "v0", "v0"] for at in range(1, 90_000))], "v0"
    ),
    "long-ratios-that-are-multiplied": lambda: straight(
        [["v0", "add", f"{10**1900 - 1}/{10**1900}", 1], *([f"v{at}", "mul", "v0", "v0"] for at in range(1, 9_000))],
        "v0",
    ),
    "outcomes-beside-a-long-tuple": lambda: straight(
        [
            ["d1", "draw", [[at, 1] for at in range(20_000)]],
            ["v0", "tuple", *range(3_000)],
            ["v1", "tuple", "v0", "d1"],
        ],
        "v1",
    ),
    "texts-in-tuples": lambda: straight([["v0", "tuple", *[{"text": "a" * 10_000}] * 300]], "v0"),
    "many-operands": lambda: straight(
        [["v0", "tuple", *[1] * 4_000], *([f"v{at}", "tuple", *["v0"] * 4_000] for at in range(1, 99))], "v9"
    ),
    "many-operations": lambda: straight([["v0", "add", 1, 0], *[["v0", "add", "v0", "1/7"]] * 100_000], "v0"),
    "many-divisions": lambda: straight([["v0", "add", 1, 0], *[["v0", "div", BIG // 10**3400, "1/7"]] * 5_000], "v0"),
    "many-draws-in-one-part": lambda: straight([[f"d{at}", "draw", COIN] for at in range(40)], "d1"),
    "states-that-double": lambda: given(*coins(40, publishes=False)),
    "outputs-that-double": lambda: given(*coins(400, publishes=True)),
    "outputs-of-odds-of-one-hash": lambda: given(*coins(400, publishes=True, odds=PRIME)),
    "long-odds": lambda: given(*coins(400, publishes=True, odds=BIG)),
    "wide-draws": lambda: straight(wide(20_000), "d1"),
    "wide-draws-again": lambda: given(
        *(part(None, [], [["d1", "draw", [[at, 1] for at in range(3_000)]]], ["d1"]) for _ in range(95))
    ),
    "outcomes-of-one-hash": lambda: straight([["d1", "draw", [[at * PRIME, 1] for at in range(100_000)]]], "d1"),
    "cases-of-one-hash": lambda: straight([["v1", "case", 0, [[at * PRIME, 1] for at in range(80_000)]]], "v1"),
    "cases-of-long-values": lambda: given(
        part(
            None, [], [["d1", "draw", [[at, 1] for at in range(12)]], ["v0", "tuple", "d1", *range(1_000, 3_000)]], []
        ),
        part(None, ["v0"], LOOKED_UP, []),
    ),
    "long-states-of-many-parts": lambda: given(
        part(None, [], LONG, []),
        *(part(at, ["v0"], [], []) for at in range(2_500)),
        n=3_000,
        records=[[at] for at in range(40)],
    ),
    "states-of-one-hash": lambda: given(
        part(None, [], [["d1", "draw", [[at, 1] for at in range(8_000)]], ["v1", "mul", "d1", PRIME]], []),
        part(None, ["v1"], [], ["v1"]),
    ),
    "records-of-one-hash": lambda: straight([], records=[[at * PRIME] for at in range(100_000)]),
    "many-records": lambda: straight([], records=[[at] for at in range(200_000)]),
    "long-records": lambda: straight([], records=[[0] * 4_000 + [at] for at in range(300)]),
    "many-neighbours": lambda: straight([], n=4_000, neighbours=[[[[0]] * 4_000, [[1]] * 4_000]] * 90),
    "many-clients": lambda: given(
        *(part(at, [], [["x0", "input", 0]], []) for at in range(10_000)), n=10_000, records=[[at] for at in range(99)]
    ),
    "many-parts": lambda: given(*[part(None, [], [], [])] * 60_000),
    "many-records-of-many-clients": lambda: given(
        *(part(at, [], [["x0", "input", 0]], ["x0"]) for at in range(100)), n=100, records=[[at] for at in range(400)]
    ),
    "long-ratios": lambda: straight([], records=[[fibonacci(1_990)]] * 900),
    "long-ratios-in-reasons": lambda: forms(2, 3, fibonacci(1_990)),
    "long-polynomials": lambda: straight([], bound={"above": [1] * 900_000, "below": 1}, root=1),
    "a-polynomial-near-zero": lambda: straight(
        [["d1", "draw", [[at, [*POLYNOMIAL, at + 1]] for at in range(150)]]], "d1", root=9_999
    ),
    "powers-of-one-plus-T": lambda: straight(
        [["d1", "draw", [[at, [1, -1, *POLYNOMIAL, at + 1]] for at in range(150)]]], "d1", unknown=["lam", 0, 1]
    ),
    "products-of-polynomials": lambda: given(*coins(60, publishes=True, odds=[10**50] * 30), root=1),
    "many-forms": lambda: forms(20, 60, 3),
    "forms-with-long-numbers": lambda: forms(6, 4, BIG),
    "forms-with-polynomials": lambda: forms(4, 12, [-1, *[0] * 90, 1]),
    "forms-that-meet-nothing": lambda: compared(500, *[[each for at in range(500) for each in (at, -1)]] * 60),
    "later-forms-that-meet-nothing": lambda: compared(
        300, *[[each for at in range(300) for each in (at, -1)]] * 30, later=True
    ),
    "a-law-of-many-outputs": lambda: law(20_000),
    "guesses-of-many-outputs": lambda: guessed(60),
    "guesses-of-many-clients": lambda: guessed(2_000),
    "guesses-of-observed-clients": lambda: guessed(12, [None, "observe", "x0"]),
    "guesses-of-conditioned-clients": lambda: guessed(10, ["v2", "le", "d1", "x0"], [None, "observe", "v2"]),
    "a-moment-of-long-numbers": lambda: moment(99, 40, BIG // 10**3_000),
    "a-moment-of-many-outputs": lambda: moment(99, 400, PRIME),
    "roots-of-long-numbers": lambda: roots("99/16", 40, BIG // 10**3_000),
    "roots-of-many-outputs": lambda: roots("97/16", 8_000, PRIME),
    "square-roots-of-many-outputs": lambda: roots("3/2", 20_000, 1),
    "many-guesses": lambda: audit(canaries=10**600, guesses=10**500, correct=1),
    "a-long-guarantee": lambda: audit(
        canaries=10**6, guesses=10**6, guarantee=[[2, 0]] * 9_000, multipliers=["1/3"] * 9_000
    ),
    "an-optimum-of-many-orders": lambda: optimum(60, neighbours="unit-all"),
    "an-optimum-of-many-outputs": lambda: optimum(30, outputs=[*range(4_000)]),
    "an-optimum-of-many-pairs": lambda: one_of(300),
    "an-optimum-of-long-outputs": lambda: optimum(90, outputs=[[*[0] * 4_000, at] for at in range(90)]),
    "an-optimum-of-long-numbers": lambda: optimum(60, mass=fibonacci(1_990), outputs=[*range(900)]),
    "an-optimum-of-long-multipliers": lambda: optimum(900, multiplier=fibonacci(1_990)),
    "variances-of-long-numbers": lambda: noise(400, 10**3_900),
    "guesses-of-guesses": lambda: aligned(["guess", [["guess", [END]]] * 30_000]),
    "alignments-of-many-records": lambda: aligned(END, records=[[at] for at in range(1_200)]),
    "shares-of-long-numbers": lambda: aligned(
        END, [[[f"1/{10**3_990 + 2 * at + 1}", [], [[0, 0]]] for at in range(300)]]
    ),
    "many-variances": lambda: noise(2_000, 10**300),
    "a-guarantee-of-long-numbers": lambda: audit(
        canaries=10**6, guesses=10**6, guarantee=[[BIG, "1/2"]] * 400, multipliers=[BIG] * 400
    ),
}
BOMBS: dict[str, Callable[[], str]] = TEXTS | {
    name: (lambda make=make: json.dumps(make()))
    for name, make in FILES.items()  # type: ignore[misc]
}
HARMLESS = {"many-divisions", "outputs-that-double", "cases-of-one-hash", "states-of-one-hash"}
HARMLESS |= {"an-optimum-of-many-orders", "an-optimum-of-many-outputs"}
"""They look dangerous, and are true and soon checked."""

MEASURE = """
import resource, subprocess, sys, time
status = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
begun = time.process_time()
for _ in range(10**7):
    pass
slower = max(1, (time.process_time() - begun) / 0.25)
print(status, (used.ru_utime + used.ru_stime) / slower, used.ru_maxrss)
"""
"""Runs the checker from a small process, since a child begins with the memory of its parent.

Its seconds are those of a machine that goes through ten million rounds of an empty loop in a quarter of a second, so
that a busy machine does not say of a checker what is true of the machine.
"""
