"""Which values a function can return at all, read off its text: however long its loops go on, these are all.

What is known of an expression is a finite set of values, that it is an integer between two ends, that it is a scalar,
or nothing. A name holds what any assignment in its function may give it.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from types import FunctionType
from typing import Any, TypeAlias

from tightdp.errors import LanguageError
from tightdp.language import primitives
from tightdp.language.liveness import assignments, bound_by, own_nodes
from tightdp.language.source import FunctionSource, read_function
from tightdp.limits.calibrated import FEW_VALUES, MAX_DATASETS

_DEPTH = 20


@dataclass(frozen=True)
class Whole:
    """An integer, or a truth value, between two ends, each of which may be missing."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class Scalar:
    """A number, a truth value, a string or None: no array, tuple or object, which compare otherwise."""


@dataclass(frozen=True)
class Records:
    """A dataset, of whose records so much is known."""

    record: frozenset[Any] | Scalar


Possible: TypeAlias = "frozenset[Any] | Whole | Scalar | Records | None"
_EITHER: Possible = frozenset({False, True})
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
}
_DRAWN: Mapping[Any, Possible] = {
    primitives.flip: _EITHER,
    primitives.geometric: Whole(),
    primitives.discrete_laplace: Whole(),
    primitives.discrete_gaussian: Whole(),
    primitives.one_sided_geometric: Whole(),
    primitives.binomial: Whole(0),
    primitives.laplace: Scalar(),
    primitives.exponential: Scalar(),
    primitives.uniform: Scalar(),
    bool: _EITHER,
    len: Whole(0),
    Fraction: Scalar(),
}


def returned_values(function: Any, records: Collection[Any] = ()) -> frozenset[Any] | None:
    """Return a finite set of scalars, and tuples of such, that holds all that a function returns; None if not known.

    It is a function of a dataset of such `records` where these are given.
    """
    try:
        source, given = read_function(function, anonymous=True), _record(records)
        arguments = [*source.node.args.posonlyargs, *source.node.args.args][:1]
        names = {each.arg: Records(given) for each in arguments} if given else {}
        found = _Function(source, names, _DEPTH, {}).returned()
    except LanguageError:
        return None
    return found if isinstance(found, frozenset) else None


def _record(records: Collection[Any]) -> frozenset[Any] | Scalar | None:
    """Return what is known of a record, None where it may be no scalar."""
    if 0 < len(records) <= FEW_VALUES and all(isinstance(each, (bool, int, str)) for each in records):
        return frozenset(records)
    if 0 < len(records) <= MAX_DATASETS and all(isinstance(each, (bool, int, Fraction)) for each in records):
        return Scalar()
    return None


def _joined(left: Possible, right: Possible) -> Possible:
    """Return what is known of a value that is one or the other; sets that grow are left for intervals, then for all."""
    if frozenset() in (left, right):
        return left or right
    if isinstance(left, frozenset) and isinstance(right, frozenset):
        both = left | right
        if len(both) <= FEW_VALUES:
            return both
    if left is None or right is None or not all(map(_plain, (left, right))):
        return None
    if _whole(left) is None or _whole(right) is None:
        return Scalar()
    (a, b), (c, d) = _ends(left), _ends(right)
    return Whole(
        a if c is None or (a is not None and a <= c) else None, b if d is None or (b is not None and b >= d) else None
    )


def _plain(value: Possible) -> bool:
    """Whether a value is a scalar, whichever it is."""
    if isinstance(value, Records):
        return False
    return value is not None and not (isinstance(value, frozenset) and any(isinstance(each, tuple) for each in value))


def _whole(value: Possible) -> Possible:
    """Return a value that is an integer or a truth value in any case, None for others."""
    if isinstance(value, Whole):
        return value
    whole = isinstance(value, frozenset) and all(isinstance(each, int) for each in value)
    return value if whole else None


def _ends(value: Possible) -> tuple[int | None, int | None]:
    if isinstance(value, Whole):
        return value.low, value.high
    return (min(value), max(value)) if isinstance(value, frozenset) and value else (None, None)


def _listed(value: Possible) -> Possible:
    """Return an integer between two near ends as the set of all of these."""
    if not isinstance(value, Whole) or value.low is None or value.high is None or value.high - value.low > FEW_VALUES:
        return value
    return frozenset(range(value.low, value.high + 1))


