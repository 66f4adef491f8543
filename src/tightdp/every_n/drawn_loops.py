"""Loops that draw and look at nothing of the records: how they end is one draw, whose law the algebra of loops finds.

What such a loop leaves in its names is one of finitely many things, or a function of one integer whose law has a closed
form: noise like that of a primitive.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from types import FunctionType
from typing import Any

from tightdp.cells.alone import law_of
from tightdp.cells.linear import rebuilt
from tightdp.cells.noise import Outside
from tightdp.core.lowering.loop_names import read_in
from tightdp.core.lowering.loops_before import is_plain
from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import UNBOUND, Closure, Host, Object, Value, known
from tightdp.errors import TightdpError
from tightdp.every_n.learned import Again
from tightdp.every_n.paths import Affine, Noise, Symbol, plus, refusal, times
from tightdp.every_n.seeing import Follower
from tightdp.exact.field import ExpNumber, Number
from tightdp.language.liveness import assigned, liveness_of, names_in, own_nodes, placed, read
from tightdp.language.source import FunctionSource, remember
from tightdp.limits.calibrated import LOOP_ROUNDS

_MANY_ROUNDS = 8
"""A loop that goes on drawing for so many rounds is asked how it ends."""
_MOST_ROUNDS = 16
"""One whose end has no closed form is not gone through for longer."""
_NAME = "loop"

Result = tuple[Number, Any, Noise | None]
"""How likely it is, a place where the loop is left with values by name, in which noise may be."""


@dataclass
class Loops:
    """What is known of loops: which are not gone through, how they end, and why others are."""

    drawn: set[ast.While] = field(default_factory=set)
    ends: dict[Any, list[Result] | str] = field(default_factory=dict)
    refused: dict[ast.While, str] = field(default_factory=dict)


class _Apart(Exception):
    """Why a loop cannot be followed on its own."""


class LoopFollower(Follower):
    """The machine on which loops are drawn, as far as they look at nothing that is not known."""

    whole: Loops

    def progress(self, loop: ast.While) -> Callable[[bool], bool] | None:
        if loop in self.whole.drawn and self._draws(loop):
            return None
        rounds, begun = count(1), len(self.run.choices.made)

        def another_round(certain: bool) -> bool:
            now = next(rounds)
            if now == _MANY_ROUNDS and loop not in self.whole.drawn and len(self.run.choices.made) - begun >= now - 1:
                self.whole.drawn.add(loop)
                raise Again
            if now == _MOST_ROUNDS and loop in self.whole.refused:
                raise self.unsupported(
                    f"no answer for every n: noise that this loop makes {self.whole.refused[loop]}",
                    "draw with geometric, one_sided_geometric or discrete_laplace, bound the rounds, or ask for one n",
                )
            if now > LOOP_ROUNDS:
                raise refusal("no bound on the rounds of this while loop could be established", "count the rounds")
            return True

        return another_round

    def _draws(self, loop: ast.While) -> bool:
        """Draw how a loop ends, if that is known."""
        try:
            apart = _LoopAlone(self, loop)
        except _Apart:
            return False
        found = self.whole.ends.get(apart.key)
        if found is None:
            try:
                found = apart.results()
            except TightdpError as error:
                found = getattr(error, "reason", error.what)
            self.whole.ends[apart.key] = found
        if isinstance(found, str):
            self.whole.refused[loop] = found
            return False
        at = self.run.draw(tuple((at, mass) for at, (mass, *_) in enumerate(found)))
        _, (place, values), noise = found[at]
        form = self.run.noise(noise) if noise is not None else Affine((), Fraction(0))

        def value(leaf: Any) -> Value:
            if not isinstance(leaf, _Moved):
                return leaf
            return known(self.builder.symbol(plus(Affine((), leaf.constant), times(form, leaf.factor))))

        names = dict(zip(apart.left_by(place), _rebuilt(values, value), strict=True))
        self.store.write({(self.frame.key, name): apart.with_begun(name, each) for name, each in names.items()})
        if place:
            self.execute(apart.returns[place - 1])
        return True


@dataclass(frozen=True)
class _Moved:
    """A multiple of noise, and a constant."""

    factor: Fraction
    constant: Fraction


def _rebuilt(values: Any, leaf: Callable[[Any], Value]) -> Any:
    return tuple(_rebuilt(each, leaf) for each in values) if isinstance(values, tuple) else leaf(values)


class _LoopAlone:
    """A loop as a function of what it reads, which returns where it was left, and what names hold then."""

    def __init__(self, m: LoopFollower, loop: ast.While) -> None:
        self.m, self.loop = m, loop
        self.function: Any = m.frame.function or m.frame.source.node
        if not isinstance(self.function, ast.FunctionDef) or loop.orelse or m.guards or m.handled:
            raise _Apart
        self._liveness = liveness_of(self.function)
        if loop not in self._liveness.after or loop not in self._liveness.before:
            raise _Apart
        own = [loop, *own_nodes(loop)]
        if any(isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await, ast.Try, ast.With)) for part in own):
            raise _Apart
        self.returns = [part for part in own if isinstance(part, ast.Return)]
        stored = {part.id for part in own if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        self._stored = stored
        if any(isinstance(part, (ast.Attribute, ast.Subscript)) and not isinstance(part.ctx, ast.Load) for part in own):
            raise _Apart
        self._added = stored - read_in((*loop.body, loop.test), self.function)
        self.begun: dict[str, Symbol] = {}
        """Numbers that the loop only adds to, as they were before it."""
        self.given: dict[str, Any] = {}
        self._unset: list[str] = []
        self._written: list[ast.stmt] = []
        self._replaced: dict[tuple[str, str], str] = {}
        self._look()
        left = tuple(tuple(self.left_by(place)) for place in range(len(self.returns) + 1))
        given = tuple((name, type(value), value) for name, value in self.given.items())
        self.key = loop, left, given, tuple(self._unset), tuple(ast.dump(each) for each in self._written)

    def left_by(self, place: int) -> list[str]:
        """Return the names that are told where the loop is left: at its end, or by one of its returns."""
        live = self._liveness
        wanted = live.after[self.loop] | live.inner if not place else read(self.returns[place - 1].value) | live.inner
        return sorted(self._stored & wanted)

    def with_begun(self, name: str, value: Value) -> Value:
        return known(self.m.builder.add(self.m.expr(value), self.begun[name])) if name in self.begun else value

    # what it reads

    def _look(self) -> None:
        own = assigned(self.function) | {each.arg for each in ast.walk(self.function.args) if isinstance(each, ast.arg)}
        pending = list(dict.fromkeys(names_in(self.loop)))
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            if name in own and name not in self._liveness.before[self.loop] | self._liveness.inner:
                self._unset.append(name)
                continue
            value = known(self._held(name, own))
            if value is MISSING or value is UNBOUND:
                if name in own:
                    raise _Apart
                continue
            if isinstance(value, Closure):
                pending += self._closure(name, value)
            elif isinstance(value, Object):
                self._attributes(name, value)
            else:
                self.given[name] = self._given(name, value)
        self.given = dict(sorted(self.given.items(), key=lambda each: each[0]))
        self._unset.sort()

    def _held(self, name: str, own: frozenset[str]) -> Value:
        m = self.m
        frames = (m.frame.key, *m.frame.enclosing) if name in own else m.frame.enclosing
        found = (m.store.get((key, name)) for key in frames)
        return next((value for value in found if value is not MISSING), MISSING)

    def _given(self, name: str, value: Value) -> Any:
        if isinstance(value, Symbol):
            if name not in self._added:
                raise _Apart
            self.begun[name] = value
            return 0
        if isinstance(value, ExpNumber) and value.unknown:
            raise _Apart
        if isinstance(value, Host):
            return value.object
        if not is_plain(value):
            raise _Apart
        return value

    def _closure(self, name: str, value: Closure) -> Iterator[str]:
        """Define a local function beside the loop; yield the names that it reads."""
        if name in self._stored or value.defaults or not {*value.frames} <= {self.m.frame.key, *self.m.frame.enclosing}:
            raise _Apart
        node = deepcopy(value.node)
        if isinstance(node, ast.FunctionDef):
            node.name, node.decorator_list = name, []
            self._written.insert(0, node)
        else:
            self._written.insert(0, placed(ast.Assign([ast.Name(name, ast.Store())], node), node))
        inner = assigned(value.node)
        arguments = {part.arg for part in ast.walk(value.node) if isinstance(part, ast.arg)}
        if any(isinstance(part, (ast.Nonlocal, ast.Global)) for part in ast.walk(value.node)):
            raise _Apart
        return (each for each in dict.fromkeys(names_in(value.node)) if each not in inner | arguments)

    def _attributes(self, name: str, value: Object) -> None:
        """Take attributes of an object for names: the loop does nothing else with the object but read these."""
        parts = [part for part in ast.walk(self.loop) if isinstance(part, ast.Attribute)]
        read_ = [part for part in parts if isinstance(part.value, ast.Name) and part.value.id == name]
        times_ = sum(isinstance(part, ast.Name) and part.id == name for part in ast.walk(self.loop))
        if len(read_) < times_:
            raise _Apart
        for part in read_:
            held = known(self.m.store.get((value.key, f".{part.attr}")))
            if held is MISSING or not is_plain(held):
                raise _Apart
            new = f"{name}_dot_{part.attr}"
            self._replaced[name, part.attr] = new
            self.given[new] = self._given(new, held)

    # its law

    def results(self) -> list[Result]:
        """Return how it ends. Raises Outside where no closed form is found."""
        found: list[Result] = []
        for label, mass, masses in law_of(self._as_function(), tuple(self.given.values()), self.m.watch):
            if masses is not None and not masses.whole:
                raise Outside("has gaps")
            lines = list(zip(label.base, label.columns, label.scales, strict=True))
            moved = iter([_Moved(Fraction(*line) / scale, base / scale) for base, line, scale in lines])
            constants = iter(label.constants)
            values = rebuilt(label.shape, lambda free: next(moved) if free else next(constants))  # noqa: B023
            if not _is_told(values):
                raise Outside("leaves a loop in a value that is not followed")
            if mass:
                found.append((mass, values, None if masses is None else masses.plain()))
        return found

    def _as_function(self) -> FunctionType:
        source = self.m.frame.source
        loop = _Returning(self).visit(deepcopy(self.loop))
        start = [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)) for name in self._unset]
        names = [ast.arg(name) for name in self.given]
        body: list[ast.stmt] = [*start, *self._written, loop, self.told(0)]
        node = ast.FunctionDef(_NAME, ast.arguments([], names, None, [], [], None, []), body, [], None, None)
        if hasattr(node, "type_params"):
            node.type_params = []
        ast.copy_location(node, self.loop)
        for each in ast.walk(node):
            ast.copy_location(each, self.loop) if not hasattr(each, "lineno") else None
        ast.fix_missing_locations(node)
        namespace = dict(source.namespace)
        exec(compile(ast.Module([deepcopy(node)], []), source.file, "exec"), namespace)
        function: FunctionType = namespace[_NAME]
        remember(function, "__tightdp_source__", FunctionSource(source.file, node, namespace, source.file_lines))
        return function

    def told(self, place: int) -> ast.stmt:
        """Return the statement that tells where the loop is left, with the values of names."""
        values = ast.Tuple([ast.Name(name, ast.Load()) for name in self.left_by(place)], ast.Load())
        return ast.Return(ast.Tuple([ast.Constant(place), values], ast.Load()))


class _Returning(ast.NodeTransformer):
    """Puts what names hold in place of what is returned, and attributes of objects as names."""

    def __init__(self, alone: _LoopAlone) -> None:
        self._alone, self._place = alone, 0

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self._place += 1
        lines = [(each.lineno, each.col_offset) for each in self._alone.returns]
        return ast.copy_location(self._alone.told(lines.index((node.lineno, node.col_offset)) + 1), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and (new := self._alone._replaced.get((node.value.id, node.attr))):
            return ast.copy_location(ast.Name(new, ast.Load()), node)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


def _is_told(values: Any) -> bool:
    """Whether values are numbers and the like, in tuples."""
    if isinstance(values, tuple):
        return all(map(_is_told, values))
    return isinstance(values, _Moved) or is_plain(values)
