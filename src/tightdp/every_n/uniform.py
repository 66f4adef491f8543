"""A mechanism that treats all records by the same code, as three functions: before, with each record, and after."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import FunctionType
from typing import Any

from tightdp.every_n.forms import SIZE, Form
from tightdp.every_n.observing import refuse_observe
from tightdp.every_n.passes import Pass, Reader
from tightdp.every_n.rewriting import EMIT, SIZED, Emission, Sized, name_of, sum_of
from tightdp.every_n.syntax import exposed, fragment, loads, stores
from tightdp.language.exactness import exact
from tightdp.language.program import Bound
from tightdp.language.source import FunctionSource

__all__ = ["INDEX", "LENGTH", "STOP", "UNSET", "Uniform", "read_uniform"]

STOP, UNSET = "__tightdp_stop__", "__tightdp_unset__"
INDEX, LENGTH = "\0index", "\0length"
"""What stands in an output for the index of a record, and for the number of records."""
_NEXT, _BREAK = "__tightdp_next__", "__tightdp_break__"


@dataclass(frozen=True)
class Uniform:
    """The code of a mechanism, split into its parts.

    `before()` and `block(record, *state)` return ("next" or "break", the local variables) or ("stop", an output);
    `after(*state)` and, where a break ended the loop, `broken(*state)` return an output. `state` names the variables
    that go from one record to the next. What is emitted goes to `emitted`.
    """

    state: tuple[str, ...]
    emitted: list[tuple[str, Any]]
    before: Callable[..., Any]
    block: Callable[..., Any]
    after: Callable[..., Any]
    broken: Callable[..., Any]
    source: FunctionSource
    places: dict[str, ast.AST]
    sums: frozenset[str]
    """The variables of the state that sums over the records are kept in, where these are followed."""
    told: str | None
    """The list of messages that the output contains in order, "" where there are none, None where it does not.

    If an output that leaves the loop lacks the index of the record, this is None, too.
    """


def read_uniform(bound: Bound, sums: bool = False) -> Uniform:
    """Split a mechanism into its parts; with `sums`, numbers that are only added up join the state, else messages.

    Raises LanguageError with the place where it treats records by position or by n.
    """
    refuse_observe(bound.program.source)
    return _Taken(bound, sums).uniform()


class _Taken:
    def __init__(self, bound: Bound, sums: bool) -> None:
        self.bound = bound
        self.sums = sums
        self.source = bound.program.source
        self.node = copy.deepcopy(self.source.node)
        arguments = [*self.node.args.posonlyargs, *self.node.args.args]
        self.reader = Reader(self.source, arguments[0].arg)
        self.blind = {self.reader.dataset} | ({"n"} if bound.program.takes_n() else set())

    def uniform(self) -> Uniform:
        before, loop, after = self._one_pass(self.reader.split(self.node.body))
        self.blind |= self.reader.indices
        before, late = self._postponed(before, loop)
        after = [*late, *after]
        written = stores([*before, *loop.body, loop.target])
        parameters = {name for name in self.bound.parameters if name in written}
        self.emitted = {
            name for name in stores(loop.body) | _appended(loop.body) if self._only_emitted(name, before, loop)
        }
        growing = {name for name in self.emitted if self.sums and _is_number(name, before)}
        self.emitted -= growing
        body = Emission(self.emitted).statements(loop.body)
        summed = sorted(name for name in self.emitted if sum_of(name) in loads(body))
        for name in summed:
            before += fragment("SUM = sum(NAME)", SUM=name_of(sum_of(name)), NAME=name_of(name))
        self.varying = (written | set(map(sum_of, summed))) - self.emitted - self.reader.indices
        returned = [node for each in loop.body for node in ast.walk(each) if isinstance(node, ast.Return)]
        self.seen = self.emitted & loads([*after, *loop.orelse, *returned])
        body = [self._published(each) for each in body]
        self.told = None if loop.orelse or _leaves(before) else self._told(after, returned)
        ends = [self._end(self._sized(part)) for part in ([*loop.orelse, *after], after)]
        needed = exposed(body, frozenset(stores([loop.target]))) | exposed(ends[0]) | exposed(ends[1])
        state = tuple(sorted(needed & (self.varying | parameters)))
        for part in (*before, *body, *ends[0], *ends[1]):
            self._check(part)
        return self._compiled(state, before, Pass(loop.target, body), ends, parameters, frozenset(growing & set(state)))

    def _one_pass(self, parts: Sequence[ast.stmt | Pass]) -> tuple[list[ast.stmt], Pass, list[ast.stmt]]:
        """Return what is done before, with each record, and after; several passes are merged where possible."""
        places = [at for at, part in enumerate(parts) if isinstance(part, Pass)]
        if not places:
            loop = Pass(name_of("__tightdp_record__", ast.Store()), [ast.Pass()])
            return [], loop, [part for part in parts if isinstance(part, ast.stmt)]
        first, last = places[0], places[-1]
        before = [part for part in parts[:first] if isinstance(part, ast.stmt)]
        after = [part for part in parts[last + 1 :] if isinstance(part, ast.stmt)]
        loop = next(part for part in parts if isinstance(part, Pass))
        if first == last:
            return before, loop, after
        whole = [loop]
        late: list[ast.stmt] = []
        for part in parts[first + 1 : last + 1]:
            inside = [part] if isinstance(part, ast.stmt) else [*part.body, part.target]
            earlier = [node for each in whole for node in (*each.body, each.target)]
            names = stores(earlier) | _appended(earlier)
            postponed = loads(late) | stores(late)
            if isinstance(part, (ast.Assign, ast.AugAssign)) and (loads([part]) - {"__tightdp_record__"}) & (
                names | stores(late)
            ):
                late.append(part)  # it is done after the records, unless something before them needs it
                continue
            others = loads(earlier) | names | postponed
            ended = any(isinstance(node, (ast.Break, ast.Return)) for each in inside for node in ast.walk(each))
            if (
                (names | stores(late)) & (loads(inside) - {"__tightdp_record__"})
                or stores(inside) & others - {"__tightdp_record__"}
                or ended
            ):
                place = part if isinstance(part, ast.stmt) else part.target
                raise self.reader.refusal("it iterates over the records again with what it found in them", place)
            if isinstance(part, Pass):
                whole.append(part)
            else:
                before.append(part)
        after = [*late, *after]
        if any(each.orelse or _leaves(each.body) for each in whole):
            raise self.reader.refusal("it iterates over the records again after a loop that can end early", loop.target)
        record = name_of("__tightdp_each__", ast.Store())
        loops: list[ast.stmt] = []
        for each in whole:
            once = ast.Tuple([name_of("__tightdp_each__")], ast.Load())
            loops.append(ast.For(each.target, once, each.body, []))
        return before, Pass(record, loops), after

    def _postponed(self, before: Sequence[ast.stmt], loop: Pass) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """Move assignments that look at n or the dataset behind the loop where nothing in between depends on them."""
        kept: list[ast.stmt] = []
        late: list[ast.stmt] = []
        for at, part in enumerate(before):
            inside = [*before[at + 1 :], *loop.body, loop.target]
            free = not stores([part]) & (loads(inside) | stores(inside)) and not loads([part]) & stores(inside)
            blind = bool(loads([part]) & self.blind)
            (late if blind and free and isinstance(part, ast.Assign) else kept).append(part)
        return kept, late

    def _only_emitted(self, name: str, before: Sequence[ast.stmt], loop: Pass) -> bool:
        """Whether the body only adds to a variable that begins as a constant."""
        begins = [part for part in before if name in stores([part])]
        plain = len(begins) == 1 and isinstance(begins[0], ast.Assign) and not loads([begins[0].value])
        if not plain or name in stores([loop.target]) or name in loads(before):
            return False
        counter = Emission({name})
        rest = counter.statements(copy.deepcopy(loop.body))
        left = [node for each in rest for node in ast.walk(each) if isinstance(node, ast.Name) and node.id == name]
        returned = [node for each in rest for node in ast.walk(each) if isinstance(node, ast.Return) and node.value]
        published = [
            node for each in returned for node in ast.walk(each) if isinstance(node, ast.Name) and node.id == name
        ]
        return counter.added > 0 and len(left) == len(published)

    def _published(self, statement: ast.stmt) -> ast.stmt:
        """Return a statement of the body in which outputs that follow from what is emitted are left out."""
        result: ast.stmt = _Published(self).visit(statement)
        return result

    def visible(self, value: ast.expr) -> ast.expr:
        """Return an output without the entries that follow from what is emitted, the position and n."""
        if isinstance(value, ast.Tuple):
            return ast.copy_location(ast.Tuple([self._entry(each) for each in value.elts], ast.Load()), value)
        return self._entry(value)

    def _entry(self, value: ast.expr) -> ast.expr:
        names = loads([value])
        if not names & (self.blind | self.emitted):
            return value
        if names & self.varying:
            self._check(value)
            raise self.reader.refusal("this mixes messages of all records with what else the loop knows", value)
        return ast.copy_location(ast.Constant(self._position(value)), value)

    def _position(self, value: ast.expr) -> str | None:
        """Return the placeholder for the index of a record or the number of records; None for other values."""
        if isinstance(value, ast.Name) and value.id in self.reader.counted:
            return INDEX
        sizes = {f"len({self.reader.dataset})"} | ({"n"} & self.blind)
        return LENGTH if ast.unparse(value) in sizes else None

    def _told(self, after: list[ast.stmt], returned: list[ast.Return]) -> str | None:
        """Return the one list of messages that every ending of the program returns unchanged; "" for no messages.

        What leaves the loop must return the index of the record too. None where something else is returned.
        """
        hidden, name = self.blind | self.emitted, next(iter(self.emitted), "")
        if not returned and not loads(after) & hidden:
            return ""
        if len(self.emitted) > 1 or not after or _leaves(after[:-1]) or loads(after[:-1]) & hidden:
            return None
        for last in [after[-1], *returned]:
            if not isinstance(last, ast.Return) or last.value is None:
                return None
            entries = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
            places = [self._position(each) for each in entries]
            rest = [each for each, place in zip(entries, places, strict=True) if place is None]
            others = [each for each in rest if ast.unparse(each) != f"tuple({name})"]
            silent = bool(name) and len(others) == len(rest)
            if silent or loads(others) & hidden or (last in returned and INDEX not in places):
                return None
        return name

    def _end(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Return the code after the loop, or code with a finer output, of which the real one is a function."""
        statements = copy.deepcopy(statements)
        hidden = self.blind | self.emitted
        if not loads(statements) & hidden:
            return statements
        earlier, last = statements[:-1], statements[-1]
        simple = not any(isinstance(node, ast.Return) for each in earlier for node in ast.walk(each))
        if simple and isinstance(last, ast.Return) and last.value is not None and not loads(earlier) & hidden:
            known = self.varying | stores(earlier)
            entries = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
            if not stores(earlier) & hidden and not any(
                loads([each]) & hidden and loads([each]) & known for each in entries
            ):
                return [*earlier, ast.copy_location(ast.Return(self.visible(last.value)), last)]
        seen = sorted(exposed(statements) & self.varying)
        return [ast.Return(ast.Tuple([name_of(each) for each in seen], ast.Load()))]

    def _sized(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Return the end of the program, with the number of records symbolic where sums are."""
        if not self.sums:
            return statements
        sized = Sized(self.reader.dataset, "n" if "n" in self.blind else None)
        return [sized.visit(copy.deepcopy(each)) for each in statements]

    def _check(self, part: ast.AST) -> None:
        for node in ast.walk(part):
            if isinstance(node, ast.Name) and node.id in self.blind:
                what = "the index of a record" if node.id in self.reader.indices else f"{node.id}, so that n"
                raise self.reader.refusal(f"{what} decides what happens here", node)

    def _compiled(
        self,
        state: tuple[str, ...],
        before: list[ast.stmt],
        loop: Pass,
        ends: list[list[ast.stmt]],
        parameters: set[str],
        sums: frozenset[str],
    ) -> Uniform:
        emitted: list[tuple[str, Any]] = []

        def emit(name: str, value: Any) -> Any:
            if name in self.seen:
                emitted.append((name, value))
            return value

        unset = object()
        names = {
            **{name: value for name, value in self.bound.parameters.items() if name not in parameters},
            EMIT: emit,
            STOP: lambda value: ("stop", value),
            _NEXT: lambda names: ("next", dict(names)),
            _BREAK: lambda names: ("break", dict(names)),
            UNSET: unset,
            SIZED: Form(SIZE, Fraction(0)),
        }
        given = fragment("\n".join(f"{name} = __tightdp_given__{name}" for name in sorted(parameters)))
        names |= {f"__tightdp_given__{name}": self.bound.parameters[name] for name in parameters}
        unsetting = [
            each for name in state for each in fragment(f"if V is {UNSET}:\n    del {name}", V=name_of(name))
        ]  # fmt: skip
        one = ast.Tuple([name_of("__tightdp_given__")], ast.Load())
        around: list[ast.stmt] = [ast.For(loop.target, one, loop.body, fragment(f"return {_NEXT}(locals())"))]
        block = [*copy.deepcopy(unsetting), *around, *fragment(f"return {_BREAK}(locals())")]
        first = _Published(self, stop_only=True).statements(before)
        return Uniform(
            state,
            emitted,
            self._function([], [*given, *first, *fragment(f"return {_NEXT}(locals())")], names),
            self._function(["__tightdp_given__", *state], block, names),
            self._function(list(state), [*copy.deepcopy(unsetting), *ends[0]] or [ast.Pass()], names),
            self._function(list(state), [*copy.deepcopy(unsetting), *ends[1]] or [ast.Pass()], names),
            self.source,
            self._places(),
            sums,
            self.told,
        )

    def _places(self) -> dict[str, ast.AST]:
        found: dict[str, ast.AST] = {}
        for node in ast.walk(self.source.node):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = node
        return found

    def _function(self, arguments: list[str], body: list[ast.stmt], names: dict[str, Any]) -> Callable[..., Any]:
        """Return a function of this program's module with this body, computing with exact rationals."""
        listed = ast.arguments([], [ast.arg(name) for name in arguments], None, [], [], None, [])
        node = ast.FunctionDef(self.node.name, listed, body, [], None, None)
        ast.copy_location(node, self.source.node)
        for part in ast.walk(node):
            if isinstance(part, (ast.expr, ast.stmt)) and not hasattr(part, "lineno"):
                part.lineno, part.col_offset, part.end_lineno, part.end_col_offset = self.node.lineno, 0, None, None
        original = self.bound.program.function
        assert isinstance(original, FunctionType)
        carrier = FunctionType(
            original.__code__, {**original.__globals__, **names}, self.node.name, None, original.__closure__
        )
        carrier.__module__ = original.__module__
        source = FunctionSource(self.source.file, node, self.source.namespace, self.source.file_lines)
        carrier.__dict__["__tightdp_source__"] = (carrier, source)
        return exact(carrier)


class _Published(ast.NodeTransformer):
    """Turns `return` into a stop, and leaves out what follows from what is emitted."""

    def __init__(self, taken: _Taken, stop_only: bool = False) -> None:
        self._taken = taken
        self._stop_only = stop_only

    def statements(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [self.visit(each) for each in body]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        value = node.value or ast.Constant(None)
        value = value if self._stop_only else self._taken.visible(value)
        return ast.copy_location(ast.Return(ast.Call(name_of(STOP), [value], [])), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == EMIT:
            return ast.copy_location(ast.Call(node.func, [node.args[0], self._taken.visible(node.args[1])], []), node)
        return self.generic_visit(node)


def _appended(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names whose methods are called, which may change them."""
    calls = [part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Call)]
    methods = [call.func for call in calls if isinstance(call.func, ast.Attribute)]
    return {each.value.id for each in methods if isinstance(each.value, ast.Name)}


def _is_number(name: str, before: Sequence[ast.stmt]) -> bool:
    """Whether a variable is initialized with a number."""
    values = [part.value for part in before if isinstance(part, ast.Assign) and name in stores([part])]
    return all(isinstance(value, ast.Constant) and type(value.value) is int for value in values)


def _leaves(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(node, (ast.Return, ast.Break)) for each in body for node in ast.walk(each))