class _Function:
    """What the names of one function may hold, and what it returns."""

    def __init__(
        self, source: FunctionSource, arguments: Mapping[str, Possible], depth: int, called: dict[Any, Possible]
    ) -> None:
        self._source, self._depth, self._returned = source, depth, called
        self._own = list(own_nodes(source.node))
        self._assigned = [each for node in self._own for each in assignments(node)]
        known = {target for target, _ in self._assigned}
        self._names: dict[str, Possible] = {target.id: frozenset() for target in known}
        inside = list(ast.walk(source.node))
        self._names |= {node.arg: arguments.get(node.arg) for node in inside if isinstance(node, ast.arg)}
        for node in inside:
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                self._names |= dict.fromkeys(node.names)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in known:
                self._names[node.id] = None
            self._names |= dict.fromkeys(bound_by(node))

    def returned(self) -> Possible:
        """Return what is known of all that is returned: every return statement counts, and the end of the function."""
        if any(isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)) for node in self._own):
            return None
        self._settle()
        found: Possible = frozenset({None} if _goes_through(self._source.node.body) else ())
        for node in self._own:
            if isinstance(node, ast.Return):
                found = _joined(found, frozenset({None}) if node.value is None else self._at(node.value))
        return found

    def _settle(self) -> None:
        """Find what the names hold: from nothing on, until no assignment adds anything."""
        changed = True
        while changed:
            changed = False
            for target, value in self._assigned:
                before = self._names[target.id]
                self._names[target.id] = joined = _joined(before, self._at(value))
                changed = changed or joined != before

    def _at(self, node: ast.expr) -> Possible:
        match node:
            case ast.Constant(value=bool() | int() | str() | None as value):
                return frozenset({value})
            case ast.Constant(value=float()):
                return Scalar()
            case ast.Name(id=name):
                return self._names[name] if name in self._names else _of_module(self._source, name)
            case ast.Tuple(elts=items):
                sets = [each for each in map(_listed, map(self._at, items)) if isinstance(each, frozenset)]
                few = len(sets) == len(items) and prod(map(len, sets)) <= FEW_VALUES**2
                return frozenset(product(*sets)) if few else None
            case ast.Subscript(value=ast.Name(id=name), slice=place) if not isinstance(place, ast.Slice):
                found = self._names.get(name)
                return found.record if isinstance(found, Records) and _whole(self._at(place)) is not None else None
            case ast.UnaryOp(op=ast.Not()):
                return _EITHER
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return _operated(ast.Sub(), frozenset({0}), self._at(inner))
            case ast.Compare(left=left, comparators=others):
                scalar = all(_plain(self._at(each)) for each in (left, *others))
                return _EITHER if scalar else None
            case ast.BoolOp(values=values):
                return self._any(values)
            case ast.IfExp(body=body, orelse=orelse):
                return self._any([body, orelse])
            case ast.BinOp(left=left, op=op, right=right):
                return _operated(op, self._at(left), self._at(right))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name not in self._names:
                if not any(isinstance(each, ast.Starred) for each in arguments):
                    return self._called(self._source.namespace.get(name, _BUILTINS.get(name)), arguments)
        return None

    def _any(self, nodes: Sequence[ast.expr]) -> Possible:
        found = self._at(nodes[0])
        for node in nodes[1:]:
            found = _joined(found, self._at(node))
        return found

    def _called(self, target: Any, arguments: Sequence[ast.expr]) -> Possible:
        given = [self._at(each) for each in arguments]
        if (target is min or target is max) and len(given) > 1:
            return _extremum(target, given)
        if target is int and len(given) == 1:
            return given[0] if _whole(given[0]) is not None else Whole() if _plain(given[0]) else None
        if target is sum and len(given) == 1 and isinstance(given[0], Records):
            least = _ends(given[0].record)[0]
            other = None if isinstance(given[0].record, frozenset) else given[0].record
            return other if _whole(given[0].record) is None else Whole(0 if least is not None and least >= 0 else None)
        if target is primitives.randint:
            low, high = (_ends(each) if _whole(each) is not None else (None, None) for each in given)
            return _listed(Whole(low[0], high[1]))
        try:
            known = _DRAWN.get(target)
        except TypeError:
            return None
        if known is not None or not isinstance(target, FunctionType) or hasattr(target, "__wrapped__"):
            return known
        call = target, tuple(given), self._depth
        if self._depth > 1 and call not in self._returned:  # once, in however many rounds of settling it is met
            source = read_function(target, anonymous=True)
            names = [each.arg for each in source.node.args.args]
            held = dict(zip(names, given, strict=False))
            self._returned[call] = _Function(source, held, self._depth - 1, self._returned).returned()
        return self._returned.get(call)


_BUILTINS = {"min": min, "max": max, "int": int, "bool": bool, "len": len, "sum": sum}


def _of_module(source: FunctionSource, name: str) -> Possible:
    value = source.namespace.get(name)
    return frozenset({value}) if isinstance(value, (bool, int, str)) else None


def _operated(op: ast.operator, left: Possible, right: Possible) -> Possible:
    if not (_plain(left) and _plain(right)) or isinstance(op, (ast.MatMult, ast.Pow)):
        return None
    if any(isinstance(each, frozenset) and any(isinstance(v, str) for v in each) for each in (left, right)):
        return None
    if frozenset() in (left, right):
        return frozenset()
    action = _OPERATIONS.get(type(op))
    if _whole(left) is None or _whole(right) is None or action is None:
        return Scalar()
    if isinstance(left, frozenset) and isinstance(right, frozenset) and len(left) * len(right) <= FEW_VALUES**2:
        divides = isinstance(op, (ast.Mod, ast.FloorDiv))
        found = frozenset(action(a, b) for a in left for b in right if b or not divides)
        return found if len(found) <= FEW_VALUES else _joined(found, Whole(min(found), max(found)))
    least, most = _ends(right)
    if isinstance(op, ast.Mod) and least is not None and most is not None and least > 0:
        return _listed(Whole(0, most - 1))
    return Whole()


def _extremum(target: Callable[..., Any], given: Sequence[Possible]) -> Possible:
    if any(_whole(each) is None for each in given):
        return Scalar() if all(map(_plain, given)) else None
    if frozenset() in given:
        return frozenset()
    ends = [_ends(each) for each in given]
    lows, highs = [low for low, _ in ends if low is not None], [high for _, high in ends if high is not None]
    if target is min:
        return _listed(Whole(min(lows) if len(lows) == len(ends) else None, min(highs, default=None)))
    return _listed(Whole(max(lows, default=None), max(highs) if len(highs) == len(ends) else None))


def _goes_through(body: Sequence[ast.stmt]) -> bool:
    """Whether a function may come to the end of a body."""
    match body[-1]:
        case ast.Return() | ast.Raise():
            return False
        case ast.If(body=first, orelse=[_, *_] as second):
            return _goes_through(first) or _goes_through(second)
        case ast.While(test=ast.Constant(value=True), body=inside):
            return any(isinstance(part, ast.Break) for each in inside for part in ast.walk(each))
    return True
