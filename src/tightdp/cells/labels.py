"""Kinds of outputs: how an output is nested, what in it is no noisy number, and where its noisy numbers may lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tightdp.cells.lattices import Lattice
from tightdp.cells.linear import REAL
from tightdp.language.program import as_output

__all__ = ["Label", "rebuilt", "shape_of"]


@dataclass(frozen=True)
class Label:
    """A kind of output: nested like `shape`, which has True for noisy numbers and False for the `constants`.

    The noisy numbers are (base + columns·coordinates) / scales, for integer coordinates, and real ones after these:
    what they span stands in `reals`, a matrix with a column for each.
    """

    shape: Any
    constants: tuple[Any, ...]
    base: tuple[Fraction, ...]
    columns: tuple[tuple[int | Fraction, ...], ...] = field(compare=False)
    scales: tuple[int, ...] = field(compare=False)
    reals: tuple[tuple[Fraction, ...], ...] = ()

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.columns[0]) if self.columns else 0

    @property
    def real(self) -> bool:
        """Whether there are real coordinates: then an output has a density, and the probability 0."""
        return bool(self.reals) and bool(self.reals[0])

    @property
    def variables(self) -> tuple[int, ...]:
        """The names of the coordinates."""
        real = len(self.reals[0]) if self.real else 0
        return (*range(self.dimension - real), *range(REAL, REAL + real))

    def output(self, coordinates: Sequence[Any]) -> Any:
        """Return the output with these coordinates."""
        numbers = [
            (base + sum(c * u for c, u in zip(line, coordinates, strict=True))) / scale
            for base, line, scale in zip(self.base, self.columns, self.scales, strict=True)
        ]
        return self._filled(numbers)

    def direction(self, moved: Sequence[Any]) -> Any:
        """Return how the numbers of an output move with its coordinates, everything else being None."""
        numbers = [sum(c * u for c, u in zip(line, moved, strict=True)) for line in self.columns]
        return self._filled(numbers)

    def coordinates(self, output: Any) -> tuple[int, ...] | None:
        """Return the coordinates of an output of integers, None where it is of another kind."""
        leaves: list[Any] = []
        if shape_of(output, leaves) != rebuilt(self.shape, lambda _: True):
            return None
        free = _leaves(self.shape)
        if tuple(leaf for leaf, noise in zip(leaves, free, strict=True) if not noise) != self.constants:
            return None
        numbers = [leaf for leaf, noise in zip(leaves, free, strict=True) if noise]
        if not all(isinstance(number, (int, Fraction)) for number in numbers):
            return None
        rest = [Fraction(x) * s - b for x, s, b in zip(numbers, self.scales, self.base, strict=True)]
        pivots = [next(at for at, line in enumerate(self.columns) if line[c]) for c in range(self.dimension)]
        columns = tuple(tuple(map(int, line)) for line in self.columns)
        lattice = Lattice(columns, tuple(pivots), ())
        place = lattice.place(rest)
        exact = all(u.denominator == 1 for u in place) and lattice.at(place) == rest
        return tuple(map(int, place)) if exact else None

    def _filled(self, numbers: Sequence[Any]) -> Any:
        rest, constants = iter(numbers), iter(self.constants)
        return as_output(rebuilt(self.shape, lambda free: next(rest) if free else next(constants)))


def shape_of(value: Any, leaves: list[Any]) -> Any:
    """Return how an output is nested, with True for every scalar, which is added to the leaves."""
    if isinstance(value, tuple):
        return tuple([shape_of(item, leaves) for item in value])
    leaves.append(value)
    return True


def _leaves(shape: Any) -> list[bool]:
    return [leaf for item in shape for leaf in _leaves(item)] if isinstance(shape, tuple) else [shape]


def rebuilt(shape: Any, leaf: Callable[[bool], Any]) -> Any:
    """Return a nested tuple with something in place of every leaf."""
    return tuple(rebuilt(item, leaf) for item in shape) if isinstance(shape, tuple) else leaf(shape)
