"""States from which the same follows, whatever the records are: one of them is kept.

Some are special cases of others, in which numbers are known to be 0, such as an entry that is not made yet. A state A
is a special case of B if from A, with what is known to be 0 put in, the same follows as from B with the same numbers,
state by state: then what leads to A leads to B with these numbers, by induction on the records that come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.every_n.paths import Affine, Path, Paths, together, with_known

_Zeros: TypeAlias = frozenset[int]
"""The places of a state whose numbers are known to be 0."""
_MOST = 60
"""More states are not compared with each other."""


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
                None if after is None else frozenset(_kinds(after, {0: 0})),
                tuple(frozenset(_kinds(by.get(at, ()), block)) for by in paths.steps.values()),
            )
            finer[at] = seen.setdefault(sign, len(seen))
        if len(seen) == len(set(block.values())):
            break
        block = finer
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


def _kinds(paths: Iterable[Path], block: Mapping[int, int]) -> Iterator[Any]:
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
            path.odds,
        )


def absorbed(paths: Paths) -> Paths:
    """Return the paths without the states that are special cases of others; all states hold numbers by place."""
    if len(set(zeros_of(paths))) < 2:
        return paths
    paths = merged(paths)
    if paths.states > _MOST:
        return paths
    zeros = zeros_of(paths)
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


def zeros_of(paths: Paths) -> list[_Zeros]:
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
                if all(_is_zero(path.values[place], frozenset() if at is None else found[at]) for at, path in ways)
            )
            changed = changed or kept != found[state]
            found[state] = kept
    return found


def _is_zero(form: Affine, zeros: _Zeros) -> bool:
    return not form.constant and all(kind == "held" and at in zeros for (kind, at), _ in form.terms)


def _steps(paths: Paths) -> Iterator[tuple[int, Path]]:
    return ((at, path) for by in paths.steps.values() for at, some in by.items() for path in some)


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
        put = with_known(path, {("held", place): Affine((), Fraction(0)) for place in zeros})
        if put is not None:
            bounds = tuple(sorted(put.bounds.items()))
            sign = put.probability, put.noises, bounds, put.letter, put.published, put.values, put.odds
            if sign in found:
                return None
            found[sign] = path.target
    return found
