"""The paths of a program, the same for every n: from state to state, for all draws, and its chain.

Noise on all integers, and sums where they are followed, stay symbolic: a state says which places hold such values, and
a path from one state to the next for which of these integers it is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from tightdp.errors import LanguageError
from tightdp.every_n.assembling import assembled
from tightdp.every_n.chain import Chain, Letter, Matrix, Vector
from tightdp.every_n.following import Choices, refusal
from tightdp.every_n.paths import Path, Paths
from tightdp.every_n.reading import Following
from tightdp.every_n.runs import INDEX, OPEN, Again, Ending, Session, Unending
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound

__all__ = ["INDEX", "OPEN", "Path", "Paths", "chain_of", "explore", "faithful"]

_MOST_ENDINGS = 20_000
_FEW_CHOICES = 8
"""A run with so many choices takes no more than one of them; longer ones take more of `_MOST_ENDINGS`."""


def explore(bound: Bound, sums: bool = False, watch: Callable[[], None] = lambda: None) -> Paths:
    """Return the paths of a mechanism, the same for every n; with `sums`, sums over the records stay symbolic.

    Raises LanguageError with the place where records are not treated alike, where a variable takes unboundedly many
    values, or where the neighbour relation or `observe` leaves no answer for every n; or Untraceable.
    """
    relation = relation_of(bound)
    if relation.custom:
        raise LanguageError(
            "no answer for every n: the neighbours are a function of one dataset",
            "use a built-in relation, such as 'replace-one', or ask for one n",
        )
    moves = tuple(
        (old, new) for old, others in relation.steps.items() for new in others if relation.every_record or old != new
    )
    try:
        return assembled(_read(bound, sums, watch), bound.record.values, moves, relation.every_record)
    except LanguageError as error:
        error.span = error.span or bound.program.source.span()
        raise


def _read(bound: Bound, sums: bool, watch: Callable[[], None] = lambda: None) -> list[Ending]:
    """Return all runs of a program. Raises LanguageError with the place where it is not the same for every n."""
    session = Session(sums)
    while True:
        try:
            return list(_endings(bound, session, watch))
        except Again:
            session.explored.clear()
            session.known.clear()


def _endings(bound: Bound, session: Session, watch: Callable[[], None]) -> Iterator[Ending]:
    past: Sequence[Any] | None = ()
    count = 0
    while past is not None:
        watch()
        if count > _MOST_ENDINGS:
            raise refusal("it has too many runs before and after the records")
        choices = Choices(past)
        with suppress(Unending):
            yield Following(bound, session, choices, watch).ending()
        count += max(1, (len(choices.made) // _FEW_CHOICES) ** 2)
        past = choices.next()


def chain_of(paths: Paths) -> Chain | None:
    """Return the chain of a program whose values and probabilities are all finite and rational, else None."""
    for path in paths.each():
        if path.noises or path.values or path.bounds or path.published or not isinstance(path.probability, Fraction):
            return None
    start: Vector = {}
    for path in paths.before:
        _add(start, path.target, path)
    steps: dict[Letter, dict[Any, Matrix]] = {}
    for record, by in paths.steps.items():
        for here, ways in by.items():
            for path in ways:
                _add(steps.setdefault(path.letter, {}).setdefault(record, {}).setdefault(here, {}), path.target, path)
    finals: dict[Any, Vector] = {}
    for here, ways in paths.after.items():
        for path in ways:
            _add(finals.setdefault(path.letter, {}), here, path)
    starts = (start,) if start else ()
    return Chain(paths.states, starts, steps, tuple(finals.values()), paths.moves, paths.all_at_once, paths.faithful)


def faithful(paths: Paths) -> bool:
    """Whether the output determines the messages of all records, in order, and what is published at the end."""
    return paths.faithful


def _add(vector: Vector, at: int, path: Path) -> None:
    assert isinstance(path.probability, Fraction)
    vector[at] = vector.get(at, Fraction(0)) + path.probability
