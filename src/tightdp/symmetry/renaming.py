"""Renamings of a program's variables, and whether the diagram confirms that they change nothing.

The formula is encoded once more with the outcomes of the draws as free variables: it holds where the program, on this
dataset and with these outcomes, returns this output. A renaming exchanges records between clients, records with each
other, outcomes and outputs likewise. Where the renamed formula is the same function, and every outcome has the
probability of its image, P(y | x) is the same for the image of y and the image of x: summing over the outcomes and over
their images is the same sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from tightdp.core.nodes import Const, CoreProgram, Draw, Expr, reachable
from tightdp.exact.field import Number
from tightdp.logic.bdd import Node
from tightdp.logic.encode import Digit, Encoder, Tree
from tightdp.logic.formula import InputBit, code_length

__all__ = ["Image", "Renaming", "Verifier"]

Image = tuple[int, tuple[int, ...]]
"""What takes the place of a variable, and for every position of its values the position of the image."""


@dataclass(frozen=True)
class Renaming:
    """The image of every record leaf and draw (by serial number) and of every output component; others stay."""

    leaves: Mapping[int, Image] = field(default_factory=dict)
    components: Mapping[int, Image] = field(default_factory=dict)


class _ValueEncoder(Encoder):
    """An encoding in which the outcome of a draw is a free variable instead of being determined by coins."""

    def plan_draw(self, draw: Draw) -> None:
        levels = self.fresh(InputBit(draw.serial, bit) for bit in range(code_length(len(draw.values))))
        self.bits[draw.serial] = levels
        supports = [{draw.index[outcome] for outcome, _ in law or ()} for law in draw.laws]
        self.trees[draw.serial] = [_tree(levels, support) for support in supports]


def _tree(levels: Sequence[int], support: set[int], start: int = 0) -> Tree:
    """Return the tree of the outcomes of positive probability."""
    if not levels:
        return start if start in support else None
    low = _tree(levels[1:], support, 2 * start)
    high = _tree(levels[1:], support, 2 * start + 1)
    return None if low is None and high is None else Digit(levels[0], high, low)


class Verifier:
    """Decides whether a renaming leaves a program without `Shuffled` nodes unchanged.

    The checks of the program are assumed to hold, and left out. `watch` is called with the size of the diagram and may
    raise.
    """

    def __init__(
        self, program: CoreProgram, backend: str = "cudd", watch: Callable[[int], None] = lambda size: None
    ) -> None:
        self._encoder = _ValueEncoder(replace(program, checks=()), backend, watch)
        self._manager = self._encoder.manager
        self._watch = watch
        self._relation = self._encoder.relation()
        nodes = {leaf.serial: leaf for leaf in reachable([*program.inputs, *program.components, *program.evidence])}
        self._leaves = {serial: nodes[serial] for serial in self._encoder.bits}
        self._valid = self._all_valid()
        self._weights: dict[int, dict[Number, Node]] = {}

    def confirms(self, renaming: Renaming) -> bool:
        """Whether the renamed formula equals the formula, with equal weights; False unless the map is one to one."""
        if not _one_to_one(renaming.leaves) or not _one_to_one(renaming.components):
            return False
        self._watch(self._manager.size())
        functions = dict(self._substitution(renaming))
        if not self._same(self._relation, self._relation, functions):
            return False
        return all(
            self._same_weights(leaf, *renaming.leaves.get(serial, (serial, tuple(range(len(leaf.values))))), functions)
            for serial, leaf in self._leaves.items()
            if isinstance(leaf, Draw)
        )

    def _same(self, function: Node, other: Node, functions: dict[int, Node]) -> bool:
        """Whether a function equals another one after renaming, wherever all codes stand for a value."""
        manager = self._manager
        renamed = manager.substitute(other, functions) if functions else other
        return bool(manager.both(function, self._valid) == manager.both(renamed, self._valid))

    def _all_valid(self) -> Node:
        """Return the function that holds where every code stands for a value."""
        blocks = [(levels, len(self._leaves[serial].values)) for serial, levels in self._encoder.bits.items()]
        blocks += [
            (levels, len(self._encoder.program.components[number].values))
            for number, levels in self._encoder.outputs.items()
        ]
        result = self._manager.true
        for levels, size in sorted(blocks, reverse=True):
            if size < 1 << len(levels):
                codes = (self._encoder.code(levels, position) for position in range(size))
                result = self._manager.both(self._any(codes), result)
        return result

    def _any(self, functions: Iterator[Node]) -> Node:
        result = self._manager.false
        for function in functions:
            result = self._manager.either(result, function)
        return result

    def _substitution(self, renaming: Renaming) -> Iterator[tuple[int, Node]]:
        """Yield, for the levels of every image, the function that its bit becomes."""
        encoder = self._encoder
        for levels_of, images in ((encoder.bits, renaming.leaves), (encoder.outputs, renaming.components)):
            for which, (image, positions) in images.items():
                if which != image or positions != tuple(range(len(positions))):
                    yield from self._bits(levels_of.get(which, []), levels_of.get(image, []), positions)

    def _bits(
        self, levels: Sequence[int], image_levels: Sequence[int], positions: Sequence[int]
    ) -> Iterator[tuple[int, Node]]:
        known = levels or len(positions) == 1
        codes = [self._encoder.code(levels, at) for at in range(len(positions))] if known else []
        for place, level in enumerate(reversed(image_levels)):
            yield level, self._any(code for code, image in zip(codes, positions, strict=False) if image >> place & 1)

    def _same_weights(self, leaf: Expr, image: int, positions: Sequence[int], functions: dict[int, Node]) -> bool:
        """Whether every outcome of a draw has the probability of its image, whatever the selectors are."""
        other = self._leaves.get(image)
        if not isinstance(leaf, Draw) or not isinstance(other, Draw):
            return False
        if isinstance(leaf.selector, Const) and isinstance(other.selector, Const):
            ours, theirs = _masses(leaf, 0), _masses(other, 0)
            return all(mass == theirs[positions[at]] for at, mass in enumerate(ours))
        ours_by_mass, theirs_by_mass = self._weights_of(leaf), self._weights_of(other)
        return all(
            self._same(
                ours_by_mass.get(mass, self._manager.false), theirs_by_mass.get(mass, self._manager.false), functions
            )
            for mass in {**ours_by_mass, **theirs_by_mass}
        )

    def _weights_of(self, draw: Draw) -> dict[Number, Node]:
        """Return, for every probability, the function that holds where the outcome of a draw has it."""
        found = self._weights.get(draw.serial)
        if found is None:
            levels, manager = self._encoder.bits[draw.serial], self._manager
            codes = [self._encoder.code(levels, position) for position in range(len(draw.values))]
            masses = [_masses(draw, at) for at in range(len(draw.laws))]
            found = {}
            for mass in sorted({mass for entry in masses for mass in entry}):
                guards = tuple(
                    self._any(code for code, other in zip(codes, entry, strict=True) if other == mass)
                    for entry in masses
                )
                found[mass] = self._encoder.bind(draw.selector, guards)
            self._weights[draw.serial] = {mass: node for mass, node in found.items() if node != manager.false}
        return self._weights[draw.serial]


def _one_to_one(images: Mapping[int, Image]) -> bool:
    """Whether no two variables, and no two values of one, have the same image."""
    return {image for image, _ in images.values()} == images.keys() and all(
        sorted(positions) == list(range(len(positions))) for _, positions in images.values()
    )


def _masses(draw: Draw, selected: int) -> list[Number]:
    """Return the probability of every value of a draw under the law that a selector value picks."""
    masses: list[Number] = [Fraction(0)] * len(draw.values)
    for outcome, mass in draw.laws[selected] or ():
        masses[draw.index[outcome]] += mass
    return masses
