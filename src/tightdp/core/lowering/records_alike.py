"""Lowering a program that treats all records alike by the code of one of them, whatever their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tightdp.core.builder import Builder
from tightdp.core.lowering import Lowering
from tightdp.core.lowering.alike import NotAlike
from tightdp.core.lowering.machine import Dead, Failure
from tightdp.core.lowering.outputs import Plan
from tightdp.core.lowering.values import Alike, Permuted, Value
from tightdp.core.nodes import CoreProgram, Draw, Expr, Input, reachable, verify
from tightdp.core.operators import LARGE
from tightdp.core.outputs import Arrangement, Leaf, Shape, TupleOf
from tightdp.errors import LanguageError, ProgramError
from tightdp.language.laws import Law, OnIntegers
from tightdp.language.program import Bound


@dataclass(frozen=True)
class RecordsAlike:
    """A program cut at the sums over its records: `part` is what one record adds to each, `rest` what is made of them.

    The inputs of `rest` are the sums, one for every component of `part`. With a target, its value is the last component
    of `rest`. `noises` are the laws of draws on all integers, by the serial number of the draw; in `rest` they stand
    without law.
    """

    part: CoreProgram
    rest: CoreProgram
    noises: dict[int, OnIntegers]


def lower_alike(bound: Bound, target: bool, watch: Callable[[], None]) -> RecordsAlike | None:
    """Return a program (with its `target`, if asked) cut at sums over records, or None where this does not see it."""
    try:
        return _Lowering(bound, None, None, watch, Plan()).cut(target)
    except (NotAlike, LanguageError, ProgramError, Failure, Dead, TypeError, AttributeError):
        return None


class _Endless(Builder):
    """Keeps noise on all integers as a draw from a wide range: sums with it are ranges, however many records there are.

    What compares such a draw has too many combinations of values to be folded.
    """

    def draw(
        self, name: str, selector: Expr, laws: Sequence[Law | OnIntegers | None], active: Expr | None = None
    ) -> Expr:
        if not any(isinstance(law, OnIntegers) for law in laws):
            return super().draw(name, selector, laws, active)
        if len(laws) > 1:
            raise NotAlike("noise depends on the run")
        number, self.draws = self.draws, self.draws + 1
        node = Draw(
            self._next(),
            range(-LARGE, LARGE + 1),
            number,
            selector,
            (None,),
            name,
            None if active is self.true else active,
        )
        self.noises.append((node, tuple(laws)))
        return node


class _Lowering(Lowering):
    apart = True

    def builder_of(self, watch: Callable[[], None]) -> Builder:
        return _Endless(watch)

    def _dataset(self) -> Value:
        self.inputs_of_one: list[Input] = []
        record = self._record(0, self.bound.record)
        self.inputs_of_one, self.inputs = self.inputs, []
        return Alike((record,), self.bound.n)

    def cut(self, target: bool) -> RecordsAlike:
        """Cut the program."""
        rest = self.run_with_target() if target else self.run()
        if self.alive is not self.builder.true or self.checks or self.evidence:
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
        noises = {draw.serial: law for draw, (law, *_) in self.builder.noises if isinstance(law, OnIntegers)}
        return RecordsAlike(part, rest, noises)

    def _ended(self, expr: Expr) -> Expr:
        """What is published is looked at by the laws of its draws."""
        return expr

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
        return Arrangement(first, value.values, value.length)
