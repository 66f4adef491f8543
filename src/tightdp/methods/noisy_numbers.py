"""Numbers to which discrete Gaussian noise is added: what an output is computed from, where it sees no more.

Their ρ is the largest squared distance between neighbours over twice the variance, and that of the output is at most as
large (docs/unbounded-noise.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from tightdp.core.nodes import Apply, Const, CoreProgram, Draw, Expr, Input, Nary, Shuffled, reachable
from tightdp.core.outputs import Leaf, TupleOf
from tightdp.core.passes import Rebuild
from tightdp.exact import theta
from tightdp.language.program import Bound, Dataset

_INVERTIBLE = ("name_tail", "neg", "add", "sub", "sum")
"""Operations that lose nothing, where all operands but one are constants."""


@dataclass(frozen=True)
class NoisyNumbers:
    """The program that gives the numbers, the variances of the noise on them, and whether the sums are published."""

    centres: CoreProgram
    variances: tuple[Fraction, ...]
    published: bool

    def between(self, bound: Bound) -> Callable[[Dataset, Dataset], Fraction]:
        """Return what says the ρ of the noisy numbers on two datasets."""

        @cache
        def numbers(x: Dataset) -> tuple[Fraction, ...]:
            parts = [bound.record.split(record) for record in x]

            def given(rebuild: Rebuild, expr: Expr) -> Expr | None:
                return rebuild.builder.const(parts[expr.client][expr.leaf]) if isinstance(expr, Input) else None

            return tuple(Fraction(centre.values[0]) for centre in Rebuild(given).copy(self.centres.components))

        def rho(x: Dataset, other: Dataset) -> Fraction:
            moved = zip(numbers(x), numbers(other), self.variances, strict=True)
            return sum(((c - d) ** 2 / (2 * variance) for c, d, variance in moved), Fraction(0))

        return rho


def find_noisy_numbers(core: CoreProgram) -> NoisyNumbers | None:
    """Return the numbers with noise that an output is computed from; None where it sees the records in another way."""
    nodes = reachable(core.components)
    variances = core.inexact.variances if core.inexact is not None else ()
    random = any(isinstance(node, Shuffled) or (isinstance(node, Draw) and node.active is not None) for node in nodes)
    users: dict[int, list[Expr]] = {}
    for node in nodes:
        for child in node.children:
            users.setdefault(child.serial, []).append(node)
    found = {}
    for draw in nodes:
        variance = _variance(draw, variances)
        if variance is not None and len(above := users.get(draw.serial, [])) == 1 and _is_sum(above[0], draw):
            found[above[0].serial] = above[0], draw, variance
    seen = any(isinstance(node, Input) for node in reachable(core.components, ends=found))
    if not found or seen or random or core.evidence:
        return None
    noises = {draw.serial for _, draw, _ in found.values()}
    below = Rebuild(lambda rebuild, expr: rebuild.builder.const(0) if expr.serial in noises else None)
    centres = below.copy([node for node, _, _ in found.values()])
    shape = TupleOf(tuple(map(Leaf, range(len(centres)))))
    published = all(_is_published(node, users, core.components) for node, _, _ in found.values())
    whole = CoreProgram(core.inputs, centres, shape, (), ())
    return NoisyNumbers(whole, tuple(variance for _, _, variance in found.values()), published)


def _variance(node: Expr, variances: tuple[Fraction, ...]) -> Fraction | None:
    """Return the variance of a node that is a draw of Gaussian noise, of which its probabilities tell."""
    if not isinstance(node, Draw) or len(node.laws) != 1 or node.laws[0] is None:
        return None
    law = {z: mass for z, mass in node.laws[0] if isinstance(z, int)}
    beside = law.get(max(law, key=law.__getitem__) + 1) if law else None
    return next((variance for variance in variances if theta.mass(variance, 1) == beside), None)


def _is_published(node: Expr, users: Mapping[int, Sequence[Expr]], components: Sequence[Expr]) -> bool:
    """Whether a node is published, or what it can be computed from, and is used for nothing else."""
    while node not in components:
        above = users.get(node.serial, ())
        if len(above) != 1 or not isinstance(above[0], (Apply, Nary)) or above[0].operator not in _INVERTIBLE:
            return False
        constants = [isinstance(each, Const) for each in above[0].children]
        if constants.count(False) > 1:
            return False
        node = above[0]
    return not users.get(node.serial)


def _is_sum(node: Expr, draw: Expr) -> bool:
    """Whether a node adds a draw, once, to what is not random."""
    plain = isinstance(node, Nary) and node.operator == "sum"
    plain = plain or (isinstance(node, Apply) and node.operator in ("add", "sub"))
    others = [operand for operand in node.children if operand is not draw]
    return plain and len(others) == len(node.children) - 1 and not any(isinstance(e, Draw) for e in reachable(others))
