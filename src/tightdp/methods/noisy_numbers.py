"""Numbers to which discrete Gaussian noise is added: what an output is computed from, where it sees no more.

Their ρ is the largest squared distance between neighbours over twice the variance, and that of the output is at most as
large (docs/unbounded-noise.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from tightdp.core.nodes import Apply, CoreProgram, Draw, Expr, Input, Nary, Shuffled, children, reachable
from tightdp.core.outputs import Leaf, TupleOf
from tightdp.core.passes import Rebuild
from tightdp.exact import theta
from tightdp.language.program import Dataset
from tightdp.limits.calibrated import FEW_DATASETS
from tightdp.methods import questions
from tightdp.methods.base import Control, Pair
from tightdp.methods.program import Program
from tightdp.symmetry.sets import every_neighbouring_pair


@dataclass(frozen=True)
class NoisyNumbers:
    """The program that gives the numbers, the variances of the noise on them, and whether the sums are published."""

    centres: CoreProgram
    variances: tuple[Fraction, ...]
    published: bool

    def furthest(self, program: Program, control: Control) -> tuple[Fraction, Pair | None] | None:
        """Return the ρ of the noisy numbers, and neighbours who have it; None where there are too many datasets."""
        if program.datasets > FEW_DATASETS:
            return None
        alone = Program(program.bound, program.candidates, program.backend, "exhaustive", given=self.centres)
        table = questions.laws(alone, control)[1]

        @cache
        def numbers(x: Dataset) -> tuple[int, ...]:
            found: tuple[int, ...]
            (found,) = table.law(x)
            return found

        best: tuple[Fraction, Pair | None] = Fraction(0), None
        for x, other, _ in every_neighbouring_pair(program.bound):
            control()
            moved = zip(numbers(x), numbers(other), self.variances, strict=True)
            rho = sum((Fraction((c - d) ** 2) / (2 * variance) for c, d, variance in moved), Fraction(0))
            if rho > best[0]:
                best = rho, Pair(x, other, 0, table)
        return best


def find_noisy_numbers(core: CoreProgram) -> NoisyNumbers | None:
    """Return the numbers with noise that an output is computed from; None where it sees the records in another way."""
    nodes = reachable(core.components)
    variances = core.inexact.variances if core.inexact is not None else ()
    random = any(isinstance(node, Shuffled) or (isinstance(node, Draw) and node.active is not None) for node in nodes)
    users: dict[int, list[Expr]] = {}
    for node in nodes:
        for child in children(node):
            users.setdefault(child.serial, []).append(node)
    found = {}
    for draw in nodes:
        variance = _variance(draw, variances)
        if variance is not None and len(above := users.get(draw.serial, [])) == 1 and _is_sum(above[0], draw):
            found[above[0].serial] = above[0], draw, variance
    seen = any(isinstance(node, Input) for node in _down_to(core.components, found))
    if not found or seen or random or core.evidence:
        return None
    noises = {draw.serial for _, draw, _ in found.values()}
    below = Rebuild(lambda rebuild, expr: rebuild.builder.const(0) if expr.serial in noises else None)
    centres = below.copy([node for node, _, _ in found.values()])
    shape = TupleOf(tuple(map(Leaf, range(len(centres)))))
    published = all(
        len(above := users.get(serial, [])) == 1
        and isinstance(above[0], Apply)
        and above[0].operator == "name_tail"
        and any(above[0] is component for component in core.components)
        for serial in found
    )
    whole = CoreProgram(core.inputs, centres, shape, (), ())
    return NoisyNumbers(whole, tuple(variance for _, _, variance in found.values()), published)


def _variance(node: Expr, variances: tuple[Fraction, ...]) -> Fraction | None:
    """Return the variance of a node that is a draw of Gaussian noise, of which its probabilities tell."""
    if not isinstance(node, Draw) or len(node.laws) != 1 or node.laws[0] is None:
        return None
    law = {z: mass for z, mass in node.laws[0] if isinstance(z, int)}
    beside = law.get(max(law, key=law.__getitem__) + 1) if law else None
    return next((variance for variance in variances if theta.mass(variance, 1) == beside), None)


def _is_sum(node: Expr, draw: Expr) -> bool:
    """Whether a node adds a draw, once, to what is not random."""
    plain = isinstance(node, Nary) and node.operator == "sum"
    plain = plain or (isinstance(node, Apply) and node.operator in ("add", "sub"))
    others = [operand for operand in children(node) if operand is not draw]
    return plain and len(others) == len(children(node)) - 1 and not any(isinstance(e, Draw) for e in reachable(others))


def _down_to(roots: tuple[Expr, ...], ends: Collection[int]) -> Iterator[Expr]:
    """Yield what roots are computed from, down to some nodes."""
    stack, seen = list(roots), set(ends)
    while stack:
        node = stack.pop()
        if node.serial not in seen:
            seen.add(node.serial)
            yield node
            stack += children(node)
