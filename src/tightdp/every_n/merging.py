"""Paths by place: symbols are renamed, values that nothing comes of left out, states that are alike merged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.every_n.following import refusal
from tightdp.every_n.paths import Path, Paths
from tightdp.every_n.symbols import Affine, Bounds, times

__all__ = ["MOST_STATES", "Names", "intersected", "merged", "renamed", "renamed_bounds", "together", "without_dead"]

MOST_STATES = 300

Names: TypeAlias = dict[tuple[str, int], tuple[str, int]]
"""What symbols are called on a path, by what they are called where they were made."""


# symbols


def renamed(form: Affine, names: Names) -> Affine:
    """Return a form with its symbols by place. Raises LanguageError where one pass looks at what another found."""
    found: dict[tuple[str, int], Fraction] = {}
    for name, factor in form.terms:
        new = name if name[0] == "size" else names.get(name)
        if new is None:
            raise refusal("it iterates over the records again with what it found in them")
        found[new] = found.get(new, Fraction(0)) + factor
    return Affine(tuple(sorted((name, factor) for name, factor in found.items() if factor)), form.constant)


def renamed_bounds(bounds: Bounds, names: Names) -> Bounds | None:
    """Return conditions by place; None where they contradict each other."""
    result: Bounds = {}
    for terms, (low, high) in bounds.items():
        new = renamed(Affine(terms, Fraction(0)), names).terms
        if new[0][1] < 0:
            new, low, high = times(Affine(new, Fraction(0)), -1).terms, -high, -low
        joined = intersected(result, {new: (low, high)})
        if joined is None:
            return None
        result = joined
    return result


def intersected(one: Bounds, other: Bounds) -> Bounds | None:
    result = dict(one)
    for terms, (low, high) in other.items():
        least, most = result.get(terms, (-math.inf, math.inf))
        result[terms] = max(low, least), min(high, most)
        if result[terms][0] > result[terms][1]:
            return None
    return result


# states


def together(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the paths, those that differ only in their finite draws merged."""
    found: dict[Any, Path] = {}
    for path in paths:
        key = path.noises, tuple(sorted(path.bounds.items())), path.letter, path.published, path.target, path.values
        known = found.get(key)
        found[key] = path if known is None else replace(path, probability=known.probability + path.probability)
    return tuple(found.values())


def without_dead(paths: Paths) -> Paths:
    """Leave out the values that states hold and nothing comes of."""
    live: dict[int, set[int]] = {at: set() for at in range(paths.states)}
    ways = [(at, path) for by in (*paths.steps.values(), paths.after) for at, some in by.items() for path in some]
    ends = {id(path) for some in paths.after.values() for path in some}
    changed = True
    while changed:
        changed = False
        for at, path in ways:
            seen = list(path.bounds) + [each.terms for each in path.published]
            if id(path) not in ends:
                seen += [path.values[place].terms for place in live[path.target]]
            here = {place for terms in seen for (kind, place), _ in terms if kind == "held"}
            if not here <= live[at]:
                live[at] |= here
                changed = True
    order = {at: sorted(places) for at, places in live.items()}

    def cut(path: Path, at: int | None, last: bool = False) -> Path:
        names: Names = {} if at is None else {("held", p): ("held", n) for n, p in enumerate(order[at])}
        names |= {("fresh", j): ("fresh", j) for j in range(len(path.noises))}
        values = () if last else tuple(renamed(path.values[place], names) for place in order[path.target])
        bounds = renamed_bounds(path.bounds, names)
        assert bounds is not None
        return _unused(
            replace(
                path, bounds=bounds, published=tuple(renamed(each, names) for each in path.published), values=values
            )
        )

    return replace(
        paths,
        before=tuple(cut(path, None) for path in paths.before),
        steps={r: {at: together(cut(p, at) for p in some) for at, some in by.items()} for r, by in paths.steps.items()},
        after={at: together(cut(p, at, True) for p in some) for at, some in paths.after.items()},
    )


def _unused(path: Path) -> Path:
    """Leave out the noises of a path that nothing comes of."""
    seen = [*path.bounds, *(each.terms for each in (*path.published, *path.values))]
    kept = sorted({at for terms in seen for (kind, at), _ in terms if kind == "fresh"})
    if len(kept) == len(path.noises):
        return path
    names: Names = {("fresh", at): ("fresh", new) for new, at in enumerate(kept)}
    names |= {name: name for terms in seen for name, _ in terms if name[0] == "held"}
    bounds = renamed_bounds(path.bounds, names)
    assert bounds is not None
    return replace(
        path,
        noises=tuple(path.noises[at] for at in kept),
        bounds=bounds,
        published=tuple(renamed(each, names) for each in path.published),
        values=tuple(renamed(each, names) for each in path.values),
    )


def merged(paths: Paths) -> Paths:
    """Merge states from which the same follows, whatever the records are."""
    block = dict.fromkeys(range(paths.states), 0)
    while True:
        seen: dict[Any, int] = {}
        finer = {}
        for at in range(paths.states):
            after = paths.after.get(at)
            sign = (
                block[at],
                None if after is None else frozenset(_signs(after, {0: 0})),
                tuple(frozenset(_signs(by.get(at, ()), block)) for by in paths.steps.values()),
            )
            finer[at] = seen.setdefault(sign, len(seen))
        if len(seen) == len(set(block.values())):
            break
        block = finer
    if len(seen) > MOST_STATES:
        raise refusal(f"it has more than {MOST_STATES} states")
    one = {number: at for at, number in reversed(block.items())}

    def aimed(some: Iterable[Path]) -> tuple[Path, ...]:
        return together(replace(path, target=block[path.target]) for path in some)

    return replace(
        paths,
        states=len(one),
        before=aimed(paths.before),
        steps={r: {n: aimed(by[at]) for n, at in sorted(one.items()) if at in by} for r, by in paths.steps.items()},
        after={block[at]: some for at, some in paths.after.items()},
    )


def _signs(paths: Iterable[Path], block: Mapping[int, int]) -> Iterator[Any]:
    """Yield what the paths are, with the blocks of states in place of their targets."""
    for path in together(replace(path, target=block[path.target]) for path in paths):
        yield (
            path.probability,
            path.noises,
            frozenset(path.bounds.items()),
            path.letter,
            path.published,
            path.target,
            path.values,
        )
