"""Statements: assignment, branching, loops that are unrolled, early exits and local functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

from tightdp.core.ir import Const, Expr
from tightdp.core.lowering.expressions import BINARY, Expressions
from tightdp.core.lowering.machine import Dead, Failure, Frame, State, is_milestone
from tightdp.core.lowering.progress import Progress
from tightdp.core.lowering.values import Closure, Reference, Union, Value, name_of

__all__ = ["Statements"]

_MAX_DEPTH = 200
"""How deep calls of local functions may nest."""


class Statements(Expressions):
    """Execution of Python statements on all live runs at once."""

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Execute statements in order as long as a run is left."""
        for statement in statements:
            if self.state.alive is self.builder.false:
                return
            self.execute(statement)

    def execute(self, node: ast.stmt) -> None:
        """Execute one statement; runs that fail in it end there."""
        handler = getattr(self, "_do_" + type(node).__name__.lower(), None)
        if handler is None:
            raise self.unsupported(
                f"the statement {type(node).__name__.lower()!r} is not in the language",
                "see the list of supported Python in the README",
                node,
            )
        self.watch()
        self.position.append(node)
        try:
            self.attempt(lambda: handler(node))
        finally:
            self.position.pop()

    # assignment

    def _do_assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        for target in node.targets:
            self.assign(target, value)

    def _do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value))

    def _do_augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            present = self._eval_name(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
            self.assign(node.target, self._augment(node, present))
            return
        if not isinstance(node.target, ast.Subscript) or isinstance(node.target.slice, ast.Slice):
            raise self.unsupported("this target of an assignment is not in the language", "assign to a name", node)
        base, index = self.evaluate(node.target.value), self.evaluate(node.target.slice)
        present = self.each(base, lambda value: self.each(index, lambda at: self.element(value, at)))
        self._store(base, index, self._augment(node, present))

    def _augment(self, node: ast.AugAssign, present: Value) -> Value:
        increment = self.evaluate(node.value)

        def changed(value: Value) -> Value:
            if isinstance(value, Reference) and isinstance(node.op, ast.Add):
                self.extend(value, increment)
                return value
            result = self.binary(BINARY.get(type(node.op)), value, increment, node)
            if isinstance(value, Reference):
                self.content(value)
                self.state.heap[value.key] = self.items(result)
                return value
            return result

        return self.each(present, changed)

    def assign(self, target: ast.expr, value: Value) -> None:
        """Assign to a name, an element, or a pattern of those."""
        match target:
            case ast.Name():
                self._bind(target.id, value)
            case ast.Subscript() if not isinstance(target.slice, ast.Slice):
                self._store(self.evaluate(target.value), self.evaluate(target.slice), value)
            case ast.Tuple() | ast.List():
                self._unpack(target.elts, value)
            case _:
                raise self.unsupported(
                    "this target of an assignment is not in the language", "assign to names and elements", target
                )

    def _bind(self, name: str, value: Value) -> None:
        frame = next(frame for frame in reversed(self.stack) if not frame.comprehension or name in frame.locals)
        if name not in frame.locals:
            for key in frame.enclosing:
                if name in self.scopes[key]:
                    self.state.frames.setdefault(key, {})[name] = value
                    return
        self.state.frames[frame.key][name] = value

    def _unpack(self, targets: Sequence[ast.expr], value: Value) -> None:
        starred = [at for at, target in enumerate(targets) if isinstance(target, ast.Starred)]

        def spread(items: tuple[Value, ...]) -> Value:
            missing = len(items) - len(targets)
            if (missing != 0 and not starred) or missing < -1:
                raise Failure(
                    f"ValueError: {len(items)} values to unpack into {len(targets)} targets",
                    "give as many targets as values",
                )
            if not starred:
                return items
            at = starred[0]
            middle = self.new_list(items[at : at + missing + 1])
            return (*items[:at], middle, *items[at + missing + 1 :])

        parts = self.each(self.collected(value), spread)
        if isinstance(parts, Union):
            raise self.unsupported("unpacking values of different shapes", "branch on the shape first")
        for target, part in zip(targets, parts, strict=True):
            self.assign(target.value if isinstance(target, ast.Starred) else target, part)

    def _store(self, base: Value, index: Value, value: Value) -> None:
        def into(item: Value) -> None:
            content = self.content(item)
            self.state.heap[item.key] = self.each(content, lambda items: self._replaced(items, index, value))

        self.each(base, into)

    def content(self, value: Value) -> Value:
        """Return the content of a list that is about to be changed."""
        if not isinstance(value, Reference):
            raise Failure(f"TypeError: {name_of(value)} cannot be changed", "make a list of it first: list(...)")
        if value.key in self.frozen:
            raise self.unsupported("a list of the enclosing module cannot be changed", "copy it first: list(...)")
        return self.state.heap[value.key]

    def _replaced(self, items: tuple[Value, ...], index: Value, value: Value) -> tuple[Value, ...]:
        if not isinstance(index, Expr):
            at = self.position_in(items, index)
            return (*items[:at], value, *items[at + 1 :])
        changed = list(items)
        for number, at in self.valid_positions(items, index):
            changed[at] = self.merge(self.builder.equals(index, number), value, changed[at])
        return tuple(changed)

    def extend(self, reference: Value, more: Value) -> None:
        """Append the items of a sequence to a list."""
        items, content = self.collected(more), self.content(reference)
        self.state.heap[reference.key] = self.joined(content, items)

    # branching

    def _do_expr(self, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            self.evaluate(node.value)

    def _do_pass(self, node: ast.Pass) -> None:
        """Nothing to do."""

    def _do_if(self, node: ast.If) -> None:
        self.branch(
            self.truth(self.evaluate(node.test)), lambda: self.block(node.body), lambda: self.block(node.orelse)
        )

    def _do_assert(self, node: ast.Assert) -> None:
        condition = self.truth(self.evaluate(node.test))
        text = ast.unparse(node.test)
        if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str):
            text = node.msg.value
        failure = Failure(f"AssertionError: {text}", "make the assertion hold on every run, or drop it")
        self.branch(condition, lambda: None, self._raising(failure))

    def _do_raise(self, node: ast.Raise) -> None:
        text = "" if node.exc is None else ast.unparse(node.exc)
        self._raising(Failure(f"raise {text}".strip(), "make sure that no run gets here"))()

    @staticmethod
    def _raising(failure: Failure) -> Callable[[], Value]:
        def action() -> Value:
            raise failure

        return action

    # loops

    def _do_for(self, node: ast.For) -> None:
        base, mark = self.state.alive, self.departures()
        breaks: list[State] = []
        normal: list[State] = []
        for at, (present, item) in enumerate(self.iterate(self.evaluate(node.iter))):
            self._leave_loop_where(self.builder.negation(present), normal)
            if present is not self.builder.true and is_milestone(at) and not self.some_run_is_left():
                self.state.alive = self.builder.false
            if self.state.alive is self.builder.false:
                break
            self.attempt(partial(self.assign, node.target, item))
            self._round(node.body, breaks)
        self._finish_loop(node, base, mark, normal, breaks)

    def _do_while(self, node: ast.While) -> None:
        base, mark = self.state.alive, self.departures()
        breaks: list[State] = []
        normal: list[State] = []
        progress = Progress(self)
        while self.state.alive is not self.builder.false:
            condition = self.attempt(lambda: self.truth(self.evaluate(node.test)))
            if self.state.alive is self.builder.false:
                break
            self._leave_loop_where(self.builder.negation(condition), normal)
            if self.state.alive is self.builder.false:
                break
            certain = self.state.alive is base and isinstance(condition, Const)
            if not progress.another_round(certain):
                raise self.unsupported(
                    "no bound on the rounds of this while loop could be established",
                    "count the rounds and stop at a fixed number, or write `for _ in range(N)`",
                    node,
                )
            self._round(node.body, breaks)
        self._finish_loop(node, base, mark, normal, breaks)

    def _leave_loop_where(self, condition: Expr, normal: list[State]) -> None:
        if condition is not self.builder.false:
            alive = self.state.alive
            leaving = self.conj(alive, condition)
            if leaving is not self.builder.false:
                normal.append(self.state.copy(leaving))
            self.state.alive = self.conj(alive, self.builder.negation(condition))

    def _round(self, body: Sequence[ast.stmt], breaks: list[State]) -> None:
        base, mark = self.state.alive, self.departures()
        continues: list[State] = []
        self.frame.loops.append((breaks, continues))
        self.block(body)
        self.frame.loops.pop()
        self._meet(base, mark, continues)

    def _finish_loop(
        self, node: ast.For | ast.While, base: Expr, mark: int, normal: list[State], breaks: list[State]
    ) -> None:
        self._meet(base, mark, normal)
        self.block(node.orelse)
        self._meet(base, mark, breaks)

    def _meet(self, base: Expr, mark: int, others: list[State]) -> None:
        """Let runs that left earlier, after the mark and for the place `others`, rejoin the present ones."""
        if not others:
            return
        ends = [(state, None) for state in others]
        if self.state.alive is not self.builder.false:
            ends.append((self.state, None))
        self.join(base, ends, base if self.stayed(mark, others) else None)
        self.arrived(mark, others)

    def _do_break(self, node: ast.Break) -> None:
        self._divert(self.frame.loops[-1][0])

    def _do_continue(self, node: ast.Continue) -> None:
        self._divert(self.frame.loops[-1][1])

    def _divert(self, target: list[State]) -> None:
        target.append(self.state.copy(self.state.alive))
        self.depart(target)
        self.state.alive = self.builder.false

    # functions

    def _do_return(self, node: ast.Return) -> None:
        value = None if node.value is None else self.evaluate(node.value)
        self.frame.returns.append((self.state.copy(self.state.alive), value))
        self.depart(self.frame.returns)
        self.state.alive = self.builder.false

    def _do_functiondef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise self.unsupported("a decorated local function is not in the language", "drop the decorator", node)
        self._bind(node.name, self.closure(node))

    def _do_nonlocal(self, node: ast.Nonlocal) -> None:
        """The names are looked up in the enclosing frames."""

    def inline(self, closure: Closure, bindings: dict[str, Value]) -> Value:
        """Execute a function's body in place of the call and return its value."""
        depth = len(self.stack)
        if depth > _MAX_DEPTH:
            raise self.unsupported("calls nest too deeply", "bound the recursion")
        if is_milestone(depth) and not self.some_run_is_left():
            raise Dead
        node = closure.node
        frame = Frame(self.new_key(), closure.frames, frozenset(bindings) | _assigned(node), closure.source)
        self.enter(frame, bindings)
        try:
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body)
            return self._body(node, frame)
        finally:
            self.stack.pop()
            if not any(isinstance(part, (ast.FunctionDef, ast.Lambda)) for part in ast.walk(node) if part is not node):
                self.state.frames.pop(frame.key, None)

    def _body(self, node: ast.FunctionDef, frame: Frame) -> Value:
        base, mark = self.state.alive, self.departures()
        self.block(node.body)
        ends = frame.returns
        if self.state.alive is not self.builder.false:
            ends.append((self.state, None))
        if not ends:
            raise Dead
        value = self.join(base, ends, base if self.stayed(mark, ends) else None)
        self.arrived(mark, ends)
        return value


def _assigned(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Return the names that a function assigns itself."""
    names: set[str] = set()
    outer: set[str] = set()
    stack: list[ast.AST] = list(node.body) if isinstance(node, ast.FunctionDef) else [node.body]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Nonlocal):
            outer.update(part.names)
        elif isinstance(part, ast.FunctionDef):
            names.add(part.name)
            continue
        elif isinstance(part, ast.Lambda):
            continue
        elif isinstance(part, (ast.ListComp, ast.GeneratorExp)):
            stack.extend(_walrus(part))
            continue
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            names.add(part.id)
        stack.extend(ast.iter_child_nodes(part))
    return frozenset(names - outer)


def _walrus(node: ast.AST) -> list[ast.AST]:
    return [part.target for part in ast.walk(node) if isinstance(part, ast.NamedExpr)]
