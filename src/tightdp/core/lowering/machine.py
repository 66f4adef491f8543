"""The state of a lowering: the runs that are alive, what their names hold, and how two sets of runs are joined.

All runs of a program are followed at once. Where they part (an `if` on something random), each side is lowered under
its own path condition, and what the two wrote is merged again, cell by cell.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from tightdp.core.builder import Builder
from tightdp.core.doubles import Double
from tightdp.core.lowering.frames import Dead as Dead
from tightdp.core.lowering.frames import End as End
from tightdp.core.lowering.frames import Failure as Failure
from tightdp.core.lowering.frames import Frame as Frame
from tightdp.core.lowering.frames import Guard, Thrown, as_caught, of_library
from tightdp.core.lowering.frames import Loop as Loop
from tightdp.core.lowering.given import Given
from tightdp.core.lowering.registry import OPERANDS, SYNTAX, TARGETS, name_of_node
from tightdp.core.lowering.store import Store, facts, merge, merge_changes, relative
from tightdp.core.lowering.values import Every, Growing, Reference, Stream, Union, Value
from tightdp.core.nodes import Check, Const, Expr, Input
from tightdp.errors import LanguageError, Span
from tightdp.language.analyst import Answering
from tightdp.language.liveness import liveness_of
from tightdp.limits.calibrated import LONG_LOOP

Probe = Callable[[Expr, Sequence[Expr]], Sequence[Sequence[bool]]]
"""Says of each node which of its values it can take where a condition holds (none where that is impossible)."""


class Machine:
    """Runs that part and meet; the handlers of the language act on it.

    With `apart`, noise on all integers is a draw around 0 that is added to its centre.
    """

    apart: ClassVar[bool] = False
    single: ClassVar[bool] = False  # whether one run is followed at a time, so that every condition is known
    left_early: frozenset[ast.AST] = frozenset()  # the loops that are not followed to their end
    early = False  # whether those that draw below what they count are given up soon
    floats = 0  # how many bits `random()` has where numbers are doubles; 0 where they mean what is written

    def __init__(self, probe: Probe | None = None, watch: Callable[[], None] = lambda: None) -> None:
        self.probe = probe
        self.watch = watch
        self.builder = self.builder_of(watch)
        self.alive = self.builder.true
        self.store = self.store_of()
        self.checks: list[Check] = []
        self.evidence: list[Expr] = []
        self.stack: list[Frame] = []
        self.guards: list[Guard] = []
        self.handled: list[Thrown] = []  # the exceptions whose handlers are at work
        self.scopes: dict[int, frozenset[str]] = {}
        self.position: list[ast.AST] = []
        self.frozen: set[int] = set()
        self.adopted: dict[Any, Value] = {}  # the objects of the enclosing module that were met, by their ids
        self.hosts: dict[int, Any] = {}  # these objects, by their keys
        self.members = False  # whether there are members of an IntEnum among the integers
        self.spent: dict[Stream | Every, Expr] = {}
        self.results: list[tuple[ast.AST, Value]] = []
        self.impossible: Span | None = None
        self.analyst: Answering | Reference | None = None
        self.added: list[tuple[Input, Expr]] = []  # the leaf for a sum over records alike, and what one record adds
        self.own: set[int] = set()  # the draws of one record that stand for those of all
        self.endless: set[ast.AST] = set()  # the loops without a bound on their rounds that were met so far
        self.of_noise: set[ast.AST] = set()  # those that begin with noise on all integers and draw none
        self.given: Given | None = None  # in a round that is lowered on its own
        self.unrolled = 0  # how many `while` loops around this place are unrolled
        self.within = 0  # in how many loops a round is lowered on its own
        self.followed: dict[ast.AST, bool] = {}  # of longer loops: whether they are followed state by state
        self.ended: dict[Any, Any] = {}  # how loops end, by what they begin with where that is plain
        self.loops: dict[Any, Any] = {}  # the same, of earlier lowerings
        self.borrowed = False
        self.rounds: list[tuple[Value, int]] = []  # of every loop around this place: what it keeps, and its round
        self.written: dict[ast.AST, list[str]] = {}  # the names that loops wrote when they were followed
        self.uniforms: list[Any] = []  # the draws of `random()`
        self._departures: list[object] = []
        self._possible: dict[tuple[int, ...], list[bool]] = {}

    # syntax

    def builder_of(self, watch: Callable[[], None]) -> Builder:
        return Builder(watch)

    def store_of(self) -> Store:
        return Store()

    def evaluate(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        handler = SYNTAX.get(type(node))
        if handler is None:
            raise self.outside(node)
        self.position.append(node)
        try:
            return handler(self, node)
        except (Failure, LanguageError) as error:
            error.span = error.span or self.span(node)
            raise
        finally:
            self.position.pop()

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Execute statements in order as long as a run is left."""
        for statement in statements:
            if self.alive is self.builder.false:
                return
            self.execute(statement)

    def execute(self, node: ast.stmt) -> None:
        """Execute one statement; runs that fail in it end there."""
        if node in liveness_of(self.frame.source.node).idle:
            return
        handler = SYNTAX.get(type(node))
        if handler is None:
            raise self.outside(node)
        self.watch()
        self.position.append(node)
        try:
            self.boundary()
            self.attempt(lambda: handler(self, node))
        finally:
            self.position.pop()

    def for_every(self, action: Callable[[Value, Value], None], backwards: bool = False) -> None:
        """Run an action for every record and its index, however many there are.

        Backwards the last record comes first, with the index 0.
        """
        raise NotImplementedError

    def how_many(self) -> Value:
        """Return the number of records, where that is any number."""
        raise NotImplementedError

    def drawn(self, name: str, values: Sequence[Value]) -> Value | None:
        """Return what a primitive draws whose arguments stand for any number of records, or any integer, else None."""
        return None

    def record_at(self, index: Value) -> Value:
        """Return the record at a position."""
        raise NotImplementedError

    def progress(self, loop: ast.While) -> Callable[[bool], bool] | None:
        """Return what says whether a loop has another round, which all runs begin where told so; None: it is done."""
        raise NotImplementedError

    def boundary(self) -> None:
        """Note that a statement begins, or an item of what is gone through: all that is known is in cells."""

    def next_item(self) -> None:
        """Note that the next item of what is gone through comes."""

    def of_growing(self, name: str, growing: Growing, *more: Value) -> Value:
        """Return what a function makes of what was added for every record."""
        return growing.touched(growing, name)

    # positions and errors

    @property
    def frame(self) -> Frame:
        """The innermost function."""
        return self.stack[-1]

    def enter(self, frame: Frame, bindings: dict[str, Value]) -> None:
        """Begin to lower a function or comprehension whose parameters hold these values."""
        self.scopes[frame.key] = frame.locals
        for name, value in bindings.items():
            self.store[frame.key, name] = value
        self.stack.append(frame)

    def span(self, node: ast.AST) -> Span:
        """Return the place of a node; where it stands for a library, the place at which that is called."""
        for frame in reversed(self.stack):
            if not of_library(frame):
                inside = {id(part) for part in ast.walk(frame.source.node)} if frame is not self.frame else {id(node)}
                return frame.source.span(next((at for at in [node, *self.position[::-1]] if id(at) in inside), None))
        return self.frame.source.span(node)

    def unsupported(self, what: str, hint: str, node: ast.AST | None = None) -> LanguageError:
        """Return the error for Python that is outside the language."""
        return LanguageError(what, hint, span=self.span(node or self.position[-1]))

    def outside(self, node: ast.AST) -> LanguageError:
        """Return the error for a kind of syntax that is outside the language."""
        what, hint = name_of_node(node)
        return self.unsupported(f"{what} is not in the language", hint, node)

    def oblige(self, condition: Expr, failure: Failure) -> None:
        """Let the runs raise on which `condition` holds: where that is caught, or else on none that is alive."""
        failing = self.conj(self.alive, condition)
        if failing is self.builder.false:
            return
        failure = as_caught(failure, failure.span or self.span(self.position[-1]), self.stack, self.guards)
        if self.guards and failure.kind is not None:
            guard, alive, self.alive = self.guards[-1], self.alive, failing
            held = failure.held if any(each.reads for each in self.guards) else None
            self.leave(guard.raised, guard.level, Thrown(failure.kind, failure, held))
            self.alive = self.conj(alive, self.builder.negation(condition))
        else:
            self.checks.append(Check(failing, failure.message, failure.hint, failure.span))

    # names

    def bind(self, name: str, value: Value) -> None:
        """Let a name hold a value, in the frame where it lives."""
        frame = next(frame for frame in reversed(self.stack) if not frame.comprehension or name in frame.locals)
        if name not in frame.locals:
            for key in frame.enclosing:
                if name in self.scopes[key]:
                    self.store[key, name] = value
                    return
        self.store[frame.key, name] = value

    def assign(self, target: ast.expr, value: Value) -> None:
        """Assign to a name, an element, or a pattern of those."""
        handler = TARGETS.get(type(target))
        if handler is None:
            raise self.unsupported(
                "this target of an assignment is not in the language", "assign to names and elements", target
            )
        handler(self, target, value)

    # values

    def expr(self, value: Value) -> Expr:
        """Return a scalar as a node."""
        return OPERANDS[Double](self, "settle", value) if type(value) is Double else self.builder.expr(value)

    def conj(self, *conditions: Expr) -> Expr:
        """Return the conjunction of conditions."""
        return self.builder.conjunction(conditions)

    def merge(self, condition: Expr, yes: Value, no: Value) -> Value:
        """Return the value that is `yes` where the condition holds and `no` elsewhere."""
        return merge(self.builder, condition, yes, no)

    def new_list(self, content: Value) -> Reference:
        """Return a new list with this content (a tuple, or a union of tuples)."""
        reference = Reference(self.store.new_key())
        self.store[reference.key] = content
        return reference

    # runs that leave

    def depart(self, target: list[End] | None) -> None:
        """Note that runs leave the normal course for the place where `target` is collected (None: they end)."""
        self._departures.append(target)

    def leave(self, target: list[End], level: int, value: Value = None) -> None:
        """Send the runs at hand, with what they wrote since a level was opened, to a place where they are joined."""
        target.append(End(self.alive, self.store.changes(level), value))
        self.depart(target)
        self.alive = self.builder.false

    def departures(self) -> int:
        """Return a mark for `stayed`."""
        return len(self._departures)

    def forget_departures(self, mark: int) -> None:
        """Forget who left since the mark: it did not happen."""
        del self._departures[mark:]

    def stayed(self, mark: int, *own: object) -> bool:
        """Whether no run has left since the mark, except for the places `own`."""
        return all(any(target is place for place in own) for target in self._departures[mark:])

    def arrived(self, mark: int, place: object) -> None:
        """Forget those who left for a place since the mark: they have rejoined the others."""
        self._departures[mark:] = [target for target in self._departures[mark:] if target is not place]

    # runs that part and meet

    def attempt(self, action: Callable[[], Value]) -> Value:
        """Run an action; runs that fail in it end there."""
        try:
            return action()
        except Failure as failure:
            self.oblige(self.builder.true, failure)
            self.alive = self.builder.false
        except Dead:
            self.alive = self.builder.false
        return None

    def branch(self, condition: Expr, yes: Callable[[], Value], no: Callable[[], Value]) -> Value:
        """Lower two actions, each for the runs on its side of the condition, and merge what they leave."""
        if isinstance(condition, Const):
            return yes() if condition.values[0] else no()
        before, mark, born = self.alive, self.departures(), self.store.newest
        ends = [self._aside(condition, yes), self._aside(self.builder.negation(condition), no)]
        left, right = ends
        if left.alive is self.builder.false or right.alive is self.builder.false:
            end = right if left.alive is self.builder.false else left
            self.alive = end.alive
            if self.alive is self.builder.false:
                raise Dead
            self.store.write(end.changes)
            return end.value
        if self.stayed(mark):
            self.alive = before
        else:
            given = facts(before)
            stay = relative(self.builder, left.alive, given | facts(condition))
            skip = relative(self.builder, right.alive, given | facts(self.builder.negation(condition)))
            self.alive = self.conj(before, self.builder.case(condition, (skip, stay)))
        self.store.write(merge_changes(self.builder, condition, left.changes, right.changes, self.store, born))
        return self.merge(condition, left.value, right.value)

    def _aside(self, condition: Expr, action: Callable[[], Value]) -> End:
        """Run an action for the runs on which a condition holds, and put what it did aside."""
        before, level = self.alive, self.store.open()
        self.alive = self.conj(before, condition)
        value = self.attempt(action) if self.alive is not self.builder.false else None
        end = End(self.alive, self.store.undo(level), value)
        self.alive = before
        return end

    def join(self, level: int, base: Expr, ends: Sequence[End], alive: Expr | None) -> Value:
        """Merge what runs that were alive under `base` when a level was opened bring to one point; it stays open.

        `alive` is their path condition where it is known to be that of the start.
        """
        born = self.store.born(level)
        self.store.undo(level)
        given = facts(base)
        guards = []
        for end in ends[:-1]:
            guard = relative(self.builder, end.alive, given)
            guards.append(guard)
            given.add(self.builder.negation(guard).serial)
        changes, value = ends[-1].changes, ends[-1].value
        for guard, end in zip(reversed(guards), reversed(ends[:-1]), strict=True):
            changes = merge_changes(self.builder, guard, end.changes, changes, self.store, born)
            value = self.merge(guard, end.value, value)
        self.store.open()
        self.store.write(changes)
        self.alive = self.builder.disjunction([end.alive for end in ends]) if alive is None else alive
        return value

    def meet(
        self, level: int, base: Expr, mark: int, place: list[End], value: Value = None, frame: int | None = None
    ) -> Value:
        """Let runs that left for a place, after the mark, rejoin the present ones; return the value that they bring.

        The names of a `frame` that is left for good are forgotten.
        """
        ends = list(place)
        if self.alive is not self.builder.false:
            ends.append(End(self.alive, self.store.changes(level), value))
        kept = self.stayed(mark, place)
        self.arrived(mark, place)
        if not ends:
            raise Dead
        if frame is not None:
            for end in ends:
                for cell in [cell for cell in end.changes if type(cell) is tuple and cell[0] == frame]:
                    del end.changes[cell]
        return self.join(level, base, ends, base if kept else None)

    def each(self, value: Value, action: Callable[[Value], Value]) -> Value:
        """Apply an action to every shape that a value may have, and merge the results."""
        value = self._pruned(value)
        if not isinstance(value, Union):
            return action(value)

        def over(rest: tuple[tuple[Expr, Value], ...]) -> Value:
            (guard, item), others = rest[0], rest[1:]
            if not others:
                return action(item)
            return self.branch(guard, lambda: action(item), lambda: over(others))

        return over(value.alternatives)

    # what can still happen

    def _pruned(self, value: Value) -> Value:
        """Leave out the shapes that no run here can have; it pays to look when their number has doubled."""
        if self.probe is None or not isinstance(value, Union) or not is_milestone(len(value.alternatives)):
            return value
        guards = [guard for guard, _ in value.alternatives]
        key = (self.alive.serial, *(guard.serial for guard in guards))
        if key not in self._possible:
            self._possible[key] = [kept[-1] for kept in self.probe(self.alive, guards)]
        left = [option for option, kept in zip(value.alternatives, self._possible[key], strict=True) if kept]
        if not left:
            raise Dead
        return left[0][1] if len(left) == 1 else Union(tuple(left))

    def some_run_is_left(self) -> bool:
        """Whether a run can be alive here, as far as the probe can tell."""
        return self.probe is None or any(self.probe(self.alive, [self.builder.true])[0])


def is_milestone(count: int) -> bool:
    """Whether it pays to look what can still happen at this count: 8, 16, 32, ..."""
    return count >= LONG_LOOP and count & (count - 1) == 0
