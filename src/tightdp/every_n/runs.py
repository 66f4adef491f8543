"""The runs of a program that is read for every n, and what is learned of it on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from tightdp.core.nodes import Expr
from tightdp.every_n.following import Run, refusal
from tightdp.every_n.learned import Explored, Knowledge, Sent
from tightdp.every_n.passes import Follower
from tightdp.every_n.symbols import Affine

__all__ = ["INDEX", "LENGTH", "OPEN", "Again", "Ending", "NoEvidence", "Rounds", "Session", "Unending", "tokens_of"]

OPEN = "\0open"
"""Stands for a symbolic value in a letter."""
INDEX, LENGTH = "\0index", "\0length"
"""What stands in an output for the index of a record, and for the number of records."""


_MOST_ROUNDS = 1_000


@dataclass(frozen=True)
class Ending:
    """One run of the whole program: its parts, the final state of each pass, and what it returns."""

    key: tuple[int, ...]
    before: Run
    passes: tuple[tuple[Explored, int], ...]
    after: Run
    returned: Sent
    asked: tuple[Sent, ...]
    initial: tuple[Any, ...]
    used: frozenset[int]


@dataclass
class Session:
    """What is known of the passes of a program."""

    sums: bool
    learned: dict[tuple[tuple[int, ...], int], Knowledge] = field(default_factory=dict)
    explored: dict[tuple[int, ...], tuple[Explored, Any]] = field(default_factory=dict)
    known: dict[tuple[tuple[int, ...], int], tuple[Explored, object]] = field(default_factory=dict)


class Again(Exception):
    """More was learned of a pass: everything is read once more."""


class Unending(Exception):
    """A run that was followed does not come to an end: none is like it."""


class NoEvidence(list[Expr]):
    """The evidence of a run, of which there is none: observe is refused."""

    def __init__(self, m: Follower) -> None:
        super().__init__()
        self._m = m

    def append(self, item: Expr) -> NoReturn:
        """Refuse it."""
        what = "no answer for every n: observe conditions the run, and the proofs hold without conditions only"
        raise self._m.unsupported(what, "leave out observe, or ask for one n")


class Rounds:
    """Counts the rounds of a while loop."""

    def __init__(self) -> None:
        self._rounds = 0

    def another_round(self, certain: bool) -> bool:
        """Whether there is another round; raises LanguageError after very many."""
        self._rounds += 1
        if self._rounds > _MOST_ROUNDS:
            raise refusal("no bound on the rounds of this while loop could be established", "count the rounds")
        return True


def tokens_of(what: Any, inside: bool = False) -> Iterator[int]:
    """Yield the tokens that a visible value depends on."""
    if isinstance(what, Affine):
        yield from (at for (kind, at), _ in what.terms if kind == "told")
    elif isinstance(what, tuple):
        inside = inside or what[:1] == ("\0tree",)
        if inside and len(what) == 2 and type(what[1]) is int:
            yield what[1]
        for part in what:
            yield from tokens_of(part, inside)
