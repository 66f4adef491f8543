"""Mechanisms written for the table: Gaussian noise, noise on all integers, and what people write without thinking."""

from __future__ import annotations

from typing import Any

_SOME = [["privacy", {}], ["delta", {"exp_epsilon": 2}], ["distribution", {"x": -1}], ["privacy", {"delta": "1/10"}]]
_RANKED = [["privacy", {"top": 3}], ["delta", {"exp_epsilon": 1}], *_SOME]
_GAUSSIAN = [
    *_SOME,
    ["privacy", {"delta": "1/1000"}],
    ["likelihood", {"x": 0, "x_prime": -1}],
    ["accuracy", {"alpha": 2}],
    ["accuracy", {"beta": "1/10"}],
    ["utility", {}],
    ["renyi", {"order": 2}],
    ["zcdp", {}],
    ["curve", {}],
    ["tradeoff", {}],
    ["efficacy", {}],
    ["guessing", {}],
    ["privacy_loss", {"runs": 8, "delta": "1/1000"}],
    ["verify", {"exp_epsilon": 4, "delta": "1/10"}],
]


def _written(name: str, body: str, record: str = "Bit", sizes: tuple[int, ...] = (2,), **rest: Any) -> list[Any]:
    extra = "".join(f", {key}={value}" for key, value in rest.items() if key in ("neighbours", "target"))
    lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    source = (
        f"from fractions import Fraction\n\nfrom tightdp import *\n\n\n@mechanism(record={record}{extra})\ndef f(x):\n"
    )
    return [
        {
            "name": f"written-{name}-{n}",
            "source": source + lines,
            "mechanism": "f",
            "n": n,
            "bind": {},
            "questions": rest.get("questions", _SOME),
        }
        for n in sizes
    ]


