"""Lowering a program that treats all records alike by the code of one of them, whatever their number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tightdp.core.check import verify
from tightdp.core.lowering import Lowering, Plan
from tightdp.core.lowering.alike import NotAlike
from tightdp.core.lowering.machine import Dead, Failure
from tightdp.core.lowering.values import Alike, Permuted, Value
from tightdp.core.nodes import CoreProgram, Draw, Expr, Input, Leaf, Shape, TupleOf, reachable
from tightdp.core.passes import Arrangement
from tightdp.errors import LanguageError, ProgramError
from tightdp.language.program import Bound

__all__ = ["RecordsAlike", "lower_alike"]


@dataclass(frozen=True)
class RecordsAlike:
    """A program cut at the sums over its records: `part` is what one record adds to each, `rest` what is made of them.

    The inputs of `rest` are the sums, one for every component of `part`. With a target, its value is the last component
    of `rest`.
    """

    part: CoreProgram
    rest: CoreProgram
    arrangements: tuple[Arrangement, ...]


def lower_alike(bound: Bound, target: bool, watch: Callable[[], None]) -> RecordsAlike | None:
    """Return a program (with its `target`, if asked) cut at sums over records, or None where this does not see it."""
    try:
        return _Lowering(bound, None, None, watch, Plan()).cut(target)
    except (NotAlike, LanguageError, ProgramError, Failure, Dead, TypeError, AttributeError):
        return None


class _Lowering(Lowering):
    def _dataset(self) -> Value:
        self.inputs_of_one: list[Input] = []
        record = self._record(0, self.bound.record)
        self.inputs_of_one, self.inputs = self.inputs, []
        return Alike((record,), self.bound.n)

    def cut(self, target: bool) -> RecordsAlike:
        """Cut the program."""
        self.arrangements: list[Arrangement] = []
        rest = self.run_with_target() if target else self.run()
        if self.alive is not self.builder.true or self.checks or self.evidence or self.builder.noises:
            raise NotAlike("a run can fail or be rejected")
        leaves = [leaf for leaf, _ in self.added]
        adds = tuple(one for _, one in self.added)
        rest = CoreProgram(tuple(leaves), rest.components, rest.shape, (), ())
        verify(rest)
        if any(isinstance(expr, Draw) and expr.serial in self.own for expr in reachable(rest.components)):
            raise NotAlike("a draw of one record is used elsewhere")
        shape = TupleOf(tuple(Leaf(at) for at in range(len(adds))))
        part = CoreProgram(tuple(self.inputs_of_one), adds or (self.builder.true,), shape, (), ())
        verify(part)
        return RecordsAlike(part, rest, tuple(self.arrangements))

    def verified(self, program: CoreProgram) -> None:
        """The whole is not a program of all records: its two parts are checked."""

    def _shape(self, value: Value, active: Expr) -> Shape:
        if not isinstance(value, Permuted):
            return super()._shape(value, active)
        if active is not self.builder.true:
            raise NotAlike("some runs publish a shuffle")
        first = len(self.components)
        for count in value.counts:
            self._component(count, active)
        found = Arrangement(first, value.values, value.length)
        self.arrangements.append(found)
        return found
