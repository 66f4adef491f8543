"""`match` on values: constants, sequences, alternatives, captures and guards."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tightdp.core.lowering.comparisons import equal
from tightdp.core.lowering.iteration import items_of
from tightdp.core.lowering.machine import Machine
from tightdp.core.lowering.registry import lowers
from tightdp.core.lowering.scalars import truth
from tightdp.core.lowering.values import Range, Reference, Union, Value, is_scalar
from tightdp.core.nodes import Expr

__all__: list[str] = []

Captures = dict[str, Value]


@lowers(ast.Match)
def _match(m: Machine, node: ast.Match) -> None:
    m.each(m.evaluate(node.subject), lambda value: _first(m, value, node.cases))


def _first(m: Machine, value: Value, cases: Sequence[ast.match_case]) -> None:
    """Execute the first case that matches."""
    if not cases:
        return
    case, rest = cases[0], cases[1:]
    captures: Captures = {}
    condition = _matches(m, case.pattern, value, captures)

    def chosen() -> None:
        for name, captured in captures.items():
            m.bind(name, captured)
        if case.guard is None:
            m.block(case.body)
        else:
            holds = truth(m, m.evaluate(case.guard))
            m.branch(holds, lambda: m.block(case.body), lambda: _first(m, value, rest))

    m.branch(condition, chosen, lambda: _first(m, value, rest))


def _matches(m: Machine, pattern: ast.pattern, value: Value, captures: Captures) -> Expr:
    """Return the condition under which a value matches, and note what names it would capture."""
    match pattern:
        case ast.MatchValue():
            return m.expr(equal(m, value, m.evaluate(pattern.value)))
        case ast.MatchSingleton(value=wanted):
            if wanted is None:
                return m.expr(equal(m, value, None))
            return _is_truth(m, pattern, value, wanted)
        case ast.MatchAs():
            condition = m.builder.true if pattern.pattern is None else _matches(m, pattern.pattern, value, captures)
            if pattern.name is not None:
                captures[pattern.name] = value
            return condition
        case ast.MatchOr():
            return _any_of(m, pattern, value, captures)
        case ast.MatchSequence():
            return _sequence(m, pattern, value, captures)
    raise m.unsupported(
        "this pattern is not in the language", "match constants, sequences, names and alternatives of them", pattern
    )


def _is_truth(m: Machine, pattern: ast.pattern, value: Value, wanted: bool) -> Expr:
    values = value.values if isinstance(value, Expr) else (value,)
    found = [item for item in values if is_scalar(item) and item == wanted]
    if found and m.builder.mixed and not (isinstance(value, Expr) and value.boolean):
        raise m.unsupported(
            "`case True` for what may be a truth value or a number is not in the language", "match 1 or 0", pattern
        )
    return m.expr(equal(m, value, wanted)) if found and type(found[0]) is bool else m.builder.false


def _any_of(m: Machine, pattern: ast.MatchOr, value: Value, captures: Captures) -> Expr:
    found: list[tuple[Expr, Captures]] = []
    for option in pattern.patterns:
        names: Captures = {}
        found.append((_matches(m, option, value, names), names))
    for name in found[-1][1]:
        captured = found[-1][1][name]
        for condition, names in reversed(found[:-1]):
            captured = m.merge(condition, names[name], captured)
        captures[name] = captured
    return m.builder.disjunction([condition for condition, _ in found])


def _sequence(m: Machine, pattern: ast.MatchSequence, value: Value, captures: Captures) -> Expr:
    if isinstance(value, Union):
        raise m.unsupported(
            "a sequence pattern inside one, for parts of different shapes, is not in the language",
            "match the part in a match of its own",
            pattern,
        )
    if is_scalar(value) or not isinstance(value, (tuple, Reference, Range)):
        return m.builder.false
    items = items_of(m, value)
    if isinstance(items, Union):
        raise m.unsupported(
            "a sequence pattern for a list whose length depends on the run is not in the language",
            "match tuple(...) of it",
            pattern,
        )
    stars = [at for at, part in enumerate(pattern.patterns) if isinstance(part, ast.MatchStar)]
    extra = len(items) - len(pattern.patterns) + len(stars)
    if extra < 0 or (extra and not stars):
        return m.builder.false
    conditions = []
    at = 0
    for part in pattern.patterns:
        if isinstance(part, ast.MatchStar):
            if part.name is not None:
                captures[part.name] = m.new_list(items[at : at + extra])
            at += extra
        else:
            conditions.append(_matches(m, part, items[at], captures))
            at += 1
    return m.conj(*conditions)
