"""Paths that differ in nothing but their noise are one, with a mixture of laws as its law.

So noise to which a coin gives its sign is two-sided noise, wherever the coin is tossed: what is published, compared and
held is a function of one number, whichever path it comes by. A coin that is tossed before the records, and that nothing
depends on while they are gone through, is tossed after them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tightdp.cells.masses import Masses, Part, mixed
from tightdp.cells.noise import Outside
from tightdp.every_n.edges import finite
from tightdp.every_n.paths import Affine, Noise, Path, Paths, fresh, support, together, with_known
from tightdp.exact.field import Number
from tightdp.language.laws import Exponentials, TwoSided


def with_mixtures(paths: Paths) -> Paths:
    """Return the paths with one for those that differ in one of their noises alone."""
    paths = _tossed_later(paths)
    steps = {record: {at: _joined(some) for at, some in by.items()} for record, by in paths.steps.items()}
    return replace(paths, steps=steps, after={at: _joined(some) for at, some in paths.after.items()})


def _tossed_later(paths: Paths) -> Paths:
    """Return the paths with one beginning for those from which records lead alike, but for what comes after them.

    The states that they lead to are met with the same numbers, as likely as the beginnings are: by induction.
    """
    before: list[Path] = []
    shares: dict[int, list[tuple[int, Number]]] = {}
    reached: list[list[int]] = []
    for path in paths.before:
        own = _alike(paths, path.target, path.target)
        if own is None or any(not set(own).isdisjoint(others) for others in reached):
            return paths
        reached.append(list(own))
        for at, other in enumerate(before):
            pairs = _alike(paths, other.target, path.target)
            if pairs is not None and _apart(other) == _apart(path):
                for ours, theirs in pairs.items():
                    shares[ours].append((theirs, path.probability))
                before[at] = replace(other, probability=other.probability + path.probability)
                break
        else:
            shares |= {state: [(state, path.probability)] for state in own}
            before.append(path)
    if len(before) == len(paths.before):
        return paths
    number = {state: at for at, state in enumerate(shares)}
    after: dict[int, tuple[Path, ...]] = {}
    for state, each in shares.items():
        whole = sum((share for _, share in each), Fraction(0))
        found = [
            replace(path, probability=path.probability * share / whole)
            for at, share in each
            for path in paths.after.get(at, ())
        ]
        after |= {number[state]: together(found)} if found else {}

    def aimed(some: Iterable[Path]) -> tuple[Path, ...]:
        return tuple(replace(path, target=number[path.target]) for path in some)

    steps = {r: {number[at]: aimed(some) for at, some in by.items() if at in number} for r, by in paths.steps.items()}
    return replace(paths, states=len(number), before=aimed(before), steps=steps, after=after)


def _apart(path: Path) -> Any:
    """Return all of a path but its probability and where it leads."""
    return path.noises, tuple(sorted(path.bounds.items())), path.letter, path.published, path.values, path.odds


def _alike(paths: Paths, one: int, other: int) -> dict[int, int] | None:
    """Return which states records lead to alike from two of them, one for one; None where they do not."""
    pairs, pending = {one: other}, [one]
    while pending:
        at = pending.pop()
        for by in paths.steps.values():
            ours, theirs = (
                {(_apart(path), path.probability): path.target for path in by.get(state, ())}
                for state in (at, pairs[at])
            )
            if (
                ours.keys() != theirs.keys()
                or len(ours) < len(by.get(at, ()))
                or len(theirs) < len(by.get(pairs[at], ()))
            ):
                return None
            for key, target in ours.items():
                if target not in pairs:
                    pairs[target] = theirs[key]
                    pending.append(target)
                elif pairs[target] != theirs[key]:
                    return None
    return pairs if len(set(pairs.values())) == len(pairs) else None


def _joined(some: tuple[Path, ...]) -> tuple[Path, ...]:
    found = list(some)
    for j in range(max((len(path.noises) for path in some), default=0)):
        groups: dict[Any, list[tuple[int, Path, list[Part]]]] = {}
        for at, path in enumerate(found):
            if j < len(path.noises) and (normal := _normal(path, j)) is not None:
                key, as_one, parts = normal
                groups.setdefault(key, []).append((at, as_one, parts))
        for group in groups.values():
            if len(group) > 1:
                _put_together(found, group, j)
        found = [path for path in found if path.probability]
    return together(found) if len(found) < len(some) else some


def _put_together(found: list[Path], group: Sequence[tuple[int, Path, list[Part]]], j: int) -> None:
    """Put a path in place of the first of a group, and none in place of the others."""
    try:
        whole = Masses.of(part for _, _, parts in group for part in parts)
        total = whole.total()
        law = mixed([*whole.parts(1 / total)])
    except Outside:
        return
    if isinstance(law, Masses) and not law.whole:
        return
    law, sign, moved = _in_place(law)
    (at, path, _), *others = group
    known = {("fresh", j): Affine(((("fresh", j), Fraction(sign)),), Fraction(moved))}
    noises = (*path.noises[:j], law, *path.noises[j + 1 :])
    put = with_known(replace(path, probability=total, noises=noises), known)
    if put is None:
        return
    ends = support(law)
    bounds = {**put.bounds, fresh(j): ends} if any(map(finite, ends)) else put.bounds
    found[at] = replace(put, bounds=bounds)
    for other, *_ in others:
        found[other] = replace(found[other], probability=Fraction(0))


def _in_place(law: Noise) -> tuple[Noise, int, int]:
    """Return a law as it is alike for all that are moved or turned, and how it was: sign·z + moved."""
    if not isinstance(law, Masses):
        return replace(law, centre=0), 1, int(law.centre)

    def begun(each: Masses) -> tuple[Masses, int]:
        edge = next(int(end) for low, high, _ in each.pieces for end in (low, high) if end is not None)
        return Masses.of(each.parts(moved=-edge)), edge

    (ours, edge), (turned, other) = begun(law), begun(Masses.of(law.parts(sign=-1)))
    return (ours, 1, edge) if repr(ours.pieces) <= repr(turned.pieces) else (turned, -1, -other)


def _normal(path: Path, j: int) -> tuple[Any, Path, list[Part]] | None:
    """Return a path with its noise measured from what it is in first; a name for it; and how likely the noise is."""
    law = path.noises[j]
    if isinstance(law, Exponentials) and law.real:
        return None
    anchor = _anchor(path, j)
    if anchor is None:
        return None
    factor, constant = anchor
    sign = 1 if factor > 0 else -1
    # the noise is sign·(η - away): then the first form has a constant of at least 0, below the factor
    away = math.floor(constant / abs(factor))
    known = {("fresh", j): Affine(((("fresh", j), Fraction(sign)),), Fraction(-sign * away))}
    low, high = path.bounds.get(fresh(j), (-math.inf, math.inf))
    bare = replace(path, bounds={terms: ends for terms, ends in path.bounds.items() if terms != fresh(j)})
    put = with_known(bare, known)
    if put is None:
        return None
    key = _apart(replace(put, noises=(*path.noises[:j], *path.noises[j + 1 :]))), put.target
    parts = Masses.of(_within(Masses.of_noise(law).parts(), low, high)).parts(path.probability, sign, away)
    return key, put, list(parts)


def _within(parts: Iterable[Part], low: Any, high: Any) -> Iterable[Part]:
    for part in parts:
        least = part.low if low == -math.inf else int(low) if part.low is None else max(part.low, int(low))
        most = part.high if high == math.inf else int(high) if part.high is None else min(part.high, int(high))
        if least is None or most is None or least <= most:
            yield part._replace(low=least, high=most)


def _anchor(path: Path, j: int) -> tuple[Fraction, Fraction] | None:
    """Return with which factor noise is in the first form that it is in, and the constant there; None for none."""
    name = ("fresh", j)
    for form in (*path.published, *path.values):
        if factor := dict(form.terms).get(name):
            return factor, form.constant
    for terms, (low, high) in sorted(path.bounds.items()):
        factor = dict(terms).get(name)
        others = [each for (kind, at), each in terms if (kind, at) != name]
        if factor and others:
            turned = others[0] < 0  # so that what is beside the noise has the same sign on all paths
            first, last = (-high, -low) if turned else (low, high)
            return (-factor if turned else factor), -Fraction(first if finite(first) else last)
    return None


def has_mixtures(paths: Paths) -> bool:
    """Whether there is noise with a law that no primitive has."""
    return any(isinstance(law, Masses) for path in paths.each() for law in path.noises)


def primitive(law: Noise) -> TwoSided | Exponentials:
    """Return the law of noise where it is known to be that of a primitive."""
    assert not isinstance(law, Masses)
    return law


__all__ = ["has_mixtures", "primitive", "with_mixtures"]
