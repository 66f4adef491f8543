"""From Python source to the core language.

`lower(bound)` follows all runs of a bound mechanism on all datasets at once; `lower(bound, x)` those on one dataset.
In: a bound mechanism. Out: a checked core program. May import `core`, `language` and what is below.

What stays the same: on every dataset the core program has the output law of the function, as long as its checks hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from tightdp.core.between import uncut
from tightdp.core.coarse import draw_once_per_client, draw_what_is_seen
from tightdp.core.lowering import (  # noqa: F401 (handlers)
    asking,
    classes,
    counters,
    deques,
    dictionaries,
    doubles,
    draws,
    exceptions,
    fields,
    folds,
    infinity,
    lists,
    loops,
    statements,
)
from tightdp.core.lowering.functions import call, call_python
from tightdp.core.lowering.loops_before import Borrowed
from tightdp.core.lowering.machine import Frame, Probe
from tightdp.core.lowering.outputs import Outputs, Plan, Plans
from tightdp.core.lowering.published_doubles import Unpicked
from tightdp.core.lowering.scalars import adopt
from tightdp.core.lowering.store import like
from tightdp.core.lowering.values import Reference, Value, is_scalar
from tightdp.core.meetings import Meetings
from tightdp.core.nodes import CoreProgram, Expr, Inexact, Input, verify
from tightdp.core.outputs import Leaf
from tightdp.core.published import (
    cut_law,
    ends_of_outputs,
    error_of_cuts,
    finer,
    inexactness,
    reach_of_cut,
    reach_of_outcomes,
)
from tightdp.core.unmerged import Endless, Recut, Uncut, Unmerged, outside
from tightdp.core.valuesets import ordered
from tightdp.core.windows import Window
from tightdp.errors import LanguageError, ProgramError, Span
from tightdp.exact.rationals import as_value
from tightdp.language.domains import Domain
from tightdp.language.interp import named_parameters
from tightdp.language.possible import returned_values
from tightdp.language.program import Bound, Dataset
from tightdp.language.source import read_function
from tightdp.limits.calibrated import FEW_VALUES, LONG_LOOP, TABLE_ENTRIES

_NEAR = -1
"""In place of a reach: noise is cut off as near as it may be."""
_MOST_RECUTS = FEW_VALUES
"""How often a program with real noise is lowered with further cuts."""
_MOST_OF_WHOLE = 2 * LONG_LOOP
"""The same with noise on the integers alone, which may be cut off instead."""


def lower(
    bound: Bound,
    x: Dataset | None = None,
    probe: Probe | None = None,
    watch: Callable[[], None] = lambda: None,
    plans: Plans | None = None,
    enclosed: bool = True,
    told: bool = False,
) -> CoreProgram:
    """Return the core program of a mechanism, for every dataset or (with `x`) for one.

    `probe` says which values can occur; without one, a loop or recursion ends only where that is plain to see.
    `watch` is called at every statement, and may raise to stop. Programs of one mechanism that are lowered with the
    same `plans` have the same outputs. Raises LanguageError where the source is outside the language, and Unmerged
    where noise has no exact finite form, unless an `enclosed` law will do; or of published noise on the reals no more
    is `told` than what the rest can be drawn from, whatever the dataset.
    """
    plans = plans or Plans()
    plan = Plan(told=told) if x is None else plans.whole
    unmerged: Unmerged | None = None
    shared = True
    rounds, tried = LONG_LOOP, {True: 0, False: 0}
    while rounds:
        rounds -= 1
        lowering = Lowering(bound, x, probe, watch, plan, plans.picks)
        lowering.loops = plans.loops if shared else {}
        lowering.early = plans.early and not enclosed
        try:
            if (x, plan) in plans.refused:
                raise plans.refused[x, plan]
            program, wider = lowering.closely()
        except Borrowed:
            shared = False
            continue
        except Unpicked:
            lower(bound, None, probe, watch, plans, enclosed)
            continue
        except Unmerged as error:
            error.span = error.span or lowering.source.span()
            if not plans.picks:
                plans.refused[x, plan] = error.with_traceback(None)
            loop = error.node if isinstance(error, Endless) else None
            if not enclosed or loop in plan.loops or (isinstance(error, Uncut) and not error.enclosed):
                raise
            unmerged = unmerged or error
            loops = plan.loops if loop is None else plan.loops | {loop}
            plan = Plan(cut=max(plan.cut, 1), loops=loops, cuts=plan.cuts)
            continue
        except Recut as recut:
            if x is not None:  # what has no end for all datasets is to have none for one
                lower(bound, None, probe, watch, plans, enclosed)
                plan = plans.whole
                continue
            rounds, tried[recut.alike] = rounds + 1, tried[recut.alike] + 1
            try:
                plan = lowering.recut(tried[recut.alike], recut.alike)
            except Uncut as error:
                if not enclosed or not error.enclosed:
                    raise
                unmerged = unmerged or error
                plan = Plan(cut=max(plan.cut, 1), loops=plan.loops)
            continue
        except (LanguageError, ProgramError) as error:
            if plan.cut > 1:  # so far out it is too large: then it is not known whether outputs are missing
                plan = replace(plan, cut=_NEAR)
                continue
            if unmerged is not None:
                raise unmerged from None
            if isinstance(error, LanguageError) and lowering.builder.cells.used:  # the algebra may see it otherwise
                unseen = uncut(real=True)
                unseen.span = error.span or lowering.source.span()
                raise unseen from error
            if isinstance(error, LanguageError):
                error.span = error.span or lowering.source.span()
            raise
        if wider is None:
            assert program is not None
            assert not lowering.builder.cells.wanted
            if x is None:
                plans.whole = plan
            seen = draw_what_is_seen(program, watch)
            once = seen if lowering.builder.noises else draw_once_per_client(seen, watch)
            return replace(once, inexact=lowering.inexact(), finer=lowering.finer(program))
        if x is not None and wider.ends != plan.ends:
            lower(bound, None, probe, watch, plans, enclosed)
        plan = plans.whole if x is not None and wider.ends != plan.ends else wider
    if unmerged is not None:
        raise unmerged
    refused = outside("meets larger numbers the further it is looked at", "compare it with numbers without such noise")
    refused.span = read_function(bound.program.function).span()
    raise refused


def lower_target(bound: Bound, probe: Probe | None = None) -> CoreProgram:
    """Return the core program of a mechanism's target, for every dataset. Raises LanguageError."""
    try:
        return Lowering(bound, None, probe, lambda: None, Plan()).run_target()
    except Recut:
        raise uncut(real=True) from None


