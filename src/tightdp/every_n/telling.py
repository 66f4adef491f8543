"""Whether the output of a program tells all that its paths publish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from tightdp.every_n.edges import Edge
from tightdp.every_n.paths import INDEX, LENGTH, OPEN, Affine, Path, Paths
from tightdp.every_n.runs import REST
from tightdp.every_n.shifts import cut_at, is_real, known_range

MARK = "\0mark"
"""What a record sends, besides its messages, whose index is published at the end."""
LEFT = "\0left"
"""What a record sends, besides its messages, where the place at which the records are left is published."""


def tells_all(
    used: frozenset[int],
    steps: Mapping[Any, Mapping[int, Sequence[Path]]],
    after: Mapping[int, Sequence[Path]],
    going: set[int],
) -> bool:
    """Whether the output determines the messages of all records, one of each in order, and what is told at the end.

    `used` are the tokens that the output depends on, `going` the states in which the records are still gone through.
    """
    ends = list(dict.fromkeys(path.letter for ways in after.values() for path in ways))
    if any(_part_of_tree(end) for end in ends) or len(used) > 1:
        return False
    every = [path for by in steps.values() for ways in by.values() for path in ways]
    listed = [_tells(end, token) for token in used for end in ends]
    if not all(listed):
        return False
    left = any(part[0] == LEFT for path in every for part in path.letter)
    for path in every:
        sent = [part for part in path.letter if part[0] != LEFT]
        if any(part[0] in (-1, MARK) for part in sent) or len(sent) > 1:
            return False
        if used and not sent and path.target in going:
            return False
    told = list(dict.fromkeys(_told(part[1], path) for path in every for part in path.letter if part[0] in used))
    if any(map(_part_of_tree, told)) or _some_agree(told):
        return False
    if left:
        marked = {path.target for path in every if any(part[0] == LEFT for part in path.letter)}
        if any(INDEX not in _top(path.letter) for at in marked for path in after.get(at, ())):
            return False
        if any(part[0] != LEFT for path in every for part in path.letter):
            return False
    return not _some_agree(ends)


def _some_agree(outputs: Sequence[Any]) -> bool:
    """Whether two outputs that are different may be the same once everything in them is known."""
    return any(_may_agree(one, other) for at, one in enumerate(outputs) for other in outputs[:at])


@dataclass(frozen=True)
class _Number:
    """A number that is published, between two ends."""

    low: Edge
    high: Edge


def _told(message: Any, path: Path) -> Any:
    """Return a message in which a number that is made of real noise stands apart, as it is none that is known."""
    if message == OPEN and all(map(partial(_has_real_noise, path), path.published)):
        return (OPEN,)
    if message == OPEN and len(path.published) == 1:
        form = path.published[0]
        low, high = known_range(path.bounds, form.terms)
        return _Number(low + form.constant, high + form.constant)
    return tuple(_told(part, path) for part in message) if isinstance(message, tuple) else message


def _has_real_noise(path: Path, form: Affine) -> bool:
    return any(kind == "fresh" and is_real(path.noises[at]) for (kind, at), _ in form.terms)


def cut_where_told(steps: dict[Any, dict[int, tuple[Path, ...]]]) -> dict[Any, dict[int, tuple[Path, ...]]]:
    """Return the steps with a message that is a number cut where it is one that other paths send as it is.

    So a number that is clamped tells its path where it is not at an end, and all paths to an end send the same.
    """
    ways = [path for by in steps.values() for some in by.values() for path in some]
    known = {part[1] for path in ways for part in path.letter if type(part[1]) is int}

    def cut(path: Path) -> list[Path]:
        form = path.published[0] if len(path.published) == 1 else None
        if form is None or len(path.letter) != 1 or path.letter[0][1] != OPEN or not form.whole():
            return [path]
        low, high = known_range(path.bounds, form.terms)
        places = (value - form.constant for value in known)
        edges = {edge for place in places if low <= place <= high for edge in (place, place + 1)}
        return [_told_as(piece, form) for piece in cut_at(path, form.terms, edges)]

    def cut_all(by: dict[int, tuple[Path, ...]]) -> dict[int, tuple[Path, ...]]:
        return {at: tuple(piece for path in some for piece in cut(path)) for at, some in by.items()}

    return {record: cut_all(by) for record, by in steps.items()}


def _told_as(path: Path, form: Affine) -> Path:
    """Return a path with the number that it publishes, where that is known, as the message."""
    low, high = path.bounds.get(form.terms, (0, 1))
    if low != high:
        return path
    return replace(path, letter=((path.letter[0][0], int(low + form.constant)),), published=())


def ends_early(paths: Paths) -> bool:
    """Whether what the rest of the program reads is published in place of what it returns, on some run."""
    return any(_begins_rest(path.letter) for ways in paths.after.values() for path in ways)


def _begins_rest(letter: Any) -> bool:
    return isinstance(letter, tuple) and (letter[:1] == (REST,) or any(map(_begins_rest, letter)))


def _part_of_tree(end: Any) -> bool:
    """Whether an output is told in more detail than the program does."""
    if isinstance(end, tuple):
        if end[:1] in (("\0end",), (REST,)):
            return True
        if end[:1] == ("\0tree",):
            return not (len(end) == 2 and isinstance(end[1], tuple) and end[1][:1] == ("list",))
        return any(map(_part_of_tree, end))
    return False


def _top(end: Any) -> tuple[Any, ...]:
    return (end,) if not isinstance(end, tuple) or end[:1] == ("\0tree",) else end


def _tells(end: Any, token: int) -> bool:
    """Whether an output has a list of messages in it."""
    return ("\0tree", ("list", token)) in _top(end)


def _may_agree(one: Any, other: Any) -> bool:
    """Whether two outputs may be the same once everything in them is known."""
    if {one, other} == {INDEX, LENGTH}:
        return False  # an index is below the number of records
    for each, against in ((one, other), (other, one)):
        if isinstance(each, _Number) and isinstance(against, (int, Fraction)):
            return each.low <= against <= each.high
        if isinstance(each, _Number) and isinstance(against, _Number):
            return each.low <= against.high and against.low <= each.high
        number = each == OPEN or isinstance(each, _Number)
        if number and (against is None or (isinstance(against, str) and not against.startswith("\0"))):
            return False  # a number
        if number or (isinstance(each, tuple) and each[:1] == ("\0tree",)):
            return True
        if each == INDEX and isinstance(against, (int, Fraction)):
            return against >= 0
        if each == INDEX or (isinstance(each, str) and each.startswith("\0")):
            return not isinstance(against, tuple)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_may_agree, one, other))
    return bool(one == other)
