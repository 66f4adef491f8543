"""A `for` over records that are treated alike: what one round adds to sums and appends to lists, for all rounds."""

from __future__ import annotations

import ast

from tightdp.core.lowering.expressions import binary
from tightdp.core.lowering.iteration import NotAlike, added, for_all
from tightdp.core.lowering.machine import Frame, Machine
from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import Alike, Reference, Value

_LEAVING = (ast.Break, ast.Continue, ast.Return, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)
_DEFINING = (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.NamedExpr, ast.GeneratorExp)


def loop_over_all(m: Machine, node: ast.For, alike: Alike) -> None:
    """Lower a loop whose rounds meet only in sums and lists that are not looked at inside. Raises NotAlike."""
    inside = [part for statement in node.body for part in ast.walk(statement)]
    if node.orelse or any(isinstance(part, (*_LEAVING, *_DEFINING)) for part in inside):
        raise NotAlike("a round can end the loop")
    sums, lists = _sums(inside), _lists(inside)
    loads = [part.id for part in inside if isinstance(part, ast.Name)]
    if any(loads.count(name) > times for name, times in (*sums.items(), *lists.items())):
        raise NotAlike("a round looks at what others left")
    names = [part for part in (*inside, *ast.walk(node.target)) if isinstance(part, ast.Name)]
    stored = {part.id for part in names if not isinstance(part.ctx, ast.Load)} - set(sums)
    here = m.frame.key
    if any(m.store.get((here, name)) is not MISSING for name in stored):
        raise NotAlike("a round overwrites what was there before")
    before = {name: m.store.get((here, name)) for name in (*sums, *lists)}
    places = [before[name] for name in lists]
    if any(not isinstance(place, Reference) or m.store[place.key] != () for place in places) or MISSING in [
        before[name] for name in sums
    ]:
        raise NotAlike("what a round adds to does not begin in this function")
    lengths: list[int] = []

    def once(items: tuple[Value, ...]) -> Value:
        enclosing = (here, *m.frame.enclosing)
        own = frozenset({*stored, *sums, *lists})
        frame = Frame(m.store.new_key(), enclosing, own, m.frame.source, comprehension=True)
        m.enter(frame, {**dict.fromkeys(sums, 0), **{name: m.new_list(()) for name in lists}})
        try:
            for item in items:
                m.assign(node.target, item)
                m.block(node.body)
            found = [(m.store[frame.key, name],) for name in sums]
            found += [m.store[m.store[frame.key, name].key] for name in lists]
        finally:
            m.stack.remove(frame)
            m.store.drop(frame.key)
        if not all(isinstance(part, tuple) for part in found):
            raise NotAlike("how many items a round appends depends on the run")
        lengths.extend(map(len, found))
        return tuple(item for part in found for item in part)

    made = for_all(m, alike, once).items
    at = 0
    for name, length in zip((*sums, *lists), lengths, strict=True):
        part, at = made[at : at + length], at + length
        if name in sums:
            m.bind(name, binary(m, "add", before[name], added(m, part[0], alike.times), node))
        else:
            m.store[before[name].key] = Alike(part, alike.times)


def _sums(inside: list[ast.AST]) -> dict[str, int]:
    """Return the names that are only added to, and how often."""
    found: dict[str, int] = {}
    for part in inside:
        if isinstance(part, ast.AugAssign) and isinstance(part.op, ast.Add) and isinstance(part.target, ast.Name):
            found[part.target.id] = found.get(part.target.id, 0) + 1
    return found


def _lists(inside: list[ast.AST]) -> dict[str, int]:
    """Return the names of lists that are only appended to, and how often."""
    found: dict[str, int] = {}
    for part in inside:
        match part:
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append"), [_], [])):
                found[name] = found.get(name, 0) + 1
    return found
