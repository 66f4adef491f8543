"""Certificates of every kind, and random changes of them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import tightdp
from certificate_bombs import sealed
from efficacy_programs import conditioned
from expectations import PROGRAMS, bind, mechanisms
from tightdp import Bit, Int, geometric, laplace, mechanism
from tightdp.core.sections import written_value
from tightdp.session.certify import Certificate, load_checker
from tightdp.session.files import import_file
from tightdp.session.instance import Instance

checker = load_checker()


def instance_of(name: str, **parameters: Any) -> Instance:
    """An instance of a mechanism of `programs/`."""
    return Instance(bind(name, {"mechanism": name, "parameters": parameters}))


Place = tuple[Any, Any]


def places(node: Any, inside: Any = None, key: Any = None) -> Iterator[Place]:
    """The places of everything that stands in a certificate: where it is, and under which key."""
    if inside is not None:
        yield inside, key
    for each, below in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from places(below, node, each)


def changed(certificate: dict[str, Any], random_: random.Random) -> dict[str, Any]:
    """A certificate with a number, operator, name, line, neighbour relation, form or word of the claim changed."""
    new: dict[str, Any] = json.loads(json.dumps(certificate))
    every = list(places(new[random_.choice(["claim", "program", "evidence"])]))
    lines = [part["lines"] for part in new["program"]["parts"] if part["lines"]]
    kind = random_.randrange(8)
    if kind == 0:  # a number
        numbers = [(node, key) for node, key in every if type(node[key]) is int or re.match(r"-?\d", str(node[key]))]
        if numbers:
            node, key = random_.choice(numbers)
            node[key] = random_.choice([0, 1, 2, 3, -1, 7, 10**6, "1/2", "1/3", "39/10", random_.randint(0, 9)])
    elif kind == 1:  # an operator or a name
        line = random_.choice(random_.choice(lines))
        at = random_.randrange(len(line))
        line[at] = random_.choice([*checker.OPERATIONS, "x0", "d1", "v1", "v2", "v3", None, 1])
    elif kind == 2:  # a line
        part = random_.choice(lines)
        del part[random_.randrange(len(part))]
    elif kind == 3:
        random_.shuffle(random_.choice(lines))
    elif kind == 4:  # anything is moved, doubled or taken away
        node, key = random_.choice(every)
        other, from_ = random_.choice(every)
        if random_.randrange(3):
            node[key] = json.loads(json.dumps(other[from_]))
        else:
            del node[key]
    elif kind == 5:
        claim = new["claim"]
        sums = ("bound", "delta", "beta", "order", "law", "points", "variances", "share", "pairs")
        pick = random_.choice([key for key in sums if key in claim])
        rows = claim[pick] if pick in ("law", "points", "pairs") else [claim[pick]] if pick == "variances" else [claim]
        random_.choice(rows)[0 if pick == "variances" else 1 if rows is claim[pick] else pick] = random_.choice(
            [1, 2, 3, 4, 5, "7/2", "inf", "1/2", 0, "1/100", "39/10", [0, 1], [1, 1]]
        )
    elif kind == 6:
        claim = new["claim"]
        change: dict[str, Any] = random_.choice(
            [
                {"n": random_.choice([1, 2, 3, 4])},
                {"guesses": random_.choice([0, 1, 2, 3, 4])},
                {"neighbours": random_.choice(["replace-one", "unit-all", "unit-step"])},
                {"records": random_.choice([[[0]], [[0], [1], [2]], [[1], [0]]])},
                {"question": random_.choice(list(checker.CLAIMS))},
                {"root": random_.randint(1, 3)},
                {"attained": True},
            ]
        )
        claim |= {key: value for key, value in change.items() if key in claim or key == "attained"}
    else:
        evidence = new["evidence"]
        pick = random_.choice(list(evidence))
        if pick == "rule":
            evidence["rule"] = random_.choice(list(checker.EVIDENCE))
        elif pick == "units":
            evidence["units"] = not evidence["units"]
        else:
            random_.shuffle(random_.choice([node[key] for node, key in every if isinstance(node[key], list)] or [[]]))
            random_.shuffle(evidence[pick])
    return sealed(new)


def bases() -> list[Certificate]:
    """Small certificates of every kind."""
    count = instance_of("randomized_response_count", n=3, lam="1/5")
    return [
        count.certify(),
        count.certify(exp_epsilon=2),
        count.certify(exp_epsilon=3, delta="1/10"),
        count.certify(alpha=1, beta="1/5"),
        instance_of("randomized_response", n=3, lam="1/5").certify(),
        instance_of("shuffled_randomized_response", n=2, lam="1/5").certify(),
        instance_of("above_threshold", n=2, k=2, threshold=1, ratio_threshold="1/2", ratio_query="1/2").certify(),
        instance_of(
            "sparse_vector",
            n=2,
            cutoff=1,
            k=1,
            threshold=1,
            ratio_threshold="1/2",
            margin=0,
            ratio_query="1/2",
        ).certify(),
        listed_neighbours().certify(),
        instance_of("randomized_response_count", n=2, lam="1/(1+exp(1/2))").certify(),
        instance_of("randomized_response_count", n=2, lam="1/(1+exp(1))").certify(delta="1/10"),
        instance_of("xor_randomized_response", n=2, lam="1/(1+exp(1/3))").certify(exp_epsilon="exp(1/4)"),
        count.certify(order=2),
        count.certify(order=3, exp_moment=2),
        count.certify(order="3/2", exp_moment="3/2"),
        count.certify(order="5/2", exp_moment=4),
        instance_of("randomized_response_count", n=2, lam="1/(1+exp(1/2))").certify(order=2),
        instance_of("randomized_response_count", n=2, lam="1/(1+exp(1/2))").certify(order=3, exp_moment="8/7"),
        count.certify(x=[0, 1, 1]),
        count.certify(curve=True),
        instance_of("randomized_response", n=2, lam="1/(1+exp(1/2))").certify(x=[0, 1]),
        mechanisms("randomized_response_count")["randomized_response_count"].bind(n=2, lam="?[0, 1/2]").certify(),
        mechanisms("randomized_response_count")["randomized_response_count"]
        .bind(n=2, lam="?[0, 1/3]")
        .certify(exp_epsilon=2),
        instance_of("randomized_response", n=2, lam="1/3").certify(runs=3, exp_epsilon=3),
        count.certify(guesses=2),
        instance_of("randomized_response_count", n=2, lam="1/(1+exp(1/2))").certify(guesses=1),
        instance_of("name_and_shame", n=3).certify(pairs=[[1, 0], [0, 1], [0, 1]]),
        conditioned.bind(n=2).certify(guesses=1),
        noisy.bind(n=2).certify(),
        *near(),
        *concentrated(),
    ]


def near() -> list[Certificate]:
    """Certificates of loops that are cut off: of laws up to an error."""
    coin = import_file(PROGRAMS / "gallery" / "bernoulli_division.py").meant.bind(n=1)
    claims = [{"exp_epsilon": "1716/1000"}, {"exp_epsilon": "1717/1000"}, {"exp_epsilon": "3/2", "delta": "1/9"}]
    found = [coin.certify(**claim) for claim in claims]
    rough = dict(found[-1].content)  # a large error, so that it matters which claim there is
    rough["claim"] |= {"error": "1/1000", "delta": "1/8"}
    return [*found, Certificate(rough, checker.check(rough))]


def concentrated() -> list[Certificate]:
    """Certificates of ρ: bounds that are attained, exceeded, and neither."""
    moved = import_file(PROGRAMS / "gallery" / "two_cells_move.py")
    tree = import_file(PROGRAMS / "gallery" / "tree_sensitivity.py")
    shipped = moved.shipped.bind(n=2)
    claims = [{"zcdp": True}, {"rho": "1/4"}, {"rho": "3/4"}]
    return [tree.mended.bind(n=1).certify(rho=1), *(shipped.certify(**claim) for claim in claims)]


def listed_neighbours() -> Instance:
    """An instance whose neighbours are given by a function."""
    bound = instance_of("randomized_response", n=2, lam="1/5").bound
    return Instance(bound.program.bind(2, neighbours=lambda x: [(x[0], 1 - x[1])], lam="1/5"))


def changed_every(given: dict[str, Any], random_: random.Random) -> dict[str, Any]:
    """A certificate with a number, name, line, form, reason or claim changed."""
    new: dict[str, Any] = json.loads(json.dumps(given))
    parts = [part["lines"] for part in new["program"]["parts"] if part["lines"]]
    lines, evidence, kind = random_.choice(parts), new["evidence"], random_.randrange(8)
    at = random_.randrange(len(lines))
    if kind <= 1:
        text = re.sub(
            r"(?<!\w)\d(?!\d)", lambda found: random_.choice([found[0], found[0], "0", "1", "3"]), json.dumps(lines)
        )
        lines[:] = json.loads(text)
    elif kind == 2:
        text = re.sub(
            r'"[xdvs]\d*"', lambda found: random_.choice([found[0], '"s1"', '"v1"', '"d1"']), json.dumps(lines[at])
        )
        lines[at] = json.loads(text)
    elif kind == 3:
        random_.shuffle(lines)
    elif kind == 4:
        cut = random_.choice(evidence["cuts"])
        forms = [*cut["before"], *(half for row in cut["after"] for half in row)]
        rows = [row for step in evidence["steps"] for kind in step["why"].values() for row in kind]
        row = random_.choice([row for row in (*forms, *rows) if row] or [[0]])
        row[random_.randrange(len(row))] = random_.choice([-1, 0, 1, 2, 3, 10])
    elif kind == 5:
        new["claim"]["bound"] = random_.choice([1, 2, 3, 4, 5, "7/2"])
        evidence["cuts"] = random_.choice([evidence["cuts"], [], evidence["cuts"] * 2])
        evidence["units"] = bool(random_.randrange(2))
    elif kind == 6:
        step = random_.choice(evidence["steps"])
        pick = random_.choice(["part", "before", "after"])
        step[pick] = random_.choice([0, 1, 2, step[pick]])
        random_.shuffle(random_.choice([evidence["order"], step["outputs"], evidence["cuts"][0]["states"]]))
    else:
        new["claim"]["neighbours"] = random_.choice(["replace-one", "unit-all", "unit-step", "add-remove"])
    return sealed(new)


def changed_composition(given: Mapping[str, Any], random_: random.Random) -> dict[str, Any]:
    """A certificate of a composition with one to three numbers changed."""
    new: dict[str, Any] = json.loads(json.dumps(given))
    claim = new["claim"]
    for _ in range(random_.randint(1, 3)):
        node, key = random_.choice([(row, at) for row in claim["guarantees"] for at in range(3)] + [
            (claim, "bound"), (claim, "delta"), (claim, "delta")
        ])  # fmt: skip
        node[key] = random_.choice([0, 1, 2, 3, -1, "1/2", "9/10", "1/50", "3/2", [0, 1], "2/2"])
    return new


def changed_audit(given: Mapping[str, Any], random_: random.Random) -> dict[str, Any]:
    """A certificate of an audit with one to three numbers changed."""
    new: dict[str, Any] = json.loads(json.dumps(given))
    claim, evidence = new["claim"], new["evidence"]
    for _ in range(random_.randint(1, 3)):
        number = random_.choice([0, 1, 2, -1, "1/2", "1/3", "1/50", "9/10", "1/1000000"])
        name = random_.choice(["canaries", "guesses", "correct", "options", "bound", "t", "delta", "constant", "z"])
        if name in ("canaries", "guesses", "correct", "options"):
            claim[name] = random_.choice([claim[name] + 1, claim[name] - 1, random_.randint(0, 9)])
        elif name in ("t", "delta"):
            claim["guarantee"][0][name == "delta"] = number
        elif name == "bound":
            claim["bound"] = written_value(
                Fraction(claim["bound"]) * Fraction(random_.choice(["1", "9/10", "11/10", "2"]))
            )
        elif name == "constant":
            evidence["constant"] = number
        else:
            evidence["multipliers"] = random_.choice([[number], [], [number, number]])
    return new


@mechanism(record=Bit)
def noisy(x):
    """Two numbers with noise on the reals."""
    return laplace(sum(x), 1), abs(laplace(x[0], "1/2"))


@mechanism(record=Int(0, 2), target=sum)
def noisy_sum(x):
    """A sum with clamped noise."""
    return min(max(geometric(sum(x), "1/2"), 0), 2 * len(x))


@mechanism(record=Int(0, 2), neighbours="unit-all", target=max)
def noisy_max(x):
    """A maximum with clamped noise."""
    return min(max(geometric(max(x), "1/3"), 0), 2)


def optima() -> Iterator[dict[str, Any]]:
    """Certificates of optima of all measures, with δ and without, of two relations, with groups and without."""
    for instance, asked in (
        (noisy_sum.bind(n=2), {"exp_epsilon": 3, "alpha": 1}),
        (noisy_sum.bind(n=2), {"exp_epsilon": 2, "measure": "squared-error"}),
        (noisy_max.bind(n=2), {"exp_epsilon": 3, "delta": "1/20"}),
        (noisy_sum.bind(n=2), {"exp_epsilon": 2, "target": lambda x: x[0] - x[1], "measure": "absolute-error"}),
    ):
        yield json.loads(tightdp.certify_optimum(instance.optimum(**asked)).text)


def changed_optimum(content: dict[str, Any], rng: random.Random) -> None:
    """Change something: numbers, neighbours, groups, targets, rows, multipliers."""
    claim, evidence = content["claim"], content["evidence"]
    number = rng.choice([0, 1, 2, 3, -1, "1/2", "1/3", "1/50", "9/10", "3/2"])
    name = rng.choice(["claim", "claim", "target", "groups", "rows", "table", "weights", "multiplier", "named"])
    if name == "claim":
        claim[rng.choice(["keeps", "allows", "least", "most", "delta", "alpha", "n"])] = number
    elif name == "target":
        rng.choice(claim["targets"])[1] = number
    elif name == "groups":
        claim["groups"] = rng.choice([[[0, 1]], [[0], [1]], [[1], [0]], [[0], [0, 1]], [[0]]])
    elif name == "rows":
        lists = [claim["targets"], claim["outputs"], claim["records"], evidence["table"], evidence["weights"]]
        rng.shuffle(rng.choice([*lists, rng.choice(claim["targets"])[0]]))
    elif name == "table":
        rng.choice(evidence["table"])[0] = number
    elif name == "weights":
        evidence["weights"][0] = number
    elif name == "multiplier":
        each = rng.choice(evidence["multipliers"])
        each[rng.randrange(4)] = rng.choice([0, 1, 2, "1/7", "1/100"])
        evidence["multipliers"] += rng.choice([[], [each]])
    else:
        claim["neighbours"] = rng.choice(["replace-one", "unit-all"])
        claim["measure"] = rng.choice([claim["measure"], "right answer", "absolute error", "squared error"])
