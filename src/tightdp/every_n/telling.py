"""Whether the output of a program tells everything that its chain publishes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tightdp.every_n.paths import Path, Paths
from tightdp.every_n.rest import REST
from tightdp.every_n.runs import INDEX, LENGTH, OPEN

__all__ = ["LEFT", "ends_early", "tells_all"]

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
        if any(part[0] == -1 for part in sent) or len(sent) > 1:
            return False
        if used and not sent and path.target in going:
            return False
    if left:
        marked = {path.target for path in every if any(part[0] == LEFT for part in path.letter)}
        if any(INDEX not in _top(path.letter) for at in marked for path in after.get(at, ())):
            return False
        if any(part[0] != LEFT for path in every for part in path.letter):
            return False
    return not any(_may_agree(one, other) for at, one in enumerate(ends) for other in ends[:at])


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
        if each == OPEN or (isinstance(each, tuple) and each[:1] == ("\0tree",)):
            return True
        if each == INDEX and isinstance(against, (int, Fraction)):
            return against >= 0
        if each == INDEX or (isinstance(each, str) and each.startswith("\0")):
            return not isinstance(against, tuple)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_may_agree, one, other))
    return bool(one == other)
