"""Runs that leave loops and functions early, in every place where Python lets them, compared with the interpreter."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from agreement import assert_agreement, bind, datasets, module_of
from thinned import thinned
from tightdp.language import interp
from tightdp.language.domains import Bit
from tightdp.language.program import Bound

PROGRAMS = {
    "continue-in-the-else-of-an-inner-loop": """
def f(x):
    for b in x:
        for j in (0,):
            if flip("1/2"):
                break
        else:
            continue
        return 0
    return b""",
    "break-in-the-else-of-an-inner-loop": """
def f(x):
    total = 0
    for b in x:
        for j in range(2):
            if flip(1/3):
                total += 1 + j
                break
        else:
            break
        total += 2 * b
    else:
        total += 10
    return total""",
    "both-in-the-else-of-a-while": """
def f(x):
    out = 0
    for b in x:
        k = 0
        while k < 2:
            k += 1
            if flip(1/3):
                break
            out += 1
        else:
            if b:
                continue
            if flip(1/4):
                break
        out += 5
    return out""",
    "return-in-the-else-of-an-inner-loop": """
def f(x):
    for b in x:
        while flip(1/2):
            break
        else:
            return b
    return 2""",
    "else-of-the-else": """
def f(x):
    s = 0
    for b in x:
        for j in range(2):
            for k in range(2):
                if flip(1/3):
                    break
                s += 1
            else:
                continue
            if b:
                break
        else:
            continue
        s += 10
    return s""",
    "a-function-that-returns-from-a-loop": """
def f(x):
    def first(b):
        for j in range(2):
            if flip(1/3):
                return j
            for k in range(2):
                if flip(b / 2):
                    break
            else:
                continue
            return 7
        return 9
    total = 0
    for b in x:
        total = 10 * total + first(b)
        if total > 50:
            break
    else:
        total = -total
    return total""",
    "observe-in-the-else": """
def f(x):
    s = 0
    for b in x:
        for j in range(2):
            if flip(1/3):
                break
        else:
            observe(b == 0 or flip(1/2))
            continue
        s += 1
    return s""",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_that_leave_early_have_their_laws(name: str) -> None:
    with module_of(PROGRAMS[name] + "\n") as module:
        assert_agreement(bind(module, Bit, 2))


class _Writer:
    """Writes a random function in which runs leave nested loops and functions in every place."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names = 0

    def text(self) -> str:
        self.lines = ["def f(x):", "    s = t = 0"]
        self.block("    ", 4, in_loop=False, least=3)
        self.lines.append("    return s, t")
        return "\n".join(self.lines) + "\n"

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def condition(self) -> str:
        return self.random.choice(
            ["flip(1/2)", "flip(1/3)", "x[0]", "x[-1] == 1", "s > 1", "t % 2 == 0", "s == t", "flip((1 + x[0]) / 3)"]
        )

    def block(self, indent: str, depth: int, in_loop: bool, least: int = 1) -> None:
        for _ in range(self.random.randint(least, 3)):
            self.statement(indent, depth, in_loop)

    def statement(self, indent: str, depth: int, in_loop: bool) -> None:
        kinds = ["change", "change", "observe"]
        if in_loop:
            kinds += ["break", "continue", "return"]
        if depth:
            kinds += ["if", "if", "for", "for", "while", "function", "search"]
        kind = self.random.choice(kinds)
        add, inner = self.lines.append, indent + "    "
        match kind:
            case "change":
                add(indent + self.random.choice(["s += 1", "t += 1", "s = t", "t = 1 - t", "s = (s + x[-1]) % 3"]))
            case "observe":
                add(f"{indent}observe({self.condition()} or flip(1/2))")
            case "break" | "continue":
                add(f"{indent}if {self.condition()}:")
                add(inner + kind)
            case "return":
                add(f"{indent}if {self.condition()}:")
                add(f"{inner}return s + {self.random.randint(1, 3)}, t")
            case "if":
                add(f"{indent}if {self.condition()}:")
                self.block(inner, depth - 1, in_loop)
                if self.random.random() < 0.5:
                    add(f"{indent}else:")
                    self.block(inner, depth - 1, in_loop)
            case "for":
                over = self.random.choice(["range(1)", "range(2)", "x", "range(s % 3)", "(0, 2)"])
                add(f"{indent}for {self.name()} in {over}:")
                self.block(inner, depth - 1, in_loop=True)
                self.otherwise(indent, depth, in_loop)
            case "while":
                name = self.name()
                add(f"{indent}{name} = 0")
                add(f"{indent}while {name} < {self.random.randint(1, 2)} and {self.condition()}:")
                add(f"{inner}{name} += 1")
                self.block(inner, depth - 1, in_loop=True)
                self.otherwise(indent, depth, in_loop)
            case "function":
                name = self.name()
                add(f"{indent}def {name}(x, s, t):")
                self.block(inner, depth - 1, in_loop=False)
                add(f"{inner}return s, t")
                add(f"{indent}s, t = {name}(x, s, t)")
            case "search":
                kind = self.random.choice(["any", "all"])
                add(f"{indent}t += {kind}({self.condition()} for _ in range(2) if {self.condition()})")

    def otherwise(self, indent: str, depth: int, in_loop: bool) -> None:
        if self.random.random() < 0.7:
            self.lines.append(f"{indent}else:")
            self.block(indent + "    ", depth - 1, in_loop)


_MOST_RUNS = 300


def _small(bound: Bound) -> bool:
    return all(sum(1 for _ in islice(interp.runs(bound, x), _MOST_RUNS)) < _MOST_RUNS for x in datasets(bound))


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", thinned(range(40), 2))
def test_random_programs_of_early_exits_have_their_laws(seed: int) -> None:
    with module_of(_Writer(seed).text()) as module:
        bound = bind(module, Bit, 1 + seed % 2)
        if _small(bound):
            assert_agreement(bound, ("cudd",))
