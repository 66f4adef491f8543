"""Random mechanisms with clients that are alike, or almost: the source text of whole modules.

A program takes one contribution per client (all alike, two groups, weights, one client treated differently, a coin that
two clients share) and puts them together (aggregates, histograms, shuffles, local outputs, thresholds, early stops,
conditions). The number of random paths is kept small, so that the interpreter can serve as the oracle.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

MODULE = """\
WEIGHTS = (1, 2, 1, 3)
TABLE = (2, 0, 1, 0, 3)
CODES = {"u": 1, "w": 2, None: 0}


def rotated(x):
    yield (*x[1:], x[0])


def doubled(x):
    for record in x:
        yield (record,) * len(x)


def clamp(value, low, high):
    return min(max(value, low), high)


"""


@dataclass(frozen=True)
class Domain:
    """A record domain: its text, how many records it has, and expressions of small integers of a record."""

    text: str
    size: int
    integers: tuple[str, ...]
    integral: bool = True


_DOMAINS = (
    Domain("Bit", 2, ("b", "b", "1 - b", "2 * b")),
    Domain("Int(0, 2)", 3, ("b", "b % 2", "int(b >= 1)", "2 - b", "(0, 2, 0)[b]")),
    Domain("Values(2, 0)", 2, ("b", "b // 2", "int(b == 2)")),
    Domain("Values('u', None, 'w')", 3, ("int(b is None)", "int(b == 'u')", "CODES[b]"), False),
    Domain("Tuple(Bit, Bit)", 4, ("b[0]", "b[0] + b[1]", "int(b[0] ^ b[1])", "b[0] * b[1]"), False),
    Domain("Values((0, 1), (2,))", 2, ("len(b)", "b[0]", "sum(b)"), False),
)

_NOISES: tuple[tuple[str, int], ...] = (
    ("{v}", 1),
    ("{v}", 1),
    ("({v} + flip({p}))", 2),
    ("(1 - {v} if flip({p}) else {v})", 2),
    ("({v} if flip({p}) else 1)", 2),
    ("({v} * flip({p}))", 2),
    ("int(flip({v} % 3 / 2))", 2),
    ("int(flip({p} if {v} else 1 - {p}))", 2),
    ("randint(0, {v} % 3)", 2),
    ("geometric({v}, {p} / 2, 0, 2)", 3),
    ("binomial({v} % 3, {p})", 3),
    ("(choice((0, 1, 2), (1, {v} % 3, 2)))", 3),
)

_TARGETS = (
    "sum(1 for b in x if b == first)",
    "max(len(str(b)) for b in x)",
    "len(x)",
    "sum((i + 1) * (b == first) for i, b in enumerate(x))",
)


@dataclass(frozen=True)
class Drawn:
    """A drawn module: its text (the mechanism `f`), n, and the neighbours."""

    source: str
    n: int
    neighbours: str
    tags: frozenset[str] = field(default=frozenset())


class _Writer:
    def __init__(self, rng: random.Random, paths: int) -> None:
        self.rng = rng
        self.paths = paths
        self.lines: list[str] = []

    def one(self, *options: str) -> str:
        return self.rng.choice(options)

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def afford(self, paths: int) -> bool:
        if paths > self.paths:
            return False
        self.paths //= paths
        return True

    def probability(self) -> str:
        return self.one("1/3", "1/3", "1/4", "1/2", "0.2", "0", "1", "2/3")

    def noise(self, value: str) -> tuple[str, int]:
        form, paths = self.rng.choice(_NOISES)
        return form.format(v=value, p=self.probability()), paths


def draw(rng: random.Random, paths: int = 48, datasets: int = 64, neighbours: str | None = None) -> Drawn:
    """Return a random module whose mechanism has at most about so many random paths and datasets."""
    writer = _Writer(rng, paths)
    domain = rng.choice(_DOMAINS)
    relations = ["replace-one"] * 4 + ["add-remove", "rotated", "doubled"]
    relations += ["unit-step", "unit-all"] if domain.integral else []
    relation = neighbours if neighbours in relations else rng.choice(relations)
    size = domain.size + (relation == "add-remove")
    n = max(n for n in range(1, 5) if size**n <= datasets)
    n = rng.choice((n, n, n, max(n - 1, 1), 1))
    absent = relation == "add-remove"
    body, numeric = _body(writer, domain, absent, n)
    target = rng.choice(_TARGETS).replace("first", repr(rng.choice((0, 1, None))))
    named = f'"{relation}"' if "-" in relation else relation
    header = f"@mechanism(record={domain.text}, neighbours={named}, target=lambda x: {target})\ndef f(x):\n"
    return Drawn(MODULE + header + "".join(f"    {line}\n" for line in body), n, relation, numeric)


def _body(writer: _Writer, domain: Domain, absent: bool, n: int) -> tuple[list[str], frozenset[str]]:
    messages = _messages(writer, domain, absent, "m", n)
    before: list[str] = []
    if writer.chance(15) and writer.afford(2):
        before = [f"head = flip({writer.probability()})"]
        if writer.chance(70):
            messages.append(writer.one("m = [v + head for v in m]", "m[0] = m[0] + head", "m = [v * head for v in m]"))
    lines = [*before, *messages]
    if writer.chance(12):
        lines.append(
            writer.one(
                "observe(sum(m) != 1)",
                f"observe(flip({writer.probability()}) or sum(m) > 0)",
                "observe(max(m) > 0 or sum(m) == 0)",
                "for v in m:\n        observe(v != 3)",
                "observe(all(v < 3 for v in m))",
                "observe(m[0] + m[-1] < 5)",
                "for v in m:\n        if flip(1/3):\n            observe(v < 2)",
            )
        )
    if writer.chance(8):
        lines.append(
            writer.one(
                "assert sum(m) < 5",
                "assert all(v < 4 for v in m)",
                "assert max(m) <= sum(m)",
                "assert m[0] < 3",
                "assert sum(m) != 2 * len(x)",
            )
        )
    ending, tags = _ending(writer, domain, absent, n)
    return [*lines, *ending], tags


def _value(writer: _Writer, domain: Domain, absent: bool) -> str:
    value = f"({writer.one(*domain.integers)})"
    return f"({writer.one('0', '1')} if b is None else {value})" if absent else value


def _messages(writer: _Writer, domain: Domain, absent: bool, name: str, n: int) -> list[str]:
    """Return statements that give the list of the clients' contributions."""
    form, paths = writer.noise(_value(writer, domain, absent))
    if not writer.afford(paths**n):
        form = _value(writer, domain, absent)
    other = form
    if writer.chance(60):
        other, more = writer.noise(_value(writer, domain, absent))
        if not writer.afford(more**n):
            other = _value(writer, domain, absent)
    shared = "flip(1/3)" if writer.afford(2) else "True"
    build: Callable[[str], list[str]] = lambda item: [f"{name} = [{item} for i, b in enumerate(x)]"]  # noqa: E731
    return writer.rng.choice(
        [
            lambda: [f"{name} = [{form} for b in x]"],
            lambda: [f"{name} = [{form} for b in x]"],
            lambda: [f"{name} = [{form} for b in x]"],
            lambda: build(f"({form} if i % 2 else {other})"),
            lambda: build(f"({form} if i < 2 else {other})"),
            lambda: build(f"({form} if i == 1 else {other})"),
            lambda: build(f"WEIGHTS[i] * {form}"),
            lambda: build(f"(0 if i == 1 else {form})"),
            lambda: [f"coin = {shared}", *build(f"({form} + (coin if i in (0, 2) else 0))")],
            lambda: [f"coin = {shared}", *build(f"({form} if coin else {other})")],
            lambda: [f"{name} = [{form} for b in x]", f"{name}[0] = {name}[-1]"],
            lambda: [
                f"{name} = []",
                "for b in x:",
                f"    {name}.append({form})",
                f"    if {name}[-1] == 2:",
                f"        {name} += [0] * (len(x) - len({name}))",
                "        break",
            ],
        ]
    )()


