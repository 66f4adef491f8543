"""The analyst whom an interactive mechanism asks: strategies, and what one run has asked so far.

An analyst without randomness is enough: a random one is a mixture of those, and no divergence of a mixture exceeds the
largest of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tightdp.errors import LanguageError, ParameterError
from tightdp.exact.numbers import brief

Answering: TypeAlias = Callable[[Any, tuple[Any, ...]], Any]
"""A strategy as a function: from what the analyst has seen and the choices to one of the choices."""
Asked: TypeAlias = tuple[Any, Any, int]
"""What was shown to the analyst, the choices (their number where they are no outputs), and which one was taken."""


@dataclass(frozen=True)
class Move:
    """What the analyst answers, having seen something, and the moves after that."""

    history: Any
    answer: Any
    then: tuple[Move, ...] = ()

    def with_depth(self, depth: int = 0) -> Iterator[tuple[int, Move]]:
        """Yield this move and all later ones, each with how many come before it."""
        yield depth, self
        for move in self.then:
            yield from move.with_depth(depth + 1)


@dataclass(frozen=True)
class Strategy:
    """A strategy as a tree: the first moves, one for each thing that may be seen first, then what follows on each.

    It can be called like a function of what is seen and of the choices; where it has no move it takes the first choice,
    as nothing depends on it there.
    """

    moves: tuple[Move, ...]

    def __call__(self, history: Any, choices: tuple[Any, ...]) -> Any:
        return self.table.get(history, choices[0])

    @property
    def written(self) -> tuple[Any, ...]:
        """The tree as JSON has it: what is seen, the answer, and what follows."""
        return tuple(map(_written, self.moves))

    @property
    def table(self) -> Mapping[Any, Any]:
        """The answers by what is seen. Raises ParameterError where what is seen last does not tell moves apart."""
        found: dict[Any, Any] = {}
        for move in (each for first in self.moves for _, each in first.with_depth()):
            if found.setdefault(move.history, move.answer) != move.answer:
                what = f"this strategy answers differently though it sees {brief(move.history)} both times"
                raise ParameterError(what, "let the history that is passed to ask hold all that was seen before")
        return found


def _written(move: Move) -> dict[str, Any]:
    then = {"then": tuple(map(_written, move.then))} if move.then else {}
    return {"history": move.history, "answer": move.answer, **then}


@dataclass
class Conversation:
    """What one run has asked so far, and who answers: a strategy, or nobody in particular (None)."""

    strategy: Answering | None
    asked: list[Asked] = field(default_factory=list)


_current: ContextVar[Conversation | None] = ContextVar("tightdp_conversation", default=None)


def conversation() -> Conversation:
    """Return what the run at hand has asked so far. Raises LanguageError outside a run that may ask."""
    found = _current.get()
    if found is None:
        hint = "call ask by its name, as in `from tightdp import ask`, inside a mechanism that is run or questioned"
        raise LanguageError("ask is called where no analyst answers", hint)
    return found


@contextmanager
def conversing(strategy: Answering | None) -> Iterator[Conversation]:
    """Begin a conversation with an analyst for the body of a `with` statement."""
    found = Conversation(strategy)
    token = _current.set(found)
    try:
        yield found
    finally:
        _current.reset(token)


def chosen(choices: Sequence[Any], answer: Any) -> int:
    """Return the place of an answer among the choices. Raises ParameterError where it is none of them."""
    for at, choice in enumerate(choices):
        if choice is answer or choice == answer:
            return at
    raise ParameterError(
        f"the strategy answers {brief(answer)}, which is none of the choices {brief(tuple(choices))}",
        "return one of the choices that it is given",
    )
