"""The law of what a function returns that looks at no records: of each kind of results, as masses on the integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from flint import fmpq

from tightdp.cells.followed import Loops
from tightdp.cells.laws import draft_of, labelled
from tightdp.cells.linear import Label
from tightdp.cells.maker import Contribution, Maker, mass_of
from tightdp.cells.masses import Masses, Part
from tightdp.cells.noise import Outside
from tightdp.cells.paths import paths_of
from tightdp.cells.sums import Piece, rational_number
from tightdp.errors import LanguageError, LimitError, ProgramError
from tightdp.exact.field import Number
from tightdp.language.classes import COPIES
from tightdp.language.exactness import MEETING, exact, strictly
from tightdp.language.primitives import Rejected, Source, using


def law_of(
    function: Callable[..., Any], arguments: Sequence[Any], watch: Callable[[], None]
) -> list[tuple[Label, Number, Masses | None]]:
    """Return the kinds of results with their probabilities, and the masses of the number that each depends on, if any.

    Raises Outside where no closed form is found.
    """

    def execute(source: Source) -> Any:
        token, meeting = COPIES.set({}), MEETING.set(True)
        try:
            with using(source), strictly():
                return exact(function)(*arguments)
        except (Rejected, LanguageError, LimitError, ProgramError):
            raise
        except Exception as error:
            raise ProgramError(f"it fails with {type(error).__name__}") from error
        finally:
            MEETING.reset(meeting)
            COPIES.reset(token)

    loops = Loops(lambda path: mass_of(path, watch), watch)
    found = paths_of(execute, loops)
    if loops.rejected:
        raise Outside("is drawn on a run that is conditioned")
    rational = all(isinstance(value, Fraction) for path in found for value in path.numbers())
    maker = Maker(fmpq(1) if rational else Fraction(1), watch)
    laws: dict[Label, list[Contribution]] = {}
    for label, _, contribution in labelled([draft_of((), path) for path in found], maker):
        if not isinstance(contribution, Contribution):
            raise Outside("leaves a loop whose counter has no sum of rational powers as its law")
        laws.setdefault(label, []).append(contribution)
    return [(label, *_of_label(label, some)) for label, some in laws.items()]


def _of_label(label: Label, contributions: Sequence[Contribution]) -> tuple[Number, Masses | None]:
    if label.real or label.dimension > 1:
        raise Outside("leaves a loop in several numbers that depend on each other" if not label.real else "is real")
    if not label.dimension:
        return rational_number(sum((each.weight for each in contributions[1:]), contributions[0].weight)), None
    masses = Masses.of(part for each in contributions for piece in each.pieces for part in _parts(piece))
    total = masses.total()
    return (total, masses.times(1 / total)) if total else (total, None)


def _parts(piece: Piece) -> Iterator[Part]:
    """Yield the terms of a piece, a function of one integer."""
    rows, terms = piece
    low: int | None = None
    high: int | None = None
    for normal, bound in rows:
        if len(normal) != 1:
            raise Outside("leaves a loop in several numbers that depend on each other")
        ((_, c),) = normal
        edge = Fraction(bound) / c
        if c > 0:
            high = edge.__floor__() if high is None else min(high, edge.__floor__())
        else:
            low = edge.__ceil__() if low is None else max(low, edge.__ceil__())
    for (bases, degrees), coefficient in terms.items():
        base: Number = rational_number(bases[0][1].value) if bases else Fraction(1)
        yield Part(low, high, base, degrees[0][1] if degrees else 0, rational_number(coefficient))
