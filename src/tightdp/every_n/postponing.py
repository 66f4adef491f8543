"""Noise that is drawn before the records, and that nothing looks at while they are gone through, is drawn after them.

It is independent of all that happens meanwhile, so that what is published has the same law. But where one of the
records changes, only noise that is drawn later can be shifted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from tightdp.every_n.equivalence import zeros_of
from tightdp.every_n.paths import (
    Affine,
    Bounds,
    Noise,
    Path,
    Paths,
    Terms,
    fresh,
    held,
    intersected,
    plus,
    support,
    with_known,
    without_dead,
)

_Name: TypeAlias = tuple[str, int]
_Place: TypeAlias = tuple[int, int]
"""A state, and the place of a number that it holds."""
_Moved: TypeAlias = tuple[tuple[Noise, Fraction], ...]
"""Noise in a number that is held, and its factors."""


def postponed(paths: Paths) -> Paths:
    """Return the paths with noise drawn after the records, where only the end of the program looks at it."""
    moved = {place: each for place, each in _moved(paths).items() if each}
    if not moved:
        return paths
    paths = replace(paths, before=tuple(_without(path, moved) for path in paths.before))
    zeros = zeros_of(paths)

    def drawn(at: int, path: Path) -> Iterator[Path]:
        noises, known = list(path.noises), dict[_Name, Affine]()
        for (state, place), laws in moved.items():
            if state != at:
                continue
            form = Affine(() if place in zeros[at] else held(place), Fraction(0))
            for law, factor in laws:
                form = plus(form, Affine(fresh(len(noises)), Fraction(0)), factor)
                noises.append(law)
            known["held", place] = form
        put = with_known(replace(path, noises=tuple(noises)), known)
        bounds = None if put is None else intersected(put.bounds, _supports(noises, len(path.noises)))
        if put is not None and bounds is not None:
            yield replace(put, bounds=bounds)

    after = {at: tuple(each for path in some for each in drawn(at, path)) for at, some in paths.after.items()}
    return without_dead(replace(paths, after=after))


def _supports(noises: Sequence[Noise], first: int = 0) -> Bounds:
    """Return between what noise lies that begins or ends somewhere, from one number on."""
    ends = {fresh(at): support(law) for at, law in enumerate(noises) if at >= first}
    return {terms: each for terms, each in ends.items() if each != (-math.inf, math.inf)}


def _without(path: Path, moved: dict[_Place, _Moved]) -> Path:
    """Return a path before the records without the noise that is drawn later."""
    alone, supports = _alone(path, True), _supports(path.noises)
    names = {
        name
        for place, form in enumerate(path.values)
        for name, _ in form.terms
        if (path.target, place) in moved and name in alone
    }
    values = (Affine(tuple(each for each in form.terms if each[0] not in names), form.constant) for form in path.values)
    bounds = {terms: ends for terms, ends in path.bounds.items() if terms not in supports or terms[0][0] not in names}
    return replace(path, values=tuple(values), bounds=bounds)


def _moved(paths: Paths) -> dict[_Place, _Moved]:
    """Return the noise that nothing looks at before the end in each number that is held."""
    found: dict[_Place, _Moved] = {}
    ways: list[tuple[int, Path]] = [(-1, path) for path in paths.before]
    ways += [(at, path) for by in paths.steps.values() for at, some in by.items() for path in some]
    reached, changed = {-1}, True
    while changed:
        changed = False
        for at, path in ways:
            if at not in reached:
                continue
            changed = changed or path.target not in reached
            reached.add(path.target)
            alone = _alone(path, at < 0)
            kept: set[_Name] = set()
            for place, form in enumerate(path.values):
                names = [(name, factor) for name, factor in form.terms if name in alone]
                laws = tuple(sorted((each for one in names for each in _noise_in(*one, path, at, found)), key=repr))
                known = found.setdefault((path.target, place), laws)
                if known and known != laws:
                    found[path.target, place] = known = ()
                    changed = True
                kept |= {name for name, _ in names} if known else set()
            seen = {name for terms in _forms(path) for name, _ in terms}
            for kind, place in seen - kept:
                if kind == "held" and found.get((at, place)):
                    found[at, place] = ()
                    changed = True
    return found


def _noise_in(name: _Name, factor: Fraction, path: Path, at: int, found: dict[_Place, _Moved]) -> _Moved:
    kind, number = name
    if kind == "held":
        return tuple((law, factor * each) for law, each in found.get((at, number), ()))
    return ((path.noises[number], factor),) if at < 0 else ()


def _alone(path: Path, before: bool) -> set[_Name]:
    """Return the names that stand in one value only, with a factor of ±1; noise there has its own ends, no others."""
    times = Counter(name for terms in _forms(path) for name, _ in terms)
    supports = _supports(path.noises) if before else {}
    for terms, ends in supports.items():
        times[terms[0][0]] -= path.bounds.get(terms) == ends
    inside = {name for form in path.values for name, factor in form.terms if abs(factor) == 1}
    return {name for name in inside if times[name] == 1}


def _forms(path: Path) -> Iterator[Terms]:
    yield from (*path.bounds, *path.exponents(), *(form.terms for form in (*path.published, *path.values)))
