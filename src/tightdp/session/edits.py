"""Changes of one expression in the source of a mechanism.

Each change undoes a typical mistake: a comparison becomes another one; an operation in the arguments of a draw is taken
away; a draw gets the strength that the claim needs; a value gets noise of that strength; a draw that was made once and
used again is drawn anew.
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from inspect import signature
from itertools import product
from pathlib import Path
from types import FunctionType
from typing import Any

from flint import fmpz

from tightdp.exact.field import Number
from tightdp.exact.numbers import SHORT, decimal_text
from tightdp.language.primitives import PRIMITIVES, Strength, choice, flip, geometric, shuffle
from tightdp.language.program import Bound, Program
from tightdp.session.ends import rounded_up
from tightdp.session.report import called, sources_of

_ORDERS: tuple[type[ast.cmpop], ...] = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@dataclass(frozen=True)
class Edit:
    """A change: its line, the expression before and after, and the text of the functions that are used after it.

    Where it is `late`, the strength of noise is an irrational root of the claim, rounded: round values come first.
    """

    line: int
    before: str
    after: str
    text: str
    adds_noise: bool
    restores: bool
    late: bool


@dataclass(frozen=True)
class _Noise:
    """How strong noise may be and where it is clamped, as expressions: what the claim needs, what the function has.

    `namespace` is what names in the function stand for, `late` as for `Edit`.
    """

    claimed: Number
    ends: tuple[ast.expr, ast.expr]
    names: tuple[str, ...]
    namespace: Mapping[str, Any]
    late: bool

    def strengths(self, strength: Strength | None) -> Iterator[ast.expr]:
        """Yield the arguments that a draw may have: e^ε = `claimed` for a change by one to four, then parameters."""
        if strength is None:
            return
        for change in range(1, 5):
            value = (_rounded if self.late else _strength)(strength, self.claimed, change)
            if value is not None:
                yield ast.Constant(value)
        yield from (ast.Name(name) for name in self.names)

    def hides(self, value: ast.AST) -> bool:
        """Whether a random primitive is called in an expression that hides a value: more than picks or permutes."""
        return any(_drawn_by(inner, self.namespace) in PRIMITIVES for inner in ast.walk(value))

    def draws(self, value: ast.AST) -> bool:
        """Whether anything is drawn in an expression."""
        return any(_drawn_by(inner, self.namespace) is not None for inner in ast.walk(value))


def _drawn_by(node: ast.AST, namespace: Mapping[str, Any]) -> Callable[..., Any] | None:
    """Return the random primitive that an expression calls, None for anything else."""
    value = called(node.func, namespace) if isinstance(node, ast.Call) else None
    return value if isinstance(value, FunctionType) and (value in PRIMITIVES or value in (choice, shuffle)) else None


def _strength(strength: Strength, claimed: Number, change: int) -> str | None:
    """Return the argument with which e^ε = `claimed` for a change by so much, None where that is irrational.

    For an irrational claim and a change by one it is the argument that `solve` calls safe.
    """
    if not isinstance(claimed, Fraction):
        return _rounded(strength, claimed, change) if change == 1 else None
    ratio = Fraction(*(int(fmpz(part).root(change)) for part in (claimed.numerator, claimed.denominator)))
    return str(strength.value(ratio)) if ratio**change == claimed else None


def _rounded(strength: Strength, claimed: Number, change: int) -> str:
    """Return the argument for a change by so much, rounded to the safe side as `solve` does."""
    below = claimed if isinstance(claimed, Fraction) else claimed.enclosure(SHORT * change).lower
    root = int(fmpz(math.floor(below * 10 ** (SHORT * change))).root(change))
    return decimal_text(rounded_up(strength.value(Fraction(root, 10**SHORT))), SHORT)


def edits_of(bound: Bound, claimed: Number) -> Iterator[Edit]:
    """Yield the changes of one expression of the mechanism or a helper in its file; `claimed` is e^ε."""
    program = bound.program
    tree = _used(ast.parse("".join(program.source.file_lines)), program.function.__name__)
    wanted = {source.node.lineno: source.namespace for source in sources_of(program)}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.lineno in wanted]
    seen = {_text(tree)}
    for late, function in product((False, True), functions):
        noise = _noise_of(function, bound, claimed, wanted[function.lineno], late)
        unused = set(noise.names).difference(*map(_names, function.body))
        for adds, changes in ((False, _changed(function, noise)), (True, _noised(function, noise))):
            for node, new in changes:
                text = _with(tree, node, new)
                if text not in seen:
                    seen.add(text)
                    restores = not unused.isdisjoint(_names(new) - _names(node))
                    yield Edit(node.lineno, ast.unparse(node), ast.unparse(new), text, adds, restores, late)


def _used(tree: ast.Module, name: str) -> ast.Module:
    """Return the functions of a file with this name, and those that they name, and so on."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    used, more = set[str](), {name}
    while more - used:
        used |= more
        more = set[str]().union(*(_names(node) for node in functions if node.name in used))
    return ast.Module([node for node in functions if node.name in used], [])


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _noise_of(
    function: ast.FunctionDef, bound: Bound, claimed: Number, namespace: Mapping[str, Any], late: bool
) -> _Noise:
    numbers = [abs(value) for value in bound.record.values if isinstance(value, int)]
    reach = bound.n * max(numbers, default=1) + 3
    ends: tuple[ast.expr, ast.expr] = (ast.Constant(-reach), ast.Constant(reach))
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and _drawn_by(node, namespace) is geometric and len(node.args) == 4:
            ends = (node.args[2], node.args[3])
    rates = {name for name, value in bound.parameters.items() if isinstance(value, Fraction) and 0 < value < 1}
    arguments = [argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)]
    return _Noise(claimed, ends, tuple(name for name in arguments if name in rates), namespace, late)


