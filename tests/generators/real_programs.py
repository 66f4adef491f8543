"""Drawn programs with real and integer noise that is compared, added, clamped, rounded and published, and their parts.

Conditions are about ±z, z ± w and 2z, with whole constants, so that on cells of half a unit, cut by the order of places
in them, every run decides alike (`alcoves`).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

__all__ = ["RealProgram", "real_program"]

Form = tuple[tuple[int, ...], int]
"""A coefficient for each draw, and a constant."""
_REALS = ("laplace", "laplace", "exponential", "uniform")
_WHOLE = ("geometric", "one_sided_geometric", "discrete_laplace", "flip")


@dataclass(frozen=True)
class Noise:
    """A draw: its kind, centre `slope`·x + `shift`, and scale (of a coin, a fourth: the probability)."""

    kind: str
    slope: int
    shift: int
    scale: int

    @property
    def real(self) -> bool:
        """Whether it is a real number."""
        return self.kind in _REALS

    def written(self) -> str:
        """Return the call."""
        centre = f"{self.slope} * x[0] + {self.shift}"
        if self.kind == "flip":
            return f'int(flip("1/{self.scale + 2}"))'
        if self.kind == "uniform":
            return f"uniform({centre}, {centre} + {self.scale})"
        if self.kind in ("geometric", "one_sided_geometric"):
            return f'{self.kind}({centre}, "1/{self.scale + 1}")'
        return f"{self.kind}({centre}, {self.scale})"


@dataclass
class RealProgram:
    """The draws, the lines after them, and the forms by which a number may be published."""

    draws: list[Noise] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    forms: set[Form] = field(default_factory=set)
    numeric: bool = False

    def source(self) -> str:
        """Return a module with the mechanism `drawn`."""
        names = "Bit, discrete_laplace, exponential, flip, geometric, laplace, mechanism, observe, one_sided_geometric"
        lines = [f"z{at} = {noise.written()}" for at, noise in enumerate(self.draws)] + self.body
        target = ", target=lambda x: x[0]" if self.numeric else ""
        head = [f"from tightdp import {names}, uniform", "", "", f"@mechanism(record=Bit{target})", "def drawn(x):"]
        return "\n".join([*head, *(f"    {line}" for line in lines)]) + "\n"


def real_program(seed: int) -> RealProgram:
    """Return the program of a seed."""
    return _Writer(random.Random(seed)).program()


class _Writer:
    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.made = RealProgram()
        self.conditions: list[str] = []

    def program(self) -> RealProgram:
        draw, made = self.draw, self.made
        published = draw.random() < 0.5
        count = draw.choice([1, 2, 2]) if published else draw.choice([1, 2, 2, 2, 3])
        for _ in range(count):
            kind = draw.choice(_REALS if draw.random() < 0.75 else _WHOLE)
            centre = draw.choice([(1, 0), (1, 0), (0, 0), (-1, 0), (-1, 1), (2, 0), (0, 1)])
            made.draws.append(Noise(kind, *centre, 1 if count == 3 else draw.choice([1, 1, 2])))
        if draw.random() < 0.12:
            made.body.append(f"observe({self._condition()})")
        if draw.random() < 0.3:
            made.body.append(f"c = {self._condition()}")
            self.conditions.append("c")
        self._publish() if published else self._tell()
        return made

    def _one(self) -> int:
        return self.draw.randrange(len(self.made.draws))

    def _constant(self) -> int:
        return self.draw.choice([-2, -1, 0, 0, 1, 1, 2, 3])

    def _condition(self) -> str:
        if self.conditions and self.draw.random() < 0.3:
            return self.draw.choice(self.conditions)
        z, w = f"z{self._one()}", f"z{self._one()}"
        left, right = self.draw.choice([
            (z, str(self._constant())), (z, str(self._constant())), (f"2 * {z}", str(self._constant())),
            (f"-{z}", "x[0]"),
            (z, w), (z, f"{w} + {self._constant()}"), (f"{z} - {w}", "x[0]"), (f"{z} + {w}", str(self._constant())),
            (f"abs({z})", "1"), (f"max({z}, 0)", w), (f"max(-1, min({z}, 1))", w),
        ])  # fmt: skip
        made = f"({left} {self.draw.choice(['<', '<=', '>', '>='])} {right})"
        self.conditions.append(made)
        return made

    def _tell(self) -> None:
        one, other = self._condition(), self._condition()
        z = f"z{self._one()}"
        told = self.draw.choice([
            one, f"({one}, {other})", f"int({one}) + int({other})", f"({one}, {one} or {other})",
            f"round(max(-1, min({z}, 2)))", f"(max(0, min({z} // 1, 2)), {one})",
            f"'yes' if {one} else int({other})", f"int({one}) - 2 * int({other})",
            f"max(0, min({z} // 2, 1)) if {one} else 2", f"sum([{one}, {other}, {self._condition()}])",
        ])  # fmt: skip
        self.made.numeric = told.startswith(("int", "round", "max", "sum"))
        self.made.body.append(f"return {told}")

    def _form(self, at: int, coefficient: int = 1, constant: int = 0, less: int | None = None) -> None:
        line = [0] * len(self.made.draws)
        line[at] += coefficient
        if less is not None:
            line[less] -= 1
        self.made.forms.add((tuple(line), constant))

    def _number(self) -> str:
        at, other, c = self._one(), self._one(), self._constant()
        kind = self.draw.choice(
            ["plain", "plain", "shifted", "negated", "double", "less", "max", "min", "clamped", "abs"]
        )
        if kind == "less" and other != at and self.made.draws[at].real == self.made.draws[other].real:
            self._form(at, less=other)
            return f"z{at} - z{other}"
        if kind in ("max", "min") and self.made.draws[at].real == self.made.draws[other].real:
            self._form(at)
            self._form(other)
            return f"{kind}(z{at}, z{other})"
        if kind == "shifted":
            self._form(at, constant=c)
            return f"z{at} + {c}"
        if kind == "negated":
            self._form(at, -1, c)
            return f"{c} - z{at}"
        if kind == "double":
            self._form(at, 2, 1)
            return f"2 * z{at} + 1"
        self._form(at)
        if kind == "clamped":
            return f"max(-1, min(z{at}, 2))"
        if kind == "abs":
            self._form(at, -1)
            return f"abs(z{at})"
        return f"z{at}"

    def _publish(self) -> None:
        number, one = self._number(), self._condition()
        again = f"({number}) + 1" if self.draw.random() < 0.5 else f"-({number})"
        choices = [number, number, f"({number}, {one})", f"{number} if {one} else None", f"({number}, {again})"]
        told = self.draw.choice(choices)
        if self.draw.random() < 0.2:
            told = f"{number} if {one} else {self._number()}"
        self.made.body.append(f"return {told}")
