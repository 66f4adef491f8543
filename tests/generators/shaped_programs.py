"""Programs whose outputs have names of their own: shuffled parts, parts that no record reaches, any shape, tails.

Every program is `f` over bits, with a target; a program with noise on all integers comes with the one that publishes
the centres of the noise instead.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

__all__ = ["Shaped", "Tailed", "draw_renamed", "draw_shaped", "draw_tailed"]

_SHARES = ("1/3", "1/2", "3/4")


@dataclass(frozen=True)
class Shaped:
    """The text of a program, for n records."""

    source: str
    n: int


@dataclass(frozen=True)
class Tailed:
    """The text of a program, that of its centres, and the ratio of the noise of each part, None where it has none.

    `times` is by what each part is multiplied.
    """

    source: str
    centres: str
    ratios: tuple[str | None, ...]
    times: tuple[str, ...]
    n: int


def draw_shaped(seed: int) -> Shaped:
    """Return a program whose outputs are nested, shuffled, and of differing shape."""
    rng = random.Random(f"shaped {seed}")
    n = rng.choice((1, 2, 2, 3))
    lines = [f"    c = [b != {rng.randrange(2)} for b in x]"] if rng.random() < 0.3 else []
    drawn = rng.random() < 0.5
    lines += [f'    d = flip("{rng.choice(_SHARES)}")'] if drawn else []
    extra = (["int(d)"] if drawn else []) + (["int(c[0])"] if lines and "c =" in lines[0] else [])
    for condition in rng.sample(["x[0]", "sum(x) > 1", 'flip("1/3")', "x[-1] == 0", *extra], rng.choice((0, 0, 1, 2))):
        lines.append(f"    if {condition}: return {_part(rng, n, extra, 2)}")
    lines.append(f"    return {_part(rng, n, extra, 3)}")
    target = _target(rng)
    return Shaped(f"@mechanism(record=Bit, target=lambda x: {target})\ndef f(x):\n" + "\n".join(lines) + "\n", n)


def _target(rng: random.Random) -> str:
    return rng.choice(["(1, 0)", "sum(x)", "tuple(x)", "()", "(x[0], (1, 0))", "((1, 0), x[0])"])


def _part(rng: random.Random, n: int, extra: list[str], depth: int) -> str:
    kind = rng.random()
    if depth == 0 or kind < 0.25:
        return _scalar(rng, n, extra)
    if kind < 0.55:
        items = [_scalar(rng, n, extra) for _ in range(rng.choice((2, 2, 3)))]
        shuffled = [f"[{', '.join(items)}]", "(1, 0)", "[b for b in x]", '[b ^ flip("1/3") for b in x]']
        return f"shuffle({rng.choice(shuffled)})"
    if kind < 0.65:
        return rng.choice(["()", "tuple(x)", "'stop'"])
    items = [_part(rng, n, extra, depth - 1) for _ in range(rng.choice((1, 2, 2, 3)))]
    return f"({', '.join(items)},)"


def _scalar(rng: random.Random, n: int, extra: list[str]) -> str:
    at = rng.randrange(n)
    response = f'x[{at}] ^ flip("{rng.choice(_SHARES)}")'
    coin = f'int(flip("{rng.choice(_SHARES)}"))'
    return rng.choice([f"x[{at}]", response, coin, "sum(x)", "0", "1", 'geometric(sum(x), "1/2", 0, 1)', *extra])


def draw_renamed(seed: int) -> Shaped:
    """Return a program in which clients, pairs of them, or parts of the output share nothing, under other names."""
    rng = random.Random(f"renamed {seed}")
    n = rng.choice((1, 2, 2, 2, 3, 3, 3, 4))
    p, q = rng.choice(_SHARES), rng.choice(_SHARES)
    sent = [f'b ^ flip("{p}")', f'int(b ^ flip("{p}"))', f"b != {rng.randrange(2)}", f'b and flip("{p}")']
    lines = [f"    c = [{rng.choice(sent)} for b in x]"]
    named = ['"yes" if v else "no"', "not v", "(v, 0)", "(v,) if v else ()", "3 - 2 * v", "shuffle((v, 1))"]
    parts = [f"tuple({rng.choice(named)} for v in c)", f"tuple({rng.choice(named)} for v in c)"]
    if n == 4:
        parts += [
            "(shuffle(c[:2]), shuffle(c[2:]))",
            "(c[0] == c[1], shuffle(c[2:]))",
            "shuffle([c[0] == c[1], c[2] == c[3]])",
        ]
    if n == 3:
        parts += ["shuffle([c[0] == c[1], c[1] == c[2]])", "(c[0], shuffle(c[1:]))"]
    alone = [f'flip("{q}")', f'shuffle((1, flip("{q}")))', "shuffle((1, 0))", "()"]
    returned = rng.choice(parts)
    if rng.random() < 0.5:
        returned = f"({returned}, {rng.choice(alone)})"
    lines.append(f"    return {returned}")
    return Shaped(f"@mechanism(record=Bit, target=lambda x: {_target(rng)})\ndef f(x):\n" + "\n".join(lines) + "\n", n)


def draw_tailed(seed: int) -> Tailed:
    """Return a program that publishes noise on all integers, alone or inside a tuple."""
    rng = random.Random(f"tailed {seed}")
    n = rng.choice((1, 1, 2))
    parts, ratios = [], []
    for _ in range(rng.choice((1, 2, 2, 3))):
        noisy = len(ratios) < 1 or rng.random() < 0.6
        ratios.append(rng.choice(("1/2", "1/3")) if noisy and sum(map(bool, ratios)) < 2 else None)
        parts.append(rng.choice(["sum(x)", "x[0]", "2 - x[-1]", "0"]) if ratios[-1] else _scalar(rng, n, []))

    def text(shown: list[str]) -> str:
        whole = shown[0] if len(shown) == 1 else f"({', '.join(shown)})"
        return f"@mechanism(record=Bit)\ndef f(x):\n    return {whole}\n"

    times = [rng.choice(("1", "1", "2", "-3", "1/2")) if ratio else "1" for ratio in ratios]
    noisy_parts = [
        f'geometric({part}, "{ratio}")' + ("" if factor == "1" else f" * {factor}") if ratio else part
        for part, ratio, factor in zip(parts, ratios, times, strict=True)
    ]
    return Tailed(text(noisy_parts), text(parts), tuple(ratios), tuple(times), n)
