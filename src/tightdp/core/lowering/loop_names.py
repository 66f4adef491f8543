"""What a loop does with names, as its text shows."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache

from tightdp.language.liveness import assignments

_LATER = (ast.FunctionDef, ast.Lambda, ast.GeneratorExp, ast.Global, ast.Nonlocal)


def parts_of(node: ast.For | ast.While) -> tuple[tuple[ast.AST, ...], tuple[ast.AST, ...]]:
    """Return what a round executes first, and what it asks at its end."""
    return ((node.target, *node.body), ()) if isinstance(node, ast.For) else (tuple(node.body), (node.test,))


@lru_cache(256)
def read_in(part: tuple[ast.AST, ...], function: ast.AST) -> frozenset[str]:
    """Return the names that a part of a loop may read, other than to add to them, `late` returns left out."""
    late = {each for left_out in late_returns(part, function) for each in ast.walk(left_out)}
    return _read(part, function, late)


@lru_cache(256)
def late_returns(part: tuple[ast.AST, ...], function: ast.AST) -> frozenset[ast.Return]:
    """Return the statements that may return what they say once the loop is over, and need names that only grow."""
    if not ends_with_return(function):
        return frozenset()
    returns = [each for node in part for each in ast.walk(node) if isinstance(each, ast.Return) and each.value]
    read = _read(part, function, {inner for each in returns for inner in ast.walk(each)})
    inside = [each for node in part for each in ast.walk(node) if isinstance(each, ast.Name)]
    stored = {each.id for each in inside if isinstance(each.ctx, ast.Store)}
    return frozenset(each for each in returns if not (stored - read).isdisjoint(names_in(each)))


def _read(part: Sequence[ast.AST], function: ast.AST, without: Collection[ast.AST]) -> frozenset[str]:
    inside = [each for node in part for each in ast.walk(node) if each not in without]
    named = Counter(each.id for each in inside if isinstance(each, ast.Name))
    added: Counter[str] = Counter()
    for each in inside:
        several = isinstance(each, ast.Assign) and len(each.targets) > 1
        for target, value in () if several else assignments(each):
            times = 1 if isinstance(each, ast.AugAssign) else 2
            match value:
                case ast.BinOp(ast.Name(first), ast.Add() | ast.Sub(), _) if first == target.id:
                    added[first] += times
                case ast.BinOp(_, ast.Add(), ast.Name(last)) if last == target.id:
                    added[last] += times
    later = [each for each in ast.walk(function) if each is not function and isinstance(each, _LATER)]
    elsewhere = {inner.id for each in later for inner in ast.walk(each) if isinstance(inner, ast.Name)}
    elsewhere |= {name for each in later if isinstance(each, (ast.Global, ast.Nonlocal)) for name in each.names}
    return frozenset({name for name, times in named.items() if added[name] != times} | elsewhere)


@lru_cache(256)
def draws_below_counts(node: ast.While) -> bool:
    """Whether a loop hands a number that it makes of its last value to a function: a coin may be another each round."""
    reads = [(target.id, names_in(value)) for each in ast.walk(node) for target, value in assignments(each)]
    counts, known = {name for name, names in reads if name in names}, 0
    while len(counts) > known:
        known = len(counts)
        counts |= {name for name, names in reads if not counts.isdisjoint(names)}
    return any(isinstance(each, ast.Call) and not counts.isdisjoint(names_in(each)) for each in ast.walk(node))


@lru_cache(256)
def ends_with_return(function: ast.AST) -> bool:
    """Whether no name of a function is read once it has returned."""
    inside = (part for part in ast.walk(function) if part is not function)
    return not any(isinstance(part, (*_LATER, ast.Try, ast.With)) for part in inside)


@lru_cache(256)
def names_in(node: ast.AST) -> tuple[str, ...]:
    """Return the names in a piece of source."""
    return tuple(dict.fromkeys(part.id for part in ast.walk(node) if isinstance(part, ast.Name)))