class Lowering(Outputs):
    """One lowering of one mechanism."""

    def __init__(
        self,
        bound: Bound,
        x: Dataset | None,
        probe: Probe | None,
        watch: Callable[[], None],
        plan: Plan,
        picks: list[tuple[float, ...]] | None = None,
    ) -> None:
        super().__init__(probe, watch)
        self.plan, self.floats = plan, bound.program.floats
        self.picks, self.told_apart = picks, 0
        self.builder.windows, self.builder.cells.cuts = plan.windows, plan.cuts
        self.builder.cells.told = plan.told
        self.left_early, self.endless = plan.loops, set(plan.loops)
        self.builder.cut = (lambda law: cut_law(law, reach_of_cut(law, plan.cut))) if plan.cut else None
        self.builder.place = lambda: (self.frame.source, self.position[-1]) if self.position else None
        self.published: list[tuple[Expr, Span]] = []
        self.unpublished = 0
        self.complete = False
        self.bound = bound
        self.fixed = x
        self.source = read_function(bound.program.function)
        self.inputs: list[Input] = []
        self.components: list[Expr] = []
        frame = Frame(self.store.new_key(), (), frozenset(), self.source)
        self.enter(frame, {})
        self.position.append(self.source.node)
        self.x = self._dataset()

    def _dataset(self) -> Value:
        x, record = self.fixed, self.bound.record
        if x is not None:
            return tuple(self._plain(x[client]) for client in range(self.bound.n))
        return tuple(self._record(client, record) for client in range(self.bound.n))

    @cached_property
    def _values_of_leaves(self) -> list[Sequence[object]]:
        return [ordered(values) for values in self.bound.record.leaves()]

    def run(self) -> CoreProgram:
        """Lower the function on the dataset."""
        return self._finish(self._output)

    def run_target(self) -> CoreProgram:
        """Lower the target on the dataset."""
        return self._finish(self._goal)

    def run_with_target(self) -> CoreProgram:
        """Lower the function and the target on the dataset: a tuple of both values."""
        return self._finish(lambda: (self._output(), self._goal()))

    def _output(self) -> Value:
        return self.answered({name: adopt(self, value) for name, value in self.bound.arguments.items()})

    def answered(self, keywords: dict[str, Value]) -> Value:
        """Return what the function returns, with all that an analyst was shown where one is asked."""
        self.analyst = asked = self.new_list(()) if self.bound.asks else self.bound.strategy
        value = call_python(self, self.bound.program.executed, (self.x,), keywords)
        if not isinstance(asked, Reference):
            return value
        if self.evidence:
            what = "observe conditions a run in which an analyst is asked: how likely it is depends on the strategy"
            raise self.unsupported(what, "draw anew in a loop, or return a value that says what was not observed")
        return value, self.store[asked.key]

    def _goal(self) -> Value:
        target = self.bound.program.target
        keywords = {name: adopt(self, value) for name, value in named_parameters(target, self.bound).items()}
        return call(self, adopt(self, target), (self.x,), keywords)

    def closely(self) -> tuple[CoreProgram | None, Plan | None]:
        """Lower the function, and return how noise is to be made finite if it was not looked at closely enough.

        What a program is refused for is believed only where it was: else a comparison may look impossible. Then there
        is no program.
        """
        try:
            program = self.run()
        except (Unmerged, Recut):
            raise
        except (LanguageError, ProgramError):
            if (wider := None if self.plan.cut else self.wider(None)) is None:
                raise
            return None, wider
        return program, self.wider(program)

    def _finish(self, action: Callable[[], Value]) -> CoreProgram:
        value = self.attempt(action)
        if self.alive is self.builder.false and not self.checks:
            dataset = self.bound.record.values[:1] * self.bound.n if self.fixed is None else self.fixed
            error = self.bound.contradiction(dataset, "is false in every run")
            error.span = self.impossible or error.span
            raise error
        self.unpublished = len(self.builder.operations)
        shape = self.attempt(lambda: self._shape(self.sorted_output(value), self.builder.true)) or Leaf(0)
        program = CoreProgram(
            tuple(self.inputs),
            tuple(self.components) or (self.builder.true,),
            shape,
            tuple(item for item in self.evidence if item is not self.builder.true),
            tuple(self.checks),
        )
        self.verified(program)
        return program

    def verified(self, program: CoreProgram) -> None:
        """Check a program. Raises MalformedError."""
        verify(program)

    def wider(self, program: CoreProgram | None) -> Plan | None:
        """Return how noise on all integers is to be made finite if it was not looked at closely enough, else None.

        Without a program it is asked what the operations need.
        """
        builder, plan = self.builder, self.plan
        if not builder.noises:
            return None
        if plan.cut:
            known = not self.published and plan.cut != _NEAR
            reach = reach_of_outcomes(builder, program) if known and program is not None else None
            self.complete = reach is not None
            return None if reach is None or reach <= plan.cut else replace(plan, cut=reach)
        ends = plan.ends
        if self.published and program is not None:
            before = Meetings(builder.noises, builder.operations[: self.unpublished])
            ends = ends_of_outputs(before, self.published)
            if self.fixed is not None and ends.core <= plan.ends.core and ends.farthest <= plan.ends.farthest:
                ends = plan.ends
        meetings = Meetings(builder.noises, builder.operations)
        if program is not None:
            meetings.check(program)
        needed = meetings.windows(ends.farthest)
        if ends != plan.ends:
            return replace(plan, windows=needed, ends=ends)
        used = plan.windows
        if len(used) == len(needed) and all(map(Window.covers, used, needed)):
            return None
        return replace(plan, windows=needed, ends=ends)

    def recut(self, tried: int, alike: bool) -> Plan:
        """Return the plan with the cuts that are wanted. Raises Uncut where they do not end."""
        cuts = self.plan.cuts | self.builder.cells.wanted
        most = LONG_LOOP if alike else _MOST_RECUTS if self.builder.cells.real else _MOST_OF_WHOLE
        if len(cuts) > TABLE_ENTRIES or tried >= most:
            raise uncut(self.builder.cells.real)
        return replace(self.plan, cuts=cuts)

    def inexact(self) -> Inexact | None:
        """Return how far the laws of the program are from the true ones, None where they are exact."""
        if self.told_apart:
            return Inexact(Fraction(0), Fraction(0), False, merged=True)
        if self.plan.cut:
            error = error_of_cuts(self.builder, self.plan.cut, not self.complete)
            plain = error.published and not (self.floats or self.bound.asks or self.bound.strategy)
            known = returned_values(self.bound.program.executed, self.bound.record.values) if plain else None
            return replace(error, outputs=known)
        return inexactness(self.builder, bool(self.plan.ends.farthest))

    def finer(self, program: CoreProgram) -> CoreProgram | None:
        """Return the program that tells, where runs are cut off, what decides how they end; None if not known."""
        found = finer(self.builder, program) if self.plan.cut and self.fixed is None else None
        return None if found is None else draw_what_is_seen(found, self.watch)

    # records

    def _record(self, client: int, domain: Domain) -> Value:
        leaves = [self.builder.input(client, leaf, values) for leaf, values in enumerate(self._values_of_leaves)]
        self.builder.functions.record(leaves)
        self.inputs.extend(leaves)
        return self._nested(domain, iter(leaves))

    def _nested(self, domain: Domain, leaves: Any) -> Value:
        parts = getattr(domain, "parts", None)
        if parts is None:
            return self._listed(next(leaves))
        return tuple(self._nested(part, leaves) for part in parts)

    def _listed(self, leaf: Input) -> Value:
        """Return a leaf as a value; records that are tuples get their structure."""
        if len(leaf.values) == 1:
            return self._plain(leaf.values[0])
        if isinstance(leaf.values, range) or all(is_scalar(value) for value in leaf.values):
            rational = self.floats and any(isinstance(value, Fraction) for value in leaf.values)
            return self.builder.total("as double", leaf) if rational else leaf
        result = self._plain(leaf.values[-1])
        for record in reversed(leaf.values[:-1]):
            result = self.merge(self.builder.equals(leaf, record), self._plain(record), result)
        return result

    def _plain(self, record: object) -> Value:
        if isinstance(record, tuple):
            return like(record, (self._plain(part) for part in record))
        value = as_value(record)
        return value if is_scalar(value) and not self.floats else adopt(self, value)
