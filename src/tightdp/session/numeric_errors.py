"""Accuracy and expected errors of a published number with noise on all integers (`cells`)."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from tightdp.exact.field import Number
from tightdp.exact.lazily import lazily
from tightdp.language.interp import target_of
from tightdp.language.program import Dataset, Output
from tightdp.queries.accuracy import AccuracyAt, AccuracyClass, LeastError
from tightdp.results.answers import Accuracy
from tightdp.session.engine import Engine, Query
from tightdp.session.numeric import outcome_of
from tightdp.symmetry.sets import every_dataset

if TYPE_CHECKING:
    from tightdp.cells import comparing, paths
    from tightdp.cells.laws import CellLaws
else:  # few programs need them
    comparing, paths = lazily("tightdp.cells.comparing"), lazily("tightdp.cells.paths")

__all__ = ["accuracy", "expected_errors"]


def accuracy(engine: Engine, question: AccuracyAt | LeastError) -> Accuracy | None:
    """Return the tight 1 - β at an error bound, or the least one for a β, over all datasets.

    None for programs that are answered in another way.
    """
    query = engine.query()
    laws = engine.program.cells(query.control)
    if laws is None or not _applies(question, laws.laws):
        return None
    with query.searching(), suppress(paths.Outside):
        targets: dict[Dataset, int | Fraction] = {}
        for x in every_dataset(engine.bound):
            query.control()
            target = target_of(engine.bound, x)
            if not isinstance(target, (int, Fraction)):
                return None
            targets[x] = target
        if isinstance(question, AccuracyAt):
            classes = _classes(laws.laws, targets, question)
            x, value = classes[0].x, classes[0].one_minus_beta
            found = Accuracy.between(engine.subject, question, value, value, x, classes[: question.top])
        else:
            least = {x: _least_error(laws.laws, x, target, question) for x, target in targets.items()}
            x = max(least, key=lambda x: least[x])
            found = Accuracy.least(engine.subject, question, least[x], least[x], x)
        return outcome_of(query).on(found)
    return None


def _applies(question: AccuracyAt | LeastError, laws: CellLaws) -> bool:
    if isinstance(question, AccuracyAt):
        return isinstance(question.alpha, Fraction) and question.alpha >= 0
    return laws.fits(question.beta) and 0 < question.beta < 1


def _classes(laws: CellLaws, targets: dict[Dataset, int | Fraction], question: AccuracyAt) -> tuple[AccuracyClass, ...]:
    """Return the datasets of equal accuracy, worst first."""
    alike: dict[Number, list[Dataset]] = {}
    for x, target in targets.items():
        low, high = question.within(target)
        assert isinstance(low, Fraction)
        assert isinstance(high, Fraction)
        alike.setdefault(laws.number(comparing.within(laws, x, low, high)), []).append(x)
    return tuple(AccuracyClass(alike[value][0], value, len(alike[value])) for value in sorted(alike))


def _least_error(laws: CellLaws, x: Dataset, target: int | Fraction, question: LeastError) -> Number:
    return comparing.least_error(laws, x, Fraction(target), laws.exact(question.beta)) / question.unit(target)


def expected_errors(engine: Engine, query: Query, x: Dataset, target: Output) -> dict[int, Number] | None:
    """Return the expectations of |output - target|^k for k = 0, 1, 2, where 0 stands for another output than it.

    None for programs that are answered in another way.
    """
    laws = engine.program.cells(query.control)
    if laws is None or not isinstance(target, (int, Fraction)):
        return None
    with suppress(paths.Outside):
        wrong = 1 - laws.laws.probability(x, target)
        means = [comparing.expected_error(laws.laws, x, Fraction(target), power) for power in (1, 2)]
        return {power: laws.laws.number(value) for power, value in enumerate((wrong, *means))}
    return None
