"""States in which some numbers are known to be 0, and which are special cases of others, such as an entry not made yet.

A state A is a special case of B if from A, with what is known to be 0 put in, the same follows as from B with the same
numbers, state by state: then what leads to A leads to B with these numbers, by induction on the records that come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.every_n.paths import Affine, Bounds, Path, Paths, intersected, merged, together

_Zeros: TypeAlias = frozenset[int]
"""The places of a state whose numbers are known to be 0."""
_MOST = 60
"""More states are not compared with each other."""


def absorbed(paths: Paths) -> Paths:
    """Return the paths without the states that are special cases of others; all states hold numbers by place."""
    if len(set(_zeros(paths))) < 2:
        return paths
    paths = merged(paths)
    if paths.states > _MOST:
        return paths
    zeros = _zeros(paths)
    general = _general(paths, zeros)

    number: dict[int, int] = {}
    pending = list(dict.fromkeys(general[path.target] for path in paths.before))
    while pending:
        at = pending.pop()
        if at not in number:
            number[at] = len(number)
            pending += (general[path.target] for by in paths.steps.values() for path in by.get(at, ()))

    def aimed(some: Iterable[Path]) -> tuple[Path, ...]:
        return together(replace(path, target=number[general[path.target]]) for path in some)

    return replace(
        paths,
        states=len(number),
        before=aimed(paths.before),
        steps={r: {n: aimed(by[at]) for at, n in number.items() if at in by} for r, by in paths.steps.items()},
        after={n: paths.after[at] for at, n in number.items() if at in paths.after},
    )


def _zeros(paths: Paths) -> list[_Zeros]:
    """Return for each state the places whose numbers are 0 whenever it is come to."""
    into: list[list[tuple[int | None, Path]]] = [[] for _ in range(paths.states)]
    for at, path in [(None, path) for path in paths.before] + list(_steps(paths)):
        into[path.target].append((at, path))
    found = [frozenset(range(len(ways[0][1].values)) if ways else ()) for ways in into]
    changed = True
    while changed:
        changed = False
        for state, ways in enumerate(into):
            kept = frozenset(
                place
                for place in found[state]
                if all(_put(path.values[place], frozenset() if at is None else found[at]) == _ZERO for at, path in ways)
            )
            changed = changed or kept != found[state]
            found[state] = kept
    return found


_ZERO = Affine((), Fraction(0))


def _steps(paths: Paths) -> Iterator[tuple[int, Path]]:
    return ((at, path) for by in paths.steps.values() for at, some in by.items() for path in some)


def _put(form: Affine, zeros: _Zeros) -> Affine:
    """Return a form with zeros in their places."""
    return Affine(tuple(each for each in form.terms if each[0][0] != "held" or each[0][1] not in zeros), form.constant)


def _general(paths: Paths, zeros: list[_Zeros]) -> list[int]:
    """Return for each state one that it is a special case of, itself where there is no other."""
    states = range(paths.states)
    pairs = {(a, b) for a in states for b in states if zeros[b] <= zeros[a]}
    known: dict[tuple[int, _Zeros], list[dict[Any, int] | None]] = {}

    def ways(at: int, zeros: _Zeros) -> list[dict[Any, int] | None]:
        if (at, zeros) not in known:
            known[at, zeros] = [_signs(by.get(at, ()), zeros) for by in (paths.after, *paths.steps.values())]
        return known[at, zeros]

    def follows(a: int, b: int) -> bool:
        for ours, theirs in zip(ways(a, zeros[a]), ways(b, zeros[a]), strict=True):
            if ours is None or theirs is None or ours.keys() != theirs.keys():
                return False
            if any((to, theirs[sign]) not in pairs for sign, to in ours.items()):
                return False
        return True

    while wrong := {(a, b) for a, b in pairs if a != b and not follows(a, b)}:
        pairs -= wrong
    return [min((b for a, b in pairs if a == state), key=lambda b: (len(zeros[b]), b)) for state in states]


def _signs(some: Iterable[Path], zeros: _Zeros) -> dict[Any, int] | None:
    """Return what the paths do where some numbers are 0, and to which state each leads; None if two do the same."""
    found: dict[Any, int] = {}
    for path in some:
        bounds: Bounds | None = {}
        for terms, (low, high) in path.bounds.items():
            left = _put(Affine(terms, Fraction(0)), zeros).terms
            if left and bounds is not None:
                bounds = intersected(bounds, {left: (low, high)})
            elif not left and not low <= 0 <= high:
                bounds = None
        if bounds is not None:
            forms = tuple(tuple(_put(each, zeros) for each in some) for some in (path.published, path.values))
            sign = path.probability, path.noises, tuple(sorted(bounds.items())), path.letter, forms
            if sign in found:
                return None
            found[sign] = path.target
    return found
