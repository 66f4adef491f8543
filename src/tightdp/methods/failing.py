"""Looking for a failing run on a few datasets with the interpreter, before the program is compiled.

The same datasets are tried when a method meets a failing run, so that every method names the same dataset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, product

from tightdp.errors import LanguageError, LimitError, ProgramError, TightdpError
from tightdp.exact.numbers import brief
from tightdp.language import interp
from tightdp.language.domains import Record
from tightdp.language.primitives import PseudoRandom, Rejected, Source
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import FEW_VALUES
from tightdp.methods.compiled import compile_dataset

_NEAR = 2
"""How far from its centre noise on all integers is enumerated."""
_EVERY_RECORD = 16
_EACH, _MOST = 4, 10_000
"""Runs with more draws or rounds are taken for endless, as are those beyond the work left and so much a record."""
_STATEMENTS, _NODES = 50_000, 300_000
"""How much is lowered, and how large the diagram gets, to explain a failing run."""


@dataclass
class _Budget:
    """How many runs of a dataset are tried in order and at random, and how many records and draws all runs may have."""

    runs: int
    random_runs: int
    work: int


def failing_run(bound: Bound, backend: str, records: Sequence[Record], briefly: bool = False) -> ProgramError | None:
    """Return the error on the first dataset with a failing run, of those tried with these records; None if none fails.

    Fewer runs are tried where it is not known that one fails.
    """
    left = _Budget(8, 4, 2_000) if briefly else _Budget(64, 32, 100_000)
    for x in dict.fromkeys(datasets_to_try(records, bound.n)):
        if left.work < bound.n:
            break
        error = _failure_on(bound, x, left)
        found = error and told(bound, backend, error)
        if found:
            return found
    return None


def datasets_to_try(values: Sequence[Record], n: int) -> Iterator[Dataset]:
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
    yield from islice(product(values[:FEW_VALUES], repeat=n), FEW_VALUES)  # the first in order


class _Enough(Exception):
    """Enough runs of a dataset were tried."""


class _Ending(PseudoRandom):
    """Random draws of a run that is left where its loops go round for long: it may have no end."""

    def __init__(self, seed: int, budget: _Budget) -> None:
        super().__init__(seed)
        self._rounds, self._budget = 0, budget

    def round(self, loop: object) -> None:
        self._rounds += 1
        if self._rounds > _MOST:
            self._budget.work -= self._rounds
            raise LimitError(f"a run goes through more than {_MOST:,} rounds of loops", "bound the loops")


def _failure_on(bound: Bound, x: Dataset, left: _Budget) -> ProgramError | None:
    """Return the error of a failing run, or of an `observe` that rejects every run; None if neither is found."""
    tried = accepted = 0

    def execute(source: Source) -> None:
        nonlocal tried, accepted
        if tried >= left.runs or left.work < 0:
            raise _Enough
        tried += 1
        try:
            bound.execute(x, source)
        finally:
            left.work -= 1 + bound.n + (len(source.draws) + source.rounds if isinstance(source, interp.Replay) else 0)
        accepted += 1

    beyond = False

    def note(run: interp.Replay) -> None:
        nonlocal beyond
        beyond = beyond or run.is_possible()

    try:
        try:
            for _ in interp.every_run(execute, _NEAR, note, min(left.work + _EACH * bound.n, _MOST)):
                pass
        except _Enough:
            for seed in range(left.random_runs):
                if left.work < 0:
                    break
                left.work -= 1 + bound.n
                with suppress(Rejected):
                    bound.execute(x, _Ending(seed, left))
        else:
            if not accepted and not beyond:
                return bound.contradiction(x, "is false in every run")
    except ProgramError as error:
        deep = isinstance(error.__cause__, (RecursionError, MemoryError))
        return None if deep or error.x is None else error
    except TightdpError:
        pass
    return None


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
        compile_dataset(bound, x, backend, watch)
    except ProgramError as found:
        return found if found.x is not None else ProgramError(found.what, found.hint, found.span, x)
    except LanguageError:
        return None
    except TightdpError:
        what = error.what.replace(f"on the dataset {x} the run fails", f"a run on the dataset {brief(x)} fails")
        return ProgramError(what, error.hint, error.span, x)
    return None
