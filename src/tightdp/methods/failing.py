"""Looking for a failing run on a few datasets with the interpreter, before the program is compiled.

The same datasets are tried when a method meets a failing run, so that every method names the same dataset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import islice, product

from tightdp.errors import LanguageError, LimitError, ProgramError, TightdpError
from tightdp.exact.field import Number
from tightdp.exact.writing import brief
from tightdp.language import interp
from tightdp.language.domains import Record
from tightdp.language.primitives import PseudoRandom, Rejected, Source
from tightdp.language.program import Bound, Dataset
from tightdp.methods.compiled import encode_dataset, lower_dataset

__all__ = ["failing_run", "told"]

_RUNS, _RANDOM_RUNS = 64, 32
"""How many runs of a dataset are tried in order, and how many at random."""
_DATASETS = 64
_WORK = 100_000
"""After so many records and draws in the runs that were tried no further dataset is."""
_NEAR = 2
"""How far from its centre noise on all integers is enumerated."""
_EVERY_RECORD = 16
_STATEMENTS, _NODES = 50_000, 300_000
"""How much is lowered, and how large the diagram gets, to compile a program for one dataset."""


def failing_run(bound: Bound, backend: str, records: Sequence[Record], each: int | None = None) -> ProgramError | None:
    """Return the error on the first dataset with a failing run, of those tried with these records; None if none fails.

    A fixed number of runs of each is tried; with `each`, those with so many records and draws in all.
    """
    spent = 0
    for x in dict.fromkeys(_datasets_to_try(records, bound.n)):
        error, work = _failure_on(bound, x, each)
        spent += work
        found = error and told(bound, backend, error)
        if found or (each is None and spent > _WORK):
            return found
    return None


def _datasets_to_try(values: Sequence[Record], n: int) -> Iterator[Dataset]:
    """Yield datasets at the ends of the domain, and some between: equal records, two that differ, many that do."""
    first, last, size = values[0], values[-1], len(values)
    yield (first,) * n
    yield (last,) * n
    yield tuple(values[(at + 1) % size] for at in range(n))
    yield (first,) * (n // 2) + (last,) * (n - n // 2)
    yield (last,) + (first,) * (n - 1)
    yield (first,) * (n - 1) + (last,)
    between = range(size) if size <= _EVERY_RECORD else (size // 2, 1, size - 2)
    for at in between:
        yield (values[at],) * n
    yield from islice(product(values[:_DATASETS], repeat=n), _DATASETS)  # the first in order


class _Enough(Exception):
    """The limit on runs, or on their work, is reached."""


def _failure_on(bound: Bound, x: Dataset, most: int | None) -> tuple[ProgramError | None, int]:
    """Return the error of a failing run, or of an `observe` that rejects every run, None if neither is found; the work.

    That is how many records and draws there were in the runs that were tried.
    """
    tried = accepted = work = 0

    def execute(source: Source) -> None:
        nonlocal tried, accepted, work
        if (tried >= _RUNS and most is None) or work > (most or _WORK):
            raise _Enough
        tried += 1
        try:
            bound.execute(x, source)
        finally:
            work += bound.n + (len(source.draws) if isinstance(source, interp.Replay) else 0)
        accepted += 1

    beyond: list[Number] = [Fraction(0)]
    try:
        try:
            for _ in interp.every_run(execute, _NEAR, beyond):
                pass
        except _Enough:
            for seed in range(_RANDOM_RUNS):
                if work > (most or _WORK):
                    break
                work += bound.n
                with suppress(Rejected):
                    bound.execute(x, PseudoRandom(seed))
        else:
            if not accepted and not beyond[0]:
                return bound.contradiction(x, "is false in every run"), work
    except ProgramError as error:
        deep = isinstance(error.__cause__, (RecursionError, MemoryError))
        return (None if deep or error.x is None else error), work
    except TightdpError:
        pass
    return None, work


def told(bound: Bound, backend: str, error: ProgramError) -> ProgramError | None:
    """Return the error of a failing run as the compiler words it; None where the compiler finds no failure."""
    x = error.x
    if error.__cause__ is None or x is None:
        return error
    looks = 0

    def watch(nodes: int = 0) -> None:
        nonlocal looks
        looks += not nodes
        if looks > _STATEMENTS or nodes > _NODES:
            raise LimitError("it takes long to explain", "")

    try:
        encode_dataset(lower_dataset(bound, x, backend, watch), bound, x, backend, watch)
    except ProgramError as found:
        return found if found.x is not None else ProgramError(found.what, found.hint, found.span, x)
    except LanguageError:
        return None
    except TightdpError:
        what = error.what.replace(f"on the dataset {x} the run fails", f"a run on the dataset {brief(x)} fails")
        return ProgramError(what, error.hint, error.span, x)
    return None
