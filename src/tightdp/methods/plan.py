"""The plan of a question as it was carried out: which methods were looked at, which answers, and what that takes.

Every step has the work that was estimated before it and the work that it took, in a unit of its method: rows of
elimination, nodes of a diagram, datasets whose laws are found, runs of the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["Plan", "Step", "Summary", "Work", "summary"]


@dataclass(frozen=True)
class Work:
    """An amount of work, in the unit of its method; `estimated` before it was begun, `actual` when it was done."""

    unit: str
    estimated: int | None = None
    actual: int | None = None


@dataclass
class Step:
    """A method that was looked at: `refusal` says why it does not apply, or does not answer, and is empty if it does.

    `parts` are the steps of questions about parts of the program that it asks.
    """

    method: str
    refusal: str = ""
    answers: bool = False
    work: Callable[[], Sequence[Work]] = tuple
    """Gives the work of a step that answers, as far as it has got."""
    parts: list[Step] = field(default_factory=list)


@dataclass(frozen=True)
class Summary:
    """A method of a plan, with its work so far, and those that it asks about parts; see `Step`."""

    method: str
    refusal: str
    work: tuple[Work, ...] = ()
    parts: tuple[Summary, ...] = ()


def summary(steps: Iterable[Step]) -> tuple[Summary, ...]:
    """Return the steps of several questions, each method once: the step in which it answers, else its last refusal."""
    found: dict[str, Step] = {}
    for step in steps:
        if step.method not in found or step.answers or not found[step.method].answers:
            found[step.method] = step
    return tuple(
        Summary(step.method, step.refusal, tuple(step.work()), summary(step.parts) if step.answers else ())
        for step in found.values()
    )


@dataclass
class Plan:
    """The steps of all questions so far that were asked of one program, and of its parts."""

    steps: list[Step] = field(default_factory=list)
    _around: list[list[Step]] = field(default_factory=list)

    @contextmanager
    def step(self, method: str) -> Iterator[Step]:
        """Begin a step; what is asked meanwhile belongs to it."""
        found = Step(method)
        self.steps.append(found)
        self._around.append(self.steps)
        self.steps = found.parts
        try:
            yield found
        finally:
            self.steps = self._around.pop()