WRITTEN: list[dict[str, Any]] = [
    *_written(
        "gaussian-sum", "return discrete_gaussian(sum(x), 2)", target="sum", questions=_GAUSSIAN, sizes=(1, 2, 20)
    ),
    *_written("gaussian-and-bit", "return (discrete_gaussian(sum(x), 1), flip('1/3') ^ x[0])", questions=_GAUSSIAN),
    *_written("gaussian-clamped", "return min(max(discrete_gaussian(sum(x), 4), 0), len(x))", questions=_GAUSSIAN),
    *_written("gaussian-threshold", "return discrete_gaussian(sum(x), 4) >= 1", questions=_GAUSSIAN, sizes=(2, 5)),
    *_written("geometric-sum", "return geometric(sum(x), '1/2')", target="sum", questions=_GAUSSIAN, sizes=(1, 2, 20)),
    *_written("geometric-pair", "z = geometric(sum(x), '1/3')\nreturn (z > 1, z % 2)", questions=_SOME),
    *_written("laplace-sum", "return discrete_laplace(sum(x), 1)", target="sum", questions=_SOME, sizes=(1, 3)),
    *_written("shuffled-constants", "return (x[0] ^ flip('1/3'), shuffle((1, 0)))", questions=_SOME),
    *_written("retry", "z = geometric(0, '1/2', -2, 2)\nwhile z < x[0]:\n    z = geometric(0, '1/2', -2, 2)\nreturn z"),
    *_written("dice", "total = 0\nwhile total < 6:\n    total += randint(1, 3)\nreturn (total, x[0] ^ flip('1/4'))"),
    *_written("observed", "z = [v ^ flip('1/3') for v in x]\nobserve(sum(z) > 0)\nreturn sum(z)", sizes=(2, 4)),
    *_written("failing", "return 1 / (sum(x) - flip('1/2'))", questions=[["privacy", {}], ["failure", {}]]),
    *_written("checked", "assert x[0] or flip('1/2')\nreturn 1", questions=[["privacy", {}], ["failure", {}]]),
    *_written("strings", "return 'ab'[x[0] ^ flip('1/5')]"),
    *_written(
        "private-unit", "return tuple(v if flip('3/5') else -v for v in x)", record="Values(-1, 1)", sizes=(2, 6)
    ),
    *_written(
        "client-message",
        "out = []\nfor v in x:\n    others = shuffle([u for u in range(4) if u != v])\n"
        "    out.append(tuple(sorted(others[:1] + (v,))) if flip('1/2') else tuple(sorted(others[:2])))\n"
        "return tuple(out)",
        record="Int(0, 3)",
        sizes=(1, 2),
    ),
    *_written("clamped-count", "return geometric(min(sum(x), 3), '1/2', 0, 3)", record="Int(0, 4)", sizes=(3, 12)),
    *_written(
        "dropouts",
        "total = alive = 0\nfor v in x:\n    if flip('3/4'):\n        alive += 1\n"
        "        total += v + binomial(1, '1/2')\nreturn (total, alive)",
        sizes=(3, 10),
    ),
    *_written(
        "matching",
        "free = list(range(len(x)))\nout = []\nfor v in x:\n    k = choice(free)\n"
        "    out.append(k if v or flip('1/2') else -1)\n"
        "    free.remove(k)\nreturn tuple(out)",
        sizes=(2, 4),
    ),
    *_written("blanket", "return sum(randint(0, 1) if flip('1/4') else v for v in x)", sizes=(6, 50)),
    *_written(
        "stability-histogram",
        "counts = [sum(v == k for v in x) for k in range(3)]\n"
        "return tuple(c if c and geometric(c, '1/2', 0, 4) > 2 else 0 for c in counts)",
        record="Int(0, 2)",
        sizes=(3, 6),
    ),
    *_written(
        "threshold-with-gap",
        "t = geometric(1, '1/2', -1, 3)\nfor i, v in enumerate(x):\n    z = geometric(v, '1/2', -1, 3)\n"
        "    if z >= t:\n        return (i, z - t)\nreturn None",
        sizes=(3, 6),
    ),
    *_written(
        "add-remove", "return sum(v for v in x if v is not None) + binomial(4, '1/2')", neighbours="'add-remove'"
    ),
    *_written("poisson-binomial", "return poisson_binomial([Fraction(1 + v, 4) for v in x])", sizes=(3, 8)),
    *_written(
        "majority", "return sum(v ^ flip('1/3') for v in x) * 2 > len(x)", target="lambda x: sum(x) * 2 > len(x)"
    ),
    *_written("tree", "a = geometric(x[0] + x[1], '1/2', -1, 3)\nreturn (a, a + geometric(x[0], '1/2', -1, 2))"),
    *_written(
        "shuffled-pair", "return shuffle((1, 0))", target="lambda x: (1, 0)", questions=[["utility", {}], *_SOME]
    ),
    *_written(
        "shuffled-flips",
        "return shuffle([flip('1/2'), flip('1/2')])",
        target="lambda x: (0, 1)",
        questions=[["utility", {}], *_SOME],
    ),
    *_written("published-and-shuffled", "return (tuple(x), shuffle((1, 0)), shuffle((1, 0)))", questions=_RANKED),
    *_written("sum-and-flip", "return (sum(x) + flip('1/3'), flip('1/2'))", questions=_RANKED, sizes=(1, 2, 3)),
    *_written("set-in-a-branch", "s = {1}\nif x[0]:\n    s = {2}\nreturn tuple(sorted(s))"),
    *_written(
        "relabelled-and-shuffled",
        "c = [b != 1 for b in x]\nreturn shuffle([c[0] == c[1], c[1] == c[2], c[2] == c[3]])",
        sizes=(4, 6),
    ),
    *_written("empty-output", "return ()", questions=[["probability", {"x": 0, "seed": 1}], *_SOME]),
    *_written("list-in-a-loop", "t = [1]\nwhile t[0] == 1:\n    t = [int(flip('1/2'))]\nreturn t[0]"),
    *_written("observed-noise", "z = geometric(0, '1/2')\nobserve(z == 4)\nreturn 1"),
    *_written("dice-until-thirty", "s = 0\nwhile s < 30:\n    s += randint(1, 6)\nreturn (s, x[0] ^ flip('1/4'))"),
    *_written(
        "walk-between-walls",
        "at = 3\nfor _ in range(20):\n    at = min(max(at + (1 if flip('1/2') else -1), 0), 6)\nreturn at + x[0]",
    ),
    *_written("sum-of-noise", "return sum(geometric(v, '1/2') for v in x)", questions=_SOME[:2], sizes=(1, 2)),
    *_written("doubled-noise", "return 2 * geometric(sum(x), '1/3') + 1", questions=_SOME[:2], sizes=(1, 2)),
    *_written(
        "output-of-two-shapes",
        "f = int(flip('2/3'))\nif x[0] and f ^ (f > 0):\n    return 'stop'\nreturn (1,) if x[0] else ()",
        sizes=(1, 2),
    ),
    *_written(
        "nowhere-a-neighbour",
        "return sum(v or 0 for v in x) if x[0] is None else 1",
        neighbours="'add-remove'",
        sizes=(1, 2),
    ),
]
