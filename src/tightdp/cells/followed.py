"""What is known of the loops of a program, and of the round of one that is followed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from types import FrameType
from typing import Any

from tightdp.cells.draws import Path
from tightdp.cells.ends import Outcome
from tightdp.cells.loops import Counter, Entry
from tightdp.cells.meetings import Meetings
from tightdp.cells.noise import Outside
from tightdp.cells.pictures import Outer, Picture, Place
from tightdp.errors import LimitError
from tightdp.exact.field import Number


class End(BaseException):
    """A round that was to be followed has ended."""

    def __init__(self, way: str, held: Picture) -> None:
        super().__init__()
        self.way, self.held = way, held


@dataclass
class Loops:
    """What is known of the loops of a program: which are not gone through, and how they end by their state."""

    mass: Callable[[Path], Number]
    watch: Callable[[], None]
    followed: set[Any] = field(default_factory=set)
    refused: dict[Any, Outside] = field(default_factory=dict)
    known: dict[Any, list[Outcome]] = field(default_factory=dict)
    left: dict[Any, set[Place]] = field(default_factory=dict)
    """The numbers of loops that are told by what is left of their draws."""
    counters: dict[Any, Sequence[Counter]] = field(default_factory=dict)
    """The counters that loops had where they were met first."""
    meetings: Meetings = field(default_factory=Meetings)
    outer: Outer = field(default_factory=Outer)
    rejected: bool = False


class Stoppable:
    """A run that remembers what stopped it, as the program that is run may catch everything."""

    stopped: BaseException | None = None

    def __init_subclass__(cls) -> None:
        for name, method in list(vars(cls).items()):
            if callable(method) and not name.startswith("_"):
                setattr(cls, name, _remembered(method))

    def whole(self, execute: Callable[[Any], Any]) -> Any:
        """Return what the run comes to. Raises what stopped it, whatever the program made of that."""
        try:
            output = execute(self)
        except BaseException as error:
            if self.stopped is None or error is self.stopped or isinstance(error, LimitError):
                raise
        if self.stopped is not None:
            raise self.stopped
        return output


def _remembered(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of a run that remembers what it raises, but for errors of the program."""

    @wraps(method)
    def remembering(run: Stoppable, *arguments: Any) -> Any:
        try:
            return method(run, *arguments)
        except BaseException as error:
            if run.stopped is None and (isinstance(error, Outside) or not isinstance(error, Exception)):
                run.stopped = error
            raise

    return remembering


class Endless(BaseException):
    """A loop goes on for many rounds."""

    def __init__(self, key: Any) -> None:
        super().__init__()
        self.key = key


@dataclass(frozen=True)
class Round:
    """The round that is followed: of which loop, and with which containers."""

    key: str
    frame: FrameType
    known: list[Any]


@dataclass(frozen=True)
class Begun:
    """Among decisions: of so many rounds that a run begins the last one, whichever loop it is of, begins like this."""

    entry: Entry
    heads: int
