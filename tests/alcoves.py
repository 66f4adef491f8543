"""The laws of programs of `generators/real_programs.py` by runs of them, without the algebra of `cells`.

Draws are put into cells of half a unit. Where in its cell a draw is, counted from the left in every other cell and from
the right in the others, decides sums and differences with whole constants by the order of these places alone. So each
order of each cells is a simplex on which the program is run once, with the integral of a product of exponentials as its
mass. What is further out than `reach` is left away, and its mass known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np

from generators.real_programs import Form, Noise, RealProgram

NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


class Unmet(Exception):
    """A condition of the run is not met."""


def _observe(condition: bool) -> None:
    if not condition:
        raise Unmet


def centre(noise: Noise, x: int) -> int:
    return noise.slope * x + noise.shift


def density(noise: Noise, x: int, z: float) -> float:
    """The density of a real draw inside of a cell, or the mass of an integer."""
    away, scale = z - centre(noise, x), noise.scale
    if noise.kind == "laplace":
        return math.exp(-abs(away) / scale) / (2 * scale)
    if noise.kind == "exponential":
        return math.exp(-away / scale) / scale if away > 0 else 0.0
    if noise.kind == "uniform":
        return 1 / scale if 0 < away < scale else 0.0
    if noise.kind == "flip":
        return {0: 1 - 1 / (scale + 2), 1: 1 / (scale + 2)}.get(int(z), 0.0)
    ratio = math.exp(-1 / scale) if noise.kind == "discrete_laplace" else 1 / (scale + 1)
    if noise.kind == "one_sided_geometric":
        return (1 - ratio) * ratio**away if away >= 0 else 0.0
    return float((1 - ratio) / (1 + ratio) * ratio ** abs(away))


def rate(noise: Noise, x: int, cell: int) -> float:
    """The exponent of a density in a cell, from cell/2 to cell/2 + 1/2."""
    if noise.kind == "uniform":
        return 0.0
    return (1 if noise.kind == "laplace" and cell / 2 < centre(noise, x) else -1) / noise.scale


@lru_cache(1 << 16)
def ordered(rates: tuple[float, ...], most: float = 0.5) -> float:
    """The integral of e^(Σ rate·g) over 0 < g_1 < g_2 < ... < most."""
    if not rates:
        return 1.0
    places = most / 2 * (NODES + 1)
    inner = (ordered(rates[:-1], float(g)) for g in places) if len(rates) > 1 else (1.0 for _ in places)
    total = sum(w * math.exp(rates[-1] * g) * i for w, g, i in zip(WEIGHTS, places, inner, strict=True))
    return float(total) * most / 2


class Runs:
    """A program as a function of its draws."""

    def __init__(self, program: RealProgram, reach: int) -> None:
        self.program, self.reach = program, reach
        names = ", ".join(f"z{at}" for at in range(len(program.draws)))
        text = f"def run(x, {names}):\n" + "".join(f"    {line}\n" for line in program.body)
        space: dict[str, Any] = {"observe": _observe}
        exec(text, space)
        self._run: Callable[..., Any] = space["run"]

    def output(self, x: int, draws: Any) -> Any:
        """What a run returns, Unmet where a condition is not met."""
        try:
            return self._run((x,), *draws)
        except Unmet:
            return Unmet

    def beyond(self, x: int) -> float:
        """An upper end of the probability that some draw is further out than the reach."""
        total = 0.0
        for noise in self.program.draws:
            far = self.reach - abs(centre(noise, x))
            whole = noise.kind in ("geometric", "one_sided_geometric")
            ratio = 1 / (noise.scale + 1) if whole else math.exp(-1 / noise.scale)
            total += 2 * ratio**far if noise.kind not in ("uniform", "flip") else 0.0
        return total

    def law(self, x: int) -> dict[Any, float]:
        """The masses of all outputs within the reach."""
        draws = self.program.draws
        real = [at for at, noise in enumerate(draws) if noise.real]
        values = []
        for noise in draws:
            if noise.real:
                cells = range(-2 * self.reach, 2 * self.reach)
                values.append([c for c in cells if density(noise, x, c / 2 + 0.25) > 0])
            else:
                values.append([v for v in range(-self.reach, self.reach + 1) if density(noise, x, v) > 0])
        found: dict[Any, float] = {}
        for cells in product(*values):
            mass, rates, place = 1.0, {}, list(cells)
            for at, (noise, cell) in enumerate(zip(draws, cells, strict=True)):
                if noise.real:
                    slope = rate(noise, x, cell)
                    edge = (cell + cell % 2) / 2  # places are counted from here
                    mass *= density(noise, x, cell / 2 + 0.25) * math.exp(slope * (edge - cell / 2 - 0.25))
                    rates[at] = -slope if cell % 2 else slope
                else:
                    mass *= density(noise, x, cell)
            for order in permutations(real):
                for rank, at in enumerate(order):
                    g = (rank + 1) / 16
                    place[at] = cells[at] / 2 + (0.5 - g if cells[at] % 2 else g)
                output = self.output(x, place)
                found[output] = found.get(output, 0.0) + mass * ordered(tuple(rates[at] for at in order))
        return found

    def densities(self, x: int, form: Form, v: Fraction) -> dict[Any, float]:
        """The density of outputs whose number is v by this form, by what else they hold; of one or two draws."""
        coefficients, constant = form
        draws = self.program.draws
        used = [at for at, c in enumerate(coefficients) if c]
        own = used[0]
        if not draws[own].real:
            return {}
        rest = [at for at in range(len(draws)) if at != own]
        found: dict[Any, float] = {}
        for hidden, low, high in self._hidden(x, rest, v):
            h = hidden
            mine = (v - constant - (coefficients[rest[0]] * h if rest else 0)) / coefficients[own]
            place: list[Any] = [mine] * len(draws)
            if rest:
                place[rest[0]] = h
            output = self.output(x, place)
            first = output[0] if isinstance(output, tuple) else output
            if isinstance(first, bool) or first is None or first is Unmet or first != v:
                continue
            others = output[1:] if isinstance(output, tuple) else ()
            others = tuple(each if isinstance(each, bool) else "number" for each in others)
            weight = self._weight(x, own, rest, mine, h, low, high, coefficients) / abs(coefficients[own])
            if weight:
                found[others] = found.get(others, 0.0) + weight
        return found

    def _hidden(self, x: int, rest: list[int], v: Fraction) -> Iterator[tuple[Any, Any, Any]]:
        """Values of the draw that is summed out: integers, or points of segments on which runs decide alike."""
        if not rest:
            yield Fraction(0), None, None
        elif self.program.draws[rest[0]].real:
            whole = [Fraction(c, 2) for c in range(-2 * self.reach, 2 * self.reach + 1)]
            shares = {(sign * v * part) % Fraction(1, 2) for sign in (1, -1) for part in (1, Fraction(1, 2))}
            cuts = sorted({*whole, *(c + share for c in whole[:-1] for share in shares)})
            for low, high in pairwise(cuts):
                yield (low + high) / 2, low, high
        else:
            yield from ((Fraction(h), None, None) for h in range(-self.reach, self.reach + 1))

    def _weight(
        self, x: int, own: int, rest: list[int], mine: Any, h: Any, low: Any, high: Any, coefficients: Any
    ) -> float:
        draws = self.program.draws
        if low is None:
            return math.prod(density(draws[at], x, z) for at, z in [(own, mine), *((at, h) for at in rest)])
        move = -Fraction(coefficients[rest[0]], coefficients[own])

        def at(t: Any) -> float:
            return density(draws[own], x, float(mine + move * (t - h))) * density(draws[rest[0]], x, float(t))

        wide = float(high - low)
        first, last = at(low + (high - low) / 4), at(high - (high - low) / 4)
        if not first or not last:
            return 0.0
        slope = 2 * math.log(last / first)
        grown = math.expm1(slope) / slope if abs(slope) > 1e-9 else 1.0
        return first * math.exp(-slope / 4) * grown * wide
