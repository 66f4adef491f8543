"""Noise and loops that have no finite form: why nothing answers, and how likely it is that `observe` accepts a run."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tightdp.cells import noise
from tightdp.core.nodes import Const, CoreProgram
from tightdp.core.outputs import Leaf
from tightdp.core.passes import expand_shuffles
from tightdp.core.unmerged import Endless, Uncut
from tightdp.errors import ProgramError, TightdpError
from tightdp.exact.numbers import down
from tightdp.exact.weights import quotient
from tightdp.language.program import Bound, Dataset
from tightdp.language.source import failure_span
from tightdp.logic.count import raw_weights
from tightdp.methods.base import Control
from tightdp.methods.compiled import encode_core
from tightdp.symmetry.sets import every_dataset


def explained(uncut: Uncut, outside: noise.Outside, bound: Bound) -> TightdpError:
    """Return why noise that only the algebra knows is not answered by it: a run that fails, or what is done with it."""
    if isinstance(outside.__cause__, ProgramError):
        return outside.__cause__
    if isinstance(uncut, Endless):
        return uncut
    found = Uncut(uncut.kind, outside.reason)
    found.span = failure_span(bound.program.source, outside.__traceback__) or uncut.span
    return found


def least_evidence(core: CoreProgram, bound: Bound, x: Dataset | None, backend: str, control: Control) -> Fraction:
    """Return how likely it is, at least, that `observe` accepts a run, on a dataset or on every one."""
    only = expand_shuffles(replace(core, components=(Const(0, (True,)),), shape=Leaf(0)))
    formula = encode_core(only, bound, x, backend, control)
    least = Fraction(1)
    for each in every_dataset(bound) if x is None else [x]:
        weights, denominator = raw_weights(formula, formula.evidence(each, bound.record))
        least = min(least, down(quotient(sum(weights.values()), denominator)))
        if not least:
            raise bound.contradiction(each, "is false in every run")
    return least