def rebound(bound: Bound, path: Path) -> Bound | None:
    """Return the mechanism of a changed file, bound as before; None where Python or tightdp refuses it.

    The file has functions only; all else that they use is what the mechanism's own module has.
    """
    known = _globals(bound)
    module: dict[str, object] = {**known, "flip": flip, "geometric": geometric, "__name__": path.stem}
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module)
    except Exception:
        return None
    name = bound.program.function.__name__
    for value in module.values():
        program = getattr(value, "program", None)  # of a mechanism
        if not isinstance(program, Program) or program.function.__name__ != name:
            continue
        if program.function.__code__.co_filename == str(path):
            asked = bound.program
            return replace(bound, program=replace(program, floats=asked.floats, counts=asked.counts))
    return None


def _globals(bound: Bound) -> dict[str, object]:
    """Return what the module of a mechanism defines, without Python's own names."""
    return {name: value for name, value in bound.program.function.__globals__.items() if not name.startswith("__")}


def _changed(function: ast.FunctionDef, noise: _Noise) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield changes of what is there: (an expression of the tree, what it becomes)."""
    once = _drawn_once(function, noise)
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _ORDERS:
                for order in _ORDERS:
                    if order is not type(node.ops[0]):
                        yield node, ast.Compare(node.left, [order()], node.comparators)
            primitive = _drawn_by(node, noise.namespace)
            if isinstance(node, ast.Call) and primitive is not None:
                yield from _of_draw(node, primitive, noise)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in once:
                yield node, copy.deepcopy(once[node.id])
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
                for argument in node.args:
                    yield from _shifted(argument)


def _noised(function: ast.FunctionDef, noise: _Noise) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield noise that is added to a value."""
    for statement in function.body:
        for node in ast.walk(statement):
            for value in _published(node, noise):
                yield from _with_noise(value, noise)


def _shifted(argument: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the end of a range moved by one."""
    yield argument, ast.BinOp(copy.deepcopy(argument), ast.Add(), ast.Constant(1))
    yield argument, ast.BinOp(copy.deepcopy(argument), ast.Sub(), ast.Constant(1))


def _of_draw(call: ast.Call, primitive: Callable[..., Any], noise: _Noise) -> Iterator[tuple[ast.expr, ast.expr]]:
    for argument in call.args:
        for node in ast.walk(argument):
            if isinstance(node, ast.BinOp):
                yield node, node.left
                yield node, node.right
    strength = PRIMITIVES[primitive].strength if primitive in PRIMITIVES else None
    if strength is None:
        return
    given = dict(zip(signature(primitive).parameters, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    if (old := given.get(strength.argument)) is not None:
        for new in noise.strengths(strength):
            yield old, _for_each(new, old) if strength.each else new


def _for_each(value: ast.expr, listed: ast.expr) -> ast.expr:
    """Return a list with a value for each entry of another one."""
    return ast.ListComp(value, [ast.comprehension(ast.Name("_", ast.Store()), copy.deepcopy(listed), [], 0)])


def _with_noise(value: ast.expr, noise: _Noise) -> Iterator[tuple[ast.expr, ast.expr]]:
    for strength in noise.strengths(PRIMITIVES[flip].strength):
        yield value, ast.BinOp(copy.deepcopy(value), ast.BitXor(), ast.Call(ast.Name("flip"), [strength], []))
    for strength in noise.strengths(PRIMITIVES[geometric].strength):
        arguments: list[ast.expr] = [copy.deepcopy(value), strength, *map(copy.deepcopy, noise.ends)]
        yield value, ast.Call(ast.Name("geometric"), arguments, [])


def _published(node: ast.AST, noise: _Noise) -> Iterator[ast.expr]:
    """Yield the values of a statement or expression that may need noise, where they have none."""
    values: list[ast.expr] = []
    if isinstance(node, (ast.Return, ast.Assign)) and node.value is not None:
        values = list(node.value.elts) if isinstance(node.value, ast.Tuple) else [node.value]
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        values = [node.elt]
    elif isinstance(node, ast.IfExp):
        values = [node.body, node.orelse]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
        values = list(node.args)
    elif isinstance(node, ast.Compare):
        values = [node.left, *node.comparators]
    elif isinstance(node, ast.BinOp):
        values = [side for side in (node.left, node.right) if isinstance(side, ast.Name)]
    for value in values:
        if not noise.hides(value) and not isinstance(value, ast.Constant):
            yield value


def _drawn_once(function: ast.FunctionDef, noise: _Noise) -> dict[str, ast.expr]:
    """Return the names that are bound once, to a value with a draw in it."""
    bound: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            bound.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            bound.setdefault(node.target.id, []).append(None)
    return {
        name: values[0]
        for name, values in bound.items()
        if len(values) == 1 and values[0] is not None and noise.draws(values[0])
    }


def _with(tree: ast.Module, old: ast.expr, new: ast.expr) -> str:
    """Return the text of functions in which one expression is another."""
    _Replaced(old, new).visit(tree)
    ast.fix_missing_locations(tree)
    text = _text(tree)
    _Replaced(new, old).visit(tree)
    return text


def _text(tree: ast.Module) -> str:
    return "\n\n".join(map(ast.unparse, tree.body)) + "\n"


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)