def _ending(writer: _Writer, domain: Domain, absent: bool, n: int) -> tuple[list[str], frozenset[str]]:
    """Return the statements that turn contributions `m` into an output."""
    noise = f"geometric(sum(m), {writer.probability()} / 2, 0, 4)" if writer.afford(4) else "sum(m)"
    coin = f"flip({writer.probability()})" if writer.afford(2) else "True"
    fine = n <= 3 and writer.afford(6)
    number = [
        ["return sum(m)"],
        ["return max(m)"],
        ["return min(m)"],
        ["return any(m)"],
        ["return all(m)"],
        ["return sum(m) % 2"],
        ["acc = False", "for v in m:", "    acc = acc ^ (v > 0)", "return acc"],
        [f"return {noise}"],
        [f"return clamp({noise}, 1, 3)"],
        ["return TABLE[sum(m) % 5]"],
        ["return sum(m) >= 2"],
        ["return flip(clamp(sum(m), 0, 4) / 4)"],
        [f"return sum(m) if {coin} else max(m)"],
        ["return sum(m) + sum(v > 0 for v in m)"],
        ["return sum(x[i] == x[0] for i in range(len(x)))"],
        ["return sum(m[1:]) - m[0]"],
        ["return max(m) * sum(m)"],
        [f"return sum(v * {coin} for v in m)"],
        ["return 0"],
        [f"return int({coin})"],
        ["return m[0]"],
        ["best = 0", "for at, v in enumerate(m):", "    if v > m[best]:", "        best = at", "return best"],
        [f"total = sum(m) + {coin}", "return total if total > 1 else 1"],
        ["return sum(m) / 2"],
        ["c = 0", "for v in m:", "    c += v", "    if c >= 2:", "        return c", "return -c"],
    ]
    structured = [
        ["return tuple(m)"],
        ["return tuple(m)"],
        ["return tuple(sum(v == k for v in m) for k in range(3))"],
        ["return (sum(m), max(m))"],
        ["return (any(m), all(m))"],
        [f"return ({noise}, min(m))"],
        ["return (tuple(m), sum(m) > 1)"],
        [f"return (tuple(m), {coin})"],
        [f"return tuple(v if {coin} else None for v in m)"],
        ["return (m[0], sum(m))"],
        ["return tuple(m) if sum(m) > 1 else None"],
        [f"return tuple(m) if {coin} else sum(m)"],
        ["return sum(m) if sum(m) > 1 else (1, max(m))"],
        [f"t = 1 + {coin}", "return tuple(v >= t for v in m)"],
        [
            f"t = 1 + {coin}",
            "out = []",
            "for v in m:",
            "    if v >= t:",
            "        out.append(1)",
            "        break",
            "    out.append(0)",
            "return tuple(out)",
        ],
        [f"t = 1 + {coin}", "return next_above(m, t)"],
        ["return tuple(v if v else 'none' for v in m)"],
        [f"return (m[0], {coin}, *m[1:])"],
        ["return tuple(v ^ w for v, w in zip(m, m[1:] + m[:1]))"],
        ["return tuple(sorted(m))"],
    ]
    shuffles = [
        ["return tuple(shuffle(m))"],
        ["return tuple(shuffle(m))"],
        ["return (tuple(shuffle(m)), sum(m))"],
        ["return (tuple(shuffle(m)), m[0])"],
        ["return shuffle(m)[0]"],
        ["return tuple(shuffle(m))[1:]"],
        [f"return ({coin}, (tuple(shuffle(m)), 1))"],
        ["return (tuple(shuffle(m)), tuple(shuffle([v > 0 for v in m])))"],
        ["s = shuffle(m)", "return (tuple(s), s[0])"],
        ["s = shuffle(m)", "return (tuple(s), sum(s))"],
        ["s = shuffle(m)", "t = shuffle(m)", "return (tuple(s), t[0])"],
        ["return tuple(shuffle(m)) if sum(m) > 1 else 0"],
        ["return tuple(shuffle([v if v else None for v in m]))"],
        ["s = shuffle(m)", "observe(s[0] < 2)", "return tuple(s)"],
        ["s = shuffle(m)", "return (s[-1], tuple(s[:-1]))"],
        ["s = shuffle(m)", "t = shuffle(s)", "return tuple(t)"],
        ["s = shuffle([2, *m])", "return tuple(s)"],
        ["s = shuffle(m)", "return tuple(reversed(s))"],
        ["s = shuffle(m)", "assert s[0] < 3", "return tuple(s)"],
    ]
    kind = writer.rng.randrange(10)
    if kind < 4:
        return writer.rng.choice(number), frozenset({"numeric"})
    if kind < 8 or not fine:
        chosen = writer.rng.choice(structured)
        if "next_above" in chosen[-1]:
            chosen = [
                *chosen[:-1],
                "for at, v in enumerate(m):",
                "    if v >= t:",
                "        return (at, v)",
                "return None",
            ]
        return chosen, frozenset()
    return writer.rng.choice(shuffles), frozenset({"shuffle"})
