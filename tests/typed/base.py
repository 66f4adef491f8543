"""What the writer of well typed programs decides, how many random paths are left, and the names by kind."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INT, BOOL, OPTIONAL, LIST, MIXED, TUPLE, TEXT, NESTED = (
    "int",
    "bool",
    "optional",
    "list",
    "mixed",
    "tuple",
    "text",
    "nested",
)


class Base:
    """Decisions, the budget of random paths, names, blocks."""

    def __init__(self, rng: random.Random, paths: int = 120, statements: int = 22) -> None:
        self.rng = rng
        self.paths = paths
        self.left = statements
        self.lines: list[str] = []
        self.depth = 1
        self.scopes: list[dict[str, str]] = [{}]
        self.repeats = 1
        self.loops = 0
        self.serial = 0
        self.functions: dict[str, int] = {}
        self.in_function = False

    # decisions

    def one(self, *options: Any) -> Any:
        return options[self.rng.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def draws(self, outcomes: int) -> bool:
        """Whether the budget allows one more draw here, which is then taken from it."""
        cost = outcomes**self.repeats
        if cost > self.paths or self.repeats > 8:
            return False
        self.paths //= cost
        return True

    # names

    def fresh(self, kind: str) -> str:
        self.serial += 1
        name = f"{kind[0]}{self.serial}"
        self.scopes[-1][name] = kind
        return name

    def names(self, kind: str) -> list[str]:
        return [name for scope in self.scopes for name, other in scope.items() if other == kind]

    def name(self, kind: str) -> str | None:
        names = self.names(kind)
        return self.one(*names) if names else None

    @contextmanager
    def block(self, repeats: int = 1, leak: int = 2) -> Iterator[None]:
        self.depth += 1
        self.scopes.append({})
        before = self.repeats
        self.repeats *= repeats
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.write("pass")
        self.repeats = before
        inner = self.scopes.pop()
        if self.chance(leak):
            self.scopes[-1].update(inner)
        self.depth -= 1

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)
